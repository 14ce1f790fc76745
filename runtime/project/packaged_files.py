"""Reads the packaged skills and responses, as files of a project that every project lies over.

Owns which of them are left out because the project brings its own. The files are in
``runtime.packaged``; they are ours, so a problem in them is a fault of ours.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache

from runtime.packaged import FOLDER
from runtime.project.layout import MEMORY, RESPONSES, SKILL, SKILLS
from runtime.project.memory_file import read_skill_memory
from runtime.project.model import MemoryField
from runtime.project.problems import Problems
from runtime.project.response_model import Response
from runtime.project.responses_file import read_responses
from runtime.project.skill_file import SkillText, read_skill

__all__ = ["Packaged", "read_packaged"]

_FILES = "packaged"


@dataclass(frozen=True, slots=True)
class Packaged:
    """What every project has."""

    skills: Mapping[str, SkillText]
    memory: Mapping[str, tuple[MemoryField, ...]]
    """By skill."""
    responses: Mapping[str, Response]
    problems: Problems

    def memory_beside(self, skills: Collection[str]) -> tuple[MemoryField, ...]:
        """The fields of those packaged skills that the project has none in the place of."""
        return tuple(f for own, fields in self.memory.items() if own not in skills for f in fields)


@cache
def read_packaged() -> Packaged:
    """Read them all, once a process."""
    problems = Problems()
    skills: dict[str, SkillText] = {}
    memory: dict[str, tuple[MemoryField, ...]] = {}
    responses: dict[str, Response] = {}
    for folder in sorted(path for path in (FOLDER / SKILLS).iterdir() if (path / SKILL).is_file()):
        here = f"{_FILES}/{SKILLS}/{folder.name}"
        data = (folder / SKILL).read_bytes()
        skills[folder.name] = read_skill(data, f"{here}/{SKILL}", folder.name, {}, problems)
        if (folder / MEMORY).is_file():
            data = (folder / MEMORY).read_bytes()
            memory[folder.name] = read_skill_memory(
                data, f"{here}/{MEMORY}", folder.name, {}, problems
            )
        if (folder / RESPONSES).is_file():
            data = (folder / RESPONSES).read_bytes()
            responses |= read_responses(data, f"{here}/{RESPONSES}", {}, problems)
    data = (FOLDER / RESPONSES).read_bytes()
    responses |= read_responses(data, f"{_FILES}/{RESPONSES}", {}, problems)
    return Packaged(skills, memory, responses, problems)
