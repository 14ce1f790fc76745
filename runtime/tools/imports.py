"""What a project's own modules can import, and when.

Owns the state of Python's import system while an author's code loads: the project's root is on
``sys.path`` only then, and stand-ins for packages of other runtimes (``runtime.compat``) can be
found. Afterwards what came from the root is taken out of ``sys.modules`` again: ``lib`` of one
project is never that of the next, and an import of it in a tool's body fails the same way whatever
ran before. Which files are loaded is known to ``loading``.
"""

import importlib
import importlib.util
import sys
import threading
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType

from runtime.compat import StandIns

__all__ = ["ProjectImports"]

_lock = threading.RLock()
"""``sys.path`` and ``sys.modules`` are the process's: one project loads at a time."""


class ProjectImports:
    """The modules of one project, over one or several stretches of loading."""

    def __init__(self, root: Path) -> None:
        """Begin with none loaded.

        Args:
            root: The project's folder.
        """
        self._root = str(root.resolve())
        self._modules: dict[str, ModuleType] = {}
        """What was imported from the root, by name."""
        self._stand_ins: StandIns | None = None

    @property
    def stand_ins(self) -> StandIns | None:
        """The stand-ins that the project's modules see; None before the first stretch."""
        return self._stand_ins

    @contextmanager
    def loading(self) -> Generator[None, None, None]:
        """Around the execution of modules: the root can be imported from."""
        with _lock:
            importlib.invalidate_caches()  # files may be younger than what Python knows of folders
            sys.path.insert(0, self._root)
            try:
                stand_ins = self._stand_ins = self._stand_ins or StandIns()
                finder = _RootFinder(self._root, stand_ins.builtins(), self._modules)
                with stand_ins.importable(), self._own_modules(finder):
                    yield
            finally:
                if self._root in sys.path:
                    sys.path.remove(self._root)

    def execute(self, path: Path) -> ModuleType:
        """Execute a file as a module of a private name; only inside of ``loading``.

        It stays in ``sys.modules`` under that name, where a class's annotations are looked up.

        Raises:
            Exception: what the author's code raises.
        """
        assert self._stand_ins is not None
        digest = sha256(str(path.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:12]
        name = f"_bargein_tools_{digest}_{path.stem}"
        loader = _OwnLoader(name, str(path), self._stand_ins.builtins())
        spec = importlib.util.spec_from_file_location(name, path, loader=loader)
        if spec is None:
            raise ImportError("not a Python module")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            loader.exec_module(module)
        except BaseException:
            sys.modules.pop(name, None)
            raise
        return module

    @contextmanager
    def _own_modules(self, finder: "_RootFinder") -> Generator[None, None, None]:
        hidden = {name: sys.modules[name] for name in self._modules if name in sys.modules}
        sys.modules.update(self._modules)
        # Before the finder of ``sys.path``, whose loader would give the usual builtins.
        at = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else len(sys.meta_path)
        sys.meta_path.insert(at, finder)
        try:
            yield
        finally:
            sys.meta_path.remove(finder)
            for name in (*self._modules, *finder.found):
                module = sys.modules.pop(name, None)
                if module is not None:
                    self._modules[name] = module
            sys.modules.update(hidden)


class _RootFinder(MetaPathFinder):
    """Finds modules at the project's root and below, and remembers their names."""

    def __init__(self, root: str, builtins: Mapping[str, object], earlier: Collection[str]) -> None:
        self.found: set[str] = set()
        self._root = root
        self._builtins = builtins
        self._earlier = earlier

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        above = fullname.rpartition(".")[0]
        if above and above not in self.found and above not in self._earlier:
            return None
        spec = PathFinder.find_spec(fullname, path if above else [self._root])
        if spec is not None and spec.loader is None and not above:
            # A folder without ``__init__.py``: a package of its name elsewhere comes first.
            spec = PathFinder.find_spec(fullname)
            if spec is not None and spec.loader is not None:
                return None
        if spec is None:
            return None
        if type(spec.loader) is SourceFileLoader:
            spec.loader = _OwnLoader(fullname, spec.loader.path, self._builtins)
        self.found.add(fullname)
        return spec


class _OwnLoader(SourceFileLoader):
    """Executes a module with builtins of its own; they hold for its functions ever after."""

    def __init__(self, fullname: str, path: str, builtins: Mapping[str, object]) -> None:
        super().__init__(fullname, path)
        self._builtins = builtins

    def exec_module(self, module: ModuleType) -> None:
        # Before the code runs: a function takes its builtins from here when it is made.
        vars(module)["__builtins__"] = self._builtins
        super().exec_module(module)
