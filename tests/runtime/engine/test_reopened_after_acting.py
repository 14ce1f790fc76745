"""Turns that are reopened after something of them took effect: what stands is kept, and not redone.

A turn that had no effect is undone whole: ``test_block_cancellation``.
"""

import asyncio

from runtime.models.ports import ChatRequest
from runtime.models.scripted_model import Call as Ask
from runtime.models.scripted_model import Say as Write
from runtime.models.scripted_model import Wait
from runtime.project.model import Project
from tests.fakes.tool_notes import of
from tests.runtime.engine.bank_files import TOOLS, bank, on_project, say
from tests.runtime.engine.confirmed_payments import (
    CONFIRMED,
    KNOWN,
    NOTHING,
    PAY,
    RESOLVE,
    YES,
    runs,
)
from tests.runtime.engine.helpers import Call, connected
from tests.runtime.engine.worlds import (
    IMPORTS,
    NOTES,
    at_step,
    blocks_only,
    fill,
    flows,
    hear,
    in_project,
    memory,
    nothing,
    ran,
    skills,
    start,
    state,
)


def paying(tool: str) -> dict[str, str]:
    """A skill that pays and then asks where to."""
    return {
        "skills/a/skill.md": blocks_only(
            """
            - id: pay
              execute_tool: pay
            - id: where
              collect: city
              utterance: utter_ask
            """
        ),
        "skills/a/memory.yml": "schema: {public: {city: {type: text}}}\n",
        "skills/a/tools.py": f"{IMPORTS}{NOTES}\n{tool}",
        "responses.yml": "responses: {utter_ask: [Where?]}\n",
    }


async def reopened(call: Call, words: str, first: int) -> None:
    """The caller goes on with the sentence of a turn."""
    call.voice.interrupt("reopened")
    call.voice.hear(words, reopens=first)
    await call.voice.wait_ended()


# ------------------------------------------------------------------ what ran in it


@in_project(
    paying(
        """
@tool(description="Pay")
async def pay(context: ToolContext = None) -> ToolResult:
    async with context.committing():
        await asyncio.sleep(0.005)
        note("paid", context.idempotency_key)
    return ToolResult("R-1")
"""
    )
)
async def test_a_step_that_is_done_is_not_done_again_when_its_turn_is_reopened(
    project: Project,
) -> None:
    """C01, R56: the skill stays where it is, with the tool's outcome; nothing is paid twice."""

    def again(request: ChatRequest) -> Ask | Write:
        return start("a") if "a" in flows(request) else nothing()

    steps = [start("a"), [Wait(3), Write("Hm?")], again]
    async with connected(steps, project=project) as call:
        first = call.voice.hear("pay")
        await asyncio.sleep(0.02)
        await reopened(call, "pay please", first)
        assert len(of("paid")) == 1
        assert ran(call) == ["pay"]
        assert call.prompt() == [("system", "[the system called pay: ok]"), ("user", "pay please")]
        assert call.voice.texts == ["Where?"]
        assert at_step(call) == "where"


@in_project(
    paying(
        """
@tool(description="Pay")
async def pay(context: ToolContext = None) -> ToolResult:
    async with context.committing():
        await asyncio.sleep(3)
    note("paid")
    return ToolResult("R-1")
"""
    )
)
async def test_a_commit_that_ends_in_a_reopened_turn_has_advanced_its_step(
    project: Project,
) -> None:
    """C10, R56: it began in the turn before, and its outcome is of that turn."""
    steps = [start("a"), [Wait(3), Write("Still at it.")], Write("Yes, at it.")]
    async with connected(steps, project=project) as call:
        call.voice.hear("pay")
        await asyncio.sleep(1.5)
        call.voice.interrupt()
        second = call.voice.hear("are you")
        await asyncio.sleep(2.2)
        await reopened(call, "are you still there?", second)
        assert call.voice.texts == ["Yes, at it.", "Where?"]
        assert at_step(call) == "where"
        assert ran(call) == ["pay"]


SLOW = TOOLS.replace(
    'context.memory.set("receipt"', 'await asyncio.sleep(0.3); context.memory.set("receipt"'
)


@on_project(bank("Help the caller.\n", CONFIRMED, skills__desk__tools=SLOW))
async def test_a_confirmed_call_that_ran_is_not_held_again(project: Project) -> None:
    """C10, M02: a yes is good for one run, also when the turn of the yes is reopened after it."""

    def agree(request: ChatRequest) -> Ask | Write:
        return YES if RESOLVE in [t.name for t in request.tools] else Write("It is paid.")

    steps = [PAY, YES, [Wait(9)], agree, agree]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        await say(call, "pay my rent")
        await asyncio.sleep(5)
        first = call.voice.hear("yes")
        await asyncio.sleep(0.5)
        assert len(runs(call)) == 1
        await reopened(call, "yes, uh", first)
        assert state(call).dialogue.holds == ()
        await say(call, "yes")
        assert len(runs(call)) == 1
        assert [e["confirmed"] for e in call.voice.happened("confirmation_answered")] == [True]
        outcomes = [e["outcome"] for e in call.voice.happened("tool_settled") if e["tool"] == "pay"]
        assert outcomes == ["ok"]


@on_project(bank("Help the caller.\n", CONFIRMED, skills__desk__tools=SLOW))
async def test_a_confirmed_call_that_was_cut_off_is_not_held_again(project: Project) -> None:
    """C10, C04: it has had its outcome; the model sees that, and may ask anew."""
    steps = [PAY, YES, Write("It was not paid. Shall I try again?"), PAY, YES, NOTHING]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        await say(call, "pay my rent")
        await asyncio.sleep(5)
        first = call.voice.hear("yes")
        await asyncio.sleep(0.01)
        assert len(runs(call)) == 1
        await reopened(call, "yes, uh", first)
        assert state(call).dialogue.holds == ()
        assert "cancelled" in str(call.prompt())
        assert call.voice.texts[-1] == "It was not paid. Shall I try again?"
        await say(call, "yes")
        await say(call, "yes")
        assert len(runs(call)) == 2
        outcomes = [e["outcome"] for e in call.voice.happened("tool_settled") if e["tool"] == "pay"]
        assert outcomes == ["cancelled", "ok"]


# ------------------------------------------------------------------ not certain yet


@in_project(
    {
        "skills/a/skill.md": blocks_only("- {id: ask, collect: amount}"),
        "skills/a/memory.yml": "schema: {public: {amount: {type: int}}}\n",
    }
)
async def test_an_uncertain_turn_that_reopens_another_is_asked_from_where_that_began(
    project: Project,
) -> None:
    """A06, B09: what is about to be taken back is not offered; both halves have one answer."""
    steps = [start("a"), [Wait(3), Write("How much?")], start("a"), Write("How much?")]
    async with connected([*steps, fill(amount=5), Write("So?")], project=project) as call:
        first = call.voice.hear("I want to pay")
        await asyncio.sleep(1)
        assert skills(call) == ["a"]
        call.voice.interrupt("reopened")
        call.voice.hear("I want to pay a bill", reopens=first, certain=False)
        await asyncio.sleep(0.5)
        assert len(call.model.requests) == 2, "not before it is certain"
        call.voice.confirm("I want to pay a bill")
        await call.voice.wait_ended()
        assert flows(call.model.requests[2]) == ["a"]
        assert call.prompt(2) == [("user", "I want to pay a bill")]
        assert call.voice.texts == ["How much?"]
        await hear(call, "five")
        assert memory(call, "a.amount") == 5
