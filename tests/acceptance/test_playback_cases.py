"""Barge-in and playback, in whole calls: what the caller hears, and when it stops."""

import json

import numpy as np
import pytest

from runtime.agent import CallSettings, InterruptionSettings
from runtime.models.scripted_model import Say
from tests.acceptance.stage import Backstage, Played, hangs_up, noise, play, says, silero, voice
from tests.acceptance.voices import LegibleTts, PlannedTts, Samples
from tests.fakes.projects import response
from voice.audio.format import AudioFormat
from voice.hearing.ports import SttHints, SttStream
from voice.hearing.stt_scripted import ScriptedStt
from voice.replay.far_end import Conditions, Echo, MarkFaults
from voice.speaking.tts_scripted import ScriptedTts

LONG = (
    "We are open from nine to five on weekdays. On Saturday we open at ten, and we close at two in "
    "the afternoon. On Sunday there is nobody here at all."
)
LENGTH_MS = len(LONG) * 65
TWO_WORDS = CallSettings(interruptions=InterruptionSettings(min_words=2), silence_timeout_ms=60_000)


def _heard_whole(played: Played, text: str, say: int = 1) -> None:
    assert played.texts()[say] == (text, "heard", len(text)), played.trace()


def _sound_after(played: Played, at_ms: float) -> float:
    """When the call sent its next frame of sound after ``at_ms``."""
    return next((s.t_ms for s in played.sent if s.kind == "sound" and s.t_ms > at_ms), 1e9)


def test_an_interrupted_answer_stops_at_the_far_end_and_stays_stopped() -> None:
    """A01: nine seconds, delivered at once; the caller says stop in the third."""
    played = play(
        [Say(LONG), Say("Yes?")],
        says("When are you open?", "0.5s"),
        says("Stop please.", "agent_starts+3s", 1.0),
    )
    onset = played.recording.lines[1].start_ms
    commit = played.only("commit")["t_ms"]
    clear = next(s.t_ms for s in played.sent if s.kind == "clear")
    assert onset <= clear <= onset + 200 and clear <= commit
    next_turn = played.named("turn_started")[-1]["t_ms"]
    assert _sound_after(played, clear) >= next_turn, "no frame of that reply after the clear"
    assert played.last_sound_ms(next_turn) <= onset + 200
    _, state, chars = played.texts()[1]
    assert state == "cut" and 2600 <= chars * 65 <= 3200


def test_the_far_end_is_never_far_ahead_of_what_is_heard() -> None:
    """A01: whatever the engine delivers, no more than the lead lies in the far end's buffer."""
    played = play([Say(LONG)], says("When are you open?", "0.5s"))
    start = played.named("say_started")[0]["t_ms"] - 20
    sent_ms = 0.0
    for item in played.sent:
        if item.kind == "sound":
            sent_ms += item.size / 32
            assert sent_ms - (item.t_ms - start) <= 260


@pytest.mark.parametrize("sure", [True, False])
def test_a_cough_in_the_first_second_costs_no_word_of_the_greeting(sure: bool) -> None:
    """A02: whole, in order, at most one word twice; no turn; goes on soon after the noise."""
    greeting = "Good morning, Harbour Clinic, how can I help?"
    played = play(
        [],
        noise("200ms", 0.15),
        greeting=greeting,
        settings=TWO_WORDS,
        detector=silero() if sure else None,
    )
    _heard_whole(played, greeting)
    assert len(played.named("turn_started")) == 1
    assert played.named("hold"), "the cough is heard as a possible voice"
    assert played.named("release")[-1]["t_ms"] <= 350 + 500
    extra_ms = played.sound_ms(0, 60_000) - len(greeting) * 65
    assert -20 <= extra_ms <= 65 * len("Harbour ")


def test_marks_that_were_never_sent_or_come_too_early_move_nothing() -> None:
    """A04: unknown, empty, early, repeated: counted and ignored; each turn ends by its own."""

    def mark(stage: Backstage, name: str) -> None:
        stage.call.received(json.dumps({"type": "mark", "name": name}))

    def lie(stage: Backstage) -> None:
        mine = [s.name for s in stage.sent if s.kind == "mark"]
        for name in ("t9c7", "", mine[-1], mine[0], mine[-1], mine[-1], "9999"):
            mark(stage, name)

    played = play(
        [Say(LONG), Say("That was the second answer, and it is heard to its end.")],
        says("When are you open?", "0.5s"),
        says("Stop please.", "agent_starts+3s", 1.0),
        during=[(at, lie) for at in (2500.0, 3000.0, 4000.0, 5000.0, 8000.0)],
    )
    assert sum(played.ignored_marks.values()) >= 10
    _, state, chars = played.texts()[1]
    assert state == "cut" and 2600 <= chars * 65 <= 3200
    second = played.only("say_settled", say=2)
    text = played.texts()[2][0]
    assert second["outcome"] == "heard"
    assert second["ended_ms"] - second["started_ms"] >= len(text) * 65 - 60


@pytest.mark.parametrize(
    "marks",
    [
        MarkFaults(lose_every=1),
        MarkFaults(rename_every=1),
        MarkFaults(repeat_every=1),
        MarkFaults(late_every=1, late_by_ms=700),
        MarkFaults(lose_every=3, late_every=2, repeat_every=5),
    ],
)
def test_a_client_that_is_bad_at_marks_changes_nothing_of_what_is_remembered(
    marks: MarkFaults,
) -> None:
    """A04, B02, B03: lost, renamed, repeated and late marks."""
    played = play(
        [Say(LONG), Say("Yes?")],
        says("When are you open?", "0.5s"),
        says("Stop please.", "agent_starts+3s", 1.0),
        conditions=Conditions(marks=marks),
    )
    _, state, chars = played.texts()[1]
    assert state == "cut" and 1500 <= chars * 65 <= 3200
    assert played.texts()[2][1] == "heard"


def test_sound_that_the_engine_delivers_too_late_is_never_sent() -> None:
    """A05: interrupted before the first chunk, which comes all the same."""
    tts = LegibleTts(delay_s=0.9)
    played = play(
        [Say("Old words that nobody wants."), Say("New words, all of them.")],
        says("This is my question.", "0.5s", 0.8),
        says("Stop, another one.", "2.2s", 1.0),
        tts=tts,
        strict=False,
    )
    commit = played.only("commit")["t_ms"]
    assert "Old words that nobody wants." in tts.requests, "it was asked for, and under way"
    assert tts.played("Old words that nobody wants.", played.recording.heard) == 0
    assert _sound_after(played, 0.0) > commit
    texts = {text: (state, chars) for text, state, chars in played.texts().values()}
    assert texts["New words, all of them."] == ("heard", len("New words, all of them."))
    assert "Old words" not in str(played.prompt())


def test_a_reply_to_half_a_sentence_is_never_heard() -> None:
    """A06: the caller goes on before its first sound; one turn with both parts, one answer."""
    played = play(
        [Say("What would you like?"), Say("A table for six, of course.")],
        says("I would like a table.", "1s", 1.0),
        says("For six please.", "2.9s", 1.2),
        tts=LegibleTts(delay_s=0.4),
    )
    assert len(played.named("reopened")) == 1, played.trace()
    assert played.prompt() == [("user", "I would like a table. For six please.")]
    heard = [text for text, _, chars in played.texts().values() if chars]
    assert heard == ["A table for six, of course."]
    assert played.sound_ms(0, 4100) == 0.0, "not a sound while the caller had the floor"


def test_what_was_to_follow_a_protected_sentence_gives_way_to_a_new_question() -> None:
    """A07: the protected one is finished, the waiting one dropped, the new answer given."""
    played = play(
        [Say("We open at nine.")],
        says("When do you open?", "500ms", 1.2),
        greeting=[
            response(
                "utter_session_notice", "This call is recorded for training.", interruptible=False
            ),
            response(
                "utter_session_start",
                "I can tell you all about our opening hours and much more.",
            ),
        ],
    )
    states = [(state, chars > 0) for _, state, chars in played.texts().values()]
    assert states == [("heard", True), ("dropped", False), ("heard", True)], played.trace()
    assert played.prompt()[-1] == ("user", "When do you open?")
    assert "all about" not in str(played.prompt())


def test_an_engine_that_never_answers_leaves_nobody_mute() -> None:
    """A08: interrupted between the request and its first sound; the next words are answered."""
    played = play(
        [Say("This will never be heard."), Say("Hello, I am here.")],
        says("Tell me something.", "0.3s", 0.8),
        says("Wait, hello?", "2.2s", 0.8),
        tts=PlannedTts(hangs=[1]),
    )
    assert played.texts()[1][1:] == ("dropped", 0)
    assert played.texts()[2][1] == "heard"
    assert "never be heard" not in str(played.prompt())


@pytest.mark.parametrize("at_s", [2.0, 4.8])
def test_words_during_a_protected_sentence_are_answered_after_it(at_s: float) -> None:
    """A09: it plays to its end without a gap, nothing is cleared, nothing is lost."""
    notice = (
        "This call is recorded for training, and by staying on the line you agree to the terms."
    )
    played = play(
        [Say(LONG), Say("Of course.")],
        says("My number is four four one nine.", f"{at_s}s", 1.5),
        says("Stop, wait.", "#2:say_starts+2s", 1.0),
        greeting=[response("utter_session_notice", notice, interruptible=False)],
        stt=ScriptedStt(["My number is four four one nine.", "Stop, wait."]),
    )
    settled = played.only("say_settled", say=1)
    assert settled["outcome"] == "heard"
    assert abs(played.sound_ms(0, settled["t_ms"]) - len(notice) * 65) <= 25
    assert not [s for s in played.sent if s.kind == "clear" and s.t_ms <= settled["t_ms"]]
    turns = [f for f in played.named("turn_started") if f["reason"] == "speech"]
    assert turns[0]["text"] == "My number is four four one nine."
    assert turns[0]["t_ms"] >= settled["t_ms"]
    assert played.texts()[2][1] == "cut", "barge-in works in the reply that follows"


def test_a_hang_up_during_a_protected_sentence_ends_the_call_at_once() -> None:
    """A09"""
    played = play(
        [],
        hangs_up("1500ms"),
        greeting=[
            response(
                "utter_session_notice", "This can not be talked over. " * 3, interruptible=False
            )
        ],
    )
    assert played.only("call_ended")["t_ms"] <= 1520
    assert played.texts()[1][1] == "cut"


def test_interrupted_turns_give_their_speech_streams_back() -> None:
    """A10: eight turns interrupted before a sound, with an engine that has two places."""
    texts = [f"Question number {n}." for n in range(8)]
    lines = [says(text, f"{0.3 + 2.2 * n}s", 0.8) for n, text in enumerate(texts)]
    tts = PlannedTts(delay_s=1.6, most_open=2)
    played = play(
        [*[Say("An answer that comes too late.")] * 7, Say("This answer comes in time.")],
        *lines,
        tts=tts,
        strict=False,
    )
    assert tts.opened >= 8 and tts.most_open <= 2
    assert tts.closed == tts.opened
    assert [state for _, state, chars in played.texts().values() if chars] == ["heard"]
    assert played.result_problems() == []


def test_the_first_word_of_an_interruption_is_not_lost() -> None:
    """A12: the STT gets what came 300 ms before the voice, and every frame from there on."""
    stt = _Listening(["When are you open?", "Cancel the first one."])
    played = play(
        [Say(LONG), Say("Cancelled.")],
        says("When are you open?", "0.5s", 1.0),
        says("Cancel the first one.", "agent_starts+3s", 1.6),
        stt=stt,
        settings=TWO_WORDS,
    )
    onset = played.recording.lines[1].start_ms
    fed = [end for end in stt.fed if end > onset - 500]
    assert fed[0] <= onset - 300 + 60
    last = next(i for i, end in enumerate(fed) if end >= onset + 1600)
    assert np.all(np.diff(fed[: last + 1]) == 20), "not a frame is missing or fed twice"
    assert played.prompt()[-1] == ("user", "Cancel the first one.")


@pytest.mark.parametrize("second", [False, True])
def test_a_noise_pauses_a_long_answer_and_it_goes_on_by_itself(second: bool) -> None:
    """A13: no words follow; the line is finished, each sound of it once or at a cut word twice."""
    noises = [noise("agent_starts+3s", 0.6)]
    if second:
        noises.append(noise("agent_starts+6s", 0.6))
    played = play([], *noises, greeting=LONG)
    _heard_whole(played, LONG)
    assert len(played.named("turn_started")) == 1
    assert 1 <= len(played.named("release")) <= len(played.named("hold"))
    extra_ms = played.sound_ms(0, 60_000) - LENGTH_MS
    assert -30 <= extra_ms <= len(noises) * 65 * len("afternoon. ")
    assert played.only("say_settled")["ended_ms"] <= LENGTH_MS + len(noises) * 1500 + 200


class _SpeechTts(ScriptedTts):
    """A human voice: what comes back from a loudspeaker sounds like somebody speaking."""

    def sound_of(self, text: str) -> Samples:
        return voice(len(text) * 0.065, self.rate_hz)


@pytest.mark.parametrize("sure", [True, False])
def test_a_short_reply_is_not_cut_by_its_own_echo(sure: bool) -> None:
    """A14: 18 dB down, 120 ms late; no interruption, no turn; then a caller is heard as ever."""
    reply = "Yes, that is all done now."
    played = play(
        [Say(reply), Say("It was a pleasure.")],
        says("Is it done?", "0.5s", 0.8),
        says("Thanks for that.", "#1:say_ends+1500ms", 0.8),
        tts=_SpeechTts(65, rate_hz=16_000),
        conditions=Conditions(echo=Echo(down_db=18.0, delay_ms=120.0)),
        detector=silero() if sure else None,
    )
    _heard_whole(played, reply)
    spoken = [f["text"] for f in played.named("turn_started") if f["reason"] == "speech"]
    assert spoken == ["Is it done?", "Thanks for that."]


class _Listening(ScriptedStt):
    """Notes which frames it is given."""

    def __init__(self, texts: list[str]) -> None:
        super().__init__(texts)
        self.fed: list[int] = []

    def open(self, fmt: AudioFormat, hints: SttHints, sink) -> SttStream:  # type: ignore[no-untyped-def]
        stream = super().open(fmt, hints, sink)
        feed = stream.feed

        def noted(frame: bytes, samples: Samples, end_ms: int, voiced: bool) -> None:
            self.fed.append(end_ms)
            feed(frame, samples, end_ms, voiced)

        stream.feed = noted  # type: ignore[method-assign]
        return stream
