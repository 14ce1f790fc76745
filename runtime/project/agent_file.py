"""Reads ``agent.yml``: who the agent is, its rules, and how requests and waits are handled.

Owns the keys of that file and their defaults; putting files together is ``loader``. The part below
``orchestrator`` is ``orchestrator_file``.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from runtime.agent import FillerSettings
from runtime.errors import Place
from runtime.project.fields import Fields, duration_ms, shown
from runtime.project.model import (
    Dialect,
    FillerGuidance,
    KnowledgeSettings,
    Orchestrator,
    SkillRetrieval,
)
from runtime.project.orchestrator_file import DEFAULT_GROUP, read_orchestrator
from runtime.project.placed_conditions import PlacedCondition
from runtime.project.problems import Problems
from runtime.project.yaml_nodes import Scalar, Sequence, as_number
from runtime.project.yaml_source import read_yaml

__all__ = ["DEFAULT_GROUP", "FILE", "AgentFile", "read_agent"]

FILE = "agent.yml"

_SILENCE_MS = 30_000
_TOOL_TIMEOUT_MS = 10_000
_EXPIRATION_MS = 3_600_000
_MOST_MINUTES = 60 * 24 * 366
_MOST_CHARACTERS = 100_000
_IN_AGENT = ("rules", "voice")
"""Keys that a Maestro project writes inside ``agent``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFile:
    """What ``agent.yml`` says, with defaults filled in."""

    id: str
    persona: str
    language: str
    rules: tuple[str, ...]
    fillers: FillerSettings
    filler_guidance: FillerGuidance
    tool_timeout_s: float
    model_group: str
    """Empty after a problem."""
    model_group_place: Place
    silence_timeout_ms: int
    orchestrator: Orchestrator
    """Whether its resolvers exist is for the loader to check."""
    conditions: tuple[PlacedCondition, ...]
    """``satisfied_when`` of each precondition, to be checked against the declared memory."""
    knowledge: KnowledgeSettings
    embeddings_place: Place | None
    """Where ``knowledge_answering.embeddings`` names a model group; None = it names none."""
    skill_retrieval: SkillRetrieval | None
    before_end: Mapping[str, Place]
    """Ids of skills, and where they stand; whether they exist is for the loader to check."""
    session_expiration_ms: int
    """0 = never."""
    is_maestro: bool
    """It is written in the older form, with ``rules`` or ``voice`` inside ``agent``."""


def read_agent(
    data: bytes,
    env: Mapping[str, str],
    problems: Problems,
    folder_name: str,
    dialect: Dialect = "mantle",
) -> AgentFile:
    """Read the file; what is wrong goes into ``problems`` and is replaced by its default.

    Args:
        data: The file.
        env: What fills ``${VAR}``.
        problems: Grows by everything that is wrong.
        folder_name: The id of an agent that has none.
        dialect: A Maestro project needs no ``orchestrator.model_group``: its one model is a group
            of its own.
    """
    top = Fields(read_yaml(data, FILE, problems, env), problems, "", Place(FILE))
    agent = top.section("agent", "persona")
    agent_id = agent.text("id", folder_name)
    persona = agent.required_text("persona")
    language = agent.text("language", "en")
    is_maestro = any(agent.entry(key) is not None for key in _IN_AGENT)
    rules = _either(top, agent, "rules").texts("rules")
    voice = _either(top, agent, "voice").section("voice", "silence_timeout")
    agent.done()
    silence_timeout_ms = voice.seconds_ms("silence_timeout", _SILENCE_MS)
    voice.done()
    orchestrator = read_orchestrator(
        top.section("orchestrator", "model_group"),
        problems,
        needs_group=not is_maestro and dialect == "mantle",
    )
    fillers, guidance = _fillers(top.section("fillers", "enabled"), problems)
    knowledge, embeddings_place = _knowledge(top.section("knowledge_answering"))
    read = AgentFile(
        id=agent_id,
        persona=persona,
        language=language,
        rules=rules,
        fillers=fillers,
        filler_guidance=guidance,
        tool_timeout_s=_tool_timeout(top),
        model_group=orchestrator.model_group,
        model_group_place=orchestrator.model_group_place,
        silence_timeout_ms=silence_timeout_ms,
        orchestrator=orchestrator.settings,
        conditions=orchestrator.conditions,
        knowledge=knowledge,
        embeddings_place=embeddings_place,
        skill_retrieval=_skill_retrieval(top),
        before_end=_before_end(top.section("conversation", "before_end")),
        session_expiration_ms=_expiration(top.section("session_config", "session_expiration_time")),
        is_maestro=is_maestro,
    )
    top.done()
    return read


def _either(top: Fields, agent: Fields, key: str) -> Fields:
    """Where ``key`` is written: at the top, or inside ``agent`` (Maestro)."""
    outer, inner = top.entry(key), agent.entry(key)
    if outer is not None and inner is not None:
        top.problem(
            inner.place,
            "duplicate_key",
            f"'{key}' is written twice; also at {outer.place}",
            "keep one of them",
        )
    return top if outer is not None or inner is None else agent


def _tool_timeout(top: Fields) -> float:
    timeout_ms = top.seconds_ms("tool_timeout", _TOOL_TIMEOUT_MS)
    if timeout_ms == 0:
        top.problem(
            _place_of(top, "tool_timeout"),
            "out_of_range",
            "'tool_timeout' must be more than 0",
            "write the seconds that a tool may take at most",
        )
        timeout_ms = _TOOL_TIMEOUT_MS
    return timeout_ms / 1000


def _fillers(fields: Fields, problems: Problems) -> tuple[FillerSettings, FillerGuidance]:
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
    examples: list[tuple[str, str]] = []
    for node in fields.items("examples"):
        example = Fields(node, problems, fields.path("examples"), node.place, "user", is_item=True)
        pair = example.required_text("user"), example.required_text("ack")
        example.done()
        if all(pair):
            examples.append(pair)
    guidance = FillerGuidance(fields.text("instructions"), fields.text("reminder"), tuple(examples))
    fields.done()
    return settings, guidance


def _knowledge(fields: Fields) -> tuple[KnowledgeSettings, Place | None]:
    packaged = KnowledgeSettings()
    chunking = fields.section("chunking")
    size = chunking.whole("chunk_size", packaged.chunk_size, least=1, most=_MOST_CHARACTERS)
    # A small size alone must not collide with an overlap that nobody wrote.
    usual = min(packaged.chunk_overlap, size - 1)
    overlap = chunking.whole("chunk_overlap", usual, most=_MOST_CHARACTERS)
    if overlap >= size:
        chunking.problem(
            _place_of(chunking, "chunk_overlap"),
            "out_of_range",
            f"'{chunking.path('chunk_overlap')}' must be less than 'chunk_size' ({size})",
            f"write 0 to {size - 1}",
        )
        overlap = usual
    chunking.done()
    embeddings = fields.text("embeddings")
    settings = KnowledgeSettings(
        top_k=fields.whole("top_k", packaged.top_k, least=1, most=100),
        chunk_size=size,
        chunk_overlap=overlap,
        instructions=fields.text("instructions"),
        embeddings=embeddings,
    )
    fields.done()
    return settings, _place_of(fields, "embeddings") if embeddings else None


def _skill_retrieval(top: Fields) -> SkillRetrieval | None:
    if top.node("skill_retrieval") is None:
        return None
    packaged = SkillRetrieval()
    fields = top.section("skill_retrieval", "num_skills")
    settings = SkillRetrieval(
        num_skills=fields.whole("num_skills", packaged.num_skills, least=1, most=10_000),
        turns_to_embed=fields.whole("turns_to_embed", packaged.turns_to_embed, least=1, most=100),
    )
    fields.done()
    return settings


def _before_end(fields: Fields) -> dict[str, Place]:
    fields.texts("before_end")  # for the problems of entries that are no texts
    node = fields.node("before_end")
    seen: dict[str, Place] = {}
    for item in node.items if isinstance(node, Sequence) else ():
        name = item.text.strip() if isinstance(item, Scalar) else ""
        if name and name in seen:
            fields.problem(
                item.place,
                "duplicate_value",
                f"'{name}' is listed twice; first at {seen[name]}",
                "keep one of them",
            )
        if name:
            seen.setdefault(name, item.place)
    fields.done()
    return seen


def _expiration(fields: Fields) -> int:
    """Minutes as a plain number, or a duration with its unit; in ms."""
    key = "session_expiration_time"
    node = fields.node(key)
    minutes = as_number(node) if isinstance(node, Scalar) else None
    found = None if minutes is None else minutes * 60_000.0
    if found is None and isinstance(node, Scalar):
        found = duration_ms(node)
    if node is None or (found is not None and 0 <= found <= _MOST_MINUTES * 60_000):
        fields.done()
        return _EXPIRATION_MS if found is None else round(found)
    fields.problem(
        node.place,
        "wrong_type" if found is None else "out_of_range",
        f"'{fields.path(key)}' can't be {shown(node)}",
        f"write minutes as a plain number from 0 (never) to {_MOST_MINUTES}, or a duration: "
        "'90 min', '3600 s'",
    )
    fields.done()
    return _EXPIRATION_MS


def _place_of(fields: Fields, key: str) -> Place:
    entry = fields.entry(key)
    return entry.value.place if entry else fields.place
