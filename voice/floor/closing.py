"""How a call ends: the agent hangs up or transfers, the caller leaves, nobody says anything.

Owns the orders of an ending. After one of them the floor answers nothing but ``DropSay``.
"""

from typing import Final

from runtime.agent import CloseCause, HangUp, InterruptTurn, Transfer
from voice.floor.actions import EndCall
from voice.floor.events import CallerGone
from voice.floor.parts import Parts
from voice.floor.taking import Taking

_GUARD_MS: Final = 5000
"""After all was heard, how long a hang-up waits for the end of its turn."""


class Closing:
    """The end of the call."""

    __slots__ = ("_p", "_take")

    def __init__(self, parts: Parts, taking: Taking) -> None:
        self._p = parts
        self._take = taking

    def is_current(self, number: int) -> bool:
        """Whether a message belongs to the turn that runs or came to its own end last."""
        turns = self._p.turns
        if turns.running is not None:
            return turns.running.number == number
        return number == turns.last and number > turns.cut

    def hang_up(self, event: HangUp | Transfer) -> None:
        """The agent wants to end the call, at once or when all is heard."""
        p = self._p
        if not self.is_current(event.turn):
            p.step.refuse(type(event).__name__)
        elif event.when == "now":
            p.hang_up = event
            self.end_call("agent_now")
        else:
            p.hang_up = event

    def end_call(self, reason: str, cause: CloseCause = "agent") -> None:
        """Close the call, for good."""
        p = self._p
        self._take.flush("hang_up")
        target = p.hang_up.target if isinstance(p.hang_up, Transfer) else None
        p.step.record("hang_up", "transfer" if target is not None else reason)
        p.step.emit(EndCall(cause, target))
        p.closed = True

    def caller_gone(self, event: CallerGone) -> None:
        """Nobody is there any more: end what runs, then the call."""
        p = self._p
        turn = p.turns.running
        if turn is not None:
            p.turns.cut_running()
            p.step.emit(InterruptTurn(p.call, turn.number, "hang_up", event.cause, (), p.step.now))
        p.step.record("hang_up", event.cause)
        p.step.emit(EndCall(event.cause))
        p.closed = True

    def when_heard(self) -> None:
        """All was heard and a hang-up is due: do it unless the caller is speaking up."""
        p = self._p
        turn = p.turns.running
        if turn is not None and not turn.ended:
            if p.step.due("hang_up") is None:
                p.step.arm("hang_up", p.step.now + _GUARD_MS)
        elif not p.caller_has_floor:
            self.end_call("agent")
