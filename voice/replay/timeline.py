"""A call as a picture would show it: bars on one time axis.

Owns the reading of a call's events and of both recorded channels into bars: who had the floor,
holds, turns, tools, lines and what was heard of them, decisions. Pure. Latencies are computed from
these bars by ``measures``; drawing them is ``report`` (HTML) and ``timeline_text`` (terminal).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from runtime.agent import Json
from voice.call.events import CallEvent
from voice.replay.far_end import Recording
from voice.replay.segments import Span, gaps_between, spans_of_sound

Owner = Literal["caller", "agent", "both", "held", "working", "open"]
"""Who has the floor: ``held`` = the agent is silent for a caller who may be speaking, ``working``
= a turn runs in silence, ``open`` = nobody's.
"""
HoldEnd = Literal["released", "committed", "taken", "open"]
"""``taken`` = nothing of the agent stood in the way, and the caller's words became a turn."""

_DECISIONS = frozenset(
    "turn_started turn_ended reopened hold release commit flush interrupted suppressed silence "
    "filler apology key hang_up tool_started tool_settled late_outcome send_dropped memory_set "
    "problem transfer call_ended".split()
)
"""Events that belong in a list of what was decided and done; the rest is drawn elsewhere."""
_SENTENCE_PAUSE_MS = 450
"""The agent keeps the floor over the pauses between its sentences."""
_LATEST_SOUND_MS = 300
"""The first sound of a line lies within this of its start."""
_DATA_EVENTS = frozenset({"tool_started", "tool_settled", "late_outcome", "memory_set"})
"""Events whose ``text`` is data, not anybody's words."""


@dataclass(frozen=True, slots=True)
class FloorBar:
    """Who had the floor in a span."""

    span: Span
    owner: Owner


@dataclass(frozen=True, slots=True)
class HoldBar:
    """The agent's output held, and how that ended."""

    span: Span
    end: HoldEnd
    why: str
    """Reason and evidence of what ended it, or of the hold itself while it is open."""


@dataclass(frozen=True, slots=True)
class TurnBar:
    """A turn of the agent, from its start until all it did is done, and all it said was heard."""

    span: Span
    turn: int
    cause: str
    outcome: str


@dataclass(frozen=True, slots=True)
class ToolBar:
    """One call of a tool."""

    span: Span
    name: str
    outcome: str
    """Empty while it is open."""


@dataclass(frozen=True, slots=True)
class Line:
    """One message of the agent and what was heard of it."""

    say: int
    text: str
    heard_chars: int
    outcome: str
    span: Span | None
    """None = not a sound of it was heard."""
    held_ms: float
    """Silence inside it that holds made."""


@dataclass(frozen=True, slots=True)
class Words:
    """What the STT understood of a stretch of the caller."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Decision:
    """One row of the list of decisions."""

    t_ms: int
    event: str
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """All of a call's bars; times in ms since the connect."""

    duration_ms: float
    caller: tuple[Span, ...]
    """The caller's own sound."""
    agent: tuple[Span, ...]
    """The agent's sound as heard, gaps over 100 ms open."""
    floor: tuple[FloorBar, ...]
    holds: tuple[HoldBar, ...]
    turns: tuple[TurnBar, ...]
    tools: tuple[ToolBar, ...]
    lines: tuple[Line, ...]
    words: tuple[Words, ...]
    decisions: tuple[Decision, ...]


def build_timeline(events: tuple[CallEvent, ...], recording: Recording) -> Timeline:
    """Read a call's events, in order, and its sound."""
    duration = len(recording.heard) * 1000 / recording.rate_hz
    caller = spans_of_sound(recording.caller, recording.rate_hz)
    heard, rate_hz = recording.heard, recording.rate_hz
    agent = spans_of_sound(heard, rate_hz, level_dbfs=-54, join_ms=100)
    sentences = spans_of_sound(heard, rate_hz, level_dbfs=-54, join_ms=_SENTENCE_PAUSE_MS)
    holds = _holds(events, duration)
    turns = _turns(events, duration)
    return Timeline(
        duration,
        caller,
        agent,
        _floor(duration, caller, sentences, holds, turns),
        holds,
        turns,
        _tools(events, duration),
        tuple(sorted((*_lines(events, agent, holds), *_own_lines(events, agent)), key=_line_order)),
        _words(events, caller),
        tuple(_decision(event) for event in events if event.event in _DECISIONS),
    )


def why(decision: Decision) -> str:
    """Put reason, evidence and the caller's words behind a decision into one phrase."""
    values = dict(decision.fields)
    parts = [values[key] for key in ("reason", "cause", "evidence") if values.get(key)]
    if values.get("text"):
        quoted = decision.event not in _DATA_EVENTS
        parts.append(f"“{values['text']}”" if quoted else values["text"])
    return ": ".join(dict.fromkeys(parts))


def _holds(events: tuple[CallEvent, ...], duration: float) -> tuple[HoldBar, ...]:
    bars: list[HoldBar] = []
    begun: CallEvent | None = None
    ends: dict[str, HoldEnd] = {
        "release": "released",
        "commit": "committed",
        "interrupted": "committed",
        "turn_started": "taken",
        "call_ended": "open",
    }
    for event in events:
        if event.event == "hold" and begun is None:
            begun = event
        elif begun is not None and event.event in ends:
            span = Span(begun.t_ms, event.t_ms)
            bars.append(
                HoldBar(span, ends[event.event], why(_decision(event)) or why(_decision(begun)))
            )
            begun = None
    if begun is not None:
        bars.append(HoldBar(Span(begun.t_ms, duration), "open", why(_decision(begun))))
    return tuple(bars)


def _turns(events: tuple[CallEvent, ...], duration: float) -> tuple[TurnBar, ...]:
    bars: list[TurnBar] = []
    begun: tuple[int, int, str] | None = None
    for event in events:
        values = dict(event.fields)
        if event.event == "turn_started":
            if begun is not None:
                bars.append(_turn(begun, event.t_ms, "replaced"))
            begun = (_whole(values.get("turn")), event.t_ms, _plain(values.get("reason")))
        elif event.event in ("turn_ended", "interrupted") and begun is not None:
            if _whole(values.get("turn"), begun[0]) == begun[0]:
                outcome = _plain(values.get("outcome")) or event.event
                end = max(event.t_ms, _heard_until(events, begun[0]))
                bars.append(_turn(begun, end, outcome))
                begun = None
    if begun is not None:
        bars.append(_turn(begun, duration, "open"))
    return tuple(bars)


def _heard_until(events: tuple[CallEvent, ...], turn: int) -> int:
    """When the last line of a turn was heard; 0 = it had none."""
    ends = [0]
    for event in events:
        values = dict(event.fields)
        if event.event == "say_settled" and values.get("turn") == turn:
            ends.append(_whole(values.get("ended_ms")))
    return max(ends)


def _turn(begun: tuple[int, int, str], end_ms: float, outcome: str) -> TurnBar:
    number, start_ms, cause = begun
    return TurnBar(Span(start_ms, end_ms), number, cause, outcome)


def _tools(events: tuple[CallEvent, ...], duration: float) -> tuple[ToolBar, ...]:
    begun: dict[Json, tuple[int, str]] = {}
    bars: list[ToolBar] = []
    for event in events:
        values = dict(event.fields)
        call_id = _plain(values.get("call_id"))
        if event.event == "tool_started":
            begun[call_id] = (event.t_ms, _plain(values.get("tool") or values.get("name")))
        elif event.event == "tool_settled" and call_id in begun:
            start, name = begun.pop(call_id)
            bars.append(ToolBar(Span(start, event.t_ms), name, _plain(values.get("outcome"))))
    bars.extend(ToolBar(Span(start, duration), name, "") for start, name in begun.values())
    return tuple(sorted(bars, key=lambda bar: bar.span.start_ms))


def _lines(
    events: tuple[CallEvent, ...], agent: tuple[Span, ...], holds: tuple[HoldBar, ...]
) -> tuple[Line, ...]:
    settled: dict[int, dict[str, Json]] = {}
    texts: dict[int, str] = {}
    for event in events:
        values = dict(event.fields)
        say = _whole(values.get("say"))
        if say < 0:
            continue
        if event.event == "say_settled":
            settled[say] = values
        elif event.event == "agent_said":
            texts[say] = _plain(values.get("text"))
    lines: list[Line] = []
    for say in sorted({*settled, *texts}):
        values = settled.get(say, {})
        start, end = values.get("started_ms"), values.get("ended_ms")
        span = None
        if isinstance(start, int | float) and isinstance(end, int | float):
            span = Span(float(start), float(max(start, end)))
        lines.append(
            Line(
                say,
                texts.get(say, ""),
                _whole(values.get("heard_chars")),
                _plain(values.get("outcome")) or "open",
                span,
                _held_ms(span, agent, holds),
            )
        )
    return tuple(lines)


def _own_lines(events: tuple[CallEvent, ...], agent: tuple[Span, ...]) -> tuple[Line, ...]:
    """Place fillers and apologies by their sound: nobody settles them."""
    texts: dict[int, str] = {}
    spoken = ""
    lines: list[Line] = []
    for event in events:
        values = dict(event.fields)
        say = _whole(values.get("say"))
        if event.event in ("filler", "apology"):
            spoken = _plain(values.get("text")) or spoken
            if say < 0:
                texts[say] = spoken
        elif event.event == "say_started" and say in texts:
            start = float(event.t_ms)
            heard = [s for s in agent if s.overlaps(Span(start, start + _LATEST_SOUND_MS))]
            end = max((span.end_ms for span in heard), default=start)
            text = texts[say]
            lines.append(Line(say, text, len(text), "heard", Span(start, end), 0.0))
    return tuple(lines)


def _line_order(line: Line) -> tuple[float, int]:
    return (line.span.start_ms if line.span else float("inf"), line.say)


def _held_ms(span: Span | None, agent: tuple[Span, ...], holds: tuple[HoldBar, ...]) -> float:
    """Add up the silences inside a line that a released hold made."""
    if span is None:
        return 0.0
    gaps = gaps_between(agent, span)
    released = [hold.span for hold in holds if hold.end == "released"]
    # The far end goes silent a little after the hold and sounds again a little after the release.
    return sum(
        gap.length_ms
        for gap in gaps
        if any(gap.overlaps(Span(hold.start_ms - 50, hold.end_ms + 200)) for hold in released)
    )


def _words(events: tuple[CallEvent, ...], caller: tuple[Span, ...]) -> tuple[Words, ...]:
    """Place each final text at the sound it speaks for (the latest before its answer), and typed
    text at its own moment.
    """
    said: list[tuple[float, Span, str]] = []
    for event in events:
        values = dict(event.fields)
        if event.event != "caller_said" or values.get("final") is not True:
            continue
        text = _plain(values.get("text"))
        if values.get("by") == "text":
            said.append((event.t_ms, Span(event.t_ms, event.t_ms), text))
            continue
        start = values.get("from_ms")
        from_ms = start if isinstance(start, int) else event.t_ms
        # Words that are heard again, together with what followed, take the place of the first.
        said = [entry for entry in said if entry[0] < from_ms or entry[1].length_ms == 0]
        spans = [span for span in caller if span.start_ms <= event.t_ms]
        said.append((from_ms, spans[-1] if spans else Span(event.t_ms, event.t_ms), text))
    found: dict[Span, list[str]] = {}
    for _, place, text in said:
        texts = found.setdefault(place, [])
        if text not in texts:
            texts.append(text)
    return tuple(Words(span, " / ".join(texts)) for span, texts in found.items())


def _floor(
    duration: float,
    caller: tuple[Span, ...],
    agent: tuple[Span, ...],
    holds: tuple[HoldBar, ...],
    turns: tuple[TurnBar, ...],
) -> tuple[FloorBar, ...]:
    """Cut the call where anything begins or ends, and name each piece's owner."""
    layers = [caller, agent, [hold.span for hold in holds], [turn.span for turn in turns]]
    cuts = {0.0, duration}
    cuts.update(edge for spans in layers for s in spans for edge in (s.start_ms, s.end_ms))
    edges = sorted(edge for edge in cuts if 0 <= edge <= duration)
    bars: list[FloorBar] = []
    for start, end in zip(edges, edges[1:], strict=False):
        owner = _owner(Span(start, end), *layers)
        if bars and bars[-1].owner == owner:
            bars[-1] = FloorBar(Span(bars[-1].span.start_ms, end), owner)
        else:
            bars.append(FloorBar(Span(start, end), owner))
    return tuple(bars)


def _owner(
    piece: Span,
    caller: Iterable[Span],
    agent: Iterable[Span],
    holds: Iterable[Span],
    turns: Iterable[Span],
) -> Owner:
    caller_speaks = any(piece.overlaps(span) for span in caller)
    agent_speaks = any(piece.overlaps(span) for span in agent)
    if caller_speaks:
        return "both" if agent_speaks else "caller"
    if agent_speaks:
        return "agent"
    if any(piece.overlaps(span) for span in holds):
        return "held"
    return "working" if any(piece.overlaps(span) for span in turns) else "open"


def _decision(event: CallEvent) -> Decision:
    fields = ((key, _plain(value)) for key, value in event.fields)
    return Decision(event.t_ms, event.event, tuple(field for field in fields if field[1]))


def _plain(value: Json) -> str:
    """Write a value as a person would."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.3f}".rstrip("0").rstrip(".")
        case str():
            return value
        case int():
            return str(value)
        case list():
            return ", ".join(_plain(item) for item in value)
        case dict():
            return ", ".join(f"{key} {_plain(item)}" for key, item in value.items())


def _whole(value: Json, default: int = 0) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default
