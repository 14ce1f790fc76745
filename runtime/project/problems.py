"""Collects everything that is wrong in a project, each with its place and the line as written.

Owns the growing list and the excerpts; what a problem is belongs to ``runtime.errors``. A line
that may hold a secret is never shown.
"""

import difflib
import re
from collections.abc import Iterable, Sequence

from runtime.errors import Place, Problem

SECRET_KEYS = frozenset({"api_key", "token", "client_secret", "password", "auth_token"})
"""Keys whose values must come from the environment."""

_SECRET_LINE = re.compile("api.?key|token|secret|password|authori", re.IGNORECASE)
_MAX_EXCERPT = 160


class Problems:
    """The problems of one project, in the order they were found."""

    def __init__(self) -> None:
        """Start with none."""
        self.found: list[Problem] = []
        self._lines: dict[str, Sequence[str]] = {}

    def know_lines(self, file: str, lines: Sequence[str]) -> None:
        """Remember a file's lines, so that later problems in it can show theirs."""
        self._lines[file] = lines

    def add(self, place: Place, code: str, message: str, mend: str = "") -> None:
        """Note one problem; the excerpt is made here."""
        self.found.append(Problem(place, code, message, mend, self._excerpt(place)))

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


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that an author most likely meant, if any is close."""
    close = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.6)
    return close[0] if close else None


def listed(words: Iterable[str]) -> str:
    """Write words as ``'a', 'b' or 'c'``."""
    quoted = [f"'{word}'" for word in words]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}"
