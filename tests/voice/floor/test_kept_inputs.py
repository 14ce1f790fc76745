"""Taps, keys and typed words given during a protected line: kept behind it, with their own time.

What each sound does in each state is ``test_table``.
"""

import pytest

from runtime.agent import KeyRule, Listen, StartTurn
from tests.voice.floor.scene import CALL, Scene
from voice.floor.actions import FlushOutput
from voice.floor.events import ButtonTapped, FloorEvent, KeyPressed, TextTyped

LINE_MS = 5000


def asking(rule: KeyRule | None = None) -> Scene:
    """A question that can't be talked over is being said, five seconds long."""
    scene = Scene()
    scene.reply("Shall I pay 240 euros to Haus Nord?", ms=LINE_MS, protected=True, ends=False)
    scene.do(Listen(CALL, 1, keys=rule))
    scene.ends_only()
    return scene


def inputs(scene: Scene) -> list[tuple[str, str, int]]:
    """(kind, text, when it was given) of what the caller put in."""
    return [(s.input.kind, s.input.text, s.input.onset_ms) for s in scene.starts() if s.input]


@pytest.mark.parametrize(
    ("given", "kind"), [(ButtonTapped("Yes"), "tap"), (TextTyped("Yes"), "text")]
)
def test_what_is_given_during_a_protected_line_keeps_its_time(given: FloorEvent, kind: str) -> None:
    """A09, M02: it is used afterwards, and is no answer to what was not heard when it was given."""
    scene = asking()
    scene.at(700, given)
    scene.until(LINE_MS - 200)
    assert inputs(scene) == []
    scene.until(9000)
    assert inputs(scene) == [(kind, "Yes", 700)]
    assert scene.when(StartTurn, -1) >= LINE_MS, "the line was heard to its end"
    assert not scene.of(FlushOutput)


def test_a_key_that_ends_an_input_keeps_its_time() -> None:
    """A09, G01: one key by itself is an answer, given when it was pressed."""
    scene = asking(KeyRule(length=1))
    scene.at(900, KeyPressed("1"))
    scene.until(9000)
    assert inputs(scene) == [("keys", "1", 900)]


def test_keys_of_one_number_are_one_input_given_with_its_last_key() -> None:
    """A09, G01, G04: in the order they were pressed, none lost."""
    scene = asking(KeyRule(length=4))
    for n, key in enumerate("0012"):
        scene.at(800 + n * 200, KeyPressed(key))
    scene.until(9000)
    assert inputs(scene) == [("keys", "0012", 1400)]


def test_what_is_given_after_the_line_has_the_time_of_then() -> None:
    """A09: the time of an earlier input is not taken for it."""
    scene = asking()
    scene.at(700, ButtonTapped("No"))
    scene.until(9000)
    scene.ends()
    scene.at(9500, ButtonTapped("Yes"))
    scene.until(10_000)
    assert inputs(scene) == [("tap", "No", 700), ("tap", "Yes", 9500)]


def test_of_two_answers_kept_both_come_each_with_its_time() -> None:
    """A09, B09: the second takes the floor from the first, as it would without the line."""
    scene = asking()
    scene.at(700, TextTyped("no"))
    scene.at(1500, TextTyped("yes"))
    scene.until(9000)
    assert inputs(scene) == [("text", "no", 700), ("text", "yes", 1500)]
