"""Turns change hands here: start, interrupt, reopen, retract, confirm.

Owns the orders that belong to each of these, so that state and messages change together. When they
are due is decided in ``listening`` (words), ``floor`` (everything else) and ``turns`` (the table).
"""

from typing import Literal

from runtime.agent import (
    ConfirmTurn,
    Input,
    InputKind,
    InterruptCause,
    InterruptTurn,
    RetractTurn,
    StartTurn,
    TurnCause,
)
from voice.floor.actions import DropSay, DropTranscript, FlushOutput, LearnCallerLevel
from voice.floor.parts import Parts
from voice.floor.turns import State, Turn


class Taking:
    """The transitions of a turn."""

    __slots__ = ("_p",)

    def __init__(self, parts: Parts) -> None:
        self._p = parts

    def start(self, cause: TurnCause, silence_n: int = 0) -> None:
        """Start a turn without words of the caller's."""
        p = self._p
        turn = self._open(cause)
        if cause != "silence":  # a check-in leaves the question open that was asked before it
            p.listen_for(None)
        p.step.emit(StartTurn(p.call, turn.number, cause, silence_n=silence_n, at_ms=p.step.now))
        p.step.record("turn_started", cause, turn=turn.number)

    def start_spoken(self, *, certain: bool = True) -> None:
        """Start the turn of the words collected."""
        p = self._p
        caller, utterance = p.caller, p.caller.utterance
        end_ms = min(caller.end_ms, p.step.now)
        given = utterance.as_input(end_ms)
        spoken_from = utterance.onset_ms
        reopens = utterance.reopens
        caller.use_up(end_ms)
        if certain:
            p.step.emit(DropTranscript(end_ms))
            if spoken_from is not None and caller.last_onset_ms is not None:
                p.step.emit(LearnCallerLevel(spoken_from, max(end_ms, spoken_from)))
        self._start_with(given, reopens=reopens, certain=certain, silence_ms=p.step.now - end_ms)

    def start_given(self, kind: InputKind, text: str, given_ms: int) -> None:
        """Start the turn of keys, a typed text or a tap that was given at ``given_ms``."""
        given = Input(kind, text, onset_ms=given_ms, end_ms=given_ms)
        self._start_with(given, reopens=None, certain=True)

    def confirm(self) -> None:
        """The eager end was right."""
        p = self._p
        turn = p.turns.running
        if turn is None or turn.certain or turn.input is None:
            return
        turn.certain = True
        p.step.disarm("endpoint")
        p.gate.give()
        p.step.emit(DropTranscript(turn.input.end_ms))
        p.step.emit(ConfirmTurn(p.call, turn.number, turn.input))
        p.step.record("turn_started", "confirmed", turn=turn.number)

    def retract(self, reason: str) -> None:
        """The eager end was wrong: the words go back to the caller's utterance."""
        p = self._p
        turn = p.turns.running
        if turn is None or turn.certain:
            return
        for line in p.pacing.clear():
            p.step.emit(DropSay(line.say))
        self._give_back(turn, turn.reopens)
        p.step.emit(RetractTurn(p.call, turn.number, p.step.now))
        p.step.record("reopened", reason, turn=turn.number)
        p.gate.take()

    def interrupt(self, cause: InterruptCause, evidence: str) -> None:
        """End what runs, at once: flush what is unheard, tell the runtime. The gate stays."""
        p = self._p
        turn = p.turns.running
        self.flush(cause)
        p.gate.committed()
        if turn is None:
            return
        p.turns.cut_running()
        p.fillers.turn_over()
        p.hang_up = None
        p.step.emit(InterruptTurn(p.call, turn.number, cause, evidence, (), p.step.now))
        p.step.record("interrupted", cause, turn=turn.number, evidence=evidence)

    def reopen(self, evidence: str) -> None:
        """The caller was not done: run the turn again with both parts as one message."""
        p = self._p
        turn = p.turns.running
        if turn is None:
            return
        new_text = p.caller.utterance.new_text
        self.interrupt("reopened", evidence)
        self._give_back(turn, turn.number)
        p.step.record("reopened", evidence, new_text, turn=turn.number)

    def stop(self, cause: InterruptCause, evidence: str) -> None:
        """Whatever runs gives way: an uncertain turn is retracted, any other interrupted."""
        turn = self._p.turns.running
        if turn is not None and not turn.certain:
            self.retract(evidence)
        else:
            self.interrupt(cause, evidence)

    def commit(self, cause: Literal["words", "voice"], reason: str) -> None:
        """The caller takes the floor from a running turn."""
        p = self._p
        utterance = p.caller.utterance
        turn = p.turns.running
        early = p.state is State.THINKING
        if cause == "words":
            utterance.counts = utterance.committed = True
            utterance.kept = False
            p.gate.take()
        p.step.record("commit", reason, utterance.new_text or None)
        given = turn.input if turn is not None else None
        if early and given is not None and given.kind == "speech":
            if utterance.onset_ms is not None:
                p.pauses.learn(utterance.onset_ms - given.end_ms)
            self.reopen(reason)
        else:
            self.interrupt(cause, reason)

    def flush(self, reason: str) -> None:
        """Drop all that is unheard."""
        p = self._p
        gone = p.pacing.clear()
        if gone:
            p.spoken.ended(None, p.step.now)
            p.step.emit(FlushOutput())
            p.step.record("flush", reason, lines=len(gone))

    def _give_back(self, turn: Turn, reopens: int | None) -> None:
        p = self._p
        p.turns.cut_running()
        p.fillers.turn_over()
        utterance = p.caller.utterance
        if turn.input is not None:
            utterance.base = turn.input
        utterance.reopens = reopens
        utterance.counts = utterance.committed = True
        utterance.complete = False
        utterance.changed_ms = p.step.now
        p.listen_for(turn.answers)

    def _start_with(
        self, given: Input, *, reopens: int | None, certain: bool, silence_ms: int = 0
    ) -> None:
        p = self._p
        turn = self._open("input")
        turn.input = given
        turn.reopens = reopens
        turn.certain = certain
        p.listen_for(None)
        p.silence.caller_acted()
        p.step.disarm("endpoint")
        p.step.disarm("decode")
        if certain:
            p.gate.give()
        p.step.emit(
            StartTurn(
                p.call,
                turn.number,
                "input",
                given,
                reopens=reopens,
                certain=certain,
                at_ms=p.step.now,
            )
        )
        p.step.record(
            "turn_started",
            given.kind if certain else "eager_end",
            given.text,
            turn=turn.number,
            reopens=reopens,
            silence_ms=silence_ms,
        )

    def _open(self, cause: TurnCause) -> Turn:
        p = self._p
        answers = p.listen
        turn = p.turns.start(cause, p.step.now)
        turn.answers = answers
        p.pacing.turn_started()
        p.fillers.turn_started()
        p.wants_filler = False
        return turn
