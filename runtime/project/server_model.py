"""MCP servers and tool providers as an author declares them.

Owns the plain records; whatever may hold a secret is kept out of ``repr``.
"""

from dataclasses import dataclass, field
from typing import Literal

from runtime.agent import Json
from runtime.errors import Place

__all__ = [
    "RETRIES_S",
    "ApiKeyAuth",
    "McpServerSpec",
    "OAuthSpec",
    "ServerType",
    "ToolProviderSpec",
]

ServerType = Literal["http", "stdio"]
RETRIES_S = (5.0, 10.0, 30.0)
"""Seconds before each further attempt to connect, where none are written."""


@dataclass(frozen=True, slots=True)
class ApiKeyAuth:
    """A key sent in a header."""

    key: str | None = field(repr=False)
    """None when the variable that holds it is empty."""
    header_name: str = "Authorization"
    header_format: str = "Bearer {key}"
    """``{key}`` stands for the key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthSpec:
    """Client credentials of OAuth 2."""

    client_id: str
    client_secret: str | None = field(repr=False)
    token_url: str
    scope: str | None = None
    audience: str | None = None
    timeout_s: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServerSpec:
    """One MCP server; reached by ``url``, or started by ``command``."""

    name: str
    type: ServerType
    url: str | None = None
    command: str | None = None
    args: tuple[str, ...] = field(default=(), repr=False)
    token: str | None = field(default=None, repr=False)
    """At most one of the four ways to authenticate is there."""
    api_key: ApiKeyAuth | None = None
    oauth: OAuthSpec | None = None
    auth_module: str | None = None
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    meta_map: tuple[tuple[str, str], ...] = ()
    pre_call_hook: str | None = None
    """Module path of what is asked before each call."""
    tool_timeout_s: float | None = None
    """None = the agent's."""
    init_retries_s: tuple[float, ...] = RETRIES_S
    place: Place = Place("integrations.yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProviderSpec:
    """One provider of tools."""

    id: str
    type: str
    """Module path of its ``Provider``."""
    allowed_functions: tuple[str, ...]
    """Regular expressions; a tool's whole name must match one."""
    options: tuple[tuple[str, Json], ...] = field(default=(), repr=False)
    """What else was written; it goes to the provider."""
    place: Place = Place("integrations.yml")
