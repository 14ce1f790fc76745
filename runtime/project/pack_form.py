"""The form of a packed project: its manifest, its limits, and which names it may hold.

Pure; shared by writing (``pack``) and reading (``unpack``).
"""

import re
import unicodedata
from dataclasses import dataclass

__all__ = [
    "FORMAT",
    "INDEX",
    "MANIFEST",
    "MAX_ENTRIES",
    "MAX_TOTAL_BYTES",
    "PROJECT",
    "Manifest",
    "folded",
    "is_safe_name",
]

FORMAT = 1
MANIFEST = "bargein.json"
INDEX = "index.sqlite"
PROJECT = "project/"
"""Ahead of the name of each of the project's own files."""

MAX_ENTRIES = 5_000
MAX_TOTAL_BYTES = 200 << 20

_MAX_NAME = 1_000
_MAX_PART_BYTES = 255
_UNSAFE = re.compile('[\x00-\x1f\x7f-\x9f\\\\:*?"<>|\ud800-\udfff\u200e\u200f\u202a-\u202e]')


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is in the archive."""

    format: int
    bargein: str
    """Version that wrote it."""
    name: str
    """Name of the project's folder."""
    files: dict[str, str]
    """SHA-256 of each of the project's files, in hex."""
    index: str | None = None
    """SHA-256 of the index; None when there is none."""


def is_safe_name(name: str) -> bool:
    """Whether this is a visible file below a folder, on every system."""
    if not 0 < len(name) <= _MAX_NAME or _UNSAFE.search(name):
        return False
    return all(
        part
        and not part.startswith(".")
        and not part.endswith((".", " "))
        and len(part.encode("utf-8")) <= _MAX_PART_BYTES
        for part in name.split("/")
    )


def folded(name: str) -> str:
    """Equal for names that are one file on a system that knows no case."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
