"""What holds for all readers, and the choice of a reader by a field's type."""

import time
from collections.abc import Callable
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.agent import Expect, Json
from runtime.models.offline.reading import (
    ENGLISH,
    Choice,
    Found,
    cleaned,
    control_words,
    is_correction,
    lexicon_for,
    read_amount,
    read_choice,
    read_date,
    read_digits,
    read_email,
    read_for_type,
    read_integer,
    read_name,
    read_number,
    read_spelled,
    read_time,
    read_yes_no,
)
from runtime.models.offline.reading.denials import affirmed
from runtime.models.offline.reading.english_talk import ANSWERS, CONTROLS, CORRECTIONS, LEAD_INS

TODAY = date(2026, 3, 4)
OPEN = Expect()
CHOICES = (Choice("gold", ("gold card", "4242")), Choice(2, ("two",)), Choice(None, ("", "_")))
GERMAN = lexicon_for("de")
TYPES = ("text", "bool", "int", "float", "list", "categorical", "json", "any")
READERS: dict[str, Callable[[str], object]] = {
    "integer": read_integer,
    "number": read_number,
    "amount": read_amount,
    "digits": read_digits,
    "digits of a length": lambda text: read_digits(text, 4),
    "spelled": read_spelled,
    "email": read_email,
    "date": lambda text: read_date(text, TODAY),
    "past date": lambda text: read_date(text, TODAY, GERMAN, past=True),
    "time": read_time,
    "name": read_name,
    "yes or no": lambda text: read_yes_no(text, "Shall I cancel it?"),
    "choice": lambda text: read_choice(text, CHOICES),
    "correction": is_correction,
    "control": control_words,
    "affirmed": affirmed,
    "not affirmed": lambda text: affirmed(text, turned=True),
    "cleaned": cleaned,
    **{
        name: lambda text, name=name: read_for_type(name, text, today=TODAY, choices=CHOICES)
        for name in TYPES
    },
    **{
        f"bare {name}": lambda text, name=name: read_for_type(
            name, text, today=TODAY, lexicon=GERMAN
        )
        for name in TYPES
    },
}
VOCABULARY = sorted(
    {
        word
        for words in (
            *(ENGLISH.units, ENGLISH.teens, ENGLISH.tens, ENGLISH.scales, ENGLISH.ordinals),
            *(ENGLISH.fractions, ENGLISH.months, ENGLISH.weekdays, ENGLISH.day_words),
            *(ENGLISH.periods, ENGLISH.signs, ENGLISH.alphabet, ENGLISH.letter_names),
            *(ENGLISH.repeats, ENGLISH.groups, ENGLISH.minus, ENGLISH.point, ENGLISH.currencies),
            *(ENGLISH.titles, ENGLISH.name_particles, ENGLISH.fillers, ENGLISH.capital),
            *(ANSWERS["yes"], ANSWERS["no"], ANSWERS["hedge"], CORRECTIONS, LEAD_INS),
            CONTROLS["human"],
            (
                "@",
                "$",
                ",",
                ".",
                "?",
                "-",
                "'",
                "4711",
                "3rd",
                "1,250",
                "5:30",
                "3/5",
                "2026-01-01",
            ),
            ("never", "didn't", "nobody", "except", "any", "it", "i", "instead of", "isn't it"),
            ("not", "but", "change", "to", "past", "half", "a", "of", "ago", "next", "as in"),
        )
        for word in words
    }
)


def spots(found: object, text: str) -> None:
    if isinstance(found, Found):
        assert 0 <= found.start <= found.end <= len(text)
        assert 0 < found.confidence <= 1


@pytest.mark.parametrize("name", READERS)
@given(text=st.text(max_size=60))
@settings(max_examples=60, deadline=None)
def test_no_text_makes_a_reader_raise(name: str, text: str) -> None:
    spots(READERS[name](text), text)


@pytest.mark.parametrize("name", READERS)
@given(
    words=st.lists(st.sampled_from(VOCABULARY), max_size=12), gap=st.sampled_from([" ", ", ", ""])
)
@settings(max_examples=150, deadline=None)
def test_no_words_of_the_vocabulary_make_a_reader_raise(
    name: str, words: list[str], gap: str
) -> None:
    text = gap.join(words)
    spots(READERS[name](text), text)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    "piece",
    ["one ", "a at ", "oh ", "b as in b ", "a.a", "no ", "1:", "in a week from ", "1", "[", "um "],
)
def test_long_texts_take_bounded_time(name: str, piece: str) -> None:
    """Linear in what is looked at: two seconds leave room for a busy machine."""
    text = piece * (40_000 // len(piece))
    begun = time.process_time()
    READERS[name](text)
    assert time.process_time() - begun < 2


def read(field_type: str, text: str, expect: Expect = OPEN, about: str = "") -> Json:
    found = read_for_type(field_type, text, today=TODAY, expect=expect, about=about)
    return None if found is None else found.value


@pytest.mark.parametrize(
    ("field_type", "said", "value"),
    [
        ("text", "my address is 12 Main Street", "12 Main Street"),
        ("text", "it's 12 Main Street please", "12 Main Street"),
        ("text", "my delivery address is 5 Elm Street", "5 Elm Street"),
        ("text", "I'd like the blue sofa, thanks.", "the blue sofa"),
        ("text", "um", None),
        ("int", "just the four of us", 4),
        ("int", "two and a half", None),
        ("bool", "yes please", True),
        ("bool", "nope", False),
        ("bool", "yeah no", None),
        ("float", "twelve dollars fifty", 12.5),
        ("float", "two and a half", 2.5),
        ("list", "milk, eggs and bread please", ["milk", "eggs", "bread"]),
        ("json", '{"a": 1}', {"a": 1}),
        ("any", "forty two", 42),
        ("any", "the blue one", "the blue one"),
    ],
)
def test_a_field_gets_a_value_of_its_type(field_type: str, said: str, value: Json) -> None:
    assert read(field_type, said) == value


@pytest.mark.parametrize(
    ("kind", "said", "value"),
    [
        ("digits", "oh four seven", "047"),
        ("spelled", "b a r k", "bark"),
        ("email", "jane at example dot com", "jane@example.com"),
        ("date", "tomorrow", "2026-03-05"),
        ("yes_no", "sure", "yes"),
        ("digits", "hello", None),
    ],
)
def test_a_text_field_is_read_as_the_answer_that_is_expected(
    kind: str, said: str, value: str | None
) -> None:
    assert read("text", said, Expect(kind)) == value  # pyright: ignore[reportArgumentType] # table


def test_what_a_field_is_about_helps_to_read_it() -> None:
    assert read("text", "hi, it's nora feld", about="customer_name") == "Nora Feld"
    assert read("text", "jane at example dot com", about="email") == "jane@example.com"
    born = read("text", "May 3rd 1985", Expect("date"), "date of birth")
    assert born == "1985-05-03"
    assert read("text", "May 3rd", Expect("date"), "date of birth") is None
    assert read("text", "May 3rd", Expect("date"), "day of departure") is not None
    assert read("float", "twelve fifty", about="amount to pay") == 12.5


def test_a_categorical_field_takes_one_of_its_values() -> None:
    found = read_for_type(
        "categorical", "the second one", today=TODAY, enum_values=("gold", "silver")
    )
    assert found is not None and found.value == "silver"
