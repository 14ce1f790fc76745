"""The agent process from inside: an ``InLoopAgent`` served over a pipe.

Owns the child's threads (one reads, one writes, one watches the loop) and its end: it ignores
SIGINT, stops when told to, and dies with its parent. The parent's side is ``process``.
"""

import asyncio
import faulthandler
import importlib
import logging
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import cast

from runtime.agent import OpenCall
from runtime.errors import ProjectError
from runtime.interrupted_through import InterruptedThrough, Table
from runtime.models.ports import ChatModel
from runtime.plane import InLoopAgent
from runtime.process_messages import (
    Beat,
    ChildSetup,
    Detach,
    FromChild,
    Logged,
    NotStarted,
    Ready,
    Stop,
    Stuck,
    ToChild,
)
from runtime.project.model import Project
from runtime.store.ports import EventStore
from runtime.tasks import cancel_and_settle
from runtime.tools.arguments import prepare

__all__ = ["AgentParts", "build_from_files", "child_main"]

BEAT_S = 0.25
STUCK_AFTER_S = 1.0

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AgentParts:
    """What an agent is made of."""

    project: Project
    models: Sequence[ChatModel]
    store: EventStore


def build_from_files(project: Path, store: Path) -> AgentParts:
    """Load a project from disk, with its models, and keep its conversations in ``store``.

    Raises:
        ProjectError: the project is not right.
    """
    from runtime.models.factory import build_models
    from runtime.project.loader import load
    from runtime.store.sqlite_store import SqliteStore

    loaded = load(project, os.environ)
    return AgentParts(loaded, build_models(loaded), SqliteStore(store))


def child_main(setup: ChildSetup, pipe_in: Connection, pipe_out: Connection, table: Table) -> None:
    """Run the agent until it is told to stop or the parent is gone."""
    # Both may reach the whole group; stopping is the parent's, which lets commits end first.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    faulthandler.enable()
    built = threading.Event()
    threading.Thread(target=_leave_with_parent, args=(built,), daemon=True).start()
    out = _Outgoing(pipe_out)
    root = logging.getLogger()
    root.setLevel(setup.log_level)
    root.addHandler(_LogForwarder(out.put))
    try:
        parts = _build(setup)
    except Exception as error:
        problems = error.problems if isinstance(error, ProjectError) else ()
        text = str(error) or type(error).__name__
        out.put(NotStarted(text, tuple(problems)))
        out.close()
        return
    finally:
        built.set()
    asyncio.run(_Child(parts, setup, pipe_in, out, table).run())
    out.close()


def _leave_with_parent(built: threading.Event) -> None:
    """End at once if the parent goes while the agent is being built: nothing is to be settled."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        if not built.is_set():
            os._exit(1)


def _build(setup: ChildSetup) -> AgentParts:
    module, _, name = setup.build.partition(":")
    build = cast("Callable[..., AgentParts]", getattr(importlib.import_module(module), name))
    return build(**dict(setup.arguments))


class _Child:
    """The running agent process."""

    def __init__(
        self,
        parts: AgentParts,
        setup: ChildSetup,
        pipe: Connection,
        out: "_Outgoing",
        table: Table,
    ) -> None:
        self._parts = parts
        self._setup = setup
        self._pipe = pipe
        self._out = out
        self._table = table
        self._last_beat_s = 0.0

    async def run(self) -> None:
        """Serve the pipe."""
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._agent = InLoopAgent(
            self._parts.project,
            models=self._parts.models,
            store=self._parts.store,
            slots=InterruptedThrough(self._table),
            first_id=self._setup.first_id,
        )
        skills = self._parts.project.skills.values()
        prepare(tool for skill in skills for tool in skill.tools.values())
        main_thread = threading.get_ident()
        self._last_beat_s = self._loop.time()
        beating = self._loop.create_task(self._beat(), name="beat")
        for target in (self._read, lambda: self._watch(main_thread)):
            threading.Thread(target=target, daemon=True).start()
        self._out.put(Ready(self._agent.closing_bound_s))
        await self._stop.wait()
        await self._agent.aclose()
        await cancel_and_settle(beating)

    async def _beat(self) -> None:
        while True:
            self._last_beat_s = self._loop.time()
            self._out.put(Beat())
            await asyncio.sleep(BEAT_S)

    def _take(self, frames: list[ToChild]) -> None:
        for frame in frames:
            match frame:
                case Detach(call=call):
                    self._agent.detach(call)
                case Stop():
                    self._stop.set()
                case OpenCall():
                    self._agent.attach_at(frame.call, self._out.put, frame.slot)
                    self._agent.send(frame)
                case _:
                    self._agent.send(frame)

    # -- threads

    def _read(self) -> None:
        while True:
            try:
                frames = cast("list[ToChild]", self._pipe.recv())
            except (EOFError, OSError):
                break
            self._loop.call_soon_threadsafe(self._take, frames)
        # The parent is gone: settle, but not for ever, and not at the mercy of a stuck loop.
        try:
            self._loop.call_soon_threadsafe(self._stop.set)
        except RuntimeError:
            return  # the loop has ended already
        threading.Event().wait(self._agent.closing_bound_s)
        os._exit(1)

    def _watch(self, main_thread: int) -> None:
        """Name what holds the loop up, once each time it happens."""
        pause = threading.Event()
        told = False
        while True:
            pause.wait(BEAT_S)
            if self._loop.time() - self._last_beat_s < STUCK_AFTER_S + BEAT_S:
                told = False
            elif not told:
                told = True
                task = asyncio.current_task(self._loop)
                frame = sys._current_frames().get(main_thread)  # pyright: ignore[reportPrivateUsage]  # the only way to see another thread's line
                where = f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else ""
                self._out.put(Stuck(task.get_name() if task is not None else "", where))


class _Outgoing:
    """Frames on their way to the parent: a queue and a thread that writes them in batches."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._queue: SimpleQueue[FromChild | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def put(self, frame: FromChild) -> None:
        """Queue a frame; from any thread, never waits."""
        self._queue.put(frame)

    def close(self) -> None:
        """Write what is queued, a second at most."""
        self._queue.put(None)
        self._thread.join(1.0)

    def _write(self) -> None:
        while (frame := self._queue.get()) is not None:
            batch = [frame]
            ends = False
            try:
                while len(batch) < 1000:
                    more = self._queue.get_nowait()
                    if more is None:
                        ends = True
                        break
                    batch.append(more)
            except Empty:
                pass
            if not self._send(batch) or ends:
                return

    def _send(self, batch: list[FromChild]) -> bool:
        try:
            self._pipe.send(batch)
        except (OSError, ValueError):
            return False  # the parent is gone; the reader sees it too
        except Exception as error:
            if len(batch) > 1:
                return all(self._send([frame]) for frame in batch)
            kind, name = type(batch[0]).__name__, type(error).__name__
            _logger.error("a frame can't be sent", extra={"kind": kind, "error": name})
        return True


_PLAIN = (str, int, float, bool, type(None))


class _LogForwarder(logging.Handler):
    """Sends the child's log records to the parent, which knows where logs go."""

    def __init__(self, put: Callable[[FromChild], None]) -> None:
        super().__init__()
        self._put = put
        self._usual = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record; what can't be pickled of its fields is sent as text."""
        try:
            fields = tuple(
                # Of a subclass (an author's enum) the parent does not know the type.
                (name, value if type(value) in _PLAIN else str.__str__(str(value)))
                for name, value in vars(record).items()
                if name not in self._usual
            )
            self._put(Logged(record.name, record.levelno, record.getMessage(), fields))
        except Exception:
            self.handleError(record)
