"""``bargein test``: a project's scenarios in virtual time, and whether they came out as expected.

Owns the command's options, what it prints and its exit code. How one scenario is run is
``scenario_call``; reading them is ``voice.replay.scenarios.reader``.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, TextIO

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from runtime.project.model import Project
    from voice.replay.scenarios.model import Scenario
    from voice.replay.scenarios.report import ScenarioResult

__all__ = ["test"]

_FAILED: Final = 1
_UNUSABLE: Final = 2
_HELP: Final = """Run the scenarios of an agent project, in virtual time.

A scenario ([b]scenarios/*.yml[/b]) says what a caller does, and what must then have happened: which
tools ran, what was remembered, what was really heard, who interrupted whom. It goes through the
code that serves live calls, many times faster than real time, and comes out the same each time.

[b]All, some files, or those with a word in their name:[/b]

    bargein test my-agent

    bargein test my-agent my-agent/scenarios/order.yml

    bargein test my-agent -k interrupts --out out

[b]In CI:[/b]

    bargein test my-agent --junit results.xml

[b]Exit codes:[/b] 0 all passed, 1 at least one failed, 2 the input can't be used.
"""

_Project = Annotated[Path, typer.Argument(help="Folder of the agent project.")]
_Files = Annotated[
    list[Path] | None,
    typer.Argument(help="Scenario files. Default: all of the project's.", show_default=False),
]
_Junit = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the results as JUnit XML.")
]
_Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Write report.html, call.wav and events.jsonl of each scenario here."
    ),
]
_Name = Annotated[
    str | None,
    typer.Option("-k", metavar="TEXT", help="Only scenarios with this in their name or file."),
]
_Json = Annotated[bool, typer.Option("--json", help="Print the results as JSON, and nothing else.")]
_Tts = Annotated[
    Literal["project", "local", "scripted"],
    typer.Option(help="What speaks: quick tones, the embedded voice, or the project's own."),
]
_Wall = Annotated[
    float, typer.Option(min=1, max=86_400, help="Most seconds of real time for one scenario.")
]


def test(
    project: _Project,
    files: _Files = None,
    junit: _Junit = None,
    out: _Out = None,
    name: _Name = None,
    as_json: _Json = False,
    tts: _Tts = "scripted",
    wall_seconds: _Wall = 120.0,
) -> None:
    """Run the scenarios of an agent project, in virtual time."""
    from voice.cli.checking import own_output
    from voice.cli.logs import set_up

    set_up("error")
    with own_output() as stdout:  # what author's modules and tools print is no result of ours
        chosen = _Asked(project, tuple(files or ()), name, tts, wall_seconds, out, junit)
        results = _carry_out(chosen, stdout, quiet=as_json)
        if as_json:
            from voice.replay.scenarios.report import as_json as whole

            stdout.write(f"{json.dumps(whole(results), ensure_ascii=False, indent=2)}\n")
    if not all(result.passed for result in results):
        raise typer.Exit(_FAILED)


test.__test__ = False  # pyright: ignore[reportFunctionMemberAccess] # its name is no test's
test.__doc__ = "\n\n".join(
    # the help keeps line breaks, and breaks lines by itself
    block if block.startswith("    ") else block.replace("\n", " ")
    for block in _HELP.split("\n\n")
)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the command line says."""

    project: Path
    files: tuple[Path, ...]
    name: str | None
    tts: Literal["project", "local", "scripted"]
    wall_s: float
    out: Path | None
    junit: Path | None


def _carry_out(asked: _Asked, stdout: TextIO, *, quiet: bool) -> "list[ScenarioResult]":
    """Look at what was asked for, run it, write it.

    Raises:
        Exit: it can't be done.
    """
    from rich.console import Console

    from runtime.errors import AgentError, ProjectError
    from voice.cli.writing import ready_file, ready_folder

    try:
        loaded, scenarios = _load(asked.project, asked.files, asked.name)
        if asked.out is not None:
            ready_folder(asked.out, "--out")
        if asked.junit is not None:
            ready_file(asked.junit, "--junit")
        results = _run(Console(file=stdout, quiet=quiet), loaded, scenarios, asked)
        if asked.junit is not None:
            _write_junit(asked.junit, results, loaded.id)
    except ProjectError as error:
        raise _refused(f"the project can't be tested:\n{error}") from None
    except OSError as error:
        raise _refused(f"can't write {error.filename}: {error.strerror}") from None
    except AgentError as error:
        raise _refused(str(error)) from None
    return results


def _refused(message: str) -> typer.Exit:
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, soft_wrap=True)
    console.print(Text.assemble(("bargein test: ", "red"), message))
    return typer.Exit(_UNUSABLE)


def _load(
    root: Path, files: tuple[Path, ...], name: str | None
) -> "tuple[Project, tuple[Scenario, ...]]":
    """Load the project and the scenarios that were asked for."""
    import os

    from runtime.errors import AgentError
    from voice.cli.checking import read_project
    from voice.replay.scenarios.names import names_of
    from voice.replay.scenarios.reader import FOLDER, find_files, read_scenarios

    project = read_project(root)
    chosen = files or find_files(project.root)
    if not chosen:
        raise AgentError(f"there are no scenarios: write {root / FOLDER}/<name>.yml")
    scenarios = read_scenarios(chosen, project.root, names_of(project), os.environ)
    if name is not None:
        wanted = name.casefold()
        found = tuple(s for s in scenarios if wanted in f"{s.name}\n{s.file}".casefold())
        if not found:
            names = ", ".join(f"'{scenario.name}'" for scenario in scenarios)
            raise AgentError(f"no scenario has '{name}' in its name; there are {names}")
        scenarios = found
    return project, scenarios


def _run(
    console: "Console",
    project: "Project",
    scenarios: "tuple[Scenario, ...]",
    asked: _Asked,
) -> "list[ScenarioResult]":
    """Run one after the other, telling of each as it ends."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.text import Text

    from voice.cli.scenario_call import run_scenario
    from voice.replay.scenarios.report import details, one_line, summary, write_folder

    results: list[ScenarioResult] = []
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=len(scenarios))
        for scenario in scenarios:
            bar.update(task, description=scenario.name.replace("[", "\\["))
            result = run_scenario(project, scenario, tts=asked.tts, wall_s=asked.wall_s)
            results.append(result)
            bar.advance(task)
            console.print(one_line(result), soft_wrap=True)
            if result.failures or result.warnings:
                console.print(details(result))
            if asked.out is not None:
                write_folder(asked.out, result)
    console.print(summary(results))
    if asked.out is not None:
        written = Text.assemble(
            ("written to ", "grey50"), f"{asked.out}: a folder for each scenario"
        )
        console.print(written, soft_wrap=True)
    return results


def _write_junit(path: Path, results: "list[ScenarioResult]", suite: str) -> None:
    from voice.replay.scenarios.report import junit

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(junit(results, suite))
