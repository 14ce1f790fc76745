"""The engine's own tools: their schemas, and which are on offer at this moment.

Owns the rules of when each is offered. What a call of one does is ``builtin_calls``.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import cast

from runtime.agent import Json
from runtime.models.ports import ToolSpec
from runtime.project.model import BuiltinConstraint, MemoryField

__all__ = [
    "ACTIVATE",
    "BUILTIN",
    "CANCEL_SKILL",
    "CANNOT_HELP",
    "COMPLETE_SKILL",
    "CORRECT",
    "HANG_UP",
    "LISTEN",
    "RESOLVE",
    "SEARCH",
    "SET_FIELDS",
    "Offer",
    "builtin_tools",
    "settable_name",
]

ACTIVATE = "activate"
COMPLETE_SKILL = "complete_skill"
CANCEL_SKILL = "cancel_skill"
SET_FIELDS = "set_fields"
CORRECT = "correct"
RESOLVE = "resolve_tool_confirmation"
SEARCH = "search_knowledge"
CANNOT_HELP = "cannot_help"
LISTEN = "listen"
HANG_UP = "hang_up"

BUILTIN = frozenset(
    {
        ACTIVATE,
        COMPLETE_SKILL,
        CANCEL_SKILL,
        SET_FIELDS,
        CORRECT,
        RESOLVE,
        SEARCH,
        CANNOT_HELP,
        LISTEN,
        HANG_UP,
    }
)

_WHEN: Mapping[str, str] = {
    ACTIVATE: "Start what the caller wants, or switch to it, as soon as they have said so.",
    COMPLETE_SKILL: "The active skill is finished: everything it asks for is done.",
    CANCEL_SKILL: "The caller no longer wants what the active skill does.",
    SET_FIELDS: "Record values that the caller has given, all at once; leave out what they have "
    "not said.",
    CORRECT: "The caller revises a value that they gave before.",
    RESOLVE: "The caller has answered the question that a held call waits for: true for a clear "
    "yes, false for a clear no. Anything else is no answer.",
    SEARCH: "The caller asks something that the reference files may answer.",
    CANNOT_HELP: "Nothing here can do what the caller wants. in_domain: whether it belongs to this "
    "business at all.",
    LISTEN: "Say nothing and wait: only when the caller's words need no answer (they are thinking, "
    "or acknowledge what you said). Use it alone.",
    HANG_UP: "End the call, after saying goodbye: only when the caller is done or says goodbye.",
}

_TYPES: dict[str, dict[str, Json]] = {
    "text": {"type": "string"},
    "bool": {"type": "boolean"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "list": {"type": "array"},
    "json": {},
    "any": {},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What decides which of the engine's tools are on offer."""

    flows: Collection[str] = ()
    """Values of ``flow_id``."""
    has_skill: bool = False
    in_prose: bool = False
    """Free prose is followed: not inside a block, not a skill of blocks only."""
    is_maestro: bool = False
    settable: tuple[MemoryField, ...] = ()
    correctable: tuple[MemoryField, ...] = ()
    is_held: bool = False
    """A confirmation is pending in front of the caller."""
    may_resolve: bool = False
    """The caller's words can answer it."""
    has_index: bool = False
    has_searched: bool = False
    is_collecting: bool = False
    constraints: Mapping[str, BuiltinConstraint]


def builtin_tools(offer: Offer) -> dict[str, ToolSpec]:
    """The engine's tools on offer, by name."""
    found: dict[str, ToolSpec] = {}
    for name in _names(offer):
        constraint = offer.constraints.get(name, BuiltinConstraint())
        if constraint.enabled:
            when = constraint.invoke_when or _WHEN[name]
            properties, required = _parameters(name, offer)
            found[name] = _define(name, when, properties, required)
    return found


def settable_name(field: MemoryField, among: Collection[MemoryField]) -> str:
    """The bare name, which resolves to the skill's field first; qualified where that hides it."""
    hidden = field.namespace == "project" and any(
        other.name == field.name and other.namespace != "project" for other in among
    )
    return f"{field.namespace}.{field.name}" if hidden else field.name


def _names(offer: Offer) -> list[str]:
    names: list[str] = []
    if offer.flows:
        names.append(ACTIVATE)
    if offer.has_searched:
        names += [SEARCH, CANNOT_HELP]
        return [*names, RESOLVE] if offer.may_resolve else names
    if offer.may_resolve:
        names.append(RESOLVE)
    if offer.has_skill:
        if offer.in_prose or offer.is_maestro:
            names.append(COMPLETE_SKILL)
        names.append(CANCEL_SKILL)
    if offer.settable:
        names.append(SET_FIELDS)
    if offer.correctable:
        names.append(CORRECT)
    names.append(SEARCH if offer.has_index else CANNOT_HELP)
    if not (offer.is_collecting or offer.is_held or offer.is_maestro):
        names.append(LISTEN)
    names.append(HANG_UP)
    return names


def _parameters(name: str, offer: Offer) -> tuple[dict[str, dict[str, Json]], list[str]]:
    match name:
        case "activate":
            return {"flow_id": {"type": "string", "enum": list(offer.flows)}}, ["flow_id"]
        case "set_fields":
            fields = {settable_name(f, offer.settable): _field(f) for f in offer.settable}
            return fields, []
        case "correct":
            keys: list[Json] = [settable_name(f, offer.correctable) for f in offer.correctable]
            about = "; ".join(_about(f, offer) for f in offer.correctable)
            return {
                "memory_key": {"type": "string", "enum": keys},
                "value": {"description": f"The new value. {about}"},
            }, ["memory_key", "value"]
        case "resolve_tool_confirmation":
            return {"confirmed": {"type": "boolean"}}, ["confirmed"]
        case "search_knowledge":
            return {
                "query": {"type": "string", "description": "What to look for, in a few words."}
            }, ["query"]
        case "cannot_help":
            return {"in_domain": {"type": "boolean"}}, ["in_domain"]
        case _:
            return {}, []


def _about(field: MemoryField, offer: Offer) -> str:
    kind = f"one of {', '.join(field.enum_values)}" if field.enum_values else field.type
    return f"{settable_name(field, offer.correctable)}: {kind}"


def _field(field: MemoryField) -> dict[str, Json]:
    if field.type == "categorical":
        choices = cast("list[Json]", list(field.enum_values))
        result: dict[str, Json] = {"type": "string", "enum": choices}
    else:
        result = dict(_TYPES[field.type])
    if field.description:
        result["description"] = field.description
    return result


def _define(
    name: str, description: str, properties: dict[str, dict[str, Json]], required: list[str]
) -> ToolSpec:
    parameters: dict[str, Json] = {
        "type": "object",
        "properties": cast("dict[str, Json]", properties),
        "required": cast("list[Json]", required),
        "additionalProperties": False,
    }
    return ToolSpec(name, description, parameters)
