"""Decides what to say and do; knows nothing of sound. Authors' tools import from here."""

from runtime.errors import MemoryWriteError, ProjectMemoryAlreadySetError
from runtime.tools.buttons import Button
from runtime.tools.context import ToolContext
from runtime.tools.decorator import tool
from runtime.tools.result import ToolResult

__all__ = [
    "Button",
    "MemoryWriteError",
    "ProjectMemoryAlreadySetError",
    "ToolContext",
    "ToolResult",
    "tool",
]
