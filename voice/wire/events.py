"""What a client protocol's messages mean, whatever the protocol: past-tense facts of one call.

``decode`` of every codec gives these and never raises; what can't be read is a ``BadMessage``.
"""

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from voice.audio.format import AudioFormat


@dataclass(frozen=True, slots=True)
class Connected:
    """The client said hello; nothing is known yet."""


@dataclass(frozen=True, slots=True)
class CallStarted:
    """The stream begins: its format and what the channel knows of the caller."""

    format: AudioFormat
    metadata: tuple[tuple[str, str], ...] = ()
    conversation: str | None = None
    language: str | None = None
    ids: tuple[tuple[str, str], ...] = ()
    """Provider ids (stream, call), for logs."""


@dataclass(frozen=True, slots=True)
class CallerAudio:
    """Bytes in the line's own format; any length."""

    payload: bytes


@dataclass(frozen=True, slots=True)
class CallerKey:
    """One keypad key."""

    key: str


@dataclass(frozen=True, slots=True)
class MarkReached:
    """The client says that playback reached this mark (or that it was cleared with it)."""

    name: str


@dataclass(frozen=True, slots=True)
class CallerTyped:
    """Typed text."""

    text: str


@dataclass(frozen=True, slots=True)
class CallerTapped:
    """A tapped button."""

    payload: str


@dataclass(frozen=True, slots=True)
class CallStopped:
    """The client ends the call."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class BadMessage:
    """Something that can't be used: counted, answered where the protocol has an answer."""

    code: str
    """Stable: ``not_json``, ``not_text``, ``not_binary``, ``bad_base64``, ``too_deep``,
    ``before_start``, ...
    """
    detail: str
    """What was wrong, without any of the caller's content."""
    fatal: bool = False
    """Close the socket with 1008 (policy) after answering."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """Known to be of no interest (an unknown event name); counted."""

    what: str


WireEvent: TypeAlias = (
    Connected
    | CallStarted
    | CallerAudio
    | CallerKey
    | MarkReached
    | CallerTyped
    | CallerTapped
    | CallStopped
    | BadMessage
    | Ignored
)


class WireProtocol(Protocol):
    """One client protocol: a codec with the little state its order rules need. Pure."""

    @property
    def can_clear(self) -> bool:
        """Whether the client can drop what it has buffered."""
        ...

    @property
    def echoes_marks_on_clear(self) -> bool:
        """Whether pending marks come back at once on a clear."""
        ...

    def decode(self, message: str | bytes) -> list[WireEvent]:
        """Read one websocket message; total, never raises."""
        ...

    def audio(self, payload: bytes) -> str | bytes:
        """Write sound in the format of ``CallStarted``."""
        ...

    def mark(self, name: str) -> str | bytes:
        """Write a mark that follows the sound sent so far."""
        ...

    def clear(self) -> str | bytes | None:
        """Write the order to drop buffered sound; None where there is none."""
        ...

    def event(self, name: str, fields: dict[str, object]) -> str | bytes | None:
        """Write a notice for clients that show them (our own protocol); None elsewhere."""
        ...

    def problem(self, bad: BadMessage) -> str | bytes | None:
        """Write the answer to a bad message; None where the protocol has none."""
        ...

    def goodbye(self, reason: str) -> str | bytes | None:
        """Write the end of the call; None where closing the socket says it."""
        ...
