"""Where stretches of voice begin, are confirmed and end."""

from hypothesis import given
from hypothesis import strategies as st

from runtime.agent import InterruptionSettings
from voice.floor.events import VoiceConfirmed, VoiceEnded, VoiceStarted
from voice.hearing.onset import Onset, VoiceFact

QUIET, LOUD = -65.0, -25.0


class Line:
    """Feeds frames and windows on one clock and keeps the facts."""

    def __init__(self, *, sure: bool = True, still_ms: int = 2000) -> None:
        self.onset = Onset(InterruptionSettings(), sure=sure)
        self.now = 0
        self.facts: list[VoiceFact] = []
        self.frames(still_ms, QUIET, voiced=False)

    def frames(
        self,
        ms: int,
        level_db: float,
        *,
        voiced: bool = True,
        echo_open: bool = True,
        p: float | None = None,
    ) -> list[VoiceFact]:
        """20 ms frames, each followed by a score where ``p`` is given; returns the new facts."""
        before = len(self.facts)
        for _ in range(ms // 20):
            self.now += 20
            self.facts += self.onset.frame(level_db, voiced, self.now, echo_open)
            if p is not None:
                self.facts += self.onset.score(self.now, p)
        return self.facts[before:]


def speaking(ms: int, **settings: bool) -> Line:
    """A line on which a caller has spoken from 2000 ms on, known to be voice after 60 ms."""
    line = Line(**settings)
    line.frames(40, LOUD)
    line.frames(ms - 40, LOUD, p=0.9)
    return line


def test_two_loud_voiced_frames_start_a_stretch_at_the_first_of_them() -> None:
    line = Line()
    assert line.frames(20, LOUD) == []
    assert line.frames(20, LOUD) == [VoiceStarted(onset_ms=2000, snr_db=40.0)]


def test_one_loud_frame_between_quiet_ones_starts_nothing() -> None:
    line = Line()
    for _ in range(20):
        line.frames(20, LOUD)
        line.frames(20, QUIET, voiced=False)
    assert line.facts == []


def test_without_a_sure_detector_three_frames_are_needed_and_confirm_themselves() -> None:
    line = Line(sure=False)
    assert line.frames(40, LOUD) == []
    assert [type(fact) for fact in line.frames(20, LOUD)] == [VoiceStarted, VoiceConfirmed]


def test_voice_less_than_10_db_over_the_noise_starts_nothing() -> None:
    line = Line()
    line.frames(2000, -45.0, voiced=False)
    assert line.frames(400, -36.0) == []


def test_voice_under_52_dbfs_starts_nothing_on_the_stillest_line() -> None:
    line = Line()
    line.frames(2000, -100.0, voiced=False)
    assert line.frames(400, -53.0) == []


def test_a_loud_unvoiced_sound_starts_nothing() -> None:
    assert Line().frames(400, LOUD, voiced=False) == []


def test_echo_starts_nothing_though_both_detectors_hear_a_voice() -> None:
    assert Line().frames(400, LOUD, echo_open=False, p=0.95) == []


def test_the_level_gate_is_off_until_the_caller_is_known_then_softer_voices_start_nothing() -> None:
    line = Line()
    assert line.frames(100, -40.0)
    line.frames(400, QUIET, voiced=False, p=0.0)
    line.onset.learn_level(-25.0)
    assert line.frames(400, -40.0, p=0.9) == []
    assert line.frames(40, -36.0)


def test_the_caller_level_follows_what_is_learnt() -> None:
    onset = Onset(InterruptionSettings(), sure=True)
    assert onset.caller_db is None
    onset.learn_level(-30.0)
    onset.learn_level(-20.0)
    assert onset.caller_db == -25.0


def test_the_sure_detector_confirms_once() -> None:
    line = Line()
    line.frames(40, LOUD)
    facts = line.frames(200, LOUD, p=0.8)
    assert facts == [VoiceConfirmed(onset_ms=2000, probability=0.8)]


def test_a_late_confirmation_belongs_to_the_stretch_that_is_running() -> None:
    line = Line()
    line.frames(300, LOUD, p=0.2)
    assert line.frames(20, LOUD, p=0.6) == [VoiceConfirmed(onset_ms=2000, probability=0.6)]


def test_a_confirmed_stretch_ends_at_its_last_loud_frame_without_the_detectors_hangover() -> None:
    line = speaking(500)
    line.frames(100, QUIET, voiced=False, p=0.7)
    facts = line.frames(20, QUIET, voiced=False, p=0.2)
    assert facts == [VoiceEnded(2000, last_voiced_ms=2500, voiced_ms=500, confirmed=True)]


def test_in_noise_the_sure_detectors_last_window_is_the_end() -> None:
    line = Line(still_ms=20)
    line.frames(2000, -50.0, voiced=False)
    line.frames(500, -30.0, p=0.9)
    line.frames(300, -44.0, voiced=False, p=0.8)
    facts = line.frames(300, -48.5, voiced=False, p=0.1)
    assert [fact.last_voiced_ms for fact in facts if isinstance(fact, VoiceEnded)] == [2820]


def test_a_confirmed_stretch_goes_on_through_a_loud_unvoiced_sound() -> None:
    line = speaking(500)
    assert line.frames(100, -30.0, voiced=False, p=0.2) == []
    line.frames(200, LOUD, p=0.9)
    facts = line.frames(60, QUIET, voiced=False, p=0.1)
    assert facts == [VoiceEnded(2000, last_voiced_ms=2800, voiced_ms=700, confirmed=True)]


def test_noise_that_goes_on_after_the_words_ends_the_stretch_and_starts_no_other() -> None:
    line = speaking(500)
    facts = line.frames(600, LOUD, p=0.1)
    assert [type(fact) for fact in facts] == [VoiceEnded]
    line.frames(200, QUIET, voiced=False)
    assert line.frames(40, LOUD) != []


def test_an_unconfirmed_stretch_ends_60_ms_after_the_cheap_detector_closed() -> None:
    line = Line()
    line.frames(200, LOUD, p=0.1)
    assert line.frames(40, QUIET, voiced=False, p=0.1) == []
    facts = line.frames(20, QUIET, voiced=False, p=0.1)
    assert facts == [VoiceEnded(2000, last_voiced_ms=2200, voiced_ms=200, confirmed=False)]


def test_without_a_sure_detector_the_cheap_one_ends_the_stretch_after_80_ms() -> None:
    line = Line(sure=False)
    line.frames(300, LOUD)
    assert line.frames(60, QUIET, voiced=False) == []
    facts = line.frames(20, QUIET, voiced=False)
    assert facts == [VoiceEnded(2000, last_voiced_ms=2300, voiced_ms=300, confirmed=True)]


def test_a_sure_detector_that_stops_answering_does_not_keep_a_stretch_open() -> None:
    """A13: never held by a voice that is over."""
    line = speaking(300)
    line.frames(300, LOUD)
    facts = line.frames(100, QUIET, voiced=False)
    assert [type(fact) for fact in facts] == [VoiceEnded]


def test_where_only_the_sure_detector_hears_a_voice_both_facts_come_at_once() -> None:
    line = Line()
    line.frames(100, -45.0, voiced=False)
    facts = line.frames(20, -45.0, voiced=False, p=0.7)
    assert [type(fact) for fact in facts] == [VoiceStarted, VoiceConfirmed]


def test_a_soft_onset_is_dated_back_to_the_first_frame_that_may_have_been_voice() -> None:
    line = Line()
    for _ in range(4):
        line.frames(20, -57.0, voiced=False)
        line.frames(20, -50.0)
    facts = line.frames(20, -57.0, voiced=False, p=0.7)
    assert facts[0] == VoiceStarted(onset_ms=2020, snr_db=15.0)


def test_a_gap_in_the_audio_ends_the_stretch_where_the_audio_stopped() -> None:
    """D06: frames stop in the middle of a word."""
    line = speaking(400)
    assert line.onset.gap(2400) == (VoiceEnded(2000, 2400, 400, confirmed=True),)
    assert line.onset.gap(2400) == ()
    line.now += 5000
    assert [type(f) for f in line.frames(40, LOUD)] == [VoiceStarted]


def test_what_was_judged_noise_ends_and_must_be_outshouted_for_a_while() -> None:
    line = Line()
    line.frames(1500, -30.0, p=0.6)
    line.onset.raise_noise_floor(line.now, 4000)
    assert [type(fact) for fact in line.frames(1000, -30.0, p=0.6)] == [VoiceEnded]
    assert [type(fact) for fact in line.frames(40, -18.0)] == [VoiceStarted]


def test_a_raised_floor_never_shuts_out_a_caller_who_is_known() -> None:
    line = Line()
    line.onset.learn_level(-24.0)
    line.frames(1500, -22.0, p=0.6)
    line.onset.raise_noise_floor(line.now, 4000)
    line.frames(200, QUIET, voiced=False, p=0.0)
    assert [type(fact) for fact in line.frames(40, -24.0)] == [VoiceStarted]


def test_a_raised_floor_comes_down_again() -> None:
    line = Line()
    line.frames(500, -30.0, p=0.1)
    line.onset.raise_noise_floor(line.now, 1000)
    line.frames(2500, QUIET, voiced=False, p=0.0)
    assert [type(fact) for fact in line.frames(40, -40.0)] == [VoiceStarted]


def test_the_sure_detector_is_wanted_only_near_sound_that_may_be_voice() -> None:
    line = Line()
    assert not line.onset.wants_sure
    line.frames(20, -50.0)
    assert line.onset.wants_sure
    line.frames(300, QUIET, voiced=False)
    assert not line.onset.wants_sure


@given(
    st.lists(
        st.tuples(
            st.sampled_from([-100.0, -65.0, -50.0, -40.0, -25.0, -5.0]),
            st.booleans(),
            st.booleans(),
            st.none() | st.floats(0, 1),
            st.sampled_from(["frame"] * 12 + ["gap", "noise", "learn"]),
        ),
        max_size=200,
    ),
    st.booleans(),
)
def test_every_start_has_one_end_and_times_never_run_backwards(
    steps: list[tuple[float, bool, bool, float | None, str]], sure: bool
) -> None:
    """A13: no stretch is left open, whatever comes."""
    line = Line(sure=sure, still_ms=400)
    for level_db, voiced, echo_open, p, what in steps:
        if what == "gap":
            line.facts += line.onset.gap(line.now)
        elif what == "noise":
            line.onset.raise_noise_floor(line.now, 1000)
        elif what == "learn":
            line.onset.learn_level(level_db)
        line.frames(20, level_db, voiced=voiced, echo_open=echo_open, p=p if sure else None)
    line.frames(400, -100.0, voiced=False, p=0.0 if sure else None)
    running: int | None = None
    for fact in line.facts:
        match fact:
            case VoiceStarted(onset_ms=onset_ms):
                assert running is None
                running = onset_ms
            case VoiceConfirmed(onset_ms=onset_ms):
                assert running == onset_ms
            case VoiceEnded():
                assert running == fact.onset_ms
                assert fact.onset_ms <= fact.last_voiced_ms <= line.now
                assert 0 <= fact.voiced_ms <= fact.last_voiced_ms - fact.onset_ms
                running = None
    assert running is None
    assert not line.onset.running
