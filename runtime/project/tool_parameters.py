"""Whether the ``parameters`` of an ``execute_tool`` step are those that its tool takes.

Owns what can be told before a call: names, missing ones, values and fields of a type that the tool
would refuse each time. What a field holds is known only then; calls check again
(``runtime.tools.arguments``).
"""

from collections.abc import Mapping, Sequence
from typing import cast

from runtime.agent import Json
from runtime.errors import Place
from runtime.project.model import MemoryField
from runtime.project.problems import Problems, listed, nearest
from runtime.project.skill_model import ValueRef
from runtime.project.yaml_nodes import Entry
from runtime.tools.definition import ToolDef

__all__ = ["check_parameters"]

_PYTHON: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "string": ("text", "categorical"),
    "integer": ("int", "float"),
    "number": ("int", "float"),
    "boolean": ("bool",),
    "array": ("list",),
    "object": (),
}
"""Types of fields whose values a parameter can take; ``any`` and ``json`` fit everywhere."""
_FREE = ("any", "json")


def check_parameters(
    tool: ToolDef,
    given: Sequence[tuple[Entry, "Json | ValueRef"]],
    fields: Mapping[tuple[str, str], MemoryField],
    place: Place,
    problems: Problems,
) -> None:
    """Note what the tool would refuse.

    Args:
        tool: The step's.
        given: What the step passes, with its place.
        fields: The memory by (namespace, name).
        place: Of the step.
        problems: Grows by what is wrong.
    """
    schemas = cast("Mapping[str, Mapping[str, Json]]", tool.parameters.get("properties", {}))
    for entry, value in given:
        schema = schemas.get(entry.key)
        if schema is None:
            close = nearest(entry.key, schemas)
            mend = f"did you mean '{close}'?" if close else f"it takes {_all(schemas)}"
            message = f"'{tool.name}' has no parameter '{entry.key}'"
            problems.add(entry.place, "unknown_parameter", message, mend)
        elif not (value is None and tool.defaults.get(entry.key, ...) is None):
            _check_value(tool.name, entry, value, schema, fields, problems)
    names = {entry.key for entry, _ in given}
    required = cast("Sequence[str]", tool.parameters.get("required", ()))
    missing = [name for name in required if name not in names]
    if missing:
        problems.add(
            place,
            "missing_parameter",
            f"'{tool.name}' needs {_all(missing)}, and nothing passes it",
            f"write 'parameters: {{{missing[0]}: session.<skill>.<field>}}', or give the "
            "parameter a default",
        )


def _check_value(
    tool: str,
    entry: Entry,
    value: "Json | ValueRef",
    schema: Mapping[str, Json],
    fields: Mapping[tuple[str, str], MemoryField],
    problems: Problems,
) -> None:
    kind = str(schema.get("type", ""))
    if kind not in _PYTHON:
        return  # a schema of the author's own: the call tells
    wanted = f"'{tool}' takes '{entry.key}' as {kind}"
    if isinstance(value, ValueRef):
        field = fields.get((value.namespace, value.name))
        if field is not None and field.type not in (*_FIELDS[kind], *_FREE):
            message = f"{wanted}, and '{field.namespace}.{field.name}' is of the type {field.type}"
            mend = "change the field's type or the parameter's annotation"
            problems.add(entry.value.place, "wrong_type", message, mend)
        return
    fits = isinstance(value, _PYTHON[kind]) and (kind == "boolean" or not isinstance(value, bool))
    choices = schema.get("enum")
    if not fits:
        quotes = kind == "string" and isinstance(value, int | float)
        mend = "put it in quotes" if quotes else f"write a value of the type {kind}"
        problems.add(entry.value.place, "wrong_type", wanted, mend)
    elif isinstance(choices, list) and value not in choices:
        mend = f"write {listed([str(choice) for choice in choices])}"
        message = f"'{tool}' does not take this as '{entry.key}'"
        problems.add(entry.value.place, "unknown_value", message, mend)


def _all(names: Sequence[str] | Mapping[str, object]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "none"
