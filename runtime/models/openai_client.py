"""The ``openai`` SDK's client, for OpenAI, for servers of the same API, and for Azure.

Owns how a client is made from what ``integrations.yml`` says; chat and embeddings both use it. The
SDK costs over a second to import, so that only making a client imports it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from runtime.agent import Json

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["AZURE_VERSION", "Endpoint"]

OPENAI_BASE = "https://api.openai.com/v1"
AZURE_VERSION = "2024-10-21"
"""The API version asked for where the project names none."""
_NEW_NAMES_SINCE = "2024-09-01"
"""The first version in which Azure knows ``stream_options`` and ``max_completion_tokens``."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is served, and as whom it is asked."""

    api_base: str | None = None
    """Root of the API; None = OpenAI's own."""
    api_key: str | None = None
    """None for servers that want none."""
    azure_version: str | None = None
    """An API version makes it Azure: ``api_base`` is the resource, a model is a deployment."""

    @classmethod
    def of(cls, provider: str, options: Mapping[str, Json]) -> Self:
        """Read a model's options, already checked."""
        version = _text(options.get("api_version")) or AZURE_VERSION
        return cls(
            _text(options.get("api_base")),
            _text(options.get("api_key")),
            version if provider == "azure" else None,
        )

    @property
    def has_new_names(self) -> bool:
        """Whether it knows OpenAI's newer names of options, which other servers refuse."""
        if self.azure_version is not None:
            return self.azure_version >= _NEW_NAMES_SINCE
        return self.api_base is None

    def client(self, *, connect_s: float, answer_s: float) -> AsyncOpenAI:
        """Make a client; nothing is sent yet.

        Args:
            connect_s: Most seconds for a connection.
            answer_s: Most seconds between two pieces of an answer.
        """
        from openai import AsyncAzureOpenAI, AsyncOpenAI, Timeout

        timeout = Timeout(answer_s, connect=connect_s)
        # The SDK wants some key, and would look for one in the environment. Trying again is decided
        # above, where it is known whether the caller still waits.
        key = self.api_key or "none"
        if self.azure_version is not None:
            return AsyncAzureOpenAI(
                azure_endpoint=self.api_base or "",
                api_version=self.azure_version,
                api_key=key,
                timeout=timeout,
                max_retries=0,
            )
        base = self.api_base or OPENAI_BASE
        return AsyncOpenAI(base_url=base, api_key=key, timeout=timeout, max_retries=0)


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) and value else None
