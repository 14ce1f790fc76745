"""Import paths of projects that were written for another runtime: they resolve to ours.

Owns the one table of aliases, the modules that stand in for its rows, and telling the dialect of a
project's code from its imports. When the stand-ins can be seen is up to ``runtime.tools.imports``.

A stand-in never takes the place of an installed package: whether there is one is decided for all of
a load at its start, without importing it. And nobody but the project's own code sees one. While
tool modules load, a finder answers for the names of the table, and what it put into ``sys.modules``
is taken out at the end. An import in a tool's body comes later; for it the project's modules get an
``__import__`` of their own, which asks the table first.
"""

import ast
import builtins
import importlib
import importlib.util
import sys
import threading
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Literal

__all__ = ["ALIASES", "Alias", "Dialect", "StandIns", "dialects_in"]

Dialect = Literal["mantle", "maestro"]


@dataclass(frozen=True, slots=True)
class Alias:
    """One module that projects import and that is ours here."""

    module: str
    names: Mapping[str, str]
    """Name in it → ``<our module>:<our name>``, looked up when it is first asked for."""
    dialect: Dialect | None = None
    """The dialect of a project that imports it; None = any."""


_CONTEXT = {
    "ToolContext": "runtime.tools.context:ToolContext",
    "ToolModelContext": "runtime.tools.context:ToolModelContext",
    "MemorySlice": "runtime.tools.context:MemorySlice",
}
_RESULT = {"ToolResult": "runtime.tools.result:ToolResult"}
_BUTTONS = {"Button": "runtime.tools.buttons:Button"}
_ERRORS = {
    name: f"runtime.errors:{name}" for name in ("MemoryWriteError", "ProjectMemoryAlreadySetError")
}
_DECORATOR = {"tool": "runtime.tools.decorator:tool", **_CONTEXT, **_RESULT, **_ERRORS}
_TOOLS: Mapping[str, Mapping[str, str]] = {
    "": {**_DECORATOR, **_BUTTONS},
    ".buttons": _BUTTONS,
    ".context": {**_CONTEXT, **_ERRORS},
    ".decorator": _DECORATOR,
    ".errors": _ERRORS,
    ".result": _RESULT,
}


def _tools_below(package: str, dialect: Dialect) -> Iterator[Alias]:
    return (Alias(f"{package}{tail}", names, dialect) for tail, names in _TOOLS.items())


_ROWS: tuple[Alias, ...] = (
    *_tools_below("rasa.mantle.tools", "mantle"),
    *_tools_below("rasa.calm_v2.tools", "maestro"),
)

ALIASES: Mapping[str, Alias] = {row.module: row for row in _ROWS}
"""Every row by its module. The packages above a row need none of their own."""


def _parents(name: str) -> Iterator[str]:
    """``a.b.c`` → ``a.b``, ``a``."""
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


# ------------------------------------------------------------------ modules


class StandIns:
    """The modules of the table, as one load of a project sees them."""

    def __init__(self, aliases: Mapping[str, Alias] = ALIASES) -> None:
        """Look which top-level names of the table a real package has; import none."""
        self._aliases = aliases
        self._packages = frozenset(parent for name in aliases for parent in _parents(name))
        tops = {name.partition(".")[0] for name in aliases}
        self.real = frozenset(top for top in tops if _is_installed(top))
        """Top-level names that are left to the packages installed."""
        self._tops = tops - self.real
        self._modules: dict[str, ModuleType] = {}
        # Bodies of tools may import on threads of their own; one module must not be made twice.
        self._lock = threading.RLock()
        self._finder = _Finder(self)

    def answers(self, name: str) -> bool:
        """Whether the name is for the table alone: nothing is installed at its top."""
        return name.partition(".")[0] in self._tops

    def module(self, name: str) -> ModuleType | None:
        """The stand-in of a full name, or of a package above rows; None if the table has none."""
        known = name in self._aliases or name in self._packages
        if not known or not self.answers(name):
            return None
        with self._lock:
            return self._modules.get(name) or self._make(name)

    def names_in(self, name: str) -> Mapping[str, str]:
        """What the row of a full name offers; nothing for a package above rows."""
        row = self._aliases.get(name)
        return row.names if row else {}

    def is_package(self, name: str) -> bool:
        """Whether rows stand below the name."""
        return name in self._packages

    def hides(self, missing: str | None) -> bool:
        """Whether a module that is missing is a row that an installed package keeps from us."""
        return missing is not None and any(
            name.partition(".")[0] in self.real and (name == missing or missing in _parents(name))
            for name in self._aliases
        )

    def builtins(self) -> dict[str, object]:
        """The ``__builtins__`` for a module of the project, whose imports ask the table first."""
        return {**vars(builtins), "__import__": self._import}

    @contextmanager
    def importable(self) -> Generator[None, None, None]:
        """Around the loading of modules: whatever runs in there can import the stand-ins."""
        sys.meta_path.insert(0, self._finder)
        try:
            yield
        finally:
            sys.meta_path.remove(self._finder)
            for name, module in self._modules.items():
                if sys.modules.get(name) is module:
                    del sys.modules[name]

    def _make(self, name: str) -> ModuleType:
        module = _StandIn(name, self)
        self._modules[name] = module
        parent, _, child = name.rpartition(".")
        above = self.module(parent) if parent else None
        if above is not None:
            setattr(above, child, module)
        return module

    def _import(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        if level or not self.answers(name):
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        module = self.module(name)
        top = self.module(name.partition(".")[0])
        if module is None or top is None:
            raise ModuleNotFoundError(
                f"No module named {name!r} (known here: {', '.join(sorted(self._aliases))})",
                name=name,
            )
        for child in fromlist or ():
            self.module(f"{name}.{child}")
        return module if fromlist else top


class _StandIn(ModuleType):
    """One module of the table; its names are looked up when they are asked for."""

    def __init__(self, name: str, stand_ins: StandIns) -> None:
        super().__init__(name, "Stands in for a package that is not installed.")
        self._names = stand_ins.names_in(name)
        self.__all__ = sorted(self._names)
        if stand_ins.is_package(name):
            self.__path__ = []

    def __getattr__(self, name: str) -> object:
        target = self._names.get(name)
        if target is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        home, _, ours = target.partition(":")
        found: object = getattr(importlib.import_module(home), ours)
        setattr(self, name, found)
        return found


class _Finder(MetaPathFinder, Loader):
    """Lets Python's own import find the stand-ins, while it stands in ``sys.meta_path``."""

    def __init__(self, stand_ins: StandIns) -> None:
        self._stand_ins = stand_ins

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if self._stand_ins.module(fullname) is None:
            return None
        return ModuleSpec(fullname, self, is_package=self._stand_ins.is_package(fullname))

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._stand_ins.module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass  # made whole


def _is_installed(top: str) -> bool:
    if top in sys.modules:
        return not isinstance(sys.modules[top], _StandIn)
    try:
        return importlib.util.find_spec(top) is not None
    except (ImportError, ValueError):
        return False


# ------------------------------------------------------------------ dialects


def dialects_in(source: bytes) -> frozenset[Dialect]:
    """The dialects whose modules a Python source imports, anywhere in it.

    Read from the text alone: it holds for a module that can't be imported, and when a real package
    is installed. Nothing is said of a source that is no Python.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    found: set[Dialect | None] = {_dialect_of(name) for name in _imported(tree)}
    return frozenset(dialect for dialect in found if dialect is not None)


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from (f"{module}.{alias.name}" for alias in names)
            case _:
                pass


def _dialect_of(name: str) -> Dialect | None:
    """That of the rows at the name or nearest around it, if they are of one dialect."""
    for known in (name, *_parents(name)):
        rows = [row for row in ALIASES.values() if known in (row.module, *_parents(row.module))]
        if rows:
            return _only(row.dialect for row in rows)
    return None


def _only(dialects: Iterable[Dialect | None]) -> Dialect | None:
    found = set[Dialect | None](dialects)
    return found.pop() if len(found) == 1 else None
