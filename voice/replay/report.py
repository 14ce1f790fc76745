"""``report.html``: a call as one picture, in one file that needs nothing else.

Owns the geometry (everything in SVG units, computed here) and the figures on top; the page's form
is ``report.html.jinja2``. The picture is plain SVG and is there without JavaScript; a few lines of
it add a cursor and play the sound, which is inside the file unless the call is long. The
same call gives the same bytes.
"""

import base64
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import jinja2
import numpy as np
from numpy.typing import NDArray

from voice.audio.files import wav_bytes
from voice.replay.far_end import Recording
from voice.replay.measures import Measures, middle
from voice.replay.timeline import Decision, FloorBar, Line, Timeline, why

_MOST_WIDTH: Final = 16_000
_PX_PER_S: Final = 104.0
_LEFT: Final = 16.0
"""Empty space before time 0, so that the first label is not cut off."""
_MOST_SOUND_BYTES: Final = 4_000_000
"""Two minutes of a phone line."""
_HALF: Final = 34.0
"""Half the height of a waveform."""
_CHAR_PX: Final = 6.1
"""Mean width of a character of the picture's text."""
_LOUDNESS_POWER: Final = 0.6
"""Amplitudes are drawn to this power: soft speech stays visible, loud speech stays in the lane."""

_OWNER_LABELS: Final = {
    "caller": "the caller speaks",
    "agent": "the agent speaks",
    "both": "both speak",
    "held": "held: the agent is silent for the caller",
    "working": "a turn runs in silence",
    "open": "nobody speaks",
}


@dataclass(frozen=True, slots=True)
class Box:
    """A bar of the picture."""

    x: float
    width: float
    kind: str
    label: str
    """Short text on it."""
    hint: str
    """What the pointer tells."""
    row: int = 0

    @property
    def text_x(self) -> float:
        """Where its label begins: on the bar, or behind one that is too short for it."""
        fits = self.width >= len(self.label) * _CHAR_PX + 8
        return round(self.x + (5 if fits else self.width + 4), 1)


@dataclass(frozen=True, slots=True)
class Caption:
    """Words on the picture: what was heard, and behind it what was cut off."""

    x: float
    width: float
    """As wide as what was heard took; 0 = written as it comes."""
    heard: str
    cut: str
    hint: str
    row: int
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Tick:
    """A second on the axis."""

    x: float
    label: str
    """Empty for the small ones."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number on top of the page."""

    name: str
    value: str
    unit: str
    note: str


@dataclass(frozen=True, slots=True)
class Picture:
    """All geometry of the page."""

    width: float
    ticks: tuple[Tick, ...]
    caller_wave: str
    agent_wave: str
    caller_words: tuple[Caption, ...]
    agent_words: tuple[Caption, ...]
    floor: tuple[Box, ...]
    holds: tuple[Box, ...]
    turns: tuple[Box, ...]
    tools: tuple[Box, ...]
    commits: tuple[Box, ...]
    tool_rows: int
    px_per_s: float
    left: float


def render_report(
    title: str,
    timeline: Timeline,
    measures: Measures,
    recording: Recording,
    *,
    facts: tuple[tuple[str, str], ...] = (),
) -> str:
    """Draw the page.

    Args:
        title: what was replayed.
        timeline: the call's bars.
        measures: the call's figures.
        recording: the sound of both sides.
        facts: how the call was made, as name and value.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("voice.replay", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.jinja2").render(
        title=title,
        facts=facts,
        picture=draw(timeline, recording),
        figures=_figures(measures),
        owners=_OWNER_LABELS,
        lines=timeline.lines,
        words=timeline.words,
        talk=_talk(timeline),
        decisions=[_row(decision) for decision in timeline.decisions],
        sound=_sound(recording),
        duration_s=f"{timeline.duration_ms / 1000:.1f}",
    )


def draw(timeline: Timeline, recording: Recording) -> Picture:
    """Compute where everything of the picture goes."""
    seconds = max(1.0, timeline.duration_ms / 1000)
    px_per_s = min(_PX_PER_S, _MOST_WIDTH / seconds)
    scale = _Scale(px_per_s)
    rows = _Rows()
    tools = tuple(
        Box(
            scale.x(tool.span.start_ms),
            scale.width(tool.span.length_ms),
            tool.outcome or "open",
            tool.name,
            f"{tool.name}: {tool.outcome or 'still open'}, {tool.span.length_ms / 1000:.2f} s",
            rows.place(tool.span.start_ms, tool.span.end_ms),
        )
        for tool in timeline.tools
    )
    holds, commits = _decisions(timeline, scale)
    return Picture(
        width=scale.x(timeline.duration_ms) + _LEFT,
        ticks=tuple(_ticks(seconds, scale)),
        caller_wave=_wave(recording.microphone, recording.rate_hz, scale),
        agent_wave=_wave(recording.heard, recording.rate_hz, scale),
        caller_words=tuple(_caller_captions(timeline, scale)),
        agent_words=tuple(_agent_captions(timeline, scale)),
        floor=tuple(_floor_box(bar, scale) for bar in timeline.floor),
        holds=holds,
        turns=tuple(
            Box(
                scale.x(turn.span.start_ms),
                scale.width(turn.span.length_ms),
                turn.outcome,
                f"{turn.turn} {turn.cause}",
                f"turn {turn.turn} ({turn.cause}): {turn.outcome}, "
                f"{turn.span.length_ms / 1000:.2f} s",
            )
            for turn in timeline.turns
        ),
        tools=tools,
        commits=commits,
        tool_rows=max(1, rows.count),
        px_per_s=px_per_s,
        left=_LEFT,
    )


def _decisions(timeline: Timeline, scale: "_Scale") -> tuple[tuple[Box, ...], tuple[Box, ...]]:
    """Holds and commits, whose labels share one row: each is cut where the next one begins."""
    holds = [
        Box(
            scale.x(hold.span.start_ms),
            scale.width(hold.span.length_ms),
            hold.end,
            hold.why,
            f"hold of {hold.span.length_ms:.0f} ms, {hold.end}: {hold.why}",
        )
        for hold in timeline.holds
    ]
    commits = [
        Box(scale.x(item.t_ms), 0, "commit", why(item), f"commit: {why(item)}")
        for item in timeline.decisions
        if item.event == "commit"
    ]
    starts = sorted(box.x for box in (*holds, *commits))

    def cut(box: Box) -> Box:
        begin = box.x + box.width
        room = next((x for x in starts if x > begin + 1), float("inf")) - begin - 8
        fits = len(box.label) * _CHAR_PX <= room
        short = box.label[: max(0, int(room / _CHAR_PX) - 1)].rstrip() if not fits else ""
        return box if fits else replace(box, label=f"{short}…" if short else "")

    return tuple(map(cut, holds)), tuple(map(cut, commits))


class _Scale:
    """Ms of the call to units of the picture."""

    def __init__(self, px_per_s: float) -> None:
        self.px_per_s = px_per_s

    def x(self, t_ms: float) -> float:
        return round(_LEFT + t_ms * self.px_per_s / 1000, 1)

    def width(self, length_ms: float) -> float:
        return round(max(1.0, length_ms * self.px_per_s / 1000), 1)


class _Rows:
    """Rows for bars that overlap in time."""

    def __init__(self) -> None:
        self._ends: list[float] = []

    @property
    def count(self) -> int:
        return len(self._ends)

    def place(self, start: float, end: float) -> int:
        for row, taken in enumerate(self._ends):
            if taken <= start:
                self._ends[row] = end
                return row
        self._ends.append(end)
        return len(self._ends) - 1


def _ticks(seconds: float, scale: _Scale) -> Iterable[Tick]:
    every = 1 if scale.px_per_s >= 60 else 5
    for second in range(int(seconds) + 1):
        label = f"{second} s" if second % every == 0 else ""
        yield Tick(scale.x(second * 1000), label)


def _wave(samples: NDArray[np.int16], rate_hz: int, scale: _Scale) -> str:
    """Draw the loudness of one channel as a closed path around 0, one step a pixel."""
    columns = int(len(samples) / rate_hz * scale.px_per_s)
    if columns < 1:
        return ""
    edges = (np.arange(columns) * rate_hz / scale.px_per_s).astype(np.intp)
    peaks = np.maximum.reduceat(np.abs(samples.astype(np.int32)), edges)
    heights = np.round((peaks / 32768) ** _LOUDNESS_POWER * _HALF, 1)
    kept = np.flatnonzero(np.diff(np.concatenate(([-1.0], heights, [-1.0]))))
    # Equal neighbours are one step: silence costs a few bytes, however long.
    path: list[str] = [f"M{_LEFT:g} 0"]
    path.extend(f"H{_LEFT + index:g}V{-heights[index]:g}" for index in kept[:-1])
    path.append(f"H{_LEFT + columns:g}V0")
    path.extend(f"V{heights[index]:g}H{_LEFT + index:g}" for index in kept[-2::-1])
    return "".join(path) + "Z"


def _caller_captions(timeline: Timeline, scale: _Scale) -> Iterable[Caption]:
    rows = _Rows()
    for words in timeline.words:
        taken_ms = max(words.span.length_ms, len(words.text) * _CHAR_PX / scale.px_per_s * 1000)
        row = rows.place(words.span.start_ms, words.span.start_ms + taken_ms)
        hint = f"{words.span.start_ms / 1000:.2f} s: {words.text}"
        yield Caption(scale.x(words.span.start_ms), 0, words.text, "", hint, min(row, 1))


def _agent_captions(timeline: Timeline, scale: _Scale) -> Iterable[Caption]:
    placed = [line for line in timeline.lines if line.span is not None and line.text]
    for number, line in enumerate(placed):
        span = line.span
        if span is None:
            continue
        later = placed[number + 1].span if number + 1 < len(placed) else None
        until = later.start_ms if later else timeline.duration_ms
        room = max(0, int((until - span.end_ms) * scale.px_per_s / 1000 / _CHAR_PX) - 2)
        heard, cut = heard_and_cut(line)
        if len(cut) > room:
            cut = cut[: max(0, room - 1)] + "…" if room > 6 else ""
        natural = len(heard) * _CHAR_PX
        width = scale.width(span.length_ms)
        fits = 0.8 <= width / natural <= 1.4 if natural else False
        hint = f"{line.outcome}: “{heard}”" + (f", not heard: “{cut}”" if cut else "")
        yield Caption(
            scale.x(span.start_ms),
            width if fits else 0,
            heard,
            cut,
            hint,
            0,
            line.outcome,
        )


def heard_and_cut(line: Line) -> tuple[str, str]:
    """Split a line's text at what was heard."""
    if line.outcome == "heard":
        return line.text, ""
    return line.text[: line.heard_chars], line.text[line.heard_chars :]


def _floor_box(bar: FloorBar, scale: _Scale) -> Box:
    label = _OWNER_LABELS[bar.owner]
    hint = f"{label}, {bar.span.start_ms / 1000:.2f}–{bar.span.end_ms / 1000:.2f} s"
    return Box(scale.x(bar.span.start_ms), scale.width(bar.span.length_ms), bar.owner, "", hint)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table of decisions."""

    at: str
    x: float
    event: str
    reason: str
    rest: str


def _row(decision: Decision) -> Row:
    rest = [
        f"{key} {value}"
        for key, value in decision.fields
        if key not in ("reason", "cause", "evidence", "text")
    ]
    return Row(
        f"{decision.t_ms / 1000:.3f}",
        decision.t_ms / 1000,
        decision.event,
        why(decision),
        " · ".join(rest),
    )


@dataclass(frozen=True, slots=True)
class Talk:
    """One line of the conversation as it was heard."""

    who: str
    at: str
    heard: str
    cut: str
    note: str


def _talk(timeline: Timeline) -> list[Talk]:
    said: list[tuple[float, Talk]] = [
        (words.span.start_ms, Talk("caller", _clock(words.span.start_ms), words.text, "", ""))
        for words in timeline.words
    ]
    for line in timeline.lines:
        heard, cut = heard_and_cut(line)
        start = line.span.start_ms if line.span else timeline.duration_ms
        note = "" if line.outcome == "heard" else line.outcome
        if line.held_ms >= 100:
            note = f"{note} · paused {line.held_ms / 1000:.1f} s".lstrip(" ·")
        at = _clock(start) if line.span else ""
        said.append((start, Talk("filler" if line.say < 0 else "agent", at, heard, cut, note)))
    return [talk for _, talk in sorted(said, key=lambda item: item[0])]


def _clock(t_ms: float) -> str:
    return f"{int(t_ms // 60_000)}:{t_ms / 1000 % 60:04.1f}"


def _figures(measures: Measures) -> list[Figure]:
    yields = sum(item.is_yield for item in measures.interruptions)
    begun = len(measures.interruptions)
    turns = tuple(answer.turn_after_ms for answer in measures.answers)
    heard = tuple(a.heard_after_ms for a in measures.answers if a.heard_after_ms is not None)
    return [
        Figure("Stopped after", *_ms(middle(measures.stops_ms)), "first sound to silence"),
        Figure("Interruptions", str(yields), f"of {begun}", "the caller spoke over the agent"),
        Figure("End of turn", *_ms(middle(turns)), "last word to the turn's start"),
        Figure("Answer heard", *_ms(middle(heard)), "last word to the agent's first sound"),
        Figure(
            "False holds",
            str(measures.false_holds),
            "",
            f"longest pause in a line {measures.longest_line_pause_ms / 1000:.2f} s",
        ),
    ]


def _ms(value: float | None) -> tuple[str, str]:
    return ("–", "") if value is None else (f"{value:.0f}", "ms")


def _sound(recording: Recording) -> str:
    """Return both channels as a data URI, or nothing for a long call."""
    both = np.stack([recording.microphone, recording.heard], axis=1)
    if both.nbytes > _MOST_SOUND_BYTES:
        return ""
    wav = wav_bytes(both, recording.rate_hz)
    return "data:audio/wav;base64," + base64.b64encode(wav).decode("ascii")
