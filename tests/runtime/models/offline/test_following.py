"""What follows a refusal, and a step's call that was cut off."""

from dataclasses import replace
from typing import Any

import pytest

from runtime.models.offline.plan import MadeCall
from tests.runtime.models.offline.scenes import FLOWS, NUMBER, SHIPPING, called, decide

SET = (MadeCall("set_fields", {"day": "Saturday"}, is_refused=True),)
CUT: dict[str, Any] = {"step_cancelled": "order_card", "skill": "Cards", "flows": FLOWS}
SENT = replace(SHIPPING, value="standard")


def test_the_words_of_a_projects_own_check_are_said():
    """The caller learns why; the reasons of the engine's own are not for their ears."""
    asked: dict[str, Any] = {"collecting": NUMBER, "made": SET}
    why = "We are closed  at weekends."
    own = decide("saturday", **asked, refused=why, question="Which day?", refused_by_author=True)
    assert own.text == "We are closed at weekends." and not own.calls
    phrased = decide("saturday", **asked, refused=why, refused_by_author=True)
    assert phrased.text == "We are closed at weekends. What is your customer number?"
    ours = decide("saturday", **asked, refused=why, question="Which day?")
    assert ours.text == "I'm sorry, I can't take that."
    empty = decide("x", **asked, refused=" ", question="Which day?", refused_by_author=True)
    assert empty.text == ours.text
    long = decide("x", **asked, refused="a b " * 500, question="q?", refused_by_author=True)
    assert len(long.text) <= 300


def test_too_few_keys_are_told_by_their_number():
    """Not as something that can't be done."""
    keyed: dict[str, Any] = {"kind": "keys", "collecting": NUMBER, "question": "Which number?"}
    decided = decide("47", **keyed, refused="2 digits were keyed, and 6 are needed")
    assert decided.text == "I heard 2 digits, and I need 6." and not decided.calls
    assert decide("472913", **keyed, refused="no").text == "I'm sorry, I can't take that."


@pytest.mark.parametrize("said", ["stop", "cancel that", "no", "no stop", "never mind", "hold off",
                                  "no don't do it", "cancel the order"])  # fmt: skip
def test_a_step_that_was_cut_off_by_a_no_is_not_called_again(said: str):
    """What was being done ends."""
    assert called(decide(said, **CUT)) == [("cancel_skill", {})]


@pytest.mark.parametrize(
    "said", ["go on", "yes", "what?", "sorry?", "okay", "hmm", "no wait", "wait", "go"]
)
def test_a_step_that_was_cut_off_by_nothing_much_goes_on(said: str):
    """The engine calls it again, or asks about it again: nothing is said before."""
    decided = decide(said, **CUT, has_knowledge=True, last_line="Shall I order it?")
    assert decided.calls == () and not decided.text


def test_words_that_mean_something_else_are_followed_first():
    """A correction, a question, a wish for time or for a person."""
    changed = decide("no, make it express", **CUT, correctable=(SENT,))
    assert called(changed) == [("correct", {"memory_key": "shipping", "value": "express"})]
    asked = decide("how much is express", **CUT, has_knowledge=True)
    assert called(asked) == [("search_knowledge", {"query": "how much is express"})]
    assert called(decide("hold on a second", **CUT)) == [("listen", {})]
    person = decide("let me talk to a person", **CUT)
    assert called(person) == [("activate", {"flow_id": "hand_over"})]
    assert called(decide("bye", **CUT)) == [("hang_up", {})]
    other = decide("where is my new card", **CUT)
    assert called(other) == [("activate", {"flow_id": "card_status"})]


@pytest.mark.parametrize("said", ["express", "express please", "by express"])
def test_another_value_said_over_a_step_is_taken_before_it_is_called_again(said: str):
    """No word says that it corrects; the step would run with the old value."""
    decided = decide(said, **CUT, correctable=(SENT,), last_line="I send it by standard post.")
    assert called(decided) == [("correct", {"memory_key": "shipping", "value": "express"})]
    same = decide("standard please", **CUT, correctable=(SENT,))
    assert same.calls == ()


@pytest.mark.parametrize("said", ["is it my card?", "what about the card?", "can I get my card?"])
def test_a_question_over_a_step_suggests_no_other_wish(said: str):
    """The step is still to be called again."""
    decided = decide(said, **CUT)
    assert not decided.text and not decided.calls
