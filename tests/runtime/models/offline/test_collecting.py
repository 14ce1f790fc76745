"""Answers to what is being asked, and what else is given with them."""

from dataclasses import replace
from typing import Any

import pytest

from runtime.agent import Expect
from runtime.models.offline.plan import MadeCall
from runtime.models.offline.planner import plan
from runtime.models.situation import AskedField, ChoiceOption
from tests.runtime.models.offline.scenes import (
    CARD,
    FLOWS,
    INSURED,
    NAME,
    NUMBER,
    REASON,
    SHIPPING,
    WISHES,
    YEAR,
    called,
    decide,
    scene,
)

ACTIVATED = (MadeCall("activate", {"flow_id": "card_replace"}),)


def ask(said: str, field: AskedField, **given: Any):
    given.setdefault("question", "The engine's question?")
    return decide(said, collecting=field, skill="Cards", **given)


@pytest.mark.parametrize(
    ("said", "field", "value"),
    [
        ("it was stolen", REASON, "stolen"),
        ("the second one", REASON, "stolen"),
        ("it never arrived", REASON, "never_arrived"),
        ("the silver one please", CARD, "silver card 4400"),
        ("the one ending in four four two one", CARD, "gold card 4421"),
        ("four seven two nine one three", NUMBER, "472913"),
        ("1984", YEAR, 1984),
        ("yes it is", INSURED, True),
        ("no", INSURED, False),
        ("my name is nora feld", NAME, "Nora Feld"),
        ("it should be wrapped, please", WISHES, "it should be wrapped"),
    ],
)
def test_an_answer_is_set(said: str, field: AskedField, value: object):
    """By label, place, digits, yes or no, or as it was said."""
    decided = ask(said, field)
    assert called(decided) == [("set_fields", {field.name: value})]
    assert not decided.text


def test_what_else_is_clearly_given_is_set_with_it_the_asked_one_first():
    """Choices by their own words; never a typed value, never over a value that is there."""
    said = "the silver one, it was stolen, express please"
    decided = ask(said, CARD, settable=(SHIPPING, CARD, REASON, NAME))
    assert list(dict(called(decided))["set_fields"].items()) == [
        ("card", "silver card 4400"),
        ("shipping", "express"),
        ("reason", "stolen"),
    ]
    known = ask(said, CARD, settable=(replace(SHIPPING, value="standard"), CARD))
    assert called(known) == [("set_fields", {"card": "silver card 4400"})]


def test_a_word_that_fits_two_other_fields_is_given_to_neither():
    """It is asked for instead."""
    other = replace(SHIPPING, name="return_post")
    decided = ask("stolen, and express", REASON, settable=(REASON, SHIPPING, other))
    assert called(decided) == [("set_fields", {"reason": "stolen"})]


def test_what_was_given_instead_of_an_answer_is_kept():
    """ "Express" to "which card?": the engine asks for the card again."""
    decided = ask("express please", CARD, settable=(CARD, SHIPPING))
    assert called(decided) == [("set_fields", {"shipping": "express"})]


def test_several_that_fit_are_asked_between_and_then_told_apart():
    """The next answer may be a place among the two."""
    decided = ask("the gold one", CARD)
    assert decided.text == "Which do you mean: gold card 4421 or gold card 9?"
    assert not decided.calls
    second = ask("the second one", CARD, last_line=decided.text, question=None)
    assert called(second) == [("set_fields", {"card": "gold card 9"})]


@pytest.mark.parametrize("said", ["hmm", "the blue one", "maybe", "I don't know"])
def test_what_is_no_answer_is_asked_again(said: str):
    """The engine repeats its question after the line."""
    decided = ask(said, CARD)
    assert decided.text == "Sorry, I didn't catch that." and not decided.calls


def test_a_wrong_number_of_digits_is_told():
    """D05: what is missing is said, and nothing is guessed."""
    decided = ask("four seven two nine one", NUMBER)
    assert decided.text == "I heard 5 digits, and I need 6." and not decided.calls


@pytest.mark.parametrize(
    ("field", "question"),
    [
        (NUMBER, "What is your customer number?"),
        (YEAR, "What is your birth year?"),
        (SHIPPING, "Which shipping: standard or express?"),
        (INSURED, "I need a yes or no for this: insured?"),
        (replace(NAME, description="Whom may I announce?"), "Whom may I announce?"),
    ],
)
def test_without_a_question_of_the_engine_the_planner_asks(field: AskedField, question: str):
    """After its calls, in a turn without words, and after what it did not catch."""
    assert ask("", field, question=None).text == question
    assert ask("I need a new card", field, question=None, made=ACTIVATED).text == question
    used = (MadeCall("set_fields", {"reason": "lost"}),)
    assert ask("lost", field, question=None, made=used).text == question
    assert ask("hmm", field, question=None).text.startswith("Sorry, I didn't catch that. ")


def test_words_said_before_the_question_answer_it_only_if_they_are_clear():
    """ "I want to book a table" is nobody's name; "I lost my card" tells why."""
    assert called(ask("I lost my card", REASON, made=ACTIVATED)) == [
        ("set_fields", {"reason": "lost"})
    ]
    for field in (NAME, WISHES, INSURED, NUMBER):
        decided = ask("yes I want to do that for two", field, made=ACTIVATED)
        assert decided.calls == () and not decided.text


def test_words_answer_one_question_only():
    """What was set from them is not read again for the next question of the same turn."""
    used = (MadeCall("set_fields", {"number": "472913"}),)
    decided = ask("472913", YEAR, made=used)
    assert decided.calls == () and not decided.text


def test_an_earlier_value_is_corrected():
    """By choice, by name, or as the only one that it can be."""
    card = AskedField("card", "text", value="the blue card")
    why = replace(REASON, value="lost")
    asked = {"correctable": (card, why), "settable": (card, why, SHIPPING)}
    assert called(ask("no, I meant stolen", SHIPPING, **asked)) == [
        ("correct", {"memory_key": "reason", "value": "stolen"})
    ]
    assert called(ask("no, I meant the gold one", SHIPPING, **asked)) == [
        ("correct", {"memory_key": "card", "value": "gold"})
    ]
    assert called(ask("actually make it express", SHIPPING, **asked)) == [
        ("set_fields", {"shipping": "express"})
    ]
    number = AskedField("customer_number", "text", value="472913")
    named = ask("no, my customer number is 472914", YEAR, correctable=(number, card))
    assert called(named) == [("correct", {"memory_key": "customer_number", "value": "472914"})]


def test_a_question_instead_of_an_answer_is_looked_up():
    """The engine asks again after the answer."""
    for field in (SHIPPING, NAME, WISHES, NUMBER):
        decided = ask("how long does shipping take?", field, has_knowledge=True)
        assert called(decided) == [("search_knowledge", {"query": "how long does shipping take?"})]
    nowhere = ask("how long does shipping take?", NUMBER)
    assert nowhere.text == "I'm sorry, I don't know that." and not nowhere.calls


def test_another_wish_instead_of_an_answer_is_begun():
    """A digression: what was being done is parked by the engine."""
    for field in (NUMBER, NAME, WISHES):
        decided = ask("where is my new card", field, flows=FLOWS)
        assert called(decided) == [("activate", {"flow_id": "card_status"})]


def test_a_refused_value_is_asked_for_again_and_not_sent_again():
    """The same words would be refused again; a second refusal ends in an apology."""
    made = (MadeCall("set_fields", {"customer_number": "472913"}, is_refused=True),)
    decided = ask("472913", NUMBER, made=made, refused="no such customer")
    assert decided.text == "I'm sorry, I can't take that." and not decided.calls
    own = ask("472913", NUMBER, made=made, refused="no such customer", question=None)
    assert own.text == "I'm sorry, I can't take that. What is your customer number?"
    corrected = (MadeCall("correct", {}, is_refused=True),)
    changed = ask("no, gold", NUMBER, made=corrected, refused="no")
    assert changed.text == "I'm sorry, I can't change that now."


def test_a_value_is_sent_in_the_type_of_its_field():
    """Else the call would be refused."""
    code = AskedField("code", "text", expect=Expect("digits"))
    assert called(ask("zero zero seven", code)) == [("set_fields", {"code": "007"})]
    people = AskedField("people", "int")
    assert called(ask("four of us", people)) == [("set_fields", {"people": 4})]
    price = AskedField("price", "float", "The price.")
    assert called(ask("twelve fifty", price)) == [("set_fields", {"price": 12.5})]


def test_a_field_that_may_not_be_set_is_not_set():
    """The tools on offer decide."""
    assert ask("it was stolen", REASON, without=("set_fields",)).calls == ()


def test_what_comes_with_a_yes_or_a_no_is_done_too():
    """Another wish, or a question; the answer is set first."""
    given: dict[str, Any] = {"flows": FLOWS, "has_knowledge": True}
    wished = ask("yes, and also where is my new card", INSURED, **given)
    assert called(wished) == [
        ("set_fields", {"insured": True}),
        ("activate", {"flow_id": "card_status"}),
    ]
    asked = ask("no, but can you tell me when you open", INSURED, **given)
    assert [name for name, _ in called(asked)] == ["set_fields", "search_knowledge"]
    assert called(ask("yes it is", INSURED, **given)) == [("set_fields", {"insured": True})]


def test_an_earlier_value_is_corrected_by_what_answers_nothing_now():
    """ "Friday would be better", where a number is asked for."""
    days = tuple(ChoiceOption(d, d) for d in ("Thursday", "Friday"))
    day = AskedField("day", "categorical", choices=days, value="Thursday")
    for said in ("friday would be better", "can we do friday instead", "make it friday"):
        decided = ask(said, NUMBER, correctable=(day,), has_knowledge=True)
        assert called(decided) == [("correct", {"memory_key": "day", "value": "Friday"})]
    wish = ask("can you change my address", NUMBER, correctable=(NAME,), has_knowledge=True)
    assert [name for name, _ in called(wish)] == ["search_knowledge"]


def test_a_number_that_was_said_in_part_is_gone_on_with():
    """The caller was told how many digits are missing."""
    one = scene("nine one three", collecting=NUMBER, question="Which number?")
    decided = plan(replace(one, first_part="four seven two"))
    assert called(decided) == [("set_fields", {"customer_number": "472913"})]
    assert not plan(one).calls
