"""``bargein validate``: what an author sees, what a tool reads, and how fast."""

import json
import subprocess
import sys
import time
from pathlib import Path

from typer import Typer
from typer.testing import CliRunner

from tests.runtime.project.projects import WHOLE, write
from voice.cli.validate_command import validate

TOOLS = """
import atexit, os, sys
from runtime import ToolContext, ToolResult, tool

print("loaded")
os.write(1, b"past python\\n")
atexit.register(print, "bye")


@tool(description="Look it up.")
async def look_up(what: str, context: ToolContext) -> ToolResult:
    return ToolResult()


@tool(description="Check it.")
async def run_after_setting_size(context: ToolContext) -> ToolResult:
    return ToolResult()
"""
SKILL = """---
name: Desk
description: Helps.
tool_constraints:
  - look_up:
      requires: session.desk.size
      requires_confirmation: {enabled: true}
---
Use @tool.look_up.
"""
MEMORY = "schema: {public: {size: {type: text, llm_settable: true}}}\n"

app = Typer()
app.command()(validate)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.stdout


def good(root: Path) -> Path:
    return write(
        root,
        {
            "skills/desk/skill.md": SKILL,
            "skills/desk/memory.yml": MEMORY,
            "skills/desk/tools.py": TOOLS,
        },
    )


def process(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command as it is installed, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "voice.cli.main", "validate", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_clean_project_says_so_with_what_it_holds(tmp_path: Path):
    code, said = run(str(write(tmp_path, {})))
    assert code == 0
    assert said.startswith(f"no problems in {tmp_path}: 1 skill, 0 tools, 0 warnings · 0.")


def test_problems_are_grouped_by_file_with_line_caret_and_mend(tmp_path: Path):
    """K09."""
    write(
        tmp_path,
        {
            "agent.yml": WHOLE["agent.yml"] + "tool_timeout: soon\nrulez: []\n",
            "skills/desk/skill.md": "---\nname: Desk\ndescription:\n---\nBe helpful.\n",
        },
    )
    code, said = run(str(tmp_path))
    assert code == 1
    assert said.split("\n")[:8] == [
        "agent.yml",
        "  5:15    'tool_timeout' must be a duration, this is 'soon'  [wrong_type]",
        "          tool_timeout: soon",
        "                        ^",
        "          → write seconds as a number (7 or 1.2), or '800 ms', '7 s', '2 min'",
        "  6:1     unknown key 'rulez'  [unknown_key]",
        "          rulez: []",
        "          ^",
    ]
    assert "skills/desk/skill.md\n  3:13 " in said
    assert "3 problems in 2 files · 0." in said


def test_json_has_all_of_it_for_a_tool(tmp_path: Path):
    """Every declared tool with its gate as it was written."""
    code, said = run(str(good(tmp_path)), "--json")
    report = json.loads(said)
    assert (code, report["ok"], report["problems"], report["warnings"]) == (0, True, [], [])
    (desk,) = [skill for skill in report["skills"] if not skill["packaged"]]
    assert [(t["name"], t["kind"], t["requires"], t["asks_first"]) for t in desk["tools"]] == [
        ("look_up", "tool", "session.desk.size", True),
        ("run_after_setting_size", "hook", None, False),
    ]


def test_json_of_a_broken_project_names_every_place(tmp_path: Path):
    write(tmp_path, {"agent.yml": WHOLE["agent.yml"] + "tool_timeout: soon\n"})
    code, said = run(str(tmp_path), "--json")
    report = json.loads(said)
    assert (code, report["ok"], report["skills"]) == (1, False, [])
    (problem,) = report["problems"]
    assert problem == {
        "file": "agent.yml",
        "line": 5,
        "column": 15,
        "code": "wrong_type",
        "message": "'tool_timeout' must be a duration, this is 'soon'",
        "mend": "write seconds as a number (7 or 1.2), or '800 ms', '7 s', '2 min'",
    }


def test_a_folder_that_is_no_project_is_unusable(tmp_path: Path):
    assert run(str(tmp_path / "nowhere"))[0] == 2
    assert run(str(tmp_path))[0] == 2


def test_what_an_authors_module_prints_can_not_spoil_the_output(tmp_path: Path):
    """Prints at import, past Python and at exit go to standard error."""
    done = process(str(good(tmp_path)), "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["ok"] is True
    assert [word in done.stderr for word in ("loaded", "past python", "bye")] == [True] * 3


def test_ten_skills_are_checked_in_half_a_second(tmp_path: Path):
    """The command as a process, start of Python included; the best of three runs."""
    files: dict[str, str | bytes | None] = {}
    for number in range(10):
        files[f"skills/s{number}/skill.md"] = SKILL.replace("desk.size", f"s{number}.size")
        files[f"skills/s{number}/memory.yml"] = MEMORY
        files[f"skills/s{number}/tools.py"] = TOOLS
    write(tmp_path, files)
    took: list[float] = []
    for _ in range(3):
        begun = time.perf_counter()
        assert process(str(tmp_path)).returncode == 0
        took.append(time.perf_counter() - begun)
    assert min(took) < 1.0  # 0.5 s on an idle machine; the rest is for a busy one
