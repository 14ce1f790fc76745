"""The caller's lines of a scenario as sound: recordings as they are, words as a made voice.

Owns how long words take and what they sound like. The made voice is no speech that anyone could
understand: vowels on a falling pitch, loud and harmonic enough for voice detectors, the same for
the same text. What the STT makes of it is ``words``.
"""

import zlib
from typing import Final

import numpy as np
from numpy.typing import NDArray

from voice.audio.files import read_sound
from voice.replay.scenarios.model import CallerAct, HangsUp, Presses, Says, Sounds, Taps, Types
from voice.replay.scenarios.words import Utterance
from voice.replay.script import CallerLine, Doing, HangUp, Keys, Samples, Speech, Tap, Typed

__all__ = ["caller_lines", "utterances", "voice_for"]

_WORD_MS: Final = 120
_LETTER_MS: Final = 40
_LEAST_MS: Final = 240
_MOST_MS: Final = 60_000
_RMS: Final = 2600.0
"""-22 dBFS: a near voice on a good line."""
_FORMANTS: Final = (
    (700.0, 1200.0, 2500.0),
    (400.0, 2000.0, 2600.0),
    (350.0, 900.0, 2400.0),
    (550.0, 1700.0, 2500.0),
)
"""Resonances of a few vowels, Hz."""
_BANDWIDTH_HZ: Final = 130.0


def caller_lines(acts: tuple[CallerAct, ...], rate_hz: int) -> tuple[CallerLine, ...]:
    """Make what the phone plays, at the line's rate.

    Raises:
        AudioError: a sound file can't be read.
    """
    return tuple(CallerLine(_doing(act, rate_hz), act.at, act.name) for act in acts)


def utterances(acts: tuple[CallerAct, ...], lines: tuple[CallerLine, ...]) -> tuple[Utterance, ...]:
    """Return the words of the lines that have any, with the length of their sound."""
    found: list[Utterance] = []
    for act, line in zip(acts, lines, strict=True):
        text = None
        match act.what:
            case Says(text=text) | Sounds(words=text):
                pass
            case _:
                continue
        if text and isinstance(line.what, Speech):
            found.append(Utterance(act.name, _ended(text), line.what.last_sound_ms))
    return tuple(found)


def _ended(text: str) -> str:
    """End a sentence as speech-to-text does; one that trails off is written with an ellipsis."""
    return f"{text}." if text[-1:].isalnum() else text


def _doing(act: CallerAct, rate_hz: int) -> Doing:
    match act.what:
        case Says(text, level_db):
            return Speech(_louder(voice_for(text, rate_hz), level_db), rate_hz)
        case Sounds(path=path, level_db=level_db):
            samples = np.ascontiguousarray(read_sound(path, rate_hz).samples)
            return Speech(_louder(samples, level_db), rate_hz)
        case Presses(keys):
            return Keys(keys)
        case Types(text):
            return Typed(text)
        case Taps(payload):
            return Tap(payload)
        case HangsUp():
            return HangUp()


def voice_for(text: str, rate_hz: int) -> Samples:
    """Make a voice that says ``text``: as long as its words take, the same each time."""
    words = text.split() or [""]
    lengths = [_WORD_MS + _LETTER_MS * len(word) for word in words]
    scale = min(max(1.0, _LEAST_MS / sum(lengths)), _MOST_MS / sum(lengths))
    pieces = [
        _vowel(zlib.crc32(word.encode("utf-8", "replace")), round(length * scale), rate_hz, number)
        for number, (word, length) in enumerate(zip(words, lengths, strict=True))
    ]
    whole = np.concatenate(pieces)
    whole *= _RMS / max(1e-9, float(np.sqrt(np.mean(whole**2))))
    return np.clip(np.rint(whole), -32768, 32767).astype(np.int16)


def _vowel(seed: int, length_ms: int, rate_hz: int, number: int) -> NDArray[np.float64]:
    """One word: a vowel whose pitch falls a little, over before the next begins."""
    count = length_ms * rate_hz // 1000
    place = np.arange(count) / max(1, count)
    pitch = (128.0 - 2.0 * (number % 8)) * (1.06 - 0.12 * place)
    phase = 2 * np.pi * np.cumsum(pitch) / rate_hz
    formants = _FORMANTS[seed % len(_FORMANTS)]
    sound = np.zeros(count)
    for harmonic in range(1, int(min(3400.0, rate_hz / 2 - 200) / 140)):
        hz = harmonic * 125.0
        gain = sum(
            1.0 / (1.0 + ((hz - peak) / _BANDWIDTH_HZ) ** 2) / (rank + 1)
            for rank, peak in enumerate(formants)
        )
        sound += (gain + 0.02) * np.sin(harmonic * phase + harmonic * harmonic * 0.7)
    # soft edges, never silent: a word's end is no pause
    return sound * (0.35 + 0.65 * np.sin(np.pi * np.clip(place, 0.0, 1.0)) ** 0.5)


def _louder(samples: Samples, level_db: float) -> Samples:
    if not level_db:
        return samples
    louder = np.rint(samples.astype(np.float64) * 10 ** (level_db / 20))
    return np.clip(louder, -32768, 32767).astype(np.int16)
