"""G.711 mu-law and A-law, as tables from a code to a sample and from a sample to a code.

Owns the companding rules of ITU-T G.711 and nothing else: ``codec`` applies the tables to streams.
Both laws are computed at import from the segments of the standard, not pasted.

How a code is made. The magnitude is cut into eight segments, each twice as wide as the one before,
each split into sixteen equal steps; three bits name the segment, four the step, one the sign.
Mu-law works on 14 bits and adds 33 first, so that all eight segments double; A-law works on 13 bits
and its two lowest segments are equally wide. On the line mu-law is sent inverted and A-law with
every other bit inverted, so that silence is not a row of zeros.

A negative sample ``x`` is coded as the mirror of ``~x``: the two halves of a two's complement range
meet between -1 and 0, and no sample loses a level to the sign.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ALAW_DECODE",
    "ALAW_ENCODE",
    "ALAW_SILENCE",
    "ULAW_DECODE",
    "ULAW_ENCODE",
    "ULAW_SILENCE",
]

_ULAW_BIAS: Final = 33
"""Added to the 14-bit magnitude, so that segment ``s`` begins at ``2 ** (s + 5)``."""
_ULAW_CEILING: Final = 8158
"""Largest 14-bit magnitude the last segment holds; louder samples get the last code."""


def _ulaw_decode() -> NDArray[np.int16]:
    """Value of each of the 256 codes, 16-bit scale."""
    code = ~np.arange(256) & 0xFF
    segment = code >> 4 & 7
    magnitude = ((2 * (code & 15) + _ULAW_BIAS) << segment) - _ULAW_BIAS
    return np.where(code & 0x80, -magnitude << 2, magnitude << 2).astype(np.int16)


def _alaw_decode() -> NDArray[np.int16]:
    """Value of each of the 256 codes, 16-bit scale."""
    code = np.arange(256) ^ 0x55
    segment = code >> 4 & 7
    magnitude = 2 * (code & 15) + np.where(segment > 0, 33, 1) << np.maximum(segment - 1, 0)
    return np.where(code & 0x80, magnitude << 3, -magnitude << 3).astype(np.int16)


def _floor_log2(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Position of the highest bit that is set; 0 maps to -1."""
    return np.frexp(values)[1].astype(np.int64) - 1


def _mirrored(positive: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Table over all samples, indexed by the sample's bits read as unsigned.

    Args:
        positive: the codes of 0..32767. The code of ``~x`` differs in the sign bit alone.
    """
    return np.concatenate((positive, positive[::-1] ^ 0x80)).astype(np.uint8)


def _ulaw_encode() -> NDArray[np.uint8]:
    """Code of each of the 65,536 samples."""
    biased = np.minimum(np.arange(32768) >> 2, _ULAW_CEILING) + _ULAW_BIAS
    segment = _floor_log2(biased) - 5
    return _mirrored(~(segment << 4 | biased >> segment + 1 & 15) & 0xFF)


def _alaw_encode() -> NDArray[np.uint8]:
    """Code of each of the 65,536 samples."""
    magnitude = np.arange(32768) >> 3
    segment = np.maximum(_floor_log2(magnitude) - 4, 0)
    step = magnitude >> np.maximum(segment, 1) & 15
    return _mirrored((segment << 4 | step | 0x80) ^ 0x55)


ULAW_DECODE: Final = _ulaw_decode()
"""Sample of each mu-law code; shape ``(256,)``."""
ALAW_DECODE: Final = _alaw_decode()
"""Sample of each A-law code; shape ``(256,)``."""
ULAW_ENCODE: Final = _ulaw_encode()
"""Mu-law code of each sample viewed as ``uint16``; shape ``(65536,)``."""
ALAW_ENCODE: Final = _alaw_encode()
"""A-law code of each sample viewed as ``uint16``; shape ``(65536,)``."""
ULAW_SILENCE: Final = 0xFF
"""The mu-law code of 0."""
ALAW_SILENCE: Final = 0xD5
"""The A-law code of 0."""
