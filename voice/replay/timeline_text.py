"""A call as text for a terminal: the picture in a few lines, what was decided, the figures.

Owns the rich renderables; the same call in a browser is ``report``. Nothing here prints.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from voice.replay.far_end import Recording
from voice.replay.measures import Measures
from voice.replay.report import heard_and_cut
from voice.replay.segments import Span
from voice.replay.timeline import Decision, FloorBar, Owner, Timeline, why

_COLOURS: Final[dict[Owner, str]] = {
    "caller": "dark_orange3",
    "agent": "dodger_blue2",
    "both": "medium_purple3",
    "held": "gold3",
    "working": "grey50",
    "open": "default",
}
_EVENT_STYLES: Final = {
    "hold": "gold3",
    "release": "green",
    "commit": "bold red",
    "interrupted": "bold red",
    "problem": "bold red",
    "turn_started": "dodger_blue2",
    "tool_started": "cyan",
    "tool_settled": "cyan",
}
_MOST_CUT: Final = 60
"""Characters shown of what was not heard."""
_LEVELS: Final = " ▁▂▃▄▅▆▇█"


def picture(timeline: Timeline, recording: Recording, width: int) -> RenderableType:
    """Draw both channels and the floor, ``width`` characters wide."""
    columns = max(20, width - 9)
    rate = recording.rate_hz
    return Group(
        _axis(timeline.duration_ms, columns),
        _lane("caller", _levels(recording.microphone, rate, columns), _COLOURS["caller"]),
        _floor(timeline, columns),
        _lane("agent", _levels(recording.heard, rate, columns), _COLOURS["agent"]),
    )


def decisions(timeline: Timeline) -> RenderableType:
    """List what was decided and said, in order."""
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", style="grey50", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column()
    rows: list[tuple[float, str, Text]] = [
        (item.t_ms, item.event, _because(item)) for item in timeline.decisions
    ]
    rows.extend(
        (words.span.end_ms, "caller", Text(f"“{words.text}”", style=_COLOURS["caller"]))
        for words in timeline.words
    )
    for line in timeline.lines:
        heard, cut = heard_and_cut(line)
        text = Text(heard, style=_COLOURS["agent"])
        if cut:
            text.append(" ✂ " + (cut if len(cut) <= _MOST_CUT else f"{cut[:_MOST_CUT]}…"), "grey50")
        at = line.span.end_ms if line.span else timeline.duration_ms
        rows.append((at, f"agent ({line.outcome})", text))
    for at, event, reason in sorted(rows, key=lambda row: row[0]):
        style = _EVENT_STYLES.get(event, "")
        table.add_row(f"{at / 1000:.3f}", Text(event, style=style), reason)
    return table


def summary(measures: Measures, timeline: Timeline) -> RenderableType:
    """Show the figures as tables: interruptions, answers, the call."""
    return Group(_interruptions(measures), _answers(measures), _totals(measures, timeline))


def _axis(duration_ms: float, columns: int) -> Text:
    seconds = duration_ms / 1000
    step = next((s for s in (1, 2, 5, 10, 30, 60, 300) if seconds / s <= columns / 6), 600)
    line = " " * columns
    for second in range(0, int(seconds) + 1, step):
        place = int(second / max(seconds, 0.001) * columns)
        line = line[:place].ljust(place) + f"{second}s".ljust(columns - place)
    return Text(" " * 8 + line[:columns].rstrip(), style="grey50")


def _lane(name: str, levels: NDArray[np.intp], colour: str) -> Text:
    lane = Text(f"{name:>7} ", style="grey50")
    lane.append("".join(_LEVELS[level] for level in levels), style=colour)
    return lane


def _levels(samples: NDArray[np.int16], rate_hz: int, columns: int) -> NDArray[np.intp]:
    if len(samples) < columns:
        return np.zeros(columns, dtype=np.intp)
    edges = np.linspace(0, len(samples), columns, endpoint=False).astype(np.intp)
    peaks = np.maximum.reduceat(np.abs(samples.astype(np.int32)), edges) / 32768
    loud = np.where(peaks > 0.002, np.ceil(peaks**0.6 * (len(_LEVELS) - 1)), 0)
    return np.clip(loud, 0, len(_LEVELS) - 1).astype(np.intp)


def _floor(timeline: Timeline, columns: int) -> Text:
    lane = Text("  floor ", style="grey50")
    step = timeline.duration_ms / columns
    for column in range(columns):
        owner = _owner(timeline, Span(column * step, (column + 1) * step))
        lane.append(" " if owner == "open" else "━", style=_COLOURS[owner])
    return lane


def _owner(timeline: Timeline, piece: Span) -> Owner:
    """Who had most of a piece."""

    def shared_ms(bar: FloorBar) -> float:
        return min(bar.span.end_ms, piece.end_ms) - max(bar.span.start_ms, piece.start_ms)

    return max(timeline.floor, key=shared_ms).owner if timeline.floor else "open"


def _because(item: Decision) -> Text:
    text = Text(why(item))
    rest = [
        f"{key} {value}"
        for key, value in item.fields
        if key not in ("reason", "cause", "evidence", "text")
    ]
    if rest:
        text.append(("  " if text else "") + " · ".join(rest), style="grey50")
    return text


def _interruptions(measures: Measures) -> RenderableType:
    if not measures.interruptions:
        return Text("The caller never spoke while the agent was to be heard.", style="grey50")
    table = Table(title="The caller spoke over the agent", title_justify="left", box=None)
    for name in ("at", "hold after", "silent after", "committed after", "went on after"):
        table.add_column(name, justify="right")
    for item in measures.interruptions:
        table.add_row(
            f"{item.onset_ms / 1000:.2f} s",
            _ms(item.hold_after_ms),
            _ms(item.silent_after_ms),
            _ms(item.commit_after_ms),
            _ms(item.paused_ms or None),
        )
    return table


def _answers(measures: Measures) -> RenderableType:
    if not measures.answers:
        return Text("The agent had nothing to answer.", style="grey50")
    table = Table(title="The agent answered", title_justify="left", box=None)
    for name in ("words ended at", "turn started after", "heard after"):
        table.add_column(name, justify="right")
    for item in measures.answers:
        table.add_row(
            f"{item.words_end_ms / 1000:.2f} s", _ms(item.turn_after_ms), _ms(item.heard_after_ms)
        )
    return table


def _totals(measures: Measures, timeline: Timeline) -> RenderableType:
    return Text(
        f"{timeline.duration_ms / 1000:.1f} s of call · {len(timeline.turns)} turns · "
        f"{len(timeline.tools)} tool calls · {measures.false_holds} false holds · "
        f"longest pause in a line {measures.longest_line_pause_ms / 1000:.2f} s"
    )


def _ms(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f} ms"
