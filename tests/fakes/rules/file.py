"""Reads the rules file of the ``rules`` model: what to say or call when the caller says what.

Owns the keys and every check that can be made before a call; matching is ``rules_model``. The file
is checked when the project loads and read again when the model is built.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, cast

from runtime.agent import Json
from runtime.errors import Place
from runtime.project.fields import Fields
from runtime.project.problems import Problems, listed, nearest
from runtime.project.yaml_nodes import Node, Scalar, Sequence, as_json
from runtime.project.yaml_source import read_yaml
from tests.fakes.rules.text import Template, parse_template

Outcome = Literal["ok", "failed", "timed_out", "cancelled", "unknown", "still_running"]
OUTCOMES: tuple[Outcome, ...] = (
    "ok",
    "failed",
    "timed_out",
    "cancelled",
    "unknown",
    "still_running",
)
_REPEAT = (
    "repeat that",
    "say that again",
    "can you repeat that please",
    "pardon",
    "sorry what was that",
)
_BUILT_IN = frozenset({"set_fields", "listen", "hang_up"})
"""The engine's own tools, which a rule may call like the skill's."""
_END_THE_TURN = frozenset({"listen", "hang_up"})
"""Nothing is said after these."""
_OTHERWISE = "I'm not sure I understood that. Could you say it another way?"


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call to make; text arguments may hold placeholders."""

    tool: str
    arguments: tuple[tuple[str, Template | Json], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What to do when the caller's words match."""

    patterns: tuple[re.Pattern[str], ...]
    examples: tuple[str, ...]
    needs: str | None
    """The rule counts only while the latest successful call was of this tool."""
    say: tuple[Template, ...]
    """Variants, used in rotation."""
    interrupted: tuple[Template, ...]
    """Said instead when the agent's message before was cut off."""
    call: Call | None


@dataclass(frozen=True, slots=True, kw_only=True)
class After:
    """What to do when a tool has settled."""

    tool: str
    outcome: Outcome
    result: tuple[tuple[str, Json], ...]
    """Values that the result must have."""
    say: tuple[Template, ...]
    call: Call | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleBook:
    """A whole rules file."""

    rules: tuple[Rule, ...]
    after: tuple[After, ...]
    repeat: tuple[str, ...]
    otherwise: Rule
    similarity: int
    """Percent that an example must resemble the caller's words."""


def read_rules(data: bytes, file: str, problems: Problems, tools: Collection[str]) -> RuleBook:
    """Read the file; what is wrong goes into ``problems``. ``tools`` are the names there are."""
    reader = _Reader(problems, tools)
    top = Fields(read_yaml(data, file, problems, None), problems, "", Place(file))
    rules = tuple(reader.rule(item) for item in top.items("rules"))
    if top.node("rules") is None:
        problems.add(top.place, "missing_key", "'rules' is missing", "add a list of rules")
    after = tuple(reader.after(item) for item in top.items("after"))
    book = RuleBook(
        rules=rules,
        after=after,
        repeat=top.texts("repeat") or _REPEAT,
        otherwise=reader.otherwise(top),
        similarity=top.whole("similarity", 80, least=50, most=100),
    )
    top.done()
    reader.check_every_call_is_answered(after)
    return book


class _Reader:
    """Reads rules, and remembers which tools are called from where."""

    def __init__(self, problems: Problems, tools: Collection[str]) -> None:
        self._problems = problems
        self._tools = frozenset(tools) | _BUILT_IN
        self._called: dict[str, Place] = {}

    def rule(self, node: Node) -> Rule:
        fields = Fields(node, self._problems, "rule", node.place)
        patterns, examples = self._when(fields)
        groups = {name for pattern in patterns for name in pattern.groupindex}
        needs = fields.text("needs")
        if needs is not None:
            self._check_tool(needs, fields.entry("needs"), fields.place)
        rule = Rule(
            patterns=patterns,
            examples=examples,
            needs=needs,
            say=self._texts(fields, "say", groups),
            interrupted=self._texts(fields, "interrupted", groups),
            call=self._call(fields, groups),
        )
        self._check_does_something(fields, rule.say, rule.call)
        fields.done()
        return rule

    def after(self, node: Node) -> After:
        fields = Fields(node, self._problems, "after", node.place)
        tool = fields.required_text("tool")
        if tool:
            self._check_tool(tool, fields.entry("tool"), fields.place)
        result = fields.section("result")
        after = After(
            tool=tool,
            outcome=cast(Outcome, fields.choice("outcome", OUTCOMES, "ok")),
            result=tuple((entry.key, as_json(entry.value)) for entry in result.keys()),
            say=self._texts(fields, "say", None),
            call=self._call(fields, None),
        )
        self._check_does_something(fields, after.say, after.call)
        fields.done()
        return after

    def otherwise(self, top: Fields) -> Rule:
        fields = top.section("otherwise")
        say = self._texts(fields, "say", set())
        interrupted = self._texts(fields, "interrupted", set())
        fields.done()
        return Rule(
            patterns=(),
            examples=(),
            needs=None,
            say=say or (Template((_OTHERWISE,)),),
            interrupted=interrupted,
            call=None,
        )

    def check_every_call_is_answered(self, after: tuple[After, ...]) -> None:
        """A call without an ``after`` would end in silence."""
        answered = {item.tool for item in after if item.outcome == "ok" and not item.result}
        for tool, place in self._called.items():
            if tool not in answered | _END_THE_TURN:
                self._problems.add(
                    place,
                    "no_answer",
                    f"nothing is said after '{tool}' when it went well",
                    f"add '- {{tool: {tool}, say: …}}' under 'after', without 'result'",
                )

    # ---------------------------------------------------------------- parts

    def _when(self, fields: Fields) -> tuple[tuple[re.Pattern[str], ...], tuple[str, ...]]:
        patterns: list[re.Pattern[str]] = []
        examples: list[str] = []
        for item in fields.items("when"):
            text = item.text.strip() if isinstance(item, Scalar) else ""
            if not text or text == "//":
                self._problems.add(
                    item.place,
                    "empty_text",
                    "'when' holds example sentences and patterns between slashes",
                    "write 'when are you open' or '/\\bopen\\b/'",
                )
            elif len(text) > 2 and text[0] == text[-1] == "/":
                pattern = self._pattern(text[1:-1], item.place)
                patterns += [pattern] if pattern is not None else []
            else:
                examples.append(text)
        if not fields.items("when"):
            self._problems.add(
                fields.place,
                "missing_key",
                "a rule needs 'when'",
                "add a list of example sentences and /patterns/",
            )
        return tuple(patterns), tuple(examples)

    def _pattern(self, text: str, place: Place) -> re.Pattern[str] | None:
        try:
            return re.compile(text, re.IGNORECASE)
        except (re.error, RecursionError, OverflowError) as error:
            self._problems.add(
                place, "bad_pattern", f"this is no regular expression: {error}", "correct it"
            )
            return None

    def _texts(self, fields: Fields, key: str, groups: set[str] | None) -> tuple[Template, ...]:
        match fields.node(key):
            case Sequence(items=items):
                nodes = items
            case None:
                # An empty one gets its message here; a missing one is fine.
                _ = fields.text(key)
                return ()
            case node:
                nodes = (node,)
        found = (self._template(node, fields.path(key), groups) for node in nodes)
        return tuple(template for template in found if template is not None)

    def _template(self, node: Node, path: str, groups: set[str] | None) -> Template | None:
        if not isinstance(node, Scalar) or not node.text.strip():
            self._problems.add(
                node.place, "wrong_type", f"'{path}' must be a text or a list of texts", ""
            )
            return None
        parsed = parse_template(" ".join(node.text.split()))
        if isinstance(parsed, str):
            self._problems.add(
                node.place,
                "bad_placeholder",
                f"'{path}' has {parsed}",
                "write {name}, or {{ and }} for the characters themselves",
            )
            return None
        for name in parsed.names:
            self._check_placeholder(name, groups, node.place)
        return parsed

    def _check_placeholder(self, name: str, groups: set[str] | None, place: Place) -> None:
        # groups None = the text follows a tool, whose result may hold any field.
        head, dot, _ = name.partition(".")
        if groups is None or (not dot and name in groups) or (dot and head in self._tools):
            return
        known = sorted(groups) if not dot else [f"{tool}.…" for tool in sorted(self._tools)]
        self._problems.add(
            place,
            "bad_placeholder",
            f"nothing fills '{{{name}}}'",
            f"known here: {listed(known)}"
            if known
            else "name a group of a pattern, (?P<name>…), or a field of a tool's result",
        )

    def _call(self, fields: Fields, groups: set[str] | None) -> Call | None:
        node = fields.node("call")
        if node is None:
            return None
        call = Fields(node, self._problems, fields.path("call"), node.place)
        tool = call.required_text("tool")
        if tool:
            self._check_tool(tool, call.entry("tool"), node.place)
        if tool in self._tools:
            self._called.setdefault(tool, node.place)
        arguments: list[tuple[str, Template | Json]] = []
        for entry in call.section("arguments").keys():
            value = as_json(entry.value)
            if isinstance(value, str):
                template = self._template(entry.value, entry.key, groups)
                if template is not None:
                    arguments.append((entry.key, template))
            else:
                arguments.append((entry.key, value))
        call.done()
        return Call(tool, tuple(arguments))

    def _check_tool(self, tool: str, entry: object, place: Place) -> None:
        if tool in self._tools:
            return
        where = getattr(getattr(entry, "value", None), "place", place)
        close = nearest(tool, self._tools)
        self._problems.add(
            where,
            "unknown_tool",
            f"the skill has no tool called '{tool}'",
            f"did you mean '{close}'?" if close else "define it in the skill's tools.py",
        )

    def _check_does_something(
        self, fields: Fields, say: tuple[Template, ...], call: Call | None
    ) -> None:
        written = fields.entry("say") is not None or fields.entry("call") is not None
        if not say and call is None and not written:
            self._problems.add(
                fields.place, "missing_key", "a rule needs 'say' or 'call'", "add one of them"
            )
