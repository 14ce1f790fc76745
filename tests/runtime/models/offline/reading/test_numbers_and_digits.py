"""Numbers, amounts, digits, spelled words and addresses as callers say them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from num2words import num2words

from runtime.models.offline.reading import (
    lexicon_for,
    read_amount,
    read_digits,
    read_email,
    read_integer,
    read_number,
    read_spelled,
)
from runtime.models.offline.reading.digits import in_two_parts

SPOKEN = "zero one two three four five six seven eight nine".split()


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("twenty five", 25),
        ("Twenty-five.", 25),
        ("a hundred and twelve", 112),
        ("minus three", -3),
        ("-3", -3),
        ("2.5", 2.5),
        ("two and a half", 2.5),
        ("one and three quarters", 1.75),
        ("two point oh five", 2.05),
        ("1,250", 1250),
        ("twelve hundred", 1200),
        ("nineteen ninety", 1990),
        ("one oh five", 105),
        ("half a million", 500_000),
        ("half a dozen", 6),
        ("2.5 million", 2_500_000),
        ("two million five hundred thousand and three", 2_500_003),
        ("um fourty two please", 42),
        ("there will be four of us", 4),
        ("table for one", 1),
        ("one hundred one hundred", 100),
        ("\u0661\u0662", 12),
        ("the gold one", None),
        ("no one", None),
        ("nothing", None),
        ("", None),
    ],
)
def test_a_number_is_read_as_it_is_said(said: str, value: float | None) -> None:
    found = read_number(said)
    assert (found and found.value) == value


def test_the_place_of_a_number_is_known_and_several_are_less_certain() -> None:
    said = "my, twenty five or thirty"
    found = read_integer(said)
    assert found is not None
    assert said[found.start : found.end] == "twenty five"
    alone = read_integer("twenty five")
    assert alone is not None and alone.confidence > found.confidence


def test_a_number_with_a_fraction_is_no_integer() -> None:
    assert read_integer("two and a half") is None


@given(st.integers(0, 999_999))
def test_every_number_in_words_is_read_back(number: int) -> None:
    found = read_integer(str(num2words(number)))
    assert found is not None and found.value == number


def test_another_language_reads_digits_and_its_decimal_comma() -> None:
    german = lexicon_for("de-AT")
    found = read_number("ich nehme 1.250,5", german)
    assert found is not None and found.value == 1250.5
    code = read_digits("der code ist 0 4 7", lexicon=german)
    assert code is not None and code.value == "047"


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("twelve fifty", 12.5),
        ("twelve dollars and fifty cents", 12.5),
        ("twelve fifty dollars", 12.5),
        ("it's 12 dollars 50", 12.5),
        ("$1,250.00", 1250),
        ("twenty bucks", 20),
        ("twelve hundred", 1200),
        ("a hundred and twelve fifty", 112.5),
        ("twelve oh five", 12.05),
        ("fifty cents", 0.5),
        ("twelve and a half dollars", 12.5),
        ("five grand", 5000),
        ("send three people two hundred dollars", 200),
        ("the cheap one", None),
    ],
)
def test_an_amount_is_read_as_it_is_said(said: str, value: float | None) -> None:
    found = read_amount(said)
    assert (found and found.value) == value


@pytest.mark.parametrize(
    ("said", "length", "value"),
    [
        ("four seven one one", None, "4711"),
        ("Four, seven, one, one.", None, "4711"),
        ("forty seven eleven", None, "4711"),
        ("4 7 1 1", None, "4711"),
        ("4711", None, "4711"),
        ("47-11", None, "4711"),
        ("double five", None, "55"),
        ("triple zero", None, "000"),
        ("oh seven", None, "07"),
        ("oh oh seven", None, "007"),
        ("nineteen oh two", None, "1902"),
        ("four um seven, uh, one one please", None, "4711"),
        ("one eight hundred five five five one two", None, "180055512"),
        ("my number is five five five dash one two three four", None, "5551234"),
        ("four seven one one, no, four seven one two", None, "4712"),
        ("for seven one one", 4, "4711"),
        ("twenty five six", 4, "2056"),
        ("four seven then pause okay one one", 4, "4711"),
        ("four seven one", 4, None),
        ("the gold one", None, None),
        ("oh well", None, None),
    ],
)
def test_digits_are_read_with_their_zeros(said: str, length: int | None, value: str | None) -> None:
    found = read_digits(said, length)
    assert (found and found.value) == value


@given(st.text("0123456789", min_size=2, max_size=20), st.sampled_from([" ", ", ", " um "]))
def test_spoken_digits_are_read_back(digits: str, gap: str) -> None:
    found = read_digits(gap.join(SPOKEN[int(digit)] for digit in digits), len(digits))
    assert found is not None and found.value == digits


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("b a r k l e y", "barkley"),
        ("B-A-R-K-L-E-Y", "barkley"),
        ("B.A.R.K.", "bark"),
        ("it's Barkley b a r k l e y", "barkley"),
        ("B as in boy, A, R", "bar"),
        ("b like boy o for oscar", "bo"),
        ("bravo alfa romeo kilo", "bark"),
        ("capital b a r", "Bar"),
        ("o dash b r i e n", "o-brien"),
        ("double u a l t e r", "walter"),
        ("a b 1 2 three", "ab123"),
        ("x-ray yankee", "xy"),
        ("Barkley", "barkley"),
        ("i want to go", None),
        ("see you", None),
        ("you are a fool", None),
    ],
)
def test_a_spelled_word_is_put_together(said: str, value: str | None) -> None:
    found = read_spelled(said)
    assert (found and found.value) == value


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=20))
def test_spelled_letters_are_read_back(word: str) -> None:
    found = read_spelled(" ".join(word))
    assert found is not None and found.value == word


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("jane dot doe at example dot com", "jane.doe@example.com"),
        ("Jane.Doe at Example.com.", "jane.doe@example.com"),
        ("jane.doe@example.com", "jane.doe@example.com"),
        ("jane underscore doe at example dot com", "jane_doe@example.com"),
        ("jane dash doe at my dash company dot org thanks", "jane-doe@my-company.org"),
        ("j a n e at example dot co dot uk", "jane@example.co.uk"),
        ("jane ninety nine at example dot c o m", "jane99@example.com"),
        ("my email is Jane Doe at g mail dot com", "janedoe@gmail.com"),
        ("reach me at jane at example dot com", "jane@example.com"),
        ("jane at example dot com and my name is Nora", "jane@example.com"),
        ("b as in boy o b at example dot com", "bob@example.com"),
        ("meet me at noon", None),
        ("jane", None),
    ],
)
def test_a_mail_address_is_read(said: str, value: str | None) -> None:
    found = read_email(said)
    assert (found and found.value) == value


@pytest.mark.parametrize(
    ("first", "said", "value"),
    [
        ("472", "nine one three", "472913"),
        ("472", "and then nine one three", "472913"),
        ("472", "four seven two", None),
        ("472", "four seven two nine", None),
        ("472", "nine one", None),
        ("472", "nine one three four", None),
        ("472", "no, nine one three", None),
        ("472", "sorry nine one three", None),
        ("472", "nine one three or nine one four", None),
        ("472913", "four", None),
    ],
)
def test_two_parts_make_a_number_only_together(first: str, said: str, value: str | None) -> None:
    """What may begin again or correct is no second part."""
    assert in_two_parts(first, said, 6) == value
