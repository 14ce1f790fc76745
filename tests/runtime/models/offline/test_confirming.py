"""A held call is confirmed by a clear yes and by nothing else."""

from dataclasses import replace

import pytest

from runtime.models.offline.plan import MadeCall
from tests.runtime.models.offline.scenes import (
    FLOWS,
    HELD,
    SHIPPING,
    YEAR,
    called,
    decide,
)

RESOLVE = "resolve_tool_confirmation"
SENT = replace(SHIPPING, value="standard")


@pytest.mark.parametrize(
    "said", ["yes", "yes please", "go ahead", "permission granted", "Yes, order it."]
)
def test_a_clear_yes_confirms(said: str):
    """M01: a yes, also one in other words."""
    decided = decide(said, pending=HELD, skill="Cards", flows=FLOWS)
    assert called(decided) == [(RESOLVE, {"confirmed": True})]
    assert not decided.text


@pytest.mark.parametrize("said", ["no", "no thanks", "ok cancel", "please don't", "never mind"])
def test_a_clear_no_denies(said: str):
    """M01: a no, also one in other words."""
    decided = decide(said, pending=HELD, skill="Cards", flows=FLOWS)
    assert called(decided) == [(RESOLVE, {"confirmed": False})]


@pytest.mark.parametrize(
    "said",
    ["yeah no", "no wait yes", "yesterday?", "why?", "maybe", "hmm", "yes but only on Monday"],
)
def test_what_is_neither_is_asked_again(said: str):
    """M01: an unclear answer decides nothing."""
    decided = decide(said, pending=HELD, skill="Cards")
    assert decided.calls == ()
    assert decided.text == "Sorry, I need a clear yes or no."


def test_a_cancel_with_an_object_is_another_wish_and_no_refusal():
    """M01: "cancel the one on Friday" is a new request; the held call is not denied by it."""
    from runtime.models.situation import FlowOption

    other = FlowOption("cancel_booking", "Cancel a booking", "", ("cancel the one on Friday",))
    decided = decide("cancel the one on Friday", pending=HELD, flows=(*FLOWS, other), skill="x")
    assert called(decided) == [("activate", {"flow_id": "cancel_booking"})]
    assert called(decide("cancel the one on Friday", pending=HELD, skill="x")) == []


@pytest.mark.parametrize("said", ["yes", "no", "yes please", "maybe"])
def test_a_yes_before_the_question_was_heard_answers_nothing(said: str):
    """M02: the engine asks again, and the planner says nothing beside it."""
    decided = decide(said, pending=replace(HELD, may_answer=False), skill="Cards")
    assert decided.calls == () and not decided.text


def test_a_revision_is_corrected_and_not_denied():
    """ "No, make it express" changes what was asked about."""
    decided = decide("no, make it express", pending=HELD, correctable=(SENT, YEAR), skill="Cards")
    assert called(decided) == [("correct", {"memory_key": "shipping", "value": "express"})]
    assert decided.text == "All right."
    phrased = replace(HELD, question=None)
    assert not decide("no, make it express", pending=phrased, correctable=(SENT,)).text
    again = decide("actually make it express", pending=HELD, correctable=(SENT,), skill="Cards")
    assert called(again) == called(decided)


def test_a_side_question_is_looked_up_and_the_call_stays_held():
    """M04: "wait, how much?" does not confirm; it is answered, then the engine asks again."""
    for said in ("wait, how much is it?", "yes but how much is express?"):
        decided = decide(said, pending=HELD, skill="Cards", has_knowledge=True)
        assert [name for name, _ in called(decided)] == ["search_knowledge"]
    held = replace(HELD, arguments='{"card_id": "c1", "shipping": "standard"}')
    bare = decide("wait, how much is it?", pending=held, skill="Cards", has_knowledge=True)
    assert called(bare) == [("search_knowledge", {"query": "wait, how much is it? standard costs"})]
    answered = decide(
        "how much is express?",
        pending=HELD,
        has_knowledge=True,
        passages=("What it costs\nExpress costs 12 euros.",),
        made=(MadeCall("search_knowledge", {}),),
    )
    assert answered.text == "Express costs 12 euros." and not answered.calls


def test_a_question_that_is_the_models_to_phrase_is_phrased_with_its_arguments():
    """The caller hears what they agree to, and no key, brace or quote of JSON."""
    held = replace(HELD, question=None, arguments='{"card_id": "c1", "post": "by_air", "n": 2}')
    for said, made in (("", ()), ("order it", (MadeCall("set_fields", {}),))):
        decided = decide(said, pending=held, made=made)
        assert decided.text == ("Before I do this: order card, post by air, n 2. Shall I go ahead?")
    unclear = decide("maybe", pending=held)
    assert unclear.text.startswith("Sorry, I need a clear yes or no. Before I do this:")


def test_what_the_answer_came_to_is_told_only_where_nothing_else_was():
    """An empty reply first: where the engine said something, nothing is said twice."""
    made = (MadeCall(RESOLVE, {"confirmed": True}),)
    assert decide("yes", made=made, just_done=(("order_card", "ok"),)).text == ""
    told = {
        outcome: decide("yes", made=made, just_done=(("t", outcome),), is_nudged=True).text
        for outcome in ("ok", "failed", "unknown")
    }
    assert told == {
        "ok": "That is done.",
        "failed": "I'm sorry, that did not work.",
        "unknown": "I'm sorry, I can't tell whether that went through.",
    }
    denied = (MadeCall(RESOLVE, {"confirmed": False}),)
    assert decide("no", made=denied, is_nudged=True).text == "All right, I won't do that."


def test_hold_on_leaves_the_question_open():
    """Waiting words are no answer."""
    decided = decide("hold on", pending=HELD, skill="Cards")
    assert decided.text == "Take your time." and not decided.calls
