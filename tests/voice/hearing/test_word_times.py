"""Words spread over a stretch."""

from runtime.agent import Word
from voice.hearing.word_times import spread_words


def test_words_share_the_time_by_their_length_without_gaps() -> None:
    assert spread_words("no thank you", 1000, 2300) == (
        Word("no", 1000, 1300),
        Word("thank", 1300, 1900),
        Word("you", 1900, 2300),
    )


def test_loose_words_have_half_the_confidence() -> None:
    words = spread_words("a b c", 0, 300, confidence=0.8, loose=2)
    assert [word.confidence for word in words] == [0.8, 0.4, 0.4]


def test_no_text_has_no_words_and_a_stretch_that_runs_backwards_has_no_length() -> None:
    assert spread_words("  ", 0, 100) == ()
    assert spread_words("a b", 100, 0) == (Word("a", 100, 100), Word("b", 100, 100))
