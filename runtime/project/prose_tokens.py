"""Splits a text of a ``skill.md`` into words and tokens: ``@tool.<name>`` and its like.

Owns what a token looks like and the messages about malformed ones. ``@@tool.<name>`` is the literal
``@tool.<name>``, and the ``@`` of an address (``a@block.example``) begins no token. That a token's
target exists is checked later, by ``check_tokens``, since it takes the whole project.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from runtime.errors import Place
from runtime.project.problems import Problems, nearest
from runtime.project.skill_model import (
    BlockToken,
    MemoryToken,
    ProsePart,
    SkillToken,
    ToolToken,
)
from runtime.project.skill_scope import Scope

__all__ = ["Finder", "Locate", "ProseText", "check_tokens", "read_prose_text"]

Token: TypeAlias = BlockToken | SkillToken | ToolToken | MemoryToken
Locate: TypeAlias = Callable[[int, str], Place]
"""From an offset in a text, and what stands there, to its place in the file."""

_FORMS = {
    "block": "@block.<id>",
    "skill": "@skill.<id>",
    "tool": "@tool.<name>",
    "memory": "@memory.<skill>.<field> or @memory.project.<field>",
}
_TOKEN = re.compile(r"(?<![\w@.])(@@?)([A-Za-z]+)\b(?:\.([\w.]*\w))?")
_BARE_SESSION = re.compile(r"(?<![\w@./-])session\.\w[\w.]*")


@dataclass(frozen=True, slots=True)
class ProseText:
    """A text split into parts, and where its tokens stand."""

    parts: tuple[ProsePart, ...]
    tokens: tuple[tuple[Token, Place], ...]


def read_prose_text(text: str, locate: Locate, problems: Problems) -> ProseText:
    """Split a text; malformed tokens are problems and stay text."""
    for session in _BARE_SESSION.finditer(text):
        problems.add(
            locate(session.start(), session[0]),
            "bad_token",
            "'session.…' means nothing in prose",
            "write @memory.<skill>.<field> for the value, or name the field in words",
        )
    parts: list[ProsePart] = []
    tokens: list[tuple[Token, Place]] = []
    at = 0
    for match in _TOKEN.finditer(text):
        kind, target = match[2], match[3] or ""
        if kind not in _FORMS and not (target and _meant(kind)):
            continue
        parts.append(text[at : match.start()])
        at = match.end()
        if match[1] == "@@":
            parts.append(match[0][1:])
            continue
        place = locate(match.start(), match[0])
        token = _token(kind, target, match[0], place, problems)
        if token is not None:
            tokens.append((token, place))
        parts.append(match[0] if token is None else token)
    parts.append(text[at:])
    return ProseText(_joined(parts), tuple(tokens))


def _meant(kind: str) -> str | None:
    """``tools``, ``Tool`` and ``tol`` are slips for ``tool``; ``session`` is for conditions."""
    word = kind.lower().removesuffix("s")
    if word in _FORMS:
        return word
    close = nearest(kind.lower(), (*_FORMS, "session"))
    return "memory" if close == "session" else close


def _token(kind: str, target: str, written: str, place: Place, problems: Problems) -> Token | None:
    if kind not in _FORMS:
        meant = _FORMS[_meant(kind) or "tool"]
        mend = f"write {meant}; '@{written}' for these words themselves"
        problems.add(place, "bad_token", f"'{written}' is no token", mend)
        return None
    names = target.split(".") if target else []
    if len(names) != (2 if kind == "memory" else 1) or not all(names):
        what = "is not complete" if len(names) < 2 else "has the wrong number of names"
        problems.add(place, "bad_token", f"'{written}' {what}", f"write {_FORMS[kind]}")
        return None
    match kind:
        case "block":
            return BlockToken(names[0])
        case "skill":
            return SkillToken(names[0])
        case "tool":
            return ToolToken(names[0])
        case _:
            return MemoryToken(names[0], names[1])


def _joined(parts: list[ProsePart]) -> tuple[ProsePart, ...]:
    joined: list[ProsePart] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part != "":
            joined.append(part)
    return tuple(joined)


class Finder:
    """Finds pieces of a YAML text, one after the other, in the lines it was written in."""

    def __init__(self, lines: Sequence[str], first_line: int, start: Place) -> None:
        """Look in ``lines``, which begin at ``first_line`` of the file, from ``start`` on."""
        self._lines = lines
        self._first_line = first_line
        self._start = start
        self._line = max(0, start.line - first_line)
        self._column = max(0, start.column - 1)

    def __call__(self, _: int, written: str) -> Place:
        """The next place of ``written``; where the text begins when it is nowhere below."""
        line, column = self._line, self._column
        while line < len(self._lines):
            found = self._lines[line].find(written, column)
            if found >= 0:
                self._line, self._column = line, found + len(written)
                return Place(self._start.file, line + self._first_line, found + 1)
            line, column = line + 1, 0
        return self._start


def check_tokens(text: ProseText, scope: Scope) -> None:
    """Each target must exist."""
    for token, place in text.tokens:
        match token:
            case BlockToken(block):
                scope.block(block, place)
            case SkillToken(skill):
                scope.other_skill(skill, place)
            case ToolToken(tool):
                scope.tool(tool, place)
            case MemoryToken(namespace, name):
                scope.sayable(namespace, name, place)
