"""Small projects on disk for tests: a whole one, changed file by file."""

from collections.abc import Mapping
from pathlib import Path

from runtime.errors import Problem, ProjectError
from runtime.project.loader import load
from runtime.project.model import Project

WHOLE: Mapping[str, str] = {
    "agent.yml": "agent:\n  persona: You are kind.\norchestrator:\n  model_group: main\n",
    "integrations.yml": ("model_groups:\n  - id: main\n    models:\n      - provider: scripted\n"),
    "skills/desk/skill.md": "---\nname: Desk\ndescription: Helps.\n---\nBe helpful.\n",
}


def write(root: Path, files: Mapping[str, str | bytes | None]) -> Path:
    """Write the whole project with ``files`` in place of its own; None leaves one out."""
    for name, content in {**WHOLE, **files}.items():
        if content is None:
            continue
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def project(
    root: Path, files: Mapping[str, str | bytes | None], env: Mapping[str, str] | None = None
) -> Project:
    """Write and load."""
    return load(write(root, files), env or {})


def problems(
    root: Path, files: Mapping[str, str | bytes | None], env: Mapping[str, str] | None = None
) -> list[Problem]:
    """Write, load, and return what is wrong."""
    try:
        project(root, files, env)
    except ProjectError as error:
        return error.problems
    return []
