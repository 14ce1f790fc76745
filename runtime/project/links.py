"""Links in a project's folder: each must stay inside of it, and lead to what an author can see.

Owns which links leave a project. Reading what stays is each reader's, packing it is ``pack``'s;
links among reference files are told by ``runtime.knowledge.references``, which reads those.
"""

import os
from collections.abc import Iterator
from pathlib import Path

__all__ = ["is_visible", "leaving", "stays"]

_HIDDEN_SUFFIXES = (".pyc", ".pyo", ".env", ".bargein", "~")


def is_visible(name: str) -> bool:
    """Whether a file or folder of that name belongs to a project."""
    return not (
        name.startswith(".") or name == "__pycache__" or name.lower().endswith(_HIDDEN_SUFFIXES)
    )


def stays(path: Path, home: Path) -> bool:
    """Whether what a path leads to is a visible thing in the project's (real) folder."""
    try:
        real = path.resolve()
        # A visible name for ".env" would carry it along.
        return real.is_relative_to(home) and all(map(is_visible, real.relative_to(home).parts))
    except (OSError, RuntimeError):  # links that go in a circle
        return False


def leaving(root: Path, names: tuple[str, ...]) -> Iterator[str]:
    """The links that leave the project, relative to ``root`` with ``/``.

    Args:
        root: The project's folder.
        names: Files and folders in it to look at, folders to their depths. References aren't.
    """
    home = root.resolve()
    entered: set[Path] = set()
    waiting = list(reversed(names))
    while waiting:
        name = waiting.pop()
        path = home / name
        if path.is_symlink() and not stays(path, home):
            yield name
            continue
        if not path.is_dir() or (real := path.resolve()) in entered:
            continue
        entered.add(real)
        below = sorted(entry.name for entry in _scan(path))
        waiting += [f"{name}/{n}" for n in reversed(below) if is_visible(n) and n != _REFERENCES]


_REFERENCES = "references"


def _scan(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
