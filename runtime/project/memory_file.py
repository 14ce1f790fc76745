"""Reads ``memory.yml`` of the project and of a skill: what may be remembered, and as what.

Owns the attributes of a field and the check of its initial value. What may be read and written
when is the tool context's.
"""

import unicodedata
from collections.abc import Mapping
from typing import cast

from runtime.agent import Json
from runtime.errors import Place
from runtime.project.fields import Fields
from runtime.project.model import PROJECT_NAMESPACE, Dialect, FieldType, MemoryField
from runtime.project.problems import Problems
from runtime.project.yaml_nodes import (
    Entry,
    Node,
    Scalar,
    Sequence,
    as_bool,
    as_int,
    as_json,
    as_number,
)
from runtime.project.yaml_source import read_yaml

__all__ = ["read_project_memory", "read_skill_memory", "typed_value"]

_TYPES = ("text", "bool", "int", "float", "list", "categorical", "json", "any")
_OTHER_WORDS = {
    "enum": "categorical",
    "string": "text",
    "str": "text",
    "integer": "int",
    "boolean": "bool",
    "number": "float",
    "double": "float",
    "array": "list",
    "object": "json",
    "dict": "json",
}
"""How types are called elsewhere."""
_RESERVED = frozenset({"system", "session"})
_MASK = "mask"
_LATER_ANONYMIZATION = ("redact", "hash")
_MAX_NAME = 100


def read_project_memory(
    data: bytes,
    file: str,
    env: Mapping[str, str],
    problems: Problems,
    dialect: Dialect = "mantle",
) -> tuple[MemoryField, ...]:
    """Read the project's flat map of fields; only a Maestro project's may be ``llm_settable``."""
    top = Fields(read_yaml(data, file, problems, env), problems, "", Place(file))
    return tuple(
        _field(entry, PROJECT_NAMESPACE, problems, dialect=dialect) for entry in top.keys()
    )


def read_skill_memory(
    data: bytes, file: str, skill_id: str, env: Mapping[str, str], problems: Problems
) -> tuple[MemoryField, ...]:
    """Read a skill's ``schema: {public, private}``."""
    top = Fields(read_yaml(data, file, problems, env), problems, "", Place(file))
    schema = top.section("schema")
    public, private = schema.section("public").keys(), schema.section("private").keys()
    schema.done()
    top.done()
    first = {entry.key: entry.place for entry in public}
    for entry in private:
        if entry.key in first:
            problems.add(
                entry.place,
                "duplicate_key",
                f"the field '{entry.key}' is public and private; first at {first[entry.key]}",
                "keep one of them",
            )
    return (
        *(_field(entry, skill_id, problems) for entry in public),
        *(_field(entry, skill_id, problems, private=True) for entry in private),
    )


def _field(
    entry: Entry,
    namespace: str,
    problems: Problems,
    *,
    private: bool = False,
    dialect: Dialect = "mantle",
) -> MemoryField:
    _check_name(entry, problems)
    fields = Fields(entry.value, problems, entry.key, entry.place, "type")
    kind = cast(FieldType, fields.choice("type", _TYPES, "any", _OTHER_WORDS))
    enum_values = fields.texts("enum_values")
    _check_enum(kind, enum_values, fields, problems)
    initial = fields.node("initial_value")
    pii = fields.flag("pii", False)
    read = MemoryField(
        namespace=namespace,
        name=entry.key,
        type=kind,
        enum_values=enum_values,
        description=fields.text("description"),
        llm_settable=_llm_settable(fields, namespace, dialect),
        initial_value=None if initial is None else _value(initial, kind, enum_values, fields),
        pii=pii,
        anonymization=_anonymization(fields, pii=pii),
        seed=_seed(fields, namespace),
        immutable=fields.flag("immutable", False),
        private=private,
        place=entry.place,
    )
    fields.done()
    return read


# ------------------------------------------------------------------ names


def _check_name(entry: Entry, problems: Problems) -> None:
    name = entry.key
    if name in _RESERVED:
        problems.add(entry.place, "reserved_name", f"'{name}' is a reserved name", "rename it")
    elif not name.isidentifier() or len(name) > _MAX_NAME or _has_marks(name):
        problems.add(
            entry.place,
            "bad_name",
            "a field's name is made of letters, digits and '_', and does not begin with a digit",
            f"rename it; at most {_MAX_NAME} characters",
        )


def _has_marks(name: str) -> bool:
    return any(unicodedata.category(c) in ("Cf", "Cc") for c in name)


# ------------------------------------------------------------------ attributes


def _llm_settable(fields: Fields, namespace: str, dialect: Dialect) -> bool:
    entry = fields.entry("llm_settable")
    wanted = fields.flag("llm_settable", False)
    if wanted and entry is not None and namespace == PROJECT_NAMESPACE and dialect == "mantle":
        fields.problem(
            entry.place,
            "not_settable",
            "the model never sets project memory",
            "declare the field in the skill's memory.yml, or let a tool set it",
        )
        return False
    return wanted


def _seed(fields: Fields, namespace: str) -> bool:
    entry = fields.entry("seed")
    wanted = fields.flag("seed", False)
    if wanted and entry is not None and namespace != PROJECT_NAMESPACE:
        fields.problem(
            entry.place,
            "misplaced_key",
            f"'{fields.path('seed')}': what the channel knows is copied to project memory only",
            "declare the field in the project's memory.yml",
        )
        return False
    return wanted


def _anonymization(fields: Fields, *, pii: bool) -> str:
    entry = fields.entry("anonymization")
    if entry is None:
        return _MASK
    if fields.text("anonymization") in _LATER_ANONYMIZATION:
        fields.problem(
            entry.value.place,
            "unsupported",
            f"'{fields.path('anonymization')}' can only be '{_MASK}' in this version",
            f"write '{_MASK}', or take it away",
        )
        return _MASK
    how = fields.choice("anonymization", (_MASK,), _MASK)
    if not pii and fields.entry("pii") is None:
        fields.problem(
            entry.place,
            "no_effect",
            f"'{fields.path('anonymization')}' does nothing without 'pii: true'",
            "add 'pii: true', or take it away",
        )
    return how


def _check_enum(
    kind: FieldType, values: tuple[str, ...], fields: Fields, problems: Problems
) -> None:
    entry = fields.entry("enum_values")
    place = entry.place if entry else fields.place
    if kind == "categorical" and not values:
        problems.add(
            place,
            "missing_key",
            "a categorical field needs 'enum_values'",
            "list the values it may have",
        )
    elif kind != "categorical" and values:
        problems.add(
            place, "wrong_type", "only a categorical field has 'enum_values'", "type: categorical"
        )
    elif len(set(values)) < len(values):
        problems.add(place, "duplicate_value", "a value is listed twice", "keep one of them")


# ------------------------------------------------------------------ the initial value


def _value(node: Node, kind: FieldType, enum_values: tuple[str, ...], fields: Fields) -> Json:
    value = typed_value(node, kind, enum_values)
    if value is None:
        hint = {"text": "a text", "list": "a list", "bool": "true or false"}.get(kind)
        wanted = hint or ("one of its enum_values" if kind == "categorical" else f"a {kind}")
        fields.problem(
            node.place,
            "wrong_type",
            f"'{fields.path('initial_value')}' must be {wanted}",
            "change the value or the field's type",
        )
    if kind in ("list", "json", "any"):
        fields.refuse_grouped(node)
    return value


def typed_value(node: Node, kind: FieldType, enum_values: tuple[str, ...]) -> Json:
    """Return a written value in a field's type, None when it does not fit."""
    match kind, node:
        case "text", Scalar(text=text):
            return text
        case "categorical", Scalar(text=text):
            return text if text in enum_values else None
        case "bool", Scalar():
            return as_bool(node)
        case "int", Scalar():
            return as_int(node)
        case "float", Scalar():
            number = as_number(node)
            return None if number is None else float(number)
        case "list", Sequence():
            return as_json(node)
        case (("json" | "any"), _):
            return as_json(node)
        case _:
            return None
