"""What a chat model must offer: messages and tools in, text and tool calls out, streamed.

Owns the plain records of a request and of what comes back. Engines: ``openai_model``,
``offline``, ``scripted_model``; all pass the same contract tests.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from runtime.agent import Json
from runtime.models.situation import Situation


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """A tool call as the model asked for it; ``arguments`` is its raw JSON text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of the prompt."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    calls: tuple[RequestedCall, ...] = ()
    """Only on assistant messages; each has a later ``tool`` message with its ``call_id``."""
    call_id: str = ""
    """Only on tool messages."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it; ``parameters`` is a JSON schema object."""

    name: str
    description: str
    parameters: dict[str, Json]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request: the whole prompt and the tools on offer."""

    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    temperature: float | None = None
    situation: Situation = Situation()
    """The same as data, for a model that reads no prose."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the reply's text."""

    text: str


@dataclass(frozen=True, slots=True)
class CallAsked:
    """A complete tool call; never sent for one whose arguments were cut off."""

    call: RequestedCall


@dataclass(frozen=True, slots=True)
class CallCutOff:
    """A tool call whose arguments ended before they were whole (length limit)."""

    name: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The reply is over."""

    reason: Literal["stop", "calls", "length", "filtered"] = "stop"
    usage: tuple[tuple[str, int], ...] = field(default=())


ModelEvent: TypeAlias = TextDelta | CallAsked | CallCutOff | Finished


class ChatModel(Protocol):
    """A chat model; one for the process."""

    def stream(self, request: ChatRequest) -> AsyncIterator[ModelEvent]:
        """Stream the reply. The caller closes the generator (``runtime.tasks.closing_stream``),
        which closes the connection at once. Raises ``ProviderError``.
        """
        ...

    async def aclose(self) -> None:
        """Release connections; idempotent."""
        ...
