"""From a function's signature to the JSON schema that the model sees.

Owns the type table. Annotations outside the table become strings, since the model can always write
one; arguments are checked against the schema in ``arguments``.
"""

import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, cast

from runtime.agent import Json

__all__ = ["CONTEXT_PARAMETER", "parameter_defaults", "parameters_schema"]

CONTEXT_PARAMETER = "context"
"""The injected parameter: passed by keyword, never in the schema."""

_SIMPLE: Mapping[object, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


def parameters_schema(fn: Callable[..., object]) -> dict[str, Json]:
    """Derive the schema of the arguments object of ``fn``.

    Raises:
        TypeError: the signature has a parameter that no model can fill (``*args``, ``**kwargs``,
            positional-only).
    """
    hints = _annotations(fn)
    properties: dict[str, Json] = {}
    required: list[Json] = []
    for name, parameter in inspect.signature(fn).parameters.items():
        if name == CONTEXT_PARAMETER:
            continue
        if parameter.kind in (
            inspect.Parameter.VAR_POSITIONAL,
            inspect.Parameter.VAR_KEYWORD,
            inspect.Parameter.POSITIONAL_ONLY,
        ):
            raise TypeError(f"parameter {name!r} can't be filled by name")
        properties[name] = _type_schema(hints.get(name, str))
        if parameter.default is inspect.Parameter.empty:
            required.append(name)
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def parameter_defaults(fn: Callable[..., object]) -> dict[str, Any]:
    """The default of each parameter that has one, but for the context."""
    return {
        name: parameter.default
        for name, parameter in inspect.signature(fn).parameters.items()
        if name != CONTEXT_PARAMETER and parameter.default is not inspect.Parameter.empty
    }


def _annotations(fn: Callable[..., object]) -> dict[str, object]:
    try:
        return dict(typing.get_type_hints(fn))
    except (NameError, TypeError, AttributeError, SyntaxError):
        # An annotation that can't be evaluated is "anything else" of the table.
        raw = cast("dict[str, object]", dict(getattr(fn, "__annotations__", {})))
        return {name: hint for name, hint in raw.items() if not isinstance(hint, str)}


def _type_schema(hint: object) -> dict[str, Json]:
    hint = _without_none(hint)
    if hint in _SIMPLE:
        return {"type": _SIMPLE[hint]}
    if hint is list:
        return {"type": "array"}
    if typing.get_origin(hint) is list:
        (item,) = typing.get_args(hint) or (str,)
        return {"type": "array", "items": _type_schema(item)}
    return {"type": "string"}


def _without_none(hint: object) -> object:
    if typing.get_origin(hint) not in (typing.Union, types.UnionType):
        return hint
    inner = [part for part in typing.get_args(hint) if part is not type(None)]
    return inner[0] if len(inner) == 1 else hint
