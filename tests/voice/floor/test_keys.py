"""The keypad."""

import pytest

from runtime.agent import InputKind, KeyRule, Listen, StartTurn
from tests.voice.floor.scene import CALL, Scene, final
from voice.floor.actions import FlushOutput
from voice.floor.events import ButtonTapped, KeyPressed, TextTyped, VoiceStarted


def asking(rule: KeyRule | None, *, ms: int = 500, protected: bool = False) -> Scene:
    scene = Scene()
    scene.reply("Your number, please?", ms=ms, protected=protected, ends=False)
    scene.do(Listen(CALL, 1, keys=rule))
    scene.ends_only()
    return scene


def press(scene: Scene, keys: str, *, start: int, gap: int = 100) -> None:
    for n, key in enumerate(keys):
        scene.at(start + n * gap, KeyPressed(key))


def inputs(scene: Scene) -> list[tuple[InputKind, str]]:
    return [(s.input.kind, s.input.text) for s in scene.starts() if s.input is not None]


def last(scene: Scene) -> StartTurn:
    return scene.starts()[-1]


def test_keys_are_an_input_when_the_finishing_key_comes() -> None:
    """G01: no speech is needed, and the finishing key is not part of it."""
    scene = asking(KeyRule(finish="#"))
    press(scene, "1234#", start=2000)
    scene.until(2500)
    assert inputs(scene) == [("keys", "1234")]
    assert last(scene).at_ms == 2400


def test_without_it_the_time_between_keys_ends_the_input() -> None:
    """G01."""
    scene = asking(KeyRule(finish="#", inter_digit_ms=1500))
    press(scene, "1234", start=2000)
    scene.until(6000)
    assert inputs(scene) == [("keys", "1234")]
    assert last(scene).at_ms == 2300 + 1500


def test_the_expected_length_ends_it_and_leading_zeros_stay() -> None:
    """G01, G04."""
    scene = asking(KeyRule(length=4))
    press(scene, "0012", start=2000)
    scene.until(2400)
    assert inputs(scene) == [("keys", "0012")]


def test_the_first_key_stops_the_prompt_and_counts() -> None:
    """G02."""
    scene = asking(KeyRule(length=3), ms=9000)
    press(scene, "345", start=2000)
    scene.until(2100)
    assert scene.when(FlushOutput) == 2000
    assert scene.interrupts()[0].cause == "key"
    scene.until(3000)
    assert inputs(scene) == [("keys", "345")]


def test_the_same_key_pressed_twice_is_two_digits() -> None:
    """G06: 150 ms apart, and at once; each message is one press, no more and no less."""
    for gap in (150, 0):
        scene = asking(KeyRule(finish="#"))
        press(scene, "77#", start=2000, gap=gap)
        scene.until(4000)
        assert inputs(scene) == [("keys", "77")]


def test_a_key_s_digit_is_in_no_evidence() -> None:
    scene = asking(KeyRule(length=3), ms=9000)
    press(scene, "7", start=2000)
    scene.until(2100)
    assert "7" not in scene.interrupts()[0].evidence
    assert scene.records("key")[0]["text"] == "7"


def test_the_silence_clock_stands_between_keys() -> None:
    """G03."""
    scene = asking(KeyRule(length=4))
    scene.do(Listen(CALL, 1, keys=KeyRule(length=4), silence_after_ms=2500))
    press(scene, "1234", start=1500, gap=2700)
    scene.until(12_000)
    assert inputs(scene) == [("keys", "1234")]
    assert [s.cause for s in scene.starts()][:2] == ["opened", "input"]


def test_without_a_rule_each_key_is_an_input() -> None:
    scene = Scene().greeted()
    press(scene, "5", start=4000)
    scene.until(4100)
    assert inputs(scene) == [("keys", "5")]
    press(scene, "5", start=4200)
    scene.until(4300)
    assert inputs(scene) == [("keys", "5"), ("keys", "5")]
    assert [cut.cause for cut in scene.interrupts()] == ["key"]


def test_the_finishing_key_alone_is_an_input_of_its_own() -> None:
    scene = asking(KeyRule(finish="#"))
    press(scene, "#", start=2000)
    scene.until(2100)
    assert inputs(scene) == [("keys", "#")]


@pytest.mark.parametrize("key", ["", "x", "12", "#1", "\u0661", " "])
def test_what_is_no_key_is_counted(key: str) -> None:
    scene = Scene().greeted()
    scene.do(KeyPressed(key))
    assert scene.floor.stale == {"KeyPressed": 1}
    assert not inputs(scene)


def test_endless_keys_have_an_end() -> None:
    scene = asking(KeyRule(finish="#"))
    press(scene, "1" * 100, start=2000, gap=20)
    scene.until(9000)
    assert all(len(text) <= 64 for _, text in inputs(scene))


def test_a_late_transcript_of_a_question_answered_by_key_answers_nothing() -> None:
    """E03: dropped, visibly."""
    scene = asking(KeyRule(finish="#"))
    scene.voice(1800, 2150)
    press(scene, "1#", start=1900)
    scene.at(2200, final("forty two", 1800, 2150))
    scene.until(5000)
    assert inputs(scene) == [("keys", "1")]
    assert scene.records("suppressed")[-1]["text"] == "forty two"


def test_words_waiting_for_their_end_give_way_to_a_key() -> None:
    scene = asking(KeyRule(finish="#"))
    scene.says(1500, 2000, "forty two and")
    press(scene, "1#", start=2300)
    scene.until(6000)
    assert inputs(scene) == [("keys", "1")]
    assert scene.records("suppressed")[-1]["reason"] == "key_instead"


def test_words_while_keys_are_coming_are_no_second_input() -> None:
    scene = asking(KeyRule(length=4))
    press(scene, "12", start=1500)
    scene.says(1800, 2300, "three four")
    press(scene, "34", start=2600)
    scene.until(6000)
    assert inputs(scene) == [("keys", "1234")]


def test_where_only_keys_are_wanted_words_are_no_answer() -> None:
    scene = asking(KeyRule(length=4, speech_too=False))
    scene.says(1500, 2000, "one two three four")
    scene.until(5000)
    assert not inputs(scene)
    assert scene.records("suppressed")[-1]["reason"] == "keys_only"
    assert not scene.floor.gate_closed


def test_keys_in_a_protected_line_count_when_it_is_over() -> None:
    scene = asking(KeyRule(length=3), ms=5000, protected=True)
    press(scene, "123", start=2000)
    scene.until(4900)
    assert not scene.interrupts()
    assert not scene.of(FlushOutput)
    scene.until(6000)
    assert inputs(scene) == [("keys", "123")]
    assert not scene.interrupts()


def test_speech_after_a_key_turn_is_new() -> None:
    scene = asking(KeyRule(length=1))
    scene.at(1960, VoiceStarted(1900))
    press(scene, "1", start=2000)
    scene.until(2500)
    scene.says(2600, 3300, "And a table please.")
    scene.until(6000)
    assert inputs(scene)[-1] == ("speech", "And a table please.")


def test_a_typed_text_interrupts_and_is_a_turn() -> None:
    """B04."""
    scene = Scene()
    scene.reply("Your options are A, or B.", ms=9000)
    scene.until(2000)
    scene.do(TextTyped("the second one"))
    assert inputs(scene) == [("text", "the second one")]
    assert scene.interrupts()[0].cause == "text"


def test_a_tap_is_a_turn() -> None:
    scene = Scene().greeted()
    scene.do(ButtonTapped("/pay"))
    assert inputs(scene) == [("tap", "/pay")]


def test_a_text_in_the_middle_of_keys_takes_their_place() -> None:
    scene = asking(KeyRule(length=4))
    press(scene, "12", start=1500)
    scene.until(1700)
    scene.do(TextTyped("never mind"))
    scene.until(6000)
    assert inputs(scene) == [("text", "never mind")]
    assert scene.records("suppressed")[-1]["text"] == "12"


def test_blank_texts_are_counted() -> None:
    scene = Scene().greeted()
    scene.do(TextTyped("  "))
    scene.do(ButtonTapped(""))
    assert scene.floor.stale == {"TextTyped": 1, "ButtonTapped": 1}
