"""A model's arguments: parsed once, strictly, then checked against the tool's schema.

Owns what counts as the same call: values are brought to one form (declared defaults filled in,
whole floats for integers) and written as canonical JSON. Nothing is repaired, but for one
unwrapping of an object that a provider encoded twice, which is counted. Refusals are short reasons
that a model can act on; they never repeat the argument's value.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn, cast

from runtime.agent import Json

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

    from runtime.tools.definition import ToolDef

__all__ = [
    "MAX_ARGUMENT_CHARS",
    "ArgumentsRefused",
    "Parsed",
    "canonical_json",
    "parse_arguments",
    "parse_call",
    "prepare",
]

MAX_ARGUMENT_CHARS = 100_000
"""Longer arguments are refused unread."""

_MAX_DEPTH = 40


class ArgumentsRefused(Exception):
    """The arguments can't be used; the text is for the model."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """Arguments that passed."""

    values: dict[str, Json]
    unwrapped: bool
    """They came encoded twice."""


def parse_arguments(
    raw: str, parameters: Mapping[str, Json], defaults: Mapping[str, object] | None = None
) -> Parsed:
    """Parse and validate the raw JSON text of a call's arguments.

    Args:
        raw: As the model wrote it.
        parameters: The tool's JSON schema.
        defaults: Values of arguments that may be left out, filled in where they are.

    An empty text counts as ``{}``, which is how providers write "no arguments". An argument that
    is written as its default counts as left out, also where the schema has no type for it
    (``null`` for a ``T | None = None``): what was parsed once can be parsed again.

    Raises:
        ArgumentsRefused: with a reason the model can act on.
    """
    defaults = defaults or {}
    if len(raw) > MAX_ARGUMENT_CHARS:
        raise ArgumentsRefused(f"the arguments are longer than {MAX_ARGUMENT_CHARS} characters")
    value = _load(raw if raw.strip() else "{}")
    unwrapped = False
    if isinstance(value, str):
        value, unwrapped = _load(value), True
    if not isinstance(value, dict):
        raise ArgumentsRefused("the arguments must be one JSON object")
    values = cast("dict[str, Json]", value)
    values = {name: v for name, v in values.items() if not _is_default(v, name, defaults)}
    _check(values, parameters)
    return Parsed(_one_form(values, parameters, defaults), unwrapped)


def parse_call(raw: str, definition: "ToolDef") -> Parsed:
    """Parse and validate the arguments of a call of one tool, as its function will need them.

    Beyond the schema, each value must be one that its annotation accepts (a pydantic model may ask
    for more than a schema can say).

    Raises:
        ArgumentsRefused: with a reason the model can act on.
    """
    parsed = parse_arguments(raw, definition.parameters, definition.defaults)
    try:
        definition.check(parsed.values)
    except ValueError as reason:
        raise ArgumentsRefused(str(reason)) from None
    return parsed


def prepare(definitions: Iterable["ToolDef"]) -> None:
    """Read the schemas of tools ahead of their first calls, which would hold callers up.

    The schema library alone takes some 60 ms to import.
    """
    for definition in definitions:
        _validator(canonical_json(definition.parameters))


def canonical_json(value: object) -> str:
    """Write ``value`` so that equal values give equal texts.

    Raises:
        ValueError: it is not JSON (NaN, an infinity, a foreign type, a cycle).
    """
    try:
        return json.dumps(
            value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        )
    except (TypeError, RecursionError) as error:
        raise ValueError("not a JSON value") from error


def _load(text: str) -> object:
    try:
        value: object = json.loads(
            text, parse_constant=_refuse_constant, object_pairs_hook=_object_without_repeats
        )
    except (ValueError, RecursionError):
        raise ArgumentsRefused("the arguments are not one well-formed JSON object") from None
    _check_plain(value, 0)
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ArgumentsRefused(f"{name} is not a JSON number")


def _object_without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ArgumentsRefused("an object names the same key twice")
    return result


def _check_plain(value: object, depth: int) -> None:
    """Refuse what canonical JSON could not write: numbers out of range, lone surrogates, depth."""
    if depth > _MAX_DEPTH:
        raise ArgumentsRefused("the arguments are nested too deeply")
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        raise ArgumentsRefused("a number is out of range")
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ArgumentsRefused("a string is not well-formed Unicode") from None
    elif isinstance(value, dict):
        for key, item in cast("dict[str, object]", value).items():
            _check_plain(key, depth + 1)
            _check_plain(item, depth + 1)
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            _check_plain(item, depth + 1)


def _is_default(value: Json, name: str, defaults: Mapping[str, object]) -> bool:
    if name not in defaults:
        return False
    default = defaults[name]
    return value is default or (type(value) is type(default) and bool(value == default))


def _check(values: dict[str, Json], parameters: Mapping[str, Json]) -> None:
    validator = _validator(canonical_json(parameters))
    problems = sorted(_errors(validator, values), key=lambda e: [str(p) for p in e.absolute_path])
    if problems:
        raise ArgumentsRefused("; ".join(_reason(problem, parameters) for problem in problems[:3]))


@lru_cache(maxsize=512)
def _validator(schema: str) -> "Draft202012Validator":
    from jsonschema import Draft202012Validator  # slow to import, and only calls need it

    return Draft202012Validator(json.loads(schema))


def _errors(validator: "Draft202012Validator", values: object) -> "list[ValidationError]":
    # jsonschema's stub leaves the instance's type open.
    find = cast("Callable[[object], Iterator[ValidationError]]", cast("Any", validator).iter_errors)
    return list(find(values))


def _reason(problem: "ValidationError", parameters: Mapping[str, Json]) -> str:
    """Say what to do in words of the schema, never of the caller."""
    where = ".".join(str(part) for part in problem.absolute_path)
    rule = cast("str", problem.validator)
    wanted = cast("object", problem.validator_value)
    # Of the object that is at fault, which may stand deep inside of an argument.
    schema = cast("object", problem.schema)
    around = cast("Mapping[str, Json]", schema if isinstance(schema, Mapping) else parameters)
    properties = around.get("properties")
    known = sorted(properties) if isinstance(properties, Mapping) else []
    match rule:
        case "required":
            given = cast("dict[str, object]", problem.instance)
            missing = [name for name in cast("list[str]", wanted) if name not in given]
            return f"missing: {', '.join(missing)}"
        case "additionalProperties":
            return f"only these arguments exist: {', '.join(known) or 'none'}"
        case "type":
            return f"{where}: must be of type {wanted}"
        case "enum":
            choices = ", ".join(str(choice) for choice in cast("list[object]", wanted))
            return f"{where}: must be one of {choices}"
        case _:
            return f"{where or 'arguments'}: breaks the rule {rule}"


def _one_form(
    values: dict[str, Json], parameters: Mapping[str, Json], defaults: Mapping[str, object]
) -> dict[str, Json]:
    properties = parameters.get("properties")
    schemas = cast("dict[str, dict[str, Json]]", properties or {})
    result = {name: _as_declared(value, schemas.get(name, {})) for name, value in values.items()}
    for name, default in defaults.items():
        if name not in result and _is_json(default):
            result[name] = cast("Json", default)
    return result


def _as_declared(value: Json, schema: Mapping[str, Json]) -> Json:
    kind = schema.get("type")
    if isinstance(value, bool):
        return value
    if kind == "integer" and isinstance(value, float):
        return int(value)
    if kind == "number" and isinstance(value, int):
        try:
            return float(value)
        except OverflowError:
            raise ArgumentsRefused("a number is out of range") from None
    if isinstance(value, list):
        items = schema.get("items")
        inner = items if isinstance(items, dict) else {}
        return [_as_declared(item, inner) for item in value]
    return value


def _is_json(value: object) -> bool:
    try:
        canonical_json(value)
    except ValueError:
        return False
    return True
