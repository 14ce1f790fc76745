"""``bargein validate``: what an author sees, what a tool reads, and how fast."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner

from tests.runtime.project.projects import WHOLE, write
from voice.cli.main import COMMANDS, app_of, validation_of, wanted
from voice.cli.train_command import train
from voice.cli.validate_command import validate

ROOT = Path(__file__).parents[3]
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
packing = Typer()
packing.command()(train)


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


def test_a_file_that_is_no_project_is_unusable(tmp_path: Path):
    (tmp_path / "agent.yml").write_text("agent: {}", encoding="utf-8")
    (tmp_path / "old.bargein").write_bytes(b"PK")
    assert run(str(tmp_path / "agent.yml"))[0] == 2
    assert run(str(tmp_path / "old.bargein"))[0] == 2


def test_scenarios_are_read_too(tmp_path: Path):
    """Their names are compared with the project's; train refuses them as well."""
    scenario = "name: n\nexpect:\n  - tool_not_executed: lok_up\n  - herd: x\n"
    root = good(tmp_path / "desk")
    (root / "scenarios").mkdir()
    file = root / "scenarios" / "first.yml"
    file.write_text(scenario, encoding="utf-8")
    code, said = run(str(root))
    assert code == 1
    assert said.split("\n")[:9] == [
        "scenarios/first.yml",
        "  3:24    the project has no tool 'lok_up'  [unknown_tool]",
        "            - tool_not_executed: lok_up",
        "                                 ^",
        "          → did you mean 'look_up'?",
        "  4:5     'herd' is no expectation  [unknown_key]",
        "            - herd: x",
        "              ^",
        "          → did you mean 'heard'?",
    ]
    packed = CliRunner().invoke(packing, [str(root), "--out", str(tmp_path / "desk.bargein")])
    assert packed.exit_code == 1 and "lok_up" in packed.output
    assert not (tmp_path / "desk.bargein").exists()
    file.write_text("name: n\nexpect: [{tool_not_executed: look_up}]\n", encoding="utf-8")
    code, said = run(str(root))
    assert code == 0 and "1 skill, 2 tools, 1 scenario, 0 warnings" in said
    code, said = run(str(root), "--json")
    assert json.loads(said)["scenarios"] == [{"name": "n", "file": "scenarios/first.yml"}]


def test_a_project_and_its_scenarios_are_told_at_once(tmp_path: Path):
    """Names are not looked at while the project can't be loaded."""
    scenario = "name: n\nexpect: [{skill_started: nope}, {herd: x}]\n"
    agent = WHOLE["agent.yml"] + "tool_timeout: soon\n"
    write(tmp_path, {"agent.yml": agent, "scenarios/a.yml": scenario})
    code, said = run(str(tmp_path), "--json")
    found = [(p["file"], p["code"]) for p in json.loads(said)["problems"]]
    assert (code, found) == (1, [("agent.yml", "wrong_type"), ("scenarios/a.yml", "unknown_key")])


def test_warnings_are_told_beside_problems(tmp_path: Path):
    agent = WHOLE["agent.yml"] + "tool_timeout: soon\n"
    write(tmp_path, {"agent.yml": agent, "memroy.yml": "a: {}\n"})
    code, said = run(str(tmp_path))
    assert code == 1 and "'soon'" in said
    assert "\nwarning memroy.yml" in said


@pytest.mark.parametrize("stop", ["KeyboardInterrupt", "SystemExit(3)"])
def test_a_module_that_stops_what_imports_it_is_a_problem(tmp_path: Path, stop: str):
    root = good(tmp_path)
    (root / "skills/desk/tools.py").write_text(f"x = 1\n\nraise {stop}\n", encoding="utf-8")
    code, said = run(str(root))
    assert code == 1
    assert said.startswith("skills/desk/tools.py\n  3 ") and "[tool_loading]" in said
    assert stop.partition("(")[0] in said


def test_ctrl_c_stops_the_command(tmp_path: Path):
    """It is no problem of a module that happens to be imported just then."""
    root = good(tmp_path)
    pressed = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
    (root / "skills/desk/tools.py").write_text(pressed, encoding="utf-8")
    done = process(str(root))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Aborted.\n")


@pytest.mark.parametrize(
    ("words", "plain"),
    [
        (["validate", "desk"], (Path("desk"), False)),
        (["validate", "--json", "desk"], (Path("desk"), True)),
        (["validate", "desk", "--json"], (Path("desk"), True)),
        (["validate"], None),
        (["validate", ""], None),
        (["validate", "desk", "other"], None),
        (["validate", "--help"], None),
        (["validate", "--", "desk"], None),
        (["test", "desk"], None),
        ([], None),
    ],
)
def test_a_plain_command_line_is_read_without_the_rest(
    words: list[str], plain: tuple[Path, bool] | None
):
    assert validation_of(words) == plain


@pytest.mark.parametrize(
    "words", [[], ["--help"], ["-h"], ["tset"], ["--install-completion"], ["validate"]]
)
def test_only_the_command_that_was_asked_for_is_imported(words: list[str]):
    assert set(wanted(words)) == ({"validate"} if words == ["validate"] else set(COMMANDS))
    result = CliRunner().invoke(app_of(wanted(words)), ["validate", "--help"])
    assert result.exit_code == 0 and "Usage: bargein validate" in result.output


def test_the_help_lists_all_commands():
    result = CliRunner().invoke(app_of(wanted(["--help"])), ["--help"])
    assert all(name in result.output for name in COMMANDS)


def test_validate_imports_nothing_slow():
    """Speech, models, servers and the reader of command lines stay out of it."""
    slow = "typer pydantic numpy onnxruntime soundfile openai sqlalchemy uvicorn hibari jsonschema"
    code = (
        "import sys; sys.argv = ['bargein', 'validate', 'examples/card_desk']\n"
        "from voice.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"print([name for name in {slow.split()!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60
    )
    assert done.stderr.strip().splitlines()[-1] == "[]"


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
