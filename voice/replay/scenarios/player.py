"""One scenario's call in virtual time, from connect to the last task settled.

Owns what scenarios have on top of ``voice.replay.runner``, which carries the call: words that are
heard when their line begins, the anchor ``caller_turn``, anchors of one tool, and what was still
waited for when time ran out.
"""

from dataclasses import dataclass, replace
from typing import Final

from runtime.agent import AgentPlane
from voice.audio.format import PHONE, WIDE, AudioFormat
from voice.call.events import CallEvent
from voice.call.ports import Engines
from voice.replay.at import Happenings
from voice.replay.far_end import Conditions, FarEnd
from voice.replay.runner import Beside, ReplayOptions, ReplayResult, carry, phone_for
from voice.replay.scenarios.caller import caller_lines, utterances
from voice.replay.scenarios.caller_reader import CALLER_TURN
from voice.replay.scenarios.model import Scenario
from voice.replay.scenarios.words import CallerWords
from voice.replay.script import CallerLine
from voice.replay.watch import AgentWatch

__all__ = ["PlayedScenario", "line_format", "play"]

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
    options = ReplayOptions(
        channel=scenario.channel,
        conditions=Conditions(linger_ms=scenario.stay_ms, most_ms=scenario.limit_ms),
        metadata=scenario.metadata,
        language=scenario.language,
        wall_start=scenario.wall_start,
    )
    far_end = FarEnd(phone_for(options), lines, options.conditions)
    if not scenario.needs_ears:
        words = CallerWords(utterances(scenario.caller, lines), latency_ms=stt_latency_ms)
        words.follow(far_end.happenings)
        engines = replace(engines, stt=words)
    turns = _Turns(far_end.happenings, lines)
    beside = Beside(event=turns.event, frame=turns.look)
    result = await carry(far_end, agent=agent, engines=engines, options=options, beside=beside)
    waits = tuple(_wait(line, far_end.happenings) for line in result.recording.unstarted)
    timed_out = result.recording.ended_by == "time"
    return PlayedScenario(result, waits, turns.open() if timed_out else ())


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

    def event(self, event: CallEvent) -> None:
        """Take one of the call's events."""
        t_ms = event.t_ms
        self._agent.event(event.event, event.fields, t_ms)
        self._latest_ms = max(self._latest_ms, t_ms)
        values = dict(event.fields)
        key = f"call {values.get('call_id')}"
        match event.event:
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
