"""The calls that are open, and whether another may come.

Owns the count, the ids, and the way from "open" over "draining" to "empty". Knows no routes.
"""

import asyncio
import logging
from typing import Literal

from voice.gateway.access import Access
from voice.gateway.config import GatewayConfig
from voice.gateway.metrics import Metrics
from voice.gateway.session import CallFactory, Session
from voice.gateway.writer import WriterLimits

__all__ = ["Gateway", "Refusal"]

_log = logging.getLogger(__name__)

Refusal = Literal["full", "draining"]


class Gateway:
    """What the routes of one server share."""

    def __init__(
        self, config: GatewayConfig, factory: CallFactory, metrics: Metrics, limits: WriterLimits
    ) -> None:
        """Begin open and empty."""
        self.config = config
        self.factory = factory
        self.metrics = metrics
        self.limits = limits
        self.access = Access(config)
        self.is_draining = False
        self._sessions: dict[int, Session | None] = {}
        self._last_id = 0
        self._empty = asyncio.Event()
        self._empty.set()

    @property
    def open_calls(self) -> int:
        """Calls that hold a place now."""
        return len(self._sessions)

    def refusal(self, expected: int = 0) -> Refusal | None:
        """Why no further call may come; ``expected`` more are on their way already."""
        if self.is_draining:
            return "draining"
        return "full" if self.open_calls + expected >= self.config.max_calls else None

    def take_place(self, channel: str) -> int:
        """Hold a place for a call and number it; ``leave`` gives it back."""
        self._last_id += 1
        self._sessions[self._last_id] = None
        self._empty.clear()
        self.metrics.calls.labels(channel).inc()
        self.metrics.calls_open.set(self.open_calls)
        return self._last_id

    def seat(self, call_id: int, session: Session) -> None:
        """Let drain reach the session of this call."""
        self._sessions[call_id] = session

    def leave(self, call_id: int) -> None:
        """Give the place back; idempotent."""
        self._sessions.pop(call_id, None)
        if not self._sessions:
            self._empty.set()
        self.metrics.calls_open.set(self.open_calls)

    # ------------------------------------------------------------------ the end

    def begin_drain(self) -> None:
        """Take no more calls; those that are open go on."""
        if not self.is_draining:
            _log.warning(
                "draining: open calls may go on for a while, a second signal ends them at once",
                extra={"open_calls": self.open_calls, "for_s": self.config.drain_s},
            )
        self.is_draining = True

    def end_calls(self) -> None:
        """End every call that is still open; each client is told."""
        for session in list(self._sessions.values()):
            if session is not None:
                session.drain()

    async def wait_empty(self, bound_s: float) -> bool:
        """Wait until no call is open, ``bound_s`` at most; whether that is so."""
        try:
            async with asyncio.timeout(bound_s):
                await self._empty.wait()
        except TimeoutError:
            return False
        return True
