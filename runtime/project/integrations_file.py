"""Reads ``integrations.yml``: models, channels, MCP servers, tool providers.

Owns which keys the file has; each part has its own reader beside this one.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from runtime.errors import Place
from runtime.project.channels_file import VoiceChannel, read_channels
from runtime.project.fields import Fields
from runtime.project.model import ModelSpec
from runtime.project.models_file import read_groups
from runtime.project.problems import Problems
from runtime.project.providers_file import read_providers
from runtime.project.server_model import McpServerSpec, ToolProviderSpec
from runtime.project.servers_file import read_servers
from runtime.project.yaml_source import read_yaml

__all__ = ["FILE", "IntegrationsFile", "read_integrations"]

FILE = "integrations.yml"

_LATER = ("tracker_store", "event_broker", "tracing", "metrics", "recordings")


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegrationsFile:
    """What ``integrations.yml`` says, with defaults filled in."""

    model_groups: Mapping[str, tuple[ModelSpec, ...]]
    """By id."""
    voice: VoiceChannel
    """The one that is enabled."""
    mcp_servers: Mapping[str, McpServerSpec]
    """By name."""
    tool_providers: Mapping[str, ToolProviderSpec]
    """By id."""
    is_maestro: bool
    """It is written in the older form, with one model under ``llm``."""


def read_integrations(data: bytes, env: Mapping[str, str], problems: Problems) -> IntegrationsFile:
    """Read the file; what is wrong goes into ``problems`` and is replaced by its default."""
    top = Fields(read_yaml(data, FILE, problems, env), problems, "", Place(FILE))
    read = IntegrationsFile(
        model_groups=read_groups(top, problems),
        voice=read_channels(top, problems),
        mcp_servers=read_servers(top, problems),
        tool_providers=read_providers(top, problems),
        is_maestro=top.entry("llm") is not None,
    )
    top.done(_LATER)
    return read
