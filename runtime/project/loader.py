"""Loads an agent project from its folder: all of it, or every problem at once.

Owns the layout on disk and the putting together; each file has its own reader beside this one. Tool
modules are imported here (author code runs), so a project is loaded in the process that runs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.agent import CallSettings
from runtime.errors import Place, ProjectError, ToolDefinitionError, ToolLoadingError
from runtime.models.rules_file import read_rules
from runtime.project import agent_file, integrations_file, responses_file
from runtime.project.memory_file import read_project_memory, read_skill_memory
from runtime.project.model import ChannelSpec, MemoryField, ModelSpec, Project, Skill
from runtime.project.problems import Problems, listed, nearest
from runtime.project.skill_file import SkillText, finish, read_skill
from runtime.project.yaml_source import MAX_BYTES
from runtime.tools.loading import load_tools

if TYPE_CHECKING:
    from runtime.project.agent_file import AgentFile
    from runtime.project.integrations_file import IntegrationsFile
    from runtime.project.responses_file import Responses
    from runtime.tools.definition import ToolDef

__all__ = ["load", "load_channels"]

_SKILLS = "skills"
_LATER_FOLDERS = ("tools", "references", "sub_agents")
_LATER_SKILL_PARTS = ("responses.yml", "references")


def load(path: Path, env: Mapping[str, str]) -> Project:
    """Read and check the project in the folder ``path``; ``env`` fills ``${VAR}``.

    Raises:
        ProjectError: with every problem found.
    """
    problems = Problems()
    root = path.resolve()
    project = _Loading(root, env, problems).project() if _looks_right(root, problems) else None
    if project is None or problems.found:
        raise ProjectError(problems.found)
    return project


def load_channels(path: Path, env: Mapping[str, str]) -> ChannelSpec:
    """Read only how the project is reached and which speech engines it names.

    For the process that hears and speaks: no author code is imported. What else is wrong with the
    project is for ``load`` to say, in the process that runs it.

    Raises:
        ProjectError: this is no project, or ``integrations.yml`` is not right.
    """
    problems = Problems()
    root = path.resolve()
    if _looks_right(root, problems):
        data = _Loading(root, env, problems).read(integrations_file.FILE)
        channels = integrations_file.read_integrations(data, env, problems).voice.spec
        if not problems.found:
            return channels
    raise ProjectError(problems.found)


def _looks_right(root: Path, problems: Problems) -> bool:
    if not root.is_dir():
        problems.add(Place(str(root)), "missing_project", "there is no such folder")
        return False
    for name in (agent_file.FILE, integrations_file.FILE):
        if not (root / name).is_file():
            problems.add(
                Place(name),
                "missing_file",
                f"an agent project has a file '{name}', and {root} has none",
                "add it, or name the project's own folder",
            )
    skills = _skill_folders(root)
    if not skills:
        problems.add(
            Place(f"{_SKILLS}/"),
            "missing_file",
            "an agent project has at least one 'skills/<id>/skill.md'",
            "add one",
        )
    for folder in skills[1:]:
        problems.add(
            Place(f"{_SKILLS}/{folder.name}"),
            "unsupported",
            f"a second skill besides '{skills[0].name}' is not supported yet in this version",
            "keep one",
        )
    return not problems.found


def _skill_folders(root: Path) -> list[Path]:
    return sorted(file.parent for file in root.glob(f"{_SKILLS}/*/skill.md"))


class _Loading:
    """One project being read; what is wrong is noted and replaced, so that reading goes on."""

    def __init__(self, root: Path, env: Mapping[str, str], problems: Problems) -> None:
        self._root = root
        self._env = env
        self._problems = problems
        self._tools_failed = False

    def project(self) -> Project | None:
        agent = agent_file.read_agent(
            self.read(agent_file.FILE), self._env, self._problems, self._root.name
        )
        integrations = integrations_file.read_integrations(
            self.read(integrations_file.FILE), self._env, self._problems
        )
        responses = self._responses()
        folder = _skill_folders(self._root)[0]
        text = self._skill_text(folder)
        tools = self._tools(folder.name)
        names = [tool.name for tool in tools]
        self._refuse_later(folder.name)
        return self._assemble(
            agent,
            integrations,
            responses,
            finish(text, names, Problems() if self._tools_failed else self._problems),
            self._memory(folder.name),
            tools,
        )

    def _assemble(
        self,
        agent: AgentFile,
        integrations: IntegrationsFile,
        responses: Responses,
        skill: Skill,
        memory: tuple[MemoryField, ...],
        tools: tuple[ToolDef, ...],
    ) -> Project:
        group = self._group(agent, integrations)
        if not self._tools_failed:  # else each tool that is named would seem to be missing
            self._check_rules(group, [tool.name for tool in tools])
        voice = integrations.voice
        silence_ms = voice.silence_timeout_ms
        return Project(
            root=self._root,
            id=agent.id,
            persona=agent.persona,
            rules=agent.rules,
            language=agent.language,
            settings=CallSettings(
                language=agent.language,
                fillers=agent.fillers,
                interruptions=voice.interruptions,
                turn_taking=voice.turn_taking,
                pause_after_filler_ms=voice.pause_after_filler_ms,
                pause_between_messages_ms=voice.pause_between_messages_ms,
                silence_timeout_ms=agent.silence_timeout_ms if silence_ms is None else silence_ms,
                silence_check_ins=len(responses.check_ins),
            ),
            tool_timeout_s=agent.tool_timeout_s,
            skill=skill,
            memory=memory,
            tools=tools,
            model_group=group,
            greetings=responses.greetings,
            check_ins=responses.check_ins,
            goodbye=responses.goodbye,
            model_error=responses.model_error,
            channels=voice.spec,
        )

    # ---------------------------------------------------------------- files

    def read(self, name: str) -> bytes:
        """Read one file of the project; an unreadable one is a problem and empty."""
        # One byte over the limit is enough for the reader to refuse it.
        try:
            with (self._root / name).open("rb") as file:
                return file.read(MAX_BYTES + 1)
        except OSError as error:
            self._problems.add(
                Place(name), "unreadable", f"the file can't be read: {error.strerror}"
            )
            return b""

    def _has(self, name: str) -> bool:
        return (self._root / name).is_file()

    def _responses(self) -> Responses:
        if not self._has(responses_file.FILE):
            return responses_file.packaged_responses()
        data = self.read(responses_file.FILE)
        return responses_file.read_responses(data, self._env, self._problems)

    def _skill_text(self, folder: Path) -> SkillText:
        name = f"{_SKILLS}/{folder.name}/skill.md"
        return read_skill(self.read(name), name, folder.name, self._env, self._problems)

    def _memory(self, skill_id: str) -> tuple[MemoryField, ...]:
        fields: tuple[MemoryField, ...] = ()
        if self._has("memory.yml"):
            fields = read_project_memory(
                self.read("memory.yml"), "memory.yml", self._env, self._problems
            )
        name = f"{_SKILLS}/{skill_id}/memory.yml"
        if self._has(name):
            data = self.read(name)
            fields += read_skill_memory(data, name, skill_id, self._env, self._problems)
        return fields

    def _tools(self, skill_id: str) -> tuple[ToolDef, ...]:
        folder = self._root / _SKILLS / skill_id
        paths = [folder / "tools.py", *sorted((folder / "tools").glob("*.py"))]
        try:
            return load_tools(
                [p for p in paths if p.is_file() and p.name != "__init__.py"], self._root
            )
        except (ToolLoadingError, ToolDefinitionError) as error:
            self._tools_failed = True
            self._problems.add(Place(f"{_SKILLS}/{skill_id}/tools.py"), "tool_loading", str(error))
            return ()

    def _refuse_later(self, skill_id: str) -> None:
        paths = [*_LATER_FOLDERS, *(f"{_SKILLS}/{skill_id}/{p}" for p in _LATER_SKILL_PARTS)]
        for name in paths:
            if (self._root / name).exists():
                self._problems.add(
                    Place(name),
                    "unsupported",
                    f"'{name}' is not supported yet in this version",
                    "move it out of the project",
                )

    # ---------------------------------------------------------------- checks across files

    def _group(self, agent: AgentFile, integrations: IntegrationsFile) -> tuple[ModelSpec, ...]:
        groups = integrations.model_groups
        found = groups.get(agent.model_group)
        if found is None and agent.model_group and groups:
            close = nearest(agent.model_group, groups)
            self._problems.add(
                agent.model_group_place,
                "unknown_model_group",
                f"there is no model group '{agent.model_group}' in {integrations_file.FILE}",
                f"did you mean '{close}'?" if close else f"write {listed(groups)}",
            )
        return found or ()

    def _check_rules(self, group: tuple[ModelSpec, ...], tools: list[str]) -> None:
        for spec in group:
            if spec.provider != "rules":
                continue
            name = str(spec.option("file") or "")
            if not name:
                continue
            file = (self._root / name).resolve()
            if not file.is_relative_to(self._root) or not file.is_file():
                self._problems.add(
                    spec.place,
                    "missing_file",
                    f"there is no file '{name}' in the project",
                    "name a file below the project's folder",
                )
                continue
            read_rules(self.read(name), name, self._problems, tools)
