"""What a call needs of the world around it: a way out to the client, and the engines.

Owns the two seams that the gateway (live) and the replay (virtual time) fill differently.
"""

from dataclasses import dataclass
from typing import Protocol

from voice.hearing.ports import SpeechToText, VoiceDetector
from voice.speaking.ports import TextToSpeech


class Outbound(Protocol):
    """The way to the client: a bounded queue with a writer behind it; nothing here waits."""

    def audio(self, message: str | bytes) -> None:
        """Queue sound, or a mark that must stay behind the sound before it."""
        ...

    def control(self, message: str | bytes) -> None:
        """Queue a notice that may overtake sound."""
        ...

    def clear(self, message: str | bytes | None) -> None:
        """Drop queued sound and marks, then send the clear (if any) before anything else."""
        ...

    def close(self, code: int, reason: str) -> None:
        """Send what control is queued, then close the socket; idempotent."""
        ...


@dataclass(frozen=True, slots=True)
class Engines:
    """The process's engines, shared by all calls."""

    stt: SpeechToText
    tts: TextToSpeech
    detector: VoiceDetector | None
    """None = the WebRTC gate alone."""
    tts_voice: str | None = None
