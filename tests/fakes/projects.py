"""Small agent projects for tests, without files."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from runtime.agent import CallSettings
from runtime.errors import Place
from runtime.project.model import Greeting, MemoryField, ModelSpec, Project, Skill
from runtime.tools.decorator import definition_of
from runtime.tools.definition import ToolDef
from runtime.tools.result import ToolResult

ToolFunction = Callable[..., Awaitable[ToolResult]]


def definition(fn: ToolFunction) -> ToolDef:
    """The definition that ``@tool`` left on ``fn``."""
    found = definition_of(fn)
    assert found is not None
    return found


def make_project(
    *tools: ToolFunction,
    memory: tuple[MemoryField, ...] = (),
    greetings: tuple[Greeting, ...] = (),
    tool_timeout_s: float = 10.0,
) -> Project:
    """One skill ``desk`` with these tools."""
    return Project(
        root=Path("."),
        id="test",
        persona="You are a test.",
        rules=("Be brief.",),
        settings=CallSettings(),
        tool_timeout_s=tool_timeout_s,
        skill=Skill(
            id="desk",
            name="Desk",
            description="Everything",
            prose="Help the caller.",
            place=Place("skill.md", 5),
        ),
        memory=memory,
        tools=tuple(definition(fn) for fn in tools),
        model_group=(ModelSpec(provider="scripted", model="first"),),
        greetings=greetings,
        check_ins=("Are you there?", "Still there?", "Hello?"),
        goodbye="Goodbye.",
        model_error="Sorry, I can't think right now.",
    )
