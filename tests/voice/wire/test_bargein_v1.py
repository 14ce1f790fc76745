"""bargein.v1, our own protocol, both ways."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.audio.format import WIDE, AudioFormat, Encoding
from voice.wire.bargein_v1 import BargeinProtocol
from voice.wire.events import (
    BadMessage,
    CallerAudio,
    CallerKey,
    CallerTapped,
    CallerTyped,
    CallStarted,
    CallStopped,
    MarkReached,
    WireEvent,
)

START = '{"type":"start"}'


def opened() -> BargeinProtocol:
    protocol = BargeinProtocol("7")
    assert isinstance(protocol.decode(START)[0], CallStarted)
    return protocol


def stopped() -> BargeinProtocol:
    protocol = opened()
    protocol.decode('{"type":"stop"}')
    return protocol


def answer(events: list[WireEvent]) -> str:
    match events:
        case []:
            return "nothing"
        case [BadMessage(code, _, fatal)]:
            return code + (" fatal" if fatal else "")
        case [event]:
            return type(event).__name__
        case _:
            return "several"


def test_start_gives_format_metadata_conversation_and_language() -> None:
    message = {
        "type": "start",
        "format": {"encoding": "alaw", "rate_hz": "8000"},
        "metadata": {"user": "u-1", "vip": True, "age": 4, "odd": {"a": 1}},
        "conversation": "c-1",
        "language": "de",
    }
    assert BargeinProtocol().decode(json.dumps(message)) == [
        CallStarted(
            AudioFormat(Encoding.ALAW, 8000),
            metadata=(("user", "u-1"), ("vip", "true"), ("age", "4")),
            conversation="c-1",
            language="de",
        )
    ]


def test_everything_but_the_type_of_start_may_be_left_out() -> None:
    assert BargeinProtocol().decode(START) == [CallStarted(WIDE)]
    nulls = '{"type":"start","format":null,"metadata":null,"conversation":null,"language":null}'
    assert BargeinProtocol().decode(nulls) == [CallStarted(WIDE)]


@pytest.mark.parametrize(
    "fmt",
    [
        {"encoding": "opus", "rate_hz": 16000},
        {"encoding": "pcm16", "rate_hz": 44100},
        {"encoding": None},
        {"rate_hz": "16k"},
        "pcm16",
        [16000],
    ],
)
def test_a_format_that_is_not_spoken_ends_the_session(fmt: object) -> None:
    events = BargeinProtocol().decode(json.dumps({"type": "start", "format": fmt}))
    assert answer(events) == "bad_format fatal"


TABLE: list[tuple[str | bytes, str, str, str]] = [
    (START, "CallStarted", "second_start", "after_stop"),
    (b"\x01\x00", "before_start", "CallerAudio", "after_stop"),
    (b"\x01", "before_start", "CallerAudio", "after_stop"),
    (b"", "nothing", "nothing", "nothing"),
    ('{"type":"mark","name":"m1"}', "before_start", "MarkReached", "after_stop"),
    ('{"type":"mark","name":"m1","cleared":true}', "before_start", "Ignored", "after_stop"),
    ('{"type":"mark"}', "before_start", "bad_mark", "after_stop"),
    ('{"type":"key","key":"5"}', "before_start", "CallerKey", "after_stop"),
    ('{"type":"key","key":5}', "before_start", "CallerKey", "after_stop"),
    ('{"type":"key","key":"12"}', "before_start", "bad_key", "after_stop"),
    ('{"type":"text","text":"hi"}', "before_start", "CallerTyped", "after_stop"),
    ('{"type":"text","text":"  "}', "before_start", "Ignored", "after_stop"),
    ('{"type":"text","text":5}', "before_start", "bad_text", "after_stop"),
    (json.dumps({"type": "text", "text": "x" * 4001}), "before_start", "bad_text", "after_stop"),
    ('{"type":"tap","payload":"p"}', "before_start", "CallerTapped", "after_stop"),
    ('{"type":"tap","payload":""}', "before_start", "Ignored", "after_stop"),
    ('{"type":"tap","payload":{}}', "before_start", "bad_tap", "after_stop"),
    ('{"type":"stop"}', "CallStopped", "CallStopped", "Ignored"),
    ('{"type":"party"}', "Ignored", "Ignored", "Ignored"),
    ('{"type":3}', "no_type", "no_type", "no_type"),
    ("{}", "no_type", "no_type", "no_type"),
    ("hello", "not_json", "not_json", "not_json"),
    ("", "not_json", "not_json", "not_json"),
    ("null", "not_object", "not_object", "not_object"),
    ("[]", "not_object", "not_object", "not_object"),
]


@pytest.mark.parametrize(("message", "waiting", "open_", "over"), TABLE)
def test_each_message_has_one_answer_in_each_phase(
    message: str | bytes, waiting: str, open_: str, over: str
) -> None:
    """H01, H02, H11: the table of the module, row by row."""
    assert answer(BargeinProtocol().decode(message)) == waiting
    assert answer(opened().decode(message)) == open_
    assert answer(stopped().decode(message)) == over


@pytest.mark.parametrize(("message", "waiting", "open_", "over"), TABLE)
def test_a_valid_session_follows_whatever_came_while_it_was_open(
    message: str | bytes, waiting: str, open_: str, over: str
) -> None:
    """H01, H11: nothing that is refused changes the session."""
    if open_ == "CallStopped":
        return
    protocol = opened()
    protocol.decode(message)
    assert protocol.decode(b"\x01\x02") == [CallerAudio(b"\x01\x02")]
    assert protocol.decode('{"type":"mark","name":"a"}') == [MarkReached("a")]
    assert protocol.decode('{"type":"key","key":"#"}') == [CallerKey("#")]
    assert protocol.decode('{"type":"text","text":" a b "}') == [CallerTyped(" a b ")]
    assert protocol.decode('{"type":"tap","payload":"yes"}') == [CallerTapped("yes")]
    assert protocol.decode('{"type":"stop"}') == [CallStopped("stop")]


def test_the_start_of_a_call_is_told_as_the_answer_to_start() -> None:
    protocol = BargeinProtocol("7")
    protocol.decode('{"type":"start","format":{"rate_hz":24000}}')
    assert json.loads(protocol.event("call_started", {"t_ms": 3, "channel": "web"})) == {
        "type": "started",
        "call": "7",
        "format": {"encoding": "pcm16", "rate_hz": 24000},
    }


def test_events_carry_their_name_and_fields() -> None:
    assert json.loads(opened().event("hold", {"t_ms": 1234, "reason": "voice"})) == {
        "type": "event",
        "event": "hold",
        "t_ms": 1234,
        "reason": "voice",
    }


def test_no_field_of_an_event_can_pass_for_another_message() -> None:
    message = json.loads(opened().event("memory_set", {"type": "clear", "event": "x"}))
    assert (message["type"], message["event"]) == ("event", "memory_set")


def test_control_messages_are_written_as_specified() -> None:
    protocol = opened()
    assert json.loads(protocol.mark('a"b')) == {"type": "mark", "name": 'a"b'}
    assert json.loads(protocol.clear()) == {"type": "clear"}
    assert json.loads(protocol.goodbye("agent")) == {"type": "ended", "reason": "agent"}
    bad = BadMessage("not_json", "no JSON")
    assert json.loads(protocol.problem(bad)) == {
        "type": "error",
        "code": "not_json",
        "detail": "no JSON",
    }
    assert protocol.can_clear
    assert not protocol.echoes_marks_on_clear


def test_sound_goes_out_bare_and_its_length_is_known() -> None:
    protocol = opened()
    assert protocol.audio(b"\x00" * 640) == b"\x00" * 640
    assert protocol.sound_ms(protocol.audio(b"\x00" * 640)) == 20
    assert protocol.sound_ms(protocol.mark("m")) == 0


@given(st.lists(st.one_of(st.text(), st.binary(), st.sampled_from([row[0] for row in TABLE]))))
def test_no_sequence_of_messages_raises(messages: list[str | bytes]) -> None:
    """H11: total, whatever the order."""
    protocol = BargeinProtocol()
    for message in messages:
        for event in protocol.decode(message):
            assert event is not None


@given(
    st.sampled_from(["start", "mark", "key", "text", "tap", "stop"]),
    st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.text())),
    st.sampled_from(["format", "metadata", "name", "key", "text", "payload", "conversation"]),
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
)
def test_no_body_of_a_known_type_raises(
    kind: str, body: dict[str, object], key: str, value: object
) -> None:
    for protocol in (BargeinProtocol(), opened(), stopped()):
        protocol.decode(json.dumps({**body, key: value, "type": kind}))


@given(st.binary(max_size=2000), st.lists(st.integers(0, 2000), max_size=12))
def test_sound_split_anywhere_decodes_to_the_same_bytes(sound: bytes, cuts: list[int]) -> None:
    """H08: frames have no size that can be relied on."""
    protocol = opened()
    edges = [0, *sorted(min(cut, len(sound)) for cut in cuts), len(sound)]
    heard = b""
    for begin, end in zip(edges, edges[1:], strict=False):
        for event in protocol.decode(sound[begin:end]):
            assert isinstance(event, CallerAudio)
            heard += event.payload
    assert heard == sound
