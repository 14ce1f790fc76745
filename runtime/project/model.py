"""One agent project as the runtime uses it: immutable, validated, nothing left to look up.

Owns the plain records; reading them from files is ``runtime.project.loader``. Options of engines
and models are kept out of ``repr``, since they may hold secrets.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from runtime.agent import CallSettings, Json
from runtime.errors import Place
from runtime.knowledge.index import KnowledgeIndex
from runtime.project.conditions import Condition
from runtime.project.response_model import Response
from runtime.project.skill_model import Skill

Dialect = Literal["mantle", "maestro"]
FieldType = Literal["text", "bool", "int", "float", "list", "categorical", "json", "any"]
PROJECT_NAMESPACE = "project"
"""Namespace of the fields in the project's own ``memory.yml``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryField:
    """One declared memory entry."""

    namespace: str
    """``project`` or the skill's id."""
    name: str
    type: FieldType = "any"
    enum_values: tuple[str, ...] = ()
    """Only for ``categorical``; never empty there."""
    description: str | None = None
    llm_settable: bool = False
    initial_value: Json = None
    pii: bool = False
    anonymization: str = "mask"
    seed: bool = False
    """Project only: copied once from the channel's metadata when the session starts."""
    immutable: bool = False
    """The first write wins."""
    collected: bool = False
    """A ``collect`` step fills it, so that the model may set it."""
    private: bool = False
    """Hidden from other skills."""
    place: Place = Place("memory.yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """One chat model of the orchestrator's group."""

    provider: str
    """``openai``, ``azure``, ``offline``, ``scripted``, or the module path of a custom engine."""
    model: str
    """Model name as the provider knows it; empty where it has none."""
    options: tuple[tuple[str, Json], ...] = field(default=(), repr=False)
    """What else was written beside it (``api_base``, ``api_key``, ``temperature``, ``file``)."""
    place: Place = Place("integrations.yml")

    def option(self, name: str) -> Json:
        """Return one option, ``None`` when it was not written."""
        return next((value for key, value in self.options if key == name), None)


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """A speech engine by name (``local``, ``scripted``) or module path, with its options."""

    name: str = "local"
    options: tuple[tuple[str, Json], ...] = field(default=(), repr=False)

    def option(self, name: str) -> Json:
        """Return one option, ``None`` when it was not written."""
        return next((value for key, value in self.options if key == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSpec:
    """The voice channel: its engines and how the gateway is reached."""

    name: str = "voice"
    stt: EngineSpec = EngineSpec()
    tts: EngineSpec = EngineSpec()
    voice: str | None = None
    """The TTS engine's voice; None = its default."""
    public_url: str | None = None
    auth_token: str | None = field(default=None, repr=False)
    max_calls: int | None = None
    """None = what the engines suggest."""


@dataclass(frozen=True, slots=True)
class Precondition:
    """A name that skills can be parked behind."""

    name: str
    satisfied_when: Condition
    resolve_with: str
    """Id of the skill that brings it about."""
    says_unmet: bool = True
    """Whether ``utter_precondition_unmet`` is said when the resolver did not."""
    place: Place = field(default=Place("agent.yml"), compare=False)
    """Where its resolver is named."""


@dataclass(frozen=True, slots=True)
class BuiltinConstraint:
    """What an author says about one of the engine's own tools."""

    enabled: bool = True
    invoke_when: str | None = None
    """Replaces the packaged guidance on when to use it."""
    requires_confirmation: bool = False
    """``cancel_skill`` only: the caller is asked first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Orchestrator:
    """How requests to the model are made."""

    max_prompt_tokens: int = 8000
    text_rules: tuple[str, ...] | None = None
    """None = the packaged ones."""
    voice_rules: tuple[str, ...] | None = None
    preconditions: Mapping[str, Precondition] = field(default_factory=dict[str, Precondition])
    builtin: Mapping[str, BuiltinConstraint] = field(default_factory=dict[str, BuiltinConstraint])


@dataclass(frozen=True, slots=True)
class FillerGuidance:
    """What the model is told about the line it says beside a tool call; None = packaged."""

    instructions: str | None = None
    reminder: str | None = None
    examples: tuple[tuple[str, str], ...] = ()
    """(what the caller said, what the agent says while it works)."""


@dataclass(frozen=True, slots=True)
class KnowledgeSettings:
    """How reference files are cut and searched."""

    top_k: int = 4
    chunk_size: int = 1000
    chunk_overlap: int = 20
    instructions: str | None = None
    embeddings: str | None = None
    """A model group; None = words only."""


@dataclass(frozen=True, slots=True)
class SkillRetrieval:
    """Narrows the catalogue of skills when there are more than ``num_skills``."""

    num_skills: int = 20
    turns_to_embed: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Everything an author wrote, checked."""

    root: Path
    id: str
    persona: str
    rules: tuple[str, ...] = ()
    language: str = "en"
    dialect: Dialect = "mantle"
    settings: CallSettings = CallSettings()
    tool_timeout_s: float = 10.0
    skills: Mapping[str, Skill]
    """By id, packaged ones included."""
    responses: Mapping[str, Response]
    """By name; packaged, then the skills', then the project's."""
    memory: tuple[MemoryField, ...] = ()
    model_group: tuple[ModelSpec, ...]
    """Tried in order, each when the one before failed ahead of its first token; never empty."""
    model_groups: Mapping[str, tuple[ModelSpec, ...]] = field(
        default_factory=dict[str, tuple[ModelSpec, ...]]
    )
    orchestrator: Orchestrator = Orchestrator()
    filler_guidance: FillerGuidance = FillerGuidance()
    knowledge: KnowledgeSettings = KnowledgeSettings()
    index: KnowledgeIndex | None = None
    """None when the project ships no reference files."""
    skill_retrieval: SkillRetrieval | None = None
    before_end: tuple[str, ...] = ()
    """Skills that are offered before the conversation ends."""
    channels: ChannelSpec = ChannelSpec()
    """The one voice channel of the project."""
    warnings: tuple[str, ...] = ()
    """What is not wrong and still worth a look, one line each."""

    @property
    def embedding_model(self) -> ModelSpec | None:
        """What makes vectors of texts; None = searches go by words alone."""
        group = self.model_groups.get(self.knowledge.embeddings or "", ())
        return group[0] if group else None
