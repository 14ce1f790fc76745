"""Where things stand in a project's folder, and what stands there that nothing reads.

Owns the names of files and folders and the rules for a skill's id. Reading the files is ``loader``
and the readers beside it. Only names are looked at here; no file is opened.
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from runtime.errors import Place
from runtime.project.links import leaving
from runtime.project.problems import Problems, nearest

__all__ = [
    "AGENT",
    "INTEGRATIONS",
    "MEMORY",
    "REFERENCES",
    "RESERVED_IDS",
    "RESPONSES",
    "SKILL",
    "SKILLS",
    "SUB_AGENTS",
    "TOOLS",
    "TOOLS_FILE",
    "Layout",
    "SkillFolder",
    "find_layout",
]

AGENT = "agent.yml"
INTEGRATIONS = "integrations.yml"
MEMORY = "memory.yml"
RESPONSES = "responses.yml"
SKILL = "skill.md"
SKILLS = "skills"
TOOLS = "tools"
TOOLS_FILE = "tools.py"
REFERENCES = "references"
SUB_AGENTS = "sub_agents"
LIB = "lib"

RESERVED_IDS = frozenset({"project", "system", "session"})
"""Namespaces of memory that are not a skill's."""

_ROOT_FILES = (AGENT, INTEGRATIONS, MEMORY, RESPONSES)
_ROOT_FOLDERS = (SKILLS, TOOLS, LIB, REFERENCES, SUB_AGENTS, "scenarios")
_SKILL_FILES = (SKILL, MEMORY, RESPONSES, TOOLS_FILE)
_SKILL_FOLDERS = (TOOLS, REFERENCES)
_READ_SUFFIXES = frozenset({".yml", ".yaml", ".md", ".markdown", ".py"})
_FREE_NAMES = frozenset({"readme", "license", "changelog", "notes", "contributing", "todo"})
_MAX_ID = 100


@dataclass(frozen=True, slots=True)
class SkillFolder:
    """One ``skills/<id>/`` that holds a ``skill.md``."""

    id: str
    path: str
    """Relative to the root, with ``/``."""
    has_memory: bool
    has_responses: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What a project's folder holds."""

    root: Path
    skills: tuple[SkillFolder, ...] = ()
    """In the order of their ids."""
    has_memory: bool = False
    has_responses: bool = False
    sub_agents: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default=())


def find_layout(root: Path, problems: Problems) -> Layout | None:
    """Look at the folder; None, with its problems noted, when it is no project."""
    if not root.is_dir():
        mend = "name the folder that holds agent.yml"
        problems.add(Place(str(root)), "missing_project", "there is no such folder", mend)
        return None
    entries = _entries(root)
    before = len(problems.found)
    _require_root_files(root, entries, problems)
    if _refuse_links(root, problems) or _refuse_kinds(root, entries, problems):
        return None
    folders = [path for path in _entries(root / SKILLS).values() if path.is_dir()]
    skills = tuple(
        skill for path in folders if (skill := _skill_folder(path, problems)) is not None
    )
    if not any((path / SKILL).is_file() for path in folders):
        problems.add(
            Place(f"{SKILLS}/"),
            "missing_file",
            f"an agent project has at least one '{SKILLS}/<id>/{SKILL}'",
            "add one",
        )
    if any(p.code == "missing_file" for p in problems.found[before:]):
        return None
    agents = [path for path in _entries(root / SUB_AGENTS).values() if path.is_dir()]
    return Layout(
        root=root,
        skills=skills,
        has_memory=(root / MEMORY).is_file(),
        has_responses=(root / RESPONSES).is_file(),
        sub_agents=tuple(path.name for path in agents),
        warnings=tuple(_warnings(root, entries.values(), folders)),
    )


def _entries(folder: Path) -> dict[str, Path]:
    """What an author can see in a folder, by name; empty when there is no such folder."""
    try:
        found = sorted(folder.iterdir())
    except OSError:
        return {}
    return {path.name: path for path in found if not path.name.startswith((".", "__"))}


def _require_root_files(root: Path, entries: dict[str, Path], problems: Problems) -> None:
    for name in (AGENT, INTEGRATIONS):
        if name in entries:
            continue  # what else it may be is told apart from that
        near = _near_file(name, entries)
        problems.add(
            Place(name),
            "missing_file",
            f"an agent project has a file '{name}', and {root} has none",
            f"rename '{near}'" if near else "add it, or name the project's own folder",
        )


def _refuse_links(root: Path, problems: Problems) -> bool:
    """Nothing outside of the project is read, not even to say what is wrong with it."""
    found = list(leaving(root, (*_ROOT_FILES, SKILLS, TOOLS, LIB, SUB_AGENTS)))
    for name in found:
        problems.add(
            Place(name.encode("utf-8", "replace").decode()),
            "leaves_project",
            "this link leads out of the project's folder or to a hidden file",
            "put the file itself here",
        )
    return bool(found)


def _refuse_kinds(root: Path, entries: dict[str, Path], problems: Problems) -> bool:
    """What has the name of a file that is read must be one, and the same for folders."""
    before = len(problems.found)
    _check_kinds(entries, "", _ROOT_FILES, _ROOT_FOLDERS, problems)
    _check_modules(root / TOOLS, TOOLS, problems)
    for path in _entries(root / SKILLS).values():
        here = f"{SKILLS}/{path.name}"
        _check_kinds(_entries(path), f"{here}/", _SKILL_FILES, _SKILL_FOLDERS, problems)
        _check_modules(path / TOOLS, f"{here}/{TOOLS}", problems)
    return len(problems.found) > before


def _check_kinds(
    entries: dict[str, Path],
    prefix: str,
    files: tuple[str, ...],
    folders: tuple[str, ...],
    problems: Problems,
) -> None:
    for name, path in entries.items():
        if name in files and not path.is_file():
            _refuse_kind(path, f"{prefix}{name}", "a file", problems)
        elif name in folders and not path.is_dir():
            _refuse_kind(path, f"{prefix}{name}", "a folder", problems)


def _check_modules(folder: Path, name: str, problems: Problems) -> None:
    for path in _entries(folder).values():
        if path.suffix == ".py" and not path.is_file():
            _refuse_kind(path, f"{name}/{path.name}", "a file", problems)


def _refuse_kind(path: Path, name: str, wanted: str, problems: Problems) -> None:
    if not path.exists():
        is_what, mend = "a link that leads to nothing", f"put {wanted} here, or take it away"
    elif path.is_dir():
        is_what, mend = "a folder", "rename it, or put its contents into a file"
    elif path.is_file():
        is_what, mend = "a file", "rename it, or put it into a folder of this name"
    else:
        is_what, mend = "a device or pipe", f"put {wanted} here, or take it away"
    problems.add(Place(name), "unreadable", f"this must be {wanted}, and it is {is_what}", mend)


def _near_file(name: str, entries: Iterable[str]) -> str | None:
    yaml = str(Path(name).with_suffix(".yaml"))
    others = [other for other in entries if other not in _ROOT_FILES]
    return yaml if yaml in others else nearest(name, others)


def _skill_folder(path: Path, problems: Problems) -> SkillFolder | None:
    if not (path / SKILL).is_file():
        return None
    skill_id = unicodedata.normalize("NFC", path.name)
    place = f"{SKILLS}/{path.name}"
    if skill_id in RESERVED_IDS:
        problems.add(
            Place(place),
            "reserved_name",
            f"'{skill_id}' is a reserved name and can't be a skill's id",
            "rename the folder",
        )
        return None
    if not skill_id.isidentifier() or len(skill_id) > _MAX_ID:
        suggestion = "".join(c if c.isalnum() else "_" for c in skill_id).strip("_").lower()
        problems.add(
            Place(place),
            "bad_name",
            "the folder's name is the skill's id: letters, digits and '_', and no digit first",
            f"rename the folder, for example to '{suggestion}'"
            if suggestion.isidentifier()
            else "rename the folder",
        )
        return None
    return SkillFolder(
        id=skill_id,
        path=place,
        has_memory=(path / MEMORY).is_file(),
        has_responses=(path / RESPONSES).is_file(),
    )


# ------------------------------------------------------------------ what nothing reads


def _warnings(root: Path, entries: Iterable[Path], folders: Iterable[Path]) -> Iterable[str]:
    for path in entries:
        yield from _unread(path, path.name, _ROOT_FILES, _ROOT_FOLDERS, (".yml", ".yaml"))
    for path in _entries(root / SKILLS).values():
        if not path.is_dir():
            yield f"{SKILLS}/{path.name}: nothing reads this file (a skill is a folder)"
    for folder in folders:
        yield from _skill_warnings(folder)


def _skill_warnings(folder: Path) -> Iterable[str]:
    here = f"{SKILLS}/{folder.name}"
    entries = _entries(folder)
    if SKILL not in entries:
        near = nearest(SKILL, entries)
        yield f"{here}: no {SKILL} in here, so this is no skill" + (
            f" (rename '{near}'?)" if near else ""
        )
        entries = {name: path for name, path in entries.items() if name != near}
    for path in entries.values():
        if path.is_dir() and (path / SKILL).is_file():
            yield f"{here}/{path.name}: skills stand one level deep; nothing reads this one"
            continue
        name = f"{here}/{path.name}"
        yield from _unread(path, name, _SKILL_FILES, _SKILL_FOLDERS, tuple(_READ_SUFFIXES))


def _unread(
    path: Path,
    name: str,
    files: tuple[str, ...],
    folders: tuple[str, ...],
    suffixes: tuple[str, ...],
) -> Iterable[str]:
    """Say so when something looks as if it were to be read, and is not."""
    if path.is_dir():
        near = None if path.name in folders else nearest(path.name, folders)
        if near:
            yield f"{name}/: nothing reads this folder (did you mean '{near}/'?)"
        return
    if path.name in files or path.stem.lower() in _FREE_NAMES:
        return
    if path.suffix == ".yaml" and path.with_suffix(".yml").name in files:
        yml = path.with_suffix(".yml").name
        beside = "ignored, since" if path.with_suffix(".yml").is_file() else "ignored:"
        yield f"{name}: {beside} '{yml}' is what is read"
        return
    near = nearest(path.name, files)
    if near or path.suffix in suffixes:
        yield f"{name}: nothing reads this file" + (f" (did you mean '{near}'?)" if near else "")
