"""The agent's own words, coming back."""

import pytest

from tests.voice.floor.scene import Scene, final, partial
from voice.floor.echo import SpokenLately
from voice.floor.words import tokens_of

QUESTION = "Would you like the morning or the afternoon slot?"


def spoken(*, ended: int | None = 3000) -> SpokenLately:
    lately = SpokenLately()
    lately.started(1, ["Would you like the morning ", "or the afternoon slot?"], 1000)
    if ended is not None:
        lately.ended(1, ended)
    return lately


@pytest.mark.parametrize(
    ("text", "start", "end", "echo"),
    [
        ("morning or the afternoon slot", 2000, 3100, True),
        ("morning or the afternoon slot", 3500, 3900, True),  # in the tail window
        ("morning or the afternoon slot", 4500, 5500, False),  # long after it
        ("morning or the afternoon slots", 2000, 3100, True),  # misheard a little
        ("the afternoon", 3200, 3900, False),
        ("the afternoon slot", 3200, 3900, False),
        ("the afternoon slot", 2200, 3000, True),  # while it was being said
        ("would you like the morning or the afternoon slot", 1100, 3000, True),
        ("I would like the morning slot", 2800, 3900, False),  # an answer in its words
        ("no I want the evening", 2000, 3000, False),
        ("morning or the afternoon slot", 0, 900, False),  # before it was said
    ],
)
def test_words_that_repeat_what_was_just_spoken(
    text: str, start: int, end: int, echo: bool
) -> None:
    """D13."""
    assert spoken().is_echo(tokens_of(text), start, end) is echo


@pytest.mark.parametrize(
    ("text", "echo"),
    [
        ("would you like the mourning", True),  # one word misheard
        ("would you like the more of it all", True),  # followed, then lost
        ("would you like would you like the", True),  # the line went on at the cut word
        ("would you mind telling me the price", False),
        ("I like the morning but not the afternoon", False),
    ],
)
def test_an_echo_that_is_badly_heard_is_an_echo(text: str, echo: bool) -> None:
    """D13, A14: a small recognizer makes of a soft echo what it can."""
    assert spoken(ended=None).is_echo(tokens_of(text), 1100, 2400) is echo


def test_a_whole_short_line_is_echo() -> None:
    """A14."""
    lately = SpokenLately()
    lately.started(1, ["Yes, done."], 1000)
    assert lately.is_echo(("yes", "done"), 1100, 2000)
    assert not lately.is_echo(("done",), 1100, 2000)


def test_an_echo_is_dropped_with_its_reason_and_the_line_plays_on() -> None:
    """D13, A14."""
    scene = Scene()
    line = scene.reply(QUESTION, ms=3000)
    scene.says(400, 1900, "would you like the morning")
    scene.until(8000)
    assert scene.player.finished == [line]
    assert not scene.interrupts()
    assert len(scene.starts()) == 1
    assert scene.records("suppressed")[0]["reason"] == "echo"


def test_the_first_words_of_an_echo_do_not_commit() -> None:
    """D13."""
    scene = Scene()
    scene.reply(QUESTION, ms=3000)
    scene.voice(400, 1900)
    scene.at(1000, partial("would you", 400, 900))
    scene.at(1400, partial("would you like the", 400, 1300))
    scene.at(2100, final("would you like the morning", 400, 1900))
    scene.until(8000)
    assert not scene.interrupts()


def test_a_word_of_command_commits_though_the_agent_said_it_too() -> None:
    scene = Scene()
    scene.reply("Say stop whenever you want me to wait.", ms=5000)
    scene.voice(1000, 1900)
    scene.at(1400, partial("stop", 1000, 1300))
    scene.until(1500)
    assert scene.interrupts()


def test_a_real_answer_in_the_agent_s_words_is_accepted() -> None:
    """D13."""
    scene = Scene()
    scene.reply(QUESTION, ms=2000)
    scene.until(2500)
    scene.says(2700, 3300, "The afternoon.")
    scene.until(6000)
    assert scene.starts()[-1].cause == "input"


def test_text_that_streams_while_the_line_is_heard_is_known() -> None:
    lately = SpokenLately()
    lately.started(1, ["Would you like "], 1000)
    lately.more(1, "the morning or the afternoon slot?")
    assert lately.is_echo(tokens_of("the morning or the afternoon"), 1500, 2500)


def test_memory_of_what_was_spoken_is_bounded() -> None:
    lately = SpokenLately()
    lately.started(1, ["word "] * 10_000, 1000)
    assert lately.is_echo(("word",) * 5, 1100, 1500)
    for say in range(2, 60):
        lately.started(say, ["something else entirely"], 1000 + say)
    assert not lately.is_echo(("word",) * 5, 1100, 1500)


def test_words_that_the_agent_has_not_said_yet_are_no_echo() -> None:
    """D13: a caller may ask about what would have come."""
    lately = spoken(ended=None)
    lately.held(1700)
    assert not lately.is_echo(tokens_of("the afternoon slot"), 1800, 2600)
    lately.released(2700)
    assert lately.is_echo(tokens_of("the afternoon slot"), 3900, 4600)
