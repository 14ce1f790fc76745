"""From events and sound to bars, and from bars to figures."""

import numpy as np
import pytest

from tests.voice.replay.made_call import RATE, event, made_events, made_recording
from voice.replay.measures import measure, middle
from voice.replay.report import heard_and_cut
from voice.replay.segments import Span, gaps_between, spans_of_sound
from voice.replay.timeline import build_timeline


def test_sound_is_found_to_ten_ms_and_short_gaps_are_no_gaps() -> None:
    samples = np.zeros(RATE, np.int16)
    for start, end in [(100, 300), (400, 500), (800, 820)]:
        samples[start * 8 : end * 8] = 5000
    assert spans_of_sound(samples, RATE) == (Span(100, 500),)
    assert spans_of_sound(samples, RATE, join_ms=50, least_ms=0) == (
        Span(100, 300),
        Span(400, 500),
        Span(800, 820),
    )


def test_silence_and_nothing_have_no_sound() -> None:
    assert spans_of_sound(np.zeros(RATE, np.int16), RATE) == ()
    assert spans_of_sound(np.zeros(0, np.int16), RATE) == ()


def test_gaps_are_between_sounds_only() -> None:
    spans = (Span(0, 100), Span(300, 400), Span(500, 600))
    assert gaps_between(spans, Span(50, 550)) == (Span(100, 300), Span(400, 500))
    assert gaps_between(spans, Span(100, 300)) == ()


def test_a_call_becomes_bars() -> None:
    timeline = build_timeline(made_events(), made_recording())
    assert [(turn.turn, turn.cause, turn.outcome) for turn in timeline.turns] == [
        (1, "opened", "done"),
        (2, "speech", "interrupted"),
        (3, "speech", "done"),
    ]
    assert timeline.turns[0].span == Span(0, 460)
    assert [(hold.end, hold.why) for hold in timeline.holds] == [
        ("committed", "words: “let's do that”"),
        ("released", "backchannel: “okay”"),
    ]
    assert [(tool.name, tool.outcome, tool.span) for tool in timeline.tools] == [
        ("look_up_order", "ok", Span(7400, 10_400))
    ]
    assert [words.text for words in timeline.words] == [
        "When can I bring my car?",
        "Yeah, let's do that.",
    ]


def test_what_was_cut_is_known_to_the_character() -> None:
    timeline = build_timeline(made_events(), made_recording())
    heard, cut = heard_and_cut(next(line for line in timeline.lines if line.say == 2))
    assert heard == "You could come in today, with a little bi"
    assert cut.startswith("t of a wait")


def test_fillers_are_lines_too() -> None:
    lines = build_timeline(made_events(), made_recording()).lines
    assert [(line.say, line.text) for line in lines][2] == (-1, "One moment.")
    assert lines[2].span == Span(8100, 8900)


def test_the_floor_is_someones_at_every_moment() -> None:
    floor = build_timeline(made_events(), made_recording()).floor
    assert floor[0].span.start_ms == 0
    assert floor[-1].span.end_ms == 16_000
    assert all(a.span.end_ms == b.span.start_ms for a, b in zip(floor, floor[1:], strict=False))
    assert all(a.owner != b.owner for a, b in zip(floor, floor[1:], strict=False))
    owners = {bar.owner for bar in floor}
    assert owners == {"caller", "agent", "both", "held", "working", "open"}


def test_an_open_hold_lasts_to_the_end_and_words_end_one_that_stood_in_nobodys_way() -> None:
    events = (
        event(1000, "hold", reason="voice", audible=False),
        event(2000, "turn_started", turn=1, reason="speech"),
        event(3000, "hold", reason="voice", audible=True),
    )
    holds = build_timeline(events, made_recording()).holds
    assert [(hold.end, hold.span) for hold in holds] == [
        ("taken", Span(1000, 2000)),
        ("open", Span(3000, 16_000)),
    ]


def test_tools_and_turns_that_never_end_are_drawn_to_the_end() -> None:
    events = (
        event(1000, "turn_started", turn=1, reason="speech"),
        event(2000, "tool_started", call_id=9, tool="t"),
        event(3000, "turn_started", turn=2, reason="speech"),
    )
    timeline = build_timeline(events, made_recording())
    assert [(turn.outcome, turn.span) for turn in timeline.turns] == [
        ("replaced", Span(1000, 3000)),
        ("open", Span(3000, 16_000)),
    ]
    assert timeline.tools[0].span == Span(2000, 16_000)


def test_a_call_without_events_is_a_picture_too() -> None:
    timeline = build_timeline((), made_recording())
    assert timeline.turns == timeline.holds == timeline.lines == ()
    assert timeline.caller and timeline.agent


def test_stop_commit_and_answer_are_measured_from_what_was_heard() -> None:
    measures = measure(build_timeline(made_events(), made_recording()))
    interruption, backchannel = measures.interruptions
    assert interruption.is_yield
    assert interruption.hold_after_ms == pytest.approx(60, abs=10)
    assert interruption.silent_after_ms == pytest.approx(90, abs=10)
    assert interruption.commit_after_ms == pytest.approx(705, abs=10)
    assert not backchannel.is_yield
    assert backchannel.silent_after_ms == pytest.approx(90, abs=10)
    assert backchannel.paused_ms == pytest.approx(610, abs=20)
    assert [round(answer.turn_after_ms, -1) for answer in measures.answers] == [400, 450]
    assert [answer.heard_after_ms for answer in measures.answers] == [
        pytest.approx(640, abs=10),
        pytest.approx(1200, abs=10),
    ]
    assert measures.false_holds == 1
    assert measures.longest_line_pause_ms == pytest.approx(610, abs=20)


def test_an_agent_caught_between_two_words_stopped_at_once() -> None:
    """The caller begins in a pause of the line; the second half is never heard."""
    recording = made_recording()
    events = tuple(
        item
        for item in made_events()
        if not (item.t_ms > 12_000 and item.event in ("hold", "release"))
    )
    spoken = (*events, event(12_900, "commit", reason="words", text="okay"))
    heard = recording.heard.copy()
    heard[12_250 * 8 :] = 0
    silent = type(recording)(
        recording.microphone, recording.caller, heard, RATE, recording.lines, (), "caller"
    )
    ordered = tuple(sorted(spoken, key=lambda item: item.t_ms))
    last = measure(build_timeline(ordered, silent)).interruptions[-1]
    assert last.silent_after_ms == 0.0


def test_the_middle_of_nothing_is_nothing() -> None:
    assert middle(()) is None
    assert middle((3.0, 1.0, 2.0)) == 2.0


def test_typed_words_stand_at_their_own_moment() -> None:
    typed = event(5020, "caller_said", text="pizza", final=True, by="text")
    timeline = build_timeline((*made_events(), typed), made_recording())
    assert [words.span for words in timeline.words if words.text == "pizza"] == [Span(5020, 5020)]


def test_words_heard_again_with_what_followed_are_written_once() -> None:
    first = event(900, "caller_said", text="Yeah.", final=True, from_ms=500, to_ms=800)
    whole = event(2000, "caller_said", text="Yeah, do that.", final=True, from_ms=500, to_ms=1900)
    timeline = build_timeline((first, whole), made_recording())
    assert [words.text for words in timeline.words] == ["Yeah, do that."]
