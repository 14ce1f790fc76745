"""The agent plane in a child process, as the voice plane holds it.

Theory of operation. A *life* is one child process with its pipe and two threads: one starts the
process and writes to it, one reads and posts what it reads to the event loop in batches; neither
the loop nor a caller's sound ever waits for the child. The child's loop beats; when it falls
silent, the tool that holds it up is named, and when it stays silent, or dies, the life is over:
each open call is told (``AgentLost``), a new life is begun, and the calls are opened again there on
their conversations, whose log shows what was left open. What the voice plane sends from then on is
held until a new life serves, and goes there in order; lives that end young are followed by longer
and longer pauses.

Owns the child. What runs inside of it is ``process_child``; the same plane without a process is
``plane``.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from runtime.agent import (
    AgentLost,
    AgentPlane,
    CallReady,
    CloseCall,
    FromRuntime,
    Happened,
    Json,
    OpenCall,
    ToRuntime,
    Working,
)
from runtime.errors import AgentError, ProjectError
from runtime.interrupted_through import InterruptedThrough, shared_table
from runtime.process_life import MOST_WAITING, Life, LifeEvents
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
)
from runtime.tasks import cancel_and_settle

__all__ = ["ChildAgent"]

FIRST_IDS = 1_000_000
"""Says and calls of tools of one life are numbered within a million of their own."""

STUCK_AFTER_S = 2.0
"""After this much silence the open tools are named, if the child could not name the one itself."""

START_BOUND_S = 60.0
_WATCH_S = 0.25
_RESTART_S = (0.0, 0.2, 1.0, 5.0)
"""Pauses before a new life, by how many in a row did not serve for ``_STABLE_S``."""
_STABLE_S = 10.0

_logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _OpenCall:
    """A call as this side knows it."""

    slot: int
    sink: Callable[[FromRuntime], None]
    opening: OpenCall | None = None
    opened_s: float = 0.0
    conversation: str | None = None
    """Known once the agent answered."""
    is_ready: bool = False
    """The voice plane has had its ``CallReady``; another one is not for it."""
    open_tools: tuple[str, ...] = ()

    def tell(self, message: FromRuntime) -> None:
        """Hand a message over; what goes wrong there costs no other call."""
        try:
            self.sink(message)
        except Exception as error:
            _logger.error(
                "a call did not take a message",
                extra={"error": type(error).__name__, "kind": type(message).__name__},
            )


@dataclass(slots=True)
class _Health:
    """What is known of the present life."""

    ready: bool = False
    ready_s: float = 0.0
    closing_bound_s: float = 1.0
    """How long it may take to settle once it is told to stop; nothing runs before it is ready."""
    last_beat_s: float = 0.0
    stuck_told: bool = False
    not_started: NotStarted | None = None
    over: str = ""
    """Why it ended, once it has."""
    news: asyncio.Event = field(default_factory=asyncio.Event)


class ChildAgent(AgentPlane):
    """The agent plane of a project folder, in a process of its own."""

    def __init__(
        self,
        project: Path,
        *,
        store_path: Path,
        hang_s: float = 30.0,
        build: str = "runtime.process_child:build_from_files",
        arguments: Mapping[str, object] | None = None,
    ) -> None:
        """Prepare; ``start`` starts the process.

        Args:
            project: The project's folder.
            store_path: The SQLite file of its conversations.
            hang_s: A child whose loop has stood still this long is ended.
            build: ``module:function`` that builds the agent inside the child.
            arguments: Its keyword arguments; None = ``project`` and ``store``.
        """
        self._build = build
        self._arguments = arguments or {"project": project, "store": store_path}
        self._hang_s = hang_s
        self._table = shared_table()
        self._slots = InterruptedThrough(self._table)
        self._calls: dict[int, _OpenCall] = {}
        self._life: Life | None = None
        self._held: list[ToRuntime] = []
        """What was sent while no life serves."""
        self._lives = 0
        self._short_lives = 0
        """How many in a row."""
        self._health = _Health()
        self._watching: asyncio.Task[None] | None = None
        self._closed = False

    async def start(self) -> None:
        """Start the process and wait until it serves.

        Raises:
            ProjectError: the project can't be loaded: with every problem found.
            AgentError: the process ended or did not answer in time.
        """
        if self._closed or self._watching is not None:
            raise RuntimeError("an agent process is started once")
        self._begin_life()
        self._watching = asyncio.get_running_loop().create_task(self._watch(), name="agent watch")
        health = self._health
        try:
            async with asyncio.timeout(START_BOUND_S):
                await health.news.wait()
        except TimeoutError:
            await self.aclose()
            raise AgentError("the agent process did not start in time") from None
        if not health.ready:
            cause = health.not_started
            await self.aclose()
            if cause is not None and cause.problems:
                raise ProjectError(list(cause.problems))
            over = f"the agent process ended before it served: {health.over}"
            raise AgentError(cause.text if cause is not None else over)

    @property
    def pid(self) -> int | None:
        """The child's process id; None while there is none."""
        return self._life.pid if self._life is not None else None

    @property
    def lives(self) -> int:
        """How many processes there have been."""
        return self._lives

    # -- AgentPlane

    def attach(self, call: int, sink: Callable[[FromRuntime], None]) -> int:
        """Route this call's messages to ``sink`` and return its slot in the shared table.

        Raises:
            RuntimeError: the call is attached already, or every slot is taken.
        """
        if call in self._calls:
            raise RuntimeError("the call is attached already")
        slot = self._slots.take()
        self._calls[call] = _OpenCall(slot, sink)
        return slot

    def send(self, message: ToRuntime) -> None:
        """Post a message; an interruption is in the shared table before this returns."""
        entry = self._calls.get(message.call)
        if entry is None or self._closed:
            _logger.debug("a message for a call that is not attached was dropped")
            return
        self._slots.raise_interrupted(entry.slot, message)
        if isinstance(message, OpenCall):
            message = replace(message, slot=entry.slot)
            entry.opening, entry.opened_s = message, asyncio.get_running_loop().time()
        elif isinstance(message, CloseCall):
            entry.opening = None  # not to be opened again
        self._put(message)

    def detach(self, call: int) -> None:
        """Forget the call's sink; what it started settles by itself. Idempotent."""
        entry = self._calls.pop(call, None)
        if entry is not None:
            self._slots.give_back(entry.slot)
            if self._life is not None and self._health.ready:
                self._life.put(Detach(call))
            else:
                self._held = [frame for frame in self._held if frame.call != call]

    async def aclose(self) -> None:
        """Stop the process: it settles what runs, within its tools' timeouts; then it is ended."""
        if self._closed:
            return
        self._closed = True
        if self._watching is not None:
            await cancel_and_settle(self._watching)
        if self._life is not None:
            self._life.put(Stop())
            await self._life.end(self._health.closing_bound_s)

    def _put(self, frame: ToRuntime) -> None:
        # A life that dies before it serves has done nothing of what it was sent.
        if self._life is not None and self._health.ready:
            self._life.put(frame)
        elif not isinstance(frame, OpenCall) and len(self._held) < MOST_WAITING:
            self._held.append(frame)  # calls are opened by ``_begin_to_serve``

    # -- lives

    def _begin_life(self) -> None:
        self._lives += 1
        self._health = _Health(last_beat_s=asyncio.get_running_loop().time())
        setup = ChildSetup(
            self._build,
            tuple(self._arguments.items()),
            first_id=(self._lives - 1) * FIRST_IDS + 1,
            log_level=logging.getLogger().getEffectiveLevel(),
        )
        number = self._lives
        events = LifeEvents(
            frames=lambda frames: self._take(number, frames),
            over=lambda cause: self._over(number, cause),
        )
        self._life = Life(setup, self._table, events)

    def _begin_to_serve(self) -> None:
        """The life is ready: open the calls there, and hand over what was held for it."""
        if self._life is None or self._health.ready:
            return
        self._health.ready = True
        self._health.ready_s = asyncio.get_running_loop().time()
        self._health.news.set()
        for entry in self._calls.values():
            if entry.opening is not None:
                known = entry.conversation or entry.opening.conversation
                self._life.put(replace(entry.opening, conversation=known, resumed=entry.is_ready))
        for frame in self._held:
            self._life.put(frame)
        self._held.clear()

    def _over(self, number: int, cause: str) -> None:
        """A life has ended: tell the calls, begin the next."""
        if number != self._lives or self._closed:
            return
        loop, health = asyncio.get_running_loop(), self._health
        health.over = cause
        health.news.set()
        if number == 1 and not health.ready:
            return  # never served: ``start`` says why
        stable = health.ready and loop.time() - health.ready_s >= _STABLE_S
        self._short_lives = 0 if stable else self._short_lives + 1
        self._life = None
        _logger.error("the agent process is gone", extra={"cause": cause})
        for call, entry in list(self._calls.items()):
            entry.open_tools = ()
            if entry.is_ready and health.ready:  # else all it was sent is held for the next
                entry.tell(AgentLost(call, cause))
        pause = _RESTART_S[min(self._short_lives, len(_RESTART_S) - 1)]
        loop.call_later(pause, self._begin_again, number)

    def _begin_again(self, number: int) -> None:
        if number == self._lives and not self._closed:
            self._begin_life()

    # -- what the child says

    def _take(self, number: int, frames: list[FromChild]) -> None:
        if number != self._lives:
            return  # of a life that is over
        self._health.last_beat_s = asyncio.get_running_loop().time()
        self._health.stuck_told = False
        for frame in frames:
            match frame:
                case Beat():
                    pass
                case Ready(closing_bound_s=bound_s):
                    self._health.closing_bound_s = bound_s
                    self._begin_to_serve()
                case NotStarted():
                    self._health.not_started = frame
                    if self._lives > 1:  # of the first life whoever starts it is told
                        _logger.error("the agent could not be built")
                case Stuck(task=task, where=where):
                    self._health.stuck_told = True
                    self._tell_stuck(task.removeprefix("tool "), where)
                case Logged():
                    _relog(frame)
                case _:
                    self._hand_over(frame)

    def _hand_over(self, message: FromRuntime) -> None:
        entry = self._calls.get(message.call)
        if entry is None:
            return
        match message:
            case CallReady(conversation=conversation):
                entry.conversation = conversation
                if entry.is_ready:
                    return
                entry.is_ready = True
            case Working(open=tools):
                entry.open_tools = tuple(tool.name for tool in tools)
            case _:
                pass
        entry.tell(message)

    # -- the watchdog

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            before = loop.time()
            await asyncio.sleep(_WATCH_S)
            if loop.time() - before > 2 * _WATCH_S:
                # This loop itself stood still: the child's beats may be waiting behind.
                self._health.last_beat_s = loop.time()
            silent_s = loop.time() - self._health.last_beat_s
            if self._life is None:
                continue
            if silent_s > (self._hang_s if self._health.ready else START_BOUND_S):
                self._life.kill()  # its end is noticed like any other
            elif silent_s > STUCK_AFTER_S and self._health.ready and not self._health.stuck_told:
                self._health.stuck_told = True
                self._tell_stuck("", "")

    def _tell_stuck(self, tool: str, where: str) -> None:
        """Name what holds the agent process up, in the log and to the calls it belongs to."""
        names = {name for entry in self._calls.values() for name in entry.open_tools}
        suspects = [tool] if tool in names else sorted(names)
        _logger.warning(
            "the agent process is held up",
            extra={"tools": ", ".join(suspects) or tool, "where": where},
        )
        now = asyncio.get_running_loop().time()
        for call, entry in list(self._calls.items()):
            for name in entry.open_tools:
                if name in suspects:
                    at_ms = round((now - entry.opened_s) * 1000)
                    fields: tuple[tuple[str, Json], ...] = (
                        ("code", "agent_held_up"),
                        ("tool", name),
                        ("where", where),
                    )
                    entry.tell(Happened(call, 0, at_ms, "problem", fields))
                    break


def _relog(frame: Logged) -> None:
    logging.getLogger(frame.name).log(
        frame.level, "%s", frame.message, extra={**dict(frame.fields), "plane": "agent"}
    )
