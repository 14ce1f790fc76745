"""Words that steer the conversation."""

from dataclasses import replace

import pytest

from runtime.models.offline.planner import plan
from runtime.models.offline.steering import steer
from tests.runtime.models.offline.scenes import (
    CARD,
    FLOWS,
    INSURED,
    NUMBER,
    REPLACE,
    STATUS,
    called,
    decide,
    scene,
)

ANYTHING_ELSE = "Is there anything else I can help you with?"


def test_hold_on_is_waited_for():
    """Where nothing is collected the planner listens, else the engine asks again."""
    assert called(decide("hold on a second", skill="Cards")) == [("listen", {})]
    busy = decide("hold on a second", skill="Cards", collecting=NUMBER, question="Which number?")
    assert busy.text == "Take your time." and not busy.calls


def test_the_last_line_is_said_again():
    """Not twice, though, where it is the question that the engine puts by itself."""
    assert decide("say that again please", last_line="It takes two days.").text == (
        "It takes two days."
    )
    asked = decide("what?", collecting=NUMBER, question="Which number?", last_line="Which number?")
    assert asked.text == "" and not asked.calls
    locked = decide(
        "pardon?", collecting=NUMBER, question="Which number?", last_line="I locked it."
    )
    assert locked.text == "I locked it."
    own = decide("what?", collecting=NUMBER, last_line="What is your customer number?")
    assert own.text == "What is your customer number?"


def test_never_mind_cancels_the_skill():
    """With no words beside it: the project's own line says so."""
    decided = decide("never mind", skill="Cards", collecting=NUMBER, question="Which number?")
    assert called(decided) == [("cancel_skill", {})] and not decided.text
    assert decide("never mind").text == "All right. Is there anything else?"


def test_a_no_that_answers_a_question_does_not_cancel():
    """A yes or no question is answered by "never mind"; "cancel" still cancels."""
    asked = {"skill": "Cards", "collecting": INSURED, "question": "Shall we insure it?"}
    assert called(decide("never mind", **asked)) == [("set_fields", {"insured": False})]
    assert called(decide("cancel", **asked)) == [("cancel_skill", {})]


def test_goodbye_ends_the_call():
    """The engine says the project's goodbye; without the tool the planner says one."""
    assert called(decide("no that's all, bye", flows=FLOWS)) == [("hang_up", {})]
    plain = decide("goodbye", without=("hang_up",))
    assert plain.text == "Goodbye." and not plain.calls


def test_no_after_anything_else_ends_the_call_and_yes_asks_what():
    """The line before tells what a bare yes or no means."""
    assert called(decide("no", last_line=ANYTHING_ELSE, flows=FLOWS)) == [("hang_up", {})]
    assert decide("yes please", last_line=ANYTHING_ELSE).text == "What can I do for you?"


@pytest.mark.parametrize(
    "said",
    [
        "no thanks",
        "no thank you",
        "no, that's all, thanks",
        "nothing, thanks",
        "no I'm good thanks",
    ],
)
def test_a_no_with_thanks_ends_the_call_too(said: str):
    """The thanks are not answered and the no forgotten."""
    assert called(decide(said, last_line=ANYTHING_ELSE, flows=FLOWS)) == [("hang_up", {})]
    asked = decide(said, last_line="Hello. What can I do for you?", flows=FLOWS)
    assert called(asked) == [("hang_up", {})]


def test_a_no_to_nothing_asks_whether_the_call_is_over():
    """And a no to that ends it; a bare no to "what can I do for you?" does not."""
    first = decide("no", last_line="Express costs 12 euros.", flows=FLOWS)
    assert first.text == "All right. Is there anything else?" and not first.calls
    assert called(decide("no", last_line=first.text, flows=FLOWS)) == [("hang_up", {})]
    assert not decide("no", last_line="What can I do for you?", flows=FLOWS).calls


@pytest.mark.parametrize(
    "said",
    ["yes that would be great thanks", "yes please", "go ahead", "yes", "sure, go on", "perfect"],
)
def test_words_of_agreement_where_nothing_was_asked_are_answered(said: str):
    """After an answer nobody may be left in silence; they had something in mind."""
    decided = decide(said, last_line="Express costs 12 euros.", flows=FLOWS, has_knowledge=True)
    assert decided.text == "What can I do for you?" and not decided.calls


@pytest.mark.parametrize("said", ["mhm", "ok", "I see", "uh huh", "right", "ah okay"])
def test_only_a_sound_of_listening_is_left_alone(said: str):
    """Not where the line before asked something."""
    assert called(decide(said, last_line="Express costs 12 euros.")) == [("listen", {})]
    assert decide(said, last_line=ANYTHING_ELSE).calls == ()


@pytest.mark.parametrize(
    "said", ["speak slower", "could you speak a bit louder please", "slow down", "sorry?", "sorry"]
)
def test_what_was_not_understood_is_said_again(said: str):
    """Also by who wants another voice; nobody is put through for it."""
    decided = decide(said, last_line="It takes two days.", flows=FLOWS, has_knowledge=True)
    assert decided.text == "It takes two days." and not decided.calls


def test_a_wish_that_came_with_a_yes_is_done_after_it():
    """ "Yes please, and where is my order": the yes first, then, asked what else, the order."""
    said = "yes please, and also where is my order"
    for before in (said, "no, where is my order"):
        asked = scene("yes", last_line=ANYTHING_ELSE, flows=FLOWS)
        one = replace(asked, words_before=before, has_answered=True)
        assert called(plan(one)) == [("activate", {"flow_id": "card_status"})]
        assert plan(replace(one, has_answered=False)).text == "What can I do for you?"
        bare = replace(one, words_before="yes please")
        assert plan(bare).text == "What can I do for you?"


def test_a_backchannel_where_nothing_was_asked_is_listened_to():
    """ "Mhm" needs no answer."""
    assert called(decide("mhm", last_line="Your order is on its way.")) == [("listen", {})]
    assert decide("mhm", last_line="It is on its way.", without=("listen",)).text


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("hello", "Hello. What can I do for you?"),
        ("are you there?", "Yes, I'm here."),
        ("hello?", "Yes, I'm here."),
        ("thank you", "You're welcome."),
    ],
)
def test_small_talk_gets_a_short_line(said: str, line: str):
    """And nothing else happens."""
    decided = decide(said, flows=FLOWS)
    assert decided.text == line and not decided.calls


def test_a_person_is_a_flow_that_means_one():
    """Found by name, examples or description; said honestly where there is none."""
    wanted = "can I talk to a person about my bill please"
    assert called(decide(wanted, flows=FLOWS)) == [("activate", {"flow_id": "hand_over"})]
    busy = decide(wanted, flows=FLOWS, collecting=NUMBER, question="Which number?", skill="Cards")
    assert called(busy) == [("activate", {"flow_id": "hand_over"})]
    alone = decide("give me an agent", flows=(REPLACE, STATUS))
    assert alone.text == "I'm sorry, I can't put you through to a person from here."


def test_help_names_what_there_is():
    """Flows, or the answers to the question."""
    assert decide("what can you do", flows=FLOWS).text == (
        "I can help with this: replace a card, how an order is coming along, or talk to a person."
    )
    asked = decide("what are my options", collecting=CARD, question="Which card?")
    assert asked.text == "Please say gold card 4421, silver card 4400, or gold card 9."


def test_a_choice_called_like_a_control_word_is_a_choice():
    """A button "stop" is pressed by saying stop."""
    from runtime.models.situation import ChoiceOption

    field = replace(CARD, choices=(ChoiceOption("stop", "stop"), ChoiceOption("go on", "go on")))
    decided = decide("stop", skill="Cards", collecting=field, question="What now?")
    assert called(decided) == [("set_fields", {"card": "stop"})]


@pytest.mark.parametrize("said", ["I don't want to talk to a person", "not a person please"])
def test_who_wants_no_person_is_not_put_through(said: str):
    """Words that are denied steer nothing."""
    assert steer(scene(said, flows=FLOWS)) is None
