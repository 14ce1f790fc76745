"""A project as one file: what ``bargein train`` writes and ``bargein serve`` unpacks.

Owns which files go in, the archive's form, and writing it so that the same files give the same
bytes. Checking and unpacking is ``unpack``; the index inside is ``runtime.knowledge.index``'s and
only carried here. Nothing of the environment goes in, and no file that an author can't see.
"""

import hashlib
import io
import os
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

import msgspec

from runtime.errors import Place, ProjectError
from runtime.project.links import is_visible, stays
from runtime.project.pack_form import (
    FORMAT,
    INDEX,
    MANIFEST,
    MAX_ENTRIES,
    MAX_TOTAL_BYTES,
    PROJECT,
    Manifest,
    folded,
    is_safe_name,
)
from runtime.project.problems import Problems
from runtime.project.unpack import packed_index, unpack

__all__ = ["is_packed", "pack", "packed_files", "packed_index", "unpack"]

_ROOT_FILES = ("agent.yml", "integrations.yml", "memory.yml", "responses.yml")
_ROOT_FOLDERS = ("lib", "references", "skills", "sub_agents", "tools")
_FIRST_MOMENT = (1980, 1, 1, 0, 0, 0)
"""The earliest that a zip file can say; when a file was written is nobody's business."""


def is_packed(path: Path) -> bool:
    """Whether this is a packed project (or claims to be) and no folder."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return path.suffix == ".bargein" or file.read(4) == b"PK\x03\x04"
    except OSError:
        return False


def pack(root: Path, out: Path, index: bytes | None, extra: Sequence[str] = ()) -> None:
    """Write the project in ``root`` into the file ``out``; an older one is replaced whole.

    Args:
        root: The project's folder; its name goes along, since it is the default ``agent.id``.
        out: Usually ``<name>.bargein``.
        index: ``KnowledgeIndex.to_bytes()``; None without reference files.
        extra: Further files below ``root`` that the project names, relative with ``/``.

    Raises:
        ProjectError: a file can't go in: a link leaves the project, a name no other system can
            hold, too many or too large files.
        OSError: ``out`` can't be written.
    """
    problems = Problems()
    home = root.resolve()
    names = packed_files(home, problems, extra)
    if problems.found:
        raise ProjectError(problems.found)
    contents = _contents(home, names, problems)
    if sum(map(len, contents.values())) + len(index or b"") > MAX_TOTAL_BYTES:
        _add_too_large(problems)
    if problems.found:
        raise ProjectError(problems.found)
    manifest = Manifest(
        format=FORMAT,
        bargein=version("bargein"),
        name=home.name if is_safe_name(home.name) else "agent",
        files={name: hashlib.sha256(data).hexdigest() for name, data in contents.items()},
        index=None if index is None else hashlib.sha256(index).hexdigest(),
    )
    entries = {MANIFEST: msgspec.json.encode(manifest)}
    if index is not None:
        entries[INDEX] = index
    entries |= {f"{PROJECT}{name}": data for name, data in contents.items()}
    _write(out, _zipped(entries))


def packed_files(root: Path, problems: Problems, extra: Sequence[str] = ()) -> tuple[str, ...]:
    """The files that are packed, relative to ``root`` with ``/``, sorted; problems noted."""
    home = root.resolve()
    found: list[str] = [name for name in _ROOT_FILES if (root / name).is_file()]
    for folder in _ROOT_FOLDERS:
        found += _below(root, folder)
    for name in extra:
        if (root / name).is_file():
            found.append(name)
        else:
            what = "there is no such file"
            problems.add(Place(name), "missing_file", what, "put it there, or name another")
    names = sorted(set(found))
    if len(names) > MAX_ENTRIES:
        problems.add(
            Place(str(root)),
            "too_many_files",
            f"a packed project has at most {MAX_ENTRIES} files, and this one {len(names)}",
            "leave out what the agent does not need",
        )
    seen: dict[str, str] = {}
    for name in names:
        _check_name(root, home, name, seen, problems)
    return tuple(names)


# ------------------------------------------------------------------ which files


def _below(root: Path, folder: str) -> Iterator[str]:
    """Every visible file; a link that leaves the project is found by its name's check."""
    path = root / folder
    if path.is_symlink() and not path.resolve().is_relative_to(root.resolve()):
        yield folder
        return
    for here, folders, files in os.walk(path, followlinks=True):
        relative = Path(here).relative_to(root)
        # A link to a folder above itself would never end; one that leads out is told as such.
        refused = [n for n in folders if not _may_enter(Path(here) / n, Path(here), root.resolve())]
        yield from ((relative / name).as_posix() for name in refused if not name.startswith("."))
        folders[:] = [n for n in sorted(folders) if n not in refused and is_visible(n)]
        yield from ((relative / name).as_posix() for name in sorted(files) if is_visible(name))


def _may_enter(folder: Path, here: Path, home: Path) -> bool:
    """Whether a folder is one, or a link to another that stays in the project and can end."""
    if not folder.is_symlink():
        return True
    return stays(folder, home) and not here.resolve().is_relative_to(folder.resolve())


def _check_name(
    root: Path, home: Path, name: str, seen: dict[str, str], problems: Problems
) -> None:
    place = Place(name.encode("utf-8", "replace").decode("utf-8"))
    path = root / name
    if not is_safe_name(name):
        problems.add(
            place, "bad_name", "a packed project can't hold a file of this name", "rename it"
        )
    elif folded(name) in seen:
        problems.add(
            place,
            "duplicate_name",
            f"on some systems this is the same file as '{seen[folded(name)]}'",
            "rename one of them",
        )
    elif not stays(path, home):
        problems.add(
            place,
            "leaves_project",
            "this link leads out of the project's folder or to a hidden file",
            "put the file itself here",
        )
    elif not path.is_file():
        problems.add(
            place,
            "unreadable",
            "only files can be packed, no links to folders",
            "put the files themselves here",
        )
    seen.setdefault(folded(name), name)


def _contents(root: Path, names: Sequence[str], problems: Problems) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    left = MAX_TOTAL_BYTES
    for name in names:
        try:
            with (root / name).open("rb") as file:
                contents[name] = file.read(left + 1)
        except OSError as error:
            what = f"the file can't be read: {error.strerror}"
            problems.add(Place(name), "unreadable", what, "let the user who runs this read it")
            continue
        left -= len(contents[name])
        if left < 0:
            break
    return contents


def _add_too_large(problems: Problems) -> None:
    problems.add(
        Place("references/"),
        "project_too_large",
        f"the project and its index have more than {MAX_TOTAL_BYTES >> 20} MiB together",
        "leave out what the agent does not need",
    )


# ------------------------------------------------------------------ the archive


def _zipped(entries: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in entries.items():
            info = zipfile.ZipInfo(name, _FIRST_MOMENT)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = 0o100644 << 16
            archive.writestr(info, data, compresslevel=6)
    return packed.getvalue()


def _write(out: Path, data: bytes) -> None:
    """All or nothing: a server may be reading the older file at this moment."""
    handle, draft = tempfile.mkstemp(prefix=".packing-", dir=out.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(draft).chmod(0o644)
        os.replace(draft, out)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
