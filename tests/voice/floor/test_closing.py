"""How a call ends, and that nothing follows."""

import pytest

from runtime.agent import CallReady, HangUp, Say, Transfer, TurnEnded
from tests.voice.floor.scene import CALL, Scene, final
from voice.floor.actions import DropSay, EndCall, FlushOutput
from voice.floor.events import CallerGone, FramesStopped, KeyPressed, VoiceStarted


def saying_goodbye(*, ms: int = 2000) -> Scene:
    scene = Scene()
    scene.reply("Goodbye.", ms=ms, ends=False)
    return scene.until(500)


def test_a_hang_up_waits_until_all_was_heard() -> None:
    scene = saying_goodbye()
    scene.do(HangUp(CALL, 1))
    scene.do(TurnEnded(CALL, 1, "done"))
    scene.until(1900)
    assert not scene.ended()
    scene.until(2100)
    assert scene.ended() == [EndCall("agent")]
    assert scene.records("hang_up")[0]["reason"] == "agent"


def test_a_hang_up_does_not_wait_for_ever_for_the_end_of_its_turn() -> None:
    scene = saying_goodbye()
    scene.do(HangUp(CALL, 1))
    scene.until(9000)
    assert scene.ended() == [EndCall("agent")]


def test_a_hang_up_now_does_not_wait() -> None:
    scene = saying_goodbye()
    scene.do(HangUp(CALL, 1, "now"))
    assert scene.ended() == [EndCall("agent")]
    assert scene.of(FlushOutput)


def test_a_transfer_names_its_target() -> None:
    scene = saying_goodbye()
    scene.do(Transfer(CALL, 1, "sip:desk"))
    scene.do(TurnEnded(CALL, 1, "done"))
    scene.until(3000)
    assert scene.ended() == [EndCall("agent", "sip:desk")]
    assert scene.records("hang_up")[0]["reason"] == "transfer"


def test_words_over_the_goodbye_keep_the_call() -> None:
    scene = saying_goodbye(ms=4000)
    scene.do(HangUp(CALL, 1))
    scene.do(TurnEnded(CALL, 1, "done"))
    scene.says(1000, 1800, "Wait, one more thing.")
    scene.until(12_000)
    assert not scene.ended()
    assert scene.starts()[-1].cause == "input"


def test_a_backchannel_over_the_goodbye_does_not() -> None:
    scene = saying_goodbye()
    scene.do(HangUp(CALL, 1))
    scene.do(TurnEnded(CALL, 1, "done"))
    scene.says(1000, 1400, "okay")
    scene.until(9000)
    assert scene.ended() == [EndCall("agent")]


def test_a_hang_up_after_the_turn_s_own_end_is_obeyed() -> None:
    scene = Scene().greeted()
    scene.do(HangUp(CALL, 1))
    assert scene.ended() == [EndCall("agent")]


def test_a_hang_up_of_an_interrupted_turn_is_stale() -> None:
    scene = saying_goodbye(ms=4000)
    scene.says(1000, 1800, "Wait, one more thing.")
    scene.until(2200)
    scene.do(HangUp(CALL, 1, "now"))
    assert not scene.ended()
    assert scene.floor.stale == {"HangUp": 1}


def test_a_caller_who_hangs_up_ends_the_running_turn_and_the_call() -> None:
    """H07, A09: also in the middle of a protected line."""
    scene = Scene()
    scene.reply("This call is recorded.", ms=6000, protected=True)
    scene.until(1000)
    actions = scene.do(CallerGone("caller"))
    assert [cut.cause for cut in scene.interrupts()] == ["hang_up"]
    assert actions[-1] == EndCall("caller")


@pytest.mark.parametrize("cause", ["caller", "lost", "expired", "drain"])
def test_the_cause_of_leaving_is_passed_on(cause: str) -> None:
    scene = Scene().greeted()
    scene.do(CallerGone(cause))  # type: ignore[arg-type]
    assert scene.ended() == [EndCall(cause)]  # type: ignore[arg-type]
    assert not scene.interrupts()


def test_after_the_end_nothing_comes_but_dropped_lines() -> None:
    scene = Scene()
    scene.do(CallerGone("caller"))
    before = len(scene.log)
    for event in (
        CallReady(CALL, "c", scene.settings),
        VoiceStarted(10),
        KeyPressed("1"),
        FramesStopped(10),
        CallerGone("lost"),
        final("No, stop.", 0, 500),
    ):
        assert scene.do(event) == []
    assert scene.do(Say(CALL, 1, 9, "reply")) == [DropSay(9)]
    scene.until(60_000)
    assert len(scene.log) == before + 1
    assert scene.floor.closed
