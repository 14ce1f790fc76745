"""The rhythm of what is said."""

from runtime.agent import CallSettings, FillerSettings, Say, SayEnd, SayText
from tests.voice.floor.scene import CALL, Scene
from voice.floor.actions import AllowSay
from voice.floor.events import SayFinished, SayStarted


def allowed_at(scene: Scene) -> dict[int, int]:
    return {a.say: ms for ms, a in scene.log if isinstance(a, AllowSay)}


def heard_at(scene: Scene, until: int) -> dict[int, int]:
    heard: dict[int, int] = {}
    while scene.now < until:
        scene.until(scene.now + 20)
        for say in scene.player.finished:
            heard.setdefault(say, scene.now)
    return heard


def test_the_first_message_of_a_turn_plays_at_once() -> None:
    scene = Scene()
    say = scene.reply(ms=1000)
    assert allowed_at(scene) == {say: 0}


def test_a_line_plays_from_its_first_words_on() -> None:
    scene = Scene()
    scene.do(Say(CALL, 1, 1, "reply"))
    assert not scene.allowed()
    scene.do(SayText(CALL, 1, 1, "Good"))
    assert scene.allowed() == [1]
    scene.do(SayText(CALL, 1, 1, " morning."))
    scene.do(SayEnd(CALL, 1, 1))
    assert scene.allowed() == [1]


def test_an_empty_line_is_not_waited_for() -> None:
    scene = Scene()
    scene.do(Say(CALL, 1, 1, "reply"))
    scene.do(SayEnd(CALL, 1, 1))
    assert scene.allowed() == [1]


def test_messages_are_a_pause_apart_counted_from_when_the_earlier_was_heard() -> None:
    scene = Scene()
    first = scene.reply(ms=1000, ends=False)
    second = scene.reply(ms=500)
    heard = heard_at(scene, 5000)
    assert allowed_at(scene)[second] == heard[first] + 1000


def test_only_what_remains_of_the_pause_is_added() -> None:
    scene = Scene(CallSettings(fillers=FillerSettings(enabled=False)))
    first = scene.reply(ms=1000, ends=False)
    heard = heard_at(scene, 1700)
    second = scene.reply(ms=500, ends=False)
    scene.until(2500)
    assert allowed_at(scene)[second] == heard[first] + 1000
    scene.until(6000)
    third = scene.reply(ms=500)
    assert allowed_at(scene)[third] == 6000


def test_after_a_filler_or_a_line_beside_a_tool_the_pause_is_shorter() -> None:
    """F06."""
    scene = Scene()
    beside = scene.reply("Let me check.", ms=800, kind="beside_tool", ends=False)
    scene.tool("check")
    answer = scene.reply("It is in stock.", ms=800)
    heard = heard_at(scene, 5000)
    assert allowed_at(scene)[answer] == heard[beside] + 800
    assert scene.player.finished == [beside, answer]


def test_the_pauses_are_the_author_s() -> None:
    scene = Scene(CallSettings(pause_between_messages_ms=250))
    first = scene.reply(ms=1000, ends=False)
    second = scene.reply(ms=500)
    heard = heard_at(scene, 5000)
    assert allowed_at(scene)[second] == heard[first] + 250


def test_lines_keep_their_order() -> None:
    scene = Scene()
    says = [scene.reply(ms=200, ends=False) for _ in range(4)]
    scene.ends()
    scene.until(9000)
    assert scene.player.finished == says


def test_a_barge_in_cancels_a_pause_with_the_rest() -> None:
    scene = Scene()
    scene.reply(ms=1000, ends=False)
    second = scene.reply(ms=500)
    scene.says(1200, 1700, "No, stop.")
    scene.until(6000)
    assert second not in scene.allowed()
    assert scene.interrupts()


def test_a_repeated_or_unnumbered_line_is_counted() -> None:
    scene = Scene()
    scene.reply(ms=1000, ends=False)
    scene.do(Say(CALL, 1, 1, "reply"))
    scene.do(Say(CALL, 1, -3, "reply"))
    scene.do(SayStarted(77))
    scene.do(SayFinished(77))
    assert scene.floor.stale == {"Say": 2, "SayStarted": 1, "SayFinished": 1}
    assert scene.allowed() == [1]


def test_a_line_that_was_heard_before_it_was_reported_begun_is_heard() -> None:
    scene = Scene()
    say = scene.reply(ms=1000)
    scene.do(SayFinished(say))
    assert scene.floor.state.value == "listening"
