"""Which words count, and how far a transcript is believed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.agent import InterruptionSettings
from tests.voice.floor.scene import final, partial
from voice.floor.events import Transcribed
from voice.floor.words import Kind, Lexicon, tokens_of

ENGLISH = Lexicon(InterruptionSettings())


def strong(text: str, *, is_final: bool = True) -> Kind:
    heard = final(text, 0, 1000) if is_final else partial(text, 0, 1000)
    return ENGLISH.judge(heard, strong=True).kind


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Uh-huh, yep.", ("uh", "huh", "yep")),
        ("That\u2019s right!", ("that's", "right")),
        ("\u200bno\u200b", ("no",)),
        ("[noise] (laughs) <unk> \u266a la la \u266a", ()),
        (" . ", ()),
        ("caf\u00e9 \u4f60\u597d", ("caf\u00e9", "\u4f60\u597d")),
        ("ROOM_7", ("room", "7")),
    ],
)
def test_texts_become_bare_words(text: str, tokens: tuple[str, ...]) -> None:
    assert tokens_of(text) == tokens


@pytest.mark.parametrize(
    "text",
    [
        "okay",
        "Okay, okay.",
        "Uh-huh, yep.",
        "mm-hmm",
        "Yeah, right, I see.",
        "That makes sense.",
        "oh really",
        "thank you",
    ],
)
def test_backchannels(text: str) -> None:
    """D12."""
    assert strong(text) is Kind.BACKCHANNEL


@pytest.mark.parametrize("text", ["got", "all", "of", "makes", "sounds", "yeah, that makes"])
def test_the_beginning_of_a_backchannel_phrase_is_one(text: str) -> None:
    assert strong(text, is_final=False) is Kind.BACKCHANNEL


@pytest.mark.parametrize(
    "text", ["no", "yes but", "okay, stop", "all rooms", "I see a problem", "nein", "Thursday"]
)
def test_words_that_count(text: str) -> None:
    """D12."""
    assert strong(text) is Kind.WORDS


@pytest.mark.parametrize(
    "text", ["Hello?", "hello, hello", "Hello, are you there?", "Can you hear me?", "you there"]
)
def test_questions_for_presence(text: str) -> None:
    assert strong(text) is Kind.PRESENCE


def test_a_partial_that_may_become_one_is_waited_for() -> None:
    assert strong("can you", is_final=False) is Kind.UNSURE
    assert strong("can you book", is_final=False) is Kind.WORDS
    assert strong("hello I want", is_final=False) is Kind.WORDS


def test_more_than_one_word_may_be_asked_for_but_a_word_of_command_always_counts() -> None:
    lexicon = Lexicon(InterruptionSettings(min_words=2))
    assert lexicon.judge(final("Thursday", 0, 900), strong=True).kind is Kind.UNSURE
    assert lexicon.judge(final("stop", 0, 900), strong=True).kind is Kind.WORDS
    assert lexicon.judge(final("on Thursday", 0, 900), strong=True).kind is Kind.WORDS


def test_the_author_s_lists_replace_the_packaged_ones() -> None:
    lexicon = Lexicon(
        InterruptionSettings(backchannels=("ja genau", "hm"), interrupt_words=("halt mal", "nein"))
    )
    assert lexicon.judge(final("Ja, genau.", 0, 900), strong=True).kind is Kind.BACKCHANNEL
    assert lexicon.judge(final("okay", 0, 900), strong=True).kind is Kind.WORDS
    halt = lexicon.judge(final("halt mal", 0, 900, logprob=-0.9), strong=False)
    assert (halt.kind, halt.reason) == (Kind.WORDS, "interrupt_word")


def test_a_text_that_repeats_itself_is_no_words() -> None:
    assert strong("go go go go go go go go go") is Kind.NOISE
    assert strong("no no no") is Kind.WORDS


@pytest.mark.parametrize("text", ["you", "the", "thank you for watching", "Thank you.", "so"])
def test_hallucinations_of_small_engines_are_no_words(text: str) -> None:
    heard = final(text, 0, 300, logprob=-0.9)
    assert ENGLISH.judge(heard, strong=False).kind is Kind.NOISE


def test_a_clear_thank_you_is_one() -> None:
    heard = final("Thank you.", 0, 600, logprob=-0.1)
    assert ENGLISH.judge(heard, strong=False).kind is Kind.BACKCHANNEL


@given(
    text=st.text(max_size=80),
    is_final=st.booleans(),
    strong_engine=st.booleans(),
    logprob=st.floats(allow_nan=True),
    voiced=st.integers(-100, 9000),
)
def test_any_text_is_judged(
    text: str, is_final: bool, strong_engine: bool, logprob: float, voiced: int
) -> None:
    heard = Transcribed(text, is_final, 0, 100, voiced, logprob)
    judged = ENGLISH.judge(heard, strong=strong_engine)
    assert isinstance(judged.kind, Kind)
    assert judged.kind is Kind.NOISE or judged.tokens
