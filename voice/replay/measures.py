"""The figures of one call: how fast it stopped, how fast it answered, how long it paused.

Owns their definitions, computed from a ``timeline`` alone. Pure. All times are what the far end
hears, not what the server sent: an onset is the caller's own first sound, a stop is the agent's
last one.
"""

from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

from voice.replay.segments import Span
from voice.replay.timeline import Decision, HoldBar, Timeline

_BEFORE_MS: Final = 60.0
"""A hold may be placed this much before the onset that the energy rule finds."""
_SPOKEN: Final = ("speech", "eager_end")
"""Causes of a turn that answers words."""
_STOPPED_MS: Final = 300.0
"""The agent has stopped when it is silent for this long."""


@dataclass(frozen=True, slots=True)
class Interruption:
    """The caller began while the agent was to be heard."""

    onset_ms: float
    hold_after_ms: float | None
    """From the caller's first sound to the hold; None = there was none."""
    silent_after_ms: float | None
    """From the caller's first sound to the agent's last one; None = it spoke on."""
    commit_after_ms: float | None
    """From the caller's first sound to the commit; None = the agent kept the floor."""
    paused_ms: float
    """How long the agent was silent for it, where it then went on; else 0."""

    @property
    def is_yield(self) -> bool:
        """Whether the caller got the floor."""
        return self.commit_after_ms is not None


@dataclass(frozen=True, slots=True)
class Answer:
    """The caller finished, the agent answered."""

    words_end_ms: float
    turn_after_ms: float
    """From the caller's last sound to the start of the turn."""
    heard_after_ms: float | None
    """From the caller's last sound to the agent's first; None = no answer was heard."""


@dataclass(frozen=True, slots=True)
class Measures:
    """All figures of a call."""

    interruptions: tuple[Interruption, ...]
    answers: tuple[Answer, ...]
    false_holds: int
    """Holds that were released."""
    longest_line_pause_ms: float
    """The most that holds made any one line pause, in all."""

    @property
    def stops_ms(self) -> tuple[float, ...]:
        """Stop latencies of the interruptions that got the floor."""
        return tuple(
            item.silent_after_ms
            for item in self.interruptions
            if item.is_yield and item.silent_after_ms is not None
        )


def measure(timeline: Timeline) -> Measures:
    """Compute the figures of one call."""
    return Measures(
        tuple(
            interruption
            for number, onset in enumerate(timeline.caller)
            if (interruption := _interruption(timeline, number, onset)) is not None
        ),
        _answers(timeline),
        sum(hold.end == "released" for hold in timeline.holds),
        max((line.held_ms for line in timeline.lines), default=0.0),
    )


def middle(values: tuple[float, ...]) -> float | None:
    """Return the median, None of nothing."""
    return median(values) if values else None


def _interruption(timeline: Timeline, number: int, onset: Span) -> Interruption | None:
    start = onset.start_ms
    spoken = [line.span for line in timeline.lines if line.span is not None]
    spoken += timeline.agent  # fillers and apologies are no lines of the agent's, and are heard
    if not any(span.start_ms <= start < span.end_ms for span in spoken):
        return None
    later = timeline.caller[number + 1].start_ms if number + 1 < len(timeline.caller) else 1e12
    hold = _first_hold(timeline.holds, start - _BEFORE_MS, min(onset.end_ms + 1000, later))
    commit = _first(timeline.decisions, "commit", start - _BEFORE_MS, min(later, start + 5000))
    hold_after = None if hold is None else hold.span.start_ms - start
    if commit is not None:
        silent = _last_sound(timeline.agent, start, commit.t_ms)
        return Interruption(start, hold_after, silent - start, commit.t_ms - start, 0.0)
    pause = None if hold is None else _pause(timeline.agent, hold.span)
    if pause is None:
        return Interruption(start, hold_after, None, None, 0.0)
    return Interruption(start, hold_after, max(0.0, pause.start_ms - start), None, pause.length_ms)


def _first_hold(holds: tuple[HoldBar, ...], from_ms: float, to_ms: float) -> HoldBar | None:
    return next((hold for hold in holds if from_ms <= hold.span.start_ms < to_ms), None)


def _first(
    decisions: tuple[Decision, ...], event: str, from_ms: float, to_ms: float
) -> Decision | None:
    return next((d for d in decisions if d.event == event and from_ms <= d.t_ms < to_ms), None)


def _last_sound(agent: tuple[Span, ...], onset_ms: float, commit_ms: float) -> float:
    """Return where the silence begins that the commit made final.

    The onset itself where the agent was between two words, and never came to the second.
    """
    last = onset_ms
    for span in agent:
        if span.start_ms >= max(last + _STOPPED_MS, commit_ms):
            break
        last = max(last, span.end_ms)
    return last


def _pause(agent: tuple[Span, ...], hold: Span) -> Span | None:
    """Return the longest silence around a hold after which the agent went on."""
    around = Span(hold.start_ms, hold.end_ms + _STOPPED_MS)
    gaps = [
        Span(one.end_ms, other.start_ms)
        for one, other in pairwise(agent)
        if Span(one.end_ms, other.start_ms).overlaps(around)
    ]
    return max(gaps, key=lambda gap: gap.length_ms, default=None)


def _answers(timeline: Timeline) -> tuple[Answer, ...]:
    found: list[Answer] = []
    for number, turn in enumerate(timeline.turns):
        start = turn.span.start_ms
        spoken = [span.end_ms for span in timeline.caller if span.end_ms <= start]
        if turn.cause not in _SPOKEN or not spoken:
            continue
        rest = timeline.turns[number + 1 :]
        until = rest[0].span.start_ms if rest else timeline.duration_ms
        heard = next((s.start_ms for s in timeline.agent if start <= s.start_ms < until), None)
        end = spoken[-1]
        found.append(Answer(end, start - end, None if heard is None else heard - end))
    return tuple(found)
