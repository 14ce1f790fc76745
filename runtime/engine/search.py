"""``search_knowledge``: the project's reference files, searched for the caller.

Owns which search answers: by words alone, or by words and meaning once the vectors are there. They
are made in the background when the first search comes and the packed index has none, so that no
caller waits for them. The indexes are ``runtime.knowledge``.
"""

import asyncio
import logging
from typing import TYPE_CHECKING

from runtime.project.model import ModelSpec, Project
from runtime.tasks import cancel_and_settle

if TYPE_CHECKING:
    from runtime.knowledge.embeddings import Embedder
    from runtime.knowledge.hybrid import HybridIndex
    from runtime.knowledge.index import Passage

__all__ = ["Search"]

_logger = logging.getLogger(__name__)


class Search:
    """The search of one project, shared by its calls; without reference files it finds nothing."""

    def __init__(self, project: Project) -> None:
        """Search ``project.index``."""
        self._index = project.index
        self._top_k = project.knowledge.top_k
        group = project.model_groups.get(project.knowledge.embeddings or "", ())
        self._model = group[0] if group and self._index is not None else None
        self._embedder: Embedder | None = None
        self._hybrid: HybridIndex | None = None
        self._making: asyncio.Task[None] | None = None

    async def find(self, query: str) -> tuple[str, ...]:
        """The best passages, best first, each with its heading; empty when nothing fits."""
        return tuple(f"{p.heading}\n{p.text}".strip() for p in await self._find(query))

    async def _find(self, query: str) -> "tuple[Passage, ...]":
        if self._index is None:
            return ()
        from runtime.knowledge.index import WEAK_COVERAGE

        if self._model is not None and self._hybrid is None and self._making is None:
            making = self._make(self._model)
            self._making = asyncio.get_running_loop().create_task(making, name="vectors")
        if self._hybrid is not None:
            return await self._hybrid.search(query, self._top_k)
        return self._index.search(query, self._top_k, WEAK_COVERAGE)

    async def _make(self, spec: ModelSpec) -> None:
        """Take the vectors of the packed index, or have them made."""
        from runtime.knowledge.embeddings import OpenAIEmbedder
        from runtime.knowledge.hybrid import HybridIndex

        if self._index is None:
            return
        base, key = spec.option("api_base"), spec.option("api_key")
        self._embedder = OpenAIEmbedder(
            spec.model,
            api_base=base if isinstance(base, str) else None,
            api_key=key if isinstance(key, str) else None,
        )
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
