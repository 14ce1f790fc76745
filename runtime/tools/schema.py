"""From a function's signature to the JSON schema that the model sees.

Owns the type table, and which annotations go beyond it. Annotations outside of both become strings,
since the model can always write one; arguments are checked against the schema in ``arguments``, and
become what the annotation says in ``values``.
"""

import enum
import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from runtime.agent import Json
from runtime.tools.arguments import canonical_json
from runtime.tools.context import ToolContext
from runtime.tools.values import Choices, Kind, Rich, read_or_none

__all__ = ["CONTEXT_PARAMETER", "Signature", "SignatureError", "read_signature"]

CONTEXT_PARAMETER = "context"
"""The injected parameter: passed by keyword, never in the schema."""

_SIMPLE: Mapping[object, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


class SignatureError(TypeError):
    """A parameter that can't be one of a tool."""

    def __init__(self, what: str, mend: str) -> None:
        """Say what is wrong and what to write instead."""
        super().__init__(what)
        self.mend = mend


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function's parameters ask of a model."""

    parameters: dict[str, Json]
    """JSON schema of the arguments object."""
    defaults: dict[str, Any]
    """The default of each parameter that has one, but for the context; as JSON where its kind is
    one that knows how."""
    kinds: Mapping[str, Kind]
    """Parameters whose values the function gets as something else than JSON."""
    takes_context: bool
    needed: tuple[str, ...] = ()
    """Parameters without annotation and default: not required by the schema, and by the call."""


def read_signature(fn: Callable[..., object], *, rich: bool = False) -> Signature:
    """Derive the schema of the arguments object of ``fn``.

    Args:
        fn: The function.
        rich: Whether annotations outside of the table keep a JSON schema of their own where they
            have one: ``dict``, pydantic models, lists of them.

    Raises:
        SignatureError: the signature has a parameter that no model can fill (``*args``,
            ``**kwargs``, positional-only, a context under another name).
    """
    hints = _annotations(fn, rich)
    schemas: dict[str, dict[str, Json]] = {}
    kinds: dict[str, Kind] = {}
    defaults: dict[str, Any] = {}
    required: list[Json] = []
    unnamed: list[Json] = []
    signature = inspect.signature(fn)
    for name, parameter in signature.parameters.items():
        if parameter.kind in (
            inspect.Parameter.VAR_POSITIONAL,
            inspect.Parameter.VAR_KEYWORD,
            inspect.Parameter.POSITIONAL_ONLY,
        ):
            what = f"parameter {name!r} can't be filled by name"
            raise SignatureError(what, "give each argument a name of its own")
        if name == CONTEXT_PARAMETER:
            continue
        if _is_context(hints.get(name, parameter.annotation)):
            what = f"the model would have to fill the parameter {name!r}, a ToolContext"
            raise SignatureError(what, f"call it '{CONTEXT_PARAMETER}', which the runtime passes")
        schemas[name], kind = _type_schema(hints.get(name, str), rich)
        if kind is not None:
            kinds[name] = kind
        if parameter.default is inspect.Parameter.empty:
            (required if name in hints else unnamed).append(name)
        else:
            defaults[name] = _as_json(parameter.default, kind)
    parameters: dict[str, Json] = {
        "type": "object",
        "properties": cast("dict[str, Json]", schemas),
        "required": required,
        "additionalProperties": False,
    }
    shared = Rich.complete(schemas, kinds)
    if shared:
        parameters["$defs"] = shared
    takes_context = CONTEXT_PARAMETER in signature.parameters
    return Signature(parameters, defaults, kinds, takes_context, tuple(map(str, unnamed)))


def _annotations(fn: Callable[..., object], rich: bool) -> dict[str, object]:
    try:
        return dict(typing.get_type_hints(fn, include_extras=rich))
    except Exception:  # an annotation is author's code
        pass
    # One that can't be evaluated is "anything else" of the table, and says nothing of the others.
    found: dict[str, object] = {}
    namespace = cast("dict[str, Any]", getattr(inspect.unwrap(fn), "__globals__", {}))
    for name, hint in cast("dict[str, object]", getattr(fn, "__annotations__", {})).items():
        one = types.SimpleNamespace(__annotations__={name: hint})
        try:
            found.update(typing.get_type_hints(one, namespace, include_extras=rich))
        except Exception:
            continue
    return found


def _is_context(hint: object) -> bool:
    """Whether it is the class, alone or beside ``None``; by its name where it can't be looked up,
    since authors import it for type checkers only.
    """
    if isinstance(hint, str):
        names = {part.strip(" \"'").rpartition(".")[2] for part in _BESIDE.split(hint)}
        return names - {"None", "Optional", ""} == {ToolContext.__name__}
    return _without_none(hint) is ToolContext


_BESIDE = re.compile(r"[|\[\],]")


def _type_schema(hint: object, rich: bool) -> tuple[dict[str, Json], Kind | None]:
    hint = _without_none(hint)
    try:
        simple = _SIMPLE.get(hint)
    except TypeError:  # not hashable
        simple = None
    if simple is not None:
        return {"type": simple}, None
    if hint is list or hint is typing.List:  # noqa: UP006 - authors write it
        return {"type": "array"}, None
    if typing.get_origin(hint) is list and typing.get_args(hint) == (str,):
        return {"type": "array", "items": {"type": "string"}}, None
    choices = _choices(hint)
    if choices is not None:
        return {"type": "string", "enum": list[Json](choices)}, Choices(choices)
    kind = Rich.of(hint) if rich else None
    return {"type": "string"}, kind


def _choices(hint: object) -> dict[str, object] | None:
    """What the model may write for a ``Literal`` or an ``Enum``, and what each means."""
    values: list[tuple[str, object]]
    if isinstance(hint, enum.EnumType):
        members = list(cast("type[enum.Enum]", hint))
        by_value = all(isinstance(member.value, str) for member in members)
        values = [(str(m.value) if by_value else m.name, m) for m in members]
    elif typing.get_origin(hint) is typing.Literal:
        values = [(_written(v), v) for v in typing.get_args(hint) if v is not None]
    else:
        return None
    found = dict(values)
    # Two that are written alike could not be told apart; none at all is no choice.
    return found if found and len(found) == len(values) else None


def _written(value: object) -> str:
    if isinstance(value, enum.Enum):
        return value.value if isinstance(value.value, str) else value.name
    return value if isinstance(value, str) else canonical_json(_plain(value))


def _plain(value: object) -> object:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _as_json(default: object, kind: Kind | None) -> object:
    if kind is None or default is None:
        return default
    text = kind.write(default)
    # What its kind can't read back is left to the function itself.
    return default if text is None or read_or_none(kind, text) is None else text


def _without_none(hint: object) -> object:
    if typing.get_origin(hint) not in (typing.Union, types.UnionType):
        return hint
    inner = [part for part in typing.get_args(hint) if part is not type(None)]
    return inner[0] if len(inner) == 1 else hint
