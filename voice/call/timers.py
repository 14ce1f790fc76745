"""One call's timers on the event loop: one a key, the newest stamp wins.

Owns their handles. What a fired timer means is the floor's matter.
"""

import asyncio
from collections.abc import Callable


class Timers:
    """Timers of one call, in ms of its clock."""

    def __init__(self, opened_s: float, fired: Callable[[str, int], None]) -> None:
        """Count from loop time ``opened_s``; ``fired(key, stamp)`` is called on the loop."""
        self._loop = asyncio.get_running_loop()
        self._opened_s = opened_s
        self._fired = fired
        self._handles: dict[str, asyncio.TimerHandle] = {}

    def arm(self, key: str, stamp: int, due_ms: int) -> None:
        """Fire at ``due_ms``, in place of what was armed under this key."""
        earlier = self._handles.pop(key, None)
        if earlier is not None:
            earlier.cancel()
        due_s = self._opened_s + due_ms / 1000
        self._handles[key] = self._loop.call_at(due_s, self._fire, key, stamp)

    def cancel_all(self) -> None:
        """Fire none of them."""
        for handle in self._handles.values():
            handle.cancel()
        self._handles.clear()

    def _fire(self, key: str, stamp: int) -> None:
        self._handles.pop(key, None)
        self._fired(key, stamp)
