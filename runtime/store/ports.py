"""What a store of conversations must offer: append in order, load one conversation.

Owns the port. Engines: ``memory_store``, ``sqlite_store``; all pass the same contract tests.
Nothing in a call waits for a store but through ``write_behind``.
"""

from collections.abc import Sequence
from typing import Protocol

from runtime.conversation.events import Event
from runtime.errors import AgentError

__all__ = ["EventStore", "StoreError"]


class StoreError(AgentError):
    """The store can't be used: wrong schema version, unreadable rows, no file."""


class EventStore(Protocol):
    """A log of events by conversation."""

    async def append(self, events: Sequence[Event]) -> None:
        """Write events, all or none. One that is there already (same conversation and number) is
        left as it is, so that a write whose answer was lost can be repeated.
        """
        ...

    async def load(self, conversation: str) -> list[Event]:
        """All events of a conversation in the order of their numbers; none = it is new."""
        ...

    async def aclose(self) -> None:
        """Release connections; idempotent."""
        ...
