"""A project as one file, and files that only claim to be one."""

import hashlib
import io
import json
import os
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from runtime.errors import ProjectError
from runtime.project import pack as pack_module
from runtime.project import unpack as unpack_module
from runtime.project.pack import is_packed, pack, packed_files, packed_index, unpack
from runtime.project.problems import Problems

INDEX = b"SQLite format 3\x00 and more"
FILES = {
    "agent.yml": "agent: {persona: kind}",
    "integrations.yml": "model_groups: []",
    "memory.yml": "a: {type: text}",
    "responses.yml": "responses: {}",
    "tools/money.py": "x = 1",
    "lib/plain/__init__.py": "",
    "lib/plain/sums.py": "y = 2",
    "references/fees.md": "# Fees\n\nTen.",
    "references/ünï/hours.md": "Nine to five.",
    "skills/stay/skill.md": "---\nname: Stay\n---\nHelp.",
    "skills/stay/references/pets.md": "Dogs may stay.",
    "sub_agents/helper/config.yml": "a: 1",
}
LEFT_OUT = (
    ".env",
    "prod.env",
    ".git/config",
    "README.md",
    "credentials.json",
    "scenarios/one.yml",
    "tools/__pycache__/money.cpython-311.pyc",
    "tools/old.pyc",
    "tools/.secret.py",
    "tools/money.py~",
    "tools/local.env",
    "skills/.hidden/skill.md",
    "references/.DS_Store",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "my-agent"
    for name, text in FILES.items():
        _write(folder / name, text.encode())
    return folder


def _write(path: Path, data: bytes = b"x") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _read_all(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and ".bargein" not in path.parts
    }


def _codes(call: Callable[[], object]) -> list[str]:
    with pytest.raises(ProjectError) as caught:
        call()
    return [problem.code for problem in caught.value.problems]


def test_a_project_comes_out_as_it_went_in(root: Path, tmp_path: Path):
    """The folder keeps its name, since that is the agent's default id."""
    for name in LEFT_OUT:
        _write(root / name)
    file = tmp_path / "my-agent.bargein"
    pack(root, file, INDEX)
    folder = unpack(file, tmp_path / "server" / "projects")
    assert folder == tmp_path / "server" / "projects" / "my-agent"
    assert _read_all(folder) == FILES
    assert packed_index(folder) == INDEX
    assert packed_index(root) is None
    assert [p.name for p in folder.parent.iterdir()] == ["my-agent"]
    assert [p.name for p in tmp_path.glob("*packing*")] == []


def test_the_same_files_give_the_same_bytes(root: Path, tmp_path: Path):
    pack(root, tmp_path / "a.bargein", INDEX)
    for at, name in enumerate(reversed(FILES)):
        os.utime(root / name, (at * 10_000.0, at * 10_000.0))
        (root / name).chmod(0o600)
    _write(root / ".env", b"SECRET=1")
    pack(root, tmp_path / "b.bargein", INDEX)
    data = (tmp_path / "a.bargein").read_bytes()
    assert data == (tmp_path / "b.bargein").read_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert names == ["bargein.json", "index.sqlite", *(f"project/{n}" for n in sorted(FILES))]


def test_a_project_without_an_index_has_none(root: Path, tmp_path: Path):
    pack(root, tmp_path / "a.bargein", None)
    assert packed_index(unpack(tmp_path / "a.bargein", tmp_path / "out")) is None


@pytest.mark.parametrize(
    "change", ["references/fees.md", "references/new.md", "agent.yml", "-references/fees.md"]
)
def test_an_index_that_fits_its_files_no_more_is_not_used(root: Path, tmp_path: Path, change: str):
    pack(root, tmp_path / "a.bargein", INDEX)
    folder = unpack(tmp_path / "a.bargein", tmp_path / "out")
    _write(folder / "tools" / "money.py", b"x = 2")
    assert packed_index(folder) == INDEX
    if change.startswith("-"):
        (folder / change[1:]).unlink()
    else:
        _write(folder / change, b"changed")
    assert packed_index(folder) is None


def test_a_damaged_index_of_an_unpacked_project_is_not_used(root: Path, tmp_path: Path):
    pack(root, tmp_path / "a.bargein", INDEX)
    folder = unpack(tmp_path / "a.bargein", tmp_path / "out")
    _write(folder / ".bargein" / "index.sqlite", b"other")
    assert packed_index(folder) is None


def test_an_older_file_is_replaced_whole_or_not_at_all(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "a.bargein"
    file.write_bytes(b"older")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched, pytest.raises(OSError, match="No space"):
        patched.setattr(os, "replace", full)
        pack(root, file, None)
    assert file.read_bytes() == b"older"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.bargein", "my-agent"]
    pack(root, file, None)
    assert is_packed(file)


def test_files_that_the_project_names_go_along(root: Path, tmp_path: Path):
    _write(root / "model" / "rules.yml", b"rules: []")
    pack(root, tmp_path / "a.bargein", None, ["model/rules.yml", "agent.yml"])
    folder = unpack(tmp_path / "a.bargein", tmp_path / "out")
    assert (folder / "model" / "rules.yml").read_bytes() == b"rules: []"


@pytest.mark.parametrize("name", ["../x.yml", ".env", "nowhere.yml", "a/../../x.yml"])
def test_no_other_file_goes_along(root: Path, tmp_path: Path, name: str):
    _write(tmp_path / "x.yml")
    _write(root / ".env")
    (code,) = _codes(lambda: pack(root, tmp_path / "a.bargein", None, [name]))
    assert code in ("bad_name", "missing_file")
    assert not (tmp_path / "a.bargein").exists()


def test_links_that_leave_the_project_or_show_what_is_hidden_are_refused(
    root: Path, tmp_path: Path
):
    _write(tmp_path / "outside" / "a.md")
    _write(root / ".env", b"SECRET=1")
    (root / "references" / "out.md").symlink_to(tmp_path / "outside" / "a.md")
    (root / "references" / "folder").symlink_to(tmp_path / "outside")
    (root / "references" / "env.md").symlink_to(root / ".env")
    (root / "references" / "circle.md").symlink_to("circle.md")
    (root / "references" / "above").symlink_to(root)
    problems = Problems()
    packed_files(root, problems)
    assert [(p.place.file, p.code) for p in problems.found] == [
        ("references/above", "unreadable"),
        ("references/circle.md", "leaves_project"),
        ("references/env.md", "leaves_project"),
        ("references/folder", "leaves_project"),
        ("references/out.md", "leaves_project"),
    ]


def test_a_folder_that_is_a_link_inside_is_packed_as_what_is_there(root: Path, tmp_path: Path):
    (root / "tools" / "more").symlink_to(root / "references")
    pack(root, tmp_path / "a.bargein", None)
    again = unpack(tmp_path / "a.bargein", tmp_path / "out") / "tools" / "more"
    assert again.is_dir() and not again.is_symlink()
    assert (again / "fees.md").read_text() == FILES["references/fees.md"]


def test_a_folder_that_is_a_link_out_is_refused(root: Path, tmp_path: Path):
    _write(tmp_path / "outside" / "a.py")
    (root / "tools" / "money.py").unlink()
    (root / "tools").rmdir()
    (root / "tools").symlink_to(tmp_path / "outside")
    assert _codes(lambda: pack(root, tmp_path / "a.bargein", None)) == ["leaves_project"]


def test_a_link_to_a_visible_file_is_packed_as_that_file(root: Path, tmp_path: Path):
    (root / "references" / "again.md").symlink_to("fees.md")
    pack(root, tmp_path / "a.bargein", None)
    again = unpack(tmp_path / "a.bargein", tmp_path / "out") / "references" / "again.md"
    assert again.read_text() == FILES["references/fees.md"] and not again.is_symlink()


def test_names_that_other_systems_take_for_one_or_none_are_refused(root: Path, tmp_path: Path):
    _write(root / "references" / "FEES.md")
    _write(root / "references" / "what?.md")
    _write(root / "references" / os.fsdecode(b"\xff.md"))
    codes = _codes(lambda: pack(root, tmp_path / "a.bargein", None))
    assert sorted(codes) == ["bad_name", "bad_name", "duplicate_name"]


def test_too_many_or_too_large_files_are_refused(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pack_module, "MAX_TOTAL_BYTES", 100)
    assert _codes(lambda: pack(root, tmp_path / "a", None)) == ["project_too_large"]
    monkeypatch.setattr(pack_module, "MAX_ENTRIES", 3)
    assert _codes(lambda: pack(root, tmp_path / "a", None)) == ["too_many_files"]


def test_what_is_packed_is_told_by_its_first_bytes_or_its_name(root: Path, tmp_path: Path):
    pack(root, tmp_path / "renamed.zip", None)
    _write(tmp_path / "empty.bargein", b"")
    _write(tmp_path / "text.md")
    (tmp_path / "folder.bargein").mkdir()
    found = [path.name for path in sorted(tmp_path.iterdir()) if is_packed(path)]
    assert found == ["empty.bargein", "renamed.zip"]
    assert not is_packed(tmp_path / "nowhere.bargein")


# ------------------------------------------------------------------ files from anywhere


def _archive(
    files: dict[str, bytes],
    manifest: dict[str, object] | bytes | None = None,
    change: Callable[[zipfile.ZipInfo], None] | None = None,
    compress: int = zipfile.ZIP_DEFLATED,
) -> bytes:
    """An archive of our form whose manifest fits its files unless another one is given."""
    if manifest is None:
        manifest = _manifest(files)
    written = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in {"bargein.json": written, **files}.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = compress
            info.external_attr = 0o100644 << 16
            if change and name != "bargein.json":
                change(info)
            archive.writestr(info, data)
    return packed.getvalue()


def _manifest(contents: dict[str, bytes], **other: object) -> dict[str, object]:
    return {
        "format": 1,
        "bargein": "0.1.0",
        "name": "agent",
        "files": {
            name.removeprefix("project/"): hashlib.sha256(data).hexdigest()
            for name, data in contents.items()
        },
    } | other


def _refused(tmp_path: Path, data: bytes) -> str:
    """The code it is refused with; nothing may be left or written elsewhere."""
    file = tmp_path / "in" / "hostile.bargein"
    _write(file, data)
    into = tmp_path / "a" / "b" / "into"
    (code,) = _codes(lambda: unpack(file, into))
    left = [path for path in tmp_path.rglob("*") if path.is_file() and path != file]
    assert left == [] and (not into.exists() or list(into.iterdir()) == [])
    return code


def test_the_hostile_archives_here_are_good_but_for_what_is_wrong(tmp_path: Path):
    _write(tmp_path / "a.bargein", _archive({"project/agent.yml": b"x"}))
    assert _read_all(unpack(tmp_path / "a.bargein", tmp_path / "out")) == {"agent.yml": "x"}


@pytest.mark.parametrize(
    "name",
    [
        "project/../../../escaped.py",
        "../escaped.py",
        "/tmp/escaped.py",
        "project//agent.yml",
        "project/./agent.yml",
        "project/a\\..\\..\\escaped.py",
        "C:/escaped.py",
        "project/c:escaped.py",
        "project/.bargein/bargein.json",
        "project/.env",
        "project/",
        "project/folder/",
        "project/nul\x01.py",
        "project/" + "x" * 300,
        "project/" + "x/" * 600 + "y",
        "project/trailing./a.py",
        "other/agent.yml",
        "",
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, name: str):
    assert _refused(tmp_path, _archive({name: b"x"})) == "bad_package"


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFDIR, stat.S_IFCHR])
def test_links_and_other_kinds_are_refused(tmp_path: Path, kind: int):
    def change(info: zipfile.ZipInfo) -> None:
        info.external_attr = (kind | 0o777) << 16

    data = _archive({"project/agent.yml": b"/etc/passwd"}, change=change)
    assert _refused(tmp_path, data) == "bad_package"


@pytest.mark.parametrize("twin", ["project/AGENT.yml", "project/agent.yml/inner.py"])
def test_two_entries_that_would_be_one_file_are_refused(tmp_path: Path, twin: str):
    data = _archive({"project/agent.yml": b"x", twin: b"y"})
    assert _refused(tmp_path, data) == "bad_package"


def test_the_same_name_twice_is_refused(tmp_path: Path):
    data = _archive({"project/agent.yml": b"x", "project/agent.yma": b"y"})
    assert _refused(tmp_path, data.replace(b"agent.yma", b"agent.yml")) == "bad_package"


@pytest.mark.parametrize("compress", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_another_way_of_compressing_is_refused(tmp_path: Path, compress: int):
    data = _archive({"project/agent.yml": b"x"}, compress=compress)
    assert _refused(tmp_path, data) == "bad_package"


def test_an_encrypted_entry_is_refused(tmp_path: Path):
    data = bytearray(_archive({"project/agent.yml": b"x"}))
    at = data.rindex(b"PK\x01\x02")
    data[at + 8] |= 1
    assert _refused(tmp_path, bytes(data)) == "bad_package"


def test_files_are_those_of_the_manifest(tmp_path: Path):
    files = {"project/agent.yml": b"x"}
    more = _manifest({**files, "project/more.py": b"y"})
    assert _refused(tmp_path, _archive(files, more)) == "bad_package"
    assert _refused(tmp_path, _archive(files, _manifest({}))) == "bad_package"
    assert _refused(tmp_path, _archive(files, _manifest(files, index="0" * 64))) == "bad_package"
    other = _manifest({"project/agent.yml": b"other"})
    assert _refused(tmp_path, _archive(files, other)) == "bad_package"


@pytest.mark.parametrize(
    "other",
    [
        {"name": "../up"},
        {"name": "a/b"},
        {"name": ""},
        {"name": ".hidden"},
        {"name": 3},
        {"format": "1"},
        {"format": 0},
        {"files": []},
        {"files": {"agent.yml": None}},
        {"index": 3},
    ],
)
def test_a_manifest_that_makes_no_sense_is_refused(tmp_path: Path, other: dict[str, object]):
    files = {"project/agent.yml": b"x"}
    assert _refused(tmp_path, _archive(files, _manifest(files, **other))) == "bad_package"


@pytest.mark.parametrize("manifest", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'{"format": 1}'])
def test_a_manifest_that_is_none_is_refused(tmp_path: Path, manifest: bytes):
    assert _refused(tmp_path, _archive({"project/agent.yml": b"x"}, manifest)) == "bad_package"


def test_a_newer_form_says_what_to_do(tmp_path: Path):
    manifest: dict[str, object] = {"format": 2, "what": "nobody knows yet"}
    code = _refused(tmp_path, _archive({"project/agent.yml": b"x"}, manifest))
    assert code == "newer_package"


def test_an_archive_without_a_manifest_is_refused(tmp_path: Path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("project/agent.yml", b"x")
    assert _refused(tmp_path, packed.getvalue()) == "bad_package"


def test_what_unpacks_to_too_much_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(unpack_module, "MAX_TOTAL_BYTES", 1 << 20)
    monkeypatch.setattr(unpack_module, "_MAX_MANIFEST", 1 << 16)
    data = _archive({f"project/{n}": b"\x00" * (1 << 18) for n in range(6)})
    assert len(data) < 10_000
    assert _refused(tmp_path, data) == "bad_package"
    monkeypatch.setattr(unpack_module, "_MAX_MANIFEST", 10)
    small = _archive({"project/agent.yml": b"x"})
    assert _refused(tmp_path, small) == "bad_package"


def test_a_bomb_that_lies_about_its_size_is_refused(tmp_path: Path):
    """No more is unpacked than the archive's list says."""
    files = {"project/agent.yml": b"\x00" * (1 << 20)}
    data = bytearray(_archive(files))
    at = data.rindex(b"PK\x01\x02")
    struct.pack_into("<L", data, at + 24, 100)
    assert _refused(tmp_path, bytes(data)) == "bad_package"


def test_too_many_entries_are_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(unpack_module, "MAX_ENTRIES", 10)
    data = _archive({f"project/{n}": b"" for n in range(20)})
    assert _refused(tmp_path, data) == "bad_package"
    # The same when the end record says that there are fewer.
    lying = data[:-14] + struct.pack("<2H", 3, 3) + data[-10:]
    assert _refused(tmp_path, lying) == "bad_package"


@pytest.mark.parametrize(
    ("ahead", "behind"), [(b"#!/bin/sh\n", b""), (b"", b"x"), (b"", b"PK\x05\x06" + b"\x00" * 18)]
)
def test_bytes_that_are_not_ours_around_it_are_refused(tmp_path: Path, ahead: bytes, behind: bytes):
    data = ahead + _archive({"project/agent.yml": b"x"}) + behind
    assert _refused(tmp_path, data) == "bad_package"


def test_a_large_archives_tables_are_refused(tmp_path: Path):
    """Nothing of ours needs them, and they would say sizes that nobody checked."""
    data = _archive({"project/agent.yml": b"x"})
    locator = b"PK\x06\x07" + struct.pack("<LQL", 0, 0, 1)
    end = bytearray(data[-22:])
    struct.pack_into("<L", end, 12, len(data) - 22 + 20 - struct.unpack("<L", data[-6:-2])[0])
    assert _refused(tmp_path, data[:-22] + locator + bytes(end)) == "bad_package"


@pytest.mark.parametrize("data", [b"", b"PK", b"PK\x03\x04" + b"\x00" * 100, b"text"])
def test_what_is_no_archive_is_refused(tmp_path: Path, data: bytes):
    assert _refused(tmp_path, data) == "bad_package"


def test_a_file_that_is_not_there_is_a_problem(tmp_path: Path):
    assert _codes(lambda: unpack(tmp_path / "nowhere", tmp_path / "out")) == ["unreadable"]
    assert _codes(lambda: unpack(tmp_path, tmp_path / "out")) == ["unreadable"]


def test_a_project_that_is_there_already_is_left_alone(root: Path, tmp_path: Path):
    pack(root, tmp_path / "a.bargein", None)
    folder = unpack(tmp_path / "a.bargein", tmp_path / "out")
    (folder / "agent.yml").write_text("mine")
    assert _codes(lambda: unpack(tmp_path / "a.bargein", tmp_path / "out")) == ["already_there"]
    assert (folder / "agent.yml").read_text() == "mine"


def test_damage_anywhere_is_refused_or_harmless(root: Path, tmp_path: Path):
    file = tmp_path / "a.bargein"
    pack(root, file, INDEX)
    data = file.read_bytes()
    for at in range(0, len(data), 3):
        bad = bytearray(data)
        bad[at] ^= 0xFF
        file.write_bytes(bytes(bad))
        try:
            folder = unpack(file, tmp_path / "out" / str(at))
        except ProjectError:
            continue
        assert _read_all(folder) == FILES
