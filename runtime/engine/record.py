"""The live record of one conversation: its state, its latest events, and the way to the store.

Owns the only way in which a conversation changes: ``append``. The fold happens at once, the write
behind it. May outlive a call: a tool that is to finish writes here after the caller has gone.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from runtime.conversation.events import Event, Fact
from runtime.conversation.state import ConversationState, fold

__all__ = ["ConversationRecord"]

MOST_EVENTS = 5000
"""Events kept for ``context.events``; the store has them all."""


class ConversationRecord:
    """A conversation while it is in use."""

    def __init__(
        self, conversation: str, past: Iterable[Event], keep: Callable[[Event], None]
    ) -> None:
        """Fold what the store had; ``keep`` takes each new event for the store."""
        past = list(past)
        self.conversation = conversation
        self.state: ConversationState = fold(past)
        self._recent: deque[Event] = deque(past, maxlen=MOST_EVENTS)
        self._keep = keep

    def append(self, turn: int, at_ms: int, fact: Fact) -> Event:
        """Record a fact; ``turn`` counts over the whole conversation, 0 = outside of any."""
        event = Event(self.conversation, self.state.sequence + 1, at_ms, turn, fact)
        self.state.apply(event)
        self._recent.append(event)
        self._keep(event)
        return event

    @property
    def events(self) -> Sequence[Event]:
        """The latest events, oldest first."""
        return self._recent
