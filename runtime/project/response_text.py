"""The text of a response: words and the memory values between them.

Owns the grammar: ``{session.<namespace>.<field>}`` or ``{field}`` is a value, ``{{`` and ``}}`` are
the braces themselves. Whether such a field exists is checked by ``response_checks``.
"""

import re
from dataclasses import replace

from runtime.errors import Place
from runtime.project.placed_conditions import first_character
from runtime.project.problems import Problems
from runtime.project.response_model import TextPart, ValuePart
from runtime.project.yaml_nodes import Scalar

__all__ = ["read_parts"]

_PIECE = re.compile(r"(?P<double>\{\{|\}\})|(?P<value>\{[^{}]*\})|(?P<stray>[{}])")
_NAME = re.compile(r"[^\W\d]\w*")
_FORMS = "write {field} or {session.<skill>.<field>}; a brace itself is written twice"
_SHORT_LINE = 100
"""A text without a line break that is longer may stand in several lines of the file."""


def read_parts(node: Scalar, problems: Problems) -> tuple[TextPart, ...]:
    """Split a text; a value that is not well formed is a problem and stays words."""
    text = node.text.strip()
    # Columns can be told where the text stands in the file as it is here.
    is_literal = node.written == node.text and "\n" not in text and len(text) <= _SHORT_LINE
    begin = first_character(node)
    parts: list[TextPart] = []
    words = ""
    at = 0
    for piece in _PIECE.finditer(text):
        words += text[at : piece.start()]
        at = piece.end()
        place = replace(begin, column=begin.column + piece.start()) if is_literal else node.place
        written = piece.group()
        if piece["double"] is not None:
            words += written[0]
            continue
        value = _value(written, place) if piece["value"] is not None else None
        if value is None:
            problems.add(
                place, "bad_placeholder", f"'{_shown(written)}' is no memory value", _mend(written)
            )
            words += written
            continue
        if words:
            parts.append(words)
        words = ""
        parts.append(value)
    words += text[at:]
    return (*parts, words) if words else tuple(parts)


def _value(written: str, place: Place) -> ValuePart | None:
    names = written[1:-1].split(".")
    if not all(_NAME.fullmatch(name) for name in names):
        return None
    match names:
        case [name]:
            return ValuePart("", name, place)
        case ["session", namespace, name]:
            return ValuePart(namespace, name, place)
        case _:
            return None


def _mend(written: str) -> str:
    """Guess what was meant: blanks inside, or ``session.`` left out."""
    inner = written.strip("{} ")
    if len(written) < 2 or not inner:
        return _FORMS
    if inner.count(".") == 1 and not inner.startswith("session."):
        inner = f"session.{inner}"
    fixed = f"{{{inner}}}"
    return f"write {fixed}" if _value(fixed, Place("")) and fixed != written else _FORMS


def _shown(written: str) -> str:
    return written if len(written) <= 40 else f"{written[:40]}…"
