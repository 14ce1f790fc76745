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
from voice.audio.format import WIDE, AudioFormat
from voice.call.driver import Call
from voice.call.events import CallEvent
from voice.call.ports import Engines
from voice.replay.far_end import Conditions, FarEnd, Recording
from voice.replay.phones import Phone, TwilioPhone, WebPhone
from voice.replay.script import CallerLine
from voice.speaking.pacer import Ticker
from voice.wire.bargein_v1 import BargeinProtocol
from voice.wire.events import WireProtocol
from voice.wire.twilio import TwilioProtocol

Channel = Literal["twilio", "web"]

WALL_START: Final = 1767607200.0
"""2026-01-05T10:00:00Z: the moment at which replayed calls happen, unless told otherwise."""
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
    phone, protocol = _client(options)
    far_end = FarEnd(phone, caller, options.conditions)
    events: list[CallEvent] = []

    def watch(event: CallEvent) -> None:
        events.append(event)
        far_end.observe(event.event, event.fields, event.t_ms)

    ticker = Ticker(phases=1)  # one call: nothing to stagger
    if engines.detector is not None:
        ticker.every(engines.detector.run)
    call = Call(
        1,
        protocol=protocol,
        out=far_end.link,
        engines=engines,
        agent=agent,
        ticker=ticker,
        channel=options.channel,
        wall_start=options.wall_start,
        on_event=watch,
    )
    async with asyncio.TaskGroup() as group:
        ticking = group.create_task(_tick(ticker), name="ticker")
        closing = group.create_task(call.wait_closed(), name="call closed")
        try:
            await far_end.run(call, progress)
            duration_ms = far_end.now_ms
            await asyncio.wait({closing}, timeout=_CLOSE_S)
            if not closing.done():
                raise InternalError("a replayed call did not close")
        finally:
            await cancel_and_settle(ticking, closing, grace=1.0)
    events.sort(key=lambda event: event.t_ms)
    return ReplayResult(tuple(events), far_end.recording(), duration_ms, _failures(events))


async def _tick(ticker: Ticker) -> None:
    """Tick right after the caller's frames, as the live ticker's finer steps nearly do."""
    await asyncio.sleep(_AFTER_FRAMES_S)
    await ticker.run()


def _client(options: ReplayOptions) -> tuple[Phone, WireProtocol]:
    if options.channel == "twilio":
        return TwilioPhone(options.metadata), TwilioProtocol()
    return WebPhone(options.format, options.metadata), BargeinProtocol()


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
