"""Who is not understood twice in a row is told what can be said, then whom to ask for."""

from dataclasses import replace

import pytest

from runtime.models.offline.lines import ENGLISH_LINES
from runtime.models.offline.past import past_of
from runtime.models.offline.planner import plan
from runtime.models.ports import ChatMessage
from runtime.models.situation import AskedField
from tests.runtime.models.offline.scenes import (
    FLOWS,
    INSURED,
    NUMBER,
    SHIPPING,
    WISHES,
    called,
    scene,
)
from tests.runtime.models.offline.test_taken_back import DAY

CAUGHT = "Sorry, I didn't catch that."
PERSON = "You can also ask for a person."


@pytest.mark.parametrize(
    ("field", "form"),
    [
        (SHIPPING, "Please say standard or express."),
        (NUMBER, "Please say the 6 digits one by one."),
        (DAY, "Please say the day, the month and the year."),
        (INSURED, "Please say yes or no."),
        (WISHES, ""),
    ],
)
def test_a_second_time_in_a_row_tells_the_form_and_a_third_offers_a_person(
    field: AskedField, form: str
):
    """A person only where there is one."""
    words = "to the" if field is WISHES else "hmm"
    asked = scene(words, collecting=field, question="Which?", skill="x", flows=FLOWS)
    told = [plan(replace(asked, times_missed=n)).text for n in (0, 1, 2, 5)]
    second = f"{CAUGHT} {form}".strip()
    third = f"{second} {PERSON}"
    assert told == [CAUGHT, second, third, third]
    alone = scene(words, collecting=field, question="Which?", skill="x")
    assert plan(replace(alone, times_missed=2)).text == second


def test_too_few_digits_a_second_time_tells_the_form_too():
    """One digit is one, and no "digits"."""
    asked = scene("four", collecting=NUMBER, question="Which?", skill="x")
    assert plan(asked).text == "I heard 1 digit, and I need 6."
    again = plan(replace(asked, times_missed=1)).text
    assert again == "I heard 1 digit, and I need 6. Please say the 6 digits one by one."
    moment = scene("one moment", collecting=NUMBER, question="Which?", skill="x")
    assert plan(moment).text == "Take your time."


def test_turns_without_an_answer_are_counted_from_the_last():
    """One that was understood begins the count anew."""

    def missed(*texts: str) -> int:
        messages = [ChatMessage("system", "...")]
        for text in texts:
            messages += [ChatMessage("user", "words"), ChatMessage("assistant", text)]
        messages.append(ChatMessage("user", "now"))
        return past_of(messages, ENGLISH_LINES, "en").times_missed

    assert missed() == 0 and missed("Which card?") == 0
    assert missed(CAUGHT) == 1
    assert missed(CAUGHT, "I heard 1 digit, and I need 6. Which?") == 2
    assert missed(CAUGHT, CAUGHT, "Which card?") == 0
    assert missed(CAUGHT, "Which card?", f"{CAUGHT} Which?") == 1


def test_a_person_may_be_asked_for_then():
    """As the line says."""
    asked = scene("a person please", collecting=NUMBER, question="Which?", flows=FLOWS, skill="x")
    decided = plan(replace(asked, times_missed=3))
    assert called(decided) == [("activate", {"flow_id": "hand_over"})]
