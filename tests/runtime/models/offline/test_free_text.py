"""What a free text takes, and what is given beside an answer."""

from typing import Any

import pytest

from runtime.agent import Expect
from runtime.models.situation import AskedField, ChoiceOption
from tests.runtime.models.offline.scenes import (
    NAME,
    NUMBER,
    SHIPPING,
    WISHES,
    YEAR,
    called,
    decide,
)

DAY = AskedField("day", "text", "The day of it.", Expect("date"))
TIME = AskedField("time", "text", choices=tuple(ChoiceOption(t, t) for t in ("nine", "three")))
DOCTOR = AskedField(
    "doctor", "text", choices=(ChoiceOption("Dr. Chen", "chen"), ChoiceOption("Dr. Roth", "roth"))
)
BIRTH_YEAR = AskedField("birth_year", "text", "The year they were born in.", Expect("digits", 4))


def ask(said: str, field: AskedField, **given: Any):
    given.setdefault("question", "The engine's question?")
    return decide(said, collecting=field, skill="x", today="2026-02-02", **given)


@pytest.mark.parametrize(
    "said",
    ["no", "to the", "I want to know the price", "I mean the thing", "I mean", "well I mean it"],
)
def test_what_is_no_text_is_asked_again(said: str):
    """A bare no, a word that says nothing, the beginning of a sentence."""
    assert ask(said, WISHES, settable=(WISHES, SHIPPING, DAY)).calls == ()


def test_a_function_word_is_no_name():
    """A name that is also a word may be one."""
    assert ask("the", NAME).calls == ()
    assert called(ask("my name is will", NAME)) == [("set_fields", {"name": "will"})]


def test_a_no_to_whether_there_is_anything_is_an_answer():
    """It tells that there is nothing."""
    decided = ask("no", WISHES, question="Anything else we should know?")
    assert called(decided) == [("set_fields", {"wishes": "no"})]


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("express please", {"shipping": "express"}),
        ("on friday please", {"day": "2026-02-06"}),
    ],
)
def test_the_value_of_another_field_is_that_fields(said: str, value: dict[str, str]):
    """Where it is all that was said; in a sentence it is a part of the text."""
    decided = ask(said, WISHES, settable=(WISHES, SHIPPING, DAY))
    assert called(decided) == [("set_fields", value)]
    more = ask("wrap it on friday", WISHES, settable=(WISHES, SHIPPING, DAY))
    assert called(more) == [("set_fields", {"wishes": "wrap it on friday"})]


@pytest.mark.parametrize(
    ("year", "value"), [(BIRTH_YEAR, {"birth_year": "1984"}), (YEAR, {"project.birth_year": 1984})]
)
def test_a_year_of_birth_beside_a_number_is_kept(year: AskedField, value: dict[str, Any]):
    """It is named by "born", and has a clause of its own."""
    said = "it's 472913 and I was born in 1984"
    decided = ask(said, NUMBER, settable=(NUMBER, year))
    assert called(decided) == [("set_fields", {"customer_number": "472913", **value})]
    bare = ask("it's 472913 and there are 1984 of us", NUMBER, settable=(NUMBER, year))
    assert not any(set(given) & set(value) for _, given in called(bare))


def test_a_day_beside_a_choice_is_kept():
    """Unless it is denied, or one of two."""
    settable = (DOCTOR, DAY, TIME)
    said = "Chen, on Friday at three please"
    assert called(ask(said, DOCTOR, settable=settable)) == [
        ("set_fields", {"doctor": "chen", "day": "2026-02-06", "time": "three"})
    ]
    assert called(ask("Chen, on friday", DOCTOR, settable=settable))[0][1]["day"] == "2026-02-06"
    for said in (
        "Chen, and not on friday",
        "Chen, tomorrow or friday",
        "I was with Chen, on friday",
    ):
        assert called(ask(said, DOCTOR, settable=settable)) == [("set_fields", {"doctor": "chen"})]


@pytest.mark.parametrize(
    ("said", "given"),
    [
        ("Nora, number 472913", {"customer_number": "472913"}),
        ("Nora and it's for friday", {"day": "2026-02-06"}),
    ],
)
def test_a_name_is_read_without_what_is_given_beside_it(said: str, given: dict[str, str]):
    """Two names stay one."""
    decided = ask(said, NAME, settable=(NAME, DAY, NUMBER))
    assert called(decided) == [("set_fields", {"name": "Nora", **given})]
    both = ask("Anna and Tom", NAME, settable=(NAME, DAY, NUMBER))
    assert called(both) == [("set_fields", {"name": "Anna and Tom"})]
