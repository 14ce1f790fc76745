"""What the caller must come to hear (outcomes, what became true), and what may be left out."""

import asyncio

from runtime.models.scripted_model import Say as Write
from runtime.project.model import Project
from tests.fakes.written_projects import skill
from tests.runtime.engine.helpers import Call, connected
from tests.runtime.engine.worlds import (
    IMPORTS,
    blocks_only,
    fill,
    hear,
    in_project,
    memory,
    nothing,
    ran,
    start,
)

TOOLS = f"""{IMPORTS}
@tool(description="Pay")
async def pay(context: ToolContext = None) -> ToolResult:
    await asyncio.sleep(1)
    context.memory.set("receipt", "R-240")
    return ToolResult()


@tool(description="Pay for good")
async def settle(context: ToolContext = None) -> ToolResult:
    async with context.committing():
        await asyncio.sleep(3)
    return ToolResult()
"""
TOLD = {
    "skills/a/skill.md": blocks_only(
        """
        - {id: pay, execute_tool: pay}
        - {id: ask, collect: rating, utterance: utter_ask_rating}
        """,
        "tool_constraints: [{pay: {on_success: utter_paid}}]",
    ),
    "skills/a/tools.py": TOOLS,
    "skills/a/memory.yml": "schema: {public: {receipt: {type: text}, rating: {type: int}}}",
    "responses.yml": """
    responses:
      utter_paid: ["It is paid, receipt {session.a.receipt}."]
      utter_ask_rating: [How was it?]
    """,
}
PAID = "It is paid, receipt R-240."


async def _cut_after_line(call: Call, seconds: float) -> None:
    """Interrupt the turn so long after its first line was written."""
    await call.voice.wait_event("response_given")
    await asyncio.sleep(seconds)
    call.voice.interrupt()
    await asyncio.sleep(0.5)


@in_project(TOLD)
async def test_an_outcome_that_was_cut_off_unheard_is_told_in_the_next_turn(
    project: Project,
) -> None:
    """C11: the tool is done and its line is flushed before the first sound: it is said again."""
    async with connected([start("a"), *3 * [nothing()]], project=project) as call:
        call.voice.hear("pay")
        await _cut_after_line(call, 0.0)
        assert await hear(call, "wait") == [PAID, "How was it?"]
        assert ran(call) == ["pay"]
        assert await hear(call, "hm") == ["How was it?"], "once heard it is told"


@in_project(TOLD)
async def test_an_outcome_that_was_heard_in_part_is_not_told_again(project: Project) -> None:
    async with connected([start("a"), nothing(), nothing()], project=project) as call:
        call.voice.hear("pay")
        await _cut_after_line(call, 0.6)
        assert await hear(call, "wait") == ["How was it?"]


BECOMES = {
    "skills/a/skill.md": skill(
        "\nTalk.\n", "utter: [{utter_high: {when: session.a.amount > 100}}]"
    ),
    "skills/a/memory.yml": (
        "schema: {public: {amount: {type: int, llm_settable: true, initial_value: 500}}}"
    ),
    "responses.yml": "responses: {utter_high: [That is a lot.]}",
}


@in_project(BECOMES)
async def test_a_rule_that_holds_from_the_start_is_said_when_it_becomes_true(
    project: Project,
) -> None:
    """Section 5, ``utter.when``: the first time it becomes true after a write."""
    steps = [
        start("a"),
        Write("Yes?"),
        fill(amount=5),
        Write("Five."),
        fill(amount=200),
        Write("Done."),
        fill(amount=300),
        Write("Done."),
    ]
    async with connected(steps, project=project) as call:
        assert await hear(call, "hello") == ["Yes?"]
        assert await hear(call, "make it five") == ["Five."]
        assert await hear(call, "make it two hundred") == ["That is a lot.", "Done."]
        assert await hear(call, "make it three hundred") == ["Done."]


@in_project(BECOMES)
async def test_a_null_in_set_fields_means_that_nothing_is_known(project: Project) -> None:
    """Models write it for what the caller left out: no mistake, and nothing is cleared."""
    async with connected(
        [start("a"), Write("Yes?"), fill(amount=None), Write("Well?")], project=project
    ) as call:
        await hear(call, "hello")
        assert await hear(call, "hm") == ["Well?"]
        assert memory(call, "a.amount") is None
        settled = [e["outcome"] for e in call.voice.happened("tool_settled")]
        assert settled == ["ok", "ok"]


@in_project({**TOLD, "skills/a/skill.md": blocks_only("- {id: pay, execute_tool: settle}")})
async def test_a_call_in_its_commit_section_is_not_reported_as_cancelled(
    project: Project,
) -> None:
    """Section 8.4: it ends as it ends, which is told when it does."""
    async with connected([start("a"), nothing()], project=project, strict=False) as call:
        call.voice.hear("pay")
        await asyncio.sleep(1)
        call.voice.interrupt()
        await asyncio.sleep(0.5)
        ended = call.voice.happened("turn_ended")[-1]
        assert (ended["cancelled"], ended["finishing"]) == ([], ["settle"])
        await asyncio.sleep(5)
        assert call.voice.happened("tool_settled")[-1]["outcome"] == "ok"
