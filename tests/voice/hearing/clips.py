"""Recorded speech for the tests of hearing: clips on a line, and their known words and times."""

import csv
import functools
import json
from pathlib import Path

import numpy as np

from voice.audio.files import read_sound
from voice.hearing.ports import Samples

ROOT = Path(__file__).parents[3] / "audio_fixtures"
LEAD_MS = 2400


@functools.cache
def segments(file: str) -> list[tuple[int, int]]:
    with (ROOT / "manifest.csv").open(encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table):
            if row["file"] == file:
                return [(start, end) for start, end in json.loads(row["segments"])]
    raise AssertionError(f"{file} is not in the manifest")


@functools.cache
def on_a_line(file: str, rate_hz: int = 8000) -> Samples:
    """The clip at -26 dBFS after 2.4 s of a quiet line, and 1 s of it behind."""
    clip = read_sound(ROOT / file, rate_hz=rate_hz).samples.astype(np.float64)
    clip *= 32768 * 10 ** (-26 / 20) / np.sqrt(np.mean(np.square(clip)))
    lead = LEAD_MS * rate_hz // 1000
    line = np.random.default_rng(7).standard_normal(lead + clip.size + rate_hz)
    line *= 32768 * 10 ** (-65 / 20)
    line[lead : lead + clip.size] += clip
    return line.clip(-32768, 32767).astype(np.int16)
