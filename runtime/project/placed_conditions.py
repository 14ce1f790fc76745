"""Conditions with the place they were written at, and which fields a file's conditions may name.

Owns reading one condition from a node and checking its names and types against the declared memory;
what a condition means is ``conditions``. A condition that is wrong is a problem at its character.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from runtime.errors import Place
from runtime.project.condition_grammar import Field, nodes
from runtime.project.conditions import (
    SYSTEM_NAMES,
    Condition,
    ConditionError,
    FieldKind,
    check_types,
    parse,
)
from runtime.project.model import PROJECT_NAMESPACE, MemoryField
from runtime.project.problems import Problems, listed, nearest
from runtime.project.yaml_nodes import Node, Scalar

__all__ = [
    "NEVER",
    "SYSTEM_NAMESPACE",
    "FieldView",
    "PlacedCondition",
    "check_condition",
    "first_character",
    "read_condition",
]

SYSTEM_NAMESPACE = "system"
NEVER: Condition = parse("False")
"""Stands in for a condition that could not be read."""


@dataclass(frozen=True, slots=True)
class PlacedCondition:
    """A parsed condition and where its first character stands."""

    condition: Condition
    place: Place


def first_character(node: Scalar) -> Place:
    """Where the text of a scalar begins: after the quote, if there is one."""
    return node.place if node.plain else replace(node.place, column=node.place.column + 1)


def read_condition(node: Node, problems: Problems) -> PlacedCondition | None:
    """Parse the condition written at ``node``; None after a problem (``bad_condition``)."""
    if isinstance(node, Scalar) and node.is_unset:
        return None
    written: object = None  # a list or a block of keys is no text
    place = node.place
    if isinstance(node, Scalar):
        written = "" if node.is_null else node.text
        place = first_character(node)
    try:
        return PlacedCondition(parse(written), place)
    except ConditionError as error:
        problems.add(
            _at(place, error.column), "bad_condition", error.message, error.mend or _GRAMMAR
        )
        return None


# ------------------------------------------------------------------ fields


class FieldView:
    """The declared fields as one file may name them."""

    def __init__(
        self,
        memory: Iterable[MemoryField],
        skill: str | None = None,
        deny_read: Collection[str] = (),
    ) -> None:
        """Look at the memory from one place.

        Args:
            memory: Every declared field.
            skill: Whose file it is; None = the project's, read while any skill is active.
            deny_read: Qualified names that the skill may not read.
        """
        self.skill = skill
        self._fields = {(f.namespace, f.name): f for f in memory}
        self._denied = frozenset(deny_read)

    def field(self, namespace: str, name: str) -> MemoryField | None:
        """The field of that name, readable or not."""
        return self._fields.get((namespace, name))

    def bare(self, name: str) -> MemoryField | None:
        """What ``{name}`` means: the active skill's field, then the project's."""
        if self.skill is not None:
            own = self.field(self.skill, name)
        else:
            own = next((f for f in self._fields.values() if f.name == name), None)
        return own or self.field(PROJECT_NAMESPACE, name)

    def kind(self, namespace: str, name: str) -> FieldKind | None:
        """The declared type, for checking comparisons; None = not known."""
        if namespace == SYSTEM_NAMESPACE:
            return {"silence_n": FieldKind("int"), "channel": FieldKind("text")}.get(name)
        field = self.field(namespace, name)
        return None if field is None else FieldKind(field.type, field.enum_values)

    def can_read(self, field: MemoryField) -> bool:
        """Whether the file's skill may know the field."""
        if f"{field.namespace}.{field.name}" in self._denied:
            return False
        return not field.private or self.skill in (None, field.namespace)

    def check(self, namespace: str, name: str, place: Place, problems: Problems) -> bool:
        """Note a problem if ``session.<namespace>.<name>`` can't be read here."""
        if namespace == SYSTEM_NAMESPACE:
            return self._check_system(name, place, problems)
        field = self.field(namespace, name)
        if field is None:
            problems.add(
                place,
                "unknown_field",
                f"there is no memory field 'session.{namespace}.{name}'",
                self._mend(namespace, name),
            )
            return False
        if not self.can_read(field):
            problems.add(
                place,
                "not_readable",
                f"'session.{namespace}.{name}' can't be read by the skill '{self.skill}'",
                "declare the field under 'public', or read another one"
                if field.private
                else "take it out of 'access.deny_read', or read another one",
            )
            return False
        return True

    def _check_system(self, name: str, place: Place, problems: Problems) -> bool:
        if name in SYSTEM_NAMES:
            return True
        problems.add(
            place,
            "unknown_field",
            f"there is no 'session.{SYSTEM_NAMESPACE}.{name}'",
            f"known there: {listed(sorted(SYSTEM_NAMES))}",
        )
        return False

    def _mend(self, namespace: str, name: str) -> str:
        readable = [f for f in self._fields.values() if self.can_read(f)]
        same = nearest(name, [f.name for f in readable if f.namespace == namespace])
        if same:
            return f"did you mean 'session.{namespace}.{same}'?"
        close = nearest(f"{namespace}.{name}", [f"{f.namespace}.{f.name}" for f in readable])
        if close:
            return f"did you mean 'session.{close}'?"
        where = "memory.yml" if namespace == PROJECT_NAMESPACE else f"{namespace}'s memory.yml"
        return f"declare it in {where}"

    def bare_mend(self, name: str) -> str:
        """What to write instead of an unknown ``{name}``."""
        known = [
            f.name
            for f in self._fields.values()
            if self.skill is None or f.namespace in (self.skill, PROJECT_NAMESPACE)
        ]
        close = nearest(name, known)
        return f"did you mean '{{{close}}}'?" if close else "declare it in memory.yml"


def check_condition(placed: PlacedCondition, view: FieldView, problems: Problems) -> None:
    """Note names that can't be read and comparisons that can never work."""
    first: dict[tuple[str, str], int] = {}
    for node in nodes(placed.condition.tree):
        if isinstance(node, Field):
            first.setdefault((node.namespace, node.name), node.column)
    found = [
        view.check(namespace, name, _at(placed.place, column), problems)
        for (namespace, name), column in first.items()
    ]
    if all(found):
        for error in check_types(placed.condition, view.kind):
            problems.add(
                _at(placed.place, error.column),
                "bad_condition",
                error.message,
                error.mend or _GRAMMAR,
            )


_GRAMMAR = "compare fields and values: session.<skill>.<field> == 'a text'"


def _at(place: Place, column: int) -> Place:
    """Move on within a line; a place without a line stays what it is."""
    return replace(place, column=place.column + column - 1) if place.line else place
