"""Writing to a store behind the conversation's back: in order, soon, and never in its way.

Owns the queue between the live conversations of a process and their store. Events are taken at once
and written in batches, in the order they were taken, ``DELAY_S`` after the first of a batch at the
latest while the store is well. A store that is slow or fails holds nothing up but a ``flush``,
which has a bound; what could not be written is kept and tried again with growing pauses, up to
``MOST_WAITING`` events, beyond which new ones are lost to the store (not to the live conversation),
counted and said once.
"""

import asyncio
import logging
from collections import deque

from runtime.conversation.events import Event
from runtime.store.ports import EventStore
from runtime.tasks import cancel_and_settle, run_bounded

__all__ = ["DELAY_S", "MOST_WAITING", "WriteBehind"]

DELAY_S = 0.05
"""How long the first event of a batch waits for others; half of the promised 100 ms."""

MOST_WAITING = 100_000
_BATCH = 500
_WRITE_BOUND_S = 10.0
_RETRY_S = (0.1, 0.5, 2.0, 5.0)

_logger = logging.getLogger(__name__)


class WriteBehind:
    """One per process; ``start`` and ``aclose`` on the loop that uses it."""

    def __init__(self, store: EventStore) -> None:
        """Write to ``store``; it is closed with this."""
        self._store = store
        self._waiting: deque[Event] = deque()
        self._taken = 0
        self._written = 0
        self.lost = 0
        """Events that were not stored, since too many were waiting."""
        self._news = asyncio.Event()
        self._hurry = asyncio.Event()
        self._progress = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._failures = 0

    def start(self) -> None:
        """Begin to write; idempotent."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run(), name="write behind")

    def add(self, event: Event) -> None:
        """Take an event; never waits, never raises."""
        if len(self._waiting) >= MOST_WAITING:
            if self.lost == 0:
                _logger.error("the store is too far behind: events are not stored")
            self.lost += 1
            return
        self._waiting.append(event)
        self._taken += 1
        self._news.set()

    async def flush(self, timeout: float) -> bool:
        """Wait until all that was taken so far is written, ``timeout`` seconds at most."""
        goal = self._taken
        if self._written >= goal:
            return True
        self._hurry.set()
        try:
            async with asyncio.timeout(timeout):
                while self._written < goal:
                    self._progress.clear()
                    await self._progress.wait()
        except TimeoutError:
            _logger.warning("the store did not take the events in time")
            return False
        return True

    async def load(self, conversation: str, timeout: float) -> list[Event]:
        """Read a conversation, with what still waits to be written.

        Raises:
            TimeoutError: the store did not answer in time.
            StoreError: what it holds can't be read.
        """
        await self.flush(timeout)
        waiting = [event for event in self._waiting if event.conversation == conversation]
        stored = await run_bounded(self._store.load(conversation), timeout)
        # Without what a failing store has not taken, new events would get numbers taken already.
        known = stored[-1].sequence if stored else 0
        return [*stored, *(event for event in waiting if event.sequence > known)]

    async def aclose(self, timeout: float = 5.0) -> None:
        """Write what waits, ``timeout`` seconds at most, and close the store; idempotent."""
        task, self._task = self._task, None
        if task is None:
            return
        await self.flush(timeout)
        await cancel_and_settle(task)
        await run_bounded(self._store.aclose(), timeout)

    async def _run(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            if not self._hurry.is_set():
                await self._pause(DELAY_S)
            self._hurry.clear()
            while self._waiting:
                await self._write_batch()

    async def _write_batch(self) -> None:
        batch = [self._waiting[i] for i in range(min(_BATCH, len(self._waiting)))]
        try:
            await run_bounded(self._store.append(batch), _WRITE_BOUND_S)
        except Exception as error:
            if self._failures == 0:
                _logger.error("the store can't be written", extra={"error": type(error).__name__})
            pause = _RETRY_S[min(self._failures, len(_RETRY_S) - 1)]
            self._failures += 1
            await asyncio.sleep(pause)
            return
        if self._failures:
            _logger.info("the store can be written again")
            self._failures = 0
        for _ in batch:
            self._waiting.popleft()
        self._written += len(batch)
        self._progress.set()

    async def _pause(self, seconds: float) -> None:
        """Wait, but not when somebody waits for a flush."""
        try:
            async with asyncio.timeout(seconds):
                await self._hurry.wait()
        except TimeoutError:
            return
