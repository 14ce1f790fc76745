"""One agent process: its start, its pipe, its two threads, its end.

Owns the process. What is said over the pipe is decided by ``process``. Starting and writing happen
in one thread, reading in another, so that the event loop waits for neither.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import Empty, SimpleQueue
from typing import cast

from runtime.interrupted_through import Table
from runtime.process_child import child_main
from runtime.process_messages import ChildSetup, FromChild, ToChild

__all__ = ["MOST_WAITING", "Life", "LifeEvents"]

MOST_WAITING = 20_000
"""Frames that may wait for a child that does not read; beyond, it counts as hung and is ended."""

_KILL_BOUND_S = 3.0

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LifeEvents:
    """Called on the event loop."""

    frames: Callable[[list[FromChild]], None]
    over: Callable[[str], None]
    """Once, with the cause, after the last frame."""


class Life:
    """A child process from its start to its end."""

    def __init__(self, setup: ChildSetup, table: Table, events: LifeEvents) -> None:
        """Start the process, in a thread; call on the event loop."""
        self._setup = setup
        self._table = table
        self._events = events
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[ToChild | None] = SimpleQueue()
        self._process: BaseProcess | None = None
        self._killed = False
        self._over = asyncio.Event()
        threading.Thread(target=self._write, name="agent writer", daemon=True).start()

    @property
    def pid(self) -> int | None:
        """The child's process id, once it was started."""
        return self._process.pid if self._process is not None else None

    def put(self, frame: ToChild) -> None:
        """Queue a frame; never waits."""
        if self._queue.qsize() >= MOST_WAITING:
            self.kill()
            return
        self._queue.put(frame)

    def kill(self) -> None:
        """End the process at once, if it runs."""
        if not self._killed:
            self._killed = True
            if self._process is not None:
                self._process.kill()

    async def end(self, bound_s: float) -> None:
        """Wait for the process to end by itself, ``bound_s`` seconds at most, then end it."""
        if not await self._is_over(bound_s):
            _logger.warning("the agent process did not stop in time and is ended")
            self.kill()
            await self._is_over(_KILL_BOUND_S)

    async def _is_over(self, bound_s: float) -> bool:
        try:
            async with asyncio.timeout(bound_s):
                await self._over.wait()
        except TimeoutError:
            return False
        return True

    # -- threads

    def _write(self) -> None:
        context = get_context("spawn")
        # One pipe each way, each end closed by the one thread that uses it: no descriptor is ever
        # closed under a write and given to somebody else's socket.
        theirs_in, ours_out = context.Pipe(duplex=False)
        ours_in, theirs_out = context.Pipe(duplex=False)
        process = context.Process(
            target=child_main,
            args=(self._setup, theirs_in, theirs_out, self._table),
            name="bargein-agent",
            daemon=True,
        )
        try:
            process.start()
        except Exception as error:  # no memory, no descriptor, a script without a __main__ guard
            for end in (theirs_in, theirs_out, ours_in, ours_out):
                end.close()
            self._post(self._finish, f"can't be started: {type(error).__name__}")
            return
        theirs_in.close()
        theirs_out.close()
        self._process = process
        if self._killed:
            process.kill()
        threading.Thread(
            target=self._read, args=(ours_in, process), name="agent reader", daemon=True
        ).start()
        while (batch := self._next_batch()) is not None:
            try:
                ours_out.send(batch)
            except (OSError, ValueError):
                break  # the reader sees the end too
        ours_out.close()

    def _next_batch(self) -> list[ToChild] | None:
        """All that waits, in order; None = nothing will follow."""
        first = self._queue.get()
        if first is None:
            return None
        batch = [first]
        try:
            while len(batch) < 1000:
                frame = self._queue.get_nowait()
                if frame is None:
                    self._queue.put(None)  # seen again once this batch is written
                    break
                batch.append(frame)
        except Empty:
            pass
        return batch

    def _read(self, pipe: Connection, process: BaseProcess) -> None:
        while True:
            try:
                frames = cast("list[FromChild]", pipe.recv())
            except (EOFError, OSError):
                break
            except Exception as error:  # a frame cut off by the child's death
                _logger.warning("a frame can't be read", extra={"error": type(error).__name__})
                break
            self._post(self._events.frames, frames)
        process.join(1.0)
        if process.is_alive():
            process.kill()  # it closed its pipe and goes on: nothing it does can be heard
            process.join(_KILL_BOUND_S)
        code = process.exitcode
        cause = f"killed by signal {-code}" if code is not None and code < 0 else f"exit {code}"
        pipe.close()
        self._post(self._finish, cause)

    def _finish(self, cause: str) -> None:
        self._queue.put(None)  # the writer ends
        self._over.set()
        self._events.over(cause)

    def _post(self, fn: Callable[..., object], *args: object) -> None:
        try:
            self._loop.call_soon_threadsafe(fn, *args)
        except RuntimeError:
            pass  # the loop is closed: nobody is left to be told
