"""A store that lives as long as the process: for tests and replays."""

from collections.abc import Sequence

from runtime.conversation.events import Event
from runtime.store.ports import EventStore

__all__ = ["MemoryStore"]


class MemoryStore(EventStore):
    """Events in a dictionary."""

    def __init__(self) -> None:
        """Start empty."""
        self._events: dict[str, dict[int, Event]] = {}

    async def append(self, events: Sequence[Event]) -> None:
        """Write events; those that are there already are left as they are."""
        for event in events:
            self._events.setdefault(event.conversation, {}).setdefault(event.sequence, event)

    async def load(self, conversation: str) -> list[Event]:
        """All events of a conversation in the order of their numbers."""
        return [event for _, event in sorted(self._events.get(conversation, {}).items())]

    async def aclose(self) -> None:
        """Nothing to release."""
