"""One agent project as the runtime uses it: immutable, validated, nothing left to look up.

Owns the plain records; reading them from files is ``runtime.project.loader``. Options of engines
and models are kept out of ``repr``, since they may hold secrets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from runtime.agent import CallSettings, Json
from runtime.errors import Place

if TYPE_CHECKING:
    from runtime.tools.definition import ToolDef

FieldType = Literal["text", "bool", "int", "float", "list", "categorical", "json", "any"]
PROJECT_NAMESPACE = "project"
"""Namespace of the fields in the project's own ``memory.yml``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One skill: what routing matches, and the prose that the model follows."""

    id: str
    """The folder's name."""
    name: str
    description: str
    prose: str
    """Markdown with its tokens resolved; never empty."""
    place: Place
    """Where the prose begins."""


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
    private: bool = False
    """Hidden from other skills."""
    place: Place = Place("memory.yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """One chat model of the orchestrator's group."""

    provider: str
    """``openai``, ``rules``, ``scripted``, or the module path of a custom engine."""
    model: str
    """Model name as the provider knows it; empty where it has none."""
    options: tuple[tuple[str, Json], ...] = field(default=(), repr=False)
    """What else was written beside it (``api_base``, ``api_key``, ``temperature``, ``file``)."""
    place: Place = Place("integrations.yml")

    def option(self, name: str) -> Json:
        """Return one option, ``None`` when it was not written."""
        return next((value for key, value in self.options if key == name), None)


@dataclass(frozen=True, slots=True)
class Greeting:
    """One line said when the call opens."""

    text: str
    interruptible: bool = True


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Everything an author wrote, checked."""

    root: Path
    id: str
    persona: str
    rules: tuple[str, ...] = ()
    language: str = "en"
    settings: CallSettings = CallSettings()
    tool_timeout_s: float = 10.0
    skill: Skill
    memory: tuple[MemoryField, ...] = ()
    tools: tuple[ToolDef, ...] = ()
    model_group: tuple[ModelSpec, ...]
    """Tried in order, each when the one before failed ahead of its first token; never empty."""
    greetings: tuple[Greeting, ...] = ()
    """Said in order when the call opens; empty = the caller speaks first."""
    check_ins: tuple[str, ...]
    """One per silent wait, ``settings.silence_check_ins`` of them."""
    goodbye: str
    """Said before the hang-up that ends a silent call."""
    model_error: str
    """Said when the model can't be reached or does not come to an end."""
    channels: ChannelSpec = ChannelSpec()
    """The one voice channel of the project."""
