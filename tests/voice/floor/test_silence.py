"""When nobody says anything."""

import pytest

from runtime.agent import CallSettings, HangUp, Listen, TurnEnded
from tests.voice.floor.scene import CALL, Scene, final
from voice.floor.actions import EndCall
from voice.floor.events import ButtonTapped, KeyPressed


def silences(scene: Scene) -> list[tuple[int, int]]:
    return [(s.at_ms, s.silence_n) for s in scene.starts() if s.cause == "silence"]


def quiet(limit_ms: int = 5000, check_ins: int = 3) -> tuple[Scene, int]:
    """The greeting was heard; returns when."""
    scene = Scene(CallSettings(silence_timeout_ms=limit_ms, silence_check_ins=check_ins))
    scene.reply("Good morning.", ms=1000)
    while not scene.player.finished:
        scene.until(scene.now + 20)
    return scene, scene.now


def answered(scene: Scene, until: int) -> None:
    """Let time pass, each check-in saying one line of a second."""
    seen = len(scene.starts())
    while scene.now < until and not scene.floor.closed:
        scene.until(scene.now + 20)
        if len(scene.starts()) > seen:
            seen = len(scene.starts())
            scene.reply("Are you still there?", ms=1000, kind="check_in")


def test_the_first_check_in_comes_when_the_limit_has_passed_since_the_last_sound_heard() -> None:
    """E01, E05."""
    scene, heard = quiet()
    scene.until(heard + 5100)
    assert silences(scene) == [(heard + 5000, 1)]
    assert scene.records("silence")[0]["n"] == 1


def test_it_does_not_run_during_a_tool_or_a_long_answer() -> None:
    """E01: armed only when all was heard and nothing is open."""
    scene, heard = quiet()
    scene.says(heard, heard + 500, "What do you have?")
    scene.until(heard + 1000)
    scene.tool("look_up")
    scene.until(heard + 8000)
    scene.tool()
    scene.reply("A lot.", ms=9000)
    scene.until(heard + 20_000)
    assert not silences(scene)


def test_three_check_ins_then_the_goodbye() -> None:
    """E08: no more than that."""
    scene, heard = quiet()
    answered(scene, heard + 60_000)
    assert [n for _, n in silences(scene)] == [1, 2, 3, 4]
    gaps = [b - a for (a, _), (b, _) in zip(silences(scene), silences(scene)[1:], strict=False)]
    assert all(5900 <= gap <= 6100 for gap in gaps)


def test_a_goodbye_that_does_not_hang_up_is_followed_by_the_end() -> None:
    """E04: an abandoned call does not stay open."""
    scene, heard = quiet()
    answered(scene, heard + 60_000)
    assert scene.ended() == [EndCall("expired")]


def test_the_goodbye_s_hang_up_ends_the_call_when_it_was_heard() -> None:
    scene, heard = quiet(check_ins=0)
    scene.until(heard + 5100)
    assert silences(scene) == [(heard + 5000, 1)]
    scene.reply("Goodbye.", ms=1000, ends=False)
    scene.do(HangUp(CALL, 2))
    scene.do(TurnEnded(CALL, 2, "done"))
    assert not scene.ended()
    scene.until(heard + 7000)
    assert scene.ended() == [EndCall("agent")]


def test_wordless_blips_only_pause_it() -> None:
    """E04."""
    scene, heard = quiet(limit_ms=8000)
    for start in range(heard + 1000, heard + 12_000, 3000):
        scene.voice(start, start + 200)
        scene.at(start + 400, final("", start, start + 200))
    scene.until(heard + 12_000)
    ((at, n),) = silences(scene)
    assert n == 1
    assert heard + 8000 < at < heard + 9500


def test_words_reset_it() -> None:
    scene, heard = quiet()
    answered(scene, heard + 5200)
    scene.until(heard + 6500)
    scene.says(heard + 7000, heard + 7600, "Yes, I am here.")
    scene.until(heard + 8700)
    scene.reply("Good.", ms=500)
    answered(scene, heard + 15_000)
    assert [n for _, n in silences(scene)] == [1, 1]


@pytest.mark.parametrize("event", [KeyPressed("1"), ButtonTapped("yes")])
def test_keys_and_taps_reset_it(event: KeyPressed | ButtonTapped) -> None:
    scene, heard = quiet()
    scene.until(heard + 4900)
    scene.do(event)
    scene.reply("Thank you.", ms=500)
    scene.until(heard + 5400 + 4900)
    assert not silences(scene)


def test_voice_at_the_last_moment_stops_it() -> None:
    """D10."""
    scene, heard = quiet()
    scene.says(heard + 4900, heard + 6000, "I want to")
    scene.until(heard + 7500)
    assert not silences(scene)


def test_words_in_the_instant_of_a_check_in_belong_to_the_question_before_it() -> None:
    """E10."""
    scene, heard = quiet()
    scene.says(heard + 4990, heard + 6000, "It is 4411.", final_at=heard + 6200)
    scene.until(heard + 5010)
    assert len(silences(scene)) == 1
    check_in = scene.reply("Are you still there?", ms=1000, kind="check_in")
    scene.player.allowed.clear()
    scene.until(heard + 8000)
    (cut,) = scene.interrupts()
    assert cut.cause == "words"
    assert check_in not in scene.player.finished
    start = scene.starts()[-1]
    assert (start.cause, start.reopens) == ("input", None)
    scene.reply("Thank you.", ms=500)
    scene.until(heard + 16_000)
    assert [n for _, n in silences(scene)] == [1, 1]


def test_a_changed_limit_counts_from_the_start_of_the_running_wait() -> None:
    """E07."""
    scene, heard = quiet()
    scene.until(heard + 2000)
    scene.do(Listen(CALL, 1, silence_after_ms=20_000))
    scene.until(heard + 19_900)
    assert not silences(scene)
    scene.until(heard + 20_100)
    assert silences(scene) == [(heard + 20_000, 1)]


def test_a_limit_already_past_acts_at_once() -> None:
    """E07."""
    scene, heard = quiet()
    scene.until(heard + 4000)
    scene.do(Listen(CALL, 1, silence_after_ms=3000))
    scene.until(heard + 4020)
    assert silences(scene) == [(heard + 4000, 1)]


def test_zero_switches_it_off_and_it_can_come_back() -> None:
    """E07."""
    scene, heard = quiet()
    scene.do(Listen(CALL, 1, silence_after_ms=0))
    scene.until(heard + 60_000)
    assert not silences(scene)
    scene.do(Listen(CALL, 1))
    scene.until(heard + 60_100)
    assert len(silences(scene)) == 1


def test_a_call_without_a_limit_waits_for_ever() -> None:
    scene, heard = quiet(limit_ms=0)
    scene.until(heard + 300_000)
    assert not silences(scene)


def test_a_cough_during_the_prompt_does_not_keep_it_from_starting() -> None:
    """E05."""
    scene = Scene(CallSettings(silence_timeout_ms=5000))
    scene.reply("How can I help you today?", ms=3000)
    scene.voice(1000, 1300)
    scene.at(1500, final("", 1000, 1300))
    scene.until(3500)
    heard = 3500
    scene.until(heard + 5500)
    assert len(silences(scene)) == 1


def test_a_check_in_leaves_the_question_open() -> None:
    scene, heard = quiet()
    scene.do(Listen(CALL, 1, silence_after_ms=2000))
    scene.until(heard + 2100)
    scene.reply("Are you there?", ms=500, kind="check_in", ends=False)
    scene.do(TurnEnded(CALL, 2, "done"))
    scene.until(heard + 4800)
    assert len(silences(scene)) == 2


def test_a_call_without_the_caller_expires_whatever_the_agent_does() -> None:
    """R54: the tool that hangs is cancelled, the call ended."""
    settings = CallSettings(silence_timeout_ms=0, expiration_ms=60_000)
    scene = Scene(settings)
    scene.reply("Good morning.", ms=1000)
    scene.says(20_000, 20_500, "What do you have?")
    scene.until(22_000)
    scene.tool("hangs")
    begun = scene.starts()[-1]
    scene.until(begun.at_ms + 59_900)
    assert not scene.ended()
    scene.until(begun.at_ms + 60_100)
    assert [(i.turn, i.cause, i.evidence) for i in scene.interrupts()] == [
        (begun.turn, "hang_up", "expired")
    ]
    assert scene.ended() == [EndCall("expired")]


def test_a_call_that_never_expires_does_not() -> None:
    scene = Scene(CallSettings(silence_timeout_ms=0, expiration_ms=0))
    scene.reply("Good morning.", ms=1000)
    scene.until(100 * 3_600_000)
    assert not scene.ended() and not scene.floor.armed_timers
