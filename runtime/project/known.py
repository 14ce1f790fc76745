"""What exists across a project, for the checks of names in one skill's file.

Owns the record that the loader fills and the looking up of memory names in it. The checks
themselves are ``skill_scope``.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from runtime.project.model import PROJECT_NAMESPACE, MemoryField
from runtime.tools.definition import ToolDef

__all__ = ["KnownThings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownThings:
    """Names that a skill may use; ``None`` = unknown, since another file failed: not checked."""

    skills: Collection[str] = ()
    """Ids of all skills, packaged ones included."""
    tools: Mapping[str, ToolDef] | None = field(default_factory=dict[str, ToolDef])
    """Of this skill: its own and what it imports, without hooks."""
    memory: Collection[MemoryField] | None = ()
    """Of the whole project."""
    responses: Collection[str] | None = ()
    preconditions: Collection[str] | None = ()
    sub_agents: Collection[str] = ()
    packaged: Collection[str] | None = None
    """Ids of the packaged skills."""
    fields: Mapping[tuple[str, str], MemoryField] = field(init=False)
    """The memory by (namespace, name)."""

    def __post_init__(self) -> None:
        """Index the fields."""
        found = {(f.namespace, f.name): f for f in self.memory or ()}
        object.__setattr__(self, "fields", found)

    def resolve(self, name: str, skill: str) -> MemoryField | None:
        """A bare name (the skill's, then the project's) or ``<namespace>.<name>``."""
        namespace, _, bare = name.rpartition(".")
        if namespace:
            return self.fields.get((namespace, bare))
        return self.fields.get((skill, name)) or self.fields.get((PROJECT_NAMESPACE, name))

    def writable(self, skill: str) -> list[MemoryField]:
        """The skill's own fields and the project's."""
        return [f for f in self.fields.values() if f.namespace in (skill, PROJECT_NAMESPACE)]

    def readable(self, skill: str) -> list[MemoryField]:
        """The skill's own fields, other skills' public ones, and the project's."""
        return [f for f in self.fields.values() if not f.private or f.namespace == skill]
