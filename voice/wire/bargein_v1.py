"""bargein.v1, our own protocol for browsers and apps: bare sound, JSON control.

Owns the meaning of each message and its order; ``docs/protocol.md`` is its specification. Telephone
platforms speak ``twilio`` instead. A session is *waiting* until ``start``, *open* until ``stop``,
then *over*:

=========================  ========================  ======================  ==================
message                    waiting                   open                    over
=========================  ========================  ======================  ==================
``start``                  ``CallStarted``           bad ``second_start``    bad ``after_stop``
... with an unknown format bad ``bad_format``, fatal bad ``second_start``    bad ``after_stop``
binary                     bad ``before_start``      ``CallerAudio``         bad ``after_stop``
... empty                  nothing                   nothing                 nothing
``mark``                   bad ``before_start``      ``MarkReached``         bad ``after_stop``
... ``cleared``            bad ``before_start``      ignored                 bad ``after_stop``
``key``                    bad ``before_start``      ``CallerKey``           bad ``after_stop``
``text``, ``tap``          bad ``before_start``      ``CallerTyped/Tapped``  bad ``after_stop``
... blank                  bad ``before_start``      ignored                 bad ``after_stop``
``mark``, ``key``, ...     bad ``before_start``      bad ``bad_mark``,       bad ``after_stop``
with unusable values                                 ``bad_key``, ...
``stop``                   ``CallStopped``           ``CallStopped``         ignored
another type               ignored                   ignored                 ignored
no ``type``                bad ``no_type``           bad ``no_type``         bad ``no_type``
text that is no object     bad ``not_json``, ``not_object``, ``too_large``, ``too_deep``
=========================  ========================  ======================  ==================

Each bad message is answered with ``{"type":"error"}``.
"""

from collections import Counter
from typing import Final

from voice.audio.format import WIDE, AudioFormat, Encoding
from voice.wire.events import (
    BadMessage,
    CallerAudio,
    CallerKey,
    CallerTapped,
    CallerTyped,
    CallStarted,
    CallStopped,
    Ignored,
    MarkReached,
    WireEvent,
    WireProtocol,
)
from voice.wire.fields import Phase, read_key, read_name, read_part, read_rate, read_texts
from voice.wire.json_guard import JsonObject, encode_object, quote, read_object

__all__ = ["SUBPROTOCOL", "BargeinProtocol"]

SUBPROTOCOL: Final = "bargein.v1"
"""Name for ``Sec-WebSocket-Protocol``."""
_ENCODINGS: Final = {encoding.value: encoding for encoding in Encoding}
_MOST_TEXT_CHARS: Final = 4000


class BargeinProtocol(WireProtocol):
    """The codec of one session."""

    def __init__(self, call: str = "") -> None:
        """Wait for ``start``; ``call`` is the id that the client is told."""
        self._call = call
        self._phase = Phase.WAITING
        self._format = WIDE
        self.ignored: Counter[str] = Counter()
        """Messages of no interest, by kind."""

    @property
    def can_clear(self) -> bool:
        """``clear`` empties the client's buffer."""
        return True

    @property
    def echoes_marks_on_clear(self) -> bool:
        """Dropped marks come back flagged ``cleared``, and are no positions."""
        return False

    # ------------------------------------------------------------------ in

    def decode(self, message: str | bytes) -> list[WireEvent]:
        """Read one websocket message; total, never raises."""
        if isinstance(message, bytes):
            if not message:
                return []
            if self._phase is Phase.OPEN:
                return [CallerAudio(message)]
            return self._out_of_turn()
        read = read_object(message)
        return [read] if isinstance(read, BadMessage) else self._object(read)

    def _object(self, message: JsonObject) -> list[WireEvent]:
        match message.get("type"):
            case "start":
                return self._start(message)
            case "mark":
                return self._out_of_turn() or self._mark(message)
            case "key":
                return self._out_of_turn() or self._key(message)
            case "text":
                return self._out_of_turn() or self._text(message)
            case "tap":
                return self._out_of_turn() or self._tap(message)
            case "stop":
                return self._stop()
            case str():
                return self._ignore("unknown_type")
            case _:
                return [BadMessage("no_type", "an object without a type")]

    def _ignore(self, what: str) -> list[WireEvent]:
        self.ignored[what] += 1
        return [Ignored(what)]

    def _out_of_turn(self) -> list[WireEvent]:
        match self._phase:
            case Phase.WAITING:
                return [BadMessage("before_start", "the first message must be start")]
            case Phase.OVER:
                return [BadMessage("after_stop", "a message after stop")]
            case Phase.OPEN:
                return []

    def _mark(self, message: JsonObject) -> list[WireEvent]:
        name = read_name(message.get("name"))
        if name is None:
            return [BadMessage("bad_mark", "a mark without a name")]
        if message.get("cleared") is True:
            return self._ignore("cleared_mark")
        return [MarkReached(name)]

    def _key(self, message: JsonObject) -> list[WireEvent]:
        key = read_key(message.get("key"))
        if key is None:
            return [BadMessage("bad_key", "key must be one of 0-9 * # A-D")]
        return [CallerKey(key)]

    def _text(self, message: JsonObject) -> list[WireEvent]:
        text = message.get("text")
        if not isinstance(text, str) or len(text) > _MOST_TEXT_CHARS:
            return [BadMessage("bad_text", f"text must be text of at most {_MOST_TEXT_CHARS}")]
        return [CallerTyped(text)] if text.strip() else self._ignore("blank_text")

    def _tap(self, message: JsonObject) -> list[WireEvent]:
        payload = message.get("payload")
        if not isinstance(payload, str) or len(payload) > _MOST_TEXT_CHARS:
            return [BadMessage("bad_tap", f"payload must be text of at most {_MOST_TEXT_CHARS}")]
        return [CallerTapped(payload)] if payload.strip() else self._ignore("blank_tap")

    def _stop(self) -> list[WireEvent]:
        if self._phase is Phase.OVER:
            return self._ignore("second_stop")
        self._phase = Phase.OVER
        return [CallStopped("stop")]

    def _start(self, message: JsonObject) -> list[WireEvent]:
        match self._phase:
            case Phase.OPEN:
                return [BadMessage("second_start", "start on a session that has started")]
            case Phase.OVER:
                return self._out_of_turn()
            case Phase.WAITING:
                pass
        fmt = _read_format(message)
        if fmt is None:
            return [
                BadMessage(
                    "bad_format",
                    "format needs encoding pcm16, ulaw or alaw and rate_hz 8000, 16000, 24000 "
                    "or 48000",
                    fatal=True,
                )
            ]
        self._phase = Phase.OPEN
        self._format = fmt
        return [
            CallStarted(
                fmt,
                metadata=read_texts(message.get("metadata")),
                conversation=read_name(message.get("conversation")),
                language=read_name(message.get("language")),
            )
        ]

    # ------------------------------------------------------------------ out

    def audio(self, payload: bytes) -> bytes:
        """Sound is sent bare."""
        return payload

    def mark(self, name: str) -> str:
        """Write a mark that follows the sound sent so far."""
        return '{"type":"mark","name":' + quote(name) + "}"

    def clear(self) -> str:
        """Write the order to drop buffered sound."""
        return '{"type":"clear"}'

    def event(self, name: str, fields: dict[str, object]) -> str:
        """Write a notice; the call's start is the handshake's answer."""
        if name == "call_started":
            fmt = {"encoding": self._format.encoding.value, "rate_hz": self._format.rate_hz}
            return encode_object({"type": "started", "call": self._call, "format": fmt})
        return encode_object({**fields, "type": "event", "event": name})

    def problem(self, bad: BadMessage) -> str:
        """Write the answer to a bad message."""
        return encode_object({"type": "error", "code": bad.code, "detail": bad.detail})

    def goodbye(self, reason: str) -> str:
        """Write the end of the call; the socket closes after it."""
        return encode_object({"type": "ended", "reason": reason})

    def sound_ms(self, message: str | bytes) -> float:
        """How long the sound in a message of ``audio`` plays; 0 for marks."""
        return self._format.ms_of(len(message)) if isinstance(message, bytes) else 0.0


def _read_format(message: JsonObject) -> AudioFormat | None:
    """Read ``format``; absent means 16-bit at 16 kHz, None what we don't speak."""
    if not isinstance(message.get("format"), dict | None):
        return None
    given = read_part(message, "format")
    name = given.get("encoding", WIDE.encoding.value)
    encoding = _ENCODINGS.get(name) if isinstance(name, str) else None
    rate = read_rate(given.get("rate_hz", WIDE.rate_hz))
    if encoding is None or rate is None:
        return None
    return AudioFormat(encoding, rate)
