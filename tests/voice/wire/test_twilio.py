"""Twilio Media Streams, both ways."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.audio.format import PHONE, AudioFormat, Encoding
from voice.wire.events import (
    BadMessage,
    CallerAudio,
    CallerKey,
    CallStarted,
    CallStopped,
    Connected,
    Ignored,
    MarkReached,
    WireEvent,
)
from voice.wire.twilio import TwilioProtocol

CONNECTED = '{"event":"connected","protocol":"Call","version":"1.0.0"}'


def start(**changes: object) -> str:
    body: dict[str, object] = {
        "streamSid": "MZ11",
        "accountSid": "AC22",
        "callSid": "CA33",
        "tracks": ["inbound"],
        "customParameters": {"caller": "+15550100", "tenant": "t-7"},
        "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
    }
    body.update(changes)
    return json.dumps({"event": "start", "sequenceNumber": "1", "streamSid": "MZ11", "start": body})


def media(payload: bytes, **changes: object) -> str:
    body = {"track": "inbound", "payload": base64.b64encode(payload).decode()}
    message = {"event": "media", "sequenceNumber": "4", "streamSid": "MZ11", "media": body}
    return json.dumps({**message, **changes})


def dtmf(digit: object) -> str:
    return json.dumps({"event": "dtmf", "streamSid": "MZ11", "dtmf": {"digit": digit}})


def mark(name: object) -> str:
    return json.dumps({"event": "mark", "streamSid": "MZ11", "mark": {"name": name}})


STOP = '{"event":"stop","sequenceNumber":"9","streamSid":"MZ11","stop":{"callSid":"CA33"}}'


def opened() -> TwilioProtocol:
    protocol = TwilioProtocol()
    assert isinstance(protocol.decode(start())[0], CallStarted)
    return protocol


def stopped() -> TwilioProtocol:
    protocol = opened()
    protocol.decode(STOP)
    return protocol


def answer(events: list[WireEvent]) -> str:
    """Write the answer as one word: a bad message's code, else the event's name."""
    match events:
        case []:
            return "nothing"
        case [BadMessage(code, _, fatal)]:
            return code + (" fatal" if fatal else "")
        case [event]:
            return type(event).__name__
        case _:
            return "several"


def test_start_gives_the_format_the_callers_parameters_and_the_ids() -> None:
    (event,) = TwilioProtocol().decode(start())
    assert event == CallStarted(
        PHONE,
        metadata=(("caller", "+15550100"), ("tenant", "t-7")),
        ids=(("stream", "MZ11"), ("call", "CA33"), ("account", "AC22")),
    )


def test_conversation_and_language_may_come_as_parameters() -> None:
    given = {"conversation": "c-9", "language": "de", "n": 3, "odd": [1]}
    (event,) = TwilioProtocol().decode(start(customParameters=given))
    assert isinstance(event, CallStarted)
    assert (event.conversation, event.language) == ("c-9", "de")
    assert event.metadata == (("conversation", "c-9"), ("language", "de"), ("n", "3"))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, PHONE),
        ({}, PHONE),
        ({"encoding": "audio/x-mulaw", "sampleRate": "8000", "channels": "1"}, PHONE),
        ({"encoding": "audio/x-mulaw;rate=8000"}, PHONE),
        ({"encoding": "audio/x-alaw", "sampleRate": 8000}, AudioFormat(Encoding.ALAW, 8000)),
        ({"encoding": "audio/x-L16", "sampleRate": 16000}, AudioFormat(Encoding.PCM16, 16000)),
        ({"encoding": "audio/x-l16", "sampleRate": 24000.0}, AudioFormat(Encoding.PCM16, 24000)),
    ],
)
def test_the_media_format_is_read_and_not_assumed(given: object, expected: AudioFormat) -> None:
    """H11: numbers come as text and as numbers."""
    (event,) = TwilioProtocol().decode(start(mediaFormat=given))
    assert isinstance(event, CallStarted)
    assert event.format == expected


@pytest.mark.parametrize(
    "given",
    [
        {"encoding": "audio/opus"},
        {"encoding": 5},
        {"encoding": "audio/x-mulaw", "sampleRate": 11025},
        {"encoding": "audio/x-mulaw", "sampleRate": "fast"},
        {"encoding": "audio/x-mulaw", "channels": 2},
        "audio/x-mulaw",
    ],
)
def test_a_format_that_is_not_spoken_ends_the_stream(given: object) -> None:
    assert answer(TwilioProtocol().decode(start(mediaFormat=given))) == "bad_format fatal"


TABLE: list[tuple[str, str | bytes, str, str, str]] = [
    ("connected", CONNECTED, "Connected", "Ignored", "Ignored"),
    ("start", start(), "CallStarted", "second_start", "after_stop"),
    ("media", media(b"\xff" * 160), "before_start", "CallerAudio", "after_stop"),
    ("media, no stream", media(b"1", streamSid=None), "before_start", "CallerAudio", "after_stop"),
    ("media, other", media(b"1", streamSid="MZ9"), "before_start", "wrong_stream", "after_stop"),
    ("media, number", media(b"1", streamSid=11), "before_start", "wrong_stream", "after_stop"),
    ("media, empty", media(b""), "before_start", "nothing", "after_stop"),
    (
        "media, other track",
        media(b"", media={"track": "outbound", "payload": "AAAA"}),
        "before_start",
        "Ignored",
        "after_stop",
    ),
    ("media, bad", media(b"", media={"payload": "A"}), "before_start", "bad_base64", "after_stop"),
    ("media, none", media(b"", media={}), "before_start", "bad_base64", "after_stop"),
    ("media, odd", media(b"", media="x"), "before_start", "bad_base64", "after_stop"),
    ("dtmf", dtmf("5"), "before_start", "CallerKey", "after_stop"),
    ("dtmf, number", dtmf(5), "before_start", "CallerKey", "after_stop"),
    ("dtmf, two", dtmf("55"), "before_start", "bad_key", "after_stop"),
    ("dtmf, none", dtmf(None), "before_start", "bad_key", "after_stop"),
    ("dtmf, truth", dtmf(True), "before_start", "bad_key", "after_stop"),
    ("mark", mark("u1:3"), "before_start", "MarkReached", "after_stop"),
    ("mark, number", mark(3), "before_start", "bad_mark", "after_stop"),
    ("mark, empty", mark(""), "before_start", "bad_mark", "after_stop"),
    ("mark, long", mark("x" * 500), "before_start", "bad_mark", "after_stop"),
    ("stop", STOP, "CallStopped", "CallStopped", "Ignored"),
    ("unknown", '{"event":"party"}', "Ignored", "Ignored", "Ignored"),
    ("no event", "{}", "no_event", "no_event", "no_event"),
    ("event 7", '{"event":7}', "no_event", "no_event", "no_event"),
    ("binary", b"\x00" * 640, "not_text", "not_text", "not_text"),
    ("empty binary", b"", "not_text", "not_text", "not_text"),
    ("empty text", "", "not_json", "not_json", "not_json"),
    ("null", "null", "not_object", "not_object", "not_object"),
    ("list", "[]", "not_object", "not_object", "not_object"),
]


@pytest.mark.parametrize(("name", "message", "waiting", "open_", "over"), TABLE)
def test_each_message_has_one_answer_in_each_phase(
    name: str, message: str | bytes, waiting: str, open_: str, over: str
) -> None:
    """H01, H02, H11: the table of the module, row by row."""
    assert answer(TwilioProtocol().decode(message)) == waiting
    assert answer(opened().decode(message)) == open_
    assert answer(stopped().decode(message)) == over


@pytest.mark.parametrize(("name", "message", "waiting", "open_", "over"), TABLE)
def test_a_valid_call_follows_whatever_came_while_it_was_open(
    name: str, message: str | bytes, waiting: str, open_: str, over: str
) -> None:
    """H01, H11: nothing that is refused changes the stream."""
    if open_ == "CallStopped":
        return
    protocol = opened()
    protocol.decode(message)
    assert protocol.decode(media(b"\x01\x02")) == [CallerAudio(b"\x01\x02")]
    assert protocol.decode(mark("a")) == [MarkReached("a")]
    assert protocol.decode(dtmf("d")) == [CallerKey("D")]
    assert protocol.decode(STOP) == [CallStopped("stop")]


def test_a_start_without_a_stream_id_can_not_be_answered() -> None:
    message = json.dumps({"event": "start", "start": {"callSid": "CA"}})
    assert answer(TwilioProtocol().decode(message)) == "no_stream fatal"


def test_the_stream_id_may_stand_in_either_place() -> None:
    protocol = TwilioProtocol()
    protocol.decode(json.dumps({"event": "start", "streamSid": "S1", "start": {}}))
    assert json.loads(protocol.clear()) == {"event": "clear", "streamSid": "S1"}


def test_a_stop_of_another_stream_does_not_end_this_one() -> None:
    protocol = opened()
    assert answer(protocol.decode('{"event":"stop","streamSid":"MZ9"}')) == "wrong_stream"
    assert protocol.decode(media(b"1")) == [CallerAudio(b"1")]


def test_what_is_ignored_is_counted_by_kind() -> None:
    protocol = opened()
    for message in ('{"event":"party"}', '{"event":"party2"}', CONNECTED):
        assert isinstance(protocol.decode(message)[0], Ignored)
    assert dict(protocol.ignored) == {"unknown_event": 2, "second_connected": 1}


def test_connected_comes_before_anything_is_known() -> None:
    assert TwilioProtocol().decode(CONNECTED) == [Connected()]


@given(st.binary(max_size=700))
def test_sound_goes_out_as_media_of_this_stream(payload: bytes) -> None:
    message = json.loads(opened().audio(payload))
    assert message["event"] == "media"
    assert message["streamSid"] == "MZ11"
    assert base64.b64decode(message["media"]["payload"]) == payload


@given(st.text(min_size=1, max_size=40))
def test_marks_go_out_with_their_name_whatever_it_holds(name: str) -> None:
    message = json.loads(opened().mark(name))
    assert message["event"] == "mark"
    assert message["streamSid"] == "MZ11"


def test_a_stream_id_full_of_quotes_does_not_break_the_json() -> None:
    protocol = TwilioProtocol()
    protocol.decode(json.dumps({"event": "start", "start": {"streamSid": 'M"\\Z'}}))
    assert json.loads(protocol.audio(b"x"))["streamSid"] == 'M"\\Z'


def test_the_protocol_has_no_notices_no_errors_and_no_goodbye() -> None:
    protocol = opened()
    assert protocol.event("hold", {"t_ms": 1}) is None
    assert protocol.problem(BadMessage("not_json", "no JSON")) is None
    assert protocol.goodbye("caller") is None
    assert protocol.can_clear
    assert protocol.echoes_marks_on_clear


@pytest.mark.parametrize("size", [0, 1, 160, 320, 4000])
def test_the_length_of_queued_sound_is_known_to_a_sample_or_two(size: int) -> None:
    protocol = opened()
    assert abs(protocol.sound_ms(protocol.audio(b"\xff" * size)) - size / 8) <= 0.25
    assert protocol.sound_ms(protocol.mark("a-mark-with-quite-a-long-name")) == 0
    assert protocol.sound_ms(protocol.clear()) == 0


@given(st.lists(st.one_of(st.text(), st.binary(), st.sampled_from([row[1] for row in TABLE]))))
def test_no_sequence_of_messages_raises(messages: list[str | bytes]) -> None:
    """H11: total, whatever the order."""
    protocol = TwilioProtocol()
    for message in messages:
        for event in protocol.decode(message):
            assert event is not None


@given(st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.text())))
def test_no_body_of_a_known_event_raises(body: dict[str, object]) -> None:
    for event in ("start", "media", "dtmf", "mark", "stop"):
        for protocol in (TwilioProtocol(), opened(), stopped()):
            protocol.decode(json.dumps({"event": event, event: body}))
            protocol.decode(json.dumps({**body, "event": event, "streamSid": "MZ11"}))


@given(st.binary(max_size=2000), st.lists(st.integers(0, 2000), max_size=12))
def test_sound_split_anywhere_decodes_to_the_same_bytes(sound: bytes, cuts: list[int]) -> None:
    """H08: frames have no size that can be relied on."""
    protocol = opened()
    edges = [0, *sorted(min(cut, len(sound)) for cut in cuts), len(sound)]
    heard = b""
    for begin, end in zip(edges, edges[1:], strict=False):
        for event in protocol.decode(media(sound[begin:end])):
            assert isinstance(event, CallerAudio)
            heard += event.payload
    assert heard == sound
