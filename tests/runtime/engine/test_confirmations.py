"""Confirmations: what is held, what is asked, which words answer, and what runs in the end."""

import asyncio
from pathlib import Path

import pytest

from runtime.agent import ConfirmTurn, Heard, Input, Listen
from runtime.models.scripted_model import Call
from runtime.models.scripted_model import Say as Write
from runtime.project.model import Project
from tests.runtime.engine.bank_files import bank, offered, on_project, say, system, told
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
    RESOLVE,
    YES,
    runs,
)
from tests.runtime.engine.helpers import connected

# ------------------------------------------------------------------ asked and answered


@on_project(PROSE)
async def test_a_call_is_held_until_the_caller_says_yes_and_runs_as_it_was_held(
    project: Project,
) -> None:
    """C5, C6, C11, R45: the engine asks with its own words; the model can't change the call."""
    async with connected([PAY, YES, NOTHING], project=project, setup=KNOWN) as call:
        assert await say(call, "pay my rent") == [QUESTION]
        assert runs(call) == []
        assert call.voice.of(Listen)[-1].expect.kind == "yes_no"
        assert RESOLVE not in offered(call.model.requests[0])
        assert await say(call, "yes please") == ["It is paid, receipt R-240."]
        assert RESOLVE in offered(call.model.requests[1])
        assert runs(call) == [ARGUMENTS]
        assert told(call.model.requests[1]) == ["awaits_confirmation"]


@on_project(PROSE)
async def test_no_cancels_the_call_and_the_project_s_line_says_so(project: Project) -> None:
    """C6, C7"""
    async with connected([PAY, NO, NOTHING, Write("Sure.")], project=project, setup=KNOWN) as call:
        await say(call, "pay my rent")
        assert await say(call, "no") == ["Then I won't pay."]
        await say(call, "good")
        assert runs(call) == []
        settled = [(e["tool"], e["outcome"]) for e in call.voice.happened("tool_settled")]
        assert ("pay", "cancelled") in settled
        assert "the caller said no" in told(call.model.requests[2])[0]
        assert RESOLVE not in offered(call.model.requests[3])


@on_project(bank("Help the caller.\n", PHRASED))
async def test_without_a_line_of_the_project_s_the_model_asks_and_answers_a_no(
    project: Project,
) -> None:
    """C5, C7: its question needs no call, and it is told what came of the answer."""
    steps = [PAY, Write("Two hundred forty euros to Haus Nord, right?"), NO, Write("Not paid.")]
    async with connected(steps, project=project) as call:
        assert await say(call, "pay my rent") == ["Two hundred forty euros to Haus Nord, right?"]
        assert call.voice.of(Listen)[-1].expect.kind == "yes_no"
        assert ARGUMENTS in system(call.model.requests[1])
        assert RESOLVE not in offered(call.model.requests[1]), "nobody has answered yet"
        assert await say(call, "better not") == ["Not paid."]
        assert runs(call) == []


@on_project(bank("Help the caller.\n", PHRASED))
async def test_a_yes_to_the_model_s_question_runs_the_call(project: Project) -> None:
    """C5, C6: without a line for success the model tells the caller."""
    steps = [PAY, Write("Shall I pay?"), YES, Write("Done, it is R-240.")]
    async with connected(steps, project=project) as call:
        await say(call, "pay my rent")
        assert await say(call, "yes") == ["Done, it is R-240."]
        assert runs(call) == [ARGUMENTS]
        assert told(call.model.requests[3])[0] == '{"receipt": "R-240"}'


@on_project(
    bank(
        "Help the caller.\n",
        "tool_constraints: [{pay: {requires_confirmation: "
        "{utter_for_confirmation: utter_ask_pay}}}]",
    )
)
async def test_a_confirmation_must_be_switched_on(project: Project) -> None:
    """C4"""
    async with connected([PAY, Write("Paid.")], project=project, setup=KNOWN) as call:
        assert await say(call, "pay my rent") == ["Paid."]
        assert runs(call) == [ARGUMENTS]


@on_project(
    bank(
        "Help.\n",
        """
        tool_constraints:
          - broken:
              requires_confirmation: {enabled: true}
              on_success: utter_paid
              on_failure: utter_not_paid
          - balance: {on_success: utter_denied}
        """,
    )
)
async def test_the_line_for_a_failure_is_said_after_the_run(project: Project) -> None:
    """C11, C07: instead of the model; the exception's text is not spoken, and not shown to it."""
    steps = [Call("broken"), Write("Sure?"), YES, NOTHING, Call("balance"), NOTHING, Write("Well.")]
    async with connected(steps, project=project) as call:
        await say(call, "break it")
        assert await say(call, "yes") == ["That did not work."]
        assert await say(call, "and the balance") == ["Then I won't pay."]
        await say(call, "hm")
        assert '{"balance": 120}' in told(call.model.requests[-1])
        assert "vault" not in str(call.model.requests[-1].messages)


# ------------------------------------------------------------------ what is no answer


@pytest.mark.parametrize("share", [0.0, 0.4, 0.8])
def test_a_yes_before_the_question_was_heard_is_no_answer(tmp_path: Path, share: float) -> None:
    """M02, M04: the caller talks over the question; it is asked again, in full; "ok" before that
    does nothing.
    """

    @on_project(PROSE)
    async def scenario(project: Project) -> None:
        steps = [PAY, NOTHING, YES, NOTHING]
        async with connected(steps, project=project, setup=KNOWN) as call:
            await asyncio.sleep(5)
            call.voice.hear("pay my rent")
            await call.voice.wait_event("confirmation_asked", 2)
            await asyncio.sleep(len(QUESTION) * share * 0.05)
            call.voice.interrupt()
            call.voice.hear("ok")
            await call.voice.wait_ended()
            assert call.voice.texts == [QUESTION, QUESTION]
            assert RESOLVE not in offered(call.model.requests[1])
            assert "no answer to it" in system(call.model.requests[1])
            assert runs(call) == []
            assert await say(call, "yes") == ["It is paid, receipt R-240."]
            assert runs(call) == [ARGUMENTS]

    scenario(tmp_path)


@on_project(
    bank(
        "Help the caller.\n",
        CONFIRMED,
        skills__desk__responses="""
        responses:
          utter_ask_pay: ["Shall I pay {amount} euros to {payee}, as we have agreed before?"]
          utter_denied: [Then I won't pay.]
          utter_paid: ["It is paid, receipt {receipt}."]
          utter_not_paid: [That did not work.]
        """,
    )
)
async def test_a_yes_after_the_last_value_was_heard_is_an_answer(project: Project) -> None:
    """M02: the amount and the name were heard, the rest was not."""
    async with connected([PAY, YES, NOTHING], project=project, setup=KNOWN) as call:
        call.voice.hear("pay my rent")
        await call.voice.wait_event("confirmation_asked", 2)
        await asyncio.sleep(len(QUESTION) * 0.05 + 0.2)
        call.voice.hear("yes")
        await call.voice.wait_ended()
        assert call.voice.texts[1:] == ["It is paid, receipt R-240."]


@on_project(PROSE)
async def test_the_onset_counts_and_not_the_end_of_the_words(project: Project) -> None:
    """M02: they began to speak in the middle of the question, which went on playing."""
    async with connected([PAY, NOTHING], project=project, setup=KNOWN) as call:
        call.voice.hear("pay my rent")
        await call.voice.wait_event("confirmation_asked", 2)
        await asyncio.sleep(0.8)
        call.voice.hear("yes")
        await call.voice.wait_ended()
        assert runs(call) == []
        assert call.voice.texts == [QUESTION, QUESTION]


@on_project(PROSE)
async def test_an_uncertain_turn_can_not_answer_early_either(project: Project) -> None:
    """M02: whether it is confirmed with the same words or with others."""
    for confirmed in ("yes", "yes do"):
        async with connected([PAY, NOTHING, NOTHING], project=project, strict=False) as call:
            call.voice.hear("pay my rent")
            await call.voice.wait_event("confirmation_asked", 2)
            await asyncio.sleep(0.3)
            call.voice.interrupt()
            call.voice.hear("yes", certain=False)
            await asyncio.sleep(0.2)
            call.voice.confirm(confirmed)
            await call.voice.wait_ended()
            assert all(RESOLVE not in offered(request) for request in call.model.requests)
            assert runs(call) == []
            assert len(call.voice.texts) == 2


@on_project(PROSE)
async def test_what_counts_is_when_the_words_that_confirm_a_turn_began(project: Project) -> None:
    """M02: a cough before the end of the question, and a yes after it, are one turn."""
    async with connected([PAY, NOTHING, YES, NOTHING], project=project, setup=KNOWN) as call:
        call.voice.hear("pay my rent")
        await call.voice.wait_event("confirmation_asked", 2)
        await asyncio.sleep(0.3)
        turn = call.voice.hear("hm", certain=False)
        await asyncio.sleep(3)
        heard = (Heard(max(call.voice.says), len(QUESTION), complete=True),)
        said = Input("speech", "hm yes", heard_at_onset=heard)
        call.voice.agent.send(ConfirmTurn(call.voice.call, turn, said))
        await call.voice.wait_ended()
        assert [RESOLVE in offered(r) for r in call.model.requests[1:3]] == [False, True]
        assert runs(call) == [ARGUMENTS]


@on_project(PROSE)
async def test_a_model_that_takes_an_early_yes_all_the_same_is_refused(project: Project) -> None:
    """M02, R45"""
    async with connected([PAY, YES, NOTHING], project=project, setup=KNOWN) as call:
        call.voice.hear("pay my rent")
        await call.voice.wait_event("confirmation_asked", 2)
        await asyncio.sleep(0.3)
        call.voice.interrupt()
        call.voice.hear("yes")
        await call.voice.wait_ended()
        assert runs(call) == []
        assert "it is not available now" in told(call.model.requests[2])[-1]
        assert call.voice.texts == [QUESTION, QUESTION]


@pytest.mark.parametrize("words", ["yeah no", "yesterday?", "why?", "maybe", "permission granted"])
def test_words_that_the_model_takes_for_no_answer_are_answered_and_the_question_comes_again(
    tmp_path: Path, words: str
) -> None:
    """M01, C8: nothing in the engine matches words by their beginnings."""

    @on_project(PROSE)
    async def scenario(project: Project) -> None:
        steps = [PAY, Write("It is your rent."), NOTHING, YES, NOTHING]
        async with connected(steps, project=project, setup=KNOWN) as call:
            await say(call, "pay my rent")
            assert await say(call, words) == ["It is your rent.", QUESTION]
            assert await say(call, words) == [QUESTION], "an empty reply is fine here"
            assert runs(call) == []
            assert await say(call, "go ahead") == ["It is paid, receipt R-240."]

    scenario(tmp_path)


@on_project(PROSE)
async def test_silence_is_no_yes_and_a_hang_up_ends_it(project: Project) -> None:
    """M01, M04: not run, and the record shows what was asked."""
    async with connected([PAY], project=project, setup=KNOWN) as call:
        await say(call, "pay my rent")
        for n in range(1, 5):
            call.voice.start("silence", silence_n=n)
            await call.voice.wait_ended()
        call.voice.close()
        await asyncio.sleep(1)
        assert runs(call) == []
        assert len(call.voice.happened("confirmation_asked")) == 2
        assert call.voice.happened("confirmation_answered") == []


@on_project(PROSE)
async def test_a_second_yes_does_nothing(project: Project) -> None:
    """M02: the confirmation is used up, whatever the model calls."""
    steps = [PAY, YES, NOTHING, YES, Write("It is paid already.")]
    async with connected(steps, project=project, setup=KNOWN) as call:
        await say(call, "pay my rent")
        await say(call, "yes")
        assert await say(call, "yes") == ["It is paid already."]
        assert RESOLVE not in offered(call.model.requests[3])
        assert runs(call) == [ARGUMENTS]


# ------------------------------------------------------------------ other things in between


@on_project(PROSE)
async def test_a_side_question_leaves_it_pending_and_it_is_asked_again(project: Project) -> None:
    """C8, M04: a tool may run for it; an "ok" then counts for the question heard again."""
    steps = [PAY, Call("balance"), Write("You have 120 euros."), YES, NOTHING]
    async with connected(steps, project=project, setup=KNOWN) as call:
        await say(call, "pay my rent")
        heard = await say(call, "wait, how much do I have?")
        assert heard == ["You have 120 euros.", QUESTION]
        assert "awaits_confirmation" in told(call.model.requests[2])
        assert await say(call, "ok") == ["It is paid, receipt R-240."]
        assert runs(call) == [ARGUMENTS]


@on_project(PROSE)
async def test_a_switch_of_topic_leaves_it_pending_and_it_is_asked_again_on_return(
    project: Project,
) -> None:
    """C8, M02: a yes to "shall we go back?" is none to the payment."""
    steps = [
        PAY,
        Call("activate", {"flow_id": "shop"}),
        NOTHING,
        Call("set_fields", {"continue_it": True}),
        NOTHING,
        YES,
        NOTHING,
    ]
    async with connected(steps, project=project, setup=KNOWN) as call:
        await say(call, "pay my rent")
        heard = await say(call, "is the shop open?")
        assert heard == ["The shop is closed.", "Shall we go back to test skill?"]
        assert RESOLVE not in offered(call.model.requests[-1])
        assert await say(call, "yes") == [QUESTION]
        assert runs(call) == []
        assert await say(call, "yes") == ["It is paid, receipt R-240."]


@on_project(PROSE)
async def test_leaving_the_topic_for_good_withdraws_it(project: Project) -> None:
    """M01: the call is settled as cancelled, with its reason."""
    steps = [
        PAY,
        Call("activate", {"flow_id": "shop"}),
        NOTHING,
        Call("set_fields", {"continue_it": False}),
        NOTHING,
    ]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        await say(call, "pay my rent")
        await say(call, "is the shop open?")
        await say(call, "no")
        assert [e["tool"] for e in call.voice.happened("confirmation_withdrawn")] == ["pay"]
        outcomes = [e["outcome"] for e in call.voice.happened("tool_settled") if e["tool"] == "pay"]
        assert outcomes == ["cancelled"]
        assert runs(call) == []


@on_project(PROSE)
async def test_another_wish_of_the_same_tool_takes_the_place_of_the_held_one(
    project: Project,
) -> None:
    """M01: the held call is withdrawn, the new one is asked about, and only it runs."""
    other = Call("pay", {"payee": "Haus Nord", "amount": 300})
    steps = [
        PAY,
        [Call("set_fields", {"amount": 300}), other],
        YES,
        NOTHING,
    ]
    async with connected(steps, project=project, setup=KNOWN) as call:
        await say(call, "pay my rent")
        assert await say(call, "make it 300") == ["Shall I pay 300 euros to Haus Nord?"]
        assert await say(call, "yes") == ["It is paid, receipt R-300."]
        assert runs(call) == ['{"amount":300,"payee":"Haus Nord"}']
        assert len(call.voice.happened("confirmation_withdrawn")) == 1


@pytest.mark.parametrize("beside", [False, True])
def test_a_value_that_is_corrected_withdraws_the_held_call(tmp_path: Path, beside: bool) -> None:
    """M02: what the caller hears in the question is what runs; a yes beside the change is none."""

    @on_project(PROSE)
    async def scenario(project: Project) -> None:
        change = Call("correct", {"memory_key": "amount", "value": 300})
        steps = [
            PAY,
            [change, YES] if beside else change,
            Call("pay", {"payee": "Haus Nord", "amount": 300}),
            YES,
            NOTHING,
        ]
        async with connected(steps, project=project, setup=KNOWN) as call:
            await say(call, "pay my rent")
            assert await say(call, "300") == ["Shall I pay 300 euros to Haus Nord?"]
            assert runs(call) == []
            assert await say(call, "yes") == ["It is paid, receipt R-300."]
            assert runs(call) == ['{"amount":300,"payee":"Haus Nord"}']

    scenario(tmp_path)


@on_project(
    bank(
        "Help the caller.\n",
        CONFIRMED,
        skills__desk__tools="""
        from runtime import ToolResult, tool


        @tool(description="Pay somebody.")
        async def pay(to: str, total: int) -> ToolResult:
            return ToolResult({"paid": total})
        """,
    )
)
async def test_a_question_that_would_have_other_words_now_withdraws_the_held_call(
    project: Project,
) -> None:
    """M02: also where the tool's arguments have other names than the values in its question."""
    change = Call("correct", {"memory_key": "amount", "value": 300})
    steps = [
        Call("pay", {"to": "Haus Nord", "total": 240}),
        [change, YES],
        Write("So 300 then?"),
    ]
    async with connected(steps, project=project, setup=KNOWN) as call:
        assert await say(call, "pay my rent") == [QUESTION]
        assert await say(call, "yes, but 300") == ["So 300 then?"]
        assert runs(call) == []


@on_project(PROSE)
async def test_a_value_that_is_not_in_question_changes_nothing(project: Project) -> None:
    """C6: "yes, and it is me" is a yes."""
    steps = [PAY, [Call("set_fields", {"verified": True}), YES], NOTHING]
    async with connected(steps, project=project, setup=KNOWN) as call:
        await say(call, "pay my rent")
        assert await say(call, "yes, it is me") == ["It is paid, receipt R-240."]


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("answer", [YES, NO])
def test_calls_of_the_same_tool_after_an_answer_are_refused_in_that_turn(
    tmp_path: Path, together: bool, answer: Call
) -> None:
    """C9"""

    @on_project(bank("Help the caller.\n", PHRASED))
    async def scenario(project: Project) -> None:
        after = [[answer, PAY]] if together else [answer, PAY]
        steps = [PAY, Write("Shall I pay?"), *after, Write("As you wish."), PAY, Write("Sure?")]
        async with connected(steps, project=project) as call:
            await say(call, "pay my rent")
            assert await say(call, "well") == ["As you wish."]
            refused = told(call.model.requests[-1])[-1]
            assert "the caller has answered already" in refused
            assert len(runs(call)) == (answer is YES)
            assert await say(call, "pay again") == ["Sure?"], "a later turn may ask anew"
            assert len(runs(call)) == (answer is YES)

    scenario(tmp_path)


@on_project(PROSE)
async def test_what_else_was_asked_for_is_answered_before_the_question(project: Project) -> None:
    """C5: a call that runs and one that is held in one reply."""
    steps = [[Call("balance"), PAY], Write("You have 120 euros."), YES, NOTHING]
    async with connected(steps, project=project, setup=KNOWN) as call:
        heard = await say(call, "do I have enough? then pay")
        assert heard == ["You have 120 euros.", QUESTION]
        assert told(call.model.requests[1]) == ['{"balance": 120}', "awaits_confirmation"]
        assert await say(call, "yes") == ["It is paid, receipt R-240."]


@on_project(PROSE)
async def test_two_calls_to_be_held_at_once_are_one_question(project: Project) -> None:
    """C5: the second is refused, and the model may call it later."""
    other = Call("pay", {"payee": "Nora", "amount": 1})
    steps = [[PAY, other], NOTHING, YES, NOTHING]
    async with connected(steps, project=project, setup=KNOWN) as call:
        assert await say(call, "pay both") == [QUESTION]
        assert "another call waits" in told(call.model.requests[1])[1]
        await say(call, "yes")
        assert runs(call) == [ARGUMENTS]


@on_project(PROSE)
async def test_arguments_are_checked_before_anybody_is_asked(project: Project) -> None:
    """C12, C13"""
    steps = [Call("pay", {"payee": "Haus Nord", "amount": "much"}), Write("How much?")]
    async with connected(steps, project=project, setup=KNOWN) as call:
        assert await say(call, "pay") == ["How much?"]
        assert call.voice.happened("confirmation_asked") == []
