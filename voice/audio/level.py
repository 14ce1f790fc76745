"""How loud a stretch of samples is.

Owns the one measure that the voice plane compares levels with. Smoothing it over time, and noise
floors, belong to the rooms that decide by it.
"""

import math
from typing import Final

import numpy as np

from voice.audio.codec import Samples

__all__ = ["FLOOR_DBFS", "dbfs"]

FLOOR_DBFS: Final = -100.0
"""The level of silence; no answer is lower."""

_FULL_SCALE_POWER: Final = 32768.0**2


def dbfs(samples: Samples) -> float:
    """Mean power in dB; 0 is a full-scale square wave, a full-scale sine is -3.01.

    Digital silence and an empty stretch give ``FLOOR_DBFS``. Runs per frame and call: one copy to
    float and one dot product.
    """
    wide = samples.astype(np.float32)
    energy = float(np.dot(wide, wide))
    if energy <= 0.0:
        return FLOOR_DBFS
    return max(FLOOR_DBFS, 10.0 * math.log10(energy / (wide.size * _FULL_SCALE_POWER)))
