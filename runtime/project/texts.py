"""The author's files as they stand on disk, read once each.

Owns reading from disk with its limit and its problems. What the text means is each file's reader's.
"""

from pathlib import Path

from runtime.errors import Place
from runtime.project.problems import Problems
from runtime.project.yaml_source import MAX_BYTES

__all__ = ["Texts"]


class Texts:
    """Files below one root."""

    def __init__(self, root: Path, problems: Problems) -> None:
        """Start with none read."""
        self._root = root
        self._problems = problems
        self._data: dict[str, bytes] = {}

    def read(self, name: str) -> bytes:
        """Read one file; an unreadable one is a problem and empty."""
        known = self._data.get(name)
        if known is not None:
            return known
        # One byte over the limit is enough for the reader to refuse it.
        try:
            with (self._root / name).open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except OSError as error:
            self._problems.add(
                Place(name),
                "unreadable",
                f"the file can't be read: {error.strerror}",
                "let the user who runs this read it",
            )
            data = b""
        self._data[name] = data
        return data
