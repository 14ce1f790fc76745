"""Reading one file by its own reader, for tests: what it says, and what is wrong with it."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from runtime.errors import Problem
from runtime.project.problems import Problems

T = TypeVar("T")


def read_with(read: Callable[[Problems], T]) -> tuple[T, list[Problem]]:
    """Call a reader and return what it read beside its problems."""
    problems = Problems()
    return read(problems), problems.found


def places(found: list[Problem]) -> list[tuple[str, str]]:
    """(line:column, code) of each problem; each must say what to write instead."""
    assert [str(p) for p in found if not p.mend] == []
    return [(f"{p.place.line}:{p.place.column}", p.code) for p in found]


NO_ENV: Mapping[str, str] = {}
