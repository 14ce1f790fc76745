"""Every recording in audio_fixtures has its row: words, times, licence, source, attribution."""

import csv
import itertools
import json
from pathlib import Path

import pytest

from voice.audio.files import read_sound

FOLDER = Path(__file__).resolve().parents[1] / "audio_fixtures"
COLUMNS = ["file", "words", "segments", "licence", "source", "attribution"]
LICENCES = {
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-style (Sphinx-4)",
    "CC-BY-4.0",
    "CC0-1.0",
    "public domain (LibriVox)",
}
MAX_BYTES = 10_000_000


def rows() -> list[dict[str, str]]:
    with (FOLDER / "manifest.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        assert reader.fieldnames == COLUMNS
        return list(reader)


def test_every_file_has_its_row_and_every_row_its_file() -> None:
    kept = {str(p.relative_to(FOLDER)) for p in FOLDER.rglob("*") if p.suffix in (".wav", ".json")}
    listed = [row["file"] for row in rows()]
    assert len(listed) == len(set(listed))
    assert kept == set(listed), "add or remove the row in audio_fixtures/manifest.csv"


def test_every_row_says_where_it_comes_from_and_under_which_licence() -> None:
    for row in rows():
        assert set(row["licence"].split(" AND ")) <= LICENCES, row["file"]
        assert row["source"], row["file"]
        assert row["attribution"], row["file"]


def test_every_licence_that_must_travel_with_the_sound_does() -> None:
    notices = (FOLDER / "LICENCES.md").read_text(encoding="utf-8")
    for row in rows():
        for licence in row["licence"].split(" AND "):
            assert f"## {licence}\n" in notices, row["file"]


SOUNDS = [row for row in rows() if row["file"].endswith(".wav")]


@pytest.mark.parametrize("row", SOUNDS, ids=[row["file"] for row in SOUNDS])
def test_the_segments_lie_inside_the_sound_in_order(row: dict[str, str]) -> None:
    segments: list[list[int]] = json.loads(row["segments"])
    duration = read_sound(FOLDER / row["file"]).duration_ms
    edges = list(itertools.chain.from_iterable(segments))
    assert edges == sorted(edges)
    assert all(0 <= edge <= duration for edge in edges)
    assert bool(row["words"]) == bool(segments)


def test_the_folder_stays_small_enough_to_clone() -> None:
    assert sum(p.stat().st_size for p in FOLDER.rglob("*") if p.is_file()) < MAX_BYTES
