"""Conditions: one-line expressions over memory, parsed once, never evaluated by Python.

Owns their meaning and their failing closed: whatever can't be decided does not hold. The grammar is
``condition_grammar``. Names are ``session.<namespace>.<field>``; the namespace ``system`` has the
engine's own values.

Meaning. An unset field reads as ``None``, and the result counts as ``bool()`` of it, so that ``0``,
``""`` and an empty list do not hold. A value is of one of six kinds: text, number, true/false,
list, block of keys, unset. ``==`` between kinds is false and ``!=`` true (``True == 1`` is false,
and so is ``"5" == 5``); texts are equal when their characters are, in NFC and with their case.
``<`` and its like between kinds, or of anything but two numbers or two texts, can't be decided: the
whole condition does not hold then, also below a ``not``. ``and`` and ``or`` stop as soon as they
are decided; ``not`` binds tighter than ``and``, ``and`` tighter than ``or``.
"""

import operator
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from runtime.agent import Json
from runtime.project.condition_grammar import (
    Compare,
    ConditionError,
    Field,
    Literal,
    Logic,
    Node,
    Not,
    nodes,
    parse_reference,
    parse_tree,
)

__all__ = [
    "SYSTEM_NAMES",
    "Condition",
    "ConditionError",
    "FieldKind",
    "check_types",
    "parse",
    "parse_reference",
]

SYSTEM_NAMES = frozenset({"channel", "silence_n"})
"""Fields of the namespace ``system``: the channel's name, and how often the silence ran out."""

Read: TypeAlias = Callable[[str, str], Json]


class _Undecidable(Exception):
    """A comparison that has no answer."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A parsed expression; two are equal when they were written alike."""

    text: str
    references: tuple[tuple[str, str], ...]
    """(namespace, field), in the order written, each once."""
    tree: Node = field(compare=False, repr=False)

    def holds(self, read: Read) -> bool:
        """Whether it holds; anything that goes wrong, in ``read`` as well, means no."""
        try:
            return bool(_value(self.tree, read))
        except Exception:  # fails closed, whatever the cause
            return False

    def explain(self, read: Read) -> str:
        """For people who watch a gate: which of its fields are unset; never a value."""
        unset: list[str] = []
        for namespace, name in self.references:
            try:
                missing = read(namespace, name) is None
            except Exception:  # not readable counts as unset
                missing = True
            if missing:
                unset.append(f"session.{namespace}.{name}")
        state = "holds" if self.holds(read) else "does not hold"
        return f"{self.text}: {state}" + (f" (unset: {', '.join(unset)})" if unset else "")


def parse(text: object) -> Condition:
    """Parse an expression.

    Raises:
        ConditionError: it is blank, no text, or not of the grammar.
    """
    if not isinstance(text, str):
        raise ConditionError("a condition is a text", 1, "write it in one line")
    normal = unicodedata.normalize("NFC", text)
    stripped = normal.strip()
    if not stripped:
        raise ConditionError("the condition is empty", 1, "write one, or take the key away")
    try:
        tree = parse_tree(stripped)
    except ConditionError as error:
        # Counted in the text as it was handed in.
        error.column += len(normal) - len(normal.lstrip())
        raise
    found = dict.fromkeys((n.namespace, n.name) for n in nodes(tree) if isinstance(n, Field))
    return Condition(stripped, tuple(found), tree)


# ------------------------------------------------------------------ meaning

_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _value(node: Node, read: Read) -> Json:
    match node:
        case Literal(value=value):
            return value
        case Field(namespace=namespace, name=name):
            return read(namespace, name)
        case Not(part=part):
            return not _value(part, read)
        case Logic(is_and=is_and, parts=parts):
            result: Json = is_and
            for part in parts:
                result = _value(part, read)
                if bool(result) is not is_and:
                    break
            return result
        case Compare(first=first, rest=rest):
            left = _value(first, read)
            for op, part in rest:
                right = _value(part, read)
                if not _compare(op, left, right):
                    return False
                left = right
            return True


def _compare(op: str, left: Json, right: Json) -> bool:
    same = _kind(left) == _kind(right)
    if op in ("==", "!="):
        return (same and left == right) is (op == "==")
    if not same or _kind(left) not in ("number", "text"):
        raise _Undecidable
    return _COMPARE[op](left, right)


def _kind(value: Json) -> str:
    match value:
        case None:
            return "unset"
        case bool():
            return "flag"
        case int() | float():
            return "number"
        case str():
            return "text"
        case list():
            return "list"
        case dict():
            return "json"


# ------------------------------------------------------------------ types


@dataclass(frozen=True, slots=True)
class FieldKind:
    """What is declared of a field."""

    type: str
    """``text bool int float list categorical json any``."""
    enum_values: tuple[str, ...] = ()


_KINDS: Mapping[str, str] = {
    "text": "text",
    "categorical": "text",
    "bool": "flag",
    "int": "number",
    "float": "number",
    "list": "list",
}
_KIND_NAMES: Mapping[str, str] = {
    "text": "a text",
    "flag": "True or False",
    "number": "a number",
    "list": "a list",
    "unset": "None",
}
KindOf: TypeAlias = Callable[[str, str], FieldKind | None]


def check_types(condition: Condition, kind_of: KindOf) -> list[ConditionError]:
    """Comparisons that can never work, by what is declared.

    Args:
        condition: The parsed expression.
        kind_of: A field's declaration; None = unknown, which is not checked.
    """
    found: list[ConditionError] = []
    for node in nodes(condition.tree):
        if isinstance(node, Compare):
            left = node.first
            for op, right in node.rest:
                error = _check_pair(op, left, right, kind_of)
                found += [error] if error else []
                left = right
    return found


def _check_pair(op: str, left: Node, right: Node, kind_of: KindOf) -> ConditionError | None:
    if not isinstance(left, Literal | Field) or not isinstance(right, Literal | Field):
        return None
    one, other = _declared(left, kind_of), _declared(right, kind_of)
    if one is None or other is None:
        return None
    (kind, enum), (other_kind, other_enum) = one, other
    equality = op in ("==", "!=")
    if equality and "unset" in (kind, other_kind):
        return None
    if not equality:
        for side, of in ((left, kind), (right, other_kind)):
            if of not in ("number", "text"):
                return ConditionError(
                    f"{_KIND_NAMES[of]} has no order, so '{op}' never holds",
                    side.column,
                    "compare with '==' or '!='",
                )
    if kind != other_kind:
        # The literal is what an author gets wrong: point there.
        at = left if isinstance(left, Literal) else right
        wanted = other_kind if at is left else kind
        return ConditionError(
            f"{_KIND_NAMES[kind]} is compared with {_KIND_NAMES[other_kind]}, which never works",
            at.column,
            f"compare it with {_KIND_NAMES[wanted]}",
        )
    if not equality:
        return None
    return _check_enums((left, enum), (right, other_enum))


def _check_enums(
    left: tuple[Literal | Field, tuple[str, ...]],
    right: tuple[Literal | Field, tuple[str, ...]],
) -> ConditionError | None:
    for (_, values), (other, _) in ((left, right), (right, left)):
        if values and isinstance(other, Literal) and other.value not in values:
            return ConditionError(
                f"'{other.value}' is none of the field's enum_values",
                other.column,
                f"write one of {', '.join(repr(v) for v in values)}",
            )
    if left[1] and right[1] and not set(left[1]) & set(right[1]):
        return ConditionError(
            "the two fields have no value in common", right[0].column, "compare other fields"
        )
    return None


def _declared(node: Literal | Field, kind_of: KindOf) -> tuple[str, tuple[str, ...]] | None:
    if isinstance(node, Literal):
        return _kind(node.value), ()
    found = kind_of(node.namespace, node.name)
    if found is None or found.type not in _KINDS:
        return None
    return _KINDS[found.type], found.enum_values
