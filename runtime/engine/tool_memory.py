"""``context.memory``: memory as one call of a tool sees it.

Owns nothing but the binding of the rules in ``runtime.conversation.memory`` to a conversation and a
call: reads see the live state, writes go through at once and are recorded as the tool's.
"""

from typing import Any, Protocol

from runtime.conversation.events import Fact, MemorySet
from runtime.conversation.memory import MemorySchema, read, writable
from runtime.conversation.state import ConversationState
from runtime.errors import ProjectMemoryAlreadySetError
from runtime.tools.call import RunningCall
from runtime.tools.context import MemorySlice

__all__ = ["MemoryHost", "ToolMemory"]


class MemoryHost(Protocol):
    """The conversation whose memory it is."""

    @property
    def state(self) -> ConversationState:
        """The live state."""
        ...

    @property
    def schema(self) -> MemorySchema:
        """Declared memory."""
        ...

    def record(self, turn: int, fact: Fact) -> None:
        """Append a fact to the conversation."""
        ...


class ToolMemory(MemorySlice):
    """One call's access to memory."""

    def __init__(
        self, host: MemoryHost, call: RunningCall, skill: str, *, skips_set: bool = False
    ) -> None:
        """Read and write for ``call`` as a tool of ``skill``.

        Args:
            host: The conversation.
            call: The call whose memory it is.
            skill: The skill that it was called for.
            skips_set: Leave a project field that is set as it is instead of raising (hooks).
        """
        self._host = host
        self._call = call
        self._skill = skill
        self._skips_set = skips_set

    def get(self, name: str, default: Any = None, /) -> Any:
        """Return a value, or ``default`` when it is unset, ``None`` or not readable."""
        host = self._host
        return read(host.schema, host.state, name, self._skill, default)

    def set(self, name: str, value: Any, /) -> None:
        """Write a value through at once; see ``runtime.conversation.memory.writable``."""
        host = self._host
        try:
            field, text = writable(host.schema, host.state, name, value, self._skill)
        except ProjectMemoryAlreadySetError:
            if self._skips_set:
                return
            raise
        fact = MemorySet(field.namespace, field.name, text, "tool", self._call.call_id)
        host.record(self._call.turn, fact)
