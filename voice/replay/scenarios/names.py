"""The names that a scenario may use: those of the project it is about.

Owns which tools, skills, responses and fields there are, and the messages about one that is none. A
name that nothing has would make what must not happen true for ever.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from runtime.agent import Json
from runtime.errors import Place
from runtime.project.memory_file import typed_value
from runtime.project.problems import Problems, listed, nearest
from runtime.project.yaml_nodes import (
    Entry,
    Node,
    Scalar,
    as_json,
    as_number,
    kind_of,
)
from runtime.project.yaml_nodes import Mapping as MappingNode
from runtime.tools.loading import RESERVED_NAMES

if TYPE_CHECKING:
    from runtime.project.model import MemoryField, Project

__all__ = ["NameChecks", "Names", "names_of", "typed"]

_MOST_LISTED: Final = 12
_LOOKS_LIKE_A_NAME: Final = re.compile(r"[A-Za-z]\w*_\w*")
"""Nobody says a word with ``_`` in it."""
_TYPES: Final[dict[str, type | tuple[type, ...]]] = {
    "string": str,
    "integer": (int, float),
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What a project has."""

    tools: Mapping[str, tuple[Mapping[str, Json], ...]]
    """By name, the schemas of its arguments: more than one where skills have one each."""
    skills: Collection[str]
    responses: Collection[str]
    memory: Mapping[str, "MemoryField"]
    """By ``<namespace>.<field>``."""


def names_of(project: "Project") -> Names:
    """The names of a loaded project."""
    tools: dict[str, tuple[Mapping[str, Json], ...]] = {}
    for skill in project.skills.values():
        for tool in skill.tools.values():
            tools[tool.name] = (*tools.get(tool.name, ()), tool.parameters)
    return Names(
        tools=tools,
        skills=project.skills.keys(),
        responses=project.responses.keys(),
        memory={f"{field.namespace}.{field.name}": field for field in project.memory},
    )


class NameChecks:
    """Notes names that the project has not."""

    def __init__(self, names: Names | None, problems: Problems) -> None:
        """Compare with ``names``; None = the project can't be loaded, so nothing is said."""
        self._names = names
        self._problems = problems

    def tool(self, name: str, place: Place) -> None:
        """A tool of an author's."""
        if self._names is None or not name or name in self._names.tools:
            return
        if name in RESERVED_NAMES:
            self._problems.add(
                place,
                "unknown_tool",
                f"'{name}' is the runtime's own and no tool of the project",
                "expect what it does, such as skill_started, skill_completed or hung_up",
            )
            return
        self._unknown("unknown_tool", "tool", name, place, self._names.tools)

    def called(self, name: str, place: Place) -> None:
        """A tool that the scripted model calls: an author's, or one of the runtime's own."""
        from runtime.engine.builtin import BUILTIN  # few scenarios have a script

        if self._names is not None and name not in self._names.tools and name not in BUILTIN:
            self._unknown("unknown_tool", "tool", name, place, (*self._names.tools, *BUILTIN))

    def skill(self, name: str, place: Place) -> None:
        """A skill, packaged ones included."""
        if self._names is not None and name and name not in self._names.skills:
            self._unknown("unknown_skill", "skill", name, place, self._names.skills)

    def response(self, name: str, place: Place) -> None:
        """A response, packaged ones included."""
        if self._names is not None and name and name not in self._names.responses:
            self._unknown("unknown_response", "response", name, place, self._names.responses)

    def during(self, text: str, place: Place) -> None:
        """A response, a tool, or words: what looks like a name must be one."""
        if self._names is None or not _LOOKS_LIKE_A_NAME.fullmatch(text):
            return
        known = (*self._names.responses, *self._names.tools)
        if text not in known:
            self._unknown("unknown_value", "response or tool", text, place, known)

    def field(self, name: str, place: Place) -> "MemoryField | None":
        """A memory field, as ``<namespace>.<field>``; None if it is none, or nobody knows."""
        if self._names is None or not name:
            return None
        field = self._names.memory.get(name)
        if field is None:
            close = nearest(name, self._names.memory)
            mend = f"did you mean '{close}'?" if close else "write <skill>.<field>, project.<field>"
            message = f"the project has no memory field '{name}'"
            self._problems.add(place, "unknown_field", message, mend)
        return field

    def value(self, entry: Entry, name: str, field: "MemoryField | None") -> Json:
        """What is written, in the field's type; as it is where the field is not known."""
        node = entry.value
        is_null = isinstance(node, Scalar) and node.is_null
        if field is None or is_null:
            return as_json(node)
        value = typed(node, field)
        if value is None:
            wanted = {
                "categorical": "one of " + ", ".join(field.enum_values),
                "bool": "true or false",
                "list": "a list",
            }.get(field.type, f"a {field.type}")
            self._problems.add(
                node.place, "wrong_type", f"'{name}' must be {wanted}", f"the field is {field.type}"
            )
        return value

    def arguments(self, tool: str, node: Node | None) -> Json:
        """Arguments that a call of ``tool`` can have, in the types that it takes."""
        schemas = self._names.tools.get(tool, ()) if self._names is not None else ()
        if not schemas or node is None:
            return None if node is None else as_json(node)
        if not isinstance(node, MappingNode):
            self._problems.add(
                node.place, "wrong_type", "'arguments' must be a block of keys", "{name: value}"
            )
            return None
        known: dict[str, list[Mapping[str, Json]]] = {}
        for schema in schemas:
            for name, about in cast("dict[str, dict[str, Json]]", schema["properties"]).items():
                known.setdefault(name, []).append(about)
        found: dict[str, Json] = {}
        for entry in node.entries:
            about = known.get(entry.key)
            if about is None:
                what = f"argument of {tool}"
                self._unknown("unknown_parameter", what, entry.key, entry.place, known)
                continue
            values = [value for each in about for value in _as_argument(entry.value, each)]
            if values:
                found[entry.key] = values[0]
                continue
            value = entry.value
            shown = f"'{value.text}'" if isinstance(value, Scalar) else kind_of(value)
            message = f"'{entry.key}' of {tool} can't be {shown}"
            mend = _argument_mend(about[0])
            self._problems.add(entry.value.place, "wrong_type", message, mend)
        return found

    def _unknown(
        self, code: str, kind: str, name: str, place: Place, known: Collection[str]
    ) -> None:
        close = nearest(name, known)
        if close is not None:
            mend = f"did you mean '{close}'?"
        elif len(known) <= _MOST_LISTED:
            mend = f"write {listed(sorted(known))}" if known else "the project has none"
        else:
            mend = "write it as it stands in the project"
        self._problems.add(place, code, f"the project has no {kind} '{name}'", mend)


def _as_argument(node: Node, about: Mapping[str, Json]) -> tuple[Json, ...]:
    """A value as this schema has it, as far as a simple one tells; empty where it can't be one."""
    value = as_json(node)
    kind, choices = about.get("type"), about.get("enum")
    if value is None or not (isinstance(kind, str) or isinstance(choices, list)):
        return (value,)
    if isinstance(node, Scalar) and kind == "string":
        value = node.text
    elif isinstance(node, Scalar) and kind in ("integer", "number"):
        value = as_number(node)
    if isinstance(choices, list):
        return (value,) if value in choices else ()
    wanted = _TYPES.get(cast("str", kind))
    is_it = wanted is None or (
        isinstance(value, wanted) and isinstance(value, bool) == (kind == "boolean")
    )
    return (value,) if is_it else ()


def _argument_mend(about: Mapping[str, Json]) -> str:
    choices = about.get("enum")
    if isinstance(choices, list):
        return f"write {listed(map(str, choices))}"
    return f"its type is {about.get('type')}"


def typed(node: Node, field: "MemoryField") -> Json:
    """Return a written value in the field's type; None when it is empty or does not fit."""
    if isinstance(node, Scalar) and node.is_null:
        return None
    return typed_value(node, field.type, field.enum_values)
