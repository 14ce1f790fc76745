"""Collects everything that is wrong in a project, each with its place and the line as written.

Owns the growing list and the excerpts; what a problem is belongs to ``runtime.errors``. A line
that may hold a secret is never shown.
"""

import difflib
import re
import unicodedata
from collections.abc import Iterable, Sequence

from runtime.errors import Place, Problem

SECRET_KEYS = frozenset({"api_key", "token", "client_secret", "password", "auth_token"})
"""Keys whose values must come from the environment."""

_SECRET_LINE = re.compile("api.?key|token|secret|password|authori", re.IGNORECASE)
_MAX_EXCERPT = 160
_LONG_VALUE = 8


class Problems:
    """The problems of one project, in the order they were found."""

    def __init__(self) -> None:
        """Start with none."""
        self.found: list[Problem] = []
        self._lines: dict[str, Sequence[str]] = {}
        self._values: dict[str, str] = {}
        """What variables were filled with → as it is written, ``${NAME}``."""
        self._filled: dict[str, set[tuple[int, str]]] = {}
        """By file, the lines that hold a variable, and with what it was filled."""

    def know_lines(self, file: str, lines: Sequence[str]) -> None:
        """Remember a file's lines, so that later problems in it can show theirs."""
        self._lines[file] = lines

    def know_value(self, place: Place, name: str, value: str) -> None:
        """Remember what a variable was filled with at a place, so that no message shows it."""
        for form in (value, unicodedata.normalize("NFC", value).strip()):
            if form.strip():
                self._values.setdefault(form, f"${{{name}}}")
                self._filled.setdefault(place.file, set()).add((place.line, form))

    def add(self, place: Place, code: str, message: str, mend: str = "") -> None:
        """Note one problem; the excerpt is made here."""
        if self._values:
            message, mend = self._as_written(place, message), self._as_written(place, mend)
        self.found.append(Problem(place, code, message, mend, self._excerpt(place)))

    def _as_written(self, place: Place, words: str) -> str:
        """Put ``${NAME}`` in the place of what stands in the environment."""
        here = {
            value
            for line, value in self._filled.get(place.file, ())
            if not place.line or line == place.line
        }
        for value in sorted(self._values, key=len, reverse=True):
            is_word = value.isidentifier()
            if value in here and not is_word and len(value) > 2:
                words = words.replace(value, self._values[value])
            elif value in here:
                # An everyday word may as well be one of the message's own.
                words = words.replace(f"'{value}'", f"'{self._values[value]}'")
            elif not is_word and len(value) >= _LONG_VALUE:
                words = words.replace(value, self._values[value])
        return words

    def _excerpt(self, place: Place) -> str:
        lines = self._lines.get(place.file, ())
        if not 0 < place.line <= len(lines):
            return ""
        line = lines[place.line - 1]
        if len(line) > _MAX_EXCERPT or _SECRET_LINE.search(line):
            return ""
        # Tabs keep their width, so that the caret stands under the character it means.
        lead = "".join("\t" if c == "\t" else " " for c in line[: max(0, place.column - 1)])
        return f"    {line}\n    {lead}^"


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the known word that an author most likely meant, if any is close.

    ``cutoff`` is how much of them must be the same, 0..1.
    """
    close = difflib.get_close_matches(word, sorted(known), n=1, cutoff=cutoff)
    return close[0] if close else None


def listed(words: Iterable[str]) -> str:
    """Write words as ``'a', 'b' or 'c'``."""
    quoted = [f"'{word}'" for word in words]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}"
