"""Reads ``agent.yml``: who the agent is, its rules, and how it fills waits.

Owns the keys of that file and their defaults; putting files together is ``loader``.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from runtime.agent import FillerSettings
from runtime.errors import Place
from runtime.project.fields import Fields
from runtime.project.problems import Problems
from runtime.project.yaml_nodes import Node
from runtime.project.yaml_source import read_yaml

FILE = "agent.yml"

_LATER = (
    "knowledge_answering",
    "skill_retrieval",
    "conversation",
    "session_config",
)
_LATER_ORCHESTRATOR = (
    "max_prompt_tokens",
    "text_rules",
    "voice_rules",
    "preconditions",
    "tool_constraints",
)
_LATER_FILLERS = ("instructions", "reminder", "examples")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFile:
    """What ``agent.yml`` says, with defaults filled in."""

    id: str
    persona: str
    language: str
    rules: tuple[str, ...]
    fillers: FillerSettings
    tool_timeout_s: float
    model_group: str
    model_group_place: Place
    silence_timeout_ms: int


def read_agent(
    data: bytes, env: Mapping[str, str], problems: Problems, folder_name: str
) -> AgentFile:
    """Read the file; what is wrong goes into ``problems`` and is replaced by its default."""
    top = Fields(read_yaml(data, FILE, problems, env), problems, "", Place(FILE))
    agent = top.section("agent")
    agent_id = agent.text("id", folder_name)
    persona = agent.required_text("persona")
    language = agent.text("language", "en")
    agent.done()
    orchestrator = top.section("orchestrator")
    group_entry = orchestrator.entry("model_group")
    model_group = orchestrator.required_text("model_group")
    orchestrator.done(_LATER_ORCHESTRATOR)
    voice = top.section("voice")
    silence_timeout_ms = voice.seconds_ms("silence_timeout", 30_000)
    voice.done()
    tool_timeout_ms = top.seconds_ms("tool_timeout", 10_000)
    if tool_timeout_ms == 0:
        top.problem(
            _place_of(top, "tool_timeout"),
            "out_of_range",
            "'tool_timeout' must be more than 0",
            "write the seconds that a tool may take at most",
        )
    read = AgentFile(
        id=agent_id,
        persona=persona,
        language=language,
        rules=top.texts("rules"),
        fillers=_fillers(top.section("fillers")),
        tool_timeout_s=tool_timeout_ms / 1000,
        model_group=model_group,
        model_group_place=_value_place(group_entry.value if group_entry else None, FILE),
        silence_timeout_ms=silence_timeout_ms,
    )
    top.done(_LATER)
    return read


def _fillers(fields: Fields) -> FillerSettings:
    packaged = FillerSettings()
    after_ms = fields.seconds_ms("after", packaged.after_ms)
    phrases = fields.texts("phrases")
    settings = FillerSettings(
        enabled=fields.flag("enabled", packaged.enabled) and after_ms > 0,
        after_ms=after_ms or packaged.after_ms,
        every_ms=fields.seconds_ms("every", packaged.every_ms),
        most=fields.whole("max", packaged.most, most=100),
        phrases=phrases or packaged.phrases,
    )
    fields.done(_LATER_FILLERS)
    return settings


def _place_of(fields: Fields, key: str) -> Place:
    entry = fields.entry(key)
    return entry.value.place if entry else fields.place


def _value_place(node: Node | None, file: str) -> Place:
    return node.place if node is not None else Place(file)
