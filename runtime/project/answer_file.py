"""Reads how an answer is taken: ``expect`` and ``dtmf`` of a ``collect`` step.

Owns their keys, and what kind of answer follows from a field's type when the author says nothing.
"""

from dataclasses import replace
from typing import cast

from runtime.agent import Expect, ExpectKind, KeyRule
from runtime.project.fields import Fields
from runtime.project.model import MemoryField
from runtime.project.skill_scope import Scope
from runtime.project.yaml_nodes import Mapping as MappingNode

__all__ = ["read_expect", "read_keys"]

_KINDS: tuple[ExpectKind, ...] = (
    "open",
    "yes_no",
    "choice",
    "digits",
    "spelled",
    "email",
    "date",
)
_KEYS = frozenset("0123456789*#")
_MOST = 64


def read_keys(fields: Fields, scope: Scope) -> KeyRule | None:
    """How keypad digits are collected; None = they are not, or after a problem."""
    entry = fields.entry("dtmf")
    if entry is None:
        return None
    if not isinstance(entry.value, MappingNode):
        scope.refuse(
            entry.value.place,
            "bad_dtmf",
            "'dtmf' must say when the keys are complete",
            "write 'dtmf: {length: 6}' or 'dtmf: {finish_on_key: \"#\"}'",
        )
        return None
    dtmf = fields.section("dtmf")
    by_length, by_key = dtmf.entry("length"), dtmf.entry("finish_on_key")
    length = dtmf.whole("length", 0, least=1, most=_MOST)
    finish = dtmf.text("finish_on_key")
    speech_too = dtmf.flag("allow_audio_input", True)
    dtmf.done()
    if (by_length is None) == (by_key is None):
        scope.refuse(
            dtmf.place,
            "bad_dtmf",
            "'dtmf' has exactly one of 'length' and 'finish_on_key'",
            "keep one of them" if by_key else "add one of them",
        )
        return None
    if finish is not None and finish not in _KEYS and by_key is not None:
        scope.refuse(
            by_key.value.place,
            "bad_dtmf",
            f"'{fields.path('dtmf.finish_on_key')}' must be one key of a telephone",
            "write '#', '*' or a digit, in quotes",
        )
        return None
    if not length and finish is None:
        return None
    return KeyRule(length=length or None, finish=finish, speech_too=speech_too)


def read_expect(fields: Fields, field: MemoryField | None, keys: KeyRule | None) -> Expect | None:
    """What kind of answer is waited for: as written, completed by what the field and the keys say.

    None when nothing is known of the field, and nothing was written.
    """
    derived = _derived(field, keys)
    node = fields.node("expect")
    if node is None:
        fields.text("expect")  # an empty one is a problem
        return derived
    if not isinstance(node, MappingNode):
        kind = cast(ExpectKind, fields.choice("expect", _KINDS, "open"))
        return _completed(Expect(kind), derived)
    section = fields.section("expect")
    kind = cast(ExpectKind, section.choice("kind", _KINDS, "open"))
    if section.entry("kind") is None:
        section.required_text("kind")
    length = section.whole("length", 0, least=1, most=_MOST)
    choices = section.texts("choices")
    section.done()
    return _completed(Expect(kind, length or None, choices), derived)


def _derived(field: MemoryField | None, keys: KeyRule | None) -> Expect | None:
    if field is None:
        return None
    match field.type:
        case "bool":
            return Expect("yes_no")
        case "categorical":
            return Expect("choice", choices=field.enum_values)
        case _ if keys is not None:
            return Expect("digits", keys.length)
        case _:
            return Expect()


def _completed(written: Expect, derived: Expect | None) -> Expect:
    if derived is None or derived.kind != written.kind:
        return written
    return replace(
        written,
        length=written.length or derived.length,
        choices=written.choices or derived.choices,
    )
