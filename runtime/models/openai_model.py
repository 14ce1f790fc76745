"""Chat models of OpenAI, of servers of the same API, and of Azure, through the ``openai`` SDK.

Owns the request's shape, the putting together of calls that arrive in pieces, the bounds on
waiting, and the mapping of failures; no failure's text carries a key, a prompt or the server's
words. The SDK's client is ``openai_client``. Models that need no key: ``offline``,
``scripted_model``.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from runtime.agent import Json
from runtime.errors import ProviderError
from runtime.models.call_text import CallTextFilter
from runtime.models.openai_client import Endpoint
from runtime.models.ports import (
    CallAsked,
    CallCutOff,
    ChatMessage,
    ChatModel,
    ChatRequest,
    Finished,
    ModelEvent,
    RequestedCall,
    TextDelta,
    ToolSpec,
)

if TYPE_CHECKING:
    from openai import AsyncStream
    from openai.types.chat import ChatCompletionChunk
    from openai.types.chat.chat_completion_chunk import ChoiceDeltaToolCall

_logger = logging.getLogger(__name__)

_MAX_ARGUMENTS = 1 << 20


@dataclass(frozen=True, slots=True)
class Waits:
    """Bounds on waiting, in seconds."""

    connect_s: float = 5.0
    first_token_s: float = 15.0
    """From the request to the first piece, and between pieces."""
    close_s: float = 1.0


class OpenAIModel(ChatModel):
    """One model; safe for any number of calls at a time."""

    def __init__(
        self,
        model: str,
        endpoint: Endpoint | None = None,
        *,
        temperature: float | None = None,
        max_tokens: int | None = None,
        more: Mapping[str, Json] | None = None,
        waits: Waits | None = None,
    ) -> None:
        """Prepare the client; nothing is sent yet.

        Args:
            model: Name as the server knows it; on Azure the deployment's.
            endpoint: Where it is served; None = by OpenAI.
            temperature: 0..2; None = the server's default. A request's own value wins.
            max_tokens: Most tokens of a reply; None = the server's default.
            more: Further parameters of each request, by OpenAI's names (``top_p``, ``seed``, …).
            waits: Bounds on waiting.
        """
        self._model = model
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._more = dict(more or {})
        endpoint = endpoint or Endpoint()
        self._has_new_names = endpoint.has_new_names
        self._waits = waits or Waits()
        self._client = endpoint.client(
            connect_s=self._waits.connect_s, answer_s=self._waits.first_token_s
        )

    async def stream(self, request: ChatRequest) -> AsyncIterator[ModelEvent]:
        """Stream the reply; closing the generator closes the connection at once.

        Raises:
            ProviderError: the provider failed; ``retryable`` if the same request may work soon.
        """
        reply = _Reply()
        stream = await self._begin(request)
        try:
            while True:
                chunk = await self._next(stream)
                if chunk is None:
                    break
                text = reply.take(chunk)
                if text:
                    yield TextDelta(text)
        finally:
            await self._close(stream)
        for event in reply.ending():
            yield event

    async def aclose(self) -> None:
        """Close idle connections."""
        await self._client.close()

    async def _begin(self, request: ChatRequest) -> AsyncStream[ChatCompletionChunk]:
        try:
            async with asyncio.timeout(self._waits.first_token_s):
                create = cast(Any, self._client.chat.completions.create)
                return cast(
                    "AsyncStream[ChatCompletionChunk]", await create(**self._arguments(request))
                )
        except Exception as error:  # the one boundary to the SDK: every failure gets our name
            raise _mapped(error) from None

    async def _next(self, stream: AsyncStream[ChatCompletionChunk]) -> ChatCompletionChunk | None:
        try:
            async with asyncio.timeout(self._waits.first_token_s):
                return await anext(stream, None)
        except Exception as error:  # the same boundary, while the reply streams
            raise _mapped(error) from None

    async def _close(self, stream: AsyncStream[ChatCompletionChunk]) -> None:
        try:
            async with asyncio.timeout(self._waits.close_s):
                await stream.close()
        except Exception as error:  # a connection that is broken is closed enough
            _logger.debug("closing a model stream failed", extra={"kind": type(error).__name__})

    def _arguments(self, request: ChatRequest) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self._model,
            "messages": [_message(message) for message in request.messages],
            "stream": True,
            **self._more,
        }
        if request.tools:
            arguments["tools"] = [_tool(tool) for tool in request.tools]
        temperature = self._temperature if request.temperature is None else request.temperature
        if temperature is not None:
            arguments["temperature"] = temperature
        if self._max_tokens is not None:
            # OpenAI's newer models refuse the old name, other servers know only that one.
            name = "max_completion_tokens" if self._has_new_names else "max_tokens"
            arguments[name] = self._max_tokens
        if self._has_new_names:
            arguments["stream_options"] = {"include_usage": True}
        return arguments


def from_options(provider: str, model: str, options: Mapping[str, Json]) -> OpenAIModel:
    """Build from what ``integrations.yml`` says, already checked."""
    temperature, max_tokens = options.get("temperature"), options.get("max_tokens")
    wait = options.get("timeout")
    return OpenAIModel(
        model,
        Endpoint.of(provider, options),
        temperature=float(temperature) if isinstance(temperature, int | float) else None,
        max_tokens=max_tokens if isinstance(max_tokens, int) else None,
        more={name: value for name in _MORE if (value := options.get(name)) is not None},
        waits=Waits(first_token_s=float(wait)) if isinstance(wait, int | float) else None,
    )


_MORE = ("frequency_penalty", "presence_penalty", "reasoning_effort", "seed", "top_p")


# ------------------------------------------------------------------ the reply


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])
    size: int = 0


class _Reply:
    """Puts a reply together from its pieces."""

    def __init__(self) -> None:
        self._filter = CallTextFilter()
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._reason: str | None = None
        self._usage: tuple[tuple[str, int], ...] = ()

    def take(self, chunk: ChatCompletionChunk) -> str:
        """Use one piece; return the text that it makes certain."""
        if chunk.usage is not None:
            usage = chunk.usage
            self._usage = (("input", usage.prompt_tokens), ("output", usage.completion_tokens))
        text = ""
        # The SDK does not validate what other servers send: lists may be null.
        for choice in chunk.choices or ():
            delta = choice.delta
            if delta.content:
                text += self._filter.push(delta.content)
            for piece in delta.tool_calls or ():
                self._add(piece)
            self._reason = choice.finish_reason or self._reason
        return text

    def ending(self) -> list[ModelEvent]:
        """What is left to tell once the stream is over.

        Raises:
            ProviderError: the stream ended before the reply did.
        """
        if self._reason is None:
            raise ProviderError("the model's stream ended before its reply did", retryable=True)
        events: list[ModelEvent] = []
        held = self._filter.flush()
        if held:
            events.append(TextDelta(held))
        if self._filter.removed:
            _logger.info(
                "calls that the model printed as text were taken out",
                extra={"blocks": self._filter.removed},
            )
        cut_off = self._reason == "length"
        for position, call in enumerate(self._calls):
            last = position == len(self._calls) - 1
            if (cut_off and last) or call.size > _MAX_ARGUMENTS or not call.name:
                events.append(CallCutOff(call.name))
                continue
            arguments = "".join(call.arguments) or "{}"
            events.append(
                CallAsked(RequestedCall(call.id or f"call_{position}", call.name, arguments))
            )
        events.append(self._finished())
        return events

    def _finished(self) -> Finished:
        match self._reason:
            case "length":
                return Finished("length", self._usage)
            case "content_filter":
                return Finished("filtered", self._usage)
            case _:
                # Some servers say "stop" beside calls.
                return Finished("calls" if self._calls else "stop", self._usage)

    def _add(self, piece: ChoiceDeltaToolCall) -> None:
        # Some servers leave the index out or give all calls of a reply the same one.
        index = cast("int | None", piece.index)
        call = self._by_index.get(-1 if index is None else index)
        name = piece.function.name if piece.function else None
        if call is None or (piece.id and call.id and piece.id != call.id):
            call = _Call()
            self._calls.append(call)
            self._by_index[-1 if index is None else index] = call
        call.id = call.id or piece.id or ""
        call.name = call.name or name or ""
        more = piece.function.arguments if piece.function else None
        if more:
            call.size += len(more)
            if call.size <= _MAX_ARGUMENTS:
                call.arguments.append(more)


# ------------------------------------------------------------------ the request


def _message(message: ChatMessage) -> dict[str, Any]:
    text = _sendable(message.text)
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": text}
    if not message.calls:
        return {"role": message.role, "content": text}
    return {
        "role": message.role,
        "content": text or None,
        "tool_calls": [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": _sendable(call.arguments)},
            }
            for call in message.calls
        ],
    }


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    }


def _sendable(text: str) -> str:
    """The text without lone surrogates, which no request can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


# ------------------------------------------------------------------ the SDK's edge


def _mapped(error: Exception) -> ProviderError:
    import openai

    match error:
        case TimeoutError() | openai.APITimeoutError():
            return _late()
        case openai.APIStatusError(status_code=status):
            again = status in (408, 409, 425, 429) or status >= 500
            return ProviderError(f"the model refused the request: HTTP {status}", retryable=again)
        case openai.APIConnectionError() | OSError():
            return _broken()
        case json.JSONDecodeError() | UnicodeDecodeError():
            return ProviderError("the model sent something that is not JSON", retryable=True)
        case openai.APIError():
            return ProviderError("the model failed while it answered", retryable=True)
        case _ if type(error).__module__.startswith("http"):
            # Once a reply streams, errors of the SDK's HTTP library come unwrapped; which library
            # that is depends on the SDK's version.
            return _late() if type(error).__name__.endswith("Timeout") else _broken()
        case _:
            return ProviderError(
                f"the model's answer could not be read: {type(error).__name__}", retryable=False
            )


def _late() -> ProviderError:
    return ProviderError("the model did not answer in time", retryable=True)


def _broken() -> ProviderError:
    return ProviderError("the connection to the model failed", retryable=True)
