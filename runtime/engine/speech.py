"""The messages of one call on their way to the voice plane.

Owns the numbers of says and the streaming of their text; each is recorded when its text is complete
or cut off, and once more when the playback ledger settles it. Whether a message may be said at all
is decided by who writes it: the turn, or ``outbox`` for authors' tools.
"""

from collections.abc import Callable

from runtime.agent import (
    Expect,
    FromRuntime,
    Say,
    SayEnd,
    SayKind,
    SaySettled,
    SayText,
)
from runtime.conversation.events import Fact, MessageHeard, MessageWritten

__all__ = ["OpenSay", "Speech"]


class OpenSay:
    """A message whose text still streams."""

    def __init__(self, speech: "Speech", turn: int, say: int, kind: SayKind, round: int) -> None:
        """Made by ``Speech.open``."""
        self._speech = speech
        self.turn = turn
        self.say = say
        self.kind: SayKind = kind
        self.round = round
        self.text = ""
        self.settled: SaySettled | None = None
        """It was settled before its text was complete (its sound failed)."""

    def write(self, text: str) -> None:
        """Add to the text."""
        if text:
            self.text += text
            self._speech.emit(SayText(self._speech.call, self.turn, self.say, text))

    def end(self, kind: SayKind | None = None, expect: Expect | None = None) -> None:
        """The text is complete; ``kind`` where it turned out to be another than announced."""
        self.kind = kind or self.kind
        self._speech.ended(self)
        self._speech.emit(
            SayEnd(self._speech.call, self.turn, self.say, expect or Expect(), self.kind)
        )


class Speech:
    """The says of one call, numbered from ``first`` on."""

    def __init__(
        self,
        call: int,
        *,
        language: str,
        first: int,
        emit: Callable[[FromRuntime], None],
        record: Callable[[int, Fact], None],
    ) -> None:
        """Send through ``emit``, remember through ``record(turn, fact)``."""
        self.call = call
        self.emit = emit
        self._language = language
        self._next = first
        self._record = record
        self._open: dict[int, OpenSay] = {}

    def open(self, turn: int, kind: SayKind, *, round: int) -> OpenSay:
        """Announce a message whose text follows."""
        say = OpenSay(self, turn, self._number(), kind, round)
        self._open[say.say] = say
        self.emit(Say(self.call, turn, say.say, kind, True, self._language))
        return say

    def line(
        self,
        turn: int,
        kind: SayKind,
        text: str,
        *,
        interruptible: bool = True,
        round: int = 0,
        call_id: int | None = None,
        expect: Expect | None = None,
    ) -> int:
        """Say a whole message; return its number."""
        say = self._number()
        self._record(turn, MessageWritten(say, kind, text, round, interruptible, call_id))
        self.emit(Say(self.call, turn, say, kind, interruptible, self._language))
        self.emit(SayText(self.call, turn, say, text))
        self.emit(SayEnd(self.call, turn, say, expect or Expect(), kind))
        return say

    def end_open(self, turn: int) -> None:
        """End the turn's open messages where they are, since nothing more will come of them."""
        for say in [s for s in self._open.values() if s.turn == turn]:
            say.end()

    def cut(self, turn: int) -> None:
        """Record what was written of the turn's open messages; nothing more of them is sent."""
        for say in [s for s in self._open.values() if s.turn == turn]:
            self.ended(say)

    def ended(self, say: OpenSay) -> None:
        """Record the text of a message as complete as it will be."""
        if self._open.pop(say.say, None) is None:
            return
        self._record(say.turn, MessageWritten(say.say, say.kind, say.text, say.round))
        if say.settled is not None:
            self._record(say.turn, _heard(say.settled))

    def settle(self, settled: SaySettled) -> None:
        """Record what the caller heard of a message."""
        still_open = self._open.get(settled.say)
        if still_open is not None:
            still_open.settled = settled
        else:
            self._record(settled.turn, _heard(settled))

    def _number(self) -> int:
        number, self._next = self._next, self._next + 1
        return number


def _heard(settled: SaySettled) -> MessageHeard:
    return MessageHeard(settled.say, settled.outcome, settled.heard_chars)
