"""What ``bargein validate`` does: checks a project and its scenarios, and prints what it found.

Owns the two outputs, for people and for tools. What is checked is ``runtime.project`` and
``voice.replay.scenarios``; how problems are shown is ``checking``. Imports nothing that is slow to
import, since editors run it at every save.
"""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voice.cli.checking import Checked, check_project, counted, exit_code, own_output, show

if TYPE_CHECKING:
    from rich.text import Text

    from runtime.project.skill_model import Skill
    from runtime.tools.definition import ToolDef

__all__ = ["carry_out"]


def carry_out(project: Path, *, as_json: bool) -> int:
    """Check and print; return the exit code."""
    begun = time.perf_counter()
    with own_output() as out:
        checked = check_project(project)
        took_s = time.perf_counter() - begun
        if as_json:
            report = json.dumps(_report(checked), ensure_ascii=False, indent=2)
            out.write(f"{report}\n")
            out.flush()
        else:
            from rich.console import Console

            console = Console(file=out, highlight=False, soft_wrap=True)
            show(console, checked.problems, checked.warnings)
            console.print(_summary(project, checked, took_s))
    return exit_code(checked.problems)


def _summary(path: Path, checked: Checked, took_s: float) -> "Text":
    from rich.text import Text

    problems, loaded = checked.problems, checked.project
    if problems or loaded is None:
        files = len({problem.place.file for problem in problems})
        what = f"{counted(len(problems), 'problem')} in {counted(files, 'file')}"
        return Text.assemble((what, "bold red"), f" · {took_s:.2f} s")
    own = [skill for skill in loaded.skills.values() if not skill.packaged]
    tools = {(tool.place, tool.name) for skill in own for tool in skill.tools.values()}
    found = [counted(len(own), "skill"), counted(len(tools), "tool")]
    if checked.scenarios:
        found.append(counted(len(checked.scenarios), "scenario"))
    found.append(counted(len(checked.warnings), "warning"))
    return Text.assemble(
        ("no problems", "bold green"), f" in {path}: {', '.join(found)} · {took_s:.2f} s"
    )


# ------------------------------------------------------------------ for tools


def _report(checked: Checked) -> dict[str, Any]:
    loaded = checked.project
    return {
        "ok": not checked.problems,
        "problems": [
            {
                "file": problem.place.file,
                "line": problem.place.line,
                "column": problem.place.column,
                "code": problem.code,
                "message": problem.message,
                "mend": problem.mend,
            }
            for problem in checked.problems
        ],
        "warnings": list(checked.warnings),
        "skills": [_skill(skill) for skill in loaded.skills.values()] if loaded else [],
        "scenarios": [
            {"name": scenario.name, "file": scenario.file} for scenario in checked.scenarios
        ],
    }


def _skill(skill: "Skill") -> dict[str, Any]:
    return {
        "id": skill.id,
        "name": skill.name,
        "packaged": skill.packaged,
        "requires": None if skill.requires is None else skill.requires.text,
        "tools": [_tool(skill, tool) for tool in skill.tools.values()],
    }


def _tool(skill: "Skill", tool: "ToolDef") -> dict[str, Any]:
    gate = skill.constraints.get(tool.name)
    kind = "tool"
    if tool.hook_for is not None:
        kind = "hook"
    elif tool.name in skill.button_sources:
        kind = "button_source"
    return {
        "name": tool.name,
        "kind": kind,
        "file": tool.place.file,
        "line": tool.place.line,
        "requires": None if gate is None or gate.requires is None else gate.requires.text,
        "asks_first": gate is not None and gate.confirmation is not None,
    }
