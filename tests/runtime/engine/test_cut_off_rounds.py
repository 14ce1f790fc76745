"""Rounds and steps that an interruption cuts off: what is settled, and what is considered first.

How a step's tool itself is cancelled or left to finish is ``test_block_cancellation``.
"""

import asyncio

from runtime.conversation.prompt_history import STILL_RUNNING
from runtime.models.scripted_model import Call, Wait
from runtime.models.scripted_model import Say as Write
from runtime.project.model import Project
from tests.fakes.tool_notes import of
from tests.runtime.engine.bank_files import bank, on_project, say
from tests.runtime.engine.confirmed_payments import (
    ARGUMENTS,
    CONFIRMED,
    KNOWN,
    NOTHING,
    PAY,
    QUESTION,
    YES,
    runs,
)
from tests.runtime.engine.helpers import Call as Connected
from tests.runtime.engine.helpers import connected
from tests.runtime.engine.worlds import (
    IMPORTS,
    NOTES,
    at_step,
    blocks_only,
    ended_skills,
    fill,
    hear,
    in_project,
    keys_of,
    memory,
    nothing,
    offered,
    ran,
    start,
    state,
    system,
)

STEP = """
    :::ordered_block id=main
    steps:
      - id: do_pay
        execute_tool: pay
        parameters: {payee: session.desk.payee, amount: session.desk.amount}
      - id: then
        action: action_listen
    :::
"""
STOPPED = "was stopped before it was done"
"""What the prompt says of a step whose call was cut off."""


def results(call: Connected) -> dict[str, str]:
    """The result of each call that the latest request shows, by the call's tool."""
    shown = call.model.requests[-1].messages
    asked = {made.id: made.name for message in shown for made in message.calls}
    return {asked[m.call_id]: m.text for m in shown if m.role == "tool"}


# ------------------------------------------------------------------ rounds


@on_project(bank("Help the caller.\n", CONFIRMED))
async def test_a_call_that_was_to_be_held_when_the_caller_spoke_is_settled(
    project: Project,
) -> None:
    """C03, C04: nobody would ever be asked about it; it is not shown as one that waits."""
    steps = [[Call("balance"), PAY], Write("Yes?")]
    async with connected(steps, project=project, setup=KNOWN) as call:
        call.voice.hear("my balance, and pay my rent")
        await asyncio.sleep(0.5)
        call.voice.interrupt()
        assert await say(call, "wait") == ["Yes?"]
        assert state(call).open_calls == []
        assert state(call).dialogue.holds == ()
        settled = {e["tool"]: e["outcome"] for e in call.voice.happened("tool_settled")}
        assert settled == {"balance": "cancelled", "pay": "cancelled"}
        assert "spoke before it was made" in results(call)["pay"]


SLOW_HOOK = {
    "skills/a/skill.md": blocks_only("- {id: ask, collect: city, utterance: utter_ask}"),
    "skills/a/memory.yml": (
        "schema: {public: {city: {type: text, llm_settable: true}, n: {type: int}}}\n"
    ),
    "skills/a/tools.py": f"""{IMPORTS}{NOTES}
@tool(description="x")
async def run_after_setting_city(context: ToolContext = None) -> ToolResult:
    await asyncio.sleep(5)
    return ToolResult()


@tool(description="Look")
async def look(context: ToolContext = None) -> ToolResult:
    note("looked")
    return ToolResult("seen")
""",
    "responses.yml": "responses: {utter_ask: [Where?]}\n",
}


@in_project(SLOW_HOOK)
async def test_calls_behind_a_write_that_was_cut_off_are_settled_and_not_made(
    project: Project,
) -> None:
    """C03, C04: an interruption during the hook leaves neither the write nor the call open."""
    steps = [start("a"), Write(""), [fill(city="Kiel"), Call("look")], Write("Yes?")]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        call.voice.hear("Kiel, and look")
        await asyncio.sleep(1)
        call.voice.interrupt()
        assert await hear(call, "wait") == ["Yes?", "Where?"]
        assert state(call).open_calls == []
        assert of("looked") == []
        assert "spoke before it was made" in results(call)["set_fields"]
        assert "spoke before it was made" in results(call)["look"]
        assert memory(call, "a.city") is None


# ------------------------------------------------------------------ a yes, and then a stop


async def agreed(call: Connected) -> None:
    """The caller says yes to the step's call, and speaks again before it can run."""
    call.voice.start("opened")
    await call.voice.wait_ended()
    assert call.voice.texts == [QUESTION]
    await asyncio.sleep(5)
    call.voice.hear("yes, and what is my balance?")
    await asyncio.sleep(0.5)
    assert runs(call) == [], "it comes after the round"
    call.voice.interrupt()


@on_project(bank(STEP, CONFIRMED))
async def test_a_stop_after_a_yes_is_heard_before_the_call_runs(project: Project) -> None:
    """C12, M02: the yes is of an earlier turn, and they have spoken since."""
    steps = [[YES, Call("balance")], Call("cancel_skill"), Write("I won't.")]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        await agreed(call)
        await say(call, "no, stop, don't pay")
        assert runs(call) == []
        assert ended_skills(call)[0] == ("desk", "cancelled")


@on_project(bank(STEP, CONFIRMED))
async def test_an_agreed_call_whose_skill_is_cancelled_is_settled(project: Project) -> None:
    """C04, R42: it is not shown to the model as a payment that still runs."""
    steps = [[YES, Call("balance")], Call("cancel_skill"), Write("As you like.")]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        await agreed(call)
        await say(call, "no, stop, don't pay")
        await say(call, "thank you")
        assert STILL_RUNNING not in str(call.prompt())
        assert state(call).open_calls == []


@on_project(bank(STEP, CONFIRMED))
async def test_an_agreed_call_that_has_not_begun_is_not_shown_as_running(
    project: Project,
) -> None:
    """C12, C04: the model decides about it as about a call that was cut off."""
    steps = [[YES, Call("balance")], Write("At once.")]
    async with connected(steps, project=project, setup=KNOWN) as call:
        await agreed(call)
        await say(call, "wait")
        assert STILL_RUNNING not in str(call.prompt(1))


@on_project(bank(STEP, CONFIRMED))
async def test_an_agreed_call_whose_values_change_before_it_runs_is_asked_about_anew(
    project: Project,
) -> None:
    """M02, C12: the yes was for other values."""
    change = Call("correct", {"memory_key": "amount", "value": 500})
    steps = [[YES, Call("balance")], change]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        await agreed(call)
        heard = await say(call, "wait, make it 500")
        assert runs(call) == []
        assert heard == ["Shall I pay 500 euros to Haus Nord?"]


@on_project(bank(STEP, CONFIRMED))
async def test_a_yes_stands_if_what_the_caller_said_then_is_no_stop(project: Project) -> None:
    """C12: the question is not put a second time."""
    steps = [[YES, Call("balance")], Write("Yes, at once.")]
    async with connected(steps, project=project, setup=KNOWN) as call:
        await agreed(call)
        heard = await say(call, "quickly please")
        assert heard == ["Yes, at once.", "It is paid, receipt R-240."]
        assert runs(call) == [ARGUMENTS]


# ------------------------------------------------------------------ a step that was cut off

PAYING = {
    "skills/a/skill.md": blocks_only(
        """
        - id: pay
          execute_tool: pay
        - id: done
          action: utter_done
        """
    ),
    "skills/a/tools.py": f"""{IMPORTS}{NOTES}
@tool(description="Pay")
async def pay(context: ToolContext = None) -> ToolResult:
    await asyncio.sleep(3)
    note("paid", context.idempotency_key)
    return ToolResult("R-1")
""",
    "responses.yml": "responses: {utter_done: [Done.]}\n",
}


async def cut_off(call: Connected) -> None:
    """The caller speaks while the step's tool runs."""
    call.voice.hear("pay")
    await asyncio.sleep(1)
    call.voice.interrupt()


@in_project(PAYING)
async def test_what_cut_a_step_off_is_heard_by_the_model_before_it_runs_again(
    project: Project,
) -> None:
    """R57: "no, stop" is not answered with the payment; the model knows that it was stopped."""
    steps = [start("a"), Call("cancel_skill")]
    async with connected(steps, project=project, strict=False) as call:
        await cut_off(call)
        await hear(call, "no, stop")
        assert f"the call of `pay` {STOPPED}" in system(call, 1)
        situation = call.model.requests[1].situation
        assert situation is not None
        assert situation.step_cancelled == "pay"
        assert ended_skills(call)[0] == ("a", "cancelled")
        assert of("paid") == []
        assert ran(call) == ["pay"], "it was not begun a second time"


@in_project(PAYING)
async def test_a_step_that_was_cut_off_runs_again_after_the_model_s_word(
    project: Project,
) -> None:
    """R57: with the same key; the block goes on after it."""
    steps = [start("a"), Write("I am at it.")]
    async with connected(steps, project=project) as call:
        await cut_off(call)
        assert await hear(call, "are you there?") == ["I am at it.", "Done."]
        first, second = keys_of(call, "pay")
        assert first == second
        assert of("paid") == [second]


@in_project(PAYING)
async def test_a_model_that_has_nothing_to_say_lets_the_step_run_again(project: Project) -> None:
    """R57: an empty reply is fine there: the call goes on by itself."""
    async with connected([start("a"), NOTHING], project=project) as call:
        await cut_off(call)
        assert await hear(call, "go on") == ["Done."]
        assert len(of("paid")) == 1


@in_project(PAYING)
async def test_a_turn_without_words_runs_a_step_again_at_once(project: Project) -> None:
    """R57: there is nothing for the model to consider."""
    async with connected([start("a")], project=project) as call:
        await cut_off(call)
        call.voice.start("asked")
        await call.voice.wait_ended()
        assert call.voice.texts == ["Done."]
        assert len(of("paid")) == 1


# ------------------------------------------------------------------ a later turn sees the end


@in_project(
    {
        **PAYING,
        "skills/a/tools.py": PAYING["skills/a/tools.py"].replace(
            '"Pay"', '"Pay", on_interrupt="finish"'
        ),
    }
)
async def test_a_tool_that_ends_in_a_turn_that_is_reopened_has_ended_all_the_same(
    project: Project,
) -> None:
    """C10: the block goes on; nothing is stuck at a call that nobody waits for."""
    steps = [start("a"), [Wait(3), Write("Still at it.")], Write("Yes, at it.")]
    async with connected(steps, project=project, strict=False) as call:
        await cut_off(call)
        second = call.voice.hear("are you")
        await asyncio.sleep(2.5)
        assert len(of("paid")) == 1
        assert call.voice.texts == []
        call.voice.interrupt("reopened")
        call.voice.hear("are you still there?", reopens=second)
        await call.voice.wait_ended()
        assert call.voice.texts[-1] == "Done."
        assert at_step(call) is None
        assert ran(call) == ["pay"]


@in_project(PAYING)
async def test_a_step_that_was_cut_off_is_not_the_models_to_call_as_well(project: Project) -> None:
    """C01, R57: "go on" runs it once, as the step, with the key it had."""
    steps = [start("a"), [Call("pay", {})], nothing()]
    async with connected(steps, project=project, strict=False) as call:
        await cut_off(call)
        await hear(call, "go on")
        assert "pay" not in offered(call, 1)
        assert len(of("paid")) == 1
        assert len(set(keys_of(call, "pay"))) == 1
