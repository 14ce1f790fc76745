"""Writing memory on behalf of the caller: the model's values, keyed digits, tapped buttons, steps.

Owns the order of a write: bring the value to its type, write it, run the skill's hook for it, and
take it back if the hook refuses. An author's tool writes through ``tool_memory`` and runs no hooks.
"""

import json
from collections.abc import Mapping, Sequence
from typing import cast

from runtime.agent import Json
from runtime.conversation.events import MemorySet, ToolAsked, Writer
from runtime.conversation.memory import coerced, writable
from runtime.conversation.state import CallMade
from runtime.engine.desk import Desk
from runtime.engine.responses import as_text
from runtime.engine.scope import Refused
from runtime.errors import MemoryWriteError, ProjectMemoryAlreadySetError
from runtime.project.model import MemoryField
from runtime.tools.arguments import canonical_json
from runtime.tools.definition import ToolDef

__all__ = ["Writes"]

HOOK_PREFIX = "run_after_setting_"


class Writes:
    """The engine's writes of one call."""

    def __init__(self, desk: Desk) -> None:
        """Write through ``desk``."""
        self._desk = desk

    async def write(
        self, turn: int, values: Mapping[str, Json], writer: Writer, call_id: int | None = None
    ) -> Refused | None:
        """Write all values, or none when one of them does not fit; then run their hooks.

        Returns:
            Why not all values were taken; what a hook refused is as it was before, the rest stays.
        """
        desk, skill = self._desk, self._desk.skill
        checked: list[tuple[MemoryField, str]] = []
        for name, value in values.items():
            try:
                found = desk.schema.readable(name, skill)
                fit = value if found is None else coerced(found, value)
                checked.append(writable(desk.schema, desk.state, name, fit, skill))
            except ProjectMemoryAlreadySetError as error:
                if writer != "step":
                    return Refused(str(error))
            except MemoryWriteError as error:
                return Refused(str(error))
        before = [self._before(field) for field, _ in checked]
        for field, text in checked:
            desk.record(turn, MemorySet(field.namespace, field.name, text, writer, call_id))
        if writer == "step":
            return None
        refusals = await self._run_hooks(turn, checked, before)
        if not refusals:
            return None
        by_author = all(refused.by_author for refused in refusals)
        return Refused(" ".join(refused.reason for refused in refusals), by_author)

    def _before(self, field: MemoryField) -> str:
        """What is stored, as JSON: ``null`` where nothing is, whatever it then reads as."""
        return canonical_json(self._desk.state.memory.get((field.namespace, field.name)))

    async def _run_hooks(
        self, turn: int, written: Sequence[tuple[MemoryField, str]], before: Sequence[str]
    ) -> list[Refused]:
        """Run each field's hook; an interruption leaves no value that was not checked."""
        refusals: list[Refused] = []
        checked = 0
        try:
            for (field, text), old in zip(written, before, strict=True):
                refused = await self._run_hook(turn, field, text, old)
                checked += 1
                if refused is not None:
                    refusals.append(refused)
        finally:
            for (field, text), old in list(zip(written, before, strict=True))[checked:]:
                if self._hook(field) is not None:
                    self._take_back(turn, field, text, old, None)
        return refusals

    def _hook(self, field: MemoryField) -> ToolDef | None:
        skill = self._desk.project.skills.get(self._desk.skill)
        return None if skill is None else skill.tools.get(HOOK_PREFIX + field.name)

    def _take_back(
        self, turn: int, field: MemoryField, text: str, old: str, call_id: int | None
    ) -> None:
        """Undo a write, unless something else has been written since."""
        if self._before(field) == canonical_json(json.loads(text)):
            fact = MemorySet(field.namespace, field.name, old, "rollback", call_id)
            self._desk.record(turn, fact)

    def take_back_unchecked(self, hook: CallMade) -> None:
        """Undo the write whose hook an earlier life of the agent did not bring to its end."""
        name = hook.tool.removeprefix(HOOK_PREFIX)
        writes = [
            fact
            for event in self._desk.events()
            if isinstance(fact := event.fact, MemorySet) and fact.name == name
        ]
        if not writes or writes[-1].writer not in ("model", "keys", "tap"):
            return
        last = writes[-1]
        earlier = [write.value for write in writes[:-1] if write.namespace == last.namespace]
        before = earlier[-1] if earlier else "null"
        fact = MemorySet(last.namespace, name, before, "rollback", hook.call_id)
        self._desk.append(hook.turn, fact)

    async def _run_hook(self, turn: int, field: MemoryField, text: str, old: str) -> Refused | None:
        """Run the hook of a field; a refusal takes the write back, with its call as the reason."""
        desk, hook = self._desk, self._hook(field)
        if hook is None:
            return None
        call_id = desk.next_call_id()
        desk.record(turn, ToolAsked(call_id, "", hook.name, "{}", 0, "hook"))
        desk.prepare_call(call_id, desk.skill, is_hook=True)
        running = desk.runner.start(hook, {}, call_id=call_id, turn=turn)
        if running is not None:
            await running.settled.wait()
        refused = self._refusal(call_id)
        if refused is not None:
            self._take_back(turn, field, text, old, call_id)
        return refused

    def _refusal(self, call_id: int) -> Refused | None:
        made = self._desk.state.tool_call(call_id)
        if made is None or made.outcome != "ok":
            return Refused("the value could not be checked")
        answer = cast("object", json.loads(made.result))
        error = cast("dict[str, Json]", answer).get("error") if isinstance(answer, dict) else None
        return None if error is None else Refused(as_text(error), by_author=True)
