"""``bargein validate``: everything that is wrong in a project, at once.

Owns the command and its two outputs, for people and for tools. What is checked is
``runtime.project``; how problems are shown is ``checking``.
"""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from voice.cli.checking import counted, exit_code, load_project, own_output, show

if TYPE_CHECKING:
    from runtime.errors import Problem
    from runtime.project.model import Project
    from runtime.project.skill_model import Skill
    from runtime.tools.definition import ToolDef

__all__ = ["validate"]


def validate(
    project: Annotated[
        Path, typer.Argument(help="The agent project's folder (it holds agent.yml).")
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, for tools and editors.")
    ] = False,
) -> None:
    """Check an agent project: every problem with its place and what to write instead.

    Reads all files and imports the tools, as a call would; nothing is called and nothing is
    connected to. What each code means stands in docs/problems.md.

    Exit codes: 0 clean, 1 something is to be mended, 2 no such project.
    """
    begun = time.perf_counter()
    with own_output() as out:
        loaded, problems = load_project(project)
        took_s = time.perf_counter() - begun
        if as_json:
            report = json.dumps(_report(loaded, problems), ensure_ascii=False, indent=2)
            out.write(f"{report}\n")
            out.flush()
        else:
            console = Console(file=out, highlight=False, soft_wrap=True)
            show(console, problems, loaded.warnings if loaded else ())
            console.print(_summary(project, loaded, problems, took_s))
    raise typer.Exit(exit_code(problems))


def _summary(
    path: Path, loaded: "Project | None", problems: "Sequence[Problem]", took_s: float
) -> Text:
    if loaded is None:
        files = len({problem.place.file for problem in problems})
        what = f"{counted(len(problems), 'problem')} in {counted(files, 'file')}"
        return Text.assemble((what, "bold red"), f" · {took_s:.2f} s")
    own = [skill for skill in loaded.skills.values() if not skill.packaged]
    tools = {(tool.place, tool.name) for skill in own for tool in skill.tools.values()}
    return Text.assemble(
        ("no problems", "bold green"),
        f" in {path}: {counted(len(own), 'skill')}, {counted(len(tools), 'tool')}, "
        f"{counted(len(loaded.warnings), 'warning')} · {took_s:.2f} s",
    )


# ------------------------------------------------------------------ for tools


def _report(loaded: "Project | None", problems: "Sequence[Problem]") -> dict[str, Any]:
    return {
        "ok": loaded is not None,
        "problems": [
            {
                "file": problem.place.file,
                "line": problem.place.line,
                "column": problem.place.column,
                "code": problem.code,
                "message": problem.message,
                "mend": problem.mend,
            }
            for problem in problems
        ],
        "warnings": list(loaded.warnings) if loaded else [],
        "skills": [_skill(skill) for skill in loaded.skills.values()] if loaded else [],
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
