"""The curve from how finished words look to a length of silence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.agent import Expect, ExpectKind, TurnTakingSettings
from tests.voice.floor.scene import Scene
from voice.floor.endpoint import OwnPauses, count_signs, end_delay_ms, finishedness
from voice.floor.words import tokens_of

OPEN = Expect()
SETTINGS = TurnTakingSettings()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Which day suits you best?", 1.0),
        ("I would like a table for six people.", 0.8),
        ("I would like a table for six people", 0.3),
        ("I would like a table,", 0.35),
        ("I would like a table\u2026", 0.1),
        ("I would like a table for the", 0.0),
        ("I want to", 0.0),
        ("My name is um", 0.0),
        ("Monday, and.", 0.0),  # small engines put a full stop behind everything
        ("I don't know what it is.", 0.3),
        ("blue table.", 0.5),
        ("Okay.", 0.8),
        ("okay", 0.6),
        ("It is room 214.", 0.45),
        ("oh four one", 0.3),
        ("", 0.0),
        ("...", 0.0),
    ],
)
def test_how_finished_words_look(text: str, expected: float) -> None:
    assert finishedness(text, OPEN) == expected


@pytest.mark.parametrize(
    ("text", "kind", "length", "choices", "expected"),
    [
        ("oh four one", "digits", None, (), 0.25),
        ("oh four one", "digits", 6, (), 0.1),
        ("oh four one seven seven two", "digits", 6, (), 1.0),
        ("double four", "digits", 2, (), 1.0),
        ("fourteen 12", "digits", 4, (), 1.0),
        ("b c 4", "spelled", 3, (), 1.0),
        ("well I think", "digits", 6, (), 0.3),
        ("yes", "yes_no", None, (), 1.0),
        ("I think it does", "yes_no", None, (), 0.3),
        ("Morning", "choice", None, ("morning", "afternoon"), 1.0),
        ("ada at example dot com", "email", None, (), 0.8),
        ("ada at example", "email", None, (), 0.3),
    ],
)
def test_what_is_collected_changes_it(
    text: str, kind: ExpectKind, length: int | None, choices: tuple[str, ...], expected: float
) -> None:
    """D05."""
    assert finishedness(text, Expect(kind, length, choices)) == expected


def test_the_delay_runs_from_the_shortest_to_the_longest_wait() -> None:
    assert end_delay_ms("Which day suits you best?", OPEN, SETTINGS) == 400
    assert end_delay_ms("I would like the", OPEN, SETTINGS) == 1600
    assert end_delay_ms("oh four one", Expect("digits"), SETTINGS) == 1600
    assert end_delay_ms("and the", Expect("digits"), SETTINGS) == 2000


def test_slow_answers_allow_a_shorter_wait() -> None:
    assert end_delay_ms("Which day is it?", OPEN, SETTINGS, slow_answers=True) == 300


@given(
    text=st.text(max_size=60),
    kind=st.sampled_from(["open", "nothing", "yes_no", "choice", "digits", "spelled", "email"]),
    usual=st.integers(0, 9000),
    shortest=st.integers(0, 3000),
    longest=st.integers(0, 3000),
)
def test_the_delay_stays_within_its_bounds_for_any_text(
    text: str, kind: ExpectKind, usual: int, shortest: int, longest: int
) -> None:
    settings = TurnTakingSettings(
        min_silence_ms=shortest, max_silence_ms=longest, collecting_max_ms=longest
    )
    delay = end_delay_ms(text, Expect(kind), settings, usual_pause_ms=usual)
    assert shortest <= delay <= max(shortest, longest)


def test_a_caller_who_pauses_long_is_given_longer() -> None:
    pauses = OwnPauses()
    text = "I would like a table for six people."
    quick = end_delay_ms(text, OPEN, SETTINGS, usual_pause_ms=pauses.usual_ms)
    pauses.learn(1200)
    assert pauses.usual_ms == 0  # one pause is no habit
    pauses.learn(1300)
    pauses.learn(90_000)
    slow = end_delay_ms(text, OPEN, SETTINGS, usual_pause_ms=pauses.usual_ms)
    assert quick < slow <= 1600


def test_digits_are_counted_as_they_are_spoken() -> None:
    assert count_signs(tokens_of("oh four one, seven double seven, 2 14")) == 9
    assert count_signs(tokens_of("b c 4"), letters=True) == 3


def test_silence_is_counted_from_the_last_voiced_window() -> None:
    scene = Scene().greeted()
    scene.says(4000, 5000, "Which day is it today?", final_at=5180)
    scene.until(7000)
    assert scene.starts()[-1].at_ms == 5400


def test_new_voice_voids_the_end() -> None:
    """D10."""
    scene = Scene().greeted()
    scene.says(4000, 5000, "I want to")
    scene.says(6500, 7000, "book a table, please.")
    scene.until(9000)
    assert len(scene.starts()) == 2
    assert scene.starts()[-1].at_ms > 7000


def test_a_click_after_the_words_does_not_keep_the_turn_open() -> None:
    scene = Scene().greeted()
    scene.says(4000, 5000, "A table for the two of us please.")
    scene.voice(5400, 5440, confirmed=False)
    scene.until(7000)
    assert len(scene.starts()) == 2


def test_an_engine_that_is_late_is_waited_for_but_not_for_ever() -> None:
    scene = Scene().greeted()
    scene.says(4000, 5000, "Which day is it?", final_at=5800)
    scene.until(7000)
    assert scene.starts()[-1].at_ms == 5800
