"""The process's one ticker: calls every member once a period, spread over its phases.

Owns when frames move; what moves is each member's. One task for all calls, so that a call costs no
task or timer of its own, and members' work is spread over the period instead of coming in one lump.
It never awaits a member. Event loop time only, so it runs the same in virtual time.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import NoReturn

_log = logging.getLogger(__name__)


class TickHandle:
    """A member's place; give it to ``Ticker.remove``."""

    __slots__ = ("alive", "failing", "phase", "tick")

    def __init__(self, tick: Callable[[float], None], phase: int) -> None:
        """Belongs to the phase of that number; -1 = every sub-tick."""
        self.tick = tick
        self.phase = phase
        self.alive = True
        self.failing = False


class Ticker:
    """Ticks members at a fixed rate. Made and used on one event loop."""

    def __init__(self, period_s: float = 0.02, phases: int = 4) -> None:
        """Tick each member every ``period_s``; members are spread over so many sub-ticks."""
        self._sub_s = period_s / phases
        self._phases: list[tuple[TickHandle, ...]] = [()] * phases
        self._every: tuple[TickHandle, ...] = ()
        self._wanted = asyncio.Event()
        self.late_ms = 0.0
        """How late the last sub-tick was."""
        self.skipped = 0
        """Sub-ticks left out after stalls."""

    def add(self, tick: Callable[[float], None]) -> TickHandle:
        """Call ``tick(now)`` once a period; ``now`` is the loop's time in ms."""
        sizes = [len(members) for members in self._phases]
        phase = sizes.index(min(sizes))
        handle = TickHandle(tick, phase)
        self._phases[phase] += (handle,)
        self._wanted.set()
        return handle

    def every(self, run: Callable[[], None]) -> TickHandle:
        """Call ``run`` after the members of each sub-tick.

        It serves all of them, so it is called again after a failure.
        """
        handle = TickHandle(lambda _: run(), -1)
        self._every += (handle,)
        self._wanted.set()
        return handle

    def remove(self, handle: TickHandle) -> None:
        """Call it no more, not even later in this sub-tick; idempotent."""
        handle.alive = False
        if handle.phase < 0:
            self._every = tuple(h for h in self._every if h is not handle)
        else:
            members = self._phases[handle.phase]
            self._phases[handle.phase] = tuple(h for h in members if h is not handle)
        if not self._every and not any(self._phases):
            self._wanted.clear()

    async def run(self) -> NoReturn:
        """Tick until cancelled; sleeps while there are no members.

        After a stall each member is called once, at once, and the grid goes on from there: members
        look at the clock and know themselves what they owe.
        """
        loop = asyncio.get_running_loop()
        count = len(self._phases)
        while True:
            await self._wanted.wait()
            start, number = loop.time(), 0
            while self._wanted.is_set():
                due = start + number * self._sub_s
                now = loop.time()
                if now < due:
                    await asyncio.sleep(due - now)
                    now = loop.time()
                else:
                    await asyncio.sleep(0)
                self.late_ms = max(0.0, (now - due) * 1000.0)
                behind = int((now - due) / self._sub_s) - count + 1
                if behind > 0:
                    self.skipped += behind
                    number += behind
                self._tick(number % count, now * 1000.0)
                number += 1

    def _tick(self, phase: int, now_ms: float) -> None:
        for handle in self._phases[phase]:
            self._call(handle, now_ms)
        for handle in self._every:
            self._call(handle, now_ms)

    def _call(self, handle: TickHandle, now_ms: float) -> None:
        if not handle.alive:
            return
        try:
            handle.tick(now_ms)
            handle.failing = False
        except Exception:  # one call's fault must not stop the others' sound
            if not handle.failing:
                _log.exception("a member of the ticker failed")
            handle.failing = True
            if handle.phase >= 0:
                self.remove(handle)
