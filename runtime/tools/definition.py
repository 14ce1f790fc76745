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
from runtime.tools.values import Kind, read_values

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
    """Takes arguments as JSON, whatever the author's function is annotated with."""
    on_interrupt: OnInterrupt = "cancel"
    timeout_s: float | None = None
    """None = the project's ``tool_timeout``."""
    filler: str | None = None
    """Said when the tool takes long; None = the next of the project's phrases."""
    hook_for: str | None = None
    """The memory entry whose writes it is called after (``run_after_setting_<entry>``)."""
    rich_schema: bool = False
    """Whether annotations outside of the type table kept a JSON schema of their own."""
    takes_context: bool = True
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Values of the parameters the model may leave out: two calls that mean the same are equal."""
    kinds: Mapping[str, Kind] = field(default_factory=dict[str, Kind])
    """How the values of parameters outside of the type table are read."""
    place: Place = Place("")
    needed: tuple[str, ...] = ()
    """Parameters that the schema does not require and a call can't do without."""

    def check(self, values: Mapping[str, Json]) -> None:
        """Refuse arguments that fit the schema and that the function can't be given all the same.

        Raises:
            ValueError: names the argument; the text is for the model.
        """
        missing = [name for name in self.needed if name not in values]
        if missing:
            raise ValueError(f"missing: {', '.join(missing)}")
        read_values(values, self.kinds)
