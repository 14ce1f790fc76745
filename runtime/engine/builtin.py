"""The engine's own tools: ``set_fields``, ``listen``, ``hang_up``.

Owns their schemas and when they are offered. They run inside the turn, at once; what they do to the
conversation is the turn's to record.
"""

from typing import cast

from runtime.agent import Json
from runtime.conversation.memory import MemorySchema
from runtime.models.ports import ToolSpec
from runtime.project.model import MemoryField

__all__ = ["HANG_UP", "LISTEN", "SET_FIELDS", "builtin_tools"]

SET_FIELDS = "set_fields"
LISTEN = "listen"
HANG_UP = "hang_up"

_TYPES: dict[str, dict[str, Json]] = {
    "text": {"type": "string"},
    "bool": {"type": "boolean"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "list": {"type": "array"},
    "json": {},
    "any": {},
}


def builtin_tools(schema: MemorySchema, skill: str) -> dict[str, ToolSpec]:
    """The engine's tools on offer while ``skill`` is active, by name."""
    tools = [
        _define(
            LISTEN,
            "Say nothing and wait: only when the caller's words need no answer (they are thinking, "
            "or acknowledge what you said). Use it alone.",
            {},
        ),
        _define(
            HANG_UP,
            "End the call, after saying goodbye: only when the caller is done or says goodbye.",
            {},
        ),
    ]
    settable = schema.settable(skill)
    if settable:
        properties = {_settable_name(f, settable): _field_schema(f) for f in settable}
        described = "Record values that the caller has given; leave out what they have not said."
        tools.append(_define(SET_FIELDS, described, properties))
    return {spec.name: spec for spec in tools}


def _settable_name(field: MemoryField, among: tuple[MemoryField, ...]) -> str:
    """The bare name, which resolves to the skill's field first; qualified where that hides it."""
    hidden = field.namespace == "project" and any(
        other.name == field.name and other.namespace != "project" for other in among
    )
    return f"{field.namespace}.{field.name}" if hidden else field.name


def _field_schema(field: MemoryField) -> dict[str, Json]:
    if field.type == "categorical":
        choices = cast("list[Json]", list(field.enum_values))
        result: dict[str, Json] = {"type": "string", "enum": choices}
    else:
        result = dict(_TYPES[field.type])
    if field.description:
        result["description"] = field.description
    return result


def _define(name: str, description: str, properties: dict[str, dict[str, Json]]) -> ToolSpec:
    parameters: dict[str, Json] = {
        "type": "object",
        "properties": cast("dict[str, Json]", properties),
        "required": [],
        "additionalProperties": False,
    }
    return ToolSpec(name, description, parameters)
