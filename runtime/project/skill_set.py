"""All skills of a project: read, given their tools and responses, and checked against the rest.

Owns the order in which that happens, since each step must know what the one before found or failed
to find. Each file's reading and each check is in the module named after it.
"""

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from runtime.project import checks, layout
from runtime.project.attach import (
    Declared,
    attach_tools,
    button_sources,
    imports_of,
    merge_responses,
)
from runtime.project.block_flow import check_skill_circles
from runtime.project.failing import Failing
from runtime.project.known import KnownThings
from runtime.project.layout import Layout, SkillFolder
from runtime.project.memory_writes import Write, check_misuses, check_writes
from runtime.project.model import PROJECT_NAMESPACE, Dialect, MemoryField
from runtime.project.packaged_files import read_packaged
from runtime.project.placed_conditions import FieldView
from runtime.project.problems import Problems
from runtime.project.response_checks import check_responses, response_remarks
from runtime.project.response_model import Response
from runtime.project.responses_file import read_responses
from runtime.project.skill_file import SkillText, finish, read_skill
from runtime.project.skill_model import Skill
from runtime.project.texts import Texts
from runtime.project.tool_files import ProjectTools
from runtime.project.written_keys import memory_use
from runtime.tools.definition import ToolDef

__all__ = ["Given", "SkillSet", "memory_is_known", "read_skills"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What is known of the project before its skills are read."""

    layout: Layout
    env: Mapping[str, str]
    texts: Texts
    failing: Failing
    problems: Problems
    dialect: Dialect
    memory: tuple[MemoryField, ...]
    preconditions: Collection[str] | None
    """None = unknown, since agent.yml failed."""
    declared: Declared
    tools: ProjectTools


@dataclass(frozen=True, slots=True)
class SkillSet:
    """The skills by id, packaged ones last, and the responses by name."""

    skills: Mapping[str, Skill]
    responses: Mapping[str, Response]
    warnings: tuple[str, ...]


def memory_is_known(found: Layout, failing: Failing) -> bool:
    """Whether every memory.yml of the project could be read."""
    files = [layout.MEMORY, *(f"{skill.path}/{layout.MEMORY}" for skill in found.skills)]
    return not failing.any_of(files)


def read_skills(given: Given) -> SkillSet:
    """Read and check all skills; what is wrong goes into ``given.problems``."""
    return _Reading(given).skill_set()


class _Reading:
    def __init__(self, given: Given) -> None:
        self._given = given
        self._folders = given.layout.skills
        self._packaged = read_packaged()
        self._warnings: list[str] = list(given.tools.remarks)

    def skill_set(self) -> SkillSet:
        given = self._given
        drafts = {folder.id: self._draft(folder) for folder in self._folders}
        own, project, are_known = self._responses()
        responses = merge_responses(self._packaged.responses, own, project, given.problems)
        tools = given.tools
        known = KnownThings(
            skills={*drafts, *self._packaged.skills},
            memory=given.memory if memory_is_known(given.layout, given.failing) else None,
            responses=responses if are_known else None,
            preconditions=given.preconditions,
            sub_agents=given.layout.sub_agents,
            packaged=self._packaged.skills,
        )
        skills = {
            skill_id: self._skill(draft, tools, known, own.get(skill_id, {}), project)
            for skill_id, draft in drafts.items()
        }
        self._check_project_sources(skills, project, tools)
        self._check_unused(skills, tools, known)
        if known.memory is not None:
            self._check_wording(own, project, skills)
        for skill_id, text in self._packaged.skills.items():
            if skill_id not in skills:
                packaged = finish(text, dataclasses.replace(known, tools={}), given.problems)
                skills[skill_id] = dataclasses.replace(packaged, packaged=True)
        self._check_flow(skills)
        self._warnings += checks.remarks(skills.values(), responses, given.dialect)
        self._remark(skills, [*own.values(), project])
        return SkillSet(skills, responses, tuple(self._warnings))

    def _check_flow(self, skills: Mapping[str, Skill]) -> None:
        """Circles through several skills; nothing is said of one in which something is wrong."""
        faulty = {problem.place.file for problem in self._given.problems.found}
        whole = {skill.id for skill in skills.values() if skill.place.file not in faulty}
        check_skill_circles(skills, whole, self._given.problems)

    def _remark(
        self, skills: Mapping[str, Skill], wording: Iterable[Mapping[str, Response]]
    ) -> None:
        self._warnings += checks.name_remarks(
            [folder.id for folder in self._folders], self._packaged.skills
        )
        # A step that was refused may well have named a response.
        is_whole = not self._given.problems.found
        used = checks.said(skills.values()) if is_whole else None
        for responses in wording:
            self._warnings += response_remarks(responses.values(), used)

    # ---------------------------------------------------------------- files

    def _draft(self, folder: SkillFolder) -> SkillText:
        given, name = self._given, f"{folder.path}/{layout.SKILL}"
        with given.failing.reading(name):
            return read_skill(given.texts.read(name), name, folder.id, given.env, given.problems)

    def _responses(self) -> tuple[dict[str, dict[str, Response]], dict[str, Response], bool]:
        """(each skill's, the project's, whether all could be read)."""
        given = self._given
        own = {
            folder.id: self._responses_of(f"{folder.path}/{layout.RESPONSES}")
            for folder in self._folders
            if folder.has_responses
        }
        project = self._responses_of(layout.RESPONSES) if given.layout.has_responses else {}
        files = [layout.RESPONSES, *(f"{f.path}/{layout.RESPONSES}" for f in self._folders)]
        return own, project, not given.failing.any_of(files)

    def _responses_of(self, name: str) -> dict[str, Response]:
        given = self._given
        with given.failing.reading(name):
            return read_responses(given.texts.read(name), name, given.env, given.problems)
        return {}

    def _check_wording(
        self,
        own: Mapping[str, Mapping[str, Response]],
        project: Mapping[str, Response],
        skills: Mapping[str, Skill],
    ) -> None:
        given = self._given
        for skill_id, responses in own.items():
            view = FieldView(given.memory, skill_id, skills[skill_id].access.deny_read)
            check_responses(responses, view, given.problems)
        check_responses(project, FieldView(given.memory, None), given.problems)

    # ---------------------------------------------------------------- one skill

    def _skill(
        self,
        draft: SkillText,
        tools: ProjectTools,
        known: KnownThings,
        own: Mapping[str, Response],
        project: Mapping[str, Response],
    ) -> Skill:
        given, skill_id = self._given, draft.id
        local = tools.local.get(skill_id)
        attached = attach_tools(
            imports_of(draft.front),
            local or (),
            tools.shared,
            given.declared,
            self._hooked(skill_id),
            given.problems,
        )
        are_known = local is not None and tools.shared is not None
        skill = finish(
            draft,
            dataclasses.replace(known, tools=self._callable(attached) if are_known else None),
            given.problems,
        )
        if are_known:
            owner = f"the skill '{skill_id}'"
            checks.check_sources(own.values(), list(attached), owner, given.problems)
        if known.memory is not None:
            checks.check_hooks(
                skill_id, attached.values(), known.memory, given.dialect, given.problems
            )
            self._check_writes(skill_id, attached, known.memory)
        return dataclasses.replace(
            skill,
            tools=attached,
            button_sources=button_sources(attached, own.values(), project.values()),
            engine_managed=skill.engine_managed or skill_id in self._packaged.skills,
        )

    def _hooked(self, skill: str) -> Collection[str] | None:
        """Fields of whose shared hooks the skill needs no import."""
        given = self._given
        if given.dialect != "maestro":
            return ()
        if not memory_is_known(given.layout, given.failing):
            return None
        return {f.name for f in given.memory if f.namespace in (skill, PROJECT_NAMESPACE)}

    def _check_writes(
        self, skill: str, attached: Mapping[str, ToolDef], memory: Collection[MemoryField]
    ) -> None:
        """What the skill's tools write by a literal name; of shared tools, those it imports."""
        given = self._given
        for tool in attached.values():
            file = tool.place.file
            use = memory_use(given.texts.read(file), file).of(tool.name)
            writes = (Write(w.key, w.place) for w in use.writes)
            check_writes(writes, skill, memory, given.dialect, given.problems)
            check_misuses(use, given.problems)

    def _callable(self, attached: Mapping[str, ToolDef]) -> dict[str, ToolDef]:
        return {name: tool for name, tool in attached.items() if tool.hook_for is None}

    def _check_unused(
        self, skills: Mapping[str, Skill], tools: ProjectTools, known: KnownThings
    ) -> None:
        """Shared tools that no skill has: what is wrong with them whoever would import them."""
        given = self._given
        used = {tool.place for skill in skills.values() for tool in skill.tools.values()}
        unused = [tool for tool in (tools.shared or {}).values() if tool.place not in used]
        for tool in unused:
            check_misuses(
                memory_use(given.texts.read(tool.place.file), tool.place.file).of(tool.name),
                given.problems,
            )
        if known.memory is not None:
            self._warnings += checks.check_unused_hooks(
                unused, known.memory, given.dialect, given.problems
            )

    def _check_project_sources(
        self, skills: Mapping[str, Skill], project: Mapping[str, Response], tools: ProjectTools
    ) -> None:
        """The project's responses may take their buttons from any skill's tool."""
        if None in tools.local.values():
            return
        names: Iterable[str] = {name for skill in skills.values() for name in skill.tools}
        checks.check_sources(project.values(), list(names), "any skill", self._given.problems)
