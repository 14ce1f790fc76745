"""Small agent projects for tests, without files."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from runtime.agent import CallSettings
from runtime.errors import Place
from runtime.project.conditions import parse
from runtime.project.model import MemoryField, ModelSpec, Project
from runtime.project.response_model import Response, Variant
from runtime.project.skill_model import (
    ActionStep,
    Block,
    Branch,
    LinkStep,
    NoopStep,
    Paragraph,
    Skill,
    Step,
)
from runtime.tools.decorator import definition_of
from runtime.tools.definition import ToolDef
from runtime.tools.result import ToolResult

ToolFunction = Callable[..., Awaitable[ToolResult]]


def definition(fn: ToolFunction) -> ToolDef:
    """The definition that ``@tool`` left on ``fn``."""
    found = definition_of(fn)
    assert found is not None
    return found


def response(name: str, text: str, *, interruptible: bool = True) -> Response:
    """A response with one wording."""
    return Response(name=name, variants=(Variant(parts=(text,), interruptible=interruptible),))


def make_project(
    *tools: ToolFunction,
    memory: tuple[MemoryField, ...] = (),
    greetings: tuple[Response, ...] = (),
    tool_timeout_s: float = 10.0,
) -> Project:
    """One prose skill ``desk`` with these tools, running from the start of each call."""
    desk = Skill(
        id="desk",
        name="Desk",
        description="Everything",
        prose=(Paragraph(("Help the caller.",)),),
        tools={(found := definition(fn)).name: found for fn in tools},
        place=Place("skill.md", 5),
    )
    check_ins = ("Are you there?", "Still there?", "Hello?")
    responses = (
        *greetings,
        *(response(f"utter_silence_check_in_{n}", t) for n, t in enumerate(check_ins, 1)),
        response("utter_hangup_goodbye", "Goodbye."),
        response("utter_model_call_error", "Sorry, I can't think right now."),
    )
    return Project(
        root=Path("."),
        id="test",
        persona="You are a test.",
        rules=("Be brief.",),
        settings=CallSettings(),
        tool_timeout_s=tool_timeout_s,
        skills={skill.id: skill for skill in (desk, *engine_skills())},
        responses={each.name: each for each in responses},
        memory=memory,
        model_group=(ModelSpec(provider="scripted", model="first"),),
    )


def engine_skills() -> tuple[Skill, ...]:
    """What the packaged skills do, without files; the desk is taken up at once."""

    def skill(name: str, *steps: Step) -> Skill:
        return Skill(
            id=name,
            name=name,
            description=name,
            blocks=(Block("main", steps),),
            engine_managed=True,
        )

    def at(step_id: str, follow: str = "END") -> dict[str, Any]:
        return {"id": step_id, "next": (Branch(follow),), "place": Place("skill.md")}

    check_ins = [
        ActionStep(**at(f"say_{n}"), kind="utter", target=f"utter_silence_check_in_{n}")
        for n in (1, 2, 3)
    ]
    route = NoopStep(
        id="route",
        next=tuple(
            Branch(f"say_{n}", parse(f"session.system.silence_n == {n}")) for n in (1, 2, 3)
        ),
        place=Place("skill.md"),
    )
    return (
        skill("default_session_start", LinkStep(**at("go"), kind="skill", target="desk")),
        skill("default_silence_timeout", route, *check_ins),
        skill(
            "default_silence_timeout_hangup",
            ActionStep(**at("bye"), kind="utter", target="utter_hangup_goodbye"),
        ),
    )
