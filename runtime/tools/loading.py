"""Loading an author's tool modules from disk.

Owns which files of a project hold tools, in which order a name is found, what is refused, and the
collecting of every file's faults at once. What those modules can import is ``imports``; which tools
a skill gets of all that is loaded is up to ``runtime.project``.
"""

import ast
import dataclasses
import logging
import signal
import traceback
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from runtime.compat import Dialect, dialects_in
from runtime.errors import Place, Problem
from runtime.tools.decorator import Definitions, collecting, definition_of
from runtime.tools.definition import ToolDef
from runtime.tools.imports import ProjectImports

__all__ = [
    "RESERVED_NAMES",
    "LoadedTools",
    "load_project_tools",
]

_logger = logging.getLogger(__name__)

RESERVED_NAMES = frozenset(
    {
        "activate",
        "cancel",
        "cancel_skill",
        "cannot_help",
        "complete",
        "complete_skill",
        "correct",
        "hang_up",
        "listen",
        "resolve_tool_confirmation",
        "search_knowledge",
        "set_fields",
    }
)
"""Names of the engine's own tools: an author's tool that takes one is refused."""

_MAX_CAUSE_CHARS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedTools:
    """All tools of a project, and what kept others from being loaded.

    Files are named relative to the project's root, with ``/``.
    """

    local: Mapping[str, tuple[ToolDef, ...]]
    """By skill, those that stand in its folder. The file's before the folder's; where both have a
    name it is the folder's."""
    shared: Mapping[str, ToolDef]
    """By name, those of ``tools/`` at the root."""
    modules: Mapping[str, frozenset[Dialect]]
    """Every module's file → the dialects whose packages it imports; also of those that failed."""
    failed: frozenset[str]
    """Files that were not loaded to their end, or that lack a tool: a name that is missing may
    stand there."""
    errors: tuple[Problem, ...]
    """Of all files, in their order. Without excerpts."""
    warnings: tuple[Problem, ...]

    @property
    def dialects(self) -> frozenset[Dialect]:
        """Those that any module uses."""
        return frozenset[Dialect]().union(*self.modules.values())

    def is_whole(self, skill: str | None) -> bool:
        """Whether all of a skill's own tools are known; None asks for the shared ones."""
        folder = "tools/" if skill is None else f"skills/{skill}/"
        return not any(file.startswith(folder) for file in self.failed)


def load_project_tools(root: Path, skills: Iterable[str]) -> LoadedTools:
    """Load the tools of each skill and the shared ones; author code runs here.

    Args:
        root: The project's folder.
        skills: Ids of the skills, which are the names of their folders.

    Nothing is raised for what is wrong in a file: it stands in ``errors``.
    """
    return _ProjectLoad(root).load(skills)


# ------------------------------------------------------------------ one module


@dataclass(frozen=True, slots=True)
class _Fault:
    """One thing wrong in a module; places name files as they were found."""

    place: Place
    what: str
    mend: str = ""


@dataclass(frozen=True, slots=True)
class _Module:
    tools: tuple[ToolDef, ...]
    faults: tuple[_Fault, ...]
    twice: tuple[ToolDef, ...] = ()
    """Definitions that a later one in the same file took the place of."""
    imported: tuple[ToolDef, ...] = ()
    """Tools of other modules that are only imported here."""


def _load_module(path: Path, imports: ProjectImports) -> _Module:
    with collecting() as definitions:
        try:
            with imports.loading():
                module = imports.execute(path)
        except BaseException as error:  # author code may raise anything
            takes_wishes = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
            if isinstance(error, KeyboardInterrupt) and takes_wishes:
                raise  # whoever runs this wants it to stop
            return _Module((), (*_refused(definitions), _import_fault(error, path, imports)))
    tools: list[ToolDef] = []
    imported: list[ToolDef] = []
    faults = list(_refused(definitions))
    for value in list(vars(module).values()):
        definition = definition_of(value)
        if definition is None:
            continue
        if getattr(value, "__module__", "") != module.__name__:
            if not any(definition is tool for tool in imported):
                imported.append(definition)  # it belongs to the module that defines it
            continue
        if definition.name in RESERVED_NAMES:
            what = f"{definition.name} is the name of a built-in tool"
            faults.append(_Fault(definition.place, what, "rename it"))
        elif not any(definition is tool for tool in tools):
            tools.append(definition)
    names = {tool.name for tool in tools}
    twice = [
        made
        for made in definitions.made
        if made.place.file == str(path)
        and made.name in names
        and getattr(made.fn, "__qualname__", "") == made.name
        and not any(made is tool for tool in tools)
    ]
    return _Module(tuple(tools), tuple(dict.fromkeys(faults)), tuple(twice), tuple(imported))


def _refused(definitions: Definitions) -> Iterator[_Fault]:
    for error in definitions.refused:
        what = f"{error.name}: {error.what}"
        yield _Fault(error.place, what, error.mend)


def _import_fault(error: BaseException, path: Path, imports: ProjectImports) -> _Fault:
    mend = ""
    if isinstance(error, ModuleNotFoundError) and imports.stand_ins is not None:
        name = error.name
        if imports.stand_ins.hides(name):
            top = (name or "").partition(".")[0]
            mend = f"the package '{top}' that is installed has none: import from runtime"
    return _Fault(_where(error, path), _cause(error, path), mend)


def _where(error: BaseException, path: Path) -> Place:
    """The line of the tool's own file where the import failed."""
    if isinstance(error, SyntaxError) and error.filename == str(path) and error.lineno:
        return Place(str(path), error.lineno)
    own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    return Place(str(path), (own[-1].lineno or 0) if own else 0)


def _cause(error: BaseException, path: Path) -> str:
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:  # author's code
        text = ""
    elsewhere = ""
    if isinstance(error, SyntaxError) and error.filename not in (None, str(path)):
        elsewhere = f" (at {Place(str(error.filename), error.lineno or 0)})"
    short = " ".join(text.split())[:_MAX_CAUSE_CHARS]
    return f"can't be imported: {type(error).__name__}: {short}{elsewhere}"


def _log_shadowed(name: str, file: str) -> None:
    _logger.warning(
        "a tool is defined twice; the later file's is used", extra={"tool": name, "file": file}
    )


# ------------------------------------------------------------------ a whole project


class _ProjectLoad:
    """One load of a project's tools."""

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()
        self._imports = ProjectImports(root)
        self._modules: dict[str, frozenset[Dialect]] = {}
        self._failed: set[str] = set()
        self._errors: dict[Problem, None] = {}
        self._warnings: list[Problem] = []

    def load(self, skills: Iterable[str]) -> LoadedTools:
        local = {skill: self._local(self._folder_of(skill)) for skill in skills}
        return LoadedTools(
            local=local,
            shared=self._shared(),
            modules=self._modules,
            failed=frozenset(self._failed),
            errors=tuple(self._errors),
            warnings=tuple(self._warnings),
        )

    def _folder_of(self, skill: str) -> Path:
        folder = self._root / "skills" / skill
        if folder.is_dir() or not folder.parent.is_dir():
            return folder
        # A file system may write the id's letters in another form of Unicode.
        same = (p for p in folder.parent.iterdir() if unicodedata.normalize("NFC", p.name) == skill)
        return next(same, folder)

    def _local(self, folder: Path) -> tuple[ToolDef, ...]:
        found: dict[str, ToolDef] = {}
        for path in (folder / "tools.py", *_modules_in(folder / "tools")):
            if not path.is_file():
                continue
            module = self._module(path)
            for earlier in module.twice:
                self._warn_twice(earlier, next(t for t in module.tools if t.name == earlier.name))
            for definition in module.tools:
                earlier = found.get(definition.name)
                if earlier is not None:
                    self._warn_twice(earlier, definition)
                found[definition.name] = definition
        return tuple(found.values())

    def _shared(self) -> dict[str, ToolDef]:
        found: dict[str, ToolDef] = {}
        for path in _modules_in(self._root / "tools"):
            module = self._module(path)
            for definition in (*module.twice, *module.tools):
                first = found.setdefault(definition.name, definition)
                if first is not definition:
                    self._refuse_second(first, definition)
        return found

    def _module(self, path: Path) -> _Module:
        file = self._relative(str(path))
        self._modules[file] = _dialects(path)
        module = _load_module(path, self._imports)
        for fault in module.faults:
            self._failed.add(file)
            words = fault.what.replace(f"{self._root}/", "")
            self._refuse(self._place(fault.place), "tool_loading", words, fault.mend)
        for definition in map(self._placed, module.imported):
            self._warn_imported(definition, file)
        return dataclasses.replace(
            module,
            tools=tuple(map(self._placed, module.tools)),
            twice=tuple(map(self._placed, module.twice)),
        )

    def _warn_twice(self, earlier: ToolDef, later: ToolDef) -> None:
        _log_shadowed(later.name, later.place.file)
        words = f"'{later.name}' is defined at {earlier.place} too, and this one is used"
        self._warnings.append(Problem(later.place, "duplicate_name", words, "rename one of them"))

    def _warn_imported(self, definition: ToolDef, file: str) -> None:
        name = definition.name
        words = (
            f"'{name}' of {definition.place} is imported here, which makes it no tool of this file"
        )
        mend = f"define it here; a tool of a file below 'tools/' is named in import_tools: [{name}]"
        place = Place(file, _import_line(self._root / file, name))
        self._warnings.append(Problem(place, "no_effect", words, mend))

    def _refuse_second(self, first: ToolDef, second: ToolDef) -> None:
        words = f"a shared tool is called '{second.name}' already, at {first.place}"
        self._refuse(second.place, "duplicate_name", words, "rename one of them")

    def _refuse(self, place: Place, code: str, what: str, mend: str) -> None:
        # Once: a module of ``lib`` is at fault for every file that imports it.
        self._errors[Problem(place, code, what, mend)] = None

    # ---------------------------------------------------------------- places

    def _placed(self, definition: ToolDef) -> ToolDef:
        return dataclasses.replace(definition, place=self._place(definition.place))

    def _place(self, place: Place) -> Place:
        return dataclasses.replace(place, file=self._relative(place.file))

    def _relative(self, file: str) -> str:
        for root in (self._root, self._root.resolve()):
            if Path(file).is_relative_to(root):
                return Path(file).relative_to(root).as_posix()
        return file


def _modules_in(folder: Path) -> list[Path]:
    found = (path for path in sorted(folder.glob("*.py")) if path.is_file())
    return [path for path in found if path.name != "__init__.py"]


def _import_line(path: Path, name: str) -> int:
    """The line of a file that imports a name; 0 where none does by it."""
    tree = ast.parse(path.read_bytes())  # it was imported a moment ago
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(names=names) if name in (alias.name for alias in names):
                return node.lineno
            case _:
                pass
    return 0


def _dialects(path: Path) -> frozenset[Dialect]:
    try:
        return dialects_in(path.read_bytes())
    except OSError:
        return frozenset()
