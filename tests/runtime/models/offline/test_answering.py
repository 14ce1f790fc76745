"""What is said of what a search found."""

import pytest

from runtime.models.offline.answering import MOST_CHARS, answer_from, spoken


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("## **Fees** and `rates`", "Fees and rates"),
        ("- See [the list](https://example.com/a) now", "See the list now"),
        ("1. Call *us* at <b>once</b>.", "Call us at once."),
        ("snake_case_name stays, _this_ does not", "snake_case_name stays, this does not"),
        ("Look at https://example.com/x for more", "Look at for more"),
        ('{"status": "ok"}', ""),
        ("[1, 2]", ""),
    ],
)
def test_markup_is_not_spoken(written: str, said: str):
    """Nor is what is no text at all."""
    assert spoken(written) == said


def test_a_price_a_span_and_a_time_are_told_from_each_other():
    """ "How much" wants a price, "how long" a span, whatever else shares more words."""
    passage = (
        "Express post",
        "Express is brought by courier. Express takes two working days. Express costs 12 euros.",
    )
    text = "\n".join(passage)
    assert (answer_from([text], "how much is express", "en") or "").startswith("Express costs")
    assert (answer_from([text], "how long is express", "en") or "").startswith("Express takes")


def test_a_question_without_words_of_its_own_is_about_the_line_before():
    """M04: "how much?" after a line about express; what tells no price is no answer."""
    asked = "how much is it? Shall I send it by express post?"
    assert answer_from(["Express costs 12 euros."], asked, "en") == "Express costs 12 euros."
    assert answer_from(["Express post is sent at night."], asked, "en") is None


def test_answers_are_short_whatever_was_written():
    """At most 300 characters, cut where a clause ends."""
    long = "Cards are replaced " + "in many different branches, " * 40 + "always."
    answer = answer_from([long], "where are cards replaced", "en")
    assert answer is not None and len(answer) <= MOST_CHARS and answer.endswith("branches.")


def test_tables_and_code_are_left_out():
    """They can't be read aloud."""
    passage = (
        "Fees\n| Card | Fee |\n|---|---|\n| gold | 5 |\n\n```\nfee = 5\n```\nA gold card is free."
    )
    assert answer_from([passage], "what is the fee of a gold card", "en") == "A gold card is free."


def test_nothing_found_is_no_answer():
    """Neither is an empty question."""
    assert answer_from([], "how much", "en") is None
    assert answer_from(["Express costs 12 euros."], "", "en") is None
    assert answer_from(["Express costs 12 euros."], "who painted that picture", "en") is None


def test_how_long_it_takes_is_told_by_a_span_alone():
    """ "Take" is in many a sentence."""
    asked = "how long does it take? Shall I book it? takes long"
    other = "We take all insurers, and children under eighteen."
    assert answer_from([other], asked, "en") is None
    assert answer_from([other, "Brakes take a day."], asked, "en") == "Brakes take a day."
