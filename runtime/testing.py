"""For authors' tests: run a tool outside of a call, interrupt it, look at what it did.

Owns a small stand-in for the engine around the real runner: the outcome, the cancellation, commit
sections, memory rules and idempotency keys are the ones of a call. Scripted models for whole turns
are re-exported from ``runtime.models.scripted_model``.

::

    harness = ToolHarness(memory={"card_id": None})
    report = await harness.run(lock_card, {"card_id": "c1"}, interrupt_after_s=0.5)
    assert report.outcome == "cancelled"
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from runtime.agent import Json
from runtime.conversation.events import (
    Event,
    Fact,
    LateOutcome,
    MessageDropped,
    ToolAsked,
    ToolOutcome,
    ToolSettled,
)
from runtime.conversation.memory import MemorySchema, read
from runtime.conversation.state import ConversationState, wish_of
from runtime.engine.record import ConversationRecord
from runtime.engine.tool_memory import ToolMemory
from runtime.errors import ToolDefinitionError
from runtime.models.scripted_model import Call, Cut, Fail, Say, ScriptedModel, Wait
from runtime.project.model import MemoryField
from runtime.tools.arguments import canonical_json, parse_call
from runtime.tools.buttons import Button
from runtime.tools.call import RunningCall
from runtime.tools.context import MemorySlice, ToolModelContext
from runtime.tools.decorator import definition_of
from runtime.tools.runner import ToolRunner

__all__ = [
    "Call",
    "Cut",
    "Fail",
    "Say",
    "ScriptedModel",
    "ToolHarness",
    "ToolReport",
    "Wait",
]

_SKILL = "skill"


@dataclass(frozen=True, slots=True)
class ToolReport:
    """What one run of a tool came to."""

    outcome: ToolOutcome
    result: Json
    """What the model would read."""
    sent: tuple[str, ...]
    """Messages that were queued for the caller."""
    dropped: tuple[str, ...]
    """Messages that came after the interruption."""
    idempotency_key: str
    committed: bool


class ToolHarness:
    """One conversation in which tools are run, one turn each."""

    def __init__(
        self,
        *,
        memory: Mapping[str, Json] | None = None,
        fields: Sequence[MemoryField] = (),
        timeout_s: float = 10.0,
        now: datetime = datetime(2026, 1, 5, 12, tzinfo=UTC),
    ) -> None:
        """Begin an empty conversation.

        Args:
            memory: Fields with first values: bare names are the skill's, or ``project.<name>``.
            fields: Declared fields, where their types matter.
            timeout_s: The project's ``tool_timeout``.
            now: What ``context.now`` says.
        """
        self._now = now
        declared = [*fields, *(_field(name, value) for name, value in (memory or {}).items())]
        self.schema = MemorySchema(declared)
        self.facts: list[Fact] = []
        """All that was recorded, in order."""
        self.sent: list[str] = []
        self._record = ConversationRecord("harness", (), lambda _: None)
        self._runner = ToolRunner(self, "harness", timeout_s, self._fulfilled)
        self._turn = 0
        self._interrupted = 0
        self._next_call = 0

    async def run(
        self,
        fn: object,
        arguments: Mapping[str, Json] | None = None,
        *,
        interrupt_after_s: float | None = None,
    ) -> ToolReport:
        """Run a tool to its outcome; interrupt the turn after a while, if wanted.

        Raises:
            ToolDefinitionError: ``fn`` is no ``@tool``.
            ArgumentsRefused: the arguments do not fit its schema.
        """
        definition = definition_of(fn)
        if definition is None:
            raise ToolDefinitionError("not a @tool")
        raw = canonical_json(dict(arguments or {}))
        values = parse_call(raw, definition).values
        self._turn += 1
        self._next_call += 1
        call_id, sent_before = self._next_call, len(self.sent)
        self.record(self._turn, ToolAsked(call_id, "", definition.name, raw, 1))
        call = self._runner.start(definition, values, call_id=call_id, turn=self._turn)
        if call is not None:
            if interrupt_after_s is not None:
                await self._interrupt_later(call, interrupt_after_s)
            await call.settled.wait()
        return self._report(call_id, sent_before, call)

    def interrupt(self) -> None:
        """The caller interrupts the present turn."""
        self._interrupted = self._turn
        self._runner.interrupt(self._turn)

    def interrupt_only_flag(self) -> None:
        """The floor has committed, but its message has not come yet: what a tool that blocks its
        loop sees.
        """
        self._interrupted = self._turn

    def interrupt_next(self) -> None:
        """The turn that begins next is interrupted before it can start a call."""
        self._interrupted = self._turn + 1

    async def settle(self) -> None:
        """Wait for tools that go on, each within its timeout."""
        await self._runner.close()

    def memory_value(self, name: str) -> Any:
        """A field's present value, by bare or qualified name."""
        return read(self.schema, self.state, name, _SKILL)

    @property
    def late(self) -> list[LateOutcome]:
        """What came after a call had been settled."""
        return [fact for fact in self.facts if isinstance(fact, LateOutcome)]

    # -- ToolHost, MemoryHost

    @property
    def state(self) -> ConversationState:
        """The live state."""
        return self._record.state

    def record(self, turn: int, fact: Fact) -> None:
        """Append a fact to the conversation."""
        self.facts.append(fact)
        self._record.append(turn, 0, fact)

    def is_interrupted(self, turn: int) -> bool:
        """Whether ``interrupt`` was called in this turn."""
        return turn <= self._interrupted

    def memory_of(self, call: RunningCall) -> MemorySlice:
        """Memory as this call sees it."""
        return ToolMemory(self, call, _SKILL)

    def now(self) -> datetime:
        """See ``ToolHost``."""
        return self._now

    def model_context(self) -> ToolModelContext:
        """No model settings."""
        return ToolModelContext()

    def events(self) -> Sequence[Event]:
        """The conversation so far."""
        return self._record.events

    async def send(self, call: RunningCall, text: str) -> None:
        """Queue a tool's message, or drop it and record that."""
        if call.is_cancelled or call.outcome is not None:
            self.record(call.turn, MessageDropped(call.call_id, text, "interrupted"))
        else:
            self.sent.append(text)

    def set_buttons(self, call: RunningCall, buttons: Sequence[Button]) -> None:
        """No response asks for buttons here."""
        raise RuntimeError("set_buttons works only in the source of a response's buttons")

    def hang_up(self, turn: int) -> None:
        """Nothing to hang up."""

    def calls_changed(self, turn: int) -> None:
        """Nobody watches."""

    # -- inside

    async def _interrupt_later(self, call: RunningCall, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await call.settled.wait()
        except TimeoutError:
            self.interrupt()

    def _fulfilled(self, tool: str, canonical: str) -> int:
        return self._record.state.settled_ok.get(wish_of(tool, canonical), 0)

    def _report(self, call_id: int, sent_before: int, call: RunningCall | None) -> ToolReport:
        settled = next(f for f in self.facts if isinstance(f, ToolSettled) and f.call_id == call_id)
        dropped = (
            f.text for f in self.facts if isinstance(f, MessageDropped) and f.call_id == call_id
        )
        return ToolReport(
            settled.outcome,
            _readable(settled.result),
            tuple(self.sent[sent_before:]),
            tuple(dropped),
            call.key if call is not None else "",
            settled.committed,
        )


def _field(name: str, value: Json) -> MemoryField:
    namespace, _, bare = name.rpartition(".")
    return MemoryField(namespace=namespace or _SKILL, name=bare, initial_value=value)


def _readable(result: str) -> Json:
    try:
        return cast("Json", json.loads(result))
    except ValueError:
        return result
