"""One scenario's call in virtual time, from connect to the last task settled.

Owns the wiring of the call, as ``voice.replay.runner`` does for recorded callers, and what
scenarios have on top: words that are heard when their line begins, the anchor ``caller_turn``,
anchors of one tool, and what was still waited for when time ran out.
"""

import asyncio
from dataclasses import dataclass, replace
from typing import Final

from runtime.agent import AgentPlane, Fields
from runtime.errors import InternalError
from runtime.tasks import cancel_and_settle
from voice.audio.format import PHONE, WIDE, AudioFormat
from voice.call.driver import Call
from voice.call.events import CallEvent
from voice.call.ports import Engines
from voice.replay.at import Happenings
from voice.replay.far_end import Conditions, FarEnd
from voice.replay.phones import Phone, TwilioPhone
from voice.replay.runner import WALL_START, ReplayResult
from voice.replay.scenarios.caller import caller_lines, utterances
from voice.replay.scenarios.caller_reader import CALLER_TURN
from voice.replay.scenarios.model import Scenario
from voice.replay.scenarios.phone import ScenarioPhone
from voice.replay.scenarios.words import CallerWords
from voice.replay.script import CallerLine
from voice.replay.watch import AgentWatch
from voice.speaking.pacer import Ticker
from voice.wire.bargein_v1 import BargeinProtocol
from voice.wire.events import WireProtocol
from voice.wire.twilio import TwilioProtocol

__all__ = ["PlayedScenario", "line_format", "play"]

_FRAME_S: Final = 0.02
_AFTER_FRAMES_S: Final = 0.002
_CLOSE_S: Final = 30.0
_QUIET_MS: Final = 2500.0
"""Nothing of the agent is open and nobody made a sound for so long: it is the caller's turn. Longer
than the end of a turn is ever waited for."""


@dataclass(frozen=True, slots=True)
class PlayedScenario:
    """What the call left behind."""

    result: ReplayResult
    waits: tuple[str, ...]
    """Lines of the caller that never came, and why not."""
    open_at_end: tuple[str, ...]
    """What the agent was doing when the time was over; empty if it was not."""


def line_format(scenario: Scenario) -> AudioFormat:
    """The format of the scenario's line."""
    return PHONE if scenario.channel == "twilio" else WIDE


async def play(
    scenario: Scenario, *, agent: AgentPlane, engines: Engines, stt_latency_ms: int
) -> PlayedScenario:
    """Make the call; must run in the virtual loop.

    Args:
        scenario: what the caller does.
        agent: the agent plane; stays open.
        engines: the speech engines; stay open. Their STT is replaced by one that knows the words,
            unless the scenario has recordings without words.
        stt_latency_ms: what the one that knows the words takes to answer.

    Raises:
        AudioError: a sound file can't be read.
    """
    lines = caller_lines(scenario.caller, line_format(scenario).rate_hz)
    phone, protocol = _ends(scenario)
    conditions = Conditions(linger_ms=scenario.stay_ms, most_ms=scenario.limit_ms)
    far_end = FarEnd(phone, lines, conditions)
    if not scenario.needs_ears:
        words = CallerWords(utterances(scenario.caller, lines), latency_ms=stt_latency_ms)
        words.follow(far_end.happenings)
        engines = replace(engines, stt=words)
    turns = _Turns(far_end.happenings, lines)
    events: list[CallEvent] = []

    def watch(event: CallEvent) -> None:
        events.append(event)
        far_end.observe(event.event, event.fields, event.t_ms)
        turns.event(event.event, event.fields, event.t_ms)

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
        channel=scenario.channel,
        wall_start=WALL_START,
        on_event=watch,
    )
    duration_ms = await _carry(call, far_end, ticker, turns)
    events.sort(key=lambda event: event.t_ms)
    recording = far_end.recording()
    result = ReplayResult(tuple(events), recording, duration_ms, _failures(events))
    waits = tuple(_wait(line, far_end.happenings) for line in recording.unstarted)
    return PlayedScenario(result, waits, turns.open() if recording.ended_by == "time" else ())


async def _carry(call: Call, far_end: FarEnd, ticker: Ticker, turns: "_Turns") -> float:
    """Run the call to its end; return its length, ms."""
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(_tick(ticker), name="ticker"),
            group.create_task(_watch_turns(turns, far_end), name="caller's turns"),
        ]
        closing = group.create_task(call.wait_closed(), name="call closed")
        try:
            await far_end.run(call)
            duration_ms = far_end.now_ms
            await asyncio.wait({closing}, timeout=_CLOSE_S)
            is_closed = closing.done()
        finally:
            await cancel_and_settle(*tasks, closing, grace=1.0)
    if not is_closed:
        raise InternalError("the call of a scenario did not close")
    return duration_ms


async def _tick(ticker: Ticker) -> None:
    """Tick right after the caller's frames, as the live ticker's finer steps nearly do."""
    await asyncio.sleep(_AFTER_FRAMES_S)
    await ticker.run()


async def _watch_turns(turns: "_Turns", far_end: FarEnd) -> None:
    while True:
        await asyncio.sleep(_FRAME_S)
        turns.look(far_end.now_ms)


def _ends(scenario: Scenario) -> tuple[Phone, WireProtocol]:
    language = scenario.language
    if scenario.channel == "web":
        return ScenarioPhone(WIDE, scenario.metadata, language), BargeinProtocol()
    metadata = dict(scenario.metadata)
    if language is not None:
        metadata.setdefault("language", language)
    return TwilioPhone(tuple(metadata.items())), TwilioProtocol()


class _Turns:
    """Tells when it is the caller's turn, and when one tool starts and ends."""

    def __init__(self, happenings: Happenings, lines: tuple[CallerLine, ...]) -> None:
        self._happenings = happenings
        self._names = tuple(line.name for line in lines)
        self._agent = AgentWatch(Happenings())
        """Its own reading of what is open; anchors are noted by the far end's."""
        self._open: dict[str, str] = {}
        self._ends = 0
        self._latest_ms = 0.0

    def event(self, name: str, fields: Fields, t_ms: float) -> None:
        """Take one of the call's events."""
        self._agent.event(name, fields, t_ms)
        self._latest_ms = max(self._latest_ms, t_ms)
        values = dict(fields)
        key = f"call {values.get('call_id')}"
        match name:
            case "tool_started":
                self._happenings.note(f"tool_starts:{values.get('tool')}", t_ms)
                self._open[key] = f"the tool {values.get('tool')}, since {t_ms / 1000:.3f} s"
            case "tool_settled":
                self._happenings.note(f"tool_ends:{values.get('tool')}", t_ms)
                self._open.pop(key, None)
            case "turn_started":
                self._open["turn"] = f"turn {values.get('turn')}, since {t_ms / 1000:.3f} s"
            case "turn_ended" | "interrupted":
                self._open.pop("turn", None)
            case _:
                pass

    def look(self, now_ms: float) -> None:
        """Note the caller's turn: the agent has ended, or long nothing more is to come."""
        ends = self._happenings.times("agent_ends")
        for t_ms in ends[self._ends :]:
            self._happenings.note(CALLER_TURN, t_ms)
        self._ends = len(ends)
        speaking = len(self._happenings.times("agent_starts")) > len(ends)
        if speaking or not self._agent.is_idle:
            self._latest_ms = now_ms
            return
        said = (t_ms for name in self._names for t_ms in self._happenings.times(name))
        if now_ms - max(self._latest_ms, *said, 0.0) >= _QUIET_MS:
            self._happenings.note(CALLER_TURN, now_ms)
            self._latest_ms = now_ms

    def open(self) -> tuple[str, ...]:
        """What the agent has not ended."""
        return tuple(self._open.values())


def _wait(line: CallerLine, happenings: Happenings) -> str:
    anchor = line.at.anchor
    if anchor is None:
        return f"'{line.name}' at {line.at}"
    times = happenings.times(anchor)
    came = ", ".join(f"{t_ms / 1000:.3f} s" for t_ms in times[-3:])
    seen = f"the latest {anchor}: {came}" if times else f"there was no {anchor}"
    return f"'{line.name}' at {line.at} ({seen})"


def _failures(events: list[CallEvent]) -> tuple[str, ...]:
    """Codes of what went wrong, each once."""
    codes: set[str] = set()
    for event in events:
        if event.event == "problem":
            fields = dict(event.fields)
            codes.add(str(fields.get("code") or fields.get("reason") or "unknown"))
    if not any(event.event == "call_started" for event in events):
        codes.add("never_started")
    return tuple(sorted(codes))
