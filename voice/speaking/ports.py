"""What an engine that speaks must offer.

Owns the text-to-speech port. Text goes in as sentence chunks, sound and word times come out.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class WordTime:
    """Where a word of a chunk's spoken text ends in its sound."""

    start_char: int
    end_char: int
    """Offsets in the chunk's *spoken* text."""
    end_ms: int
    """From the start of the chunk's sound."""


@dataclass(frozen=True, slots=True)
class SpokenPiece:
    """Some sound of one chunk, in order."""

    chunk: int
    samples: NDArray[np.int16]
    """Linear mono at the engine's ``rate_hz``; may be empty."""
    words: tuple[WordTime, ...] = ()
    last: bool = False
    """No more sound of this chunk follows."""


class TtsStream(Protocol):
    """One say on its way to sound."""

    def push(self, chunk: int, text: str) -> None:
        """Hand over the next chunk's spoken text; never waits."""
        ...

    def finish(self) -> None:
        """No more chunks follow."""
        ...

    def pieces(self) -> AsyncIterator[SpokenPiece]:
        """Sound as it comes; ends after the last chunk. Raises ``ProviderError``."""
        ...

    async def aclose(self) -> None:
        """Cancel at the provider and release; idempotent, bounded."""
        ...


class TextToSpeech(Protocol):
    """An engine that speaks; one for the process, one stream a say."""

    @property
    def rate_hz(self) -> int:
        """Rate of the samples it gives: 8000, 16000, 24000 or 48000."""
        ...

    def open(self, language: str, voice: str | None) -> TtsStream:
        """Start a say; must not block."""
        ...

    async def aclose(self) -> None:
        """Release models and workers; idempotent."""
        ...
