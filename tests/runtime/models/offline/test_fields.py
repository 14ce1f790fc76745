"""The caller's words as the value of a field: what the question and the turn before add to them."""

import pytest

from runtime.models.offline.fields import Reading, clear_choice, read_asked
from runtime.models.situation import AskedField, ChoiceOption
from tests.runtime.models.offline.scenes import NUMBER, REASON, SHIPPING, scene

RECEIVED = AskedField(
    "reason",
    "categorical",
    choices=tuple(ChoiceOption(v.replace("_", " "), v) for v in ("lost", "damaged", "missing")),
)


def number(said: str, before: str = "four seven two", *, only_clear: bool = False) -> Reading:
    at = scene(said, collecting=NUMBER)
    return read_asked(at, NUMBER, said, only_clear=only_clear, first_part=before)


def test_a_number_said_in_two_turns_is_joined():
    """D05: after the caller was told how many digits were heard."""
    assert number("nine one three") == Reading("472913")
    assert number("um nine one three please") == Reading("472913")
    assert number("472913") == Reading("472913")


@pytest.mark.parametrize(
    ("said", "before"),
    [
        ("four seven two", "four seven two"),  # said again
        ("nine one", "four seven two"),
        ("no nine one three", "four seven two"),
        ("nine one three", "four seven"),
        ("nine one three", ""),
        ("nine one three", "not four seven two"),
    ],
)
def test_what_may_not_be_the_second_part_is_not_joined(said: str, before: str):
    """It is told how many digits were heard, and asked for again."""
    read = number(said, before)
    assert read.value is None and read.digits_heard in (2, 3)


def test_digits_before_the_question_join_nothing():
    """Words that were said before the question was do not go on with anything."""
    assert number("nine one three", only_clear=True).value is None


def test_the_line_before_is_the_question_where_the_engine_has_none():
    """Its words stand for the choice they stand beside."""
    line = "Was it lost or damaged, or did it never arrive?"
    asked = scene("it never came", collecting=RECEIVED, question=line)
    heard = scene("it never came", collecting=RECEIVED, last_line=line)
    for at in (asked, heard):
        assert read_asked(at, RECEIVED, at.said, only_clear=False).value == "missing"
    bare = scene("it never came", collecting=RECEIVED, question="What happened to it?")
    assert read_asked(bare, RECEIVED, bare.said, only_clear=False).value is None


def test_the_questions_words_count_only_for_who_answers_it():
    """Said before it, "two days" is no shipping."""
    line = "By standard post, in five days, or by express, in two?"
    at = scene("two days", collecting=SHIPPING, question=line)
    assert read_asked(at, SHIPPING, at.said, only_clear=True).value is None
    assert read_asked(at, SHIPPING, at.said, only_clear=False).value == "express"
    assert clear_choice(at, SHIPPING, at.said) is None


def test_a_choice_that_is_denied_is_not_clear_either():
    """Nor taken from words that began what is being done."""
    at = scene("my card was not stolen", collecting=REASON)
    assert clear_choice(at, REASON, at.said) is None
    assert read_asked(at, REASON, at.said, only_clear=True).value is None


def test_what_is_left_after_an_exception_is_asked_between():
    """ "Anything but lost"."""
    at = scene("anything but lost", collecting=REASON, question="What happened?")
    read = read_asked(at, REASON, at.said, only_clear=False)
    assert read == Reading(among=("stolen", "never arrived"))
