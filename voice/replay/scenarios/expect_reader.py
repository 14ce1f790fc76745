"""Reads what a scenario expects.

Owns the keys of each expectation, and the short forms of some (``skill_completed: card_replace``).
What they mean in a call is ``checks``.
"""

import re
from collections.abc import Callable
from re import Pattern
from typing import Final

from runtime.errors import Place
from runtime.project.fields import Fields
from runtime.project.problems import Problems, listed, nearest
from runtime.project.yaml_nodes import Entry, Mapping, Node, Scalar
from runtime.project.yaml_nodes import Sequence as ListNode
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
from voice.replay.scenarios.names import NameChecks

__all__ = ["read_expectations"]

_MOST_PATTERN_CHARS: Final = 1000
_MOST_MS: Final = 60_000.0
_OUTCOMES: Final = ("ok", "failed", "timed_out", "cancelled", "unknown", "any")
_WHO: Final = ("agent", "caller", "lost", "expired", "drain")
_SKILLS: Final = {
    "skill_started": "started",
    "skill_completed": "completed",
    "skill_cancelled": "cancelled",
}


def read_expectations(
    items: tuple[Node, ...], problems: Problems, checks: NameChecks
) -> tuple[Expectation, ...]:
    """Read a list of expectations; what is wrong goes into ``problems``.

    Args:
        items: the list.
        problems: takes what is wrong.
        checks: looks at the names of tools, skills, responses and fields.
    """
    return _read(items, problems, checks, inside=False)


def _read(
    items: tuple[Node, ...], problems: Problems, checks: NameChecks, *, inside: bool
) -> tuple[Expectation, ...]:
    found: list[Expectation] = []
    for item in items:
        if not isinstance(item, Mapping) or len(item.entries) != 1:
            problems.add(
                item.place,
                "wrong_type",
                "an expectation is a block with one key",
                "write '- heard: {text: …}', each with its own '-'",
            )
            continue
        expectation = _one(item.entries[0], problems, checks, inside)
        if expectation is not None:
            found.append(expectation)
    return tuple(found)


def _one(entry: Entry, problems: Problems, checks: NameChecks, inside: bool) -> Expectation | None:
    if entry.key == "sequencing":
        return _sequence(entry, problems, checks, inside)
    read = _READERS.get(entry.key)
    if read is None:
        known = (*_READERS, "sequencing")
        close = nearest(entry.key, known)
        problems.add(
            entry.place,
            "unknown_key",
            f"'{entry.key}' is no expectation",
            f"did you mean '{close}'?" if close else f"known here: {listed(known)}",
        )
        return None
    expectation = read(_Reading(entry, problems, checks))
    if inside and expectation is not None and _is_none(expectation):
        problems.add(
            entry.place,
            "bad_sequence",
            f"'{entry.key}' is no moment here, so nothing can come after it",
            "put it outside of 'sequencing'",
        )
    return expectation


def _is_none(expectation: Expectation) -> bool:
    """Whether it holds because something did not happen."""
    match expectation:
        case ToolNotExecuted() | Heard(at_most=0):
            return True
        case ToolExecuted(times=0) | Interrupted(times=0):
            return True
        case MemoryWas(negated=negated) | Said(negated=negated) | Interrupted(negated=negated):
            return negated
        case _:
            return False


def _sequence(
    entry: Entry, problems: Problems, checks: NameChecks, inside: bool
) -> Expectation | None:
    if inside or not isinstance(entry.value, ListNode) or not entry.value.items:
        problems.add(
            entry.place,
            "bad_sequence",
            "'sequencing' is a list of other expectations",
            "list what must come one after the other",
        )
        return None
    steps = _read(entry.value.items, problems, checks, inside=True)
    return Sequence(kind=entry.key, place=entry.place, steps=steps)


class _Reading:
    """One expectation being read: a block of keys, or its short form."""

    def __init__(self, entry: Entry, problems: Problems, checks: NameChecks) -> None:
        self.kind = entry.key
        self.place = entry.place
        self.checks = checks
        self._value = entry.value
        self._problems = problems

    def fields(self, short: str | None = None) -> Fields:
        """The block; a single value stands for the key ``short``."""
        value = self._value
        if short is not None and isinstance(value, Scalar) and not value.is_null:
            value = Mapping(value.place, (Entry(self.place, short, value),))
        return Fields(value, self._problems, self.kind, self.place)

    def items(self) -> tuple[Node, ...]:
        """A list, or its one item without the '-'."""
        return self._value.items if isinstance(self._value, ListNode) else (self._value,)

    def block(self, node: Node, short: str) -> Fields:
        """One item of a list."""
        if isinstance(node, Scalar) and not node.is_null:
            node = Mapping(node.place, (Entry(node.place, short, node),))
        return Fields(node, self._problems, self.kind, self.place)

    def tool(self, fields: Fields, key: str) -> str:
        """A required key with the name of a tool."""
        return self._required(fields, key, self.checks.tool)

    def skill(self, fields: Fields, key: str) -> str:
        """A required key with the name of a skill."""
        return self._required(fields, key, self.checks.skill)

    def response(self, fields: Fields) -> str | None:
        """The key ``response``, where it is written."""
        return self._optional(fields, "response", self.checks.response)

    def during(self, fields: Fields) -> str | None:
        """The key ``during``, where it is written."""
        return self._optional(fields, "during", self.checks.during)

    def _required(self, fields: Fields, key: str, check: Callable[[str, Place], None]) -> str:
        name, entry = fields.required_text(key), fields.entry(key)
        if name and entry is not None:
            check(name, entry.value.place)
        return name

    def _optional(
        self, fields: Fields, key: str, check: Callable[[str, Place], None]
    ) -> str | None:
        return self._required(fields, key, check) or None if fields.entry(key) else None


def _pattern(fields: Fields, key: str) -> Pattern[str] | None:
    text = fields.text(key)
    entry = fields.entry(key)
    if text is None or entry is None:
        return None
    try:
        if len(text) > _MOST_PATTERN_CHARS:
            raise re.error(f"it has more than {_MOST_PATTERN_CHARS} characters")
        return re.compile(text, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError) as error:
        fields.problem(
            entry.value.place,
            "bad_pattern",
            f"'{fields.path(key)}' is no regular expression: {error}",
            "write text: … for plain words",
        )
        return None


def _rule(reading: _Reading, fields: Fields, *, response: bool) -> TextRule:
    keys = ("text_matches", "text", "response") if response else ("text_matches", "text")
    written = [key for key in keys if fields.entry(key) is not None]
    matches = _pattern(fields, "text_matches")
    text = fields.text("text")
    name = reading.response(fields) if response else None
    if not written:
        fields.problem(
            fields.place,
            "missing_key",
            f"'{fields.path('text')}' is missing",
            f"write one of {listed(keys)}",
        )
    return TextRule(text, matches, name)


def _count(fields: Fields, key: str) -> int | None:
    return None if fields.node(key) is None else fields.whole(key, 1, 0, 1000)


def _tool_executed(reading: _Reading) -> Expectation:
    fields = reading.fields("tool_name")
    tool = reading.tool(fields, "tool_name")
    read = ToolExecuted(
        kind=reading.kind,
        place=reading.place,
        tool=tool,
        times=_count(fields, "times"),
        arguments=reading.checks.arguments(tool, fields.node("arguments")),
        outcome=fields.choice("outcome", _OUTCOMES, "ok"),
    )
    fields.done()
    return read


def _tool_not_executed(reading: _Reading) -> Expectation:
    fields = reading.fields("tool_name")
    tool = reading.tool(fields, "tool_name")
    read = ToolNotExecuted(
        kind=reading.kind,
        place=reading.place,
        tool=tool,
        arguments=reading.checks.arguments(tool, fields.node("arguments")),
    )
    fields.done()
    return read


def _memory(reading: _Reading) -> Expectation:
    values: list[MemoryValue] = []
    for item in reading.items():
        fields = reading.block(item, "name")
        name, written = fields.required_text("name"), fields.entry("name")
        entry = fields.entry("value")
        fields.done()
        field = None
        if name and "." not in name:
            fields.problem(
                fields.place,
                "bad_name",
                f"'{name}' names no field",
                "write <skill>.<field> or project.<field>",
            )
        elif written is not None:
            field = reading.checks.field(name, written.value.place)
        value = None if entry is None else reading.checks.value(entry, name, field)
        values.append(MemoryValue(name, value, entry is None))
    negated = reading.kind == "memory_was_not_set"
    return MemoryWas(kind=reading.kind, place=reading.place, values=tuple(values), negated=negated)


def _heard(reading: _Reading) -> Expectation:
    fields = reading.fields("text")
    rule = _rule(reading, fields, response=False)
    if reading.kind == "not_heard":
        least, most = 0, 0
    else:
        most = _count(fields, "at_most")
        written = _count(fields, "at_least")
        least = written if written is not None else (0 if most == 0 else 1)
        if most is not None and most < least:
            fields.problem(
                reading.place,
                "out_of_range",
                f"'{fields.path('at_most')}' is less than 'at_least', so nothing can be that often",
                "write a larger one, or take one of them away",
            )
    fields.done()
    return Heard(kind=reading.kind, place=reading.place, rule=rule, at_least=least, at_most=most)


def _said(reading: _Reading) -> Expectation:
    fields = reading.fields("text")
    rule = _rule(reading, fields, response=True)
    fields.done()
    negated = reading.kind == "bot_did_not_utter"
    return Said(kind=reading.kind, place=reading.place, rule=rule, negated=negated)


def _interrupted(reading: _Reading) -> Expectation:
    fields = reading.fields("during")
    read = Interrupted(
        kind=reading.kind,
        place=reading.place,
        within_ms=fields.number("within_ms", 0.0, _MOST_MS),
        during=reading.during(fields),
        times=_count(fields, "times"),
        negated=reading.kind == "not_interrupted",
    )
    fields.done()
    return read


def _interrupted_at(reading: _Reading) -> Expectation | None:
    fields = reading.fields()
    say, response = fields.text("say"), reading.response(fields)
    heard = _pattern(fields, "heard_matches")
    if heard is None and fields.entry("heard_matches") is None:
        fields.problem(
            reading.place,
            "missing_key",
            f"'{fields.path('heard_matches')}' is missing",
            "write what was heard of the message",
        )
    fields.done()
    if heard is None:
        return None
    rule = TextRule(say, None, response)
    return InterruptedAt(kind=reading.kind, place=reading.place, rule=rule, heard=heard)


def _skill(reading: _Reading) -> Expectation:
    fields = reading.fields("skill")
    skill = reading.skill(fields, "skill")
    fields.done()
    how = _SKILLS[reading.kind]
    match how:
        case "started" | "completed" | "cancelled":
            return SkillWas(kind=reading.kind, place=reading.place, skill=skill, how=how)
        case _:
            raise ValueError(how)


def _confirmation(reading: _Reading) -> Expectation:
    fields = reading.fields("tool")
    answered = reading.kind == "confirmation_answered"
    tool = reading.tool(fields, "tool")
    confirmed = None
    if answered and fields.node("confirmed") is not None:
        confirmed = fields.flag("confirmed", True)
    fields.done()
    return Confirmation(
        kind=reading.kind, place=reading.place, tool=tool, answered=answered, confirmed=confirmed
    )


def _transferred(reading: _Reading) -> Expectation:
    fields = reading.fields("to")
    read = Transferred(kind=reading.kind, place=reading.place, to=fields.text("to"))
    fields.done()
    return read


def _hung_up(reading: _Reading) -> Expectation:
    fields = reading.fields("by")
    read = HungUp(kind=reading.kind, place=reading.place, by=fields.choice("by", _WHO, "agent"))
    fields.done()
    return read


def _problem(reading: _Reading) -> Expectation:
    fields = reading.fields("code")
    read = ProblemWas(kind=reading.kind, place=reading.place, code=fields.required_text("code"))
    fields.done()
    return read


_READERS: Final[dict[str, Callable[[_Reading], Expectation | None]]] = {
    "tool_executed": _tool_executed,
    "tool_not_executed": _tool_not_executed,
    "memory_was_set": _memory,
    "memory_was_not_set": _memory,
    "heard": _heard,
    "not_heard": _heard,
    "bot_uttered": _said,
    "bot_did_not_utter": _said,
    "interrupted": _interrupted,
    "not_interrupted": _interrupted,
    "interrupted_at": _interrupted_at,
    **dict.fromkeys(_SKILLS, _skill),
    "confirmation_asked": _confirmation,
    "confirmation_answered": _confirmation,
    "transferred": _transferred,
    "hung_up": _hung_up,
    "problem": _problem,
}
