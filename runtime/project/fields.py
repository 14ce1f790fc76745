"""Typed reading of one mapping: each key is asked for by type, what is left over is a problem.

Owns the messages about missing, empty, unknown and wrongly typed keys. Values are never shown
expanded, only as they were written. The files' own rules are in ``agent_file`` and its neighbours.
"""

import math
import re
from collections.abc import Collection
from collections.abc import Mapping as MappingABC
from dataclasses import replace
from typing import overload

from runtime.agent import Json
from runtime.errors import Place
from runtime.project.problems import Problems, listed, nearest
from runtime.project.yaml_nodes import (
    Entry,
    Mapping,
    Node,
    Scalar,
    Sequence,
    as_bool,
    as_int,
    as_json,
    as_number,
    is_grouped_number,
    kind_of,
    typed,
)

_DURATION = re.compile(r"(?P<n>[0-9]+(?:\.[0-9]+)?) ?(?P<unit>ms|s|min)")
_UNIT_MS = {"ms": 1.0, "s": 1000.0, "min": 60_000.0}
_DURATION_FORMS = "write seconds as a number (7 or 1.2), or '800 ms', '7 s', '2 min'"
_SHOWN = 40
_SIMPLE = re.compile(r"[\w.-]{1,40}")
"""What stands within braces as it is."""


class Fields:
    """One mapping being read; call ``done`` last."""

    def __init__(
        self,
        node: Node | None,
        problems: Problems,
        name: str,
        place: Place,
        shorthand: str = "",
        *,
        is_item: bool = False,
    ) -> None:
        """Read one mapping.

        Args:
            node: What was written; None = nothing.
            problems: Grows by everything that is wrong.
            name: How messages call it; empty for a whole file.
            place: Where it should be.
            shorthand: The key that an author means who writes a single value in its place.
            is_item: It is one of the list ``name``.
        """
        self.place = node.place if node is not None else place
        self._problems = problems
        self._name = name
        self._asked: set[str] = set()
        self._entries: tuple[Entry, ...] = ()
        self._is_other = False
        """Something else was written in its place, so that its keys are not what is missing."""
        match node:
            case Mapping(entries=entries):
                self._entries = entries
            case None:
                pass
            case Scalar() if node.is_null:
                pass
            case _:
                self._is_other = True
                what = f"an entry of '{name}'" if is_item else f"'{name}'" if name else "the file"
                begin = "- " if is_item else f"{name.rpartition('.')[2]}: "
                mend = _block_mend(node, begin if name else "", shorthand)
                self._wrong(node, what, "a block of keys", mend)

    # ---------------------------------------------------------------- one key

    def has(self, key: str) -> bool:
        """Return whether the key was written, without asking for it."""
        return any(entry.key == key for entry in self._entries)

    def entry(self, key: str) -> Entry | None:
        """Return the entry if the key was written, even when it is empty."""
        self._asked.add(key)
        return next((entry for entry in self._entries if entry.key == key), None)

    def node(self, key: str) -> Node | None:
        """Return the value if it was written and is not empty."""
        entry = self.entry(key)
        value = entry.value if entry is not None else None
        if isinstance(value, Scalar) and (value.is_null or value.is_unset):
            return None
        return value

    def section(self, key: str, shorthand: str = "") -> "Fields":
        """Return the mapping under ``key``, empty when it was not written."""
        found = Fields(self.node(key), self._problems, self.path(key), self.place, shorthand)
        found._is_other = found._is_other or self._is_other
        return found

    def items(self, key: str) -> tuple[Node, ...]:
        """Return the list under ``key``, empty when it was not written."""
        match self.node(key):
            case None:
                return ()
            case Sequence(items=items):
                return items
            case other:
                self._wrong(other, f"'{self.path(key)}'", "a list", _list_mend(other, key))
                return ()

    def required_text(self, key: str) -> str:
        """Return the text, ``""`` after a problem."""
        entry = self.entry(key)
        if entry is None:
            self.problem(
                self.place, "missing_key", f"'{self.path(key)}' is missing", f"add '{key}: …'"
            )
            return ""
        return self._text(entry.value, self.path(key)) or ""

    @overload
    def text(self, key: str, default: str) -> str: ...
    @overload
    def text(self, key: str, default: None = None) -> str | None: ...
    def text(self, key: str, default: str | None = None) -> str | None:
        """Return the text as written (``007`` stays ``007``); an empty one is a problem."""
        entry = self.entry(key)
        if entry is None:
            return default
        return self._text(entry.value, self.path(key)) or default

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts."""
        found = (self._text(item, self.path(key)) for item in self.items(key))
        return tuple(text for text in found if text)

    def secret(self, key: str) -> str | None:
        """Return a value that may be empty (an optional variable), ``None`` then."""
        match self.node(key):
            case Scalar(text=text):
                return text or None
            case None:
                return None
            case other:
                mend = "write a text; in quotes if '{' or '[' is part of it"
                self._wrong(other, f"'{self.path(key)}'", "a text", mend)
                return None

    def flag(self, key: str, default: bool) -> bool:
        """Return true or false."""
        match self.node(key):
            case None:
                return default
            case Scalar() as scalar if (value := as_bool(typed(scalar))) is not None:
                return value
            case other:
                mend = "write true or false"
                self._wrong(other, f"'{self.path(key)}'", "true or false", mend)
                return default

    def whole(self, key: str, default: int, least: int = 0, most: int = 1_000_000) -> int:
        """Return a whole number in ``least..most``."""
        match self.node(key):
            case None:
                return default
            case Scalar() as scalar if (value := as_int(typed(scalar))) is not None:
                if least <= value <= most:
                    return value
                self._out_of_range(scalar, key, f"{least} to {most}")
                return default
            case other:
                mend = _number_mend(other, f"a whole number from {least} to {most}")
                self._wrong(other, f"'{self.path(key)}'", "a whole number", mend)
                return default

    def number(self, key: str, least: float, most: float) -> float | None:
        """Return a number in ``least..most``, None when it was not written."""
        match self.node(key):
            case None:
                return None
            case Scalar() as scalar if (value := as_number(typed(scalar))) is not None:
                if least <= value <= most:
                    return float(value)
                self._out_of_range(scalar, key, f"{least:g} to {most:g}")
                return None
            case other:
                mend = _number_mend(other, f"a number from {least:g} to {most:g}")
                self._wrong(other, f"'{self.path(key)}'", "a number", mend)
                return None

    def seconds_ms(self, key: str, default_ms: int, most_ms: int = 86_400_000) -> int:
        """Return a duration in ms, 0..``most_ms``."""
        match self.node(key):
            case None:
                return default_ms
            case Scalar() as scalar if (value := duration_ms(typed(scalar))) is not None:
                if 0 <= value <= most_ms:
                    return round(value)
                self._out_of_range(scalar, key, f"0 to {most_ms / 1000:g} seconds")
                return default_ms
            case other:
                self._wrong(other, f"'{self.path(key)}'", "a duration", _DURATION_FORMS)
                return default_ms

    def choice(
        self,
        key: str,
        known: Collection[str],
        default: str,
        meant: MappingABC[str, str] | None = None,
    ) -> str:
        """Return one of ``known``; ``meant`` = what other words for them stand for."""
        entry = self.entry(key)
        text = self.text(key, default)
        if text in known:
            return text
        close = (meant or {}).get(text.lower()) or nearest(text, known)
        self.problem(
            entry.value.place if entry else self.place,
            "unknown_value",
            f"'{self.path(key)}' can't be {shown(entry.value if entry else None)}",
            f"did you mean '{close}'?" if close else f"write {listed(known)}",
        )
        return default

    def json(self, key: str) -> Json:
        """Return whatever was written."""
        node = self.node(key)
        if node is None:
            return None
        self.refuse_grouped(node)
        return as_json(node)

    # ---------------------------------------------------------------- the rest

    def rest(self) -> tuple[tuple[str, Json], ...]:
        """Return all keys not asked for so far, for readers that take options of others."""
        left = [entry for entry in self._entries if entry.key not in self._asked]
        self._asked.update(entry.key for entry in left)
        for entry in left:
            self.refuse_grouped(entry.value)
        return tuple((entry.key, as_json(entry.value)) for entry in left)

    def keys(self) -> tuple[Entry, ...]:
        """Return all entries, for mappings whose keys are the author's own names."""
        self._asked.update(entry.key for entry in self._entries)
        return self._entries

    def done(self, later: Collection[str] = ()) -> None:
        """Report the keys that nobody asked for; ``later`` are known but not supported yet."""
        known = self._asked | set(later)
        for entry in self._entries:
            path = self.path(entry.key)
            if entry.key in self._asked:
                continue
            if entry.key in later:
                self.problem(
                    entry.place,
                    "unsupported",
                    f"'{path}' is not supported yet in this version",
                    "take it away",
                )
                continue
            self.problem(
                entry.place, "unknown_key", f"unknown key '{path}'", _key_mend(entry.key, known)
            )

    def problem(self, place: Place, code: str, message: str, mend: str = "") -> None:
        """Note a problem of the caller's own; of what something else was written for, nothing is
        missing.
        """
        if self._is_other and code == "missing_key":
            return
        self._problems.add(place, code, message, mend)

    def path(self, key: str) -> str:
        """Return the key with the path that leads to it."""
        return f"{self._name}.{key}" if self._name else key

    def refuse_grouped(self, node: Node) -> None:
        """Note numbers like ``1_000`` where no type would refuse them."""
        match node:
            case Scalar() if is_grouped_number(node):
                mend = "write it without '_', or in quotes if it is a text"
                self.problem(
                    node.place, "ambiguous_number", f"{shown(node)} is not a number in YAML", mend
                )
            case Sequence(items=items):
                for item in items:
                    self.refuse_grouped(item)
            case Mapping(entries=entries):
                for entry in entries:
                    self.refuse_grouped(entry.value)
            case _:
                pass

    def _text(self, node: Node, path: str) -> str | None:
        match node:
            case Scalar(is_unset=True):
                return None
            case Scalar() if node.is_null or not node.text.strip():
                self.problem(
                    node.place,
                    "empty_text",
                    f"'{path}' is empty",
                    "write a text; one that begins with '#' must be in quotes",
                )
                return None
            case Scalar(text=text):
                return text.strip()
            case _:
                mend = "put the text in quotes if '{' or '[' is part of it"
                self._wrong(node, f"'{path}'", "a text", mend)
                return None

    def _wrong(self, node: Node, what: str, wanted: str, mend: str = "") -> None:
        self.problem(
            node.place, "wrong_type", f"{what} must be {wanted}, this is {shown(node)}", mend
        )

    def _out_of_range(self, scalar: Scalar, key: str, allowed: str) -> None:
        path = self.path(key)
        self.problem(
            scalar.place, "out_of_range", f"'{path}' can't be {shown(scalar)}", f"write {allowed}"
        )


def duration_ms(scalar: Scalar) -> float | None:
    """Return milliseconds of a plain number of seconds, or of a number with its unit; else None."""
    number = as_number(scalar)
    if number is not None:
        return number * 1000.0 if math.isfinite(number) else None
    match = _DURATION.fullmatch(scalar.text.strip())
    return float(match["n"]) * _UNIT_MS[match["unit"]] if match else None


def _number_mend(node: Node, wanted: str) -> str:
    if isinstance(node, Scalar) and is_grouped_number(node):
        return f"write {node.written.replace('_', '')}"
    if isinstance(node, Scalar) and not node.plain:
        if as_number(replace(node, plain=True)) is not None:
            return "write the number without quotes"
    return f"write {wanted}"


def _block_mend(node: Node, begin: str, shorthand: str) -> str:
    if shorthand and isinstance(node, Scalar) and _SIMPLE.fullmatch(node.written):
        return f"write '{begin}{{{shorthand}: {node.written}}}'"
    if not begin:
        return "begin each line with a key, as in 'key: value'"
    example = f", as in '{shorthand}: …'" if shorthand else ""
    if isinstance(node, Sequence):
        return f"write keys without '- ' before them{example}"
    if begin == "- ":
        return f"write keys after the '- '{example}"
    return f"write keys in the lines below it, further in{example}"


def _list_mend(node: Node, key: str) -> str:
    written = node.written if isinstance(node, Scalar) else ""
    if written.strip() and len(written) <= _SHOWN and "\n" not in written:
        return f"write '{key}:', and below it '- {written}'"
    return f"begin each entry below '{key}:' with '- '"


def shown(node: Node | None) -> str:
    """Return how messages show a value: as it was written, never with its variables filled in."""
    if not isinstance(node, Scalar) or node.is_null:
        return kind_of(node) if node is not None else "missing"
    written = " ".join(node.written.split())
    return f"'{written[:_SHOWN]}…'" if len(written) > _SHOWN else f"'{written}'"


def _key_mend(key: str, known: set[str]) -> str:
    if key == "<<":
        return "merge keys are not part of YAML 1.2: write the keys out"
    close = nearest(key, known)
    return f"did you mean '{close}'?" if close else f"known here: {listed(sorted(known))}"
