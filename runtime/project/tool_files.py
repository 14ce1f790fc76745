"""The tool modules of a project, imported: each skill's own, and the shared ones at the root.

Owns which files are imported in which order, and the problem of one that can't be. The import
itself is ``runtime.tools.loading``.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from runtime.project.layout import Layout
from runtime.project.model import Dialect
from runtime.project.problems import Problems
from runtime.tools.definition import ToolDef
from runtime.tools.loading import load_project_tools

__all__ = ["ProjectTools", "read_tools"]


@dataclass(frozen=True, slots=True)
class ProjectTools:
    """Tools by skill and the shared ones by name; None where a module can't be imported."""

    local: Mapping[str, tuple[ToolDef, ...] | None]
    shared: Mapping[str, ToolDef] | None
    dialects: frozenset[Dialect] = frozenset()
    """Those whose packages the modules import."""
    remarks: tuple[str, ...] = ()


def read_tools(layout: Layout, problems: Problems) -> ProjectTools:
    """Import all of them; author code runs here."""
    loaded = load_project_tools(layout.root, [skill.id for skill in layout.skills])
    for error in loaded.errors:
        problems.add(error.place, error.code, error.message, error.mend)
    local = {
        skill: tools if loaded.is_whole(skill) else None for skill, tools in loaded.local.items()
    }
    shared = loaded.shared if loaded.is_whole(None) else None
    remarks = tuple(f"{w.place}: {w.message} ({w.mend})" for w in loaded.warnings)
    return ProjectTools(local, shared, loaded.dialects, remarks)
