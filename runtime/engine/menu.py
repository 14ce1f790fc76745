"""A shorter menu for projects of many skills: those that fit what the caller said lately.

Owns which of the startable skills a request offers (``skill_retrieval``); that a skill may be
started at all is ``stack``'s. Skills are found as reference files are: by words, and by meaning
too where the project names embeddings.
"""

from collections.abc import Collection, Set
from typing import TYPE_CHECKING

from runtime.conversation.state import CallerSaid, ConversationState
from runtime.engine.search import Search
from runtime.project.model import Project
from runtime.project.skill_model import Skill

if TYPE_CHECKING:
    from runtime.knowledge.index import KnowledgeIndex

__all__ = ["Menu", "narrowed"]


class Menu:
    """The menu of one project, shared by its calls."""

    def __init__(self, project: Project) -> None:
        """Index the skills, unless all of them fit in one menu."""
        settings = project.skill_retrieval
        self._most = settings.num_skills if settings is not None else 0
        self._turns = settings.turns_to_embed if settings is not None else 0
        skills = [s for s in project.skills.values() if not (s.hidden or s.engine_managed)]
        is_long = settings is not None and len(skills) > settings.num_skills
        self._search = (
            Search(_index(skills, project.language), len(skills), 0.0, project.embedding_model)
            if is_long
            else None
        )

    async def fitting(self, state: ConversationState) -> "tuple[int, list[str]] | None":
        """How many skills may be offered, and those that fit what the caller said, best first.

        None where every skill is offered.
        """
        if self._search is None:
            return None
        said = [item.text for item in state.history if isinstance(item, CallerSaid)]
        passages = await self._search.passages("\n".join(said[-self._turns :]))
        return self._most, [passage.file for passage in passages]

    async def aclose(self) -> None:
        """Close the connection to the embedding model; idempotent."""
        if self._search is not None:
            await self._search.aclose()


def narrowed(
    flows: Collection[str], menu: tuple[int, list[str]] | None, kept: Set[str]
) -> Set[str]:
    """The flows to offer.

    Args:
        flows: All that can be started, in the project's order.
        menu: As ``Menu.fitting`` says.
        kept: Those that are offered in any case.
    """
    if menu is None:
        return set(flows)
    most, ranked = menu
    place = {name: i for i, name in enumerate(ranked)}
    # Those that nothing was found for fill up what is left, in the project's order.
    free = sorted((f for f in flows if f not in kept), key=lambda f: place.get(f, len(place)))
    return {f for f in flows if f in kept}.union(free[:most])


def _index(skills: list[Skill], language: str) -> "KnowledgeIndex":
    from runtime.knowledge.chunking import Chunk
    from runtime.knowledge.index import KnowledgeIndex

    chunks = [
        Chunk("\n".join([s.description, *s.examples]) or s.name, s.id, (s.name,)) for s in skills
    ]
    return KnowledgeIndex.build(chunks, language)
