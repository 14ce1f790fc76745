"""The grammar of conditions: text in, a small tree out; everything else is refused by name.

Owns the records of the tree, the limits, and the words for what authors write by mistake. What a
tree means is ``conditions``. Python's parser does the reading, and nothing of Python is ever run.
"""

import ast
import keyword
import math
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from runtime.agent import Json

__all__ = [
    "MAX_DEPTH",
    "MAX_LENGTH",
    "Compare",
    "ConditionError",
    "Field",
    "Literal",
    "Logic",
    "Node",
    "Not",
    "nodes",
    "parse_reference",
    "parse_tree",
]

MAX_LENGTH = 2000
MAX_DEPTH = 50


class ConditionError(Exception):
    """An expression that is none: where, and what to write instead."""

    def __init__(self, message: str, column: int = 1, mend: str = "") -> None:
        """``column`` counts characters from 1 within the expression."""
        super().__init__(message)
        self.message = message
        self.column = column
        self.mend = mend


# ------------------------------------------------------------------ what is parsed


@dataclass(frozen=True, slots=True)
class Literal:
    """A value; ``column`` counts characters from 1."""

    value: Json
    column: int


@dataclass(frozen=True, slots=True)
class Field:
    """``session.<namespace>.<name>``."""

    namespace: str
    name: str
    column: int


@dataclass(frozen=True, slots=True)
class Not:
    """``not``."""

    part: "Node"


@dataclass(frozen=True, slots=True)
class Logic:
    """``and`` or ``or`` between two or more parts."""

    is_and: bool
    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Compare:
    """One comparison, or a chain of them."""

    first: "Node"
    rest: tuple[tuple[str, "Node"], ...]
    """(operator, what stands right of it)."""


Node: TypeAlias = Literal | Field | Not | Logic | Compare


# ------------------------------------------------------------------ grammar

_GRAMMAR = "compare fields and values: session.<skill>.<field> == 'a text'"
_FIELD_FORM = "write session.<skill>.<field> or session.project.<field>, or put a text in quotes"
_NAMES_MEANT: Mapping[str, str] = {"true": "True", "false": "False", "null": "None", "none": "None"}
_QUOTED = r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\""""
_QUOTED_TEXT = re.compile(_QUOTED)
_AFTER_DOT = re.compile(rf"{_QUOTED}|(?<=\.)\w+")
_SLIPS: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (re.compile(r"==="), "'===' does not compare", "write '=='"),
    (re.compile(r"<>"), "'<>' does not compare", "write '!='"),
    (re.compile(r"(?<![=!<>])=(?!=)"), "'=' does not compare", "write '=='"),
    (re.compile(r"&&"), "'&&' means nothing here", "write 'and'"),
    (re.compile(r"\|\|"), "'||' means nothing here", "write 'or'"),
    (re.compile(r"!(?!=)"), "'!' means nothing here", "write 'not'"),
    (re.compile(r"\b(?:AND|OR|NOT)\b"), "'and', 'or', 'not' are written small", "write them small"),
)
_OPERATORS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


def parse_tree(text: str) -> Node:
    """Read one expression without blanks around it.

    Raises:
        ConditionError: it is too long, too deep, or not of the grammar.
    """
    if len(text) > MAX_LENGTH:
        raise ConditionError(
            f"a condition has {MAX_LENGTH} characters at most", 1, "let a tool write a field"
        )
    if len(text.splitlines()) > 1:
        raise ConditionError("a condition stands in one line", 1, "write it in one line")
    blanked = _QUOTED_TEXT.sub(lambda m: "_" * len(m[0]), text)
    if "#" in blanked:
        raise ConditionError(
            "a condition has no remarks", blanked.index("#") + 1, "take it away from '#' on"
        )
    if "{{" in blanked:
        raise ConditionError(
            "a condition has no {{…}}", blanked.index("{{") + 1, "write session.<skill>.<field>"
        )
    _check_brackets(blanked)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the parser's remarks on odd escapes
            tree = ast.parse(_without_keywords(text), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _syntax_error(text, blanked, error) from None
    return _Reader(text).node(tree, 0)


def _check_brackets(blanked: str) -> None:
    depth = 0
    for at, character in enumerate(blanked, 1):
        depth += (character in "([{") - (character in ")]}")
        if depth > MAX_DEPTH:
            raise ConditionError(
                f"more than {MAX_DEPTH} brackets are open here", at, "split the condition"
            )


def _without_keywords(text: str) -> str:
    """Names such as ``session.return.class`` are fine here, unlike in Python: keep their length
    and let the names be taken from the text itself.
    """

    def hide(match: re.Match[str]) -> str:
        return "_" * len(match[0]) if keyword.iskeyword(match[0]) else match[0]

    return _AFTER_DOT.sub(hide, text)


def _syntax_error(text: str, blanked: str, error: BaseException) -> ConditionError:
    for pattern, message, mend in _SLIPS:
        slip = pattern.search(blanked)
        if slip is not None:
            return ConditionError(message, slip.start() + 1, mend)
    column = 1
    if isinstance(error, SyntaxError):
        column = error.offset or len(text) + 1  # the end has no offset
    if re.search("['\"]", blanked):
        return ConditionError("a quote is not closed", column, "close it")
    if column > len(text):
        return ConditionError("something is missing at the end", len(text), _GRAMMAR)
    return ConditionError("this is not a condition", column, _GRAMMAR)


class _Reader:
    """Takes what the grammar has out of Python's tree, and refuses everything else."""

    def __init__(self, text: str) -> None:
        self._bytes = text.encode()

    def node(self, node: ast.expr, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise self._refused(
                node, f"more than {MAX_DEPTH} levels of nesting", "split the condition"
            )
        match node:
            case ast.BoolOp(op=op, values=values):
                parts = tuple(self.node(value, depth + 1) for value in values)
                return Logic(isinstance(op, ast.And), parts)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Not(self.node(operand, depth + 1))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
                number = self._constant(node, value)
                if isinstance(number, bool) or not isinstance(number, int | float):
                    raise self._refused(node, "a minus stands before numbers only", _GRAMMAR)
                return Literal(-number, self._column(node))
            case ast.Compare(left=left, ops=ops, comparators=others):
                first = self.node(left, depth + 1)
                rest = [
                    (self._operator(op, other), self.node(other, depth + 1))
                    for op, other in zip(ops, others, strict=True)
                ]
                return Compare(first, tuple(rest))
            case ast.Constant(value=value):
                return Literal(self._constant(node, value), self._column(node))
            case ast.Attribute() | ast.Name():
                return self._field(node)
            case _:
                raise self._refuse_other(node)

    def _operator(self, op: ast.cmpop, right: ast.expr) -> str:
        known = _OPERATORS.get(type(op))
        if known is not None:
            return known
        if isinstance(op, ast.Is | ast.IsNot):
            mend = "write '=='" if isinstance(op, ast.Is) else "write '!='"
            raise self._refused(right, "'is' does not compare here", mend)
        mend = "compare with '==', several times with 'or'"
        raise self._refused(right, "'in' is not part of a condition", mend)

    def _constant(self, node: ast.expr, value: object) -> Json:
        if value is None or isinstance(value, bool | str | int):
            return value
        if isinstance(value, float) and math.isfinite(value):
            return value
        raise self._refused(
            node, "this is no value", "write a text in quotes, a number, True, False or None"
        )

    def _field(self, node: ast.expr) -> Field:
        written = "".join(self._segment(node).split())
        reference = parse_reference(written)
        if reference is not None:
            return Field(*reference, self._column(node))
        meant = _NAMES_MEANT.get(written)
        if meant is not None:
            raise self._refused(node, f"'{written}' is no value", f"write {meant}")
        if "(" in written or "[" in written:
            raise self._refuse_other(node)
        parts = written.split(".")
        if parts[0] == "session" and len(parts) > 3:
            raise self._refused(
                node, f"'{written}' reaches into a field", "write session.<skill>.<field> only"
            )
        raise self._refused(node, f"'{written}' is not a field", _FIELD_FORM)

    def _refuse_other(self, node: ast.expr) -> ConditionError:
        if any(isinstance(inner, ast.Call) for inner in ast.walk(node)):
            return self._refused(
                node, "nothing can be called in a condition", "let a tool write a field"
            )
        if isinstance(node, ast.BinOp | ast.UnaryOp):
            return self._refused(
                node, "nothing is calculated in a condition", "let a tool write a field"
            )
        return self._refused(node, "this is not part of a condition", _GRAMMAR)

    def _segment(self, node: ast.expr) -> str:
        return self._bytes[node.col_offset : node.end_col_offset].decode()

    def _column(self, node: ast.expr) -> int:
        return len(self._bytes[: node.col_offset].decode()) + 1

    def _refused(self, node: ast.expr, message: str, mend: str) -> ConditionError:
        return ConditionError(message, self._column(node), mend)


def nodes(tree: Node) -> Iterator[Node]:
    """Every node of a tree, from left to right, each before what it holds."""
    yield tree
    match tree:
        case Not(part=part):
            yield from nodes(part)
        case Logic(parts=parts):
            for part in parts:
                yield from nodes(part)
        case Compare(first=first, rest=rest):
            for part in (first, *(right for _, right in rest)):
                yield from nodes(part)
        case _:
            pass


def parse_reference(text: str) -> tuple[str, str] | None:
    """``session.<namespace>.<field>`` as (namespace, field); None when it is something else."""
    parts = text.strip().split(".")
    if len(parts) == 3 and parts[0] == "session" and all(p.isidentifier() for p in parts[1:]):
        return parts[1], parts[2]
    return None
