"""Reads ``responses.yml`` of the project, of a skill and the packaged one: lines said as written.

Owns the keys of a variant. The text itself is ``response_text``; names of memory fields are checked
by ``response_checks`` once all memory is known.
"""

import re
from collections.abc import Mapping

from runtime.errors import Place
from runtime.project.conditions import parse_reference
from runtime.project.fields import Fields
from runtime.project.placed_conditions import NEVER, read_condition
from runtime.project.problems import Problems
from runtime.project.response_model import (
    ButtonSource,
    Response,
    StaticButton,
    TextPart,
    Variant,
)
from runtime.project.response_text import read_parts
from runtime.project.yaml_nodes import Entry, Node, Scalar, Sequence
from runtime.project.yaml_nodes import Mapping as MappingNode
from runtime.project.yaml_source import read_yaml

__all__ = ["WRITES", "read_responses", "written_target"]

WRITES = "set:"
"""What the payload of a button begins with that writes to memory."""

_KEYS = frozenset({"text", "condition", "buttons", "metadata", "interruptible"})
_NAME = re.compile(r"[^\W\d][\w/.-]{0,99}")


def read_responses(
    data: bytes, file: str, env: Mapping[str, str], problems: Problems
) -> dict[str, Response]:
    """Read the file, by name; what is wrong goes into ``problems`` and is left out."""
    top = Fields(read_yaml(data, file, problems, env), problems, "", Place(file))
    found: dict[str, Response] = {}
    for entry in top.section("responses").keys():
        if not _NAME.fullmatch(entry.key):
            problems.add(
                entry.place,
                "bad_name",
                "a response's name is made of letters, digits, '_', '-', '.' and '/'",
                "rename it",
            )
        variants = _variants(entry, problems)
        if variants:
            found[entry.key] = Response(name=entry.key, variants=variants, place=entry.place)
    top.done()
    return found


def written_target(payload: str) -> tuple[str, str, str] | None:
    """(namespace, field, value) of ``set:session.<namespace>.<field>=<value>``, else None."""
    if not payload.startswith(WRITES):
        return None
    target, is_write, value = payload.removeprefix(WRITES).partition("=")
    reference = parse_reference(target)
    if not is_write or reference is None or target != target.strip() or not value:
        return None
    return (*reference, value)


# ------------------------------------------------------------------ variants


def _variants(entry: Entry, problems: Problems) -> tuple[Variant, ...]:
    nodes = entry.value.items if isinstance(entry.value, Sequence) else (entry.value,)
    if not nodes:
        problems.add(
            entry.place,
            "missing_key",
            f"the response '{entry.key}' has no variant",
            "add a text, or take the name away",
        )
    found = [v for node in nodes if (v := _variant(node, entry, problems)) is not None]
    _check_defaults(entry.key, found, problems)
    return tuple(found)


def _check_defaults(name: str, variants: list[Variant], problems: Problems) -> None:
    defaults = [variant for variant in variants if variant.condition is None]
    for extra in defaults[1:]:
        problems.add(
            extra.place,
            "second_default",
            f"'{name}' has two variants without a condition; first at {defaults[0].place}",
            "give it a condition, or take it away: only the first would ever be said",
        )


def _variant(node: Node, entry: Entry, problems: Problems) -> Variant | None:
    if not isinstance(node, MappingNode):
        holder = Fields(_holder(node, entry), problems, "", node.place)
        parts = _text(node, holder, entry.key, problems)
        return Variant(parts=parts, place=node.place) if parts else None
    if _is_bare_value(node):
        problems.add(
            node.place,
            "wrong_type",
            f"'{entry.key}' begins with a brace, which is no text in YAML",
            "put the text in quotes",
        )
        return None
    fields = Fields(node, problems, entry.key, node.place)
    written = fields.entry("condition")
    placed = read_condition(written.value, problems) if written is not None else None
    metadata = fields.section("metadata")
    rephrase = metadata.flag("rephrase", False)  # what else is there is the channel's, or nobody's
    parts = _text(fields.node("text"), fields, "text", problems)
    variant = Variant(
        parts=parts,
        # One that is not right never holds; it must not turn into a default.
        condition=placed.condition if placed else None if written is None else NEVER,
        condition_place=placed.place if placed else node.place,
        buttons=_buttons(fields, problems),
        rephrase=rephrase,
        interruptible=fields.flag("interruptible", True),
        place=node.place,
    )
    fields.done()
    return variant if parts else None


def _is_bare_value(node: MappingNode) -> bool:
    """Whether it is ``{field}``, meant as a text and read as a block of one empty key."""
    if len(node.entries) != 1 or node.entries[0].key in _KEYS:
        return False
    value = node.entries[0].value
    return isinstance(value, Scalar) and value.is_null


def _holder(node: Node, entry: Entry) -> MappingNode:
    """A bare text is read through the same door, so that it gets the same messages."""
    return MappingNode(node.place, (Entry(node.place, entry.key, node),))


def _text(node: Node | None, fields: Fields, key: str, problems: Problems) -> tuple[TextPart, ...]:
    text = fields.required_text(key)
    return read_parts(node, problems) if text and isinstance(node, Scalar) else ()


# ------------------------------------------------------------------ buttons


def _buttons(fields: Fields, problems: Problems) -> tuple[StaticButton, ...] | ButtonSource:
    node = fields.node("buttons")
    if isinstance(node, MappingNode):
        inner = fields.section("buttons")
        entry = inner.entry("source")
        tool = inner.required_text("source")
        inner.done()
        return ButtonSource(tool, entry.value.place if entry else node.place) if tool else ()
    found: list[StaticButton] = []
    for item in fields.items("buttons"):
        button = _button(
            Fields(item, problems, fields.path("buttons"), item.place, "title", is_item=True)
        )
        if button is None:
            continue
        if any(button.title.casefold() == other.title.casefold() for other in found):
            problems.add(
                button.place,
                "duplicate_value",
                f"the button '{button.title}' is written twice",
                "give it another title: a caller answers with it",
            )
        found.append(button)
    return tuple(found)


def _button(fields: Fields) -> StaticButton | None:
    title = fields.required_text("title")
    entry = fields.entry("payload")
    payload = fields.text("payload", title)
    fields.done()
    place = entry.value.place if entry else fields.place
    if payload.startswith(WRITES) and written_target(payload) is None:
        fields.problem(
            place,
            "bad_payload",
            f"a payload that begins with '{WRITES}' writes one memory field",
            "write set:session.<skill>.<field>=<value>",
        )
        return None
    return StaticButton(title, payload, place) if title else None
