"""Which words answer a held call's question: those that followed it, once it was heard, no others.

The values that a held call is bound to are ``test_held_calls``.
"""

import asyncio

from runtime.agent import ConfirmTurn, Heard, Input
from runtime.models.scripted_model import Fail
from runtime.models.scripted_model import Say as Write
from runtime.project.model import Project
from tests.runtime.engine.bank_files import bank, offered, on_project, say
from tests.runtime.engine.confirmed_payments import (
    ARGUMENTS,
    CONFIRMED,
    KNOWN,
    NOTHING,
    PAY,
    PHRASED,
    PROSE,
    QUESTION,
    RESOLVE,
    YES,
    runs,
)
from tests.runtime.engine.helpers import Call as Connected
from tests.runtime.engine.helpers import connected
from tests.runtime.engine.worlds import system

WITHOUT_VALUES = """
    responses:
      utter_ask_pay: ["Shall I pay it now, as you said before?"]
      utter_denied: [Then I won't pay.]
      utter_paid: ["It is paid, receipt {receipt}."]
      utter_not_paid: [That did not work.]
"""
BARE_QUESTION = "Shall I pay it now, as you said before?"
SIDE_ANSWER = "You have 120 euros on your account."


def may_answer(call: Connected, request: int = -1) -> bool:
    """Whether a request let the model take the caller's words for an answer."""
    return RESOLVE in offered(call.model.requests[request])


# ------------------------------------------------------------------ heard


@on_project(bank("Help the caller.\n", CONFIRMED, skills__desk__responses=WITHOUT_VALUES))
async def test_a_question_without_values_of_which_nothing_was_heard_has_no_answer(
    project: Project,
) -> None:
    """M02, B01: it was never put; it is asked again."""
    steps = [PAY, YES, NOTHING]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        call.voice.hear("pay my rent")
        await call.voice.wait_event("confirmation_asked", 2)
        await asyncio.sleep(0.001)
        call.voice.interrupt()
        (question,) = call.voice.says.values()
        assert question.settled is not None
        assert question.settled.heard_chars == 0
        call.voice.hear("yes")
        await call.voice.wait_ended()
        assert not may_answer(call, 1)
        assert runs(call) == []
        assert call.voice.texts[-1] == BARE_QUESTION


@on_project(bank("Help the caller.\n", CONFIRMED, skills__desk__responses=WITHOUT_VALUES))
async def test_a_question_without_values_must_be_heard_to_its_end(project: Project) -> None:
    """M04: half of it is not enough."""
    steps = [PAY, NOTHING, YES, NOTHING]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        call.voice.hear("pay my rent")
        await call.voice.wait_event("confirmation_asked", 2)
        await asyncio.sleep(1)
        call.voice.interrupt()
        call.voice.hear("yes")
        await call.voice.wait_ended()
        assert not may_answer(call)
        assert call.voice.texts[-1] == BARE_QUESTION
        await say(call, "yes")
        assert runs(call) == [ARGUMENTS]


@on_project(PROSE)
async def test_the_words_that_confirm_a_turn_must_have_followed_the_question_too(
    project: Project,
) -> None:
    """M02: an uncertain turn is looked at again when it is confirmed, with the same words."""
    async with connected([PAY, YES, NOTHING], project=project, setup=KNOWN, strict=False) as call:
        call.voice.hear("pay my rent")
        await call.voice.wait_event("confirmation_asked", 2)
        await asyncio.sleep(3)
        turn = call.voice.hear("yes", certain=False)
        await asyncio.sleep(0.5)
        assert may_answer(call)
        early = (Heard(max(call.voice.says), 3, complete=False),)
        call.agent.send(
            ConfirmTurn(call.voice.call, turn, Input("speech", "yes", heard_at_onset=early))
        )
        await call.voice.wait_ended()
        assert runs(call) == []


# ------------------------------------------------------------------ followed by something else


@on_project(PROSE)
async def test_a_question_that_a_check_in_followed_is_asked_again(project: Project) -> None:
    """M02: "yes" then says that somebody is there."""
    steps = [PAY, NOTHING, YES, NOTHING]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        assert await say(call, "pay my rent") == [QUESTION]
        call.voice.start("silence", silence_n=1)
        await call.voice.wait_ended()
        check_in = call.voice.texts[-1]
        assert check_in != QUESTION
        assert await say(call, "yes") == [QUESTION]
        assert not may_answer(call)
        assert runs(call) == []
        await say(call, "yes")
        assert runs(call) == [ARGUMENTS]


@on_project(PROSE)
async def test_a_question_that_an_apology_followed_is_asked_again(project: Project) -> None:
    """M02: an "ok" to "I can't answer that" is none to the question before it."""
    steps = [PAY, Fail(), NOTHING, YES, NOTHING]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        await say(call, "pay my rent")
        (apology,) = await say(call, "what is my balance?")
        assert apology.startswith("I'm sorry")
        assert await say(call, "ok") == [QUESTION]
        assert not may_answer(call)
        assert runs(call) == []
        await say(call, "yes")
        assert runs(call) == [ARGUMENTS]


@on_project(bank("Help the caller.\n", PHRASED))
async def test_after_a_side_answer_an_ok_does_not_confirm_what_the_model_had_asked(
    project: Project,
) -> None:
    """M04, M02: a reply that asks nothing is not the question; what was asked before it is over."""
    steps = [
        PAY,
        Write(QUESTION),
        Write(SIDE_ANSWER),
        Write(SIDE_ANSWER),
        YES,
        Write(QUESTION),
        YES,
    ]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        assert await say(call, "pay my rent") == [QUESTION]
        assert (await say(call, "how much do I have?"))[0] == SIDE_ANSWER
        assert "not asked about" in call.prompt()[-1][1], "it is asked for once more"
        assert await say(call, "ok") == [QUESTION]
        assert runs(call) == []
        await say(call, "yes")
        assert runs(call) == [ARGUMENTS]


@on_project(bank("Help the caller.\n", PHRASED))
async def test_a_side_answer_is_followed_by_the_question_once_the_model_is_told(
    project: Project,
) -> None:
    """M04: it is asked again after the side answer, in the same turn, and a yes counts again."""
    steps = [PAY, Write(QUESTION), Write(SIDE_ANSWER), Write("So, pay 240 to Haus Nord?"), YES]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        await say(call, "pay my rent")
        heard = await say(call, "how much do I have?")
        assert heard == [SIDE_ANSWER, "So, pay 240 to Haus Nord?"]
        await say(call, "yes")
        assert may_answer(call, 4)
        assert runs(call) == [ARGUMENTS]


@on_project(bank("Help the caller.\n", PHRASED))
async def test_a_question_of_the_model_s_that_was_not_asked_is_asked_for_in_its_turn(
    project: Project,
) -> None:
    """C5, M02: "I will do that" asks for nothing, so nothing is confirmed by an "ok" to it."""
    steps = [PAY, Write("I will pay it."), Write("I will pay it."), Write(QUESTION)]
    async with connected(steps, project=project, setup=KNOWN) as call:
        assert await say(call, "pay my rent") == ["I will pay it.", "I will pay it."]
        assert await say(call, "ok") == [QUESTION]
        assert not may_answer(call)
        assert "Waiting for a yes or no" in system(call)
        assert runs(call) == []
