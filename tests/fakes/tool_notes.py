"""What the tools of projects written in tests did, where the tests can read it.

The files of a written project are modules of their own: this is the place both sides know. Owns one
list; ``clear`` it before a test.
"""

from dataclasses import dataclass

__all__ = ["Note", "clear", "note", "notes", "of"]


@dataclass(frozen=True, slots=True)
class Note:
    """One thing a tool did."""

    what: str
    value: object = None


notes: list[Note] = []


def note(what: str, value: object = None) -> None:
    """Write something down."""
    notes.append(Note(what, value))


def of(what: str) -> list[object]:
    """The values of all notes of one name."""
    return [each.value for each in notes if each.what == what]


def clear() -> None:
    """Forget everything."""
    notes.clear()
