"""Who is decoded next, where many calls share one recognizer.

Owns the order: finals first, in the order they were asked for; then partials, only the newest of
each call; one job at a time. Partials are refused while the worker lags, since a caller who waits
for an answer comes before one whose words only grow. What a job computes is ``stt_local``'s.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from voice.workers import Worker

__all__ = ["DecodeQueue", "Job"]

T = TypeVar("T")

_LAG_S: Final = 0.3
_MOST_FINALS: Final = 256


@dataclass(frozen=True, slots=True)
class Job(Generic[T]):
    """One decoding of one call."""

    owner: object
    final: bool
    run: Callable[[], T]
    done: Callable[[T | Exception], None]
    """Called on the loop; not at all after ``drop`` of its owner."""
    asked_s: float


class DecodeQueue(Generic[T]):
    """The jobs of all calls before one worker."""

    def __init__(self, worker: Worker) -> None:
        """Start empty."""
        self._worker = worker
        self._finals: deque[Job[T]] = deque()
        self._partials: dict[int, Job[T]] = {}
        self._running: Job[T] | None = None
        self._unheard = False
        self._started_s = 0.0
        self.last_decode_s = 0.0
        """How long the last job took, by the loop's clock."""
        self.refused_partials = 0
        """Partials that were not decoded because the worker lagged."""

    def lags(self, now_s: float) -> bool:
        """Whether something has waited for more than 300 ms."""
        waiting = [*self._finals, *self._partials.values()]
        return any(now_s - job.asked_s > _LAG_S for job in waiting)

    def ask(self, job: Job[T]) -> bool:
        """Queue a job; False where it was refused."""
        if job.final:
            if len(self._finals) >= _MOST_FINALS:
                return False
            self._partials.pop(id(job.owner), None)
            self._finals.append(job)
        else:
            if self.lags(job.asked_s):
                self.refused_partials += 1
                return False
            self._partials[id(job.owner)] = job
        self._next()
        return True

    def drop(self, owner: object) -> None:
        """Forget all jobs of a call; the one that runs ends unheard."""
        self._finals = deque(job for job in self._finals if job.owner is not owner)
        self._partials.pop(id(owner), None)
        if self._running is not None and self._running.owner is owner:
            self._unheard = True

    def _next(self) -> None:
        if self._running is not None:
            return
        if self._finals:
            job = self._finals.popleft()
        elif self._partials:
            job = self._partials.pop(next(iter(self._partials)))
        else:
            return
        self._running = job
        self._started_s = asyncio.get_running_loop().time()
        self._worker.submit(job.run, self._answered)

    def _answered(self, result: T | Exception) -> None:
        job, self._running = self._running, None
        self.last_decode_s = asyncio.get_running_loop().time() - self._started_s
        unheard, self._unheard = self._unheard, False
        try:
            if job is not None and not unheard:
                job.done(result)
        finally:
            self._next()
