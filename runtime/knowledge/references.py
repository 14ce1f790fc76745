"""Collects a project's reference files and cuts them into chunks.

Owns which files are references (``references/**/*.md`` of the project and of each skill), the
limits, and the problems of files that can't be used. Cutting is ``chunking``, searching ``index``.
Everything stays below the project's root: what a link brings in from elsewhere is refused.
"""

from collections.abc import Iterator
from pathlib import Path

from runtime.errors import Place
from runtime.knowledge.chunking import DEFAULT_OVERLAP, DEFAULT_SIZE, Chunk, chunk_markdown
from runtime.project.problems import Problems

__all__ = ["MAX_FILES", "MAX_FILE_BYTES", "MAX_TOTAL_BYTES", "collect_chunks", "reference_files"]

MAX_FILE_BYTES = 5 << 20
MAX_TOTAL_BYTES = 100 << 20
MAX_FILES = 2_000

_REFERENCES = "references"
_SKILLS = "skills"


def collect_chunks(
    root: Path,
    problems: Problems,
    *,
    chunk_size: int = DEFAULT_SIZE,
    chunk_overlap: int = DEFAULT_OVERLAP,
) -> tuple[Chunk, ...]:
    """The chunks of all reference files of the project in ``root``, by file and position.

    A file that can't be used is a problem and has no chunks. No files: no chunks, no problem.

    Raises:
        ValueError: not 0 ≤ ``chunk_overlap`` < ``chunk_size``.
    """
    chunks: list[Chunk] = []
    left = MAX_TOTAL_BYTES
    for name in reference_files(root, problems):
        data = _read(root, name, problems)
        left -= len(data)
        if left < 0:
            problems.add(
                Place(name),
                "references_too_large",
                f"the reference files have more than {MAX_TOTAL_BYTES >> 20} MiB up to here",
                "keep what callers ask about",
            )
            break
        text = _decoded(data, name, problems)
        chunks += chunk_markdown(text, name, chunk_size, chunk_overlap)
    return tuple(chunks)


def reference_files(root: Path, problems: Problems) -> tuple[str, ...]:
    """The names of all reference files, relative to ``root`` with ``/``, sorted."""
    home = root.resolve()
    folders = [_REFERENCES]
    folders += [f"{_SKILLS}/{name}/{_REFERENCES}" for name in _names(root / _SKILLS)]
    found: list[str] = []
    for folder in folders:
        for name in _files(root, folder, home, problems):
            if len(found) == MAX_FILES:
                problems.add(
                    Place(name),
                    "too_many_references",
                    f"there are more than {MAX_FILES} reference files",
                    "put small ones together",
                )
                return tuple(sorted(found))
            found.append(name)
    return tuple(sorted(found))


def _files(root: Path, folder: str, home: Path, problems: Problems) -> Iterator[str]:
    """Reference files below a folder; a folder is entered once, by whatever links."""
    waiting = [folder]
    entered: set[Path] = set()
    while waiting:
        here = waiting.pop()
        path = root / here
        if not path.is_dir() or not _stays(path, here, home, problems):
            continue
        if (real := path.resolve()) in entered:
            continue
        entered.add(real)
        inner: list[str] = []
        for name in _names(path):
            below = f"{here}/{name}"
            if (path / name).is_dir():
                inner.append(below)
            elif name.endswith(".md") and _stays(path / name, below, home, problems):
                yield below
        waiting += reversed(inner)


def _names(folder: Path) -> list[str]:
    """What an author can see in a folder; empty when there is none."""
    try:
        return sorted(p.name for p in folder.iterdir() if not p.name.startswith((".", "__")))
    except OSError:
        return []


def _stays(path: Path, name: str, home: Path, problems: Problems) -> bool:
    try:
        if path.resolve().is_relative_to(home):
            return True
    except (OSError, RuntimeError):  # links that go in a circle
        pass
    problems.add(
        Place(name),
        "leaves_project",
        "this link leads out of the project's folder",
        "put the file itself here",
    )
    return False


def _read(root: Path, name: str, problems: Problems) -> bytes:
    try:
        path = root / name
        if not path.is_file():
            raise OSError(0, "it is no file")
        with path.open("rb") as file:
            # One byte over the limit is enough to know.
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        problems.add(Place(name), "unreadable", f"the file can't be read: {error.strerror}")
        return b""
    if len(data) > MAX_FILE_BYTES:
        problems.add(
            Place(name),
            "file_too_large",
            f"a reference file has at most {MAX_FILE_BYTES >> 20} MiB",
            "split it",
        )
        return b""
    return data


def _decoded(data: bytes, name: str, problems: Problems) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        problems.add(Place(name), "encoding", "the file is UTF-16", "save it as UTF-8")
        return ""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = len(data[: error.start].rpartition(b"\n")[2].decode("utf-8", "replace")) + 1
        place = Place(name, line, column)
        problems.add(place, "encoding", "the file is not UTF-8 from here on", "save it as UTF-8")
        return ""
