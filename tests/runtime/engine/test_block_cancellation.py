"""A step's tool and the caller who interrupts it: what is recorded, where the block goes on."""

import asyncio
from dataclasses import replace

from runtime.conversation.events import LateOutcome, MemorySet, ToolSettled, ToolStarted
from runtime.models.scripted_model import Say as Write
from runtime.project.model import Project
from runtime.store.memory_store import MemoryStore
from tests.fakes.tool_notes import note, of
from tests.fakes.voice_side import Voice
from tests.runtime.engine.helpers import Call, connected
from tests.runtime.engine.worlds import (
    IMPORTS,
    NOTES,
    at_step,
    blocks_only,
    events,
    facts,
    fill,
    hear,
    in_project,
    keys_of,
    memory,
    nothing,
    ran,
    skills,
    start,
    state,
)

TOOLS = f"""{IMPORTS}{NOTES}
@tool(description="Runs long; can be stopped anywhere")
async def slow(context: ToolContext = None) -> ToolResult:
    note("start", context.idempotency_key)
    context.memory.set("seen", "half")
    await asyncio.sleep(3)
    context.memory.set("seen", "whole")
    note("end")
    return ToolResult()


@tool(description="Looks whether it may go on")
async def careful(context: ToolContext = None) -> ToolResult:
    for _ in range(30):
        try:
            await asyncio.sleep(0.1)
        except asyncio.CancelledError:
            note("cancelled", context.is_cancelled)
            raise
    note("end")
    return ToolResult()


@tool(description="Answers from its handler")
async def stubborn(context: ToolContext = None) -> ToolResult:
    try:
        await asyncio.sleep(3)
    except asyncio.CancelledError:
        note("cleanup")
        return ToolResult("from the handler")
    return ToolResult("done")


@tool(description="Cleans up")
async def tidy(context: ToolContext = None) -> ToolResult:
    try:
        await asyncio.sleep(3)
    except asyncio.CancelledError:
        note("cleanup")
        context.memory.set("seen", "tidied")
        raise
    return ToolResult("done")


@tool(description="Must not be stopped", on_interrupt="finish")
async def finish(context: ToolContext = None) -> ToolResult:
    note("start", context.idempotency_key)
    await asyncio.sleep(3)
    context.memory.set("seen", "finished")
    note("end")
    return ToolResult("done")


@tool(description="Pays")
async def pay(context: ToolContext = None) -> ToolResult:
    await asyncio.sleep(1)
    async with context.committing():
        await asyncio.sleep(2)
        note("paid", context.idempotency_key)
        context.memory.set("seen", "paid")
    return ToolResult("paid")


@tool(description="Quick")
async def quick(context: ToolContext = None) -> ToolResult:
    note("quick")
    return ToolResult()
"""


def files(tool: str, tools: str = TOOLS) -> dict[str, str]:
    """A block that says a line, runs the tool, says another, and waits."""
    return {
        "skills/a/skill.md": blocks_only(
            f"""
            - id: before
              action: utter_before
            - id: work
              execute_tool: {tool}
            - id: after
              action: utter_after
            - id: rest
              collect: rest
              utterance: utter_rest
            """
        ),
        "skills/a/memory.yml": """
        schema: {public: {seen: {type: text}, rest: {type: text}, name: {type: text}}}
        """,
        "skills/a/tools.py": tools,
        "responses.yml": """
        responses: {utter_before: [Before.], utter_after: [After.], utter_rest: ["And then?"]}
        """,
    }


async def interrupted(call: Call, after_s: float) -> None:
    """Say something, and interrupt the turn so long after it."""
    call.voice.hear("go")
    await asyncio.sleep(after_s)
    call.voice.interrupt()


def outcomes(call: Call, tool: str) -> list[str]:
    """The recorded outcomes of a tool's calls."""
    return [str(e["outcome"]) for e in call.voice.happened("tool_settled") if e["tool"] == tool]


@in_project(files("slow"))
async def test_cancelled_at_its_await_the_step_is_pending_and_runs_again(
    project: Project,
) -> None:
    """R54, R57, R58, M13: no record, no advance; run again next turn with the same key; memory
    that was written stays."""
    async with connected([start("a"), nothing()], project=project) as call:
        await interrupted(call, 1)
        await asyncio.sleep(0.1)
        assert at_step(call) == "work"
        assert outcomes(call, "slow") == ["cancelled"]
        assert memory(call, "a.seen") == "half"
        said = await hear(call, "go on")
        assert said == ["After.", "And then?"]
        assert outcomes(call, "slow") == ["cancelled", "ok"]
        first, second = keys_of(call, "slow")
        assert first == second and of("start") == [first, second]
        assert len(of("end")) == 1
        assert memory(call, "a.seen") == "whole"


@in_project(files("slow"))
async def test_cancelled_time_and_again_it_is_one_wish(project: Project) -> None:
    """R57: the key is the same however often the step was interrupted."""
    steps = [start("a"), nothing(), nothing(), nothing()]
    async with connected(steps, project=project, strict=False) as call:
        for _ in range(3):
            await interrupted(call, 1)
        await hear(call, "go on")
        assert len(keys_of(call, "slow")) == 4
        assert len(set(keys_of(call, "slow"))) == 1
        assert call.voice.texts.count("Before.") == 1


@in_project(files("slow"))
async def test_a_tool_that_returned_has_advanced_the_step(project: Project) -> None:
    """R56: recorded and advanced, though the turn was interrupted right after it."""
    async with connected([start("a"), nothing(), nothing()], project=project) as call:
        await interrupted(call, 3.05)
        assert outcomes(call, "slow") == ["ok"]
        await hear(call, "go on")
        assert ran(call) == ["slow"]
        assert at_step(call) == "rest"


@in_project(files("quick"))
async def test_a_return_that_raced_the_interruption_counts(project: Project) -> None:
    """R56: it returned in the very tick of the interruption: recorded, advanced, run once."""
    async with connected([start("a"), nothing()], project=project, strict=False) as call:
        call.voice.hear("go")
        while not of("quick"):  # noqa: ASYNC110  # to the very tick
            await asyncio.sleep(0)
        call.voice.interrupt()
        await hear(call, "go on")
        assert len(of("quick")) == 1
        assert outcomes(call, "quick") == ["ok"]
        assert at_step(call) == "rest"


@in_project(files("careful"))
async def test_the_tool_sees_that_it_is_cancelled(project: Project) -> None:
    """R54, R59: ``CancelledError`` at the current await, ``is_cancelled`` true by then."""
    async with connected([start("a")], project=project) as call:
        await interrupted(call, 1)
        await asyncio.sleep(0.1)
        assert of("cancelled") == [True]
        assert of("end") == []
        assert at_step(call) == "work"


SYNC = f"""{IMPORTS}{NOTES}
from tests.fakes import tool_notes

@tool(description="Sync work between two looks")
async def early(context: ToolContext = None) -> ToolResult:
    note("look", context.is_cancelled)
    for each in tool_notes.notes:
        if each.what == "interrupt":
            each.value()
    note("sync ran on")
    if context.is_cancelled:
        note("early")
        return ToolResult("stopped early")
    await asyncio.sleep(3)
    return ToolResult("whole")
"""


@in_project(files("early", SYNC))
async def test_an_early_return_is_recorded_and_advances(project: Project) -> None:
    """R55, R59: sync work runs to its end; ``is_cancelled`` is true before the error arrives; a
    tool that returns on it has returned."""
    async with connected([start("a"), nothing()], project=project, strict=False) as call:
        note("interrupt", call.voice.interrupt)
        await asyncio.sleep(0)
        call.voice.hear("go")
        await call.voice.wait_event("turn_ended")
        await asyncio.sleep(0.1)
        assert of("look") == [False]
        assert len(of("sync ran on")) == len(of("early")) == 1
        assert outcomes(call, "early") == ["ok"]
        await hear(call, "go on")
        assert ran(call) == ["early"]
        assert at_step(call) == "rest"


@in_project(files("stubborn"))
async def test_a_value_from_the_handler_is_discarded(project: Project) -> None:
    """R60: what an ``except CancelledError`` handler returns is no result: the step is pending."""
    async with connected([start("a"), nothing()], project=project) as call:
        await interrupted(call, 1)
        await asyncio.sleep(0.1)
        assert len(of("cleanup")) == 1
        assert outcomes(call, "stubborn") == ["cancelled"]
        assert "from the handler" not in str([f.result for f in facts(call, ToolSettled)])
        assert at_step(call) == "work"
        await hear(call, "go on")
        assert outcomes(call, "stubborn") == ["cancelled", "ok"]


@in_project(files("tidy"))
async def test_cleanup_and_raise_keeps_what_the_cleanup_wrote(project: Project) -> None:
    """R60, R58: cleanup runs; memory it wrote stays; the step is pending."""
    async with connected([start("a")], project=project) as call:
        await interrupted(call, 1)
        await asyncio.sleep(0.1)
        assert len(of("cleanup")) == 1
        assert memory(call, "a.seen") == "tidied"
        assert outcomes(call, "tidy") == ["cancelled"]
        assert at_step(call) == "work"


@in_project(files("finish"))
async def test_a_finish_tool_runs_on_and_the_step_does_not_call_it_again(
    project: Project,
) -> None:
    """R57, section 8.1: on_interrupt="finish": one run, one effect, then the block goes on."""
    async with connected(
        [start("a"), Write("It is under way."), nothing()], project=project
    ) as call:
        await interrupted(call, 1)
        said = await hear(call, "is it done?")
        assert said == ["It is under way.", "After.", "And then?"]
        assert outcomes(call, "finish") == ["ok"]
        assert len(of("start")) == len(of("end")) == 1
        assert memory(call, "a.seen") == "finished"
        await hear(call, "and now?")
        assert ran(call) == ["finish"]
        assert at_step(call) == "rest"


@in_project(files("pay"))
async def test_a_commit_section_ends_and_the_block_goes_on_after_it(project: Project) -> None:
    """R57, section 8.4: a payment sent is a payment known: never made a second time."""
    async with connected([start("a"), nothing()], project=project) as call:
        await interrupted(call, 2)
        said = await hear(call, "go on")
        assert said == ["After.", "And then?"]
        assert len(of("paid")) == 1
        assert ran(call) == ["pay"]
        assert outcomes(call, "pay") == ["ok"]


@in_project(files("pay"))
async def test_before_its_commit_section_it_is_cancelled_as_any_other(project: Project) -> None:
    """R57: nothing was paid; the next turn pays, once, with the same key."""
    async with connected([start("a"), nothing()], project=project) as call:
        await interrupted(call, 0.5)
        assert await hear(call, "go on") == ["After.", "And then?"]
        assert outcomes(call, "pay") == ["cancelled", "ok"]
        first, second = keys_of(call, "pay")
        assert first == second
        assert of("paid") == [first]


@in_project(files("slow"))
async def test_hanging_up_cancels_and_the_next_call_goes_on_at_the_step(
    project: Project,
) -> None:
    """R54, R57: a disconnect cancels; the conversation taken up again runs the step, same key."""
    store = MemoryStore()
    steps = [start("a"), nothing()]
    async with connected(steps, project=project, store=store) as call:
        call.voice.hear("go")
        await asyncio.sleep(1)
        call.voice.close("caller")
        await asyncio.sleep(1)
        assert outcomes(call, "slow") == ["cancelled"]
        again = Voice(call.agent, call=2)
        await again.ready("c1")
        again.hear("me again")
        await again.wait_ended()
        assert again.texts == ["After.", "And then?"]
        assert of("start")[0] == of("start")[1]


@in_project(files("slow"))
async def test_the_session_s_expiry_cancels(project: Project) -> None:
    """R54: expiry ends the call as a disconnect does."""
    async with connected([start("a")], project=project) as call:
        call.voice.hear("go")
        await asyncio.sleep(1)
        live = state(call)
        call.voice.close("expired")
        await asyncio.sleep(1)
        assert outcomes(call, "slow") == ["cancelled"]
        place = live.dialogue.frames[-1].place
        assert live.ended and place is not None and place.step == "work"


@in_project(files("finish"))
async def test_a_finish_tool_outlives_the_call(project: Project) -> None:
    """R54, section 8.4: it ends after the hang-up, and its step has advanced."""
    store = MemoryStore()
    steps = [start("a"), nothing()]
    async with connected(steps, project=project, store=store) as call:
        call.voice.hear("go")
        await asyncio.sleep(1)
        call.voice.close("caller")
        await asyncio.sleep(5)
        assert len(of("end")) == 1
        again = Voice(call.agent, call=2)
        await again.ready("c1")
        again.hear("me again")
        await again.wait_ended()
        assert len(of("start")) == 1
        assert again.texts == ["After.", "And then?"]


@in_project(files("finish"))
async def test_a_step_waits_for_a_tool_that_an_earlier_call_left_running(
    project: Project,
) -> None:
    """R57, section 8.4: the caller is back before it has ended: it is not started again."""
    store = MemoryStore()
    steps = [start("a"), Write("One moment."), nothing()]
    async with connected(steps, project=project, store=store, strict=False) as call:
        call.voice.hear("go")
        await asyncio.sleep(1)
        call.voice.close("lost")
        await asyncio.sleep(0.2)
        again = Voice(call.agent, call=2)
        assert (await again.ready("c1")).conversation == "c1"
        again.hear("me again")
        await again.wait_ended()
        assert len(of("start")) == len(of("end")) == 1
        assert again.texts == ["One moment.", "After.", "And then?"]


@in_project(
    {
        **files("quick"),
        "skills/a/skill.md": blocks_only(
            """
            - id: who
              collect: name
              utterance: utter_before
            - id: rest
              collect: rest
              utterance: utter_rest
            """
        ),
    }
)
async def test_a_reopened_turn_is_undone_and_its_words_are_one_message(
    project: Project,
) -> None:
    """B09: what its engine wrote and where it moved is undone; the model reads one message."""
    steps = [start("a"), nothing(), fill(name="Nora"), fill(name="Nora Feld")]
    async with connected(steps, project=project) as call:
        assert await hear(call, "hi") == ["Before."]
        first = call.voice.hear("I'm Nora")
        await call.voice.wait_event("memory_set")
        assert at_step(call) == "rest"
        call.voice.interrupt("reopened")  # nothing of the answer was heard
        call.voice.hear("I'm Nora Feld", reopens=first)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await call.voice.wait_ended()
        assert at_step(call) == "rest"
        assert memory(call, "a.name") == "Nora Feld"
        said = [text for role, text in call.prompt() if role == "user"]
        assert said == ["hi", "I'm Nora Feld"]
        assert [f.value for f in facts(call, MemorySet)] == ['"Nora"', '"Nora Feld"']


@in_project(
    {
        **files("quick"),
        "skills/a/skill.md": blocks_only(
            """
            - id: who
              collect: name
              utterance: utter_before
            - id: rest
              collect: rest
              utterance: utter_rest
            """
        ),
    }
)
async def test_a_reopened_turn_that_meant_something_else_leaves_nothing_of_the_first(
    project: Project,
) -> None:
    """B09: the value of the undone turn is gone, and so is the skill that it started."""
    steps = [start("a"), nothing(), Write("We open at nine.")]
    async with connected(steps, project=project) as call:
        first = call.voice.hear("I want")
        await call.voice.wait_event("step_entered", 2)
        call.voice.interrupt("reopened")
        call.voice.hear("I want to know when you open", reopens=first)
        await asyncio.sleep(0.01)
        await call.voice.wait_ended()
        assert call.model.requests[-1].messages[-1].text == "I want to know when you open"
        assert skills(call) == []
        assert memory(call, "a.name") is None


@in_project(files("slow"))
async def test_a_timeout_is_an_outcome_and_advances(project: Project) -> None:
    """R5, R57: only its call ends; the block goes on, nothing is run twice."""
    async with connected(
        [start("a"), nothing()], project=replace(project, tool_timeout_s=1.0)
    ) as call:
        assert await hear(call, "go") == ["Before.", "After.", "And then?"]
        assert outcomes(call, "slow") == ["timed_out"]
        assert facts(call, LateOutcome) == []
        assert state(call).open_calls == []


@in_project(files("slow"))
async def test_an_earlier_life_s_open_step_is_settled_and_goes_on(project: Project) -> None:
    """R57: what ran when the process died is "unknown" to the step, which then goes on."""
    async with connected([start("a")], project=project) as call:
        call.voice.hear("go")
        await asyncio.sleep(1)
        past = [replace(event, conversation="old") for event in events(call)]
    cut = next(i for i, e in enumerate(past) if isinstance(e.fact, ToolStarted)) + 1
    lost = MemoryStore()
    await lost.append(past[:cut])
    async with connected([nothing()], project=project, store=lost, strict=False) as call:
        other = Voice(call.agent, call=2)
        ready = await other.ready("old")
        assert ready.conversation == "old"
        other.hear("hello?")
        await other.wait_ended()
        assert [e["outcome"] for e in other.happened("tool_settled")] == []
        assert other.texts == ["After.", "And then?"]
