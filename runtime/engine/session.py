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
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, assert_never

from runtime.agent import (
    CallReady,
    CloseCall,
    ConfirmTurn,
    FromRuntime,
    HangUp,
    InterruptTurn,
    Json,
    Listen,
    OpenCall,
    OpenTool,
    RetractTurn,
    SaySettled,
    StartTurn,
    ToRuntime,
    Transfer,
    TurnEnded,
    TurnOutcome,
    Working,
)
from runtime.conversation.events import (
    CallEnded,
    CallStarted,
    MemorySet,
    ToolSettled,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
)
from runtime.conversation.memory import accepts, coerced
from runtime.conversation.state import ConversationState
from runtime.engine.desk import Desk, SessionParts
from runtime.engine.gates import GateResult, gate_results
from runtime.engine.parts import build_parts
from runtime.engine.record import ConversationRecord
from runtime.engine.reporting import report_of
from runtime.engine.turn import Turn
from runtime.tasks import cancel_and_settle
from runtime.tools.arguments import canonical_json
from runtime.tools.runner import refusal

__all__ = ["Session"]

_logger = logging.getLogger(__name__)


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
        self._opening = opening
        self._record = record
        self._emit = emit
        self._recovers = recover
        self._loop = asyncio.get_running_loop()
        self._turns: dict[int, _Entry] = {}
        self._closing = asyncio.Event()
        self._shown_open: tuple[OpenTool, ...] = ()
        self._shown_gates: tuple[GateResult, ...] = ()
        self._desk = Desk(opening, record, parts, emit, self.calls_changed)
        self._engine = build_parts(self._desk)

    # -- life

    def open(self) -> None:
        """Begin: settle what an earlier life left open, record the call, tell the voice plane."""
        desk = self._desk
        if self._recovers:
            self._recover()
        opening, settings = self._opening, desk.project.settings
        about = (opening.channel, opening.language, opening.wall_start, opening.metadata)
        is_new = desk.state.call is None
        desk.record(0, CallStarted(*about, opening.resumed))
        if is_new:
            self._seed()
        self._emit(CallReady(opening.call, self._record.conversation, settings))
        self._show_gates(0)

    def _seed(self) -> None:
        """Copy what the channel knows of the caller into the fields that are declared for it."""
        desk = self._desk
        given = dict(self._opening.metadata)
        for field in desk.schema.fields:
            if field.seed and field.name in given:
                value = coerced(field, given[field.name])
                if accepts(field, value):
                    self._seed_field(field.namespace, field.name, value)
        for namespace, name, value in desk.parts.setup:
            if desk.schema.field(namespace, name) is not None:
                self._seed_field(namespace, name, value)

    def _seed_field(self, namespace: str, name: str, value: object) -> None:
        text = canonical_json(value)
        self._desk.record(0, MemorySet(namespace, name, text, "seed"))

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
        return stubborn | await self._desk.runner.close()

    @property
    def is_closing(self) -> bool:
        """Whether the call is over and only settles."""
        return self._closing.is_set()

    def _recover(self) -> None:
        """Settle what the life before this one left open."""
        held = self._record.state.dialogue.held_calls
        for made in self._record.state.open_calls:
            if made.call_id in held:
                continue  # it never ran: it is still the caller's to answer
            outcome = "unknown" if made.started else "cancelled"
            reason = refusal(outcome, "the agent was restarted")
            fact = ToolSettled(made.call_id, outcome, reason)
            self._desk.append(made.turn, fact)
            if made.made_for == "hook":
                self._engine.writes.take_back_unchecked(made)
            report = report_of(fact, self._record.state, self._desk.schema)
            if self._opening.resumed and report is not None:
                self._desk.report(max(0, made.turn - self._desk.turn_base), *report)
        state = self._record.state
        unheard = {message.turn for message in state.open_messages}  # nobody says them any more
        for turn in sorted((state.open_turns | unheard) - state.interrupted):
            self._desk.append(turn, TurnInterrupted("restart"))

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

    # -- turns

    def _start_turn(self, start: StartTurn) -> None:
        self._desk.heed_clock(start.at_ms)
        if self._closing.is_set() or start.turn in self._turns:
            return
        if start.turn <= self._desk.interrupted:
            self._emit(TurnEnded(start.call, start.turn, "interrupted"))
            return
        turn = Turn(self._engine, start, self._begin, self._preview, self._wait_for_earlier)
        if start.certain:
            turn.begin()
        task = self._loop.create_task(self._run_turn(start.turn, turn), name=f"turn {start.turn}")
        self._turns[start.turn] = _Entry(turn, task)
        self._forget_turns()

    async def _run_turn(self, number: int, turn: Turn) -> None:
        outcome = await turn.run()
        if not self._desk.is_interrupted(number):
            self._end_turn(number, outcome)

    def _end_turn(self, number: int, outcome: TurnOutcome, *more: tuple[str, Json]) -> None:
        """Report the end of a turn, once."""
        entry = self._turns.get(number)
        if entry is None or entry.ended:
            return
        entry.ended = True
        self._show_open(number, ())
        self._desk.record(number, TurnFinished(outcome))
        self._desk.report(number, "turn_ended", (("turn", number), ("outcome", outcome), *more))
        if outcome != "interrupted":
            self._hand_back(entry.turn)
        self._emit(TurnEnded(self._opening.call, number, outcome))

    def _hand_back(self, turn: Turn) -> None:
        """What the voice plane does now that the agent is done: listen, hang up, transfer."""
        call, scope = self._opening.call, turn.scope
        self._show_gates(scope.turn)
        if scope.transfers_to is not None:
            self._emit(Transfer(call, scope.turn, scope.transfers_to))
        elif scope.hangs_up or self._desk.wants_hang_up(scope.turn):
            self._emit(HangUp(call, scope.turn))
        else:
            expect, keys = self._engine.steps.listening(scope)
            self._emit(Listen(call, scope.turn, expect, keys))

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
        self._desk.heed_clock(message.at_ms)
        entry = self._turns.get(message.turn)
        if entry is None or entry.turn.is_begun or entry.ended:
            return
        entry.ended = True
        entry.task.cancel()

    # -- interruption

    def _interrupt(self, message: InterruptTurn) -> None:
        self._desk.heed_clock(message.at_ms)
        turn = message.turn
        entry = self._turns.get(turn)
        was_live = turn > self._desk.interrupted
        # No await below: nothing of the turn may slip out between closing and cancelling.
        self._desk.interrupted = max(self._desk.interrupted, turn)
        self._desk.speech.cut(turn)
        for settled in message.settled:
            self._settled(settled)
        if entry is not None and not entry.ended:
            entry.task.cancel()
        stopped = self._desk.runner.interrupt(turn)
        if not was_live or entry is None or not entry.turn.is_begun:
            if entry is not None and not entry.ended:
                entry.ended = True
                self._emit(TurnEnded(message.call, turn, "interrupted"))
            return
        self._desk.record(turn, TurnInterrupted(message.cause, message.evidence))
        # What is in its commit section ends as it ends, and is known then.
        stopped = [call for call in stopped if not call.open_commits]
        going_on = [call for call in self._desk.runner.open_in(turn) if call not in stopped]
        self._end_turn(
            turn,
            "interrupted",
            ("cause", message.cause),
            ("cancelled", [call.name for call in stopped]),
            ("finishing", [call.name for call in going_on]),
        )

    def _settled(self, message: SaySettled) -> None:
        self._desk.speech.settle(message)
        self._desk.outbox.settled(message)

    def _close(self, message: CloseCall) -> None:
        self._desk.heed_clock(message.at_ms)
        if self._closing.is_set():
            return
        for number in self._turns:
            self._desk.speech.cut(number)
        self._closing.set()
        self._desk.is_closing = True
        self._desk.record(0, CallEnded(message.cause))

    # -- what turns need

    def _begin(self, start: StartTurn) -> None:
        self._desk.record(start.turn, self._started(start))

    def _preview(self, start: StartTurn) -> ConversationState:
        """A copy of the state in which an uncertain turn has begun."""
        return self._desk.state.preview(self._started(start), self._desk.turn_base + start.turn)

    def _started(self, start: StartTurn) -> TurnStarted:
        said = start.input
        return TurnStarted(
            start.cause,
            kind=said.kind if said is not None else None,
            text=said.text if said is not None else "",
            uncertain=said.uncertain if said is not None else False,
            silence_n=start.silence_n,
            reopens=None if start.reopens is None else self._desk.turn_base + start.reopens,
        )

    async def _wait_for_earlier(self, turn: int) -> None:
        """Wait until earlier turns' cancelled calls have settled and commits have ended."""
        entry = self._turns[turn]
        while holding := self._desk.runner.holding_back(turn):
            entry.waiting = True
            self.calls_changed(turn)
            await holding[0].wait_released()
        entry.waiting = False
        self.calls_changed(turn)

    # -- showing what goes on

    def calls_changed(self, turn: int) -> None:
        """Show the voice plane which tools are open now."""
        live = max((n for n, e in self._turns.items() if not e.ended), default=0)
        entry = self._turns.get(live)
        if entry is None or not entry.turn.is_begun:
            return
        if turn != live and not entry.waiting:
            return
        runner = self._desk.runner
        calls = runner.open_in(live)
        if entry.waiting:
            calls = [*runner.holding_back(live), *calls]
        self._show_open(
            live, tuple(OpenTool(c.call_id, c.name, c.definition.filler) for c in calls)
        )

    def _show_open(self, turn: int, tools: tuple[OpenTool, ...]) -> None:
        if tools != self._shown_open:
            self._shown_open = tools
            self._emit(Working(self._opening.call, turn, tools))

    def _show_gates(self, turn: int) -> None:
        """Tell whoever watches which tools may be called now, whenever that has changed."""
        desk = self._desk
        gates = gate_results(desk.project, desk.skill, desk.reader)
        if gates == self._shown_gates:
            return
        self._shown_gates = gates
        tools: list[Json] = [
            {"skill": g.skill, "tool": g.tool, "gate": g.state, "requires": g.requires}
            for g in gates
        ]
        desk.report(turn, "gates", (("tools", tools),))
