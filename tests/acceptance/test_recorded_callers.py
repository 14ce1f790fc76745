"""Recorded callers, the embedded engines, virtual time: who gets the floor, and how fast."""

import pytest

from tests.acceptance.recorded import replay_scenario
from tests.acceptance.stop_latencies import CHANNELS, GOES_ON, YIELDS
from voice.replay.runner import Channel

pytestmark = [
    pytest.mark.audio,
    # one worker replays all: results are kept, and the models are loaded once
    pytest.mark.xdist_group("recorded_callers"),
]

HOLD_MS = 250
SILENCE_MS = 300
DECIDED_MS = 1200
"""After the caller's last word the line has been given up at the latest."""
PAUSES_MS = 1500
SPOKE_OVER_MS = 800
"""A sentence that begins like a hum ("Yeah, ...") may cost a release before it is understood."""


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("name", YIELDS)
def test_a_caller_who_talks_over_the_agent_gets_the_floor(name: str, channel: Channel) -> None:
    """A01: the line is given up because of what was said."""
    heard = replay_scenario(name, channel=channel)
    stop = heard.stop()
    assert stop.agent_was_speaking
    assert stop.commit_ms is not None, heard.trace()
    sound = heard.scenario.sounds[0]
    assert stop.commit_ms <= sound.end_ms - sound.start_ms + DECIDED_MS
    assert stop.spoke_over_ms <= SPOKE_OVER_MS
    assert heard.opening.outcome == "cut"
    assert 0 < heard.opening.heard_chars < len(heard.opening.text)
    assert len(heard.spoken_turns) == 1
    assert heard.result.failures == ()


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("name", YIELDS)
def test_the_sound_stops_soon_after_the_first_sound_of_the_caller(
    name: str, channel: Channel
) -> None:
    """A01: measured from the caller's recorded onset to the hold and to silence at the far end."""
    stop = replay_scenario(name, channel=channel).stop()
    assert stop.hold_ms is not None and stop.hold_ms <= HOLD_MS
    assert stop.silence_ms is not None and stop.silence_ms <= SILENCE_MS


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("name", ["02_bargein_300ms", "02_bargein_1000ms"])
def test_both_sentences_of_a_caller_take_the_floor(name: str, channel: Channel) -> None:
    """A01, B03: the whole recording from the connect on: the opening goes, then the answer."""
    heard = replay_scenario(name, whole=True, channel=channel)
    for number in (0, 1):
        stop = heard.stop(number)
        assert stop.agent_was_speaking, heard.trace()
        assert stop.hold_ms is not None and stop.hold_ms <= HOLD_MS
        assert stop.commit_ms is not None, heard.trace()
    assert [line.outcome for line in heard.timeline.lines[:2]] == ["cut", "cut"]
    assert len(heard.spoken_turns) == 2


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("name", [*GOES_ON, "18_silence"])
def test_what_is_no_interruption_does_not_end_the_line(name: str, channel: Channel) -> None:
    """A13: hums, coughs and line noise cost short pauses and lose not a word."""
    heard = replay_scenario(name, channel=channel)
    _heard_to_its_end(heard.opening.outcome, heard.opening.heard_chars, heard.opening.text)
    assert heard.named("commit") == []
    assert heard.spoken_turns == []
    assert heard.opening.held_ms <= PAUSES_MS


@pytest.mark.parametrize("channel", CHANNELS)
def test_the_agents_own_voice_out_of_a_loudspeaker_is_no_caller(channel: Channel) -> None:
    """A14: 22 dB down and 60 ms late, with a caller who says nothing."""
    heard = replay_scenario("15_echo_only", silent=True, echo=True, channel=channel)
    _heard_to_its_end(heard.opening.outcome, heard.opening.heard_chars, heard.opening.text)
    assert heard.named("commit") == []
    assert heard.spoken_turns == []
    assert heard.opening.held_ms <= PAUSES_MS


@pytest.mark.parametrize("channel", CHANNELS)
def test_a_question_is_one_turn_and_is_answered(channel: Channel) -> None:
    """A06: the turn begins soon after the last word, not on it, and once."""
    heard = replay_scenario("01_clean_turn", channel=channel, at="0s", agent="good_listener")
    assert len(heard.spoken_turns) == 1
    assert heard.named("reopened") == []
    words_end = heard.caller_started_ms + heard.scenario.sounds[0].end_ms
    assert 300 <= heard.spoken_turns[0][0] - words_end <= 1600
    (answer,) = heard.timeline.lines
    assert answer.outcome == "heard"
    assert answer.span is not None and 300 <= answer.span.start_ms - words_end <= 1800


@pytest.mark.parametrize("channel", CHANNELS)
def test_a_silent_line_starts_no_turn(channel: Channel) -> None:
    """D04: the noise of a line is nothing that could be answered."""
    heard = replay_scenario(
        "18_silence", channel=channel, at="0s", agent="good_listener", most_ms=10_000
    )
    assert heard.spoken_turns == []
    assert heard.named("hold") == []
    assert {f["reason"] for _, f in heard.named("turn_started")} <= {"opened", "silence"}


def _heard_to_its_end(outcome: str, heard_chars: int, text: str) -> None:
    assert (outcome, heard_chars) == ("heard", len(text))
