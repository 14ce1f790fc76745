"""Interruptions switched off, and settings that come with the agent."""

from runtime.agent import CallReady, CallSettings, FillerSettings, InterruptionSettings
from tests.voice.floor.scene import CALL, Scene
from voice.floor.actions import FlushOutput, HoldOutput
from voice.floor.events import KeyPressed

OFF = CallSettings(interruptions=InterruptionSettings(enabled=False))


def test_with_interruptions_off_says_play_on_and_words_are_kept() -> None:
    scene = Scene(OFF)
    first = scene.reply("First.", ms=2000, ends=False)
    second = scene.reply("Second.", ms=2000)
    scene.says(500, 1500, "No, stop it.")
    scene.until(9000)
    assert scene.player.finished[:2] == [first, second]
    assert not scene.of(FlushOutput)
    assert not scene.interrupts()
    assert scene.starts()[-1].input is not None
    assert scene.starts()[-1].input.text == "No, stop it."


def test_with_interruptions_off_nothing_is_held_once_the_agent_is_heard() -> None:
    scene = Scene(OFF)
    scene.reply(ms=4000)
    scene.says(500, 1500, "No, stop it.")
    scene.until(3900)
    assert not scene.of(HoldOutput)


def test_with_interruptions_off_keys_wait_too() -> None:
    scene = Scene(OFF)
    scene.reply(ms=2000)
    scene.at(500, KeyPressed("4"))
    scene.until(1900)
    assert len(scene.starts()) == 1
    scene.until(3000)
    assert scene.starts()[-1].input is not None


def test_with_interruptions_off_a_caller_who_was_not_done_is_still_waited_for() -> None:
    """A06."""
    scene = Scene(OFF).greeted()
    scene.says(4000, 5000, "I would like a table.")
    scene.says(5800, 6500, "For six people.")
    scene.until(9000)
    assert [cut.cause for cut in scene.interrupts()] == ["reopened"]


def test_the_agent_s_settings_replace_those_the_call_began_with() -> None:
    scene = Scene(ready=False)
    mine = CallSettings(
        fillers=FillerSettings(phrases=("Un instant.",)),
        silence_timeout_ms=2000,
        interruptions=InterruptionSettings(backchannels=("oui",)),
    )
    scene.do(CallReady(CALL, "c", mine))
    scene.until(2600)
    assert [text for _, text in scene.spoken()] == ["Un instant."]
    scene.reply("Bonjour.", ms=200)
    scene.until(6000)
    assert scene.starts()[-1].cause == "silence"
