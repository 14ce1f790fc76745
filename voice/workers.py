"""Where local engines compute: a thread of their own, or the virtual loop itself.

Owns how a job leaves the event loop and how its answer comes back. What the jobs are, and which of
them goes first, belongs to the engine (``stt_local``). Live processes take ``ThreadWorker``; replay
and tests take ``VirtualWorker``, which computes in the loop and answers after a declared latency,
so that the same call gives the same bytes on any machine.
"""

import asyncio
import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar, cast

from runtime.errors import ProviderError

__all__ = ["ThreadWorker", "VirtualWorker", "Worker"]

T = TypeVar("T")

_log = logging.getLogger(__name__)

_CLOSE_WITHIN_S: Final = 5.0
"""How long ``aclose`` waits for the job that is running."""


class Worker(Protocol):
    """One job after the other, in the order given."""

    def submit(self, job: Callable[[], T], done: Callable[[T | Exception], None]) -> None:
        """Run ``job`` off the caller's path; call ``done`` with its result or its exception.

        ``done`` runs on the event loop, never from inside ``submit``; after ``aclose`` not at all.
        """
        ...

    async def aclose(self) -> None:
        """Give up waiting jobs, let the running one end; idempotent."""
        ...


@dataclass(frozen=True, slots=True)
class _Job:
    """A job with its result type forgotten: only ``done`` reads it."""

    run: Callable[[], object]
    done: Callable[[object], None]
    loop: asyncio.AbstractEventLoop


class ThreadWorker:
    """One thread and a bounded queue.

    A full queue answers the new job with a retryable ``ProviderError``: a job that would wait
    behind so many others is too late for a live call.
    """

    def __init__(self, name: str, *, most_waiting: int = 256) -> None:
        """Start the thread; ``most_waiting`` jobs may wait behind the running one."""
        self._jobs: queue.Queue[_Job | None] = queue.Queue(most_waiting)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, job: Callable[[], T], done: Callable[[T | Exception], None]) -> None:
        """Queue a job; see ``Worker.submit``. Must be called on the event loop."""
        loop = asyncio.get_running_loop()
        entry = _Job(job, cast("Callable[[object], None]", done), loop)
        if self._closing.is_set():
            return
        try:
            self._jobs.put_nowait(entry)
        except queue.Full:
            loop.call_soon(
                entry.done, ProviderError("worker: too many jobs waiting", retryable=True)
            )

    async def aclose(self) -> None:
        """End the thread after the running job, or leave it behind after 5 s; idempotent."""
        self._closing.set()
        try:
            self._jobs.put_nowait(None)
        except queue.Full:
            _log.debug("worker queue full at close; the thread ends after its running job")
        await asyncio.to_thread(self._thread.join, _CLOSE_WITHIN_S)
        if self._thread.is_alive():
            _log.error("worker job did not end in time; its thread is left behind")

    def _run(self) -> None:
        while (entry := self._jobs.get()) is not None and not self._closing.is_set():
            try:
                result = entry.run()
            except Exception as error:  # the engine decides what a failed job means
                result = error
            self._answer(entry, result)

    def _answer(self, entry: _Job, result: object) -> None:
        if self._closing.is_set():
            return
        try:
            entry.loop.call_soon_threadsafe(entry.done, result)
        except RuntimeError:
            # The loop closed while the job ran: nobody is left who could want the answer.
            self._closing.set()


class VirtualWorker:
    """Compute at once, inside the loop, and answer ``latency_s`` of loop time later."""

    def __init__(self, latency_s: float = 0.08) -> None:
        """Declare how long each job takes, in seconds of the loop's clock."""
        self._latency_s = latency_s
        self._closed = False

    def submit(self, job: Callable[[], T], done: Callable[[T | Exception], None]) -> None:
        """Run the job now; see ``Worker.submit``."""
        if self._closed:
            return
        result: T | Exception
        try:
            result = job()
        except Exception as error:  # the engine decides what a failed job means
            result = error
        asyncio.get_running_loop().call_later(self._latency_s, self._answer, done, result)

    async def aclose(self) -> None:
        """Answer no more; idempotent."""
        self._closed = True

    def _answer(self, done: Callable[[T | Exception], None], result: T | Exception) -> None:
        if not self._closed:
            done(result)
