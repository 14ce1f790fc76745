"""Turns: numbers, reopening, late words, eager ends, lines of dead turns."""

from runtime.agent import (
    AgentLost,
    AskTurn,
    CallReady,
    ConfirmTurn,
    Expect,
    Listen,
    RetractTurn,
    Say,
    SayText,
    TurnEnded,
    Word,
    Working,
)
from tests.voice.floor.scene import CALL, Scene, final, partial
from voice.floor.actions import (
    AllowSay,
    DropSay,
    DropTranscript,
    FlushOutput,
    LearnCallerLevel,
    SpeakLine,
)
from voice.floor.events import (
    FramesStopped,
    SayFailed,
    SpeakerFinished,
    SpeakerResumed,
    VoiceConfirmed,
    VoiceStarted,
)
from voice.floor.floor import Floor


def text_of(scene: Scene, nth: int = -1) -> str:
    given = scene.starts()[nth].input
    assert given is not None
    return given.text


def test_the_call_opens_with_turn_one_once() -> None:
    scene = Scene()
    scene.do(CallReady(CALL, "c", scene.settings))
    (start,) = scene.starts()
    assert (start.turn, start.cause, start.at_ms) == (1, "opened", 0)


def test_a_turn_carries_its_words_with_onset_and_end() -> None:
    scene = Scene().greeted()
    scene.voice(4000, 5000)
    words = (Word("a", 4050, 4200), Word("table.", 4300, 4950))
    scene.at(5200, final("A table.", 3700, 5000, words=words))
    scene.until(7000)
    given = scene.starts()[-1].input
    assert given is not None
    assert (given.kind, given.text, given.onset_ms, given.end_ms) == (
        "speech",
        "A table.",
        4050,
        5000,
    )
    assert given.words == words


def test_the_lead_in_before_the_voice_is_not_part_of_the_turn() -> None:
    scene = Scene().greeted()
    scene.voice(4000, 5000)
    scene.at(5200, final("A table.", 3700, 5000))
    scene.until(7000)
    given = scene.starts()[-1].input
    assert given is not None
    assert given.onset_ms == 4000


def test_a_turn_teaches_the_caller_s_level_and_frees_the_transcript() -> None:
    scene = Scene().greeted()
    scene.says(4000, 5000, "A table.")
    scene.until(7000)
    assert [a for _, a in scene.of(LearnCallerLevel)] == [LearnCallerLevel(4000, 5000)]
    assert [a for _, a in scene.of(DropTranscript)] == [DropTranscript(5000)]


def test_a_caller_who_resumes_before_the_answer_is_heard_is_not_talked_over() -> None:
    """A06, B09: one turn, one reply, nothing of the first reply is heard."""
    scene = Scene().greeted()
    scene.says(4000, 5000, "I would like a table.")
    scene.until(5800)
    first = scene.reply("Yes?", ms=1000)
    scene.voice(5820, 7000)
    # the far end starts nothing while the gate is closed
    scene.player.allowed.clear()
    scene.at(7200, final("For six people.", 5820, 7000))
    scene.until(9000)
    (cut,) = scene.interrupts()
    assert cut.cause == "reopened"
    assert text_of(scene) == "I would like a table. For six people."
    start = scene.starts()[-1]
    assert start.reopens == cut.turn
    assert start.input is not None
    assert (start.input.onset_ms, start.input.end_ms) == (4000, 7000)
    assert first not in scene.player.finished


def test_a_reopened_turn_can_be_reopened_again() -> None:
    scene = Scene().greeted()
    scene.says(4000, 4500, "I would like.")
    scene.says(5200, 5700, "A table.")
    scene.says(6400, 6900, "Outside.")
    scene.until(9000)
    assert text_of(scene) == "I would like. A table. Outside."
    assert [cut.cause for cut in scene.interrupts()] == ["reopened"] * len(scene.interrupts())
    assert scene.starts()[-1].reopens == scene.starts()[-2].turn


def test_a_resumed_turn_keeps_the_expectation_it_answers() -> None:
    """D05: digits go on being digits after a reopening."""
    scene = Scene()
    scene.reply("Your number?", ms=500, ends=False)
    scene.do(Listen(CALL, 1, Expect("digits", 6)))
    scene.do(TurnEnded(CALL, 1, "done"))
    scene.until(2000)
    scene.says(2000, 2800, "oh four one")
    scene.says(5000, 5900, "seven seven two")
    scene.until(6500)
    assert text_of(scene) == "oh four one seven seven two"
    assert scene.starts()[-1].at_ms <= 5900 + 420


def test_digits_are_one_turn_across_a_pause_when_digits_are_expected() -> None:
    """D05."""
    scene = Scene()
    scene.reply("Your number?", ms=500, ends=False)
    scene.do(Listen(CALL, 1, Expect("digits", 6)))
    scene.do(TurnEnded(CALL, 1, "done"))
    scene.until(2000)
    scene.says(2000, 2800, "oh four one")
    scene.says(4200, 5000, "seven seven two")
    scene.until(8000)
    assert text_of(scene) == "oh four one seven seven two"
    assert not scene.interrupts()


def test_late_words_without_an_onset_are_merged_while_nothing_was_heard() -> None:
    """D01."""
    scene = Scene().greeted()
    scene.voice(4000, 5100)
    scene.at(5300, final("sure, why", 4000, 4700, segment=1))
    scene.at(5350, SpeakerFinished(True, 5100))
    scene.at(5750, final("not", 4800, 5100, segment=2))
    scene.until(8000)
    assert text_of(scene) == "sure, why not"
    assert len(scene.interrupts()) == 1
    assert scene.interrupts()[0].cause == "reopened"


def test_late_words_do_not_restart_a_turn_whose_tool_has_started() -> None:
    """D01: the tool runs once, and no new turn answers the tail."""
    scene = Scene().greeted()
    scene.voice(4000, 5100)
    scene.at(5300, final("sure, why", 4000, 4700, segment=1))
    scene.at(5350, SpeakerFinished(True, 5100))
    scene.until(5600)
    scene.tool("weather")
    scene.at(5750, final("not", 4800, 5100, segment=2))
    scene.until(8000)
    assert not scene.interrupts()
    assert len(scene.starts()) == 2
    assert scene.records("suppressed")[-1] == {"t": 5750, "reason": "late_words", "text": "not"}


def test_a_final_for_words_taken_from_a_partial_is_not_said_twice() -> None:
    scene = Scene().greeted()
    scene.voice(4000, 5000)
    scene.at(4900, partial("A table for two", 4000, 4800))
    scene.until(8000)
    assert text_of(scene) == "A table for two"
    scene.do(final("A table for two.", 4000, 5000))
    scene.until(9000)
    assert len(scene.starts()) == 2
    assert not scene.interrupts()


def test_a_leftover_final_does_not_end_the_next_turn() -> None:
    """D02."""
    scene = Scene().greeted()
    scene.says(4000, 4800, "Which ones are there?")
    scene.until(5400)
    scene.reply("Red and blue.", ms=500)
    scene.until(6500)
    scene.do(final("okay", 4500, 4800))
    scene.says(9000, 10_000, "The blue one please.", final_at=10_600)
    scene.until(10_590)
    assert len(scene.starts()) == 2
    scene.until(13_000)
    assert text_of(scene) == "The blue one please."


def test_the_same_final_counts_once() -> None:
    """D03."""
    scene = Scene().greeted()
    scene.voice(4000, 5000)
    scene.at(5100, final("four four one nine", 4000, 5000, segment=1))
    scene.at(5200, final("four four one nine", 4000, 5000, segment=1))
    scene.until(8000)
    assert text_of(scene) == "four four one nine"
    scene.reply(ms=500)
    scene.voice(11_000, 12_000)
    scene.at(12_200, final("four four one nine", 11_000, 12_000, segment=2))
    scene.until(15_000)
    assert len(scene.starts()) == 3
    assert text_of(scene) == "four four one nine"


def test_words_without_any_voice_event_open_a_turn() -> None:
    scene = Scene().greeted()
    scene.do(final("A table please.", 2500, 3000))
    scene.until(6000)
    assert text_of(scene) == "A table please."


def test_a_final_that_comes_before_the_voice_ends_is_no_end_of_turn() -> None:
    scene = Scene().greeted()
    scene.voice(4000, 7000)
    scene.at(5000, final("I would like a table.", 4000, 4900))
    scene.at(7200, final("For six.", 5000, 7000))
    scene.until(6900)
    assert len(scene.starts()) == 1
    scene.until(9000)
    assert text_of(scene) == "I would like a table. For six."


def test_frames_that_stop_end_the_caller_s_speech() -> None:
    """D06: the turn closes with what was heard."""
    scene = Scene().greeted()
    scene.at(4060, VoiceStarted(4000))
    scene.at(4160, VoiceConfirmed(4000))
    scene.at(4400, partial("A table", 4000, 4400))
    scene.at(5400, FramesStopped(4400))
    scene.until(8000)
    assert text_of(scene) == "A table"
    given = scene.starts()[-1].input
    assert given is not None
    assert given.end_ms == 4400


def test_frames_that_stop_without_words_leave_the_silence_clock_running() -> None:
    """D06."""
    scene = Scene().greeted()
    scene.at(4060, VoiceStarted(4000))
    scene.at(4160, VoiceConfirmed(4000))
    scene.at(5400, FramesStopped(4400))
    scene.until(16_000)
    assert [s.cause for s in scene.starts()] == ["opened", "silence"]


def test_several_ends_of_one_utterance_start_one_turn() -> None:
    """D11."""
    scene = Scene().greeted()
    scene.says(4000, 4800, "A table please.")
    for ms in (5050, 5300, 5600):
        scene.at(ms, SpeakerFinished(True, 4800))
    scene.until(8000)
    assert len(scene.starts()) == 2


def test_an_engine_s_own_end_starts_the_turn_at_once() -> None:
    scene = Scene().greeted()
    scene.says(4000, 4800, "and then")
    scene.at(5050, SpeakerFinished(True, 4800))
    scene.until(6000)
    assert scene.starts()[-1].at_ms == 5050


def test_an_engine_that_says_nothing_closes_empty() -> None:
    """D14: no reply, nothing waits."""
    scene = Scene().greeted()
    scene.voice(4000, 4800)
    scene.at(4900, final("", 4000, 4800))
    scene.at(4950, SpeakerFinished(True, 4800))
    scene.until(6000)
    assert len(scene.starts()) == 1
    assert not scene.floor.gate_closed


class TestEagerEnds:
    def eager(self) -> Scene:
        scene = Scene().greeted()
        scene.says(4000, 4800, "A table for two")
        scene.at(5010, SpeakerFinished(False, 4800))
        return scene.until(5100)

    def test_an_eager_end_starts_an_uncertain_turn_that_says_nothing(self) -> None:
        scene = self.eager()
        start = scene.starts()[-1]
        assert start.certain is False
        say = scene.reply("For when?", ms=500)
        scene.until(5300)
        assert say not in scene.allowed()

    def test_its_confirmation_lets_it_speak(self) -> None:
        scene = self.eager()
        say = scene.reply("For when?", ms=500)
        scene.do(SpeakerFinished(True, 4800))
        assert scene.of(ConfirmTurn)
        assert scene.allowed()[-1] == say
        assert len(scene.starts()) == 2

    def test_its_retraction_gives_the_words_back(self) -> None:
        scene = self.eager()
        say = scene.reply("For when?", ms=500)
        scene.do(SpeakerResumed(5100))
        assert [a for _, a in scene.of(DropSay)] == [DropSay(say)]
        (retracted,) = [a for _, a in scene.of(RetractTurn)]
        assert isinstance(retracted, RetractTurn)
        scene.voice(5150, 5900)
        scene.at(6100, final("or three.", 5150, 5900))
        scene.at(6150, SpeakerFinished(True, 5900))
        scene.until(7000)
        assert text_of(scene) == "A table for two or three."
        assert scene.starts()[-1].turn == retracted.turn + 1
        assert not scene.interrupts()

    def test_more_words_retract_it_too(self) -> None:
        scene = self.eager()
        scene.voice(5200, 5900)
        scene.at(5700, partial("or three", 5200, 5600))
        scene.until(5800)
        assert scene.of(RetractTurn)

    def test_an_engine_that_never_says_is_not_waited_for(self) -> None:
        scene = self.eager()
        scene.until(9000)
        assert scene.of(ConfirmTurn)

    def test_a_lost_agent_gives_the_words_back(self) -> None:
        scene = self.eager()
        scene.do(AgentLost(CALL, "killed"))
        scene.until(9000)
        assert scene.of(RetractTurn)
        assert text_of(scene) == "A table for two"
        assert scene.starts()[-1].certain


def test_a_line_of_a_dead_turn_is_dropped_and_counted() -> None:
    """A05, A07."""
    scene = Scene().greeted()
    scene.says(4000, 4600, "A table, please.")
    scene.until(5500)
    scene.reply("Of course.", ms=3000)
    scene.until(6000)
    scene.says(6000, 6600, "No, stop.")
    scene.until(9000)
    dead = scene.turn - 1
    scene.do(Say(CALL, dead, 90, "reply"))
    scene.do(SayText(CALL, dead, 90, "Too late."))
    assert scene.of(DropSay)[-1][1] == DropSay(90)
    assert 90 not in scene.allowed()
    assert scene.floor.stale == {"Say": 1, "SayText": 1}


def test_a_barge_in_before_any_sound_leaves_the_floor_listening() -> None:
    """A08: no event of a sound that never was is waited for."""
    scene = Scene().greeted()
    scene.says(4000, 4600, "A table, please.")
    scene.until(5500)
    scene.tool("book")
    scene.do(Say(CALL, scene.turn, 50, "reply"))
    scene.says(5600, 6200, "No, stop.")
    scene.until(8000)
    assert len(scene.interrupts()) == 1
    reply = scene.reply("Stopped.", ms=400)
    scene.says(10_000, 10_500, "Hello?")
    scene.until(12_000)
    assert reply in scene.player.finished
    assert text_of(scene) == "Hello?"


def test_words_in_a_protected_line_open_the_next_turn_and_drop_the_rest() -> None:
    """A07, A09: no clear while it is heard; the reply behind it never comes."""
    scene = Scene()
    notice = scene.reply("This call is recorded.", ms=6000, protected=True, ends=False)
    reply = scene.reply("How can I help?", ms=2000)
    scene.says(2000, 3500, "My number is four four one nine.")
    scene.until(6000)
    assert not scene.of(FlushOutput)
    assert not scene.interrupts()
    scene.until(9000)
    assert scene.player.finished == [notice]
    assert reply not in scene.allowed()
    assert text_of(scene) == "My number is four four one nine."
    answer = scene.reply("Thank you.", ms=4000)
    scene.until(10_500)
    scene.says(10_500, 11_000, "No, wait.")
    scene.until(13_000)
    assert len(scene.interrupts()) == 2
    assert answer in scene.allowed()


def test_words_before_a_protected_line_is_audible_do_not_cancel_it() -> None:
    scene = Scene()
    scene.says(0, 700, "A table please.")
    scene.until(300)
    notice = scene.reply("This call is recorded.", ms=1500, protected=True)
    scene.until(8000)
    assert scene.player.finished[0] == notice
    assert text_of(scene) == "A table please."
    assert not scene.interrupts()


def test_a_caller_who_speaks_first_is_answered_without_the_greeting() -> None:
    scene = Scene()
    scene.says(100, 900, "I want to book a table.")
    scene.until(600)
    greeting = scene.reply("Good morning.", ms=1000)
    scene.until(3000)
    assert greeting not in scene.player.started
    assert scene.interrupts()[0].cause == "words"
    assert scene.starts()[-1].reopens is None


def test_the_runtime_s_own_turn_waits_for_a_free_floor() -> None:
    scene = Scene().greeted()
    scene.voice(4000, 5000)
    scene.until(4500)
    scene.do(AskTurn(CALL, "report ready"))
    assert scene.starts()[-1].cause == "opened"
    scene.at(5160, final("", 4000, 5000))
    scene.until(6000)
    assert scene.starts()[-1].cause == "asked"


def test_a_lost_agent_costs_an_apology_and_its_turn() -> None:
    scene = Scene().greeted()
    scene.says(4000, 4600, "A table, please.")
    scene.until(5500)
    scene.reply("Of course.", ms=3000)
    scene.until(6000)
    scene.do(AgentLost(CALL, "killed"))
    (spoken,) = [a for _, a in scene.of(SpeakLine)]
    assert isinstance(spoken, SpeakLine)
    assert spoken.kind == "apology"
    assert scene.of(FlushOutput)
    scene.says(8000, 8600, "A table.")
    scene.until(10_000)
    assert scene.starts()[-1].turn == 3


def test_a_lost_agent_with_nothing_running_is_not_noticed() -> None:
    scene = Scene().greeted()
    scene.do(AgentLost(CALL, "killed"))
    assert not scene.of(SpeakLine)


def test_a_line_that_cannot_be_spoken_is_excused_once_in_ten_seconds() -> None:
    scene = Scene().greeted()
    scene.says(4000, 4600, "A table, please.")
    scene.until(5500)
    for _ in range(2):
        say = scene.reply("Of course.", ends=False)
        scene.player.allowed.clear()
        scene.do(SayFailed(say, "tts"))
        scene.until(scene.now + 2000)
    scene.ends()
    kinds = [a.kind for _, a in scene.of(SpeakLine) if isinstance(a, SpeakLine)]
    assert kinds.count("apology") == 1
    scene.until(scene.now + 2000)
    assert scene.floor.state.value == "listening"


def test_messages_of_other_turns_are_counted_not_obeyed() -> None:
    scene = Scene().greeted()
    before = len(scene.log)
    scene.do(Working(CALL, 99, ()))
    scene.do(TurnEnded(CALL, 99, "done"))
    scene.do(Listen(CALL, 99))
    scene.do(AskTurn(CALL + 1, "another call"))
    assert len(scene.log) == before
    assert scene.floor.stale == {"Working": 1, "TurnEnded": 1, "Listen": 1, "AskTurn": 1}


def test_nothing_is_allowed_while_the_caller_has_the_floor() -> None:
    scene = Scene().greeted()
    scene.says(4000, 4600, "A table, please.")
    scene.until(5500)
    scene.voice(5500, 7000)
    scene.until(5700)
    scene.reply("Of course.", ms=500)
    scene.until(7000)
    assert [ms for ms, _ in scene.of(AllowSay) if ms > 5000] == []
    scene.at(7160, final("", 5500, 7000))
    scene.until(8000)
    assert scene.of(AllowSay)[-1][0] == 7350


def test_words_before_the_agent_is_ready_wait_for_it() -> None:
    scene = Scene(ready=False)
    scene.says(100, 700, "A table please.")
    scene.until(3000)
    assert not scene.starts()
    scene.do(CallReady(CALL, "c", scene.settings))
    scene.until(4000)
    assert [s.cause for s in scene.starts()] == ["opened", "input"]


def test_two_floors_share_nothing() -> None:
    scene, other = Scene(), Scene()
    scene.says(100, 700, "A table please.")
    scene.until(3000)
    assert len(other.starts()) == 1
    assert isinstance(other.floor, Floor)
