"""Checks a packed project, which may come from anywhere, and puts it into a folder.

Owns every check: the archive's own tables, names, links, sizes, digests and the format. Nothing is
written outside the folder given, and nothing stays there unless all of it is right. A digest shows
damage; who wrote the file it does not show. The form is ``pack_form``.
"""

import hashlib
import os
import re
import shutil
import stat
import struct
import tempfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NoReturn

import msgspec

from runtime.errors import Place, Problem, ProjectError
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

__all__ = ["packed_index", "unpack"]

_MAX_MANIFEST = 4 << 20
_MAX_TABLE = MAX_ENTRIES * 512
"""Bytes of the archive's own list; names are seldom longer than a line."""
_END = struct.Struct("<4s4H2LH")
_END_MARK = b"PK\x05\x06"
_LARGE_MARK = b"PK\x06\x07"
_LARGE_LOCATOR = 20

_SETTINGS = "agent.yml"
"""Says how references are cut."""
_REFERENCE = re.compile(r"(?:skills/[^/]+/)?references/.+\.md", re.DOTALL)

_HIDDEN = ".bargein"
"""Folder in an unpacked project for what is no file of the author's."""

_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    RuntimeError,  # what zipfile raises for encrypted entries
    NotImplementedError,
    UnicodeError,
    ValueError,
    OverflowError,
    IndexError,
)
"""What reading a hostile archive may raise."""


@dataclass(frozen=True, slots=True)
class _Form:
    """All that is read of a manifest before its version is known."""

    format: int


def unpack(file: Path, into: Path) -> Path:
    """Unpack a packed project into a new folder below ``into``; return that folder.

    It is named as the project's folder was. ``into`` is made if it is not there.

    Raises:
        ProjectError: the file can't be read, is no packed project, is damaged or hostile, was
            written by a newer version, or ``into`` has a folder of this name already.
        OSError: the folder can't be written.
    """
    place = Place(str(file))
    try:
        source = file.open("rb")
    except OSError as error:
        refuse(place, "unreadable", f"the file can't be read: {error.strerror}", "")
    with source:
        _check_tables(source, place)
        try:
            with zipfile.ZipFile(source) as archive:
                return _unpacked(archive, into, place)
        except _UNREADABLE:
            _refuse_damaged(place)


def packed_index(root: Path) -> bytes | None:
    """The index that came along with the unpacked project in ``root``; None when there is none.

    None as well when the settings or a reference file was changed, added or taken away since.
    """
    try:
        manifest = _manifest_of((root / _HIDDEN / MANIFEST).read_bytes(), Place(MANIFEST))
        index = (root / _HIDDEN / INDEX).read_bytes()
    except (OSError, ProjectError):
        return None
    here = {path.relative_to(root).as_posix() for path in root.glob("references/**/*.md")}
    here |= {p.relative_to(root).as_posix() for p in root.glob("skills/*/references/**/*.md")}
    here.add(_SETTINGS)
    then = {n: d for n, d in manifest.files.items() if n == _SETTINGS or _REFERENCE.fullmatch(n)}
    try:
        same = here == set(then) and all(
            hashlib.sha256((root / name).read_bytes()).hexdigest() == digest
            for name, digest in then.items()
        )
    except OSError:
        return None
    return index if same and hashlib.sha256(index).hexdigest() == manifest.index else None


def refuse(place: Place, code: str, message: str, mend: str) -> NoReturn:
    """Raise the one problem of a file that is no good."""
    raise ProjectError([Problem(place, code, message, mend)])


def _refuse_damaged(place: Place) -> NoReturn:
    refuse(place, "bad_package", "the packed project is damaged", "pack it again")


def _refuse_hostile(place: Place, what: str) -> NoReturn:
    refuse(place, "bad_package", f"this is no file that 'bargein train' wrote: {what}", "")


# ------------------------------------------------------------------ before anything is unpacked


def _check_tables(source: BinaryIO, place: Place) -> None:
    """Refuse what would make reading the archive's list alone cost too much.

    Our archives end with their end record, without a comment, and with nothing ahead or between.
    """
    size = source.seek(0, os.SEEK_END)
    if size > MAX_TOTAL_BYTES + _MAX_TABLE:
        refuse(place, "bad_package", "the file is too large", "pack less")
    tail_size = _END.size + _LARGE_LOCATOR
    source.seek(max(0, size - tail_size))
    tail = source.read(tail_size)
    if len(tail) < _END.size or not tail[-_END.size :].startswith(_END_MARK):
        refuse(place, "bad_package", "this is no packed project", "make one: bargein train")
    _, disk, first_disk, here, count, table, offset, comment = _END.unpack(tail[-_END.size :])
    if tail.startswith(_LARGE_MARK) or disk or first_disk or comment or here != count:
        _refuse_hostile(place, "its end is not ours")
    if count > MAX_ENTRIES + 2 or table > _MAX_TABLE:
        _refuse_hostile(place, f"it has more than {MAX_ENTRIES} files")
    if offset + table + _END.size != size:
        _refuse_hostile(place, "it holds more than its list says")


def _unpacked(archive: zipfile.ZipFile, into: Path, place: Place) -> Path:
    entries = _checked_entries(archive.infolist(), place)
    if MANIFEST not in entries:
        _refuse_hostile(place, f"it has no '{MANIFEST}'")
    if entries[MANIFEST].file_size > _MAX_MANIFEST:
        _refuse_hostile(place, "its manifest is too large")
    written = _whole(archive, entries.pop(MANIFEST), place)
    manifest = _manifest_of(written, place)
    expected = {f"{PROJECT}{name}": digest for name, digest in manifest.files.items()}
    if manifest.index is not None:
        expected[INDEX] = manifest.index
    if set(expected) != set(entries):
        _refuse_hostile(place, "its files are not those of its manifest")
    into.mkdir(parents=True, exist_ok=True)
    target = into / manifest.name
    if target.exists() or target.is_symlink():
        refuse(place, "already_there", f"there is a '{manifest.name}' in the folder already", "")
    draft = Path(tempfile.mkdtemp(prefix=".unpacking-", dir=into))
    try:
        for name, info in entries.items():
            data = _whole(archive, info, place)
            if hashlib.sha256(data).hexdigest() != expected[name]:
                _refuse_damaged(place)
            _put(draft / _inside(name), data)
        _put(draft / _HIDDEN / MANIFEST, written)
        draft.chmod(0o755)
        draft.rename(target)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return target


def _checked_entries(infos: list[zipfile.ZipInfo], place: Place) -> dict[str, zipfile.ZipInfo]:
    entries: dict[str, zipfile.ZipInfo] = {}
    seen: set[str] = set()
    folders: set[str] = set()
    total = 0
    if len(infos) > MAX_ENTRIES + 2:
        _refuse_hostile(place, f"it has more than {MAX_ENTRIES} files")
    for info in infos:
        name = info.filename
        if name != info.orig_filename or not is_safe_name(name):
            _refuse_hostile(place, "a file's name leads elsewhere")
        if folded(name) in seen:
            _refuse_hostile(place, "two files have the same name")
        kind = stat.S_IFMT(info.external_attr >> 16)
        if info.is_dir() or kind not in (0, stat.S_IFREG):
            _refuse_hostile(place, "it holds something that is no plain file")
        if info.flag_bits & 0x1 or info.compress_type not in (
            zipfile.ZIP_STORED,
            zipfile.ZIP_DEFLATED,
        ):
            _refuse_hostile(place, "a file is encrypted or compressed in another way")
        total += info.file_size
        if total > MAX_TOTAL_BYTES + _MAX_MANIFEST:
            _refuse_hostile(place, f"it unpacks to more than {MAX_TOTAL_BYTES >> 20} MiB")
        seen.add(folded(name))
        folders |= {folded(str(above)) for above in PurePosixPath(name).parents}
        entries[name] = info
    if seen & folders:
        _refuse_hostile(place, "a file and a folder have the same name")
    return entries


def _whole(archive: zipfile.ZipFile, info: zipfile.ZipInfo, place: Place) -> bytes:
    """An entry's bytes, never more than it said it has."""
    try:
        with archive.open(info) as entry:
            data = entry.read(info.file_size + 1)
    except OSError:  # among others: it is said to stand where no file can have a byte
        _refuse_damaged(place)
    if len(data) != info.file_size:
        _refuse_damaged(place)
    return data


def _manifest_of(data: bytes, place: Place) -> Manifest:
    try:
        form = msgspec.json.decode(data, type=_Form).format
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        _refuse_hostile(place, "its manifest can't be read")
    if form > FORMAT:
        refuse(place, "newer_package", "a newer version of bargein packed this", "update bargein")
    try:
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        _refuse_hostile(place, "its manifest can't be read")
    if form != FORMAT or "/" in manifest.name or not is_safe_name(manifest.name):
        _refuse_hostile(place, "its manifest can't be read")
    return manifest


def _inside(name: str) -> str:
    return f"{_HIDDEN}/{INDEX}" if name == INDEX else name.removeprefix(PROJECT)


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(data)
