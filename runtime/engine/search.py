"""Searches the project's reference files for the caller, and its skills for the menu.

Owns which search answers: by words alone, or by words and meaning once the vectors are there. They
are made in the background when the first search comes and the packed index has none, so that no
caller waits for them. The indexes are ``runtime.knowledge``.
"""

import asyncio
import logging
from typing import TYPE_CHECKING, Self

from runtime.models.openai_client import Endpoint
from runtime.project.model import ModelSpec, Project
from runtime.tasks import cancel_and_settle

if TYPE_CHECKING:
    from runtime.knowledge.embeddings import Embedder
    from runtime.knowledge.hybrid import HybridIndex
    from runtime.knowledge.index import KnowledgeIndex, Passage

__all__ = ["Search"]

_logger = logging.getLogger(__name__)


class Search:
    """The search of one index, shared by a project's calls; without an index it finds nothing."""

    def __init__(
        self,
        index: "KnowledgeIndex | None",
        top_k: int,
        min_coverage: float,
        model: ModelSpec | None = None,
    ) -> None:
        """Prepare.

        Args:
            index: What is searched.
            top_k: Most passages.
            min_coverage: 0..1: how much of the question a passage must hold; ``KnowledgeIndex``.
            model: Makes vectors, for a search by meaning as well.
        """
        self._index = index
        self._top_k = top_k
        self._min_coverage = min_coverage
        self._model = model if index is not None else None
        self._embedder: Embedder | None = None
        self._hybrid: HybridIndex | None = None
        self._making: asyncio.Task[None] | None = None

    @classmethod
    def of(cls, project: Project) -> Self:
        """The search of a project's reference files."""
        if project.index is None:
            return cls(None, 0, 0.0)
        from runtime.knowledge.index import WEAK_COVERAGE

        return cls(project.index, project.knowledge.top_k, WEAK_COVERAGE, project.embedding_model)

    async def find(self, query: str) -> tuple[str, ...]:
        """The best passages, best first, each with its heading; empty when nothing fits."""
        return tuple(f"{p.heading}\n{p.text}".strip() for p in await self.passages(query))

    async def passages(self, query: str) -> "tuple[Passage, ...]":
        """The best passages, best first; empty when nothing fits."""
        if self._index is None:
            return ()
        if self._model is not None and self._hybrid is None and self._making is None:
            making = self._make(self._model)
            self._making = asyncio.get_running_loop().create_task(making, name="vectors")
        if self._hybrid is not None:
            return await self._hybrid.search(query, self._top_k)
        return self._index.search(query, self._top_k, self._min_coverage)

    async def _make(self, spec: ModelSpec) -> None:
        """Take the vectors of the packed index, or have them made."""
        from runtime.knowledge.embeddings import OpenAIEmbedder
        from runtime.knowledge.hybrid import HybridIndex

        if self._index is None:
            return
        endpoint = Endpoint.of(spec.provider, dict(spec.options))
        self._embedder = OpenAIEmbedder(spec.model, endpoint)
        try:
            self._hybrid = HybridIndex.stored(
                self._index, self._embedder
            ) or await HybridIndex.build(self._index, self._embedder)
        except Exception as error:  # words alone go on answering
            _logger.error("no vectors could be made", extra={"error": type(error).__name__})

    async def aclose(self) -> None:
        """Stop making vectors and close the connection; idempotent."""
        if self._making is not None:
            await cancel_and_settle(self._making)
        embedder, self._embedder = self._embedder, None
        if embedder is not None:
            await embedder.aclose()
