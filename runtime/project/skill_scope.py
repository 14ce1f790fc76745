"""The names that one skill's file may use, and what is said about those that don't exist.

Owns the checks of names in a ``skill.md`` against the project, one method a kind of name, each with
the nearest suggestion. What exists is ``known``; conditions are read by ``placed_conditions``.
"""

from collections.abc import Collection

from runtime.errors import Place
from runtime.project.conditions import Condition
from runtime.project.fields import Fields
from runtime.project.known import KnownThings
from runtime.project.model import PROJECT_NAMESPACE, MemoryField
from runtime.project.placed_conditions import (
    SYSTEM_NAMESPACE,
    FieldView,
    PlacedCondition,
    check_condition,
    read_condition,
)
from runtime.project.problems import Problems, listed, nearest
from runtime.project.yaml_nodes import Node

__all__ = ["Scope"]

_MOST_LISTED = 8


class Scope:
    """One skill's file being checked; every method notes a problem rather than raise."""

    def __init__(
        self,
        skill: str,
        blocks: Collection[str],
        known: KnownThings,
        deny_read: Collection[str],
        problems: Problems,
    ) -> None:
        """Check for one skill.

        Args:
            skill: Its id.
            blocks: Ids of the ordered blocks in its file.
            known: What exists in the project.
            deny_read: Qualified names that it may not read.
            problems: Grows by what is wrong.
        """
        self.skill = skill
        self.blocks = blocks
        self.known = known
        self.problems = problems
        memory = known.memory
        self._view = None if memory is None else FieldView(memory, skill, deny_read)

    def refuse(self, place: Place, code: str, message: str, mend: str) -> None:
        """Note a problem of the caller's own."""
        self.problems.add(place, code, message, mend)

    # ---------------------------------------------------------------- conditions

    def condition(self, node: Node) -> Condition | None:
        """The condition written at ``node``, read and checked; None after a problem."""
        placed = read_condition(node, self.problems)
        if placed is None:
            return None
        self.check(placed)
        return placed.condition

    def condition_key(self, fields: Fields, key: str) -> Condition | None:
        """The condition under ``key``; None when it was not written, or after a problem."""
        entry = fields.entry(key)
        return None if entry is None else self.condition(entry.value)

    def check(self, placed: PlacedCondition) -> None:
        """Check a condition's names and types."""
        if self._view is not None:
            check_condition(placed, self._view, self.problems)

    # ---------------------------------------------------------------- names

    def response(self, name: str, place: Place) -> None:
        """A response must exist."""
        if self.known.responses is not None and name not in self.known.responses:
            self._note(place, "unknown_response", "response", name, self.known.responses)

    def response_key(self, fields: Fields, key: str) -> str | None:
        """The response named under ``key``; None when it was not written, or after a problem."""
        entry = fields.entry(key)
        name = fields.text(key)
        if entry is not None and name:
            self.response(name, entry.value.place)
        return name

    def tool(self, name: str, place: Place) -> None:
        """A tool must be the skill's."""
        if self.known.tools is not None and name not in self.known.tools:
            self._note(place, "unknown_tool", "tool of this skill", name, self.known.tools)

    def block(self, name: str, place: Place) -> None:
        """A block must stand in the same file."""
        if name not in self.blocks:
            self._note(place, "unknown_block", "block in this file", name, self.blocks)

    def other_skill(self, name: str, place: Place) -> None:
        """A skill must exist."""
        if name not in self.known.skills:
            self._note(place, "unknown_skill", "skill", name, self.known.skills)

    def precondition(self, name: str, place: Place) -> None:
        """A precondition must be bound in agent.yml."""
        known = self.known.preconditions
        if known is not None and name not in known:
            self._note(place, "unknown_precondition", "precondition", name, known)

    def target(self, name: str, place: Place, *, with_agents: bool) -> None:
        """Say that what a step calls or links does not exist."""
        agents = self.known.sub_agents if with_agents else ()
        names = [*self.blocks, *self.known.skills, *agents]
        what = "block, skill or sub agent" if with_agents else "block or skill"
        self._note(place, "unknown_target", what, name, names)

    def step(self, name: str, place: Place, known: Collection[str]) -> None:
        """The step that comes next must exist in the block."""
        if name not in known:
            self._note(place, "unknown_step", "step in this block", name, known)

    def action(self, name: str, place: Place, known: Collection[str]) -> None:
        """Say that an action does not exist."""
        self._note(place, "unknown_action", "action", name, known)

    def _note(self, place: Place, code: str, what: str, name: str, known: Collection[str]) -> None:
        close = nearest(name, known)
        if close:
            mend = f"did you mean '{close}'?"
        elif known and len(known) <= _MOST_LISTED:
            mend = f"known: {listed(sorted(known))}"
        else:
            mend = _NONE.get(code, "check the name")
        self.problems.add(place, code, f"there is no {what} called '{name}'", mend)

    # ---------------------------------------------------------------- memory

    def readable(self, namespace: str, name: str, place: Place) -> None:
        """A field must exist and be readable for the skill; ``system`` counts as readable."""
        if self._view is not None:
            self._view.check(namespace, name, place, self.problems)

    def sayable(self, namespace: str, name: str, place: Place) -> None:
        """As ``readable``, without the engine's own values."""
        if namespace == SYSTEM_NAMESPACE:
            self.problems.add(
                place,
                "unknown_field",
                f"'{SYSTEM_NAMESPACE}.{name}' is for conditions and can't be shown",
                "name a memory field",
            )
            return
        self.readable(namespace, name, place)

    def writable(self, written: str, place: Place) -> MemoryField | None:
        """The skill's or the project's field of a bare or qualified name; None after a problem,
        or when memory is not known.
        """
        if self.known.memory is None:
            return None
        name = written.removeprefix("session.")
        found = self.known.resolve(name, self.skill)
        if found is not None and found.namespace in (self.skill, PROJECT_NAMESPACE):
            return found
        if found is not None:
            self.problems.add(
                place,
                "not_writable",
                f"'{written}' is a field of the skill '{found.namespace}'",
                "name a field of this skill or of the project",
            )
            return None
        fields = self.known.writable(self.skill)
        names = [f.name if "." not in name else f"{f.namespace}.{f.name}" for f in fields]
        self._note(place, "unknown_field", "memory field", written, names)
        return None

    def field_named(self, written: str, place: Place) -> MemoryField | None:
        """Any field that the skill could read, by a bare or qualified name."""
        if self.known.memory is None:
            return None
        name = written.removeprefix("session.")
        found = self.known.resolve(name, self.skill)
        readable = self.known.readable(self.skill)
        if found in readable:
            return found
        own = [f.name for f in self.known.writable(self.skill)]
        names = own if "." not in name else [f"{f.namespace}.{f.name}" for f in readable]
        self._note(place, "unknown_field", "memory field", written, names)
        return None


_NONE = {
    "unknown_response": "write it in the skill's responses.yml",
    "unknown_tool": "define it in the skill's tools.py, or name it in import_tools",
    "unknown_block": "write it as ':::ordered_block id=<id>' … ':::'",
    "unknown_skill": "add a folder of that name below 'skills/'",
    "unknown_precondition": "bind it under orchestrator.preconditions in agent.yml",
    "unknown_target": "write it as ':::ordered_block id=<id>' … ':::'",
    "unknown_field": "declare it in the skill's memory.yml",
}
