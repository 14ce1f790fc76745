"""What the engine knows of a tool before it runs: its name, schema, function and policy.

Owns the record; ``decorator`` makes it from a function, ``loading`` finds it in a project's files,
``runner`` runs it.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from runtime.agent import Json
from runtime.errors import Place
from runtime.tools.result import ToolResult

__all__ = ["OnInterrupt", "ToolDef", "ToolFunction"]

OnInterrupt = Literal["cancel", "finish"]
ToolFunction: TypeAlias = Callable[..., Awaitable[ToolResult]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDef:
    """A tool as its author wrote it."""

    name: str
    description: str
    parameters: dict[str, Json]
    """JSON schema of the arguments object, ``additionalProperties: false``."""
    fn: ToolFunction
    on_interrupt: OnInterrupt = "cancel"
    timeout_s: float | None = None
    """None = the project's ``tool_timeout``."""
    filler: str | None = None
    """Said when the tool takes long; None = the next of the project's phrases."""
    takes_context: bool = True
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Values of the parameters the model may leave out: two calls that mean the same are equal."""
    place: Place = Place("")
