"""Loading a project on the command line: author's modules can't spoil the output, problems shown.

Owns what ``validate`` and ``train`` share: where an author's prints go, the picture of problems
grouped by file, and the exit codes.
"""

import os
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from runtime.errors import Problem
    from runtime.project.model import Project

__all__ = [
    "EXIT_PROBLEMS",
    "EXIT_UNUSABLE",
    "counted",
    "exit_code",
    "load_project",
    "own_output",
    "show",
]

EXIT_PROBLEMS: Final = 1
EXIT_UNUSABLE: Final = 2

_NO_PROJECT: Final = frozenset({"missing_project", "missing_file", "bad_pack"})


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


def load_project(path: Path) -> "tuple[Project | None, Sequence[Problem]]":
    """Load it with the environment's variables; the project, or every problem."""
    from runtime.errors import ProjectError
    from runtime.project.loader import load

    try:
        return load(path, os.environ), ()
    except ProjectError as error:
        return None, error.problems


def exit_code(problems: "Sequence[Problem]") -> int:
    """0 = clean, 1 = the author has something to mend, 2 = this is no project."""
    if any(p.code in _NO_PROJECT and not p.place.line for p in problems):
        return EXIT_UNUSABLE
    return EXIT_PROBLEMS if problems else 0


def show(console: Console, problems: "Sequence[Problem]", warnings: Sequence[str]) -> None:
    """Print problems by file, each with its line and what to write instead, then warnings."""
    for file, group in groupby(problems, key=lambda p: p.place.file):
        console.print(Text(file, style="bold"))
        for problem in group:
            _show_one(console, problem)
        console.print()
    for warning in warnings:
        console.print(Text.assemble(("warning ", "yellow"), warning))


def _show_one(console: Console, problem: "Problem") -> None:
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
