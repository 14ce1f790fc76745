"""What is said while the caller waits."""

from runtime.agent import CallSettings, FillerSettings
from tests.voice.floor.scene import Scene
from voice.floor.actions import DropSay, HoldOutput, SpeakLine
from voice.floor.events import SayReady


def waiting(settings: CallSettings | None = None) -> tuple[Scene, int]:
    """The caller has asked something; turn 2 runs. Returns when it started."""
    scene = Scene(settings).greeted()
    scene.says(4000, 5000, "Which rooms are free?")
    scene.until(5420)
    scene.forget()
    return scene, scene.starts()[-1].at_ms


def settings(**numbers: object) -> CallSettings:
    return CallSettings(fillers=FillerSettings(**numbers))  # type: ignore[arg-type]


def test_a_filler_comes_when_a_tool_has_been_open_long_enough() -> None:
    scene, start = waiting()
    scene.tool("look_up")
    scene.until(start + 1300)
    assert scene.spoken() == [(start + 1200, "One moment.")]
    assert scene.records("filler")[0]["text"] == "One moment."


def test_a_tool_s_own_filler_comes_first_and_once() -> None:
    scene, start = waiting(settings(every_ms=2000))
    scene.tool("look_up", filler="I am looking at the rooms.")
    scene.until(start + 5000)
    assert [text for _, text in scene.spoken()] == ["I am looking at the rooms.", "One moment."]


def test_with_only_the_model_open_it_takes_twice_as_long() -> None:
    """F02."""
    scene, start = waiting()
    scene.until(start + 2300)
    assert not scene.spoken()
    scene.until(start + 2500)
    assert scene.spoken()[0][0] == start + 2400


def test_a_tool_that_opens_late_is_part_of_the_same_wait() -> None:
    scene, start = waiting()
    scene.until(start + 1000)
    scene.tool("look_up")
    scene.until(start + 1300)
    assert scene.spoken()[0][0] == start + 1200


def test_fillers_come_again_but_not_without_end() -> None:
    """F03."""
    scene, start = waiting(settings(after_ms=1000, every_ms=4000, most=2))
    scene.tool("look_up")
    scene.until(start + 30_000)
    first, second = (ms for ms, _ in scene.spoken())
    assert first == start + 1000
    assert 4000 <= second - first <= 4000 + 700


def test_the_phrases_take_turns_over_the_call() -> None:
    """F02: two lookups in a row do not repeat the wording."""
    scene, _ = waiting()
    scene.tool("look_up")
    scene.until(8000)
    scene.reply(ms=200)
    scene.until(11_000)
    scene.says(11_000, 12_000, "And tomorrow, what is there?")
    scene.until(12_500)
    scene.tool("look_up")
    scene.until(15_000)
    first, second = (text for _, text in scene.spoken())
    assert first != second


def test_no_filler_once_the_answer_is_about_to_be_said() -> None:
    """F04: the result comes a moment before the filler would."""
    scene, start = waiting()
    scene.tool("look_up")
    scene.until(start + 1199)
    scene.tool()
    scene.reply("Room nine.", ms=500)
    scene.until(start + 4000)
    assert not scene.spoken()


def test_parallel_tools_share_one_filler() -> None:
    """F04."""
    scene, start = waiting()
    scene.tool("look_up", "ask")
    scene.until(start + 3000)
    assert len(scene.spoken()) == 1


def test_a_second_step_continues_the_wait_of_the_turn() -> None:
    """F04: none between steps unless a new wait is long enough."""
    scene, start = waiting()
    scene.tool("look_up")
    scene.until(start + 1000)
    scene.reply("Nine is free.", ms=400, kind="line", ends=False)
    scene.tool("book")
    scene.until(start + 2400)
    assert not scene.spoken()
    scene.until(start + 2800)
    assert len(scene.spoken()) == 1


def test_a_filler_finishes_before_the_answer() -> None:
    """F01."""
    scene, start = waiting()
    scene.tool("look_up")
    scene.until(start + 1300)
    scene.do(SayReady(-1))
    answer = scene.reply("Room nine.", ms=500)
    scene.until(start + 5000)
    assert scene.player.finished[-2:] == [-1, answer]
    assert not scene.of(DropSay)


def test_a_filler_without_any_sound_yet_gives_way_to_the_answer() -> None:
    """F01."""
    scene, start = waiting()
    scene.tool("look_up")
    scene.until(start + 1200)
    scene.player.allowed.clear()  # still being synthesized
    answer = scene.reply("Room nine.", ms=500)
    assert [a for _, a in scene.of(DropSay)] == [DropSay(-1)]
    assert scene.allowed() == [answer]


def test_the_model_s_line_beside_a_tool_counts_as_a_filler() -> None:
    """F06."""
    scene, start = waiting(settings(after_ms=1000, every_ms=3000, most=2))
    scene.reply("Let me check.", ms=500, kind="beside_tool", ends=False)
    scene.tool("check")
    scene.until(start + 3400)
    assert not scene.spoken()
    scene.until(start + 30_000)
    assert len(scene.spoken()) == 1


def test_the_wait_stands_while_the_caller_speaks() -> None:
    scene, start = waiting()
    scene.tool("look_up")
    scene.until(start + 1000)
    scene.says(scene.now, scene.now + 600, "uh-huh")
    scene.until(start + 2000)
    assert not scene.spoken()
    scene.until(start + 3000)
    assert len(scene.spoken()) == 1


def test_a_presence_question_brings_the_next_filler_at_once_and_cancels_nothing() -> None:
    """F03."""
    scene, start = waiting()
    scene.tool("look_up")
    scene.until(start + 2500)
    scene.says(scene.now, scene.now + 400, "Hello?")
    scene.until(scene.now + 1000)
    assert len(scene.spoken()) == 2
    assert not scene.interrupts()


def test_a_presence_question_over_a_filler_is_answered_by_it() -> None:
    """F03."""
    scene, start = waiting()
    scene.player.length_ms[-1] = 3000
    scene.tool("look_up", filler="I am looking through all of our rooms right now.")
    scene.until(start + 1500)
    scene.says(scene.now, scene.now + 400, "Hello?")
    scene.until(start + 6000)
    assert not scene.interrupts()


def test_other_words_over_a_filler_interrupt() -> None:
    scene, start = waiting()
    scene.player.length_ms[-1] = 3000
    scene.tool("look_up")
    scene.until(start + 1500)
    scene.says(scene.now, scene.now + 400, "No, stop it.")
    scene.until(start + 6000)
    assert scene.interrupts()


def test_fillers_can_be_off() -> None:
    scene, start = waiting(settings(enabled=False))
    scene.tool("look_up")
    scene.until(start + 9000)
    assert not scene.spoken()


def test_no_filler_after_the_turn_has_ended() -> None:
    scene, start = waiting()
    scene.ends()
    scene.until(start + 6000)
    assert not scene.spoken()


def test_fillers_have_ids_of_their_own() -> None:
    scene, start = waiting(settings(every_ms=1500))
    scene.tool("look_up")
    scene.until(start + 9000)
    says = [a.say for _, a in scene.of(SpeakLine) if isinstance(a, SpeakLine)]
    assert says == [-1, -2, -3]
    assert not scene.of(HoldOutput)
