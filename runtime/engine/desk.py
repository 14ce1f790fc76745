"""What the parts of one call share: its record, its clock, its voice, its tools, its memory.

Owns the one way in which the engine writes down and reports what happens, and what running tools
stand on (``ToolHost``). Decides nothing: turns do.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from runtime.agent import FromRuntime, Happened, Json, OpenCall
from runtime.conversation.dialogue import Frame
from runtime.conversation.events import Event, Fact, ToolSettled
from runtime.conversation.memory import MemorySchema, value_of
from runtime.conversation.state import ConversationState, wish_of
from runtime.engine.menu import Menu
from runtime.engine.outbox import Outbox
from runtime.engine.record import ConversationRecord
from runtime.engine.reporting import report_of
from runtime.engine.search import Search
from runtime.engine.speech import Speech
from runtime.engine.tool_memory import ToolMemory
from runtime.models.ports import ChatModel, ChatRequest
from runtime.project.model import Project
from runtime.project.skill_model import Skill
from runtime.store.write_behind import WriteBehind
from runtime.tools.buttons import Button
from runtime.tools.call import RunningCall
from runtime.tools.context import MemorySlice, ToolModelContext
from runtime.tools.runner import ToolRunner

__all__ = ["FLUSH_BOUND_S", "Desk", "SessionParts"]

FLUSH_BOUND_S = 1.0
"""How long a model call waits for the outcome of a commit to be stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionParts:
    """What the plane gives to each of its sessions."""

    project: Project
    models: tuple[tuple[str, ChatModel], ...]
    journal: WriteBehind
    search: Search
    menu: Menu
    interrupted_through: Callable[[int], int]
    """Slot → highest interrupted turn, as the floor wrote it a moment ago."""
    first_id: int = 1
    """Says and calls of tools are numbered from here on."""
    keep_prompts: Callable[[int, int, ChatRequest], None] | None = None
    """Is shown each request: (turn, round, request)."""
    setup: tuple[tuple[str, str, Json], ...] = ()
    """(namespace, name, value) that every new conversation begins with."""


class Desk:
    """One call's shared parts."""

    def __init__(
        self,
        opening: OpenCall,
        record: ConversationRecord,
        parts: SessionParts,
        emit: Callable[[FromRuntime], None],
        calls_changed: Callable[[int], None],
    ) -> None:
        """Bring the parts together.

        Args:
            opening: The call.
            record: Its conversation.
            parts: What the plane provides.
            emit: The way to the voice plane.
            calls_changed: Is told when the set of open calls of a turn is another one.
        """
        loop = asyncio.get_running_loop()
        self.opening = opening
        self.parts = parts
        self.project: Project = parts.project
        self.emit = emit
        self._record = record
        self._loop = loop
        self._zero_s = loop.time()
        """Loop time of the call's ms 0, as near as it is known."""
        state = record.state
        goes_on = opening.resumed and not state.ended
        self.turn_base = state.turns_before_call if goes_on else state.turn
        """The conversation counts turns over all its calls, the voice plane over one."""
        self.interrupted = 0
        self.is_closing = False
        self.unstored_commit = False
        self.silence_n = 0
        """Of the silent wait that is being answered; 0 = none."""
        project = parts.project
        self.schema = MemorySchema(
            project.memory,
            {skill.id: skill.access for skill in project.skills.values()},
            project.dialect,
        )
        self._call_ids = max(state.highest_call, parts.first_id - 1)
        self._calls_changed = calls_changed
        self._skill_of_call: dict[int, str] = {}
        self._button_sinks: dict[int, list[Button]] = {}
        self._hook_calls: set[int] = set()
        self.speech = Speech(
            opening.call,
            language=opening.language or project.language,
            first=max(state.highest_say + 1, parts.first_id),
            emit=emit,
            record=self.record,
        )
        self.outbox = Outbox(self.speech, self.record, self.is_interrupted)
        self.runner = ToolRunner(self, record.conversation, project.tool_timeout_s, self._fulfilled)
        self._wants_hang_up: set[int] = set()

    # -- the clock and the record

    @property
    def conversation(self) -> str:
        """Name of the conversation."""
        return self._record.conversation

    @property
    def state(self) -> ConversationState:
        """The live state."""
        return self._record.state

    def now_ms(self) -> int:
        """Now by the call's clock."""
        return round((self._loop.time() - self._zero_s) * 1000)

    def now(self) -> datetime:
        """Now by the calendar of the call, UTC whatever the machine's zone."""
        start = self.state.call.wall_start if self.state.call is not None else 0.0
        return datetime.fromtimestamp(start + self.now_ms() / 1000, tz=UTC)

    def heed_clock(self, at_ms: int) -> None:
        """The voice plane's clock is the call's: ours only ever moves on to it."""
        self._zero_s = min(self._zero_s, self._loop.time() - at_ms / 1000)

    def record(self, turn: int, fact: Fact) -> None:
        """Append a fact of this call's turn (0 = of none) and report it."""
        self.append(self.turn_base + turn if turn else 0, fact)
        if isinstance(fact, ToolSettled):
            self.unstored_commit |= fact.committed
            self.outbox.forget(fact.call_id)
        report = report_of(fact, self.state, self.schema)
        if report is not None:
            self.report(turn, *report)

    def append(self, turn: int, fact: Fact) -> None:
        """Append a fact; ``turn`` counts over the whole conversation."""
        self._record.append(turn, self.now_ms(), fact)

    def report(self, turn: int, event: str, fields: tuple[tuple[str, Json], ...]) -> None:
        """Tell whoever watches the call."""
        self.emit(Happened(self.opening.call, turn, self.now_ms(), event, fields))

    # -- skills and memory

    @property
    def top(self) -> Frame | None:
        """The active skill's place on the stack."""
        return self.state.dialogue.top

    @property
    def top_id(self) -> int:
        """Number of the active skill's place on the stack; 0 = there is none."""
        top = self.top
        return top.id if top is not None else 0

    @property
    def skill(self) -> str:
        """Id of the active skill; empty = none."""
        top = self.top
        return top.skill if top is not None else ""

    def skill_of(self, frame: Frame | None) -> Skill | None:
        """The skill of a frame; None also for one that the project has lost since."""
        return self.project.skills.get(frame.skill) if frame is not None else None

    def value(self, namespace: str, name: str) -> Json:
        """A declared field's value; None for an unset or undeclared one."""
        field = self.schema.field(namespace, name)
        return None if field is None else value_of(self.state, field)

    def reader(self, skill: str) -> Callable[[str, str], Json]:
        """How conditions of ``skill`` read memory: raises ``KeyError`` for what it may not know."""

        def read(namespace: str, name: str) -> Json:
            if namespace == "system":
                return {"silence_n": self.silence_n, "channel": self.opening.channel}[name]
            field = self.schema.field(namespace, name)
            if field is None or not self.schema.is_readable(field, skill):
                raise KeyError(name)
            return value_of(self.state, field)

        return read

    # -- calls of tools

    def next_call_id(self) -> int:
        """A number for the next call of a tool."""
        self._call_ids += 1
        return self._call_ids

    def prepare_call(
        self,
        call_id: int,
        skill: str,
        *,
        buttons: list[Button] | None = None,
        is_hook: bool = False,
    ) -> None:
        """Say what a call that is about to start may do: whose memory, whose buttons."""
        self._skill_of_call[call_id] = skill
        if buttons is not None:
            self._button_sinks[call_id] = buttons
        if is_hook:
            self._hook_calls.add(call_id)

    def is_interrupted(self, turn: int) -> bool:
        """Whether the floor took this turn back, as of this very moment, or the call is over."""
        if self.is_closing or turn <= self.interrupted:
            return True
        return turn <= self.parts.interrupted_through(self.opening.slot)

    def memory_of(self, call: RunningCall) -> MemorySlice:
        """Memory as a call of a tool sees it."""
        skill = self._skill_of_call.get(call.call_id, self.skill)
        return ToolMemory(self, call, skill, skips_set=call.call_id in self._hook_calls)

    def set_buttons(self, call: RunningCall, buttons: Sequence[Button]) -> None:
        """Take the buttons of a response's source.

        Raises:
            RuntimeError: the call was not made for a response's buttons.
        """
        sink = self._button_sinks.get(call.call_id)
        if sink is None:
            raise RuntimeError("set_buttons works only in the source of a response's buttons")
        sink[:] = buttons

    def model_context(self) -> ToolModelContext:
        """The project's model settings."""
        return ToolModelContext(llm_config(self.project), self.project.index)

    def events(self) -> Sequence[Event]:
        """The conversation so far."""
        return self._record.events

    async def send(self, call: RunningCall, text: str) -> None:
        """Queue a tool's message, or drop it and record that."""
        self.outbox.send(call, text)

    def hang_up(self, turn: int) -> None:
        """End the call after this turn, once what was said has been heard."""
        if not self.is_interrupted(turn):
            self._wants_hang_up.add(turn)

    def wants_hang_up(self, turn: int) -> bool:
        """Whether a tool of this turn asked for the end of the call."""
        return turn in self._wants_hang_up

    def calls_changed(self, turn: int) -> None:
        """The set of open calls of a turn is another one now."""
        self._calls_changed(turn)

    def _fulfilled(self, tool: str, canonical: str) -> int:
        return self.state.settled_ok.get(wish_of(tool, canonical), 0)

    async def wait_stored(self) -> None:
        """Wait until the outcomes of commits are stored, ``FLUSH_BOUND_S`` at most."""
        if self.unstored_commit:
            self.unstored_commit = False
            try:
                stored = await self.parts.journal.flush(FLUSH_BOUND_S)
            except asyncio.CancelledError:
                self.unstored_commit = True  # the next turn's to wait for
                raise
            if not stored:
                self.report(0, "problem", (("code", "store_slow"),))


def llm_config(project: Project) -> Mapping[str, Json]:
    """The orchestrator's model settings as tools see them, ready for a model call of their own."""
    models: list[Json] = [
        {
            "provider": spec.provider,
            "model": spec.model,
            **{key: _hidden(key, value) for key, value in spec.options},
        }
        for spec in project.model_group
    ]
    return {"models": models}


class _Secret(str):
    """A key that works as one and does not show where its record is printed or logged."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'***'"


def _hidden(key: str, value: Json) -> Json:
    return _Secret(value) if isinstance(value, str) and key == "api_key" else value
