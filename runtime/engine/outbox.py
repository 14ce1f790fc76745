"""``context.send``: messages of authors' tools, past the model, in order.

Owns whether such a message is queued or dropped. It is dropped, and the drop recorded, once the
turn was interrupted or the call that sends it is over its time; a message that was queued and then
flushed unheard by the voice plane is recorded by the say's own settlement, and reported here too.
"""

from collections.abc import Callable

from runtime.agent import SaySettled
from runtime.conversation.events import Fact, MessageDropped
from runtime.engine.speech import Speech
from runtime.tools.call import RunningCall

__all__ = ["MOST_SENDS", "Outbox"]

MOST_SENDS = 50
"""Messages one call of a tool may queue; no caller listens to more. Of those that are dropped as
many are recorded.
"""


class Outbox:
    """The waiting messages of one call's tools."""

    def __init__(
        self,
        speech: Speech,
        record: Callable[[int, Fact], None],
        is_closed: Callable[[int], bool],
    ) -> None:
        """Speak through ``speech`` unless ``is_closed(turn)``."""
        self._speech = speech
        self._record = record
        self._is_closed = is_closed
        self._waiting: dict[int, tuple[RunningCall, str]] = {}
        """Queued and not settled yet, by say."""
        self._sent: dict[int, int] = {}
        """How many messages a call of a tool has queued."""

    def send(self, call: RunningCall, text: object) -> None:
        """Queue a tool's message, or drop it and record that."""
        if not isinstance(text, str) or not text.strip():
            return
        text = str.__str__(text)  # of a subclass (an enum's member) only the characters travel on
        count = self._sent.get(call.call_id, 0)
        if self._is_closed(call.turn) or call.cancel_wanted:
            self._drop(call, text, "interrupted")
        elif call.outcome is not None:
            self._drop(call, text, "settled")
        elif count >= MOST_SENDS:
            self._drop(call, text, "too_many")
        else:
            self._sent[call.call_id] = count + 1
            say = self._speech.line(call.turn, "line", text, call_id=call.call_id)
            self._waiting[say] = (call, text)

    def settled(self, settled: SaySettled) -> None:
        """A message was settled; one that was flushed unheard is reported as dropped."""
        waiting = self._waiting.pop(settled.say, None)
        if waiting is not None and settled.outcome == "dropped":
            self._drop(*waiting, "flushed")

    def forget(self, call_id: int) -> None:
        """A call of a tool is over."""
        self._sent.pop(call_id, None)

    def _drop(self, call: RunningCall, text: str, reason: str) -> None:
        call.drops += 1
        if call.drops <= MOST_SENDS:
            self._record(call.turn, MessageDropped(call.call_id, text, reason))
