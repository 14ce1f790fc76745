"""Answers, choices, corrections, controls and names as callers say them."""

import pytest

from runtime.models.offline.reading import (
    Choice,
    control_words,
    is_correction,
    read_choice,
    read_name,
    read_yes_no,
    weigh_choices,
)


@pytest.mark.parametrize(
    ("said", "answers"),
    [
        ("yes", "yes"),
        ("yes please", "yes"),
        ("go ahead", "yes"),
        ("permission granted", "yes unclear"),
        ("ok cancel", "no"),
        ("yeah no", "unclear"),
        ("no wait yes", "unclear"),
        ("yesterday?", "other unclear"),
        ("why?", "other unclear"),
        ("maybe", "unclear"),
        ("yes or no?", "unclear"),
        ("cancel the one on Friday", "other"),
        ("", "other"),
    ],
)
def test_only_a_plain_yes_confirms(said: str, answers: str) -> None:
    """M01: the answers to a pending appointment's deletion."""
    found = read_yes_no(said)
    assert found.answer in answers.split()
    assert found.is_plain == (found.answer in ("yes", "no"))


@pytest.mark.parametrize(
    ("said", "answer", "rest"),
    [
        ("Yeah, that's right.", "yes", ""),
        ("sure why not", "yes", ""),
        ("thats right", "yes", ""),
        ("um yes", "yes", ""),
        ("ok", "yes", ""),
        ("no problem", "yes", ""),
        ("nope", "no", ""),
        ("rather not", "no", ""),
        ("dont", "no", ""),
        ("I don't think so", "no", ""),
        ("no no no", "no", ""),
        ("yes?", "unclear", ""),
        ("no, that's fine", "unclear", ""),
        ("yes don't do it", "unclear", ""),
        ("sure, cancel it", "unclear", ""),
        ("yes, but make it Friday", "yes", "but make it Friday"),
        ("no, I meant the gold one", "no", "I meant the gold one"),
        ("no cancel the other one", "no", "cancel the other one"),
        ("good morning", "other", "good morning"),
        ("don't you have Friday", "other", "don't you have Friday"),
    ],
)
def test_an_answer_comes_with_what_follows_it(said: str, answer: str, rest: str) -> None:
    found = read_yes_no(said)
    assert (found.answer, found.rest) == (answer, rest)


def test_the_act_that_was_asked_about_is_no_refusal() -> None:
    """M01: "yes, cancel it" answers "shall I cancel it?"."""
    assert read_yes_no("yes, cancel it", "Shall I cancel it?").answer == "yes"
    assert read_yes_no("yes, cancel it", "Shall I book it?").answer == "unclear"
    assert read_yes_no("cancel it", "Shall I cancel it?").answer == "unclear"


CARDS = (
    Choice("gold", ("Gold card ending in 4242",)),
    Choice("platinum", ("Platinum card ending in 4711",)),
    Choice("silver", ("Silver",)),
)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("the first one please", "gold"),
        ("the second one", "platinum"),
        ("number two", "platinum"),
        ("option 3", "silver"),
        ("the last", "silver"),
        ("the gold one", "gold"),
        ("platnum", "platinum"),
        ("i'd like the silvr one", "silver"),
        ("the one ending in forty two forty two", "gold"),
        ("ending in 4711", "platinum"),
        ("not gold, platinum", "platinum"),
        ("no, I meant the gold one", "gold"),
        ("one second", None),
        ("whatever", None),
        ("", None),
    ],
)
def test_a_choice_is_made_by_what_tells_it_apart(said: str, value: str | None) -> None:
    found = read_choice(said, CARDS)
    assert (found and found.value) == value


@pytest.mark.parametrize("said", ["card", "gold or platinum", "the card"])
def test_what_fits_several_choices_is_given_back_as_a_question(said: str) -> None:
    reading = weigh_choices(said, CARDS)
    assert reading.found is None
    assert reading.ambiguous == CARDS[:2]


def test_a_label_inside_another_is_told_from_it() -> None:
    plans = [Choice(value, (value,)) for value in ("gold", "gold_plus", "first_class")]
    for said, value in (
        ("gold", "gold"),
        ("gold plus", "gold_plus"),
        ("first class", "first_class"),
    ):
        found = read_choice(said, plans)
        assert found is not None and found.value == value


@pytest.mark.parametrize(
    ("said", "rest"),
    [
        ("no, I meant Friday", "Friday"),
        ("actually Tuesday", "Tuesday"),
        ("sorry, make that three", "three"),
        ("change it to two", "two"),
        ("change the date to May 3rd", "May 3rd"),
        ("I said four", "four"),
        ("not gold, platinum", "platinum"),
        ("not the gold one but the platinum one", "the platinum one"),
        ("Tuesday, no sorry, Wednesday", "Wednesday"),
        ("four seven, I mean, four eight", "four eight"),
        ("no, Friday.", "Friday"),
        ("no", None),
        ("sorry?", None),
        ("no thanks", None),
        ("my name is Nora", None),
        ("I want to make it to the office", None),
    ],
)
def test_a_correction_gives_what_is_said_instead(said: str, rest: str | None) -> None:
    found = is_correction(said)
    assert (found and found.value) == rest
    assert found is None or said[found.start : found.end] == rest


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("never mind", "cancel"),
        ("forget it", "cancel"),
        ("cancel that", "cancel"),
        ("Stop this, please.", "cancel"),
        ("say that again", "repeat"),
        ("pardon?", "repeat"),
        ("what was that", "repeat"),
        ("could you repeat that please", "repeat"),
        ("bye", "goodbye"),
        ("that's all thanks", "goodbye"),
        ("no that's it", "goodbye"),
        ("hang up", "goodbye"),
        ("hold on", "wait"),
        ("one moment", "wait"),
        ("let me look", "wait"),
        ("can I talk to a person", "human"),
        ("agent please", "human"),
        ("representative", "human"),
        ("thank you", "thanks"),
        ("hello", "greeting"),
        ("hello? are you there", "presence"),
        ("what can you do", "help"),
        ("help", "help"),
    ],
)
def test_words_that_steer_the_talk_are_known(said: str, kind: str) -> None:
    found = control_words(said)
    assert found is not None
    assert (found.kind, found.confidence) == (kind, 1.0)


@pytest.mark.parametrize(
    "said",
    [
        "cancel the meeting on Friday",
        "stop at the office",
        "what time do you open",
        "hi I need a table for two",
        "four",
        "yes",
        "",
    ],
)
def test_words_with_an_object_do_not_steer_the_talk(said: str) -> None:
    """M01: "cancel the meeting on Friday" is a request."""
    assert control_words(said) is None


def test_other_words_beside_it_make_it_less_certain() -> None:
    found = control_words("I want to talk to a person about my bill")
    assert found is not None and found.kind == "human"
    assert 0.3 <= found.confidence < 0.9


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("my name is Nora Feld", "Nora Feld"),
        ("it's Nora", "Nora"),
        ("this is Dr. Feld speaking", "Dr. Feld"),
        ("hi this is doctor feld calling about my bill", "Dr. Feld"),
        ("nora feld", "Nora Feld"),
        ("yes my name is nora o'brien", "Nora O'Brien"),
        ("maria de la cruz", "Maria de la Cruz"),
        ("the name's Jean-Luc Picard", "Jean-Luc Picard"),
        ("I'm Nora and I need a table", "Nora"),
        ("it's under Feld", "Feld"),
        ("call me Ben please", "Ben"),
        ("Barkley, b a r k l e y", "Barkley"),
        ("I'm calling about my bill", None),
        ("I want a table", None),
        ("it's fine", None),
        ("Friday", None),
        ("four", None),
        ("why?", None),
        ("", None),
    ],
)
def test_a_name_is_read(said: str, name: str | None) -> None:
    found = read_name(said)
    assert (found and found.value) == name
