"""What a tool returns."""

from dataclasses import dataclass
from typing import Any

__all__ = ["ToolResult"]


@dataclass(slots=True)
class ToolResult:
    """The answer of a tool; a bare ``ToolResult()`` says that it is done and nothing more."""

    llm_response: Any = None
    """Any JSON value: what the model reads as the tool's result."""
