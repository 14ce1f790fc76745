"""An event loop whose clock jumps to the next timer when nothing is ready.

Owns virtual time: an hour of sleeping takes milliseconds, and the same inputs give the same order
of events. It never jumps while an executor job started from it is open, since what that job posts
back belongs to the present moment. Sockets are polled before each jump.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

T = TypeVar("T")


class _JumpingSelector(selectors.DefaultSelector):
    """Select without waiting, then move the loop's clock by what the wait would have been."""

    loop: "VirtualLoop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None or self.loop.open_jobs:
            # Nothing virtual to wait for: only a thread or a peer can go on.
            return super().select(0.05 if self.loop.open_jobs else timeout)
        self.loop.advance(timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """``asyncio`` in virtual time; ``loop.time()`` starts at 0."""

    def __init__(self) -> None:
        """Start at time 0 with no job open."""
        self._now = 0.0
        self.open_jobs = 0
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
        self, when: float, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        """Schedule; timers of one instant fire in the order they were made."""
        # asyncio fires the timers of one clock tick in heap order, which is not first in, first out.
        self._nudge = (getattr(self, "_nudge", 0) + 1) % 1_000_000
        return super().call_at(when + self._nudge * 1e-12, callback, *args, context=context)

    def run_in_executor(  # type: ignore[override]  # asyncio's own stub uses ParamSpec tuples
        self, executor: Executor | None, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        """Run in a thread; virtual time stands still until it is done."""
        self.open_jobs += 1
        future: asyncio.Future[T] = super().run_in_executor(executor, func, *args)

        def done(_: "asyncio.Future[T] | Future[T]") -> None:
            self.open_jobs -= 1

        future.add_done_callback(done)
        return future


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """Run ``main`` in virtual time and return its result."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
