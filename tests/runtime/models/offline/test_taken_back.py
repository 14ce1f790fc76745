"""What a caller takes back in the same breath is not done."""

from dataclasses import replace
from typing import Any

import pytest

from runtime.agent import Expect
from runtime.models.offline.plan import MadeCall, Opening
from runtime.models.offline.planner import plan
from runtime.models.offline.reading import read_digits
from runtime.models.situation import AskedField, ChoiceOption, PendingQuestion
from tests.runtime.models.offline.scenes import (
    CARD,
    FLOWS,
    NUMBER,
    REASON,
    YEAR,
    called,
    decide,
    scene,
)

TODAY = "2026-02-02"
BORN = AskedField("birth_date", "text", "Their date of birth.", Expect("date"))
DAY = AskedField("day", "text", "The day of it.", Expect("date"))
BIRTH_YEAR = AskedField("birth_year", "text", "The year.", Expect("digits", 4))
CARDS = (ChoiceOption("the blue card", "c1"), ChoiceOption("the gold card", "c2"))
BLUE = AskedField("card", "text", choices=CARDS, value="c1")
GREEN = AskedField("card", "text", "The card.", value="the green card")
BROKEN = replace(REASON, choices=(*REASON.choices, ChoiceOption("damaged", "damaged")))


def ask(said: str, field: AskedField, **given: Any):
    given.setdefault("question", "The engine's question?")
    given.setdefault("today", TODAY)
    return decide(said, collecting=field, skill="Cards", **given)


@pytest.mark.parametrize("busy", [{}, {"collecting": NUMBER, "question": "Number?", "skill": "x"}])
def test_a_wish_for_a_person_may_be_taken_back(busy: dict[str, Any]):
    """The last wish counts."""
    said = "can I speak to someone no actually I lost my card"
    lost = decide(said, flows=FLOWS, **busy)
    assert called(lost) == [("activate", {"flow_id": "card_replace"})]
    nothing = decide("can I speak to someone, no actually never mind", flows=FLOWS, **busy)
    assert "activate" not in [name for name, _ in called(nothing)]
    back = decide("I lost my card, no actually can I speak to someone", flows=FLOWS, **busy)
    assert called(back) == [("activate", {"flow_id": "hand_over"})]


def test_digits_are_asked_for_again_where_some_were_taken_back():
    """D05: a shorter correction says nothing of the digits before it."""
    decided = ask("four seven two nine one two, sorry, three", NUMBER)
    assert decided.calls == () and decided.text == "Sorry, I didn't catch that."
    assert called(ask("472912, sorry, 472913", NUMBER)) == [
        ("set_fields", {"customer_number": "472913"})
    ]


def test_digits_before_and_after_a_correction_are_no_number_together():
    """Five digits, "no", and one more."""
    assert read_digits("seven two nine one two no three", 6) is None
    assert read_digits("seven two nine, and one two three", 6) is not None


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ("nineteen eighty five, no, eighty four", BIRTH_YEAR),
        ("nineteen eighty five no sorry eighty four", BIRTH_YEAR),
        ("nineteen eighty five no sorry eighty four", YEAR),
        ("March 12th 1984, sorry, 1985", BORN),
        ("March the 11th, no the 12th, 1985", BORN),
        ("March the 11th, no the 12th", DAY),
        ("March 12th", BORN),
        ("3/5", BORN),
    ],
)
def test_a_date_or_year_in_part_is_none(said: str, field: AskedField):
    """It is asked for again: a half of it is another, or missing."""
    assert ask(said, field).calls == ()


def test_a_day_of_birth_without_its_year_is_asked_for_with_it():
    """The caller learns what is missing; other days need no year."""
    assert ask("March 12th", BORN).text == "I need the year too."
    assert called(ask("March 12th", DAY)) == [("set_fields", {"day": "2026-03-12"})]
    assert called(ask("March 12th 1984", BORN)) == [("set_fields", {"birth_date": "1984-03-12"})]


@pytest.mark.parametrize(
    "said", ["can we make it thursday instead", "thursday would be better", "no, on thursday"]
)
def test_a_weekday_instead_of_a_date_is_the_one_of_its_week(said: str):
    """Not the next one from today."""
    held = PendingQuestion("book", "Shall I book you on 2026-03-11?", True, '{"day": "2026-03-11"}')
    given: dict[str, Any] = {"correctable": (replace(DAY, value="2026-03-11"),), "skill": "x"}
    decided = decide(said, pending=held, today=TODAY, **given)
    assert called(decided) == [("correct", {"memory_key": "day", "value": "2026-03-12"})]
    gone = decide(said, pending=held, today="2026-03-20", **given)
    assert called(gone) == [("correct", {"memory_key": "day", "value": "2026-03-26"})]


def test_a_correction_and_an_answer_in_one_sentence_are_both_taken():
    """Neither is dropped."""
    said = "actually it was the gold one and it was stolen"
    for card, value in ((BLUE, "c2"), (GREEN, "gold")):
        decided = ask(said, REASON, correctable=(card,), settable=(card, REASON))
        assert called(decided) == [
            ("set_fields", {"reason": "stolen"}),
            ("correct", {"memory_key": "card", "value": value}),
        ]


def test_nothing_is_done_with_a_thing_that_was_corrected_to_an_unknown_one():
    """The old one would be locked."""
    said = "actually it was the silver one and it was stolen"
    assert ask(said, REASON, correctable=(BLUE,), settable=(BLUE, REASON)).calls == ()
    same = "actually it was the blue one and it was stolen"
    decided = ask(same, REASON, correctable=(BLUE,), settable=(BLUE, REASON))
    assert called(decided) == [("set_fields", {"reason": "stolen"})]


@pytest.mark.parametrize("said", ["the other card", "no the other card", "actually the other one"])
def test_the_other_one_is_the_one_that_was_not_taken(said: str):
    """Of two; of three it is asked which, and of none nothing is begun."""
    given: dict[str, Any] = {"flows": FLOWS, "has_knowledge": True}
    two = ask(said, REASON, correctable=(BLUE,), settable=(BLUE, REASON), **given)
    assert called(two) == [("correct", {"memory_key": "card", "value": "c2"})]
    three = replace(CARD, value="silver card 4400")
    which = ask(said, REASON, correctable=(three,), settable=(three, REASON), **given)
    assert which.calls == () and "gold card 4421 or gold card 9" in which.text
    named = ask("gold card 9", REASON, correctable=(three,), last_line=which.text, **given)
    assert called(named) == [("correct", {"memory_key": "card", "value": "gold card 9"})]
    none = ask(said, REASON, correctable=(GREEN,), settable=(GREEN, REASON), **given)
    assert none.calls == ()


def test_a_curse_is_no_reason():
    """Nothing was lost by "get lost"."""
    for said in ("get lost", "oh just get lost"):
        assert ask(said, BROKEN, settable=(BROKEN,)).calls == ()
    assert called(ask("it got lost", BROKEN)) == [("set_fields", {"reason": "lost"})]


def test_what_is_left_of_a_denial_in_the_first_sentence_is_kept():
    """ "Not lost, it's damaged" is damaged."""
    said = "my card is not lost, it's damaged"
    made = (MadeCall("activate", {"flow_id": "card_replace"}),)
    begun = scene(said, made=made, collecting=NUMBER, question="Number?", skill="x",
                  settable=(BROKEN, NUMBER))  # fmt: skip
    decided = plan(replace(begun, opening=Opening(said)))
    assert called(decided) == [("set_fields", {"reason": "damaged"})]


def test_who_wants_a_manager_instead_still_wants_a_person():
    """And who goes on about waiting, too."""
    for said in ("give me a human, no wait, a manager", "a person please, sorry, I've waited ages"):
        assert called(decide(said, flows=FLOWS)) == [("activate", {"flow_id": "hand_over"})]


@pytest.mark.parametrize("said", ["May 3rd 90", "May 3rd, 90", "the third of May ninety"])
def test_a_short_year_is_one_beside_a_day_of_birth(said: str):
    """As speech recognition writes it."""
    assert called(ask(said, BORN)) == [("set_fields", {"birth_date": "1990-05-03"})]


def test_a_year_that_was_said_elsewhere_is_not_called_missing():
    """The day is asked for again."""
    said = "born in 1984 on the 12th of march"
    assert ask(said, BORN).text == "Sorry, I didn't catch that."


@pytest.mark.parametrize(
    "said", ["stolen, and make it saturday", "stolen and actually on saturday"]
)
def test_a_correction_after_the_answer_is_taken_too(said: str):
    """A clause of its own."""
    day = replace(DAY, value="2026-02-06")
    decided = ask(said, REASON, correctable=(day,), settable=(day, REASON))
    assert called(decided) == [
        ("set_fields", {"reason": "stolen"}),
        ("correct", {"memory_key": "day", "value": "2026-02-07"}),
    ]
