"""Checks the literal memory writes of tool modules against what memory.yml declares.

Owns the comparison. Finding the writes in the source is ``written_keys``; what is not literal is
checked when it runs, by the tool context.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from runtime.errors import Place
from runtime.project.model import PROJECT_NAMESPACE, Dialect, MemoryField
from runtime.project.problems import Problems, nearest
from runtime.project.written_keys import MemoryUse

__all__ = ["Write", "check_misuses", "check_writes"]


@dataclass(frozen=True, slots=True)
class Write:
    """One ``memory.set`` with a literal name."""

    name: str
    place: Place


def check_writes(
    writes: Iterable[Write],
    skill: str,
    memory: Iterable[MemoryField],
    dialect: Dialect,
    problems: Problems,
) -> None:
    """Each must be a field of the skill or of the project (R31); others' are out of reach."""
    fields = [f for f in memory if f.namespace in (skill, PROJECT_NAMESPACE)]
    qualified = {f"{f.namespace}.{f.name}" for f in fields}
    bare = {f.name for f in fields}
    seen = {(p.place, p.code) for p in problems.found}
    for write in writes:
        if write.name in (bare if "." not in write.name or dialect == "maestro" else qualified):
            continue
        if (write.place, "undeclared_memory_write") in seen:
            continue  # a shared tool that several skills import
        owner, dot, rest = write.name.partition(".")
        if dot and dialect == "maestro":
            what = f"'{write.name}' is qualified, and a write names its field alone"
            mend = f"write '{rest}'"
        elif dot and owner not in (skill, PROJECT_NAMESPACE):
            what = f"'{write.name}' is not of the skill '{skill}', which can't write it"
            mend = "write a field of this skill or of the project"
        else:
            what = f"'{write.name}' is not declared for the skill '{skill}'"
            close = nearest(write.name, qualified | bare)
            mend = f"did you mean '{close}'?" if close else f"declare it in {skill}'s memory.yml"
        problems.add(write.place, "undeclared_memory_write", what, mend)


def check_misuses(use: MemoryUse, problems: Problems) -> None:
    """No tool reaches behind memory, or clears it (R30)."""
    seen = {(p.place, p.code) for p in problems.found}
    for misuse in use.misuses:
        if (misuse.place, "memory_internals") not in seen:
            problems.add(
                misuse.place,
                "memory_internals",
                f"'{misuse.what}' is not for tools",
                "use memory.get and memory.set; set(field, None) clears a field",
            )
