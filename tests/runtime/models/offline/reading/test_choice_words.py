"""Words by which a choice is named beside its label: places, times, and the question's own."""

import pytest

from runtime.models.offline.reading import ENGLISH, Choice, read_choice, weigh_choices
from runtime.models.offline.reading.asked_words import with_question
from runtime.models.offline.reading.forms import form_of
from runtime.models.offline.reading.positions import read_positions
from runtime.models.offline.reading.times import clock_spans
from runtime.models.offline.reading.tokens import tokenize


def choices(*labels: str) -> list[Choice]:
    return [Choice(label, (label.replace("_", " "), label)) for label in labels]


CARDS = choices("gold card 4421", "silver card 4400", "gold card 9")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("arrived", "arrive"),
        ("stole", "stolen"),
        ("losing", "lost"),
        ("damages", "damaged"),
        ("stopped", "stop"),
        ("deliveries", "delivery"),
    ],
)
def test_the_forms_of_a_word_are_one(one: str, other: str) -> None:
    """Regular endings are cut, the rest is known."""
    assert form_of(one, ENGLISH.forms) == form_of(other, ENGLISH.forms)


def test_words_that_only_look_like_forms_are_two() -> None:
    """And without a language nothing is cut."""
    assert form_of("express", ENGLISH.forms) == "express"
    assert form_of("ring", ENGLISH.forms) == "ring"
    assert form_of("arrived", {}) == "arrived"


@pytest.mark.parametrize(
    ("said", "places"),
    [
        ("the second one", [1]),
        ("second please", [1]),
        ("I'd like the last", [2]),
        ("the third card", [2]),
        ("the first of them", [0]),
        ("number two", [1]),
        ("the last time", []),
        ("the one I saw last time", []),
        ("first of all", []),
        ("at last", []),
        ("one second", []),
        ("my card number two four", []),
        ("the one after the first", []),
        ("second to last", []),
    ],
)
def test_a_place_counts_only_where_it_stands_as_one(said: str, places: list[int]) -> None:
    """ "The last time" is no place."""
    found = read_positions(tokenize(said), 3, ENGLISH, frozenset({"card", "gold"}))
    assert [place.index for place in found] == places


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("the second gold one", "gold card 9"),
        ("the gold one ending in 12", None),
        ("the gold one ending in 4421", "gold card 4421"),
        ("not the gold one", None),
        ("not the gold card nine, the gold one", "gold card 4421"),
        ("gold, but not number nine", "gold card 4421"),
        ("the silver one, I have had it for two years", "silver card 4400"),
    ],
)
def test_a_number_that_no_choice_has_speaks_against_it(said: str, value: str | None) -> None:
    """Unless it counts something else."""
    found = read_choice(said, CARDS)
    assert (found and found.value) == value


def test_two_ways_to_name_a_choice_must_agree() -> None:
    """ "The first one, stolen": they are asked between."""
    reasons = choices("lost", "stolen", "broken")
    reading = weigh_choices("the first one, the broken one", reasons)
    assert reading.found is None
    assert [choice.value for choice in reading.ambiguous] == ["lost", "broken"]


@pytest.mark.parametrize(
    ("said", "minutes"),
    [
        ("half past nine", [570]),
        ("ten past three", [190]),
        ("9:30", [570]),
        ("15:00", [180]),
        ("three in the afternoon", [180]),
        ("nine o'clock or noon", [540, 0]),
        ("the gold one", []),
        ("two to four people", []),
        ("card 1730", []),
    ],
)
def test_what_can_only_be_a_time_is_found_anywhere(said: str, minutes: list[int]) -> None:
    """Morning and afternoon are one: callers seldom say which."""
    found = clock_spans(tokenize(said), ENGLISH, loose=False)
    assert [span.minutes for span in found] == minutes


def test_a_bare_number_is_a_time_among_times() -> None:
    """Not where it counts days, or a place in the list."""
    found = clock_spans(
        tokenize("nine, number two, in five days, before three"), ENGLISH, loose=True
    )
    assert [(span.minutes, span.is_bound) for span in found] == [(540, False), (180, True)]


def test_choices_of_bare_hours_are_times_to_a_caller_who_says_one() -> None:
    """ "Half past nine" is not the choice "nine"."""
    hours = choices("nine", "ten")
    assert read_choice("half past nine", hours) is None
    found = read_choice("nine o'clock", hours)
    assert found is not None and found.value == "nine"


def test_the_question_gives_its_words_to_the_choice_they_stand_beside() -> None:
    """Those that follow its name, up to the next one's."""
    asked = "By standard post, in five working days, or by express, in two, for 12 euros?"
    given = with_question(choices("standard", "express"), f"Two ways. {asked}")
    assert [c.asked_with.split() for c in given] == [
        ["post", "in", "five", "working", "days"],
        ["in", "two", "for", "12", "euros"],
    ]


def test_one_part_and_one_choice_that_are_left_belong_together() -> None:
    """ "Or did it never arrive?" is the choice "missing"."""
    reasons = choices("lost", "damaged", "missing")
    given = with_question(reasons, "Was it lost or damaged, or did it never arrive?")
    assert [c.asked_with for c in given] == ["", "", "did it never arrive"]
    for said in ("it never came", "it didn't arrive", "never got it"):
        found = read_choice(said, given)
        assert found is not None and found.value == "missing"
    assert read_choice("it arrived", given) is None


@pytest.mark.parametrize(
    "question",
    [
        "What happened?",
        "Was it lost or stolen, did it break, or did it never arrive?",
        "Lost and damaged, or missing?",
        "",
    ],
)
def test_a_question_that_leaves_doubt_gives_nothing_away(question: str) -> None:
    """Two parts for one choice, or a part that names two."""
    reasons = choices("lost", "damaged", "missing")
    given = with_question(reasons, question)
    assert all("arrive" not in c.asked_with for c in given)
    assert read_choice("it never came", given) is None
