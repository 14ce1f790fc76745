"""Makes the knowledge index of a project from its reference files.

Owns only when that is done. Collecting, cutting and searching the files is ``runtime.knowledge``,
imported only for a project that has any, since that takes as long as all the rest of the loading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.project.layout import REFERENCES, Layout
from runtime.project.model import KnowledgeSettings
from runtime.project.problems import Problems

if TYPE_CHECKING:
    from runtime.knowledge.index import KnowledgeIndex

__all__ = ["build_index"]


def build_index(
    layout: Layout, language: str, settings: KnowledgeSettings, problems: Problems
) -> KnowledgeIndex | None:
    """Index ``references/**/*.md`` of the project and of its skills; None when there are none."""
    folders = (layout.root, *(layout.root / skill.path for skill in layout.skills))
    if not any((folder / REFERENCES).exists() for folder in folders):
        return None
    from runtime.knowledge.index import KnowledgeIndex
    from runtime.project.pack import packed_index

    # What a packed project brought along, as long as nothing was changed since.
    packed = packed_index(layout.root)
    if packed is not None:
        return KnowledgeIndex.from_bytes(packed)
    from runtime.knowledge.references import collect_chunks

    chunks = collect_chunks(
        layout.root,
        problems,
        chunk_size=settings.chunk_size,
        chunk_overlap=settings.chunk_overlap,
    )
    return KnowledgeIndex.build(chunks, language) if chunks else None
