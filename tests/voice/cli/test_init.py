"""``bargein init``: the project it writes is right, and nothing is overwritten."""

from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner

from runtime.project.loader import load
from voice.cli.init_command import init, starter_files

app = Typer()
app.command()(init)


def test_the_project_it_writes_loads_without_a_warning(tmp_path: Path):
    """What a new author sees first: no problem, no remark, and one of each kind of file."""
    result = CliRunner().invoke(app, [str(tmp_path / "shop")])
    assert result.exit_code == 0
    project = load(tmp_path / "shop", {})
    assert project.warnings == ()
    assert project.id == "shop"
    skill = project.skills["appointments"]
    assert list(skill.tools) == ["book_repair"]
    assert [block.id for block in skill.blocks] == ["booking"]
    assert skill.constraints["book_repair"].confirmation is not None
    assert project.index is not None
    assert (tmp_path / "shop/scenarios/booking.yml").is_file()


def test_it_tells_the_next_three_commands(tmp_path: Path):
    said = CliRunner().invoke(app, [str(tmp_path / "my shop")]).stdout
    commands = [line.split()[1] for line in said.split("\n") if line.startswith("  bargein")]
    assert commands == ["validate", "test", "talk"]
    assert f'"{tmp_path}/my shop"' in said


def test_an_empty_folder_may_be_there(tmp_path: Path):
    assert CliRunner().invoke(app, [str(tmp_path)]).exit_code == 0


@pytest.mark.parametrize("there", ["folder/own.txt", "folder"])
def test_nothing_is_overwritten(tmp_path: Path, there: str):
    mine = tmp_path / there
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine", encoding="utf-8")
    result = CliRunner().invoke(app, [str(tmp_path / "folder")])
    assert result.exit_code == 2
    assert "is there already" in result.stderr
    assert mine.read_text(encoding="utf-8") == "mine"
    assert [p.name for p in tmp_path.rglob("*.*")] == (["own.txt"] if "/" in there else [])


def test_a_folder_that_can_not_be_written_is_named(tmp_path: Path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    result = CliRunner().invoke(app, [str(tmp_path / "file" / "below")])
    assert result.exit_code == 2
    assert "can't write to" in result.stderr


def test_the_files_are_read_from_the_package():
    """A wheel must hold them: Python files among them are data, not modules."""
    assert {"agent.yml", "integrations.yml", "skills/appointments/tools.py"} <= set(starter_files())
