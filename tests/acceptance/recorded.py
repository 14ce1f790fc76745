"""Recorded callers against an agent that talks, with the embedded engines, in virtual time.

A recorded scenario tells when its agent began to speak (``bot_speech`` in its JSON). Ours begins
when it begins; so the caller's recording is cut there and played from our agent's first sound on,
which puts each of the caller's sounds where the scenario has it: so many ms into the agent's line.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from runtime.project.loader import load
from runtime.project.model import Project
from voice.audio.files import read_sound
from voice.audio.format import WIDE
from voice.cli.virtual_call import EngineChoice, replay_project
from voice.replay.at import parse_at
from voice.replay.events_file import event_line
from voice.replay.far_end import Conditions, Echo
from voice.replay.measures import Measures, measure
from voice.replay.runner import Channel, ReplayOptions, ReplayResult
from voice.replay.script import CallerLine, Speech
from voice.replay.segments import Span
from voice.replay.timeline import Line, Timeline, build_timeline

ROOT = Path(__file__).parents[2]
SCENARIOS = ROOT / "audio_fixtures" / "scenarios"
LOUDSPEAKER = Echo(down_db=22.0, delay_ms=60.0)

_EARLY_MS = 60
"""A hold may come this much before the onset that is written down."""
_AFTER_MS = 2500
"""What comes later than this after a sound's end is not its doing."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sound:
    """Something the caller does in a scenario, ms of the recording as it is played."""

    start_ms: float
    end_ms: float
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Scenario:
    """A recording, from where it is played, and what is in it."""

    name: str
    from_ms: float
    """Where the recording is cut: the onset of its own agent."""
    sounds: tuple[Sound, ...]


@dataclass(frozen=True, slots=True)
class Stop:
    """What one sound of the caller did to the agent; times in ms after the sound's onset."""

    agent_was_speaking: bool
    onset_ms: float
    """Of the call, by the scenario's JSON."""
    hold_ms: float | None
    """When the server stopped feeding; None = it did not."""
    silence_ms: float | None
    """When the far end first heard the agent stop."""
    commit_ms: float | None
    """When the line was given up; None = the agent kept the floor."""
    spoke_over_ms: float
    """How long the agent was heard again between that silence and the commit."""
    held_ms: float
    """All holds of this sound together."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A replayed scenario."""

    scenario: Scenario
    result: ReplayResult
    timeline: Timeline
    measures: Measures

    def named(self, event: str) -> list[tuple[int, Json]]:
        """Times and fields of the events of one name."""
        return [
            (e.t_ms, cast(Json, dict(e.fields))) for e in self.result.events if e.event == event
        ]

    @property
    def caller_started_ms(self) -> float:
        """When the recording began to play, ms of the call."""
        return self.result.recording.lines[0].start_ms

    def onset_ms(self, sound: int = 0) -> float:
        """When the caller's sound began, by the scenario's JSON, ms of the call."""
        return self.caller_started_ms + self.scenario.sounds[sound].start_ms

    @property
    def opening(self) -> Line:
        """The agent's first line."""
        return self.timeline.lines[0]

    @property
    def spoken_turns(self) -> list[tuple[int, Json]]:
        """Turns that began because of what the caller said."""
        return [
            (t, fields)
            for t, fields in self.named("turn_started")
            if fields["reason"] in ("speech", "eager_end")
        ]

    def stop(self, number: int = 0) -> Stop:
        """What became of the agent when the caller made this sound."""
        onset = self.onset_ms(number)
        later = [self.onset_ms(n) for n in range(number + 1, len(self.scenario.sounds))]
        end = self.caller_started_ms + self.scenario.sounds[number].end_ms
        until = min(later[0] if later else 1e12, end + _AFTER_MS)
        speaking = any(
            line.span is not None and line.span.start_ms <= onset < line.span.end_ms
            for line in self.timeline.lines
        )
        holds = [
            h.span for h in self.timeline.holds if onset - _EARLY_MS <= h.span.start_ms < until
        ]
        commits = [t for t, _ in self.named("commit") if onset - _EARLY_MS <= t < until]
        commit = commits[0] if commits else None
        silent = self._silent_from(onset, holds[0]) if holds else None
        return Stop(
            speaking,
            onset,
            holds[0].start_ms - onset if holds else None,
            None if silent is None else silent - onset,
            None if commit is None else commit - onset,
            0.0 if commit is None or silent is None else self._spoken_ms(silent, commit),
            sum(hold.length_ms for hold in holds),
        )

    def _silent_from(self, onset_ms: float, hold: Span) -> float | None:
        """When the far end heard the agent stop; None = it spoke through the hold."""
        before = [span for span in self.timeline.agent if span.start_ms <= hold.start_ms]
        if not before or before[-1].end_ms > hold.end_ms:
            return None
        return max(onset_ms, before[-1].end_ms)

    def _spoken_ms(self, from_ms: float, to_ms: float) -> float:
        """How long the agent was to be heard in a span."""
        return sum(
            max(0.0, min(span.end_ms, to_ms) - max(span.start_ms, from_ms))
            for span in self.timeline.agent
        )

    def trace(self) -> str:
        """All events, for the message of a failing test."""
        return "\n".join(event_line(event) for event in self.result.events)


def scenario(name: str, *, whole: bool = False) -> Scenario:
    """Read what a recording holds; ``whole`` = played from its beginning."""
    written: Json = json.loads((SCENARIOS / f"{name}.json").read_text(encoding="utf-8"))
    events: list[Json] = written["events"]
    agent = [event["t_ms"] for event in events if event["type"] == "bot_speech"]
    start = float(agent[0]) if agent and not whole else 0.0
    sounds = tuple(
        Sound(event["t_ms"] - start, event["end_ms"] - start, event["type"], event.get("text", ""))
        for event in events
        if event["channel"] == "caller" and event["type"] != "echo" and event["t_ms"] >= start
    )
    return Scenario(name, start, sounds)


@cache
def project(name: str = "long_talker") -> Project:
    """One of the small projects beside the tests."""
    return load(ROOT / "tests" / "projects" / name, {})


@cache
def replay_scenario(
    name: str,
    *,
    whole: bool = False,
    at: str = "",
    echo: bool = False,
    silent: bool = False,
    channel: Channel = "twilio",
    most_ms: float = 60_000.0,
    agent: str = "long_talker",
) -> Heard:
    """Play a recorded caller to an agent; results are kept, since the same call gives the same.

    Args:
        name: the scenario.
        whole: play it from its beginning, from the connect on.
        at: when it is played; empty = from the agent's first sound on (whole: from the connect).
        echo: the agent's own sound comes back into the caller's microphone.
        silent: the caller says nothing for as long as the recording lasts.
        channel: ``twilio`` (8 kHz mu-law) or ``web`` (16 kHz PCM16).
        most_ms: the caller hangs up then at the latest.
        agent: the project.
    """
    found = scenario(name, whole=whole)
    rate = 8000 if channel == "twilio" else WIDE.rate_hz
    samples = read_sound(SCENARIOS / f"{name}.caller.wav", rate).samples
    samples = samples[round(found.from_ms * rate / 1000) :]
    speech = Speech(samples * 0 if silent else samples, rate)
    line = CallerLine(speech, parse_at(at or ("0s" if whole else "agent_starts")))
    conditions = Conditions(echo=LOUDSPEAKER if echo else None, most_ms=most_ms)
    result = replay_project(
        project(agent),
        (line,),
        engines=EngineChoice(stt="local", tts="local"),
        options=ReplayOptions(channel=channel, conditions=conditions),
    )
    timeline = build_timeline(result.events, result.recording)
    return Heard(found, result, timeline, measure(timeline))
