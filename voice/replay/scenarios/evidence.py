"""What a call left behind, put in order for comparing: tool calls, writes, messages, interruptions.

Owns the reading of a call's events (``docs/events.md``) into records that each know when they
came. Pure. What must have happened is ``checks``.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from runtime.agent import Json
from voice.call.events import CallEvent
from voice.replay.measures import Interruption

__all__ = [
    "Evidence",
    "Happened",
    "Message",
    "Moment",
    "Stop",
    "ToolRun",
    "Write",
    "gather",
]

HIDDEN: Final = "[set]"
"""How a personal value stands in the events."""
_NOT_THE_CALLER: Final = frozenset({"reopened", "agent_lost", "restart"})
"""Why a turn may end without anybody having talked over it."""
_NOT_WRITTEN: Final = frozenset({"seed", "rollback"})
"""Writers whose writes are no doing of the call: the set-up, and taking back what was refused."""
_SAME_MS: Final = 120.0
"""An interruption in the events and one that was measured are the same within this."""


@dataclass(frozen=True, slots=True, order=True)
class Moment:
    """When something came."""

    index: int
    """Place among the call's events, which orders what came at the same ms."""
    t_ms: float


@dataclass(frozen=True, slots=True)
class ToolRun:
    """One call of a tool that began."""

    call_id: Json
    tool: str
    arguments: Json
    began: Moment
    outcome: str = ""
    """Empty while it is open; ``late_outcome`` replaces ``unknown``."""
    ended: Moment | None = None


@dataclass(frozen=True, slots=True)
class Write:
    """One write of a memory field."""

    name: str
    value: Json
    hidden: bool
    """The value is personal and not told."""
    at: Moment


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the agent."""

    say: int
    text: str
    written: Moment
    response: str = ""
    heard: str = ""
    """What the far end heard of it."""
    outcome: str = "open"
    settled: Moment | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """The caller took the floor."""

    at: Moment
    turn: Json
    reason: str
    messages: tuple[Message, ...]
    """What was cut or dropped by it."""
    tools: tuple[str, ...]
    """Tools that ran in that moment."""
    silent_after_ms: float | None
    """From the caller's first sound to the agent's last one; None = could not be measured."""


@dataclass(frozen=True, slots=True)
class Happened:
    """Any event, with its fields by name."""

    at: Moment
    event: str
    fields: dict[str, Json]

    def text(self, key: str) -> str:
        """A field as text, empty where it is missing."""
        value = self.fields.get(key)
        return value if isinstance(value, str) else "" if value is None else json.dumps(value)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One call."""

    events: tuple[Happened, ...]
    tools: tuple[ToolRun, ...]
    writes: tuple[Write, ...]
    messages: tuple[Message, ...]
    stops: tuple[Stop, ...]

    def named(self, event: str) -> tuple[Happened, ...]:
        """The events of a name, in order."""
        return tuple(item for item in self.events if item.event == event)


def gather(
    events: Iterable[CallEvent],
    measured: tuple[Interruption, ...] = (),
    values: tuple[tuple[str, Json], ...] = (),
) -> Evidence:
    """Put a call's events in order.

    Args:
        events: in the order of their times.
        measured: the interruptions that ``voice.replay.measures`` found in the sound.
        values: name and value of every write, in order, for those that the events don't tell.
    """
    happened = tuple(
        Happened(Moment(index, event.t_ms), event.event, dict(event.fields))
        for index, event in enumerate(events)
    )
    tools = _tools(happened)
    messages = _messages(happened)
    return Evidence(
        happened,
        tools,
        _writes(happened, values),
        messages,
        _stops(happened, tools, messages, measured),
    )


def _tools(happened: tuple[Happened, ...]) -> tuple[ToolRun, ...]:
    runs: dict[str, ToolRun] = {}
    for item in happened:
        key = item.text("call_id")
        if item.event == "tool_started":
            runs[key] = ToolRun(
                item.fields.get("call_id"), item.text("tool"), _json(item.text("text")), item.at
            )
        elif item.event in ("tool_settled", "late_outcome") and key in runs:
            runs[key] = replace(runs[key], outcome=item.text("outcome"), ended=item.at)
    return tuple(runs.values())


def _writes(
    happened: tuple[Happened, ...], values: tuple[tuple[str, Json], ...]
) -> tuple[Write, ...]:
    left: dict[str, list[Json]] = {}
    for name, value in values:
        left.setdefault(name, []).append(value)
    found: list[Write] = []
    for item in happened:
        if item.event != "memory_set":
            continue
        name, text = item.text("name"), item.text("text")
        known = left.get(name)
        hidden = text == HIDDEN and not known
        value = known.pop(0) if known else _json(text)
        if item.text("writer") not in _NOT_WRITTEN:
            found.append(Write(name, value, hidden, item.at))
    return tuple(found)


def _json(text: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _messages(happened: tuple[Happened, ...]) -> tuple[Message, ...]:
    found: dict[int, Message] = {}
    responses: dict[int, str] = {}
    chars: dict[int, Json] = {}
    own_text = ""
    for item in happened:
        say = item.fields.get("say")
        if item.event in ("filler", "apology"):
            own_text = item.text("text") or own_text
        if not isinstance(say, int) or isinstance(say, bool):
            continue
        known = found.get(say)
        match item.event:
            case "agent_said":
                text = item.text("text")
                found[say] = (
                    Message(say, text, item.at) if known is None else replace(known, text=text)
                )
            case "filler" | "apology":
                found[say] = Message(say, own_text, item.at)
            case "say_started" if say < 0 and known is not None:
                # the voice side's own lines are never settled: their sound tells
                found[say] = replace(known, outcome="heard", settled=item.at)
            case "response_given":
                responses[say] = item.text("response")
            case "say_settled":
                known = known or Message(say, "", item.at)
                found[say] = replace(known, outcome=item.text("outcome"), settled=item.at)
                chars[say] = item.fields.get("heard_chars")
            case _:
                pass
    # a message may be settled before its text was whole
    return tuple(
        replace(
            message,
            response=responses.get(say, ""),
            heard=_cut(message.text, message.outcome, chars.get(say)),
        )
        for say, message in found.items()
    )


def _cut(text: str, outcome: str, chars: Json) -> str:
    if outcome == "heard":
        return text
    return text[:chars] if isinstance(chars, int) else ""


def _stops(
    happened: tuple[Happened, ...],
    tools: tuple[ToolRun, ...],
    messages: tuple[Message, ...],
    measured: tuple[Interruption, ...],
) -> tuple[Stop, ...]:
    seen: set[str] = set()
    found: list[Stop] = []
    for item in happened:
        if item.event != "interrupted" or item.text("turn") in seen:
            continue  # both sides tell of it
        seen.add(item.text("turn"))
        reason = item.text("reason") or item.text("cause")
        if reason in _NOT_THE_CALLER:
            continue
        at = item.at
        found.append(
            Stop(
                at,
                item.fields.get("turn"),
                reason,
                tuple(m for m in messages if _was_cut(m, at.t_ms)),
                tuple(run.tool for run in tools if _ran(run, at)),
                next(
                    (
                        m.silent_after_ms
                        for m in measured
                        if m.commit_after_ms is not None
                        and abs(m.onset_ms + m.commit_after_ms - at.t_ms) <= _SAME_MS
                    ),
                    None,
                ),
            )
        )
    return tuple(found)


def _was_cut(message: Message, t_ms: float) -> bool:
    settled = message.settled
    return (
        message.outcome in ("cut", "dropped")
        and settled is not None
        and abs(settled.t_ms - t_ms) <= _SAME_MS
    )


def _ran(run: ToolRun, at: Moment) -> bool:
    """Whether a tool ran; what the interruption itself ended counts."""
    return run.began.t_ms <= at.t_ms and (run.ended is None or run.ended.t_ms >= at.t_ms)
