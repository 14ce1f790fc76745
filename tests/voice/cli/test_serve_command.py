"""``bargein serve`` and ``talk``: what is said where nothing can be served."""

from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner

from tests.runtime.project.projects import write
from voice.cli.serve_command import serve, talk

app = Typer()
app.command()(serve)
app.command()(talk)

_NO_VOICE = """
model_groups: [{id: main, models: [{provider: offline}]}]
channels: {voice: {asr: {name: scripted}, tts: {name: local, voice: nosuch}}}
"""


@pytest.mark.parametrize("command", ["serve", "talk"])
def test_what_is_no_project_is_told_and_nothing_else(tmp_path: Path, command: str) -> None:
    (tmp_path / "agent.yml").write_text("agent: {}", encoding="utf-8")
    for path in (tmp_path / "nowhere", tmp_path / "agent.yml"):
        result = CliRunner().invoke(app, [command, str(path), "--port", "0"])
        assert result.exit_code == 2
        first, second = result.output.strip().split("\n")
        assert first == "The project can't be run:"
        assert second.startswith(str(path)) and second.endswith("[missing_project]")


def test_a_voice_that_is_not_there_is_told_before_anyone_calls(tmp_path: Path) -> None:
    root = write(tmp_path, {"integrations.yml": _NO_VOICE})
    result = CliRunner().invoke(app, ["talk", str(root), "--port", "0"])
    assert result.exit_code == 1
    assert "integrations.yml: 'channels.voice.tts.voice' can't be 'nosuch'" in result.output
    assert "write 'heart', or take it away" in result.output
    assert "Traceback" not in result.output and "error" not in result.output
