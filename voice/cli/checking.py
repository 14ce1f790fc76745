"""Loading a project on the command line: author's modules can't spoil the output, problems shown.

Owns what the commands share that load projects: where an author's prints go, a module that stops
the command, the check of the scenarios, the picture of problems by file, and the exit codes.
"""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from rich.console import Console

    from runtime.errors import Problem
    from runtime.project.model import Project
    from voice.replay.scenarios.model import Scenario

__all__ = [
    "EXIT_PROBLEMS",
    "EXIT_UNUSABLE",
    "Checked",
    "check_project",
    "counted",
    "exit_code",
    "own_output",
    "read_project",
    "show",
]

EXIT_PROBLEMS: Final = 1
EXIT_UNUSABLE: Final = 2

_NO_PROJECT: Final = frozenset({"missing_project", "missing_file", "bad_package"})


@contextmanager
def own_output() -> Generator[TextIO]:
    """Yield the real standard output; all that others print meanwhile goes to standard error.

    In a process of our own it stays like that to the end, since an author's module may print from
    a thread or at exit.
    """
    before = sys.stdout
    before.flush()
    if before is not sys.__stdout__:
        sys.stdout = sys.stderr
        try:
            yield before
        finally:
            sys.stdout = before
        return
    kept = os.fdopen(os.dup(1), "w", encoding=before.encoding, errors="replace")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    try:
        yield kept
    finally:
        kept.flush()


def read_project(path: Path) -> "Project":
    """Load a project with the environment's variables.

    Raises:
        ProjectError: with every problem; also where a module of its tools raises what would else
            stop the command.
    """
    from runtime.project.loader import load

    with _stopped_by_hand() as stopped:
        try:
            return load(path, os.environ)
        except KeyboardInterrupt as error:
            if stopped:
                raise
            from runtime.errors import Place, Problem, ProjectError

            root = path.resolve()
            frames = reversed(traceback.extract_tb(error.__traceback__))
            frame = next((f for f in frames if Path(f.filename).is_relative_to(root)), None)
            name = Path(frame.filename).relative_to(root).as_posix() if frame else str(path)
            message = "the file can't be imported: it raises KeyboardInterrupt, which stops bargein"
            place = Place(name, (frame.lineno or 0) if frame else 0)
            raise ProjectError([Problem(place, "tool_loading", message, "take it out")]) from None


@contextmanager
def _stopped_by_hand() -> Generator[list[int]]:
    """Yield a list that is filled once somebody has pressed Ctrl-C."""
    pressed: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return
    before = signal.getsignal(signal.SIGINT)

    def press(number: int, frame: FrameType | None) -> None:
        pressed.append(number)
        signal.default_int_handler(number, frame)

    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, press)
    try:
        yield pressed
    finally:
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, before)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A project and its scenarios, and all that is wrong with them."""

    project: "Project | None"
    """None where it has problems of its own."""
    scenarios: "tuple[Scenario, ...]"
    """Empty where any of them has problems."""
    problems: "tuple[Problem, ...]"
    """In the order of their files and lines."""
    warnings: tuple[str, ...]


def check_project(path: Path) -> Checked:
    """Load a project and read its scenarios; names are compared where the project can be loaded."""
    from runtime.errors import ProjectError

    problems: list[Problem] = []
    project: Project | None = None
    warnings: tuple[str, ...] = ()
    try:
        project = read_project(path)
        warnings = project.warnings
    except ProjectError as error:
        problems += error.problems
        warnings = error.warnings
        if exit_code(problems) == EXIT_UNUSABLE:
            return Checked(project=None, scenarios=(), problems=tuple(problems), warnings=warnings)
    scenarios: tuple[Scenario, ...] = ()
    try:
        scenarios = _scenarios(project.root if project else path, project)
    except ProjectError as error:
        problems = sorted((*problems, *error.problems), key=lambda p: (p.place, p.code))
    return Checked(
        project=project, scenarios=scenarios, problems=tuple(problems), warnings=warnings
    )


def _scenarios(root: Path, project: "Project | None") -> "tuple[Scenario, ...]":
    if not (root / "scenarios").is_dir():
        return ()  # the reader need not even be imported
    from voice.replay.scenarios.names import names_of
    from voice.replay.scenarios.reader import find_files, read_scenarios

    names = names_of(project) if project is not None else None
    return read_scenarios(find_files(root), root, names, os.environ)


def exit_code(problems: "Sequence[Problem]") -> int:
    """0 = clean, 1 = the author has something to mend, 2 = this is no project."""
    if any(p.code in _NO_PROJECT and not p.place.line for p in problems):
        return EXIT_UNUSABLE
    return EXIT_PROBLEMS if problems else 0


def show(console: "Console", problems: "Sequence[Problem]", warnings: Sequence[str]) -> None:
    """Print problems by file, each with its line and what to write instead, then warnings."""
    from rich.text import Text

    for file, group in groupby(problems, key=lambda p: p.place.file):
        console.print(Text(file, style="bold"))
        for problem in group:
            _show_one(console, problem)
        console.print()
    for warning in warnings:
        console.print(Text.assemble(("warning ", "yellow"), warning))


def _show_one(console: "Console", problem: "Problem") -> None:
    from rich.text import Text

    place = problem.place
    where = f"{place.line}:{place.column}" if place.column else str(place.line or "")
    console.print(
        Text.assemble(
            (f"  {where:<7} ", "cyan"), problem.message, (f"  [{problem.code}]", "grey50")
        )
    )
    if problem.excerpt:
        for line in problem.excerpt.split("\n"):
            console.print(Text(f"      {line}", style="grey50"))
    if problem.mend:
        console.print(Text.assemble(" " * 10, ("→ ", "green"), problem.mend))


def counted(number: int, noun: str) -> str:
    """Write ``1 problem``, ``2 problems``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
