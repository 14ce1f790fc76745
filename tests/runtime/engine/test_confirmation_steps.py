"""Confirmations of a step's calls, of calls inside a step, and over a restart of the agent."""

import asyncio
from pathlib import Path

import pytest

from runtime.models.scripted_model import Call, ScriptedModel
from runtime.models.scripted_model import Say as Write
from runtime.plane import InLoopAgent
from runtime.project.model import Project
from runtime.store.memory_store import MemoryStore
from tests.fakes.voice_side import Voice
from tests.runtime.engine.bank_files import bank, on_project, say
from tests.runtime.engine.confirmed_payments import (
    ARGUMENTS,
    CONFIRMED,
    KNOWN,
    NO,
    NOTHING,
    PAY,
    PHRASED,
    PROSE,
    QUESTION,
    YES,
    runs,
)
from tests.runtime.engine.helpers import connected

BLOCK = """
    :::ordered_block id=main
    steps:
      - id: who
        collect: payee
      - id: how_much
        collect: amount
      - id: do_pay
        execute_tool: pay
        parameters: {payee: session.desk.payee, amount: session.desk.amount}
      - id: then
        action: action_listen
      - id: again
        execute_tool: pay
        parameters: {payee: session.desk.payee, amount: session.desk.amount}
      - id: last
        action: action_listen
    :::
"""


@pytest.mark.parametrize(
    "step",
    ["instructions: Help with payments.", "collect: verified\n        utterance: utter_denied"],
)
def test_a_call_of_the_model_s_inside_a_step_is_held_and_asked_again_too(
    tmp_path: Path, step: str
) -> None:
    """C5, C8: nothing else of the step comes after the question."""
    body = f"""
    :::ordered_block id=main
    steps:
      - id: only
        {step}
    :::
    """

    @on_project(bank(body, CONFIRMED))
    async def scenario(project: Project) -> None:
        steps = [PAY, Write("It is your rent."), YES, NOTHING]
        async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
            assert await say(call, "pay my rent") == [QUESTION]
            assert await say(call, "what?") == ["It is your rent.", QUESTION]
            assert (await say(call, "yes"))[0] == "It is paid, receipt R-240."

    scenario(tmp_path)


@on_project(bank(BLOCK, CONFIRMED))
async def test_a_step_s_call_is_held_and_a_later_step_of_the_tool_asks_anew(
    project: Project,
) -> None:
    """C10, C12, C6: one yes is good for one run."""
    steps = [YES, YES]
    async with connected(steps, project=project, setup=KNOWN) as call:
        call.voice.start("opened")
        await call.voice.wait_ended()
        assert call.voice.texts == [QUESTION]
        assert runs(call) == []
        assert (await say(call, "yes"))[0] == "It is paid, receipt R-240."
        assert len(runs(call)) == 1
        heard = await say(call, "and once more")
        assert heard[-1] == QUESTION
        assert len(runs(call)) == 1
        await say(call, "yes")
        assert runs(call) == [ARGUMENTS, ARGUMENTS]


@on_project(bank(BLOCK.replace("      - id: then\n        action: action_listen\n", ""), CONFIRMED))
async def test_a_later_step_may_ask_anew_in_the_same_turn(project: Project) -> None:
    """C10: the yes to the first is none to the second."""
    async with connected([YES, NO], project=project, setup=KNOWN) as call:
        call.voice.start("opened")
        await call.voice.wait_ended()
        assert await say(call, "yes") == ["It is paid, receipt R-240.", QUESTION]
        assert await say(call, "no") == ["Then I won't pay."]
        assert runs(call) == [ARGUMENTS]


@on_project(bank(BLOCK, CONFIRMED))
async def test_no_to_a_step_s_call_goes_on_behind_it(project: Project) -> None:
    """C7, C12"""
    async with connected([NO], project=project, setup=KNOWN) as call:
        call.voice.start("opened")
        await call.voice.wait_ended()
        assert await say(call, "no") == ["Then I won't pay."]
        assert runs(call) == []
        assert call.voice.happened("step_entered")[-1]["step"] == "then"


@pytest.mark.parametrize("beside", [False, True])
def test_a_step_whose_values_were_corrected_asks_with_the_new_ones(
    tmp_path: Path, beside: bool
) -> None:
    """M02: bound to its arguments; withdrawn, asked anew, and only the new call runs."""

    @on_project(bank(BLOCK, CONFIRMED))
    async def scenario(project: Project) -> None:
        change = Call("correct", {"memory_key": "amount", "value": 300})
        steps = [[change, YES], YES] if beside else [change, YES]
        async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
            call.voice.start("opened")
            await call.voice.wait_ended()
            heard = await say(call, "300 rather")
            assert heard == ["Shall I pay 300 euros to Haus Nord?"]
            assert runs(call) == []
            assert len(call.voice.happened("confirmation_withdrawn")) == 1
            assert await say(call, "yes") == ["It is paid, receipt R-300."]
            assert runs(call) == ['{"amount":300,"payee":"Haus Nord"}']

    scenario(tmp_path)


@on_project(bank(BLOCK, PHRASED))
async def test_the_model_phrases_the_question_of_a_step_without_a_line(project: Project) -> None:
    """C5, C12"""
    steps = [Write("240 euros to Haus Nord, right?"), YES]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        assert await say(call, "hello") == ["240 euros to Haus Nord, right?"]
        assert runs(call) == []
        await say(call, "yes")
        assert runs(call) == [ARGUMENTS]


@on_project(
    bank(
        """
        :::ordered_block id=main
        steps:
          - id: only
            collect: verified
            utterance: utter_denied
        :::
        """,
        CONFIRMED,
    )
)
async def test_a_withdrawn_call_inside_a_step_is_the_model_s_to_make_again(
    project: Project,
) -> None:
    """M02: before the step's own question comes again."""
    steps = [
        PAY,
        Call("correct", {"memory_key": "amount", "value": 300}),
        Call("pay", {"payee": "Haus Nord", "amount": 300}),
    ]
    async with connected(steps, project=project, setup=KNOWN) as call:
        assert await say(call, "pay my rent") == [QUESTION]
        assert await say(call, "300 rather") == ["Shall I pay 300 euros to Haus Nord?"]


@on_project(
    bank(
        BLOCK,
        CONFIRMED,
        skills__desk__responses="""
        responses:
          utter_ask_pay: [Shall I pay it now?]
          utter_denied: [Then I won't pay.]
          utter_paid: ["It is paid, receipt {receipt}."]
          utter_not_paid: [That did not work.]
        """,
    )
)
async def test_a_yes_beside_a_change_of_the_step_s_arguments_is_none(project: Project) -> None:
    """M02: though the question has no values in it."""
    change = Call("correct", {"memory_key": "amount", "value": 300})
    async with connected([[change, YES], YES], project=project, setup=KNOWN) as call:
        call.voice.start("opened")
        await call.voice.wait_ended()
        assert await say(call, "yes, but 300") == ["Shall I pay it now?"]
        assert runs(call) == []
        assert await say(call, "yes") == ["It is paid, receipt R-300."]


@pytest.mark.parametrize("was_heard", [True, False])
def test_a_held_call_survives_a_restart_of_the_agent(tmp_path: Path, was_heard: bool) -> None:
    """M02: a yes counts if the question was heard before; else it is asked again."""

    @on_project(PROSE)
    async def scenario(project: Project) -> None:
        store = MemoryStore()
        first = InLoopAgent(
            project,
            models=[ScriptedModel([PAY])],
            store=store,
            setup=KNOWN,
            new_conversation=lambda _: "c1",
        )
        voice = Voice(first)
        await voice.ready()
        voice.hear("pay my rent")
        await voice.wait_event("confirmation_asked", 2)
        await asyncio.sleep(5 if was_heard else 0.3)
        voice.close("lost")
        await asyncio.sleep(0.1)
        await first.aclose()

        model = ScriptedModel([YES, NOTHING] if was_heard else [NOTHING, YES, NOTHING])
        second = InLoopAgent(project, models=[model], store=store)
        voice = Voice(second)
        await voice.ready("c1")
        voice.hear("yes")
        await voice.wait_ended()
        if not was_heard:
            assert voice.texts == [QUESTION]
            assert voice.happened("tool_started") == []
            voice.hear("yes")
            await voice.wait_ended()
        assert voice.texts[-1] == "It is paid, receipt R-240."
        assert [e["text"] for e in voice.happened("tool_started")] == [ARGUMENTS]
        await second.aclose()
        model.assert_finished()

    scenario(tmp_path)
