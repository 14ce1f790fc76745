"""``bargein replay``: what it prints and writes, and its exit codes."""

import json
import wave
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from voice.cli.replay_command import replay
from voice.cli.replaying import Request

_ROOT = Path(__file__).parents[3]
_PROJECT = str(_ROOT / "tests" / "projects" / "front_desk")
_QUESTION = str(_ROOT / "audio_fixtures" / "clips" / "en_brooklyn_bridge.wav")
_NO = str(_ROOT / "audio_fixtures" / "clips" / "kw_no.wav")
_QUICK = ["--stt", "scripted", "--tts", "scripted", "--words", "How old is the bridge?"]

app = typer.Typer(rich_markup_mode="rich")
app.command()(replay)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "100", "TERM": "dumb"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, " ".join(result.output.split())


def test_a_call_is_printed_and_written(tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    code, text = run(
        _PROJECT, _QUESTION, "--at", "agent_ends", *_QUICK, "--out", str(out), "--seconds", "40"
    )
    assert code == 0
    assert "turn_started" in text and "The agent answered" in text and "real time" in text
    assert sorted(path.name for path in out.iterdir()) == [
        "call.wav",
        "events.jsonl",
        "report.html",
    ]
    with wave.open(str(out / "call.wav")) as sound:
        assert (sound.getnchannels(), sound.getframerate()) == (2, 8000)
    lines = (out / "events.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0])["event"] == "call_started"
    assert json.loads(lines[-1])["event"] == "call_ended"


def test_the_same_call_gives_the_same_files(tmp_path: Path) -> None:
    for name in ("one", "two"):
        arguments = ["--then", _NO, "--at", "agent_starts+2s", "--words", "no", "--seconds", "30"]
        code, _ = run(
            _PROJECT, _QUESTION, *_QUICK, *arguments, "--echo-db", "30", "--jitter-ms", "20",
            "--out", str(tmp_path / name), "-q",
        )  # fmt: skip
        assert code == 0
    for name in ("call.wav", "events.jsonl", "report.html"):
        first, second = (tmp_path / folder / name for folder in ("one", "two"))
        assert first.read_bytes() == second.read_bytes(), name


def test_a_sound_whose_moment_never_comes_is_named() -> None:
    code, text = run(
        _PROJECT, _QUESTION, "--at", "#9:tool_ends+1s", *_QUICK, "--seconds", "3", "--quiet"
    )
    assert code == 0
    assert "never came: en_brooklyn_bridge at #9:tool_ends+1000ms" in text


@pytest.mark.parametrize(
    ("arguments", "mend"),
    [
        (["nowhere", _QUESTION], "there is no such folder"),
        ([_PROJECT, "nowhere.wav"], "nowhere.wav"),
        ([_PROJECT, str(_ROOT / "pyproject.toml")], "no sound file"),
        ([_PROJECT, _QUESTION, "--at", "agent_start"], "did you mean agent_starts?"),
        ([_PROJECT, _QUESTION, "--at", "1s", "--at", "2s"], "add --then FILE for each --at"),
        ([_PROJECT, _QUESTION, "--press", "12"], "write --press '12@4.5s'"),
        ([_PROJECT, _QUESTION, "--press", "x@1s"], "keys are 0-9"),
        ([_PROJECT, _QUESTION, "--hang-up", "soon"], "names no anchor"),
        ([_PROJECT, _QUESTION, "--stt", "scripted"], "add --words TEXT"),
        ([_PROJECT, _QUESTION, "--date", "2. March"], "write it as 2026-03-02"),
    ],
)
def test_input_that_cannot_be_used_is_refused_with_its_mend(
    arguments: list[str], mend: str
) -> None:
    code, text = run(*arguments)
    assert code == 2
    assert mend in text


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("", encoding="utf-8")
    code, text = run(_PROJECT, _QUESTION, *_QUICK, "--seconds", "1", "--out", str(taken))
    assert code == 2
    assert "choose another folder with --out" in text
    assert "The agent answered" not in text and "hang_up" not in text


@pytest.mark.parametrize(
    ("written", "start"),
    [
        (None, 1767607200.0),
        ("2026-03-02", 1772445600.0),
        ("2026-03-02T09:30", 1772443800.0),
    ],
)
def test_the_call_happens_on_the_day_that_is_asked_for(written: str | None, start: float) -> None:
    request = Request(project=Path(), sounds=(), date=written)
    assert request.options.wall_start == start


def test_a_failed_call_is_an_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("voice.call.driver.Floor", refuse)
    code, text = run(_PROJECT, _QUESTION, *_QUICK, "--seconds", "1")
    assert code == 1
    assert "the call failed: internal" in text


def test_the_help_teaches() -> None:
    code, text = run("--help")
    assert code == 0
    for words in ("agent_starts+1200ms", "Exit codes", "--then", "events.jsonl", "agent_ends"):
        assert words in text
