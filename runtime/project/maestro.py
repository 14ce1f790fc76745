"""Recognises a project of the older Maestro dialect by what is written in it.

Owns the marks of that dialect. What differs in such a project (project fields that the model may
set, hooks at the root that serve every skill) is up to the readers, which get the dialect.
"""

import re
from collections.abc import Iterable

from runtime.project.model import Dialect
from runtime.project.problems import Problems
from runtime.project.yaml_nodes import Mapping as MappingNode
from runtime.project.yaml_nodes import Node
from runtime.project.yaml_source import read_yaml

__all__ = ["recognise"]

_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t]+rasa\.calm_v2\b", re.MULTILINE)
_IN_AGENT = ("rules", "voice")
_IN_INTEGRATIONS = "llm"


def recognise(agent: bytes, integrations: bytes, modules: Iterable[bytes]) -> Dialect:
    """Tell the dialect from ``agent.yml``, ``integrations.yml`` and the tool modules' sources.

    Files that can't be read say nothing; their problems are noted by their own readers.
    """
    section = _under(_quietly(agent), "agent")
    inner = section.entries if isinstance(section, MappingNode) else ()
    if any(entry.key in _IN_AGENT for entry in inner):
        return "maestro"
    if _under(_quietly(integrations), _IN_INTEGRATIONS) is not None:
        return "maestro"
    return "maestro" if any(_IMPORT.search(source) for source in modules) else "mantle"


def _quietly(data: bytes) -> Node | None:
    return read_yaml(data, "", Problems(), None)


def _under(node: Node | None, key: str) -> Node | None:
    entry = node.get(key) if isinstance(node, MappingNode) else None
    return entry.value if entry else None
