"""From ms of sound to characters of the written text."""

from hypothesis import given
from hypothesis import strategies as st

from tests.voice.speaking.far_end import LINEAR_8K
from voice.speaking.playback_text import HOLD_BACK_MS, Script, ScriptChunk
from voice.speaking.ports import WordTime
from voice.speaking.tts_scripted import ScriptedTts
from voice.speaking.utterance import Utterance
from voice.speaking.wording import say_as


def script(*sentences: str, ms_per_char: int = 100, words: bool = False) -> Script:
    out = Script()
    offset = 0
    for index, sentence in enumerate(sentences):
        spoken = say_as(sentence)
        out.add_text(sentence)
        out.add_chunk(ScriptChunk(offset, spoken))
        offset += len(sentence)
        times = ScriptedTts(ms_per_char).words_of(spoken.text) if words else ()
        out.add_sound(index, len(spoken.text) * ms_per_char, times, last=True)
    out.ended = True
    out.add_tail(0.0)
    return out


def heard(s: Script, ms: float) -> str:
    return s.written[: s.heard_chars(ms)]


def test_a_word_counts_when_its_end_is_heard() -> None:
    s = script("Your options are these.", words=True)
    assert heard(s, 399) == ""
    assert heard(s, 400) == "Your"
    assert heard(s, 1199) == "Your"
    assert heard(s, 1200) == "Your options"
    assert heard(s, 5000) == "Your options are these."


def test_marks_after_a_word_are_not_waited_for() -> None:
    """B04: the comma belongs to what was heard."""
    s = script("Your options are A, B.", words=True)
    assert heard(s, 1900) == "Your options are A,"


def test_without_word_times_the_position_is_held_back() -> None:
    s = script("Your options are these.")
    assert heard(s, 400) == ""
    assert heard(s, 400 + HOLD_BACK_MS) == "Your"


def test_an_amount_counts_with_the_last_of_its_words() -> None:
    """B08: memory has the written form, as a whole or not at all."""
    s = script("Yeah, I can do that for $5.50.", words=True)
    spoken = "Yeah, I can do that for five dollars and fifty cents."
    assert heard(s, 100 * spoken.index("fifty")) == "Yeah, I can do that for"
    assert heard(s, 100 * len(spoken)) == "Yeah, I can do that for $5.50."


def test_words_reported_in_the_spoken_form_do_not_leak() -> None:
    """B08: an engine's own times for its own words."""
    s = Script()
    s.add_text("SQL is fine.")
    s.add_chunk(ScriptChunk(0, say_as("SQL is fine.")))
    s.add_sound(0, 900.0, (WordTime(0, 3, 500), WordTime(4, 6, 700), WordTime(0, 99, 900)), last=1)
    s.ended = True
    s.add_tail(0.0)
    assert heard(s, 600) == "SQL"
    assert heard(s, 800) == "SQL is"
    assert heard(s, 900) == "SQL is fine."


def test_chinese_counts_character_by_character() -> None:
    """B08, L07"""
    s = script("您好，订单 4411 已发货。")
    assert heard(s, 300 + HOLD_BACK_MS) == "您好，"
    assert heard(s, 400 + HOLD_BACK_MS) == "您好，订"
    assert heard(s, 900 + HOLD_BACK_MS) == "您好，订单"
    assert heard(s, 1000 + HOLD_BACK_MS) == "您好，订单 4411"
    assert heard(s, 9000) == "您好，订单 4411 已发货。"


def test_sentences_follow_each_other() -> None:
    """B03: the first confirmed, the second in part."""
    s = script("One is here. ", "Two is there.", words=True)
    assert heard(s, 1199) == "One is"
    assert heard(s, 1200) == "One is here."
    assert heard(s, 1250) == "One is here."
    assert heard(s, 1500) == "One is here. Two"
    assert s.is_whole_at(2500) and not s.is_whole_at(2499)


def test_all_of_a_say_includes_marks_at_its_end() -> None:
    s = script("**All done** 🎉\n")
    assert s.heard_chars(900) == len("**All done** 🎉\n")


def test_a_chunk_whose_sound_is_still_coming_is_guessed_long() -> None:
    s = Script()
    s.add_text("Your options are these.")
    s.add_chunk(ScriptChunk(0, say_as("Your options are these.")))
    s.add_sound(0, 500.0, (), last=False)
    assert heard(s, 500) == "Your"
    assert not s.is_whole_at(500)


def test_the_start_of_the_word_that_sounds() -> None:
    """A02: going on begins where the cut word begins."""
    s = script("Your options are these. ", "And more.", words=True)
    assert s.word_start(850) == (400.0, True)
    assert s.word_start(100) == (0.0, True)
    guessed = script("Your options are these.")
    assert guessed.word_start(850) == (500.0, False)
    assert s.word_start(99_999) == (99_999, True)
    assert Script().word_start(30) == (30, True)


@given(
    st.lists(st.text(st.characters(max_codepoint=0x2FFF), max_size=40), max_size=4),
    st.booleans(),
)
def test_what_is_heard_never_shrinks_and_never_passes_the_end(
    texts: list[str], words: bool
) -> None:
    tts = ScriptedTts(20)
    utterance = Utterance(1, 1, "en", LINEAR_8K, 8000)
    for text in texts:
        utterance.add_text(text, 0.0)
    utterance.end_text()
    while utterance.waiting:
        chunk = utterance.waiting.popleft()
        times = tts.words_of(chunk.text) if words else ()
        utterance.script.add_sound(chunk.index, len(chunk.text) * 20.0, times, last=True)
    utterance.script.add_tail(0.0)
    s = utterance.script
    last = 0
    for ms in range(0, int(s.sound_ms) + 40, 20):
        now = s.heard_chars(ms)
        assert last <= now <= len(s.written)
        last = now
        assert 0 <= s.word_start(ms)[0] <= ms
    assert last == len(s.written)
