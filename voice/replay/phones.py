"""The client's side of the wire protocols: what a phone or a page writes, and how it reads us.

Owns the client codecs only: strict, since both ends are ours. The server's side is ``voice.wire``;
the sound itself is ``player``, the caller who uses the phone ``far_end``.
"""

import base64
import json
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from runtime.errors import WireError
from voice.audio.format import PHONE, WIDE, AudioFormat


@dataclass(frozen=True, slots=True)
class Sound:
    """Sound to be played, in the line's format."""

    payload: bytes


@dataclass(frozen=True, slots=True)
class MarkSet:
    """A mark to be answered once the sound before it was played."""

    name: str


@dataclass(frozen=True, slots=True)
class ClearAsked:
    """Drop what is buffered."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Anything else the server says, by its name."""

    name: str


PhoneEvent: TypeAlias = Sound | MarkSet | ClearAsked | Notice


class Phone(Protocol):
    """One client protocol, seen from the client."""

    @property
    def format(self) -> AudioFormat:
        """Format of both directions."""
        ...

    def opening(self) -> list[str | bytes]:
        """Write what comes before the first sound."""
        ...

    def audio(self, payload: bytes) -> str | bytes:
        """Write one frame of the caller's sound."""
        ...

    def mark(self, name: str, *, cleared: bool) -> str | bytes:
        """Write that playback reached a mark, or that a clear dropped it."""
        ...

    def key(self, key: str) -> str | bytes:
        """Write a keypad key."""
        ...

    def text(self, text: str) -> str | bytes | None:
        """Write typed text; None where the protocol has none."""
        ...

    def tap(self, payload: str) -> str | bytes | None:
        """Write that a button with this payload was tapped; None where there are none."""
        ...

    def stop(self) -> str | bytes:
        """Write the end of the call."""
        ...

    def read(self, message: str | bytes) -> PhoneEvent:
        """Read one message of the server. Raises ``WireError`` for what no server may send."""
        ...


class TwilioPhone:
    """Twilio Media Streams, bidirectional: JSON text, mu-law at 8 kHz in base64."""

    STREAM: Final = "MZ00000000000000000000000000000001"

    def __init__(self, metadata: tuple[tuple[str, str], ...] = ()) -> None:
        """Carry ``metadata`` as the stream's custom parameters."""
        self._metadata = metadata
        self._sequence = 0
        self._chunk = 0

    @property
    def format(self) -> AudioFormat:
        """Always mu-law, 8 kHz."""
        return PHONE

    def opening(self) -> list[str | bytes]:
        """Write ``connected`` and ``start``."""
        connected = {"event": "connected", "protocol": "Call", "version": "1.0.0"}
        start = {
            "accountSid": "AC00000000000000000000000000000001",
            "streamSid": self.STREAM,
            "callSid": "CA00000000000000000000000000000001",
            "tracks": ["inbound"],
            "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
            "customParameters": dict(self._metadata),
        }
        return [json.dumps(connected), self._event("start", {"start": start})]

    def audio(self, payload: bytes) -> str | bytes:
        """Write ``media``."""
        self._chunk += 1
        media = {
            "track": "inbound",
            "chunk": str(self._chunk),
            "timestamp": str((self._chunk - 1) * 20),
            "payload": base64.b64encode(payload).decode("ascii"),
        }
        return self._event("media", {"media": media})

    def mark(self, name: str, *, cleared: bool) -> str | bytes:
        """Write ``mark``; a cleared one looks the same."""
        return self._event("mark", {"mark": {"name": name}})

    def key(self, key: str) -> str | bytes:
        """Write ``dtmf``."""
        return self._event("dtmf", {"dtmf": {"track": "inbound_track", "digit": key}})

    def text(self, text: str) -> str | bytes | None:
        """Nobody types on a phone line."""
        return None

    def tap(self, payload: str) -> str | bytes | None:
        """Nor are there buttons on it."""
        return None

    def stop(self) -> str | bytes:
        """Write ``stop``."""
        return self._event("stop", {"stop": {"accountSid": "AC", "callSid": "CA"}})

    def read(self, message: str | bytes) -> PhoneEvent:
        """Read ``media``, ``mark``, ``clear``."""
        match _object(message):
            case {"event": "media", "media": {"payload": str(payload)}}:
                return Sound(base64.b64decode(payload, validate=True))
            case {"event": "mark", "mark": {"name": str(name)}}:
                return MarkSet(name)
            case {"event": "clear"}:
                return ClearAsked()
            case {"event": str(name)}:
                return Notice(name)
            case _:
                raise WireError("the server sent an object without an event")

    def _event(self, name: str, body: dict[str, object]) -> str:
        self._sequence += 1
        message = {"event": name, "sequenceNumber": str(self._sequence), "streamSid": self.STREAM}
        return json.dumps({**message, **body})


class WebPhone:
    """Our own ``bargein.v1``: binary sound, JSON control."""

    def __init__(
        self,
        fmt: AudioFormat = WIDE,
        metadata: tuple[tuple[str, str], ...] = (),
        language: str | None = None,
    ) -> None:
        """Ask for ``fmt`` in both directions; ``language`` None = the project's."""
        self._format = fmt
        self._metadata = metadata
        self._language = language

    @property
    def format(self) -> AudioFormat:
        """The format asked for."""
        return self._format

    def opening(self) -> list[str | bytes]:
        """Write ``start``."""
        fmt = {"encoding": self._format.encoding.value, "rate_hz": self._format.rate_hz}
        start = {
            "type": "start",
            "format": fmt,
            "metadata": dict(self._metadata),
            "conversation": None,
            "language": self._language,
        }
        return [json.dumps(start)]

    def audio(self, payload: bytes) -> str | bytes:
        """Sound is sent bare."""
        return payload

    def mark(self, name: str, *, cleared: bool) -> str | bytes:
        """Write ``mark``."""
        tail = {"cleared": True} if cleared else {}
        return json.dumps({"type": "mark", "name": name, **tail})

    def key(self, key: str) -> str | bytes:
        """Write ``key``."""
        return json.dumps({"type": "key", "key": key})

    def text(self, text: str) -> str | bytes | None:
        """Write ``text``."""
        return json.dumps({"type": "text", "text": text})

    def tap(self, payload: str) -> str | bytes | None:
        """Write ``tap``."""
        return json.dumps({"type": "tap", "payload": payload})

    def stop(self) -> str | bytes:
        """Write ``stop``."""
        return json.dumps({"type": "stop"})

    def read(self, message: str | bytes) -> PhoneEvent:
        """Read sound, ``mark``, ``clear``."""
        if isinstance(message, bytes):
            return Sound(message)
        match _object(message):
            case {"type": "mark", "name": str(name)}:
                return MarkSet(name)
            case {"type": "clear"}:
                return ClearAsked()
            case {"type": str(name)}:
                return Notice(name)
            case _:
                raise WireError("the server sent an object without a type")


def _object(message: str | bytes) -> object:
    try:
        return json.loads(message)
    except ValueError:
        raise WireError("the server sent text that is no JSON") from None
