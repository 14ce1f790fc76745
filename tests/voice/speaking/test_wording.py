"""What is said of what is written, and where in the written text that is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.speaking.wording import say_as


def said(text: str, language: str = "en") -> str:
    return say_as(text, language).text


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("$5.50", "five dollars and fifty cents"),
        ("$5.500", "five dollars and fifty cents"),
        ("$0.05", "five cents"),
        ("-$3", "minus three dollars"),
        ("$1", "one dollar"),
        ("$0", "zero dollars"),
        ("$1,234.56", "one thousand two hundred thirty-four dollars and fifty-six cents"),
        ("1.234,56 EUR", "one thousand two hundred thirty-four euros and fifty-six cents"),
        ("EUR 10.000.000", "ten million euros"),
        ("€10.000", "ten thousand euros"),
        ("10'000 CHF", "ten thousand francs"),
        ("3 CHF", "three francs"),
        ("USD 1e6", "one million dollars"),
        ("5$", "five dollars"),
        ("£0.01", "one penny"),
        ("¥500", "five hundred yen"),
        ("$3.2 million", "three point two million dollars"),
        ("$5k", "five thousand dollars"),
        ("$5-10", "five dollars to ten dollars"),
        ("$5-$10", "five dollars to ten dollars"),
        ("$0.0325 each", "zero point zero three two five dollars each"),
        ("$1.2.3", "$one point two point three"),
        ("It is $29.95.", "It is twenty-nine dollars and ninety-five cents."),
    ],
)
def test_money(written: str, spoken: str) -> None:
    """L01"""
    assert said(written) == spoken


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("+49 40 123456", "plus four nine, four zero, one two three, four five six"),
        ("(555) 123-4567", "five five five, one two three, four five six seven"),
        ("555-1234", "five five five, one two three four"),
        ("call 911", "call nine one one"),
        ("order 00441199", "order zero zero four four, one one nine nine"),
        ("card ending 0042", "card ending zero zero four two"),
        ("card ending in 1234", "card ending in one two three four"),
        ("room 204", "room two zero four"),
        ("order number 441", "order number four four one"),
        ("order #441", "order number four four one"),
        ("1,200 guests", "one thousand two hundred guests"),
        ("extension 5", "extension five"),
        ("order 2 pizzas", "order two pizzas"),
        ("order 100 units", "order one hundred units"),
        ("007", "zero zero seven"),
        ("4111 1111 1111 1111", ", ".join(["four one one one"] + ["one one one one"] * 3)),
        ("ORD-4411", "O R D, four four one one"),
        ("12345678", "one two three four, five six seven eight"),
        ("1000000", "one million"),
        ("20 000", "twenty thousand"),
    ],
)
def test_phones_ids_and_quantities(written: str, spoken: str) -> None:
    """L02"""
    assert said(written) == spoken


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("2026-03-01", "March first, twenty twenty-six"),
        ("03/04/2026", "March fourth, twenty twenty-six"),
        ("31/12/2026", "December thirty-first, twenty twenty-six"),
        ("March 3rd", "March third"),
        ("the 21st of May", "the May twenty-first"),
        ("Jan. 5, 2026", "January fifth, twenty twenty-six"),
        ("since 1999", "since nineteen ninety-nine"),
        ("in 2005", "in two thousand five"),
        ("2019-2021", "twenty nineteen to twenty twenty-one"),
        ("9:05 p.m.", "nine oh five PM."),
        ("at 9am", "at nine AM"),
        ("15:30", "fifteen thirty"),
        ("15:00", "fifteen hundred hours"),
        ("9:00", "nine o'clock"),
        ("9-5", "nine to five"),
        ("9am-5pm", "nine AM to five PM"),
        ("99:99", "ninety-nine:ninety-nine"),
        ("2026-13-45", "two zero two six, one three, four five"),
    ],
)
def test_dates_and_times(written: str, spoken: str) -> None:
    assert said(written) == spoken


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("version 3.10", "version three point one zero"),
        ("1.2.3", "one point two point three"),
        ("45%", "forty-five percent"),
        ("-5°C", "minus five degrees Celsius"),
        ("1/2 cup", "one half cup"),
        ("2½ hours", "two and a half hours"),
        ("5km", "five kilometers"),
        ("1 km", "one kilometer"),
        ("the 3rd", "the third"),
        ("No. 5", "number five"),
        ("R&D", "R and D"),
        ("and/or", "and or"),
        ("~20", "about twenty"),
        ("2 * 3 = 6", "two times three equals six"),
        ("2*3", "two times three"),
        ("5 - 2 = 3", "five minus two equals three"),
        ("it is -4 now", "it is minus four now"),
    ],
)
def test_other_numbers(written: str, spoken: str) -> None:
    """L02, L03"""
    assert said(written) == spoken


def test_markdown_links_code_and_emoji() -> None:
    """L03"""
    text = (
        "## Hours\n\n- **Mon**: 9-5\n- *Tue*: closed\n\n"
        "[map](https://example.org/a?b=1) `code` 🎉 2 * 3 = 6, file_name_x, 5*"
    )
    assert said(text) == (
        "Hours. Mon: nine to five. Tue: closed. map code two times three equals six, "
        "file name x, five"
    )


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("**Hello", "Hello"),
        ("World.**", "World."),
        ("_so_ __very__ ~~not~~ ***good***!", "so very not good!"),
        ("> quoted", "quoted"),
        ("| a | b |\n|---|---|\n| c | d |", "a, b. c, d"),
        ("<b>bold</b><br>next", "bold. next"),
        ("![a cat](cat.png) here", "a cat here"),
        ("See https://www.example.org/help?x=1.", "See example dot org."),
        ("Write to a.b@c-d.org!", "Write to a dot b at c dash d dot org!"),
        ("- **Mon**: closed\n", "Mon: closed."),
        ("---", ""),
        ("1️⃣ first", "one first"),
        ("a 👨‍👩‍👧‍👦 family", "a family"),
        ("#hashtag", "hashtag"),
        ("Hello , you", "Hello, you"),
    ],
)
def test_marks(written: str, spoken: str) -> None:
    """L03"""
    assert said(written) == spoken


def test_a_tool_call_written_as_text_is_not_read_out() -> None:
    """C15"""
    text = 'Sure. ```json\n{"name":"lookup","arguments":{"id":7}}\n``` One second.'
    assert said(text) == "Sure. One second."
    assert said('Sure. <function=lookup>{"id": 7}</function> Done.') == "Sure. Done."


@pytest.mark.parametrize("text", ["", " ", "\n", "🎉", "**", "…", ".", "---", "\u200b", "\ud800"])
def test_nothing_to_say(text: str) -> None:
    """L06"""
    assert said(text) == ""
    assert say_as(text).written_at(0) == len(text)


def test_controls_and_bidi_marks_are_not_spoken_and_accents_are_joined() -> None:
    """K15"""
    assert said("\u202enimda Zoe\u0308\x07 \ud800ok\u00ad") == "nimda Zoë ok"


def test_other_languages_are_only_cleaned() -> None:
    assert said("**Das** kostet 5,50 € 🎉", "de-DE") == "Das kostet 5,50 €"
    assert said("您好，订单 4411 已发货。") == "您好，订单 4411 已发货。"
    assert said("5%", "en_GB") == "five percent"


def test_a_replaced_word_is_said_with_its_last_character() -> None:
    spoken = say_as("It is $5.50 now")
    before = spoken.text.index("five")
    after = spoken.text.index(" now")
    assert {spoken.written_at(n) for n in range(before, after)} == {len("It is ")}
    assert spoken.written_at(after) == len("It is $5.50")
    assert spoken.written_at(10_000) == len("It is $5.50 now")


@given(
    st.one_of(
        st.text(max_size=120),
        st.lists(
            st.sampled_from(
                ["$", "5", "0", ",", ".", "-", " ", "1", "12", "2026", "/", ":", "%", "am", "*",
                 "**", "_", "`", "```", "[", "](", ")", "<b>", "#", "+", "EUR", "order ", "e6",
                 "º", "½", "\n", "|", "A", "x", "http://", "@", "Jan ", "°", "th", "²", "٣"]
            ),
            max_size=30,
        ).map("".join),
    )
)  # fmt: skip
def test_any_text_has_a_spoken_form_and_a_map_that_never_falls(text: str) -> None:
    spoken = say_as(text)
    assert len(spoken.ends) == len(spoken.text)
    assert list(spoken.ends) == sorted(spoken.ends)
    assert all(0 <= end <= len(text) for end in spoken.ends)
    assert not spoken.text or any(char.isalnum() for char in spoken.text)
    spoken.text.encode()


def test_hostile_text_takes_no_time() -> None:
    """Every pattern is linear enough: ten times a long chunk, of the worst kinds."""
    for bad in (
        "*",
        "[",
        "<",
        "1,",
        "1-",
        "_a",
        "a@",
        "0 ",
        "A1-",
        "```",
        "\n",
        "| ",
        "$",
        "1 JAN",
    ):
        spoken = say_as(bad * (4000 // len(bad)))
        assert list(spoken.ends) == sorted(spoken.ends)
