"""Expectations and evidence in a few words, for people who read why a scenario failed.

Owns the wording only. Pure.
"""

import json
from collections.abc import Iterable
from typing import assert_never

from runtime.agent import Json
from voice.replay.scenarios.evidence import Happened, Message, Stop, ToolRun, Write
from voice.replay.scenarios.model import (
    Confirmation,
    Expectation,
    Heard,
    HungUp,
    Interrupted,
    InterruptedAt,
    MemoryValue,
    MemoryWas,
    ProblemWas,
    Said,
    Sequence,
    SkillWas,
    TextRule,
    ToolExecuted,
    ToolNotExecuted,
    Transferred,
)

__all__ = [
    "listed",
    "name_of",
    "seconds",
    "show_event",
    "show_message",
    "show_run",
    "show_stop",
    "show_write",
]

_MOST_CHARS = 160
_MOST_ITEMS = 8


def seconds(t_ms: float) -> str:
    """Write a time of the call."""
    return f"{t_ms / 1000:.3f} s"


def listed(words: Iterable[str], most: int = _MOST_ITEMS) -> str:
    """Join; what is more than ``most`` is only counted."""
    found = list(words)
    left = len(found) - most
    return ", ".join(found[:most]) + (f", and {left} more" if left > 0 else "")


def name_of(expectation: Expectation) -> str:
    """Write an expectation as one phrase."""
    return " ".join(part for part in (expectation.kind, _detail(expectation)) if part)


def _detail(expectation: Expectation) -> str:
    match expectation:
        case ToolExecuted(tool=tool, times=times, arguments=arguments, outcome=outcome):
            parts = [tool, _with(arguments), "" if outcome == "ok" else f"({outcome})"]
            parts.append("" if times is None else f"{times} times")
            return " ".join(part for part in parts if part)
        case ToolNotExecuted(tool=tool, arguments=arguments):
            return " ".join(part for part in (tool, _with(arguments)) if part)
        case MemoryWas(values=values):
            return ", ".join(_value(value) for value in values)
        case Heard(kind=kind, rule=rule, at_least=least, at_most=most):
            if kind == "not_heard":
                return _rule(rule)
            count = "" if least == 1 else f" at least {least} times"
            return _rule(rule) + count + ("" if most is None else f" at most {most} times")
        case Said(rule=rule):
            return _rule(rule)
        case Interrupted(within_ms=within, during=during, times=times):
            parts = [
                "" if during is None else f"during '{during}'",
                "" if within is None else f"within {within:g} ms",
                "" if times is None else f"{times} times",
            ]
            return " ".join(part for part in parts if part)
        case InterruptedAt(rule=rule, heard=heard):
            return " ".join(part for part in (_rule(rule), f"heard /{heard.pattern}/") if part)
        case SkillWas(skill=skill):
            return skill
        case Confirmation(tool=tool, confirmed=confirmed):
            return tool + ("" if confirmed is None else f" {'yes' if confirmed else 'no'}")
        case Transferred(to=to):
            return f"to {to}" if to else ""
        case HungUp(by=by):
            return f"by {by}"
        case ProblemWas(code=code):
            return code
        case Sequence():
            return ""
        case _:
            assert_never(expectation)


def _rule(rule: TextRule) -> str:
    parts = [
        "" if rule.response is None else rule.response,
        "" if rule.contains is None else f"'{rule.contains}'",
        "" if rule.matches is None else f"/{rule.matches.pattern}/",
    ]
    return " ".join(part for part in parts if part)


def _with(arguments: Json) -> str:
    return "" if arguments is None else f"with {_json(arguments)}"


def _value(value: MemoryValue) -> str:
    return value.name if value.any_value else f"{value.name} = {_json(value.value)}"


def show_run(run: ToolRun) -> str:
    """Write a call of a tool."""
    outcome = run.outcome or "still open"
    return f"{run.tool}({_json(run.arguments)}) at {seconds(run.began.t_ms)}: {outcome}"


def show_write(write: Write) -> str:
    """Write a value and when it was set."""
    value = "a value that is not told" if write.hidden else _json(write.value)
    return f"{value} at {seconds(write.at.t_ms)}"


def show_message(message: Message, *, heard: bool) -> str:
    """Write a message, whole or as heard."""
    at = message.settled if heard and message.settled else message.written
    text = message.heard if heard else message.text
    name = f"{message.response} " if message.response else ""
    how = "" if message.outcome == "heard" else f" ({message.outcome})"
    return f"{name}“{_short(text)}”{how} at {seconds(at.t_ms)}"


def show_stop(stop: Stop) -> str:
    """Write an interruption, what it cut, and how fast the agent was silent."""
    cut = listed(
        f"“{_short(m.heard)}✂” of {m.response or f'“{_short(m.text)}”'}" for m in stop.messages
    )
    parts = [
        f"at {seconds(stop.at.t_ms)}",
        f"it cut {cut}" if cut else "",
        f"while {listed(stop.tools)} ran" if stop.tools else "",
        ""
        if stop.silent_after_ms is None
        else f"the agent was silent {stop.silent_after_ms:.0f} ms after the caller began",
    ]
    return "; ".join(part for part in parts if part)


def show_event(item: Happened) -> str:
    """Write an event with its fields."""
    fields = " ".join(f"{key} {item.text(key)}" for key in sorted(item.fields) if item.text(key))
    return f"{item.event} ({_short(fields)}) at {seconds(item.at.t_ms)}"


def _json(value: Json) -> str:
    return _short(json.dumps(value, ensure_ascii=False))


def _short(text: str) -> str:
    return text if len(text) <= _MOST_CHARS else f"{text[: _MOST_CHARS - 1]}…"
