"""Texts with ``{placeholders}`` for the rules model.

Owns parsing and filling; where the values come from is ``rules_model``'s.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from runtime.agent import Json

_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_NAME = re.compile(r"[^\W\d]\w*(\.\w+)*")


@dataclass(frozen=True, slots=True)
class Template:
    """A text in pieces: literals at even places, placeholder names at odd ones."""

    pieces: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The placeholders, in order."""
        return self.pieces[1::2]

    @property
    def literal_start(self) -> str:
        """The text before the first placeholder."""
        return self.pieces[0]

    def fill(self, lookup: Callable[[str], Json]) -> str | None:
        """Return the text, ``None`` when a placeholder has no value."""
        filled: list[str] = []
        for index, piece in enumerate(self.pieces):
            if index % 2 == 0:
                filled.append(piece)
                continue
            value = spoken(lookup(piece))
            if value is None:
                return None
            filled.append(value)
        return "".join(filled)


def parse_template(text: str) -> Template | str:
    """Parse a text, or return what is wrong with it."""
    pieces = [""]
    at = 0
    for match in _PIECE.finditer(text):
        pieces[-1] += text[at : match.start()]
        at = match.end()
        if match.group() in ("{{", "}}"):
            pieces[-1] += match.group()[0]
            continue
        name = match.group(1)
        if name is None:
            return f"a lone '{match.group()}'"
        if not _NAME.fullmatch(name):
            return "a placeholder without a proper name"
        pieces += [name, ""]
    pieces[-1] += text[at:]
    return Template(tuple(pieces))


def spoken(value: Json) -> str | None:
    """Write a value as it goes into a sentence; ``None`` when there is none."""
    match value:
        case None | dict():
            return None
        case bool():
            return "yes" if value else "no"
        case float() if value.is_integer():
            return str(int(value))
        case list():
            parts = [part for part in map(spoken, value) if part is not None]
            return ", ".join(parts) if parts else None
        case _:
            return str(value)


def dig(value: Json, path: str) -> Json:
    """Follow a dotted path into a result; ``None`` when it leads nowhere."""
    for step in path.split("."):
        match value:
            case dict():
                value = value.get(step)
            case list() if step.isdecimal() and int(step) < len(value):
                value = value[int(step)]
            case _:
                return None
    return value
