"""What a stretch of sound is made of: encoding, rate and the size of a 20 ms frame.

Owns the names of the wire encodings. Converting between them is ``g711`` and ``resample``.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final

FRAME_MS: Final = 20
"""Length of the frame that every room of the voice plane works in, ms."""


class Encoding(Enum):
    """How one sample is written down."""

    ULAW = "ulaw"
    """G.711 mu-law, one byte a sample."""
    ALAW = "alaw"
    """G.711 A-law, one byte a sample."""
    PCM16 = "pcm16"
    """Linear 16-bit, little-endian."""

    @property
    def sample_bytes(self) -> int:
        """Bytes one sample takes."""
        return 2 if self is Encoding.PCM16 else 1


@dataclass(frozen=True, slots=True)
class AudioFormat:
    """Mono audio of one encoding and rate."""

    encoding: Encoding
    rate_hz: int

    @property
    def frame_samples(self) -> int:
        """Samples in 20 ms."""
        return self.rate_hz * FRAME_MS // 1000

    @property
    def frame_bytes(self) -> int:
        """Bytes in 20 ms."""
        return self.frame_samples * self.encoding.sample_bytes

    def ms_of(self, byte_count: int) -> float:
        """Duration in ms of so many bytes of this format."""
        return byte_count * 1000.0 / (self.rate_hz * self.encoding.sample_bytes)


PHONE: Final = AudioFormat(Encoding.ULAW, 8000)
"""What telephony media streams carry."""
WIDE: Final = AudioFormat(Encoding.PCM16, 16000)
"""What browsers and apps send by default."""
