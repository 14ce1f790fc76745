"""Reads how an answer is taken: ``expect`` and ``dtmf`` of a ``collect`` step.

Owns their keys, and what kind of answer follows from a field's type when the author says nothing.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from runtime.agent import Expect, ExpectKind, KeyRule
from runtime.project.fields import Fields
from runtime.project.model import MemoryField
from runtime.project.problems import listed
from runtime.project.skill_scope import Scope
from runtime.project.yaml_nodes import Mapping as MappingNode
from runtime.project.yaml_nodes import Node

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
_BELONGS: Mapping[str, tuple[ExpectKind, ...]] = {
    "length": ("digits", "spelled"),
    "choices": ("choice",),
}
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
        written = Expect(kind)
    else:
        section = fields.section("expect")
        kind = cast(ExpectKind, section.choice("kind", _KINDS, "open"))
        if section.entry("kind") is None:
            section.required_text("kind")
        length = section.whole("length", 0, least=1, most=_MOST)
        written = Expect(kind, length or None, section.texts("choices"))
        section.done()
        _check_keys(section, kind)
    completed = _completed(written, derived)
    if field is not None:
        _check_fit(fields, node, completed, field)
    return completed


def _check_keys(section: Fields, kind: ExpectKind) -> None:
    """A length belongs to characters, choices to a choice."""
    for key, kinds in _BELONGS.items():
        entry = section.entry(key)
        if entry is not None and kind not in kinds and section.has("kind"):
            section.problem(
                entry.place,
                "no_effect",
                f"'{section.path(key)}' does nothing for the kind '{kind}'",
                f"take it away, or write 'kind: {kinds[0]}'",
            )


def _check_fit(fields: Fields, node: Node, expect: Expect, field: MemoryField) -> None:
    """What is expected must be something that the field can hold."""
    kinds = _fitting(field)
    name = f"{field.namespace}.{field.name}"
    if expect.kind not in kinds:
        fields.problem(
            node.place,
            "wrong_type",
            f"'{name}' is of the type {field.type}, and can't hold an answer of the kind "
            f"'{expect.kind}'",
            f"write {listed(kinds)}, or change the field's type",
        )
    elif field.enum_values and not set(expect.choices) <= set(field.enum_values):
        others = [choice for choice in expect.choices if choice not in field.enum_values]
        fields.problem(
            node.place,
            "unknown_value",
            f"'{name}' does not take {listed(others)}",
            f"write {listed(field.enum_values)}",
        )
    elif expect.kind == "choice" and not (
        expect.choices or fields.has("utterance") or fields.has("description")
    ):
        fields.problem(
            node.place,
            "missing_key",
            "nothing says what there is to choose from",
            "add 'expect: {kind: choice, choices: […]}', or an 'utterance' with buttons",
        )


def _fitting(field: MemoryField) -> tuple[ExpectKind, ...]:
    match field.type:
        case "bool":
            return ("yes_no", "choice", "open")
        case "int" | "float":
            return ("digits", "spelled", "choice", "open")
        case "list":
            return tuple(kind for kind in _KINDS if kind != "yes_no")
        case _:
            return _KINDS


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
