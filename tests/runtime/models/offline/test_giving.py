"""What is said with a wish is kept, and not asked for again."""

from dataclasses import replace
from typing import Any

import pytest

from runtime.agent import Expect
from runtime.models.offline.plan import MadeCall, Opening, Plan
from runtime.models.offline.planner import plan
from runtime.models.situation import AskedField, ChoiceOption
from tests.runtime.models.offline.scenes import (
    CARD,
    NAME,
    NUMBER,
    REASON,
    SHIPPING,
    YEAR,
    called,
    scene,
)

BEGUN = (MadeCall("activate", {"flow_id": "booking"}),)
USED = (MadeCall("set_fields", {"birth_year": "1984"}),)
DAY = AskedField(
    "day", "categorical", choices=tuple(ChoiceOption(d, d) for d in ("Wednesday", "Thursday"))
)
PROBLEM = AskedField("problem", "text", "What is wrong with it.")
DATE = AskedField("date", "text", "The day of the appointment.", Expect("date"))
BORN = AskedField("born", "text", "The date of birth.", Expect("date"))
WISH = "my gold card was stolen, can you send a new one express"


def after(
    words: str, said: str | None = None, *, tried: tuple[str, ...] = (), **given: Any
) -> Plan:
    """Decide in a later round; ``words`` began what is being done."""
    given.setdefault("made", BEGUN)
    given.setdefault("today", "2026-02-02")
    given.setdefault("question", "The engine's question?")
    one = scene(words if said is None else said, skill="Booking", **given)
    return plan(replace(one, opening=Opening(words, frozenset(tried))))


def test_a_choice_in_the_words_that_began_it_is_kept():
    """Though the question of the moment is another one."""
    decided = after("book a repair for thursday please", collecting=PROBLEM, settable=(DAY,))
    assert called(decided) == [("set_fields", {"day": "Thursday"})] and not decided.text


def test_what_was_said_before_something_else_was_asked_first_is_kept_too():
    """Turns ago: the caller had to say who they are in between; the question of now is answered."""
    fields = (REASON, SHIPPING, NAME)
    decided = after(WISH, "1984", made=USED, collecting=CARD, settable=(CARD, *fields))
    assert called(decided) == [("set_fields", {"reason": "stolen", "shipping": "express"})]
    asked = after(WISH, "1984", made=USED, collecting=REASON, settable=fields)
    assert called(asked) == [("set_fields", {"reason": "stolen", "shipping": "express"})]
    keyed = after(WISH, "", made=(), kind="keys", collecting=CARD, settable=(CARD, *fields))
    assert called(keyed) == called(decided)


def test_it_is_kept_with_the_next_answer_where_there_was_no_round_before():
    """The asked one first."""
    decided = after(WISH, "the silver one", made=(), collecting=CARD, settable=(CARD, SHIPPING))
    assert called(decided) == [("set_fields", {"card": "silver card 4400", "shipping": "express"})]


@pytest.mark.parametrize(
    ("words", "date"),
    [
        ("I need a check-up on the fifth of december", "2026-12-05"),
        ("can you book me in for tomorrow afternoon please", "2026-02-03"),
    ],
)
def test_a_date_is_kept(words: str, date: str):
    """Where one field alone is a date."""
    decided = after(words, collecting=PROBLEM, settable=(PROBLEM, DATE))
    assert called(decided) == [("set_fields", {"date": date})]
    two = after(words, collecting=PROBLEM, settable=(DATE, replace(DATE, name="until")))
    assert called(two) == []


def test_a_day_of_an_appointment_is_no_day_of_birth():
    """Asked for at once or not."""
    words = "I need a check-up on the fifth of december"
    assert called(after(words, collecting=BORN, settable=(BORN,))) == []
    assert called(after(words, collecting=PROBLEM, settable=(BORN,))) == []
    told = after("I was born on may 3rd 1985 and need a check-up", collecting=BORN)
    assert called(told) == [("set_fields", {"born": "1985-05-03"})]


def test_a_long_number_is_kept_and_a_short_one_only_by_its_name():
    """Four digits may be anything."""
    year = replace(YEAR, name="birth_year", type="text", expect=Expect("digits", 4))
    number = "my customer number is four seven two nine one three and I lost my card"
    assert called(after(number, collecting=PROBLEM, settable=(NUMBER, year))) == [
        ("set_fields", {"customer_number": "472913"})
    ]
    four = "I need a room for the night of 2026 please, number 1984"
    assert called(after(four, collecting=PROBLEM, settable=(year,))) == []


@pytest.mark.parametrize(
    "words",
    [
        "my card was not stolen, please send it",
        "book a repair for wednesday or for thursday please",
        "how much is it to get a new card by express",
    ],
)
def test_what_is_denied_unclear_or_only_asked_is_not_kept(words: str):
    """It is asked for."""
    assert called(after(words, collecting=PROBLEM, settable=(REASON, SHIPPING, DAY))) == []


def test_nothing_is_tried_twice_and_nothing_known_is_replaced():
    """A check that refused it would refuse it again; keyed digits win."""
    fields = (CARD, SHIPPING, REASON)
    decided = after(WISH, collecting=CARD, settable=fields, tried=("shipping", "reason"))
    assert called(decided) == []
    known = after(WISH, collecting=CARD, settable=fields, correctable=(REASON,))
    assert called(known) == [("set_fields", {"shipping": "express"})]
    sent = replace(SHIPPING, value="standard")
    assert called(after(WISH, collecting=CARD, settable=(CARD, sent))) == []


def test_a_mere_wish_of_turns_ago_tells_nothing():
    """ "I lost my card" may well be said by who was robbed; they are asked."""
    short = after("I lost my card", "1984", made=USED, collecting=CARD, settable=(CARD, REASON))
    assert called(short) == []
    more = after("my gold card was lost", "1984", made=USED, collecting=CARD, settable=(REASON,))
    assert called(more) == [("set_fields", {"reason": "lost"})]
    assert called(after("I lost my card", collecting=CARD, settable=(CARD, REASON))) == [
        ("set_fields", {"reason": "lost"})
    ]
