"""Make the caller of the card desk: the recordings of this folder and their rows of the manifest.

    .venv/bin/python audio_fixtures/card_desk/make.py

Spoken by the embedded voice of hibari-tts, slowed down or sped up, then played at another rate:
somebody lower and quicker than the agent, who is the same voice as it comes. The same version of
the engine makes the same bytes. It writes the sounds, and the rows that begin with ``card_desk/``.
"""

import csv
import json
import zlib
from pathlib import Path
from typing import Any, Final, Protocol, cast

import numpy as np
import soxr
from numpy.typing import NDArray

from voice.audio.files import write_wav

HERE: Final = Path(__file__).resolve().parent
MANIFEST: Final = HERE.parent / "manifest.csv"

RATE_HZ: Final = 16_000
PITCH: Final = 0.86
"""Against the agent's."""
SPEED: Final = 1.04
PEAK: Final = 0.5
QUIET: Final = 0.01
"""Of the peak: what is below it at either end is cut."""
LEAD_MS: Final = 40
TAIL_MS: Final = 120

LINES: Final = {
    "lost": "I lost my card.",
    "number": "Four, seven, two, nine, one, three.",
    "year": "One, nine, eight, four.",
    "gold": "The gold one.",
    "blue": "No, I mean the blue card.",
    "stolen": "It was stolen.",
    "cost": "How much does express cost?",
    "express": "Express, please.",
    "yes": "Yes.",
    "no_wait": "No, hold on.",
    "go_ahead": "Yes, go ahead.",
    "sent": "Has my card been sent?",
    "goodbye": "No thanks, goodbye.",
}
"""File and words."""

Sound = NDArray[np.float32]


class _Engine(Protocol):
    """What is used of hibari."""

    def __call__(self, text: str, speed: float = 1.0, seed: int | None = None) -> Sound: ...


def spoken(engine: _Engine, words: str) -> NDArray[np.int16]:
    """Say ``words`` in the caller's voice; 16 kHz, cut to the speech."""
    natural = engine(words, speed=SPEED / PITCH, seed=zlib.crc32(words.encode()))
    # Played at a lower rate it is lower, and as much slower as it was spoken faster.
    sound = cast("Sound", soxr.resample(natural, 24_000 * PITCH, RATE_HZ, quality="VHQ"))
    sound = sound / float(np.abs(sound).max())
    loud = np.flatnonzero(np.abs(sound) > QUIET)
    first = max(0, int(loud[0]) - LEAD_MS * RATE_HZ // 1000)
    last = min(sound.size, int(loud[-1]) + TAIL_MS * RATE_HZ // 1000)
    return np.round(sound[first:last] * PEAK * 32767).astype(np.int16)


def row(name: str, samples: NDArray[np.int16], version: str) -> list[str]:
    """The recording's row in the manifest."""
    duration = samples.size * 1000 // RATE_HZ
    segments = json.dumps([[LEAD_MS, duration - TAIL_MS]], separators=(",", ":"))
    source = f"hibari-tts {version}, voice heart, made by audio_fixtures/card_desk/make.py"
    return [f"card_desk/{name}.wav", LINES[name], segments, "Apache-2.0", source, AUTHORS]


AUTHORS: Final = "The bargein authors, with the voice of hibari-tts"


def main() -> None:
    """Write the sounds and the rows."""
    from importlib.metadata import version

    import hibari

    engine = cast("_Engine", cast(Any, hibari).Hibari())
    rows: list[list[str]] = []
    for name, words in LINES.items():
        samples = spoken(engine, words)
        write_wav(HERE / f"{name}.wav", samples, RATE_HZ)
        rows.append(row(name, samples, version("hibari-tts")))
    with MANIFEST.open(encoding="utf-8", newline="") as file:
        kept = [line for line in csv.reader(file) if not line[0].startswith("card_desk/")]
    with MANIFEST.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([*kept, *rows])


if __name__ == "__main__":
    main()
