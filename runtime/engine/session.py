"""One call on the agent's side: takes the voice plane's messages, runs turns, settles everything.

Theory of operation. ``handle`` is synchronous and total: a message is done with when it returns,
so messages take effect in the order they came. Turns and tools run as tasks that the session owns.
An interruption runs in this order: the outbox closes, what was heard is folded in, the turn's task
(and with it the model's stream) is cancelled, its tools are cancelled or left to finish, and only
then is all of it reported. The next turn may start at once and waits by itself
(``wait_for_earlier``) before its first model call. ``run`` serves until the call is closed, and
returns when everything started has settled.

Owns one call. The conversation's record may be shared with a later call; the models, the store and
the table of interruptions belong to the plane.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from runtime.agent import (
    CallReady,
    CloseCall,
    ConfirmTurn,
    FromRuntime,
    HangUp,
    Happened,
    InterruptTurn,
    Json,
    Listen,
    OpenCall,
    OpenTool,
    RetractTurn,
    SaySettled,
    StartTurn,
    ToRuntime,
    TurnEnded,
    TurnOutcome,
    Working,
)
from runtime.conversation.events import (
    CallEnded,
    CallStarted,
    Event,
    Fact,
    ModelCalled,
    ToolSettled,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
)
from runtime.conversation.memory import MemorySchema
from runtime.conversation.state import ConversationState, wish_of
from runtime.engine.builtin import builtin_tools
from runtime.engine.calls import Calls
from runtime.engine.outbox import Outbox
from runtime.engine.prompt import build_request
from runtime.engine.record import ConversationRecord
from runtime.engine.reporting import report_of
from runtime.engine.speech import Speech
from runtime.engine.tool_memory import ToolMemory
from runtime.engine.turn import Turn
from runtime.models.ports import ChatModel, ChatRequest, ToolSpec
from runtime.project.model import Project
from runtime.store.write_behind import WriteBehind
from runtime.tasks import cancel_and_settle
from runtime.tools.call import RunningCall
from runtime.tools.context import MemorySlice, ToolModelContext
from runtime.tools.definition import ToolDef
from runtime.tools.runner import ToolRunner, refusal

__all__ = ["FLUSH_BOUND_S", "Session", "SessionParts"]

FLUSH_BOUND_S = 1.0
"""How long a model call waits for the outcome of a commit to be stored."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionParts:
    """What the plane gives to each of its sessions."""

    project: Project
    models: tuple[tuple[str, ChatModel], ...]
    journal: WriteBehind
    interrupted_through: Callable[[int], int]
    """Slot → highest interrupted turn, as the floor wrote it a moment ago."""
    first_id: int = 1
    """Says and calls of tools are numbered from here on."""


@dataclass(slots=True)
class _Entry:
    """A turn that was started."""

    turn: Turn
    task: "asyncio.Task[None]"
    ended: bool = False
    waiting: bool = False
    """It waits for what earlier turns left behind."""


class Session:
    """One call. In order: ``open``, then ``run``; ``handle`` takes messages from ``open`` on."""

    def __init__(
        self,
        opening: OpenCall,
        record: ConversationRecord,
        parts: SessionParts,
        emit: Callable[[FromRuntime], None],
        *,
        recover: bool,
    ) -> None:
        """Serve the call on a loaded conversation.

        Args:
            opening: The call.
            record: Its conversation.
            parts: What the plane provides.
            emit: The way to the voice plane.
            recover: Nothing that the record shows as open can still be running: settle it.
        """
        loop = asyncio.get_running_loop()
        self._opening = opening
        self._record = record
        self._parts = parts
        self._emit = emit
        self._recovers = recover
        self._loop = loop
        self._zero_s = loop.time()
        """Loop time of the call's ms 0, as near as it is known."""
        state = record.state
        goes_on = opening.resumed and not state.ended
        self._turn_base = state.turns_before_call if goes_on else state.turn
        """The conversation counts turns over all its calls, the voice plane over one."""
        self._turns: dict[int, _Entry] = {}
        self._interrupted = 0
        self._closing = asyncio.Event()
        self._hang_up = False
        self._unstored_commit = False
        self._shown_open: tuple[OpenTool, ...] = ()
        self.schema = MemorySchema(parts.project.memory)
        self._call_ids = max(record.state.highest_call, parts.first_id - 1)
        self._speech = Speech(
            opening.call,
            language=opening.language or parts.project.language,
            first=max(record.state.highest_say + 1, parts.first_id),
            emit=emit,
            record=self.record,
        )
        self._outbox = Outbox(self._speech, self.record, self.is_interrupted)
        self._runner = ToolRunner(
            self, record.conversation, parts.project.tool_timeout_s, self._fulfilled
        )
        self._tools = {definition.name: definition for definition in parts.project.tools}
        self._builtin = builtin_tools(self.schema, parts.project.skill.id)
        self._calls = Calls(self, self._runner, self._tools, self._builtin)

    # -- life

    def open(self) -> None:
        """Begin: settle what an earlier life left open, record the call, tell the voice plane."""
        if self._recovers:
            self._recover()
        opening, settings = self._opening, self._parts.project.settings
        about = (opening.channel, opening.language, opening.wall_start, opening.metadata)
        self.record(0, CallStarted(*about, opening.resumed))
        self._emit(CallReady(opening.call, self._record.conversation, settings))

    async def run(self) -> set[asyncio.Task[Any]]:
        """Serve the call until it is closed and everything it started has settled.

        Returns:
            Tasks that refused to end; tools among them may still bring late outcomes.
        """
        await self._closing.wait()
        entries = self._turns.values()
        stubborn = await cancel_and_settle(
            *(entry.task for entry in entries),
            cancelled_before=[entry.task for entry in entries if entry.ended],
        )
        return stubborn | await self._runner.close()

    @property
    def is_closing(self) -> bool:
        """Whether the call is over and only settles."""
        return self._closing.is_set()

    def _recover(self) -> None:
        """Settle what the life before this one left open."""
        for made in self._record.state.open_calls:
            outcome = "unknown" if made.started else "cancelled"
            reason = refusal(outcome, "the agent was restarted")
            fact = ToolSettled(made.call_id, outcome, reason)
            self._append(made.turn, fact)
            report = report_of(fact, self._record.state, self.schema)
            if self._opening.resumed and report is not None:
                self._report(max(0, made.turn - self._turn_base), *report)
        state = self._record.state
        unheard = {message.turn for message in state.open_messages}  # nobody says them any more
        for turn in sorted((state.open_turns | unheard) - state.interrupted):
            self._append(turn, TurnInterrupted("restart"))

    def handle(self, message: ToRuntime) -> None:
        """Do what the voice plane says; never raises, ignores what is stale."""
        match message:
            case StartTurn():
                self._start_turn(message)
            case ConfirmTurn():
                self._confirm(message)
            case RetractTurn():
                self._retract(message)
            case InterruptTurn():
                self._interrupt(message)
            case SaySettled():
                self._settled(message)
            case CloseCall():
                self._close(message)
            case OpenCall():
                _logger.warning("a call was opened twice", extra={"call": message.call})
            case _:
                assert_never(message)

    # -- the clock and the record

    def now_ms(self) -> int:
        """Now by the call's clock."""
        return round((self._loop.time() - self._zero_s) * 1000)

    def _heed_clock(self, at_ms: int) -> None:
        """The voice plane's clock is the call's: ours only ever moves on to it."""
        self._zero_s = min(self._zero_s, self._loop.time() - at_ms / 1000)

    def record(self, turn: int, fact: Fact) -> None:
        """Append a fact of this call's turn (0 = of none) and report it."""
        self._append(self._turn_base + turn if turn else 0, fact)
        if isinstance(fact, ToolSettled):
            self._unstored_commit |= fact.committed
            self._outbox.forget(fact.call_id)
        report = report_of(fact, self._record.state, self.schema)
        if report is not None:
            self._report(turn, *report)

    def _append(self, turn: int, fact: Fact) -> None:
        self._record.append(turn, self.now_ms(), fact)

    def _report(self, turn: int, event: str, fields: tuple[tuple[str, Json], ...]) -> None:
        self._emit(Happened(self._opening.call, turn, self.now_ms(), event, fields))

    # -- turns

    def _start_turn(self, start: StartTurn) -> None:
        self._heed_clock(start.at_ms)
        if self._closing.is_set() or start.turn in self._turns:
            return
        if start.turn <= self._interrupted:
            self._emit(TurnEnded(start.call, start.turn, "interrupted"))
            return
        turn = Turn(self, self._calls, start)
        if start.certain:
            turn.begin()
        task = self._loop.create_task(self._run_turn(start.turn, turn), name=f"turn {start.turn}")
        self._turns[start.turn] = _Entry(turn, task)
        self._forget_turns()

    async def _run_turn(self, number: int, turn: Turn) -> None:
        outcome = await turn.run()
        if not self.is_interrupted(number):
            self._end_turn(number, outcome)

    def _end_turn(self, number: int, outcome: TurnOutcome, *more: tuple[str, Json]) -> None:
        """Report the end of a turn, once."""
        entry = self._turns.get(number)
        if entry is None or entry.ended:
            return
        entry.ended = True
        self._show_open(number, ())
        self.record(number, TurnFinished(outcome))
        self._report(number, "turn_ended", (("turn", number), ("outcome", outcome), *more))
        if outcome != "interrupted":
            call = self._opening.call
            self._emit(HangUp(call, number) if self._hang_up else Listen(call, number))
        self._emit(TurnEnded(self._opening.call, number, outcome))

    def _forget_turns(self) -> None:
        """Keep the latest turns only; older ones ended long ago."""
        for number in list(self._turns)[:-20]:
            if self._turns[number].task.done():
                del self._turns[number]

    def _confirm(self, message: ConfirmTurn) -> None:
        start = StartTurn(message.call, message.turn, "input", message.input)
        entry = self._turns.get(message.turn)
        if entry is None:  # its start was lost with an earlier life of this plane
            self._start_turn(start)
        elif not entry.turn.is_begun:
            entry.turn.confirm(message.input)

    def _retract(self, message: RetractTurn) -> None:
        self._heed_clock(message.at_ms)
        entry = self._turns.get(message.turn)
        if entry is None or entry.turn.is_begun or entry.ended:
            return
        entry.ended = True
        entry.task.cancel()

    # -- interruption

    def _interrupt(self, message: InterruptTurn) -> None:
        self._heed_clock(message.at_ms)
        turn = message.turn
        entry = self._turns.get(turn)
        was_live = turn > self._interrupted
        # No await below: nothing of the turn may slip out between closing and cancelling.
        self._interrupted = max(self._interrupted, turn)
        self._speech.cut(turn)
        for settled in message.settled:
            self._settled(settled)
        if entry is not None and not entry.ended:
            entry.task.cancel()
        stopped = self._runner.interrupt(turn)
        if not was_live or entry is None or not entry.turn.is_begun:
            if entry is not None and not entry.ended:
                entry.ended = True
                self._emit(TurnEnded(message.call, turn, "interrupted"))
            return
        self.record(turn, TurnInterrupted(message.cause, message.evidence))
        self._hang_up = False
        going_on = [call for call in self._runner.open_in(turn) if call not in stopped]
        self._end_turn(
            turn,
            "interrupted",
            ("cause", message.cause),
            ("cancelled", [call.name for call in stopped]),
            ("finishing", [call.name for call in going_on]),
        )

    def _settled(self, message: SaySettled) -> None:
        self._speech.settle(message)
        self._outbox.settled(message)

    def _close(self, message: CloseCall) -> None:
        self._heed_clock(message.at_ms)
        if self._closing.is_set():
            return
        for number in self._turns:
            self._speech.cut(number)
        self._closing.set()
        self.record(0, CallEnded(message.cause))

    # -- what turns need (TurnHost)

    @property
    def project(self) -> Project:
        """The agent."""
        return self._parts.project

    @property
    def speech(self) -> Speech:
        """The way to the caller's ear."""
        return self._speech

    @property
    def models(self) -> Sequence[tuple[str, ChatModel]]:
        """The model group in the order it is tried."""
        return self._parts.models

    def begin(self, start: StartTurn) -> None:
        """Record that a turn began."""
        self.record(start.turn, self._started(start))

    def request(self, start: StartTurn, *, begun: bool, note: str) -> ChatRequest:
        """Build a request from live state; for an uncertain turn on a copy of it."""
        state = self.state
        if not begun:
            state = state.preview(self._started(start), self._turn_base + start.turn)
        return build_request(
            self.project,
            self.schema,
            state,
            tools=(*map(_spec, self._tools.values()), *self._builtin.values()),
            at_ms=self.now_ms(),
            note=note,
        )

    def _started(self, start: StartTurn) -> TurnStarted:
        said = start.input
        return TurnStarted(
            start.cause,
            kind=said.kind if said is not None else None,
            text=said.text if said is not None else "",
            uncertain=said.uncertain if said is not None else False,
            silence_n=start.silence_n,
            reopens=None if start.reopens is None else self._turn_base + start.reopens,
        )

    async def wait_for_earlier(self, turn: int) -> None:
        """Wait until earlier turns' cancelled calls have settled and commits have ended."""
        entry = self._turns[turn]
        while holding := self._runner.holding_back(turn):
            entry.waiting = True
            self.calls_changed(turn)
            await holding[0].wait_released()
        entry.waiting = False
        self.calls_changed(turn)

    async def wait_stored(self) -> None:
        """Wait until the outcomes of commits are stored, ``FLUSH_BOUND_S`` at most."""
        if self._unstored_commit:
            self._unstored_commit = False
            try:
                stored = await self._parts.journal.flush(FLUSH_BOUND_S)
            except asyncio.CancelledError:
                self._unstored_commit = True  # the next turn's to wait for
                raise
            if not stored:
                self._report(0, "problem", (("code", "store_slow"),))

    def record_model(self, turn: int, fact: ModelCalled) -> None:
        """Record how a request to a model ended."""
        self.record(turn, fact)

    # -- what calls need (CallsHost, ToolHost)

    @property
    def state(self) -> ConversationState:
        """The live state."""
        return self._record.state

    @property
    def skill(self) -> str:
        """The active skill."""
        return self.project.skill.id

    def next_call_id(self) -> int:
        """A number for the next call of a tool."""
        self._call_ids += 1
        return self._call_ids

    def is_interrupted(self, turn: int) -> bool:
        """Whether the floor took this turn back, as of this very moment, or the call is over."""
        if self._closing.is_set() or turn <= self._interrupted:
            return True
        return turn <= self._parts.interrupted_through(self._opening.slot)

    def memory_of(self, call: RunningCall) -> MemorySlice:
        """Memory as a call of a tool sees it."""
        return ToolMemory(self, call)

    def model_context(self) -> ToolModelContext:
        """The project's model settings."""
        return ToolModelContext({"models": [name for name, _ in self._parts.models]})

    def events(self) -> Sequence[Event]:
        """The conversation so far."""
        return self._record.events

    async def send(self, call: RunningCall, text: str) -> None:
        """Queue a tool's message, or drop it and record that."""
        self._outbox.send(call, text)

    def hang_up(self, turn: int) -> None:
        """End the call after this turn, once what was said has been heard."""
        if not self.is_interrupted(turn):
            self._hang_up = True

    def say_goodbye(self, turn: int) -> None:
        """Say the project's goodbye."""
        self._speech.line(turn, "line", self.project.goodbye)

    def calls_changed(self, turn: int) -> None:
        """Show the voice plane which tools are open now."""
        live = max((n for n, e in self._turns.items() if not e.ended), default=0)
        entry = self._turns.get(live)
        if entry is None or not entry.turn.is_begun:
            return
        if turn != live and not entry.waiting:
            return
        calls = self._runner.open_in(live)
        if entry.waiting:
            calls = [*self._runner.holding_back(live), *calls]
        self._show_open(
            live, tuple(OpenTool(c.call_id, c.name, c.definition.filler) for c in calls)
        )

    def _show_open(self, turn: int, tools: tuple[OpenTool, ...]) -> None:
        if tools != self._shown_open:
            self._shown_open = tools
            self._emit(Working(self._opening.call, turn, tools))

    def _fulfilled(self, tool: str, canonical: str) -> int:
        return self.state.settled_ok.get(wish_of(tool, canonical), 0)


def _spec(definition: ToolDef) -> ToolSpec:
    return ToolSpec(definition.name, definition.description, definition.parameters)
