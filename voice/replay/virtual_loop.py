"""An event loop whose clock jumps to the next timer when nothing is ready.

Owns virtual time: an hour of sleeping takes milliseconds, and the same inputs give the same order
of events. Three rules make it repeatable:

* Timers of one instant fire in the order in which they were armed.
* Time stands still while an executor job started from the loop is open, since what the job posts
  back belongs to the present moment; also inside ``outside()``, for waits on a peer elsewhere.
* Sockets are polled before each jump, so that what has already arrived is never overtaken.

Nothing here knows of calls or sound; the callers and phones that live in the loop are ``far_end``.
A real clock is never read: where the loop must wait for a thread or a peer it blocks in the
selector. The alternative, for live calls, is asyncio's own loop (or uvloop).
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import Context
from itertools import count
from typing import Any, Final, TypeVar

from runtime.errors import InternalError

T = TypeVar("T")

_JOB_POLL_S: Final = 0.05
"""Real seconds per wait for an open job; its end wakes the loop at once."""
_OUTSIDE_PATIENCE_S: Final = 1.0
"""Real seconds that a peer may take before time goes on by one timer (its client may be waiting
for a timer of its own, such as the pause before a retry)."""
_STALL_S: Final = 5.0
"""Real seconds after which a loop with nothing left to wait for says so."""


class StalledError(InternalError):
    """Every task waits for something that nothing in the loop will ever do."""


class _Instant(float):
    """A timer's due time that orders equal instants by age.

    asyncio keeps its timers in a heap by due time alone, which gives equal ones in any order.
    """

    __slots__ = ("age",)
    age: int

    def __lt__(self, other: float) -> bool:
        """Order by time, then by age."""
        if float.__eq__(self, other) and isinstance(other, _Instant):
            return self.age < other.age
        return float.__lt__(self, other)


class _JumpingSelector(selectors.DefaultSelector):
    """Select without waiting, then move the loop's clock by what the wait would have been."""

    loop: "VirtualLoop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        loop = self.loop
        if loop.open_jobs:
            return super().select(_JOB_POLL_S)
        if timeout is None:
            return self._wait_for_others()
        if loop.open_outside:
            ready = super().select(_OUTSIDE_PATIENCE_S)
            if ready:
                return ready
        loop.advance(timeout)
        return ready

    def _wait_for_others(self) -> list[tuple[selectors.SelectorKey, int]]:
        """Nothing virtual is left to wait for: only a peer or a thread can go on."""
        if len(self.get_map()) > 1:  # more than the loop's own wake-up socket
            return super().select(None)
        ready = super().select(_STALL_S)
        if not ready:
            raise StalledError("every task in the virtual loop waits, and no timer is armed")
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """``asyncio`` in virtual time; ``loop.time()`` starts at 0."""

    def __init__(self) -> None:
        """Start at time 0 with no job open."""
        self._now = 0.0
        self._ages = count()
        self._pool: ThreadPoolExecutor | None = None
        self.open_jobs = 0
        """Executor jobs that have not posted their result yet."""
        self.open_outside = 0
        """Waits on peers outside the loop that are open now."""
        selector = _JumpingSelector()
        super().__init__(selector)
        selector.loop = self

    def time(self) -> float:
        """Seconds of virtual time."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the clock on; called by the selector only."""
        self._now += seconds

    def call_at(
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Schedule; timers of one instant fire in the order they were armed."""
        instant = _Instant(when)
        instant.age = next(self._ages)
        return super().call_at(instant, callback, *args, context=context)

    @contextmanager
    def outside(self) -> Generator[None]:
        """Let time stand still (for a second of real time per timer) while a peer is awaited."""
        self.open_outside += 1
        try:
            yield
        finally:
            self.open_outside -= 1

    def run_in_executor(  # pyright: ignore[reportIncompatibleMethodOverride] # the stub's TypeVarTuple
        self, executor: Executor | None, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        """Run in a thread; virtual time stands still until its result is in the loop.

        A cancelled wait doesn't end the thread, so time stands until the thread itself is done.
        """
        if executor is None:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(thread_name_prefix="virtual-loop")
                self.set_default_executor(self._pool)
            executor = self._pool
        job = executor.submit(func, *args)
        self.open_jobs += 1
        # wrap_future registers first, so the result is posted before the job counts as ended.
        future = asyncio.wrap_future(job, loop=self)
        job.add_done_callback(self._job_done)
        return future

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Join the threads; a jump here would run out asyncio's own bound at once."""
        self.open_jobs += 1
        try:
            await super().shutdown_default_executor()
        finally:
            self.open_jobs -= 1

    def _job_done(self, _: "Future[Any]") -> None:
        """Post the end of a job; runs in the job's thread."""
        with suppress(RuntimeError):  # the loop was closed without waiting
            self.call_soon_threadsafe(self._job_ended)

    def _job_ended(self) -> None:
        self.open_jobs -= 1


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """Run ``main`` in virtual time and return its result.

    Raises:
        StalledError: every task waits and no timer is armed.
    """
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
