"""Finds literal memory writes in tool modules that no memory.yml declares, without running them.

Owns the static reading of ``context.memory.set("name", …)`` and of what tools must not use. What is
not literal is checked when it runs, by the tool context.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from runtime.errors import Place
from runtime.project.model import PROJECT_NAMESPACE, MemoryField
from runtime.project.problems import Problems, nearest

__all__ = ["Write", "check_writes", "internals_in", "tools_lines", "writes_in"]

_INTERNALS = frozenset({"clear", "delete", "manager", "reset", "unset"})


@dataclass(frozen=True, slots=True)
class Write:
    """One ``memory.set`` with a literal name."""

    name: str
    place: Place


def writes_in(source: bytes, file: str) -> Iterator[Write]:
    """Every literal write of a module; nothing for one that is no Python."""
    for node in _nodes(source):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="set", value=ast.Attribute(attr="memory")),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield Write(name, Place(file, node.lineno, node.args[0].col_offset + 1))
            case _:
                pass


def internals_in(source: bytes, file: str) -> Iterator[tuple[str, Place]]:
    """Every use of the memory's insides: ``memory.manager``, ``memory.clear`` and ``memory._…``."""
    for node in _nodes(source):
        match node:
            case ast.Attribute(attr=name, value=ast.Attribute(attr="memory")) if (
                name in _INTERNALS or name.startswith("_")
            ):
                yield name, Place(file, node.lineno, node.col_offset + 1)
            case _:
                pass


def tools_lines(source: bytes, first_line: int) -> range:
    """The lines of the function whose decorator or ``def`` stands at ``first_line``."""
    for node in _nodes(source):
        if isinstance(node, ast.AsyncFunctionDef):
            begin = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if begin <= first_line <= node.lineno:
                return range(begin, (node.end_lineno or node.lineno) + 1)
    return range(0)


def check_writes(
    writes: Iterable[Write], skill: str, memory: Iterable[MemoryField], problems: Problems
) -> None:
    """Each must be a field of the skill or of the project (R31); others' are out of reach."""
    fields = [f for f in memory if f.namespace in (skill, PROJECT_NAMESPACE)]
    qualified = {f"{f.namespace}.{f.name}" for f in fields}
    bare = {f.name for f in fields}
    seen = {(p.place, p.code) for p in problems.found}
    for write in writes:
        if write.name in (qualified if "." in write.name else bare):
            continue
        if (write.place, "undeclared_memory_write") in seen:
            continue  # a shared tool that several skills import
        owner, dot, _ = write.name.partition(".")
        if dot and owner not in (skill, PROJECT_NAMESPACE):
            what = f"'{write.name}' is not of the skill '{skill}', which can't write it"
            mend = "write a field of this skill or of the project"
        else:
            what = f"'{write.name}' is not declared for the skill '{skill}'"
            close = nearest(write.name, qualified | bare)
            mend = f"did you mean '{close}'?" if close else f"declare it in {skill}'s memory.yml"
        problems.add(write.place, "undeclared_memory_write", what, mend)


def _nodes(source: bytes) -> Iterator[ast.AST]:
    tree = _tree(source)
    return ast.walk(tree) if tree is not None else iter(())


@lru_cache(maxsize=64)
def _tree(source: bytes) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
