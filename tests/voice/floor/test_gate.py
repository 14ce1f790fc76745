"""The hold: when it begins, what ends it, what false alarms teach."""

import pytest

from runtime.agent import CallSettings, InterruptionSettings
from tests.voice.floor.scene import Scene, final, partial
from voice.floor.actions import (
    DecodeNow,
    FlushOutput,
    HoldOutput,
    RaiseNoiseFloor,
    ReleaseOutput,
)
from voice.floor.events import (
    SayStarted,
    TranscriberBack,
    TranscriberFailed,
    VoiceConfirmed,
    VoiceEnded,
    VoiceStarted,
)


def talking(
    settings: CallSettings | None = None, *, strong: bool = True, ms: int = 30_000
) -> Scene:
    """The agent is in a long line, from 200 ms on."""
    scene = Scene(settings, strong=strong)
    scene.reply("Our house has many rooms and I will now tell you about each of them.", ms=ms)
    return scene.until(2000)


def test_the_first_voice_holds_at_once_and_says_why() -> None:
    scene = talking()
    scene.do(VoiceStarted(1940))
    assert scene.when(HoldOutput) == 2000
    (hold,) = scene.records("hold")
    assert hold["reason"] == "voice"
    assert hold["voice_ms"] == 60
    assert hold["audible"] is True


def test_a_hold_that_is_not_confirmed_in_time_is_released_at_once() -> None:
    """A13: a click costs no more than the time the sure detector is given."""
    scene = talking()
    scene.do(VoiceStarted(1940))
    scene.until(4000)
    assert scene.when(ReleaseOutput) == 2140
    assert scene.records("release")[0]["reason"] == "not_confirmed"
    assert not scene.interrupts()
    assert not scene.of(RaiseNoiseFloor)


def test_a_hold_whose_voice_ends_unconfirmed_is_released_without_waiting_for_words() -> None:
    scene = talking()
    scene.voice(2000, 2060, confirmed=False, lag=40)
    scene.until(4000)
    assert scene.when(ReleaseOutput) == 2080


def test_speech_that_is_confirmed_late_holds_again() -> None:
    scene = talking()
    scene.do(VoiceStarted(1940))
    scene.until(2200)
    scene.do(VoiceConfirmed(1940))
    assert len(scene.of(HoldOutput)) == 2
    assert scene.floor.gate_closed


def test_after_two_unconfirmed_holds_the_sure_detector_goes_first_for_ten_seconds() -> None:
    scene = talking()
    for start in (2000, 3000, 4000):
        scene.voice(start, start + 60, confirmed=False)
    scene.until(4500)
    assert len(scene.of(HoldOutput)) == 2
    scene.voice(5000, 5600)  # confirmed at 5160: that is when it holds
    scene.until(5300)
    assert scene.when(HoldOutput, 2) == 5160
    scene.at(5800, final("", 5000, 5600))
    scene.until(14_000)
    scene.voice(14_000, 14_060, confirmed=False)
    scene.until(14_200)
    assert scene.when(HoldOutput, -1) == 14_060


def test_after_two_false_holds_only_words_hold_for_ten_seconds() -> None:
    scene = talking(CallSettings(interruptions=InterruptionSettings(pause_budget_ms=60_000)))
    for start in (2000, 4000):
        scene.says(start, start + 300, "uh-huh")
    scene.until(6000)
    assert [r["reason"] for r in scene.records("release")] == ["backchannel", "backchannel"]
    scene.says(6000, 6400, "mm-hmm")
    scene.until(8000)
    assert len(scene.of(HoldOutput)) == 2
    assert scene.records("suppressed")[-1]["text"] == "mm-hmm"
    scene.says(8000, 8600, "Stop, please.")
    scene.until(10_000)
    assert scene.when(HoldOutput, -1) == 8800  # the moment of the words
    assert len(scene.interrupts()) == 1


def test_a_backchannel_is_released_at_voice_end_and_loses_nothing() -> None:
    """D12: the agent goes on; the words are a note, not a turn."""
    scene = talking()
    scene.says(2000, 2400, "Mhm.")
    scene.until(5000)
    assert scene.when(ReleaseOutput) == 2750
    (release,) = scene.records("release")
    assert (release["reason"], release["text"]) == ("backchannel", "Mhm.")
    assert not scene.of(FlushOutput)
    assert not scene.interrupts()


def test_a_backchannel_partial_never_releases() -> None:
    scene = talking()
    scene.at(2300, partial("okay", 2000, 2200))
    scene.voice(2000, 2900)
    scene.until(2880)
    assert scene.floor.gate_closed


def test_a_backchannel_that_becomes_a_sentence_commits_with_all_its_words() -> None:
    scene = talking()
    scene.voice(2000, 3200)
    scene.at(2400, final("Yeah,", 2000, 2300))
    scene.at(3300, final("but not today.", 2300, 3200))
    scene.until(6000)
    assert scene.starts()[-1].input is not None
    assert scene.starts()[-1].input.text == "Yeah, but not today."


def test_without_any_answer_the_gate_opens_after_the_wait_for_words() -> None:
    """A13: never silence without a timer armed."""
    patient = InterruptionSettings(pause_budget_ms=5000)
    scene = talking(CallSettings(interruptions=patient))
    scene.voice(2000, 2400)
    scene.until(6000)
    assert scene.when(ReleaseOutput) == 2400 + 350 + 800
    assert scene.records("release")[0]["reason"] == "no_answer"


def test_words_that_come_after_such_a_release_still_commit() -> None:
    scene = talking()
    scene.voice(2000, 2400)
    scene.at(3800, final("No, wait.", 2000, 2400))
    scene.until(6000)
    assert scene.interrupts()[0].at_ms == 3800
    assert scene.starts()[-1].cause == "input"


def test_an_empty_answer_opens_the_gate_at_the_resume_time() -> None:
    """A02, D04, A13."""
    scene = talking()
    scene.voice(2000, 2400)
    scene.at(2560, final("", 2000, 2400))
    scene.until(6000)
    assert scene.when(ReleaseOutput) == 2750
    assert scene.records("release")[0]["reason"] == "no_words"
    assert len(scene.starts()) == 1


@pytest.mark.parametrize("text", ["", " ", "\u200b", ".", "[noise]", "\u266a \u266a", "(laughs)"])
def test_a_transcript_without_words_is_nothing(text: str) -> None:
    """D04: no barge-in, no turn, no reply, and nothing is left waiting."""
    scene = talking(ms=6000)
    scene.do(partial(text, 1500, 1900))
    scene.do(final(text, 1500, 1900))
    assert not scene.floor.gate_closed
    scene.until(9000)
    assert not scene.interrupts()
    assert len(scene.starts()) == 1


def test_sound_without_words_holds_no_longer_than_hold_max_and_was_noise() -> None:
    scene = talking(CallSettings(interruptions=InterruptionSettings(pause_budget_ms=9000)))
    scene.voice(2000, 9000)
    scene.until(8000)
    assert scene.when(ReleaseOutput) == 2060 + 1500
    assert scene.records("release")[0]["reason"] == "noise"
    assert len(scene.of(RaiseNoiseFloor)) == 1
    assert len(scene.of(HoldOutput)) == 1


def test_the_pauses_of_one_line_stay_within_the_budget() -> None:
    scene = talking(CallSettings(interruptions=InterruptionSettings(hold_max_ms=5000)))
    for start in range(2000, 26_000, 1800):
        scene.voice(start, start + 700)
        scene.at(start + 860, final("", start, start + 700))
    scene.until(28_000)
    pauses = [record["pause_ms"] for record in scene.records("release")]
    assert pauses
    assert sum(p for p in pauses if isinstance(p, int)) <= 1500
    assert not scene.interrupts()


def test_a_commit_flushes_interrupts_and_says_why() -> None:
    scene = talking()
    scene.voice(2000, 3000)
    scene.at(2600, partial("stop", 2000, 2500))
    scene.until(2700)
    kinds = [type(a).__name__ for ms, a in scene.log if ms == 2600]
    assert kinds.index("FlushOutput") < kinds.index("InterruptTurn")
    assert scene.records("commit") == [{"t": 2600, "reason": "interrupt_word", "text": "stop"}]
    cut = scene.interrupts()[0]
    assert (cut.cause, cut.evidence) == ("words", "interrupt_word")
    assert scene.floor.gate_closed
    assert "stop" not in repr(cut)


def test_the_gate_opens_when_the_new_turn_starts() -> None:
    scene = talking()
    scene.says(2000, 3000, "No, stop.")
    scene.until(6000)
    assert scene.when(ReleaseOutput) == scene.starts()[-1].at_ms


@pytest.mark.parametrize("word", ["stop", "wait", "no", "nein", "help", "yes but"])
def test_words_of_command_interrupt_a_strong_engine_by_themselves(word: str) -> None:
    """D12."""
    scene = talking()
    scene.says(2000, 2400, word)
    scene.until(2700)
    assert scene.interrupts()


@pytest.mark.parametrize(
    "word", ["mhm", "yeah", "ok", "okay okay", "uh-huh", "got it", "of course"]
)
def test_backchannels_do_not(word: str) -> None:
    """D12."""
    scene = talking()
    scene.says(2000, 2400, word)
    scene.until(6000)
    assert not scene.interrupts()
    assert len(scene.starts()) == 1


def test_without_an_engine_voice_alone_commits() -> None:
    scene = talking()
    scene.do(TranscriberFailed("socket"))
    scene.voice(2000, 3000)
    scene.until(5000)
    (cut,) = scene.interrupts()
    assert (cut.cause, cut.at_ms) == ("voice", 2600)
    assert not scene.floor.gate_closed


def test_with_the_engine_back_only_words_commit() -> None:
    scene = talking()
    scene.do(TranscriberFailed("socket"))
    scene.do(TranscriberBack())
    scene.voice(2000, 3000)
    scene.at(3160, final("", 2000, 3000))
    scene.until(5000)
    assert not scene.interrupts()


def test_an_engine_that_fails_during_the_wait_is_not_waited_for() -> None:
    scene = talking()
    scene.voice(2000, 2400)
    scene.at(2500, TranscriberFailed("socket"))
    scene.until(4000)
    assert scene.when(ReleaseOutput) == 2750


def test_the_words_are_asked_for_early_and_new_voice_voids_that() -> None:
    scene = Scene().greeted()
    scene.voice(4000, 4500)
    scene.until(4800)
    assert scene.of(DecodeNow) == [(4660, DecodeNow(4500))]
    scene.voice(5000, 5300)
    scene.voice(5400, 6000)
    scene.until(7000)
    assert [ms for ms, _ in scene.of(DecodeNow)] == [4660, 6160]


def test_noise_in_the_first_second_does_not_cost_the_greeting() -> None:
    """A02: heard whole, in order; no empty turn; speaking again in time."""
    scene = Scene(CallSettings(interruptions=InterruptionSettings(min_words=2)))
    greeting = scene.reply("Good morning, Harbour Clinic, how can I help?", ms=3000)
    scene.voice(200, 350)
    scene.until(6000)
    assert scene.player.finished == [greeting]
    assert len(scene.starts()) == 1
    assert not scene.of(FlushOutput)


def test_a_second_noise_does_not_resume_twice() -> None:
    """A13."""
    scene = talking()
    for start in (2000, 2900):
        scene.voice(start, start + 300)
        scene.at(start + 460, final("", start, start + 300))
    scene.until(6000)
    assert len(scene.of(ReleaseOutput)) == len(scene.of(HoldOutput))


def test_endless_noise_while_listening_raises_the_floor_and_does_not_stop_the_silence_clock() -> (
    None
):
    scene = Scene().greeted()
    scene.at(4060, VoiceStarted(4000))
    scene.at(4200, VoiceConfirmed(4000))
    scene.until(30_000)
    assert len(scene.of(RaiseNoiseFloor)) == 1
    assert any(start.cause == "silence" for start in scene.starts())


def test_babble_after_the_words_does_not_keep_the_turn_open() -> None:
    scene = Scene().greeted()
    scene.at(4060, VoiceStarted(4000))
    scene.at(4200, VoiceConfirmed(4000))
    scene.at(6000, final("A table for two.", 4000, 5600))
    scene.until(13_000)
    assert scene.starts()[-1].cause == "input"


def test_stale_voice_is_counted_and_changes_nothing() -> None:
    scene = talking()
    scene.voice(2000, 2400)
    scene.until(5000)
    before = len(scene.log)
    scene.do(VoiceStarted(2000))
    scene.do(VoiceConfirmed(1000))
    scene.do(VoiceEnded(900, 1000, 100, True))
    assert len(scene.log) == before
    assert scene.floor.stale == {"VoiceStarted": 1, "VoiceConfirmed": 1, "VoiceEnded": 1}


class TestWithASmallEngine:
    """The embedded engine has to be believed first."""

    @pytest.mark.parametrize(
        ("heard", "commits"),
        [
            (partial("wait", 2000, 2300, logprob=-0.3), True),
            (partial("wait", 2000, 2200, logprob=-0.3), False),  # too little voice
            (partial("wait", 2000, 2300, logprob=-0.9), False),
            (partial("cancel my order", 2000, 2600, logprob=-0.8), True),
            (partial("table four", 2000, 2400, logprob=-0.2), False),  # under 500 ms
            (partial("Ava", 2000, 2800, logprob=-0.1), False),  # one word
            (final("No.", 2000, 2300, logprob=-0.7), True),
            (final("table four", 2000, 2600, logprob=-0.9), True),
            (final("Thursday", 2000, 2500, logprob=-0.2), True),
            (final("Ava", 2000, 2500, logprob=-0.8), False),
            (final("Ava", 2000, 3000, logprob=-0.8), True),  # long, so no garble
            (final("Nice", 2000, 2400, verdict="backchannel"), False),
            (final("I want you", 2000, 2500, verdict="backchannel"), False),
            (final("Mama,", 2000, 2400, logprob=-0.1, verdict="garble"), False),
            (final("Thank you for watching", 2000, 2500), False),
            (final("You", 2000, 2500), False),
            (final("one two three four five six seven eight nine ten", 2000, 2100), False),
            (final("I don't I don't I don't I don't", 2000, 3800), False),
        ],
    )
    def test_what_commits(self, heard: object, commits: bool) -> None:
        scene = talking(strong=False)
        scene.voice(2000, 2900)
        scene.until(2800)
        scene.do(heard)  # type: ignore[arg-type]
        assert bool(scene.interrupts()) is commits

    def test_a_short_garble_is_released_like_a_backchannel(self) -> None:
        scene = talking(strong=False)
        scene.voice(2000, 2500)
        scene.at(2700, final("Ava", 2000, 2500, logprob=-0.9))
        scene.until(4000)
        assert scene.records("release")[0]["reason"] == "backchannel"
        assert not scene.interrupts()

    def test_words_that_have_interrupted_cannot_be_taken_back(self) -> None:
        scene = talking(strong=False)
        scene.voice(2000, 2900)
        scene.at(2700, partial("cancel my order", 2000, 2600))
        scene.at(3100, final("", 2000, 2900))
        scene.until(6000)
        assert scene.starts()[-1].input is not None
        assert scene.starts()[-1].input.text == "cancel my order"

    def test_noise_taken_for_a_word_while_listening_is_no_turn(self) -> None:
        scene = Scene(strong=False).greeted()
        scene.voice(4000, 4300)
        scene.at(4400, partial("Ava", 4000, 4200))
        scene.at(4500, final("", 4000, 4300))
        scene.until(7000)
        assert len(scene.starts()) == 1
        assert not scene.floor.gate_closed

    def test_words_it_was_sure_of_on_the_way_stand_when_its_end_finds_none(self) -> None:
        scene = Scene(strong=False).greeted()
        scene.voice(4000, 5500)
        scene.at(5000, partial("How old is the bridge", 4000, 4900, logprob=-0.3))
        scene.at(5700, final("", 4000, 5500))
        scene.until(9000)
        assert scene.starts()[-1].input is not None
        assert scene.starts()[-1].input.text == "How old is the bridge"


def test_words_over_a_protected_line_that_had_just_begun_hold_it_until_they_end() -> None:
    """The line waits for the caller, is heard whole, and their words are no noise."""
    scene = Scene()
    scene.do(VoiceStarted(0))
    notice = scene.reply("This call is recorded.", ms=2000, protected=True)
    scene.do(SayStarted(notice))
    scene.at(150, VoiceConfirmed(0))
    scene.at(1000, partial("How old is the bridge", 0, 900))
    scene.at(3020, VoiceEnded(0, 3000, 3000, True))
    scene.at(3200, final("How old is the bridge?", 0, 3000))
    scene.until(3300)
    assert scene.floor.gate_closed
    assert not scene.of(RaiseNoiseFloor)
    scene.until(9000)
    assert scene.player.finished[0] == notice
    assert scene.starts()[-1].input is not None
    assert not scene.of(FlushOutput)


def test_speech_that_no_stt_answers_for_gets_an_apology() -> None:
    """N03: a recognizer that hangs must not look like an agent that ignores the caller."""
    scene = Scene().greeted()
    scene.voice(5000, 6000)
    scene.until(9000)
    assert [text for _, text in scene.spoken()] == [CallSettings().apology]
    assert scene.records("problem")[0]["reason"] == "not_transcribed"


def test_a_cough_that_no_stt_answers_for_gets_none() -> None:
    scene = Scene().greeted()
    scene.voice(5000, 5200)
    scene.until(9000)
    assert scene.spoken() == []
