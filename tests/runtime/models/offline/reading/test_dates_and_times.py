"""Dates and times as callers say them; today is a Wednesday."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from num2words import num2words

from runtime.models.offline.reading import lexicon_for, read_date, read_time

TODAY = date(2026, 3, 4)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("today", "2026-03-04"),
        ("tomorrow", "2026-03-05"),
        ("the day after tomorrow at five", "2026-03-06"),
        ("Friday", "2026-03-06"),
        ("this Friday", "2026-03-06"),
        ("next Friday", "2026-03-13"),
        ("Friday next week", "2026-03-13"),
        ("a week from Friday", "2026-03-13"),
        ("Wednesday", "2026-03-11"),
        ("friday the sixth", "2026-03-06"),
        ("in two weeks", "2026-03-18"),
        ("a fortnight from now", "2026-03-18"),
        ("two days ago", "2026-03-02"),
        ("next month", "2026-04-04"),
        ("the third of May", "2026-05-03"),
        ("3 May", "2026-05-03"),
        ("march third", "2027-03-03"),
        ("the 3rd", "2026-04-03"),
        ("May 3rd 1990", "1990-05-03"),
        ("may third nineteen ninety", "1990-05-03"),
        ("may 3rd '90", "1990-05-03"),
        ("the fifth of october eighty four", "1984-10-05"),
        ("the twenty first of june two thousand and five", "2005-06-21"),
        ("june twenty first at nine thirty", "2026-06-21"),
        ("three five ninety", "1990-03-05"),
        ("oh three oh five nineteen ninety", "1990-03-05"),
        ("2026-03-01", "2026-03-01"),
        ("3/5/1990", "1990-03-05"),
        ("25/12/2025", "2025-12-25"),
        ("february 29", "2028-02-29"),
        ("feb 30", None),
        ("may I come", None),
        ("the second one", None),
        ("in 999999999 years", None),
        ("", None),
    ],
)
def test_a_date_is_read_as_it_is_said(said: str, value: str | None) -> None:
    found = read_date(said, TODAY)
    assert (found and found.value) == value


def test_a_region_says_which_number_is_the_day() -> None:
    british = read_date("3/5/90", TODAY, lexicon_for("en-GB"))
    american = read_date("3/5/90", TODAY)
    assert british is not None and british.value == "1990-05-03"
    assert american is not None and american.value == "1990-03-05"


def test_a_date_in_the_past_is_looked_for_there() -> None:
    found = read_date("May 3rd", TODAY, past=True)
    assert found is not None and found.value == "2025-05-03"


@given(st.dates(date(1930, 1, 1), date(2035, 12, 31)))
def test_every_date_in_words_is_read_back(day: date) -> None:
    ordinal = num2words(day.day, to="ordinal")
    year = num2words(day.year, to="year")
    found = read_date(f"{day:%B} {ordinal} {year}", TODAY)
    assert found is not None and found.value == day.isoformat()


@pytest.mark.parametrize("today", [date.min, date.max, date(2024, 2, 29)])
def test_the_ends_of_the_calendar_are_no_fault(today: date) -> None:
    for said in ("tomorrow", "yesterday", "next Friday", "last Monday", "feb 29", "in 5000 years"):
        read_date(said, today)
        read_date(said, today, past=True)
    assert read_date("today", today) is not None
    if today < date.max:
        found = read_date("tomorrow", today)
        assert found is not None and found.value == (today + timedelta(days=1)).isoformat()


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("half past nine", "09:30"),
        ("half nine", "09:30"),
        ("quarter to five pm", "16:45"),
        ("a quarter past seven", "07:15"),
        ("quarter to one", "12:45"),
        ("ten to six", "05:50"),
        ("five minutes past ten", "10:05"),
        ("ten to midnight", "23:50"),
        ("nine thirty", "09:30"),
        ("nine oh five", "09:05"),
        ("nine", "09:00"),
        ("at nine please", "09:00"),
        ("nine o'clock", "09:00"),
        ("five p.m.", "17:00"),
        ("5pm", "17:00"),
        ("9:30 am", "09:30"),
        ("17:00", "17:00"),
        ("1730", "17:30"),
        ("seventeen hundred", "17:00"),
        ("noon", "12:00"),
        ("midnight", "00:00"),
        ("twelve am", "00:00"),
        ("twelve pm", "12:00"),
        ("half past nine in the evening", "21:30"),
        ("seven in the morning", "07:00"),
        ("eleven at night", "23:00"),
        ("tomorrow afternoon at three", "15:00"),
        ("june twenty first at nine thirty", "09:30"),
        ("it's 12.50 dollars", None),
        ("I have two kids", None),
        ("25:00", None),
        ("", None),
    ],
)
def test_a_time_is_read_as_it_is_said(said: str, value: str | None) -> None:
    found = read_time(said)
    assert (found and found.value) == value


@given(st.times())
def test_every_time_on_a_clock_is_read_back(time: object) -> None:
    said = str(time)[:5]
    found = read_time(f"at {said}")
    assert found is not None and found.value == said


@pytest.mark.parametrize(
    "said",
    [
        "I can't do thursday",
        "any day but friday",
        "tomorrow or friday",
        "tomorrow or the day after",
        "3/5/1990 or 4/5/1990",
        "before friday",
        "the day after friday",
        "on a friday",
        "every friday",
        "monday the sixth of march",
        "friday the fourteenth",
        "between the sixth and the ninth",
    ],
)
def test_what_is_no_one_day_is_no_date(said: str) -> None:
    """Denied, one of two, a bound, or a weekday that the date is not."""
    assert read_date(said, TODAY) is None


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("thursday is no good, make it friday", "2026-03-06"),
        ("friday the sixth of march", "2026-03-06"),
        ("tomorrow, thursday", "2026-03-05"),
        ("I need it by friday", "2026-03-06"),
        ("the day before yesterday", "2026-03-02"),
    ],
)
def test_one_day_said_in_two_ways_is_one(said: str, value: str) -> None:
    """And what stands instead of a denied one is taken."""
    found = read_date(said, TODAY)
    assert found is not None and found.value == value
    assert said[found.start : found.end]


@pytest.mark.parametrize(
    "said", ["saturday", "on a saturday", "tomorrow", "yesterday", "May 3 2030"]
)
def test_nobody_is_born_on_a_weekday_or_in_time_to_come(said: str) -> None:
    """A date of birth has a month."""
    assert read_date(said, TODAY, birth=True) is None


@pytest.mark.parametrize(
    ("language", "value"),
    [
        ("en", "1985-12-03"),
        ("en-US", "1985-12-03"),
        ("en-GB", "1985-03-12"),
        ("en_AU", "1985-03-12"),
        ("de", "1985-03-12"),
    ],
)
def test_the_order_of_day_and_month_is_the_languages(language: str, value: str) -> None:
    """``en`` alone has the month first."""
    found = read_date("12/03/1985", TODAY, lexicon_for(language), birth=True)
    assert found is not None and found.value == value
