"""What a YAML file holds once it is read: scalars, sequences and mappings, each with its place.

Owns the node records and the reading of plain scalars by the YAML 1.2 core schema, held tighter
where that would lose characters: only ``true``/``false`` are booleans, only ``0``, ``-7``, ``2.5``
and ``1e3`` shapes are numbers, so ``+49…``, ``007``, ``9:30``, ``2026-03-01`` and ``yes`` stay the
text that was written. Reading the file itself is ``runtime.project.yaml_source``.
"""

import re
from dataclasses import dataclass, replace
from typing import TypeAlias

from runtime.agent import Json
from runtime.errors import Place

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLS = {
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_INT = re.compile(r"-?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)?(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_GROUPED = re.compile(r"-?[0-9]+(?:_[0-9]+)+(?:\.[0-9_]+)?")
_MAX_DIGITS = 300


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value."""

    place: Place
    written: str
    """As it stands in the file, before ``${VAR}``: the only form that messages may show."""
    text: str
    """With variables expanded, in NFC."""
    plain: bool
    """Written without quotes and not as a block, so that it may be a number or the like."""
    is_unset: bool = False
    """A variable in it is not set, which has been reported: nothing more is said of the value."""

    @property
    def is_null(self) -> bool:
        """Nothing, ``~`` or ``null``."""
        return self.plain and self.text in _NULLS


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list of values."""

    place: Place
    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a mapping with its value."""

    place: Place
    """Of the key."""
    key: str
    value: "Node"


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys and values, in the order written; keys are always text and never occur twice."""

    place: Place
    entries: tuple[Entry, ...]

    def get(self, key: str) -> Entry | None:
        """Return one entry, ``None`` when the key was not written."""
        return next((entry for entry in self.entries if entry.key == key), None)


Node: TypeAlias = Scalar | Sequence | Mapping


_VARIABLE = re.compile(r"\$\{[^}]*\}")


def typed(scalar: Scalar) -> Scalar:
    """The scalar where a number or a flag is wanted: in ``{ }`` a variable has to be quoted."""
    alone = not scalar.plain and _VARIABLE.fullmatch(scalar.written) is not None
    return replace(scalar, plain=True) if alone else scalar


def as_bool(scalar: Scalar) -> bool | None:
    """Return the boolean, ``None`` when it is something else."""
    return _BOOLS.get(scalar.text) if scalar.plain else None


def as_int(scalar: Scalar) -> int | None:
    """Return the whole number, ``None`` when it is something else."""
    if scalar.plain and len(scalar.text) <= _MAX_DIGITS and _INT.fullmatch(scalar.text):
        return int(scalar.text)
    return None


def as_number(scalar: Scalar) -> float | int | None:
    """Return the finite number, ``None`` when it is something else."""
    whole = as_int(scalar)
    if whole is not None:
        return whole
    text = scalar.text
    if not scalar.plain or len(text) > _MAX_DIGITS or not _FLOAT.fullmatch(text):
        return None
    if not any(c.isdigit() for c in text.lower().partition("e")[0]):
        return None
    number = float(text)
    return number if abs(number) != float("inf") else None


def is_grouped_number(scalar: Scalar) -> bool:
    """Return whether it looks like a number with ``_`` between digits, which YAML 1.2 has not."""
    return scalar.plain and _GROUPED.fullmatch(scalar.text) is not None


def as_json_scalar(scalar: Scalar) -> Json:
    """Return the value where no type is declared: text, wherever a number would lose characters
    (``3.10`` stays ``"3.10"``).
    """
    if scalar.is_null:
        return None
    flag = as_bool(scalar)
    if flag is not None:
        return flag
    number = as_number(scalar)
    if number is None:
        return scalar.text
    exact = "e" in scalar.text.lower() or repr(number) == scalar.text
    return number if exact else scalar.text


def as_json(node: Node) -> Json:
    """Return a whole tree as JSON."""
    match node:
        case Scalar():
            return as_json_scalar(node)
        case Sequence(items=items):
            return [as_json(item) for item in items]
        case Mapping(entries=entries):
            return {entry.key: as_json(entry.value) for entry in entries}


def kind_of(node: Node) -> str:
    """Name what a node is, in an author's words."""
    match node:
        case Mapping():
            return "a block of keys"
        case Sequence():
            return "a list"
        case Scalar() if node.is_null:
            return "empty"
        case Scalar():
            return "a single value"
