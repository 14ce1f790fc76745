"""What is believed of a small recognizer."""

import pytest

from voice.hearing.believe import (
    Believed,
    Weighed,
    believe_final,
    believe_partial,
    is_weighable,
    most_tokens,
    plain_words,
    unlooped,
    weigh,
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\u200b",
        ".",
        "♪♪♪",
        "[Music]",
        "(applause)",
        "You",
        "Thanks for watching!",
        "Thank you for watching.",
        "The.",
        "So, so, so, so, so, so,",
        "I'm not going to do that. I'm not going to do that.",
    ],
)
def test_inventions_are_no_words(text: str) -> None:
    """D04: blank and invented texts count as nothing."""
    assert believe_final(text, -0.1, 3000, None) == Believed("")
    assert believe_partial(text, -0.1, 3000, None).text == ""


def test_more_words_than_the_voice_can_have_said_are_no_words() -> None:
    text = "seven quick brown foxes jump over lazy dogs tonight"
    assert believe_final(text, -0.1, 120, None).text == ""
    assert believe_final(text, -0.1, 2000, None).text == text


def test_dictated_digits_may_repeat() -> None:
    """D05"""
    text = "Zero zero zero zero zero zero seven seven."
    assert believe_final(text, -0.2, 4000, None).text == text


def test_thanks_are_believed_when_they_are_sure() -> None:
    assert believe_final("Thank you.", -0.1, 480, None).text == "Thank you."
    assert believe_final("Thank you.", -0.38, 480, None).text == ""


def test_an_unlikely_short_text_is_dropped_and_a_long_one_is_marked() -> None:
    assert believe_final("Sore box.", -0.75, 400, None) == Believed("")
    assert believe_final("How only the broken bridge", -0.75, 1600, None) == Believed(
        "How only the broken bridge", uncertain=True
    )
    assert believe_final("How only the broken bridge", -1.1, 1600, None) == Believed("")


def test_a_lone_doubtful_word_is_a_garble_unless_it_interrupts() -> None:
    assert believe_final("Fix.", -0.56, 430, None).verdict == "garble"
    assert believe_final("Stop.", -0.56, 430, None).verdict == "words"
    assert believe_final("London.", -0.23, 430, None).verdict == "words"


@pytest.mark.parametrize("text", ["Okay.", "Uh-huh, yeah.", "Oh yeah", "Mm-hmm."])
def test_a_known_backchannel_needs_no_weighing(text: str) -> None:
    assert not is_weighable(text, 500) or len(plain_words(text)) > 1
    assert believe_final(text, -0.4, 500, None) == Believed(text, "backchannel")


@pytest.mark.parametrize("text", ["No.", "Wait!", "Hold on.", "What?"])
def test_a_known_interruption_is_words_whatever_the_scales_say(text: str) -> None:
    assert weigh(text, 500, Weighed(-1.0, (-0.5, "Okay"), None)) == ("words", text)


def test_a_garbled_backchannel_is_read_as_the_phrase_that_is_nearly_as_likely() -> None:
    weighed = Weighed(-1.2, (-3.0, "Okay"), (-7.0, "No"))
    assert believe_final("Hey,", -0.3, 600, weighed) == Believed("Okay.", "backchannel")


def test_a_backchannel_that_is_less_likely_keeps_the_text_that_was_written() -> None:
    weighed = Weighed(-1.2, (-5.9, "Ah"), None)
    assert believe_final("Ava.", -0.3, 600, weighed) == Believed("Ava.", "backchannel")


def test_more_than_five_nats_behind_is_no_backchannel() -> None:
    assert believe_final("Nine.", -0.1, 400, Weighed(-0.6, (-6.0, "Mm"), None)).verdict == "words"


def test_an_interruption_that_is_likelier_wins_over_a_backchannel() -> None:
    weighed = Weighed(-1.5, (-3.0, "Oh"), (-2.5, "No"))
    assert believe_final("Know", -0.3, 400, weighed).verdict == "words"


def test_a_phrase_that_only_begins_the_text_is_not_what_was_said() -> None:
    weighed = Weighed(-0.6, (-0.2, "Yes"), None)
    assert believe_final("Yes, please.", -0.1, 700, weighed) == Believed("Yes, please.")


def test_long_voice_and_many_words_are_not_weighed() -> None:
    assert is_weighable("Hey there", 880)
    assert not is_weighable("Hey there", 900)
    assert not is_weighable("Hey there my friend", 500)
    assert not is_weighable("", 500)


def test_a_partial_is_let_through_down_to_a_mean_of_minus_one() -> None:
    assert believe_partial("cancel the", -0.9, 500, None).text == "cancel the"
    assert believe_partial("cancel the", -1.1, 500, None).text == ""
    assert believe_partial("Okay", -0.4, 400, None).verdict == "backchannel"


def test_the_token_cap_grows_with_the_sound() -> None:
    assert (most_tokens(0.0), most_tokens(2.0), most_tokens(10.0)) == (8, 21, 73)


def test_one_word_over_and_over_is_that_word() -> None:
    """A short loud "no" is written as a row of them."""
    assert unlooped("No, no, no, no, no, no") == "No."
    assert unlooped("Stop. Stop.") == "Stop. Stop."
    assert unlooped("no I said no") == "no I said no"


def test_dictated_digits_are_all_kept() -> None:
    assert unlooped("Four, four, four, four.") == "Four, four, four, four."
    assert unlooped("4 4 4") == "4 4 4"
