"""``bargein init``: writes a small project to begin from.

Owns the command and where the files come from (``starter/`` beside this module). What they must
satisfy is the loader's: the project that is written passes ``validate`` as it stands.
"""

from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from runtime.errors import AgentError

__all__ = ["init", "starter_files"]

_UNUSABLE: Final = 2
_STARTER: Final = "starter"
_NEXT: Final = (
    ("validate", "check it"),
    ("test", "play its scenarios, faster than real time"),
    ("talk", "talk to it in your browser"),
)


class _Unusable(AgentError):
    """The folder can't be written: says why."""


def init(
    name: Annotated[
        Path, typer.Argument(help="The folder to write; it must not exist yet, or be empty.")
    ],
) -> None:
    """Write a small agent project that works as it is: no key, no network.

    It has a skill that books something with a tool, lines that are said word for word, memory, a
    page that questions are answered from, and a scenario that tests it. Nothing is overwritten.
    """
    try:
        count = _write(name)
    except AgentError as error:
        Console(stderr=True).print(
            f"bargein init: {error}", style="red", markup=False, soft_wrap=True
        )
        raise typer.Exit(_UNUSABLE) from None
    console = Console(highlight=False, soft_wrap=True)
    shown = _quoted(str(name))
    console.print(f"{count} files written to {name}", markup=False)
    console.print("Next:")
    for command, why in _NEXT:
        console.print(f"  bargein {command:<8} {shown:<20}  {why}", markup=False)


def starter_files() -> dict[str, bytes]:
    """Return what is written, by path relative to the project."""
    root = resources.files("voice.cli") / _STARTER
    return {name: file.read_bytes() for name, file in _files(root, "")}


def _files(folder: Traversable, before: str) -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        if entry.name.startswith((".", "__")):
            continue
        name = f"{before}{entry.name}"
        if entry.is_dir():
            yield from _files(entry, f"{name}/")
        else:
            yield name, entry


def _write(folder: Path) -> int:
    files = starter_files()
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise _Unusable(f"{folder} is there already and not empty; choose another name")
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                file.write(content)
    except OSError as error:
        raise _Unusable(f"can't write to {folder}: {error.strerror}") from None
    return len(files)


def _quoted(path: str) -> str:
    return f'"{path}"' if " " in path else path
