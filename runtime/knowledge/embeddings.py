"""Texts as vectors: the port, and one behind any OpenAI-compatible ``api_base``.

Owns the request, its bounds, the checking of what comes back and the names of failures; none of
them carries a key, a text or the server's words. What vectors are for is ``hybrid``. The SDK costs
over a second to import, so that only building an embedder imports it.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from runtime.errors import ProviderError
from runtime.models.openai_client import Endpoint

__all__ = ["Embedder", "EmbeddingWaits", "OpenAIEmbedder"]

_BATCH = 64
_MAX_DIMENSIONS = 16_384


class Embedder(Protocol):
    """Makes vectors of texts; near ones mean the same."""

    @property
    def name(self) -> str:
        """Which model it is: vectors of two names can't be compared."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in their order, all of one length and finite.

        Raises:
            ProviderError: the provider failed; ``retryable`` if the same request may work soon.
        """
        ...

    async def aclose(self) -> None:
        """Close idle connections."""
        ...


@dataclass(frozen=True, slots=True)
class EmbeddingWaits:
    """Bounds on waiting, in seconds."""

    connect_s: float = 5.0
    answer_s: float = 30.0
    """For one request of at most 64 texts."""


class OpenAIEmbedder(Embedder):
    """One embedding model; safe for any number of requests at a time."""

    def __init__(
        self,
        model: str,
        endpoint: Endpoint | None = None,
        *,
        waits: EmbeddingWaits | None = None,
    ) -> None:
        """Prepare the client; nothing is sent yet.

        Args:
            model: Name as the server knows it; on Azure the deployment's.
            endpoint: Where it is served; None = by OpenAI.
            waits: Bounds on waiting.
        """
        self._model = model
        self._waits = waits or EmbeddingWaits()
        self._client = (endpoint or Endpoint()).client(
            connect_s=self._waits.connect_s, answer_s=self._waits.answer_s
        )

    @property
    def name(self) -> str:
        """The model's name; where it runs says nothing about its vectors."""
        return self._model

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See ``Embedder``; many texts go in several requests, one after the other."""
        vectors: list[list[float]] = []
        for begin in range(0, len(texts), _BATCH):
            vectors += await self._request(texts[begin : begin + _BATCH])
        if len({len(vector) for vector in vectors}) > 1:
            raise _senseless("vectors of different lengths")
        return vectors

    async def aclose(self) -> None:
        """Close idle connections."""
        await self._client.close()

    async def _request(self, texts: Sequence[str]) -> list[list[float]]:
        # A lone surrogate can't be sent, an empty text is refused by OpenAI.
        sendable = [t.encode("utf-8", "replace").decode("utf-8") or " " for t in texts]
        try:
            async with asyncio.timeout(self._waits.answer_s):
                answer = await self._client.embeddings.create(
                    model=self._model,
                    input=sendable,
                    # The SDK's own choice, base64, is not known to every compatible server.
                    encoding_format="float",
                )
        except Exception as error:  # the one boundary to the SDK: every failure gets our name
            raise _mapped(error) from None
        return _read(answer, len(texts))


# ------------------------------------------------------------------ what comes back


def _read(answer: Any, count: int) -> list[list[float]]:
    """The vectors in the order of the texts; the SDK does not validate what servers send."""
    data = cast("object", getattr(answer, "data", None))
    if not isinstance(data, list) or len(cast("list[object]", data)) != count:
        raise _senseless("not one vector a text")
    items = cast("list[Any]", data)
    by_index: dict[int, list[float]] = {}
    for at, item in enumerate(items):
        index: object = getattr(item, "index", None)
        by_index[index if isinstance(index, int) else at] = _vector(item)
    if sorted(by_index) != list(range(count)):
        raise _senseless("not one vector a text")
    return [by_index[at] for at in range(count)]


def _vector(item: Any) -> list[float]:
    values: object = getattr(item, "embedding", None)
    if not isinstance(values, list) or not 0 < len(cast("list[object]", values)) <= _MAX_DIMENSIONS:
        raise _senseless("a vector that is none")
    vector: list[float] = []
    for value in cast("list[object]", values):
        # Vectors are kept as float32: what is too large for that is not a number there.
        if not isinstance(value, int | float) or not math.isfinite(value) or abs(value) > 1e30:
            raise _senseless("a vector that is none")
        vector.append(float(value))
    return vector


def _senseless(what: str) -> ProviderError:
    return ProviderError(f"the embedding model's answer makes no sense: {what}")


# ------------------------------------------------------------------ the SDK's edge


def _mapped(error: Exception) -> ProviderError:
    import openai

    match error:
        case TimeoutError() | openai.APITimeoutError():
            return ProviderError("the embedding model did not answer in time", retryable=True)
        case openai.APIStatusError(status_code=status):
            again = status in (408, 409, 425, 429) or status >= 500
            message = f"the embedding model refused the request: HTTP {status}"
            return ProviderError(message, retryable=again)
        case openai.APIConnectionError() | OSError():
            return ProviderError("the connection to the embedding model failed", retryable=True)
        case json.JSONDecodeError() | UnicodeDecodeError():
            message = "the embedding model sent something that is not JSON"
            return ProviderError(message, retryable=True)
        case _:
            kind = type(error).__name__
            return ProviderError(f"the embedding model's answer could not be read: {kind}")
