"""One recorded caller against one agent, from connect to the last task settled.

Owns the wiring of a replay: a phone (``far_end``), a call (``voice.call``), a ticker, in whatever
loop runs it. Which engines and which agent plane take part is its caller's choice (``voice.cli``
composes them from a project); drawing what came out is ``timeline`` and ``report``. In the virtual
loop the same inputs give the same result, whatever the machine does meanwhile.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from runtime.agent import AgentPlane
from runtime.errors import InternalError
from runtime.tasks import cancel_and_settle
from voice.audio.format import FRAME_MS, WIDE, AudioFormat
from voice.call.driver import Call
from voice.call.events import CallEvent
from voice.call.ports import Engines
from voice.replay.far_end import Conditions, FarEnd, Recording
from voice.replay.phones import Phone, TwilioPhone, WebPhone
from voice.replay.script import CallerLine
from voice.replay.starts import WALL_START
from voice.speaking.pacer import Ticker
from voice.wire.bargein_v1 import BargeinProtocol
from voice.wire.twilio import TwilioProtocol

__all__ = [
    "WALL_START",
    "Beside",
    "Channel",
    "ReplayOptions",
    "ReplayResult",
    "carry",
    "phone_for",
    "replay",
]

Channel = Literal["twilio", "web"]

_AFTER_FRAMES_S: Final = 0.002
_CLOSE_S: Final = 30.0
"""How long a call may take to close; tools with a commit section run to their own timeout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """How the call is made."""

    channel: Channel = "twilio"
    format: AudioFormat = WIDE
    """Only for ``web``; a phone line is mu-law at 8 kHz."""
    conditions: Conditions = Conditions()
    metadata: tuple[tuple[str, str], ...] = ()
    language: str | None = None
    """The caller's; None = the project's."""
    wall_start: float = WALL_START
    """Unix time at the connect."""


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """What a replayed call left behind."""

    events: tuple[CallEvent, ...]
    """In the order of their times; equal times as they happened."""
    recording: Recording
    duration_ms: float
    """Virtual time from the connect to the hang-up."""
    failures: tuple[str, ...]
    """Codes of the problems after which this call counts as failed; empty = it went well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What else goes on in a call: is told of it, and keeps nothing of it."""

    event: Callable[[CallEvent], None]
    """Called with each of the call's events, as it comes."""
    frame: Callable[[float], None]
    """Called after each 20 ms of the call with its ms."""


async def replay(
    caller: tuple[CallerLine, ...],
    *,
    agent: AgentPlane,
    engines: Engines,
    options: ReplayOptions | None = None,
    progress: Callable[[float], None] | None = None,
) -> ReplayResult:
    """Make one call and return once everything it started has ended.

    Args:
        caller: what the caller does; speech at the line's rate.
        agent: the agent plane; it stays open, so that calls can follow one another.
        engines: speech engines; they stay open too.
        options: how the call is made.
        progress: called about once a second of the call's time with its ms.
    """
    options = options or ReplayOptions()
    far_end = FarEnd(phone_for(options), caller, options.conditions)
    return await carry(far_end, agent=agent, engines=engines, options=options, progress=progress)


async def carry(
    far_end: FarEnd,
    *,
    agent: AgentPlane,
    engines: Engines,
    options: ReplayOptions,
    progress: Callable[[float], None] | None = None,
    beside: Beside | None = None,
) -> ReplayResult:
    """Carry the call of a phone that is picked up; else as ``replay``.

    Args:
        far_end: the phone with its caller, made with ``phone_for(options)``.
        agent: the agent plane.
        engines: speech engines.
        options: how the call is made.
        progress: called about once a second of the call's time with its ms.
        beside: what else goes on.
    """
    events: list[CallEvent] = []

    def watch(event: CallEvent) -> None:
        events.append(event)
        far_end.observe(event.event, event.fields, event.t_ms)
        if beside is not None:
            beside.event(event)

    ticker = Ticker(phases=1)  # one call: nothing to stagger
    if engines.detector is not None:
        ticker.every(engines.detector.run)
    call = Call(
        1,
        protocol=TwilioProtocol() if options.channel == "twilio" else BargeinProtocol(),
        out=far_end.link,
        engines=engines,
        agent=agent,
        ticker=ticker,
        channel=options.channel,
        wall_start=options.wall_start,
        on_event=watch,
    )
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_tick(ticker), name="ticker")]
        if beside is not None:
            tasks.append(group.create_task(_frames(beside, far_end), name="beside the call"))
        closing = group.create_task(call.wait_closed(), name="call closed")
        try:
            await far_end.run(call, progress)
            duration_ms = far_end.now_ms
            await asyncio.wait({closing}, timeout=_CLOSE_S)
            is_closed = closing.done()
        finally:
            await cancel_and_settle(*tasks, closing, grace=1.0)
    if not is_closed:
        raise InternalError("a replayed call did not close")
    events.sort(key=lambda event: event.t_ms)
    return ReplayResult(tuple(events), far_end.recording(), duration_ms, _failures(events))


def phone_for(options: ReplayOptions) -> Phone:
    """The client's side of the line that the options ask for."""
    if options.channel == "web":
        return WebPhone(options.format, options.metadata, options.language)
    metadata = dict(options.metadata)
    if options.language is not None:
        metadata.setdefault("language", options.language)
    return TwilioPhone(tuple(metadata.items()))


async def _tick(ticker: Ticker) -> None:
    """Tick right after the caller's frames, as the live ticker's finer steps nearly do."""
    await asyncio.sleep(_AFTER_FRAMES_S)
    await ticker.run()


async def _frames(beside: Beside, far_end: FarEnd) -> None:
    while True:
        await asyncio.sleep(FRAME_MS / 1000)
        beside.frame(far_end.now_ms)


def _failures(events: list[CallEvent]) -> tuple[str, ...]:
    """Name what must not happen in a sound call; a caller's odd message is no failure of ours."""
    codes: set[str] = set()
    for event in events:
        if event.event == "problem":
            fields = dict(event.fields)
            codes.add(str(fields.get("code") or fields.get("reason") or "unknown"))
    if not any(event.event == "call_started" for event in events):
        codes.add("never_started")
    return tuple(sorted(codes))
