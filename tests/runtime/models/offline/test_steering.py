"""Words that steer the conversation."""

from dataclasses import replace

import pytest

from tests.runtime.models.offline.scenes import (
    CARD,
    FLOWS,
    INSURED,
    NUMBER,
    REPLACE,
    STATUS,
    called,
    decide,
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
    assert decide("never mind").text == "All right."


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
