"""Real time while a scenario runs: its limit, and author code that holds up the loop.

Owns the two watches on one call: an alarm that ends code which never comes back, and a thread that
looks every few ms whether the same step of the loop is still in a file of the project. Virtual time
is not touched, so what a scenario decides never depends on them.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

__all__ = ["HELD_MS", "Held", "OutOfTimeError", "WallWatch", "watched"]

HELD_MS: Final = 50.0
"""Holding the loop for this long is worth a warning: live, it delays every other turn."""
_LOOK_S: Final = 0.01
_AGAIN_S: Final = 1.0
"""Code that swallows the alarm gets another one."""
_MOST: Final = 20


class OutOfTimeError(KeyboardInterrupt):
    """The scenario took too long in real time.

    Of the kind that asyncio lets through from any task and that authors rarely catch.
    """

    def __init__(self, where: str) -> None:
        """Say which line of the project ran, empty if none did."""
        super().__init__(where)
        self.where = where


@dataclass(frozen=True, slots=True)
class Held:
    """Author code that did not come back for a while."""

    where: str
    """``file:line in function``, relative to the project."""
    ms: float


class WallWatch:
    """What was seen of one call."""

    def __init__(self, root: Path, thread: int) -> None:
        """Watch ``thread`` for code in files below ``root``."""
        self._root = str(root.resolve())
        self._below = os.path.join(self._root, "")
        self._thread = thread
        self._stop = threading.Event()
        self._held: dict[str, float] = {}
        self._rang: str | None = None

    def ring(self, frame: FrameType | None) -> None:
        """Note that the time is over, and end what runs.

        Raises:
            OutOfTimeError: always; names what ran when the time was over first.
        """
        if self._rang is None:
            self._rang = self.place_in(frame)
        self.check()

    def check(self) -> None:
        """See that the time was never over: what ran then may have kept it to itself.

        Raises:
            OutOfTimeError: it was.
        """
        if self._rang is not None:
            raise OutOfTimeError(self._rang)

    @property
    def held(self) -> tuple[Held, ...]:
        """Where the loop was held for ``HELD_MS`` or more; the longest of each place."""
        return tuple(Held(where, ms) for where, ms in self._held.items() if ms >= HELD_MS)

    def place_in(self, frame: FrameType | None) -> str:
        """The innermost line of the project on a stack, empty if there is none."""
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith(self._below):
                inside = Path(name).relative_to(self._root).as_posix()
                return f"{inside}:{frame.f_lineno} in {frame.f_code.co_name}"
            frame = frame.f_back
        return ""

    def look_on(self) -> None:
        """Look until ``stop``; runs in a thread of its own."""
        step: FrameType | None = None
        began, where = 0.0, ""
        while not self._stop.wait(_LOOK_S):
            frame = sys._current_frames().get(self._thread)  # pyright: ignore[reportPrivateUsage] # the one way to see another thread
            here, now = self.place_in(frame), time.perf_counter()
            running = _loop_step(frame) if here else None
            if running is None or running is not step:
                step, began, where = running, now, here
            elif (where in self._held or len(self._held) < _MOST) and where:
                self._held[where] = max(self._held.get(where, 0.0), (now - began) * 1000)

    def stop(self) -> None:
        """Look no more."""
        self._stop.set()


def _loop_step(frame: FrameType | None) -> FrameType | None:
    """The frame in which the loop runs one callback; another callback has another."""
    while frame is not None:
        if frame.f_code.co_name == "_run" and frame.f_code.co_filename.endswith("events.py"):
            return frame
        frame = frame.f_back
    return None


@contextmanager
def watched(root: Path, limit_s: float) -> Generator[WallWatch]:
    """Watch what runs inside, at most ``limit_s`` of real time where the system has alarms.

    Raises:
        OutOfTimeError: the time is over.
    """
    watch = WallWatch(root, threading.get_ident())
    looking = threading.Thread(target=watch.look_on, name="scenario watch", daemon=True)
    looking.start()
    try:
        with _alarm(watch, limit_s):
            yield watch
    finally:
        watch.stop()
        looking.join()


@contextmanager
def _alarm(watch: WallWatch, limit_s: float) -> Generator[None]:
    can = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not can:
        yield
        return

    def ring(_: int, frame: FrameType | None) -> None:
        watch.ring(frame)

    begun = time.perf_counter()
    before = signal.signal(signal.SIGALRM, ring)
    left_s, every_s = signal.setitimer(signal.ITIMER_REAL, limit_s, _AGAIN_S)
    try:
        yield
        watch.check()  # somebody may have taken it for a failure of their own
    except OutOfTimeError:
        raise
    except BaseException:
        watch.check()  # whatever it became on its way out
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        if left_s:  # somebody else's alarm goes on
            gone_s = time.perf_counter() - begun
            signal.setitimer(signal.ITIMER_REAL, max(0.01, left_s - gone_s), every_s)
