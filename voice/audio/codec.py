"""Bytes of the line to linear samples and back.

Owns the conversion between the three encodings and signed 16-bit samples of the same rate. Changing
the rate is ``resample``; cutting a stream into frames, and carrying half a sample from one message
to the next, is ``reblock``. All functions are total: no input raises.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from voice.audio import g711
from voice.audio.format import AudioFormat, Encoding

__all__ = ["Samples", "from_linear", "silence", "to_linear"]

Samples: TypeAlias = NDArray[np.int16]
"""Linear mono samples in the machine's byte order, shape ``(n,)``."""


def to_linear(fmt: AudioFormat, data: bytes) -> Samples:
    """Decode bytes of the line.

    A PCM16 byte that is no whole sample is left out: whoever reads a stream uses ``Reblocker``
    first. The answer may be a read-only view of ``data``.
    """
    match fmt.encoding:
        case Encoding.ULAW:
            return g711.ULAW_DECODE.take(np.frombuffer(data, np.uint8))
        case Encoding.ALAW:
            return g711.ALAW_DECODE.take(np.frombuffer(data, np.uint8))
        case Encoding.PCM16:
            samples = np.frombuffer(data, np.dtype("<i2"), count=len(data) // 2)
            return samples.astype(np.int16, copy=False)


def from_linear(fmt: AudioFormat, samples: Samples) -> bytes:
    """Encode samples of the format's rate as bytes of the line."""
    match fmt.encoding:
        case Encoding.ULAW:
            return g711.ULAW_ENCODE.take(samples.view(np.uint16)).tobytes()
        case Encoding.ALAW:
            return g711.ALAW_ENCODE.take(samples.view(np.uint16)).tobytes()
        case Encoding.PCM16:
            return samples.astype("<i2", copy=False).tobytes()


def silence(fmt: AudioFormat, samples: int) -> bytes:
    """So many samples of silence, as bytes of the line."""
    match fmt.encoding:
        case Encoding.ULAW:
            return bytes([g711.ULAW_SILENCE]) * samples
        case Encoding.ALAW:
            return bytes([g711.ALAW_SILENCE]) * samples
        case Encoding.PCM16:
            return bytes(2 * samples)
