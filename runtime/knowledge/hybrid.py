"""Finds passages by their words and by their meaning, and merges both.

Owns the vectors, their cosine, and the merging (reciprocal rank fusion). Words are ``index``'s,
making vectors is ``embeddings``'. A search never fails for want of vectors: when the embedder does
not answer in time, words alone do.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import msgspec
import numpy as np

from runtime.errors import Place, ProviderError
from runtime.knowledge.index import KnowledgeIndex, Passage, refuse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from runtime.knowledge.embeddings import Embedder

__all__ = ["HybridIndex", "HybridSettings"]

_logger = logging.getLogger(__name__)

_VECTORS = "vectors"
_ABOUT = "vectors.about"
_PLACE = Place("knowledge index")
_FUSION = 60
"""Reciprocal rank fusion's constant, as in the paper it comes from."""
_FEWEST_CANDIDATES = 20


@dataclass(frozen=True, slots=True)
class HybridSettings:
    """How a search by meaning is bounded."""

    query_wait_s: float = 1.5
    """The caller waits: from here on words alone answer."""
    min_similarity: float = 0.3
    """Cosine from which on a passage counts as an answer although it shares few words."""


@dataclass(frozen=True, slots=True)
class _About:
    model: str
    dimensions: int


class HybridIndex:
    """An index with one vector a chunk."""

    def __init__(
        self,
        words: KnowledgeIndex,
        vectors: NDArray[np.float32],
        embedder: Embedder,
        settings: HybridSettings | None = None,
    ) -> None:
        """Put both together; ``vectors`` has shape (chunks, dimensions).

        The embedder is the caller's to close.
        """
        if vectors.ndim != 2 or len(vectors) != len(words):
            raise ValueError("one vector a chunk")
        self._words = words
        self._vectors = _unit(vectors)
        self._embedder = embedder
        self._settings = settings or HybridSettings()

    @classmethod
    async def build(
        cls, words: KnowledgeIndex, embedder: Embedder, settings: HybridSettings | None = None
    ) -> Self:
        """Embed every chunk, its headings ahead of it; keeps the vectors in ``words`` as well.

        Raises:
            ProviderError: the embedder failed.
        """
        chunks = words.chunks(range(len(words)))
        texts = [f"{chunks[i].heading}\n{chunks[i].text}".strip() for i in range(len(words))]
        made = await embedder.embed(texts)
        vectors = np.array(made, dtype=np.float32).reshape(len(words), -1 if made else 0)
        index = cls(words, vectors, embedder, settings)
        about = _About(embedder.name, vectors.shape[1])
        words.attach(_ABOUT, msgspec.json.encode(about))
        words.attach(_VECTORS, index._vectors.astype("<f4").tobytes())
        return index

    @classmethod
    def stored(
        cls, words: KnowledgeIndex, embedder: Embedder, settings: HybridSettings | None = None
    ) -> Self | None:
        """Use the vectors that ``build`` kept; None when there are none of this embedder's model.

        Raises:
            ProjectError: the vectors are damaged.
        """
        about, data = words.attached(_ABOUT), words.attached(_VECTORS)
        if about is None or data is None:
            return None
        try:
            said = msgspec.json.decode(about, type=_About)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            refuse(_PLACE, "bad_index", "the index's vectors are damaged")
        if said.model != embedder.name:
            return None
        if said.dimensions < 0 or len(data) != len(words) * said.dimensions * 4:
            refuse(_PLACE, "bad_index", "the index's vectors are damaged")
        vectors = np.frombuffer(data, dtype="<f4").reshape(len(words), said.dimensions)
        if not bool(np.isfinite(vectors).all()):
            refuse(_PLACE, "bad_index", "the index's vectors are damaged")
        return cls(words, vectors.astype(np.float32), embedder, settings)

    def __len__(self) -> int:
        """How many chunks there are."""
        return len(self._words)

    def to_bytes(self) -> bytes:
        """Words and vectors, for ``KnowledgeIndex.from_bytes`` and then ``stored``."""
        return self._words.to_bytes()

    async def search(
        self, query: str, top_k: int, min_coverage: float = 0.0
    ) -> tuple[Passage, ...]:
        """The best passages for a question in free words, best first.

        Args:
            query: The question; an empty one finds nothing.
            top_k: Most passages.
            min_coverage: As in ``KnowledgeIndex.search``; a passage that is near in meaning is
                kept whatever words it has.

        Scores are those of the fusion (0..1), or of the words where these had to answer alone.

        Raises:
            InternalError: the index can't be read.
        """
        if top_k < 1 or not query.strip() or not len(self._words):
            return ()
        similar = await self._similarity(query)
        if similar is None:
            return self._words.search(query, top_k, min_coverage)
        candidates = max(_FEWEST_CANDIDATES, 4 * top_k)
        # Ties go to the earlier chunk, as everywhere.
        nearest: list[int] = np.argsort(-similar, kind="stable")[:candidates].tolist()
        near = [i for i in nearest if float(similar[i]) >= self._settings.min_similarity]
        matches = self._words.match(query, candidates, others=near)
        by_words = [m.id for m in matches if m.coverage >= min_coverage and m.score > 0.0]
        fused = _fused(by_words, near)[:top_k]
        coverage = {match.id: match.coverage for match in matches}
        chunks = self._words.chunks([chunk for chunk, _ in fused])
        return tuple(
            Passage(c.text, c.file, c.heading, score, coverage[i])
            for i, score in fused
            if (c := chunks.get(i)) is not None
        )

    async def _similarity(self, query: str) -> NDArray[np.float32] | None:
        """The cosine of each chunk; None when the embedder is of no help now."""
        try:
            async with asyncio.timeout(self._settings.query_wait_s):
                (vector,) = await self._embedder.embed([query])
            return self._vectors @ _unit(np.array([vector], dtype=np.float32))[0]
        except (ProviderError, TimeoutError, ValueError) as error:
            # What failed, never what was asked.
            _logger.warning(
                "a search by meaning failed, words alone answer",
                extra={"kind": type(error).__name__},
            )
            return None


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors of length 1, so that a product is a cosine; a zero vector stays one."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)


def _fused(*rankings: Sequence[int]) -> list[tuple[int, float]]:
    """Chunks by the sum of 1 / (60 + rank) over the rankings they are in, best first.

    The sum is scaled so that the first of every ranking has 1.
    """
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, chunk in enumerate(ranking, start=1):
            scores[chunk] = scores.get(chunk, 0.0) + 1 / (_FUSION + rank)
    most = len(rankings) / (_FUSION + 1)
    ordered = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return [(chunk, score / most) for chunk, score in ordered]
