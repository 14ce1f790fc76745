"""Twilio Media Streams, bidirectional: JSON text both ways, sound in base64.

Owns the meaning of each message and its order. Platforms with the same shape (SignalWire's cXML
streams leave ``streamSid`` out of what they send) are read too; our own protocol for browsers and
apps is ``bargein_v1``. The webhook that starts a stream is ``voice.gateway``.

Theory of operation: a stream is *waiting* until ``start``, *open* until ``stop``, then *over*.
Each message has one answer, whatever order it comes in:

==========================  ========================  ======================  ==================
message                     waiting                   open                    over
==========================  ========================  ======================  ==================
``connected``               ``Connected``             ignored                 ignored
``start``                   ``CallStarted``           bad ``second_start``    bad ``after_stop``
... without a stream id     bad ``no_stream``, fatal  bad ``second_start``    bad ``after_stop``
... of an unknown format    bad ``bad_format``, fatal bad ``second_start``    bad ``after_stop``
``media``, caller's track   bad ``before_start``      ``CallerAudio``         bad ``after_stop``
... of another track        bad ``before_start``      ignored                 bad ``after_stop``
... without a stream id     bad ``before_start``      as if it were there     bad ``after_stop``
... of another stream       bad ``before_start``      bad ``wrong_stream``    bad ``after_stop``
... not base64              bad ``before_start``      bad ``bad_base64``      bad ``after_stop``
... empty                   bad ``before_start``      nothing                 bad ``after_stop``
``dtmf``                    bad ``before_start``      ``CallerKey``           bad ``after_stop``
... that is no key          bad ``before_start``      bad ``bad_key``         bad ``after_stop``
``mark``                    bad ``before_start``      ``MarkReached``         bad ``after_stop``
... without a name          bad ``before_start``      bad ``bad_mark``        bad ``after_stop``
``stop``                    ``CallStopped``           ``CallStopped``         ignored
another event               ignored                   ignored                 ignored
no ``event``                bad ``no_event``          bad ``no_event``        bad ``no_event``
binary                      bad ``not_text``          bad ``not_text``        bad ``not_text``
text that is no object      bad ``not_json``, ``not_object``, ``too_large``, ``too_deep``
==========================  ========================  ======================  ==================

Twilio has no message for errors, so a bad message is only counted; the call goes on.
"""

import binascii
from collections import Counter
from typing import Final

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
    WireProtocol,
)
from voice.wire.fields import Phase, read_key, read_name, read_part, read_rate, read_texts
from voice.wire.json_guard import JsonObject, decode_base64, quote, read_object, whole_number

__all__ = ["TwilioProtocol"]

_ENCODINGS: Final = {
    "audio/x-mulaw": Encoding.ULAW,
    "audio/mulaw": Encoding.ULAW,
    "audio/pcmu": Encoding.ULAW,
    "audio/x-alaw": Encoding.ALAW,
    "audio/alaw": Encoding.ALAW,
    "audio/pcma": Encoding.ALAW,
    "audio/x-l16": Encoding.PCM16,
    "audio/l16": Encoding.PCM16,
}


class TwilioProtocol(WireProtocol):
    """The codec of one stream."""

    def __init__(self) -> None:
        """Wait for ``start``."""
        self._phase = Phase.WAITING
        self._stream = ""
        self._format = PHONE
        self._media_head = ""
        self._media_tail = '"}}'
        self.ignored: Counter[str] = Counter()
        """Messages of no interest, by kind."""

    @property
    def can_clear(self) -> bool:
        """``clear`` empties the client's buffer."""
        return True

    @property
    def echoes_marks_on_clear(self) -> bool:
        """Pending marks come back at once on a clear."""
        return True

    # ------------------------------------------------------------------ in

    def decode(self, message: str | bytes) -> list[WireEvent]:
        """Read one websocket message; total, never raises."""
        if isinstance(message, bytes):
            return [BadMessage("not_text", "a binary frame; this protocol is JSON text")]
        read = read_object(message)
        if isinstance(read, BadMessage):
            return [read]
        event = read.get("event")
        if event == "media":  # nearly all of them
            return self._media(read)
        return self._control(event, read)

    def _control(self, event: object, message: JsonObject) -> list[WireEvent]:
        match event:
            case "connected":
                if self._phase is Phase.WAITING:
                    return [Connected()]
                return self._ignore("second_connected")
            case "start":
                return self._start(message)
            case "dtmf":
                return self._out_of_turn(message) or self._dtmf(message)
            case "mark":
                return self._out_of_turn(message) or self._mark(message)
            case "stop":
                return self._stop(message)
            case str():
                return self._ignore("unknown_event")
            case _:
                return [BadMessage("no_event", "an object without an event name")]

    def _ignore(self, what: str) -> list[WireEvent]:
        self.ignored[what] += 1
        return [Ignored(what)]

    def _out_of_turn(self, message: JsonObject) -> list[WireEvent]:
        """Say why this message can't be of the open stream; empty if it can."""
        match self._phase:
            case Phase.WAITING:
                return [BadMessage("before_start", "a message before start")]
            case Phase.OVER:
                return [BadMessage("after_stop", "a message after stop")]
            case Phase.OPEN:
                stream = message.get("streamSid")
                if stream is None or stream == self._stream:
                    return []
                return [BadMessage("wrong_stream", "a message of another stream")]

    def _media(self, message: JsonObject) -> list[WireEvent]:
        refused = self._out_of_turn(message)
        if refused:
            return refused
        media = read_part(message, "media")
        track = media.get("track")
        if track is not None and track != "inbound" and track != "inbound_track":
            return self._ignore("other_track")
        payload = decode_base64(media.get("payload"))
        if payload is None:
            return [BadMessage("bad_base64", "media without a base64 payload")]
        return [CallerAudio(payload)] if payload else []

    def _dtmf(self, message: JsonObject) -> list[WireEvent]:
        key = read_key(read_part(message, "dtmf").get("digit"))
        if key is None:
            return [BadMessage("bad_key", "dtmf without one key of a keypad")]
        return [CallerKey(key)]

    def _mark(self, message: JsonObject) -> list[WireEvent]:
        name = read_name(read_part(message, "mark").get("name"))
        if name is None:
            return [BadMessage("bad_mark", "a mark without a name")]
        return [MarkReached(name)]

    def _stop(self, message: JsonObject) -> list[WireEvent]:
        if self._phase is Phase.OVER:
            return self._ignore("second_stop")
        if self._phase is Phase.OPEN and (refused := self._out_of_turn(message)):
            return refused
        self._phase = Phase.OVER
        return [CallStopped("stop")]

    def _start(self, message: JsonObject) -> list[WireEvent]:
        match self._phase:
            case Phase.OPEN:
                return [BadMessage("second_start", "start on a stream that has started")]
            case Phase.OVER:
                return [BadMessage("after_stop", "start after stop")]
            case Phase.WAITING:
                pass
        start = read_part(message, "start")
        stream = read_name(start.get("streamSid")) or read_name(message.get("streamSid"))
        if stream is None:
            return [BadMessage("no_stream", "start without a stream id", fatal=True)]
        fmt = _read_format(start)
        if fmt is None:
            return [BadMessage("bad_format", "a media format we don't speak", fatal=True)]
        self._phase = Phase.OPEN
        self._stream = stream
        self._format = fmt
        self._media_head = self._head("media") + ',"media":{"payload":"'
        given = dict(read_texts(start.get("customParameters")))
        ids = [("stream", stream)]
        for name, key in (("call", "callSid"), ("account", "accountSid")):
            value = read_name(start.get(key))
            if value is not None:
                ids.append((name, value))
        return [
            CallStarted(
                fmt,
                metadata=tuple(given.items()),
                conversation=given.get("conversation") or None,
                language=given.get("language") or None,
                ids=tuple(ids),
            )
        ]

    # ------------------------------------------------------------------ out

    def audio(self, payload: bytes) -> str:
        """Write ``media``; any length."""
        encoded = binascii.b2a_base64(payload, newline=False).decode("ascii")
        return f"{self._media_head}{encoded}{self._media_tail}"

    def mark(self, name: str) -> str:
        """Write a mark that follows the sound sent so far."""
        return self._head("mark") + ',"mark":{"name":' + quote(name) + "}}"

    def clear(self) -> str:
        """Write the order to drop buffered sound."""
        return self._head("clear") + "}"

    def event(self, name: str, fields: dict[str, object]) -> None:
        """Nobody there shows events."""
        return

    def problem(self, bad: BadMessage) -> None:
        """Twilio takes no error messages."""
        return

    def goodbye(self, reason: str) -> None:
        """Closing the socket hangs up, or goes on with the next verb."""
        return

    def sound_ms(self, message: str | bytes) -> float:
        """How long the sound in a message of ``audio`` plays; 0 for marks."""
        size = len(message) - len(self._media_head) - len(self._media_tail)
        if size <= 0 or isinstance(message, bytes) or not message.startswith(self._media_head):
            return 0.0
        return self._format.ms_of(size * 3 // 4)

    def _head(self, event: str) -> str:
        return '{"event":"' + event + '","streamSid":' + quote(self._stream)


def _read_format(start: JsonObject) -> AudioFormat | None:
    """Read ``mediaFormat``; absent means mu-law at 8 kHz, None what we don't speak."""
    if not isinstance(start.get("mediaFormat"), dict | None):
        return None
    given = read_part(start, "mediaFormat")
    name = given.get("encoding", "audio/x-mulaw")
    if not isinstance(name, str):
        return None
    encoding = _ENCODINGS.get(name.partition(";")[0].strip().lower())
    rate = read_rate(given.get("sampleRate", 8000))
    channels = whole_number(given.get("channels", 1))
    if encoding is None or rate is None or channels != 1:
        return None
    return AudioFormat(encoding, rate)
