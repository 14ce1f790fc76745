"""The state table, row by row and column by column, through the whole floor."""

from collections.abc import Callable

import pytest

from runtime.agent import Expect
from tests.voice.floor.scene import Scene, final
from voice.floor.actions import AllowSay, FlushOutput, SpeakLine
from voice.floor.events import FloorEvent, KeyPressed, VoiceConfirmed, VoiceEnded, VoiceStarted
from voice.floor.turns import TABLE, Decision, Sound, State, decide


def listening() -> Scene:
    return Scene().greeted(at=4000)


def thinking() -> Scene:
    scene = Scene().greeted()
    scene.says(2000, 2600, "A table please.")
    return scene.until(4000)


def working_with_a_tool() -> Scene:
    scene = thinking()
    scene.tool("look_up")
    return scene


def working_with_something_heard() -> Scene:
    scene = thinking()
    scene.reply("Let me see.", ms=300, ends=False)
    scene.until(4600)
    return scene


def audible() -> Scene:
    scene = thinking()
    scene.reply("We have Monday, or Thursday in the evening.", ms=9000)
    return scene.until(4400)


def asked_yes_no() -> Scene:
    scene = thinking()
    scene.reply("Shall I book that for you?", ms=9000, expect=Expect("yes_no"))
    return scene.until(4400)


def protected() -> Scene:
    scene = thinking()
    scene.reply("This call is recorded.", ms=9000, protected=True)
    return scene.until(4400)


def speak(text: str) -> Callable[[Scene], None]:
    """600 ms of voice with these words; empty = noise."""

    def act(scene: Scene) -> None:
        start = scene.now + 100
        scene.at(start + 60, VoiceStarted(start))
        if text:
            scene.at(start + 150, VoiceConfirmed(start))
        scene.at(start + 620, VoiceEnded(start, start + 600, 600, bool(text)))
        scene.at(start + 780, final(text, start, start + 600))

    return act


def press(key: str) -> Callable[[Scene], None]:
    def act(scene: Scene) -> None:
        scene.at(scene.now + 100, KeyPressed(key))

    return act


NOISE = speak("")
BACKCHANNEL = speak("uh-huh, okay")
PRESENCE = speak("Hello? Are you there?")
WORDS = speak("No, for two people.")
KEY = press("5")


def nothing(scene: Scene) -> None:
    assert not scene.interrupts()
    assert len(scene.starts()) == 1  # the one that ran before
    assert not scene.of(FlushOutput)


def a_turn(scene: Scene) -> None:
    assert not scene.interrupts()
    assert scene.starts()[-1].cause == "input"
    assert len(scene.starts()) == 2
    assert scene.starts()[-1].reopens is None


def reopened(scene: Scene) -> None:
    (cut,) = scene.interrupts()
    start = scene.starts()[-1]
    assert cut.cause == "reopened"
    assert start.reopens == cut.turn
    assert start.input is not None
    assert start.input.text == "A table please. No, for two people."


def interrupted(cause: str) -> Callable[[Scene], None]:
    def check(scene: Scene) -> None:
        (cut,) = scene.interrupts()
        assert cut.cause == cause
        start = scene.starts()[-1]
        assert start.turn == cut.turn + 1
        assert start.reopens is None
        assert start.input is not None
        assert start.input.kind == ("keys" if cause == "key" else "speech")

    return check


def goes_on_with_a_filler_now(scene: Scene) -> None:
    nothing(scene)
    (spoken,) = scene.of(SpeakLine)
    assert spoken[0] < 6000


def goes_on(scene: Scene) -> None:
    nothing(scene)


def released(scene: Scene) -> None:
    nothing(scene)
    assert not scene.floor.gate_closed
    assert len(scene.records("release")) == 1


def kept(scene: Scene) -> None:
    """Nothing happens while the line is heard; afterwards it is the next turn."""
    nothing(scene)
    scene.until(20_000)
    assert not scene.of(FlushOutput)
    assert scene.starts()[-1].at_ms > 13_000
    assert scene.starts()[-1].cause == "input"


ROWS = [
    (listening, NOISE, nothing),
    (listening, BACKCHANNEL, a_turn),
    (listening, PRESENCE, a_turn),
    (listening, WORDS, a_turn),
    (listening, KEY, a_turn),
    (thinking, NOISE, goes_on),
    (thinking, BACKCHANNEL, goes_on),
    (thinking, PRESENCE, goes_on),
    (thinking, WORDS, reopened),
    (thinking, KEY, interrupted("key")),
    (working_with_a_tool, NOISE, goes_on),
    (working_with_a_tool, BACKCHANNEL, goes_on),
    (working_with_a_tool, PRESENCE, goes_on_with_a_filler_now),
    (working_with_a_tool, WORDS, interrupted("words")),
    (working_with_a_tool, KEY, interrupted("key")),
    (working_with_something_heard, NOISE, goes_on),
    (working_with_something_heard, BACKCHANNEL, goes_on),
    (working_with_something_heard, PRESENCE, goes_on_with_a_filler_now),
    (working_with_something_heard, WORDS, interrupted("words")),
    (working_with_something_heard, KEY, interrupted("key")),
    (audible, NOISE, released),
    (audible, BACKCHANNEL, released),
    (audible, PRESENCE, interrupted("words")),
    (audible, WORDS, interrupted("words")),
    (audible, KEY, interrupted("key")),
    (asked_yes_no, NOISE, released),
    (asked_yes_no, BACKCHANNEL, interrupted("words")),
    (asked_yes_no, WORDS, interrupted("words")),
    (protected, NOISE, nothing),
    (protected, BACKCHANNEL, nothing),
    (protected, PRESENCE, kept),
    (protected, WORDS, kept),
    (protected, KEY, kept),
]
NAMES = {
    NOISE: "noise",
    BACKCHANNEL: "backchannel",
    PRESENCE: "presence",
    WORDS: "words",
    KEY: "key",
}


@pytest.mark.parametrize(
    ("scene_of", "sound", "outcome"),
    ROWS,
    ids=[f"{scene.__name__}-{NAMES[sound]}" for scene, sound, _ in ROWS],
)
def test_a_sound_does_what_the_table_says(
    scene_of: Callable[[], Scene],
    sound: Callable[[Scene], None],
    outcome: Callable[[Scene], None],
) -> None:
    """ARCHITECTURE section 5, the state table."""
    scene = scene_of().forget()
    # the filler of an ordinary wait must not blur what the sound did
    sound(scene)
    scene.until(scene.now + 1700)
    outcome(scene)


def test_the_table_has_every_state_and_every_sound() -> None:
    for state in State:
        for sound in Sound:
            assert isinstance(decide(state, sound), Decision)
    assert set(TABLE) == set(State)


def test_after_a_commit_the_next_line_allowed_belongs_to_the_new_turn() -> None:
    scene = audible()
    WORDS(scene)
    scene.until(7000)
    cut = scene.interrupts()[-1]
    before = len(scene.allowed())
    say = scene.reply("For two, then.")
    scene.until(9000)
    assert scene.turn == cut.turn + 1
    assert scene.allowed()[before:] == [say]


def test_a_key_in_a_silent_turn_waits_for_no_voice() -> None:
    scene = thinking().forget()
    events: list[FloorEvent] = [KeyPressed("1")]
    for event in events:
        scene.do(event)
    assert scene.interrupts()
    assert not scene.of(AllowSay)
    assert scene.starts()[-1].input is not None
