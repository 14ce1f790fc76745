"""The few ways in which our code cancels, bounds, closes and finishes asynchronous work.

Owns the only uses of asyncio's cancelling primitives. ``asyncio.wait_for`` is no bound on a task
that refuses to end, ``asyncio.shield`` loses the error of what it shields, and ``asyncio.gather``
loses its siblings; each helper here is built on ``asyncio.wait``, which never re-raises a child's
error and leaves the children alone when its caller is cancelled. Tasks that outlive their bound are
kept in a set of their own until they end, so that none is collected while it is pending. Long-lived
tasks with an owner of their own belong in an ``asyncio.TaskGroup``, not here.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

__all__ = [
    "cancel_and_settle",
    "closing_stream",
    "finish_before_leaving",
    "raise_if_cancelled",
    "run_bounded",
]

T = TypeVar("T")

_logger = logging.getLogger(__name__)

_leaving: set[asyncio.Task[Any]] = set()
"""Cancelled tasks that did not end within their grace; each leaves the set when it ends."""


async def cancel_and_settle(
    *tasks: asyncio.Task[Any],
    grace: float = 1.0,
    cancelled_before: Collection[asyncio.Task[Any]] = (),
) -> set[asyncio.Task[Any]]:
    """Cancel each task once and wait until all have ended, ``grace`` seconds at most.

    A second cancel would cut the cleanup that the first one started, so there is none: tasks in
    ``cancelled_before`` are only waited for. Errors of the tasks are retrieved and dropped. The
    task that calls is never cancelled by itself.

    Returns:
        The tasks that still run; they are kept alive until they end.
    """
    me = asyncio.current_task()
    running = {task for task in tasks if task is not me and not task.done()}
    for task in running.difference(cancelled_before):
        task.cancel()
    try:
        if running:
            await asyncio.wait(running, timeout=grace)
    finally:
        still = {task for task in running if not task.done()}
        for task in still:
            _leave_behind(task)
        for task in tasks:
            if task.done() and not task.cancelled():
                task.exception()
    return still


async def run_bounded(coro: Coroutine[Any, Any, T], timeout: float, *, grace: float = 1.0) -> T:
    """Run ``coro`` for ``timeout`` seconds at most and return its result.

    What returns after the deadline is judged by the clock: its value is dropped. A cancellation of
    the caller cancels the coroutine and waits for its cleanup, ``grace`` seconds at most.

    Raises:
        TimeoutError: the time is over; the coroutine was cancelled.
    """
    task = asyncio.get_running_loop().create_task(coro)
    try:
        await asyncio.wait({task}, timeout=timeout)
    except asyncio.CancelledError:
        await cancel_and_settle(task, grace=grace)
        raise
    if task.done():
        return task.result()
    await cancel_and_settle(task, grace=grace)
    raise TimeoutError


@asynccontextmanager
async def closing_stream(
    stream: AsyncIterator[T], *, grace: float = 1.0
) -> AsyncGenerator[AsyncIterator[T], None]:
    """Close an asynchronous generator where the block is left, not when the loop gets round to it.

    It is closed by the task that read it, since cancel scopes of libraries inside must be left by
    the task that entered them; closing is bounded by ``grace`` seconds. An error of the closing is
    logged and goes no further: it must not take the place of what ended the block.
    """
    try:
        yield stream
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            try:
                async with asyncio.timeout(grace):
                    await close()
            except TimeoutError:
                _logger.warning("a stream did not close in time")
            except Exception as error:
                _logger.warning("a stream did not close", extra={"error": type(error).__name__})


def raise_if_cancelled() -> None:
    """Raise the cancellation of this task that an error of some cleanup has taken the place of.

    For whoever catches errors of code that may be cancelled: without it the task would live on.

    Raises:
        asyncio.CancelledError: somebody has cancelled this task.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def finish_before_leaving(coro: Coroutine[Any, Any, T], grace: float) -> T:
    """Run ``coro`` to its end, ``grace`` seconds at most, also if the caller is cancelled.

    The caller's cancellation is raised once the coroutine has ended or its time is over.

    Raises:
        TimeoutError: it did not end in time; it was cancelled and left behind.
    """
    loop = asyncio.get_running_loop()
    task = loop.create_task(coro)
    deadline = loop.time() + grace
    cancelled: asyncio.CancelledError | None = None
    while not task.done() and (left := deadline - loop.time()) > 0:
        try:
            await asyncio.wait({task}, timeout=left)
        except asyncio.CancelledError as request:
            cancelled = request
    if not task.done():
        task.cancel()
        _leave_behind(task)
    if cancelled is not None:
        if task.done() and not task.cancelled() and task.exception() is not None:
            _logger.warning("work that was finished while leaving failed")
        raise cancelled
    if not task.done():
        raise TimeoutError
    return task.result()


def _leave_behind(task: asyncio.Task[Any]) -> None:
    if task in _leaving:
        return
    _leaving.add(task)
    task.add_done_callback(_forget)


def _forget(task: asyncio.Task[Any]) -> None:
    _leaving.discard(task)
    if not task.cancelled() and (error := task.exception()) is not None:
        _logger.warning("a task that was left behind failed", extra={"error": type(error).__name__})
