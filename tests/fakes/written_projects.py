"""Agent projects that a test writes down as files, in a few lines."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

from runtime.project.loader import load
from runtime.project.model import Project

_AGENT = "agent:\n  persona: You are a test.\norchestrator:\n  model_group: main\n"
_INTEGRATIONS = (
    "model_groups:\n  - id: main\n    models:\n      - {provider: scripted, model: first}\n"
)


def write_project(folder: Path, files: Mapping[str, str]) -> Path:
    """Write a project; ``agent.yml`` and ``integrations.yml`` are added where they are missing."""
    everything = {"agent.yml": _AGENT, "integrations.yml": _INTEGRATIONS, **files}
    for name, text in everything.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
    return folder


def written_project(folder: Path, files: Mapping[str, str]) -> Project:
    """Write a project and load it."""
    return load(write_project(folder, files), {})


def skill(body: str, front: str = "") -> str:
    """A ``skill.md``: name, description, further frontmatter, body."""
    more = dedent(front).strip("\n")
    head = f"---\nname: Test skill\ndescription: What the test is about.\n{more}"
    return f"{head.rstrip()}\n---\n{dedent(body)}"
