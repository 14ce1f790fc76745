"""Recorded utterances as base64 mu-law frames, ready to send, with the place of their speech.

Owns the reading of the bench's clips (8 kHz; the place of the speech comes from ``FILE.json``
beside the clip, or from its energy) and the line noise between them.
"""

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from voice.audio import codec
from voice.audio.files import read_sound
from voice.audio.format import PHONE

_SPEECH_RMS: Final = 650
"""About -34 dBFS over 10 ms: louder is speech, where no side file says."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """One clip of a caller."""

    frames: tuple[str, ...]
    """20 ms each, base64 mu-law."""
    speech_start_s: float
    speech_end_s: float


def _base64_frames(samples: np.ndarray) -> tuple[str, ...]:
    whole = np.concatenate([samples, np.zeros(-len(samples) % PHONE.frame_samples, np.int16)])
    coded = codec.from_linear(PHONE, whole)
    return tuple(
        base64.b64encode(coded[i : i + PHONE.frame_bytes]).decode()
        for i in range(0, len(coded), PHONE.frame_bytes)
    )


def read_utterance(path: Path) -> Utterance:
    """Read a clip and where its speech begins and ends."""
    sound = read_sound(path, rate_hz=PHONE.rate_hz, channel=0)
    side = path.with_name(path.name + ".json")
    if side.exists():
        known = json.loads(side.read_text(encoding="utf-8"))
        start, end = float(known["speech_start_s"]), float(known["speech_end_s"])
    else:
        tens = sound.samples[: len(sound.samples) // 80 * 80].astype(np.float64).reshape(-1, 80)
        loud = np.flatnonzero(np.sqrt((tens**2).mean(axis=1)) > _SPEECH_RMS)
        start, end = float(loud[0]) * 0.01, float(loud[-1] + 1) * 0.01
    return Utterance(_base64_frames(sound.samples), start, end)


def line_noise(dbfs: float | None, frames: int = 50) -> tuple[str, ...]:
    """Make the noise of a quiet line; None = digital silence."""
    if dbfs is None:
        return _base64_frames(np.zeros(PHONE.frame_samples, np.int16))
    rms = 32768 * 10 ** (dbfs / 20)
    noise = np.random.default_rng(7).normal(0, rms, frames * PHONE.frame_samples)
    return _base64_frames(np.clip(noise, -32768, 32767).astype(np.int16))
