"""Keeps one mistake from causing others: what failed earlier is not complained about later.

Owns which problems make a file unusable, and the dropping of problems that only follow from those.
"""

from collections.abc import Collection, Generator
from contextlib import contextmanager

from runtime.project.problems import Problems

__all__ = ["Failing"]

_FATAL = frozenset(
    {
        "alias_expansion",
        "control_character",
        "encoding",
        "file_too_large",
        "frontmatter",
        "too_deep",
        "unreadable",
    }
)
"""A file with one of these, or any ``yaml_…``, was not read to its end."""
_UNREAD = "unreadable"


class Failing:
    """Which files of a project could not be read."""

    def __init__(self, problems: Problems) -> None:
        """Start with none."""
        self._problems = problems
        self._files: set[str] = set()

    def __contains__(self, file: str) -> bool:
        """Whether the file failed."""
        return file in self._files

    def any_of(self, files: Collection[str]) -> bool:
        """Whether one of the files failed."""
        return bool(self._files & set(files))

    @contextmanager
    def reading(self, file: str) -> Generator[None]:
        """Around the reading of one file: keys of a file that can't be read are not missing."""
        before = len(self._problems.found)
        yield
        new = self._problems.found[before:]
        fatal = {p.code for p in new if p.place.file == file and _is_fatal(p.code)}
        if not fatal:
            return
        self._files.add(file)
        self._problems.found[before:] = [
            p
            for p in new
            if p.code != "missing_key"
            # Nothing was read: all else that is said of the file comes from that.
            and (p.code == _UNREAD or p.place.file != file or _UNREAD not in fatal)
        ]

    @contextmanager
    def without(self, codes: Collection[str]) -> Generator[None]:
        """Around a check: drop problems of these codes, since what they miss is not known."""
        before = len(self._problems.found)
        yield
        new = self._problems.found[before:]
        self._problems.found[before:] = [p for p in new if p.code not in codes]


def _is_fatal(code: str) -> bool:
    return code in _FATAL or code.startswith("yaml_")
