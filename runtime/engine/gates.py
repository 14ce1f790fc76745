"""Which of a skill's tools may be called now.

Owns the visibility rules: a tool whose ``requires`` does not hold is kept from the model and
refused when it is called all the same, whoever calls it; hooks and sources of buttons are the
engine's own. An expression that can't be evaluated keeps its tool shut.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from runtime.agent import Json
from runtime.project.conditions import Condition
from runtime.project.model import Project
from runtime.project.skill_model import Skill, ToolConstraint
from runtime.tools.definition import ToolDef

__all__ = ["GateResult", "constraint_of", "gate_results", "holds", "is_open", "open_tools"]

Reader = Callable[[str, str], Json]
GateState = Literal["open", "shut", "engine_only", "inactive"]

_NONE = ToolConstraint("")


@dataclass(frozen=True, slots=True)
class GateResult:
    """One declared tool and whether the model may call it now."""

    skill: str
    tool: str
    state: GateState
    requires: str = ""
    """The condition as written."""


def holds(condition: Condition | None, read: Reader) -> bool:
    """Whether a condition holds; None = there is none, which holds."""
    return condition is None or condition.holds(read)


def constraint_of(skill: Skill, tool: str) -> ToolConstraint:
    """What guards a tool of a skill; one without any guards when nothing was written."""
    return skill.constraints.get(tool, _NONE)


def is_open(skill: Skill, tool: str, read: Reader) -> bool:
    """Whether the tool's ``requires`` holds."""
    return holds(constraint_of(skill, tool).requires, read)


def is_engine_only(skill: Skill, definition: ToolDef) -> bool:
    """Whether only the engine calls it: a hook, a source of buttons."""
    return definition.hook_for is not None or definition.name in skill.button_sources


def open_tools(skill: Skill, read: Reader) -> list[ToolDef]:
    """The tools that the model may call while ``skill`` is active."""
    return [
        definition
        for definition in skill.tools.values()
        if not is_engine_only(skill, definition) and is_open(skill, definition.name, read)
    ]


def gate_results(
    project: Project, active: str, read_of: Callable[[str], Reader]
) -> tuple[GateResult, ...]:
    """Every declared tool of every skill with its gate, for whoever watches."""
    return tuple(
        GateResult(
            skill.id,
            definition.name,
            _state(skill, definition, active, read_of(skill.id)),
            _written(constraint_of(skill, definition.name).requires),
        )
        for skill in project.skills.values()
        for definition in skill.tools.values()
    )


def _state(skill: Skill, definition: ToolDef, active: str, read: Reader) -> GateState:
    if is_engine_only(skill, definition):
        return "engine_only"
    if not is_open(skill, definition.name, read):
        return "shut"
    return "open" if skill.id == active else "inactive"


def _written(condition: Condition | None) -> str:
    return "" if condition is None else condition.text
