"""Loads an agent project: all of it, or every problem at once.

Owns the order of reading and the putting together. Where files stand is ``layout``, each file has
its own reader beside this one, what tools and responses a skill gets is ``attach``, names that must
meet across files are ``checks``. Tool modules are imported here (author code runs), so a project is
loaded in the process that runs it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.agent import CallSettings
from runtime.errors import Place, ProjectError, ProjectToolsError
from runtime.project import agent_file, checks, integrations_file, layout, memory_file
from runtime.project.attach import Declared
from runtime.project.failing import Failing
from runtime.project.indexing import build_index
from runtime.project.layout import AGENT, INTEGRATIONS, Layout, find_layout
from runtime.project.model import ChannelSpec, Dialect, MemoryField, ModelSpec, Project
from runtime.project.models_file import EMBEDDING_PROVIDERS
from runtime.project.opening import folder_of
from runtime.project.packaged_files import read_packaged
from runtime.project.placed_conditions import FieldView, check_condition
from runtime.project.problems import Problems, listed, nearest
from runtime.project.skill_model import Skill
from runtime.project.skill_set import Given, SkillSet, memory_is_known, read_skills
from runtime.project.texts import Texts
from runtime.project.tool_files import read_tools

if TYPE_CHECKING:
    from runtime.project.agent_file import AgentFile
    from runtime.project.integrations_file import IntegrationsFile

__all__ = ["load", "load_channels"]


def load(path: Path, env: Mapping[str, str]) -> Project:
    """Read and check the project in the folder or packed file ``path``; ``env`` fills ``${VAR}``.

    Raises:
        ProjectError: with every problem found; also a ``ToolLoadingError`` where a tool module is
            among them.
    """
    problems = Problems()
    root = folder_of(path)
    found = find_layout(root, problems)
    project = _Loading(found, env, problems).project() if found else None
    if project is None or problems.found:
        has_bad_tools = any(problem.code == "tool_loading" for problem in problems.found)
        raise (ProjectToolsError if has_bad_tools else ProjectError)(
            problems.found, _still_true(project.warnings if project else (), problems)
        )
    return project


def _still_true(warnings: Iterable[str], problems: Problems) -> tuple[str, ...]:
    """Leave out what may only follow from a problem in the same file."""
    faulty = {problem.place.file for problem in problems.found}
    return tuple(w for w in warnings if w.partition(":")[0] not in faulty)


def load_channels(path: Path, env: Mapping[str, str]) -> ChannelSpec:
    """Read only how the project is reached and which speech engines it names.

    For the process that hears and speaks: no author code is imported. What else is wrong with the
    project is for ``load`` to say, in the process that runs it.

    Raises:
        ProjectError: this is no project, or ``integrations.yml`` is not right.
    """
    problems = Problems()
    root = folder_of(path)
    if find_layout(root, problems) is not None and not problems.found:
        data = Texts(root, problems).read(INTEGRATIONS)
        channels = integrations_file.read_integrations(data, env, problems).voice.spec
        if not problems.found:
            return channels
    raise ProjectError(problems.found)


class _Loading:
    """One project being read; what is wrong is noted and replaced, so that reading goes on."""

    def __init__(self, found: Layout, env: Mapping[str, str], problems: Problems) -> None:
        self._layout = found
        self._env = env
        self._problems = problems
        self._texts = Texts(found.root, problems)
        self._failing = Failing(problems)

    def project(self) -> Project:
        """Read, check and put together; nothing of it counts once a problem was noted."""
        tools = read_tools(self._layout, self._problems)
        with self._failing.reading(INTEGRATIONS):
            integrations = integrations_file.read_integrations(
                self._texts.read(INTEGRATIONS), self._env, self._problems
            )
        is_maestro = integrations.is_maestro or "maestro" in tools.dialects
        with self._failing.reading(AGENT):
            agent = agent_file.read_agent(
                self._texts.read(AGENT),
                self._env,
                self._problems,
                self._layout.root.name,
                "maestro" if is_maestro else "mantle",
            )
        dialect: Dialect = "maestro" if is_maestro or agent.is_maestro else "mantle"
        memory = self._memory(dialect)
        part = read_skills(
            Given(
                layout=self._layout,
                env=self._env,
                texts=self._texts,
                failing=self._failing,
                problems=self._problems,
                dialect=dialect,
                memory=memory,
                preconditions=self._preconditions(agent),
                declared=Declared(
                    integrations.mcp_servers,
                    integrations.tool_providers,
                    is_known=INTEGRATIONS not in self._failing,
                ),
                tools=tools,
            )
        )
        self._check_agent(agent, part, memory)
        self._refuse_sub_agents()
        return self._assemble(agent, integrations, part, memory, dialect)

    def _assemble(
        self,
        agent: AgentFile,
        integrations: IntegrationsFile,
        part: SkillSet,
        memory: tuple[MemoryField, ...],
        dialect: Dialect,
    ) -> Project:
        voice = integrations.voice
        silence_ms = voice.silence_timeout_ms
        skills = part.skills
        group = self._group(agent, integrations)
        return Project(
            root=self._layout.root,
            id=agent.id,
            persona=agent.persona,
            rules=agent.rules,
            language=agent.language,
            dialect=dialect,
            settings=CallSettings(
                language=agent.language,
                fillers=agent.fillers,
                interruptions=voice.interruptions,
                turn_taking=voice.turn_taking,
                pause_after_filler_ms=voice.pause_after_filler_ms,
                pause_between_messages_ms=voice.pause_between_messages_ms,
                expiration_ms=agent.session_expiration_ms,
                silence_timeout_ms=agent.silence_timeout_ms if silence_ms is None else silence_ms,
            ),
            tool_timeout_s=agent.tool_timeout_s,
            skills=skills,
            responses=part.responses,
            memory=checks.collected(memory, skills.values(), dialect),
            model_group=group,
            model_groups=integrations.model_groups,
            orchestrator=agent.orchestrator,
            filler_guidance=agent.filler_guidance,
            knowledge=agent.knowledge,
            index=build_index(self._layout, agent.language, agent.knowledge, self._problems),
            skill_retrieval=agent.skill_retrieval,
            before_end=tuple(agent.before_end),
            channels=voice.spec,
            warnings=(
                *self._layout_warnings(integrations),
                *part.warnings,
                *_beyond_offline(group, skills.values()),
            ),
        )

    # ---------------------------------------------------------------- files

    def _memory(self, dialect: Dialect) -> tuple[MemoryField, ...]:
        fields: tuple[MemoryField, ...] = ()
        if self._layout.has_memory:
            name = layout.MEMORY
            with self._failing.reading(name):
                fields = memory_file.read_project_memory(
                    self._texts.read(name), name, self._env, self._problems, dialect
                )
        for skill in self._layout.skills:
            if not skill.has_memory:
                continue
            name = f"{skill.path}/{layout.MEMORY}"
            with self._failing.reading(name):
                fields += memory_file.read_skill_memory(
                    self._texts.read(name), name, skill.id, self._env, self._problems
                )
        own = [skill.id for skill in self._layout.skills]
        return fields + read_packaged().memory_beside(own)

    def _preconditions(self, agent: AgentFile) -> Collection[str] | None:
        return None if AGENT in self._failing else agent.orchestrator.preconditions

    def _layout_warnings(self, integrations: IntegrationsFile) -> Iterable[str]:
        """What stands there unread, but for files that a model's options name."""
        named = {
            str(value)
            for group in integrations.model_groups.values()
            for spec in group
            for _, value in spec.options
        }
        return (w for w in self._layout.warnings if w.partition(":")[0] not in named)

    def _refuse_sub_agents(self) -> None:
        for name in self._layout.sub_agents:
            self._problems.add(
                Place(f"{layout.SUB_AGENTS}/{name}"),
                "unsupported",
                "sub agents are not supported yet in this version",
                "move the folder out of the project",
            )

    # ---------------------------------------------------------------- names in agent.yml

    def _check_agent(
        self, agent: AgentFile, part: SkillSet, memory: tuple[MemoryField, ...]
    ) -> None:
        if AGENT in self._failing:
            return
        skills = part.skills
        checks.check_preconditions(agent.orchestrator.preconditions, skills, self._problems)
        checks.check_before_end(agent.before_end, skills, self._problems)
        if memory_is_known(self._layout, self._failing):
            view = FieldView(memory, None)
            for placed in agent.conditions:
                check_condition(placed, view, self._problems)

    def _group(self, agent: AgentFile, integrations: IntegrationsFile) -> tuple[ModelSpec, ...]:
        groups = integrations.model_groups
        found = groups.get(agent.model_group)
        if found is None and agent.model_group and groups and INTEGRATIONS not in self._failing:
            self._unknown_group(agent.model_group, agent.model_group_place, groups)
        embeddings = agent.knowledge.embeddings
        if embeddings and INTEGRATIONS not in self._failing:
            self._check_embeddings(embeddings, agent.embeddings_place or Place(AGENT), groups)
        return found or ()

    def _check_embeddings(
        self, name: str, place: Place, groups: Mapping[str, tuple[ModelSpec, ...]]
    ) -> None:
        if name not in groups:
            self._unknown_group(name, place, groups)
        elif groups[name] and groups[name][0].provider not in EMBEDDING_PROVIDERS:
            self._problems.add(
                place,
                "unknown_value",
                f"'{groups[name][0].provider}', the first model of the group '{name}', makes no "
                "embeddings",
                f"name a group whose first model is of {listed(EMBEDDING_PROVIDERS)}",
            )

    def _unknown_group(self, name: str, place: Place, groups: Collection[str]) -> None:
        close = nearest(name, groups)
        self._problems.add(
            place,
            "unknown_model_group",
            f"there is no model group '{name}' in {INTEGRATIONS}",
            f"did you mean '{close}'?" if close else f"write {listed(groups)}",
        )


def _beyond_offline(group: Iterable[ModelSpec], skills: Iterable[Skill]) -> Iterable[str]:
    """Skills that need more than the offline planner, where it is the project's model."""
    if all(spec.provider != "offline" for spec in group):
        return
    from runtime.models.offline.abilities import can_run

    for skill in skills:
        reason = None if skill.packaged or skill.disabled else can_run(skill)
        if reason is not None:
            yield f"{skill.place}: the offline planner can't run the skill '{skill.id}': {reason}"
