"""Writing memory on behalf of the caller: the model's values, keyed digits, tapped buttons, steps.

Owns the order of a write: bring the value to its type, write it, run the skill's hook for it, and
take it back if the hook refuses. An author's tool writes through ``tool_memory`` and runs no hooks.
"""

import json
from collections.abc import Mapping
from typing import cast

from runtime.agent import Json
from runtime.conversation.events import MemorySet, ToolAsked, Writer
from runtime.conversation.memory import coerced, value_of, writable
from runtime.engine.desk import Desk
from runtime.engine.responses import as_text
from runtime.engine.scope import Refused
from runtime.errors import MemoryWriteError, ProjectMemoryAlreadySetError
from runtime.project.model import MemoryField
from runtime.tools.arguments import canonical_json

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
        refusals: list[Refused] = []
        for (field, _), old in zip(checked, before, strict=True):
            refused = await self._run_hook(turn, field, old)
            if refused is not None:
                refusals.append(refused)
        if not refusals:
            return None
        by_author = all(refused.by_author for refused in refusals)
        return Refused(" ".join(refused.reason for refused in refusals), by_author)

    def _before(self, field: MemoryField) -> str:
        return canonical_json(value_of(self._desk.state, field))

    async def _run_hook(self, turn: int, field: MemoryField, old: str) -> Refused | None:
        """Run the hook of a field; a refusal, or an end before its answer, takes the write back."""
        desk = self._desk
        skill = desk.project.skills.get(desk.skill)
        hook = skill.tools.get(HOOK_PREFIX + field.name) if skill is not None else None
        if skill is None or hook is None:
            return None
        call_id = desk.next_call_id()
        desk.record(turn, ToolAsked(call_id, "", hook.name, "{}", 0, "hook"))
        desk.prepare_call(call_id, skill.id, is_hook=True)
        try:
            running = desk.runner.start(hook, {}, call_id=call_id, turn=turn)
            if running is not None:
                await running.settled.wait()
        finally:  # an interruption in the middle leaves no value that was not checked
            refused = self._refusal(call_id)
            if refused is not None:
                fact = MemorySet(field.namespace, field.name, old, "rollback", call_id)
                desk.record(turn, fact)
        return refused

    def _refusal(self, call_id: int) -> Refused | None:
        made = self._desk.state.tool_call(call_id)
        if made is None or made.outcome != "ok":
            return Refused("the value could not be checked")
        answer = cast("object", json.loads(made.result))
        error = cast("dict[str, Json]", answer).get("error") if isinstance(answer, dict) else None
        return None if error is None else Refused(as_text(error), by_author=True)
