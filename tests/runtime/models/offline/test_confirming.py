"""A held call is confirmed by a clear yes and by nothing else."""

from dataclasses import replace

import pytest

from runtime.agent import Expect
from runtime.models.offline.plan import MadeCall
from runtime.models.situation import AskedField, ChoiceOption, PendingQuestion
from tests.runtime.models.offline.scenes import (
    FLOWS,
    HELD,
    SHIPPING,
    YEAR,
    called,
    decide,
)

DROPPED = PendingQuestion(
    "delete_appointment", "Shall I cancel the appointment on Monday?", True, "{}"
)
DAY = AskedField(
    "day",
    "categorical",
    choices=tuple(ChoiceOption(d, d) for d in ("Wednesday", "Thursday", "Friday")),
    value="Thursday",
)
DATE = AskedField("date", "text", "The day of it.", Expect("date"), value="2026-02-05")
TIME = AskedField(
    "time",
    "text",
    choices=tuple(ChoiceOption(t, t) for t in ("nine", "three")),
    value="three",
)
BOOKING = PendingQuestion(
    "book_visit",
    "Shall I book you on 2026-02-05 at three?",
    True,
    '{"date": "2026-02-05", "time": "three"}',
)
TODAY = "2026-02-02"
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
    """M01: "cancel the one on Friday": what is held is withdrawn, said aloud, then that is done."""
    from runtime.models.situation import FlowOption

    other = FlowOption("cancel_booking", "Cancel a booking", "", ("cancel the one on Friday",))
    decided = decide("cancel the one on Friday", pending=HELD, flows=(*FLOWS, other), skill="x")
    declined = (RESOLVE, {"confirmed": False})
    assert called(decided) == [declined, ("activate", {"flow_id": "cancel_booking"})]
    assert decided.text == "All right, I won't do that."
    alone = decide("cancel the one on Friday", pending=DROPPED, skill="x")
    assert called(alone) == [declined] and not alone.text
    early = replace(HELD, may_answer=False)
    assert called(decide("cancel the one on Friday", pending=early, skill="x")) == []


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


@pytest.mark.parametrize(
    "said",
    ["yes but make it wednesday", "wednesday would be better", "and can we do wednesday instead",
     "no, wednesday", "what about wednesday", "yes, on wednesday", "can we make it wednesday",
     "I'd prefer wednesday", "no I want wednesday", "could it be wednesday"],
)  # fmt: skip
def test_another_value_is_a_correction_whatever_it_is_said_with(said: str):
    """Neither a yes nor a no to the old value, and nothing to look up: it is asked about anew."""
    decided = decide(said, pending=HELD, correctable=(DAY, YEAR), skill="x", has_knowledge=True)
    assert called(decided) == [("correct", {"memory_key": "day", "value": "Wednesday"})]
    assert decided.text == "All right."


@pytest.mark.parametrize(
    "said",
    ["no, the day should be the fifth of december", "yes but on december 5th",
     "the fifth of december would be better", "no, december the fifth",
     "change it to december 5th"],
)  # fmt: skip
def test_another_date_is_a_correction_too(said: str):
    """By its kind, where one value alone is a date."""
    given = {"pending": BOOKING, "correctable": (DATE, TIME), "skill": "x", "today": TODAY}
    decided = decide(said, **given)
    assert called(decided) == [("correct", {"memory_key": "date", "value": "2026-12-05"})]
    two = {**given, "correctable": (DATE, replace(DATE, name="until"), TIME)}
    assert ("correct" in [name for name, _ in called(decide(said, **two))]) is False


@pytest.mark.parametrize(
    "said",
    ["yes thursday at three", "yes, on thursday", "yes at three on the fifth", "yes three is fine",
     "yes go on", "go on", "yes go ahead then", "yes, book it please"],
)  # fmt: skip
def test_a_yes_that_says_the_values_back_confirms(said: str):
    """In other words than the question's, if they come to the same."""
    decided = decide(said, pending=BOOKING, correctable=(DATE, TIME), skill="x", today=TODAY)
    assert called(decided) == [(RESOLVE, {"confirmed": True})]


def test_a_yes_with_other_values_does_not_confirm():
    """What would be booked is not what was said."""
    for said in ("yes friday at three", "yes at nine", "yes at nine on thursday"):
        decided = decide(said, pending=BOOKING, correctable=(DATE, TIME), skill="x", today=TODAY)
        assert [name for name, _ in called(decided)] == ["correct"]
        blind = decide(said, pending=BOOKING, skill="x", today=TODAY)
        assert blind.calls == () and blind.text == "Sorry, I need a clear yes or no."


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("sure, go ahead, and is there parking", "is there parking"),
        ("yes please, and where are you", "where are you"),
        ("yes do it, and how long does it take", "how long does it take"),
    ],
)
def test_a_plain_yes_and_a_question_of_its_own_are_both_heard(said: str, asked: str):
    """The yes first; the answer comes with it."""
    decided = decide(said, pending=BOOKING, skill="x", has_knowledge=True)
    assert called(decided) == [
        (RESOLVE, {"confirmed": True}),
        ("search_knowledge", {"query": asked}),
    ]
    made = tuple(MadeCall(name, given) for name, given in called(decided))
    told = "Parking\nThere is free parking behind the house. It takes a day. We are at the mill."
    answered = decide(said, made=made, passages=(told,), has_knowledge=True)
    assert answered.text and not answered.calls
    nothing = decide(said, made=made, passages=(), has_knowledge=True)
    assert nothing.text == "I'm sorry, I don't know that." and not nothing.calls


def test_a_plain_yes_and_another_wish_confirms():
    """The wish is not begun on top of what was agreed to."""
    decided = decide("yes please, and where is my order", pending=BOOKING, flows=FLOWS, skill="x")
    assert called(decided) == [(RESOLVE, {"confirmed": True})]


@pytest.mark.parametrize(
    "said",
    ["yes, how much is it", "yes but how much is it", "yes, and what does it cost",
     "yes if it is free", "yes and only if there is parking", "yes, is that refundable?"],
)  # fmt: skip
def test_a_yes_that_hangs_on_something_confirms_nothing(said: str):
    """What it asks about may be what is agreed to."""
    decided = decide(said, pending=BOOKING, skill="x", has_knowledge=True)
    assert RESOLVE not in [name for name, _ in called(decided)]


@pytest.mark.parametrize(
    "said",
    ["now", "so", "just", "then please", "please", "go on holiday", "go on, tell me more",
     "ok and then what", "yes in a minute", "yes and my friend too", "do it later", "friday?"],
)  # fmt: skip
def test_words_that_only_stand_beside_a_yes_are_none(said: str):
    """M01: nothing is done for a filler, or for a yes to something else."""
    decided = decide(said, pending=BOOKING, skill="x", today=TODAY, has_knowledge=True)
    assert RESOLVE not in [name for name, _ in called(decided)]


@pytest.mark.parametrize("said", ["wait no", "hold off", "oh wait, no", "no hold off"])
def test_a_no_after_a_pause_and_one_in_other_words_denies(said: str):
    """Nothing is done that the caller wants held off."""
    decided = decide(said, pending=HELD, skill="Cards")
    assert called(decided) == [(RESOLVE, {"confirmed": False})]


@pytest.mark.parametrize("said", ["sorry?", "sorry", "pardon?", "what?", "huh?"])
def test_who_did_not_hear_the_question_hears_it_again(said: str):
    """The engine puts it, and nothing is said beside it."""
    decided = decide(said, pending=HELD, skill="Cards")
    assert decided.calls == () and not decided.text
    own = decide(said, pending=replace(HELD, question=None))
    assert own.text.startswith("Before I do this:")


def test_who_names_what_is_asked_about_does_not_want_another():
    """ "Cancel the appointment" to "shall I cancel it?" is no clear answer: it is asked again."""
    for said in ("cancel the appointment", "cancel it", "cancel the appointment on monday"):
        decided = decide(said, pending=DROPPED, skill="x")
        assert decided.calls == () and decided.text == "Sorry, I need a clear yes or no."


def test_another_one_to_be_cancelled_is_corrected_where_it_is_a_value():
    """M01: the question is put again, with the other day in it."""
    held = replace(DROPPED, question="Shall I cancel the one on Thursday?")
    decided = decide("cancel the one on Friday", pending=held, correctable=(DAY,), skill="x")
    assert called(decided) == [("correct", {"memory_key": "day", "value": "Friday"})]
    booked = decide("cancel the one on Friday", pending=BOOKING, correctable=(DAY,), skill="x")
    assert called(booked) == [(RESOLVE, {"confirmed": False})], "a booking is not moved by it"
