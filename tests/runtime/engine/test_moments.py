"""What a moment shows to tools and models: the time, expected answers, what can be corrected.

The words of the prompt are ``test_prompts``.
"""

import asyncio
from datetime import UTC, datetime, timedelta

from runtime.models.scripted_model import Call as Ask
from runtime.models.scripted_model import Say as Write
from runtime.models.situation import Situation
from runtime.project.model import Project
from tests.fakes.tool_notes import of
from tests.fakes.written_projects import skill
from tests.runtime.engine.helpers import Call, connected
from tests.runtime.engine.worlds import (
    IMPORTS,
    NOTES,
    blocks_only,
    fill,
    hear,
    in_project,
    nothing,
    offered,
    start,
)

WALL_START = datetime.fromtimestamp(1_700_000_000.0, tz=UTC)
"""When the calls of these tests begin, by the calendar."""


def situation(call: Call, request: int = -1) -> Situation:
    """The moment that a request was made in, as data."""
    found = call.model.requests[request].situation
    assert found is not None
    return found


@in_project(
    {
        "skills/a/skill.md": skill("\nTalk.\n"),
        "skills/a/tools.py": f"""{IMPORTS}{NOTES}
@tool(description="x", timeout=200)
async def look(context: ToolContext = None) -> ToolResult:
    note("now", context.now)
    await asyncio.sleep(90)
    note("now", context.now)
    return ToolResult()
""",
    }
)
async def test_a_tool_s_now_is_the_moment_of_the_call(project: Project) -> None:
    """By the call's own clock, in UTC; the prompt has the same."""
    async with connected([start("a"), Ask("look"), Write("Done.")], project=project) as call:
        await asyncio.sleep(3600)
        call.voice.hear("look it up")
        await asyncio.sleep(100)
        first, second = of("now")
        assert isinstance(first, datetime)
        assert isinstance(second, datetime)
        assert first.tzinfo is UTC
        assert abs(first - WALL_START - timedelta(hours=1)) < timedelta(seconds=1)
        assert second - first == timedelta(seconds=90)
        assert f"{first:%Y-%m-%d %H:%M}" in call.model.requests[0].messages[0].text
        assert situation(call).today == f"{first:%Y-%m-%d}"


FORM = {
    "skills/a/skill.md": blocks_only(
        """
        - id: who
          collect: name
          utterance: utter_name
        - id: number
          collect: number
          utterance: utter_number
          expect: {kind: digits, length: 6}
        """
    ),
    "skills/a/memory.yml": """
    schema:
      public:
        name: {type: text}
        number: {type: text}
        size: {type: int, initial_value: 3, llm_settable: true}
    """,
    "responses.yml": "responses: {utter_name: [Your name?], utter_number: [Your number?]}\n",
}


@in_project(FORM)
async def test_a_field_is_shown_with_the_answer_that_its_own_step_expects(
    project: Project,
) -> None:
    """Also where another step is asked, so that both can be given in one sentence."""
    steps = [start("a"), nothing(), fill(name="Ann"), nothing()]
    async with connected(steps, project=project, strict=False) as call:
        await hear(call, "hi")
        kinds = {field.name: field.expect.kind for field in situation(call).settable}
        assert kinds == {"name": "open", "number": "digits", "size": "open"}
        number = next(f for f in situation(call).settable if f.name == "number")
        assert number.expect.length == 6


@in_project(FORM)
async def test_what_a_field_begins_with_is_nothing_to_correct(project: Project) -> None:
    """R44: nobody has given it; once it is written it can be."""
    steps = [start("a"), nothing(), fill(size=4), nothing(), nothing()]
    async with connected(steps, project=project, strict=False) as call:
        await hear(call, "hi")
        assert "correct" not in offered(call)
        assert situation(call).correctable == ()
        await hear(call, "four of them")
        await hear(call, "well")
        assert "correct" in offered(call)
        assert [field.name for field in situation(call).correctable] == ["size"]
