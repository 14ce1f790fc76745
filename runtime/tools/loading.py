"""Importing an author's tool modules from disk.

Owns the import: each file becomes a module of its own under a private name, the project root is on
``sys.path`` only meanwhile, a project's own modules (``lib``) are never another project's, and what
fails names the file and the cause. Which files belong to a
project is known to ``runtime.project``.
"""

import importlib.util
import logging
import sys
import traceback
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import cast

from runtime.errors import ToolDefinitionError, ToolLoadingError
from runtime.tools.decorator import definition_of
from runtime.tools.definition import ToolDef

__all__ = ["RESERVED_NAMES", "load_tool_module", "load_tools"]

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

_modules_of: dict[str, dict[str, ModuleType]] = {}
"""By project root, what its tools have imported from there: ``lib`` of one is not ``lib`` of the
next, though both have the same name in ``sys.modules``.
"""


def load_tools(paths: Sequence[Path], root: Path) -> tuple[ToolDef, ...]:
    """Load the tools of several files; a later file's tool shadows an earlier one of its name.

    Raises:
        ToolLoadingError: a file can't be imported, or a tool takes a reserved name.
        ToolDefinitionError: a ``@tool`` is not well formed.
    """
    found: dict[str, ToolDef] = {}
    for path in paths:
        for definition in load_tool_module(path, root):
            if definition.name in found:
                _logger.warning(
                    "a tool is defined twice; the later file's is used",
                    extra={"tool": definition.name, "file": str(path)},
                )
            found[definition.name] = definition
    return tuple(found.values())


def load_tool_module(path: Path, root: Path) -> tuple[ToolDef, ...]:
    """Import one file and return the tools that it defines, in its order.

    Raises:
        ToolLoadingError: the file can't be imported, or a tool takes a reserved name.
        ToolDefinitionError: a ``@tool`` in it is not well formed.
    """
    module = _import(path, root)
    tools: list[ToolDef] = []
    for value in vars(module).values():
        definition = definition_of(value)
        if definition is None or value.__module__ != module.__name__:
            continue  # imported from elsewhere: it belongs to the module that defines it
        if definition.name in RESERVED_NAMES:
            raise ToolLoadingError(
                f"{definition.place}: {definition.name} is the name of a built-in tool; rename it"
            )
        if definition not in tools:
            tools.append(definition)
    return tuple(tools)


def _import(path: Path, root: Path) -> ModuleType:
    digest = sha256(str(path.resolve()).encode()).hexdigest()[:12]
    name = f"_bargein_tools_{digest}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ToolLoadingError(f"{path}: not a Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _on_path(root):
            spec.loader.exec_module(module)
    except ToolDefinitionError:
        del sys.modules[name]
        raise
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise ToolLoadingError(f"{_where(error, path)}: {_cause(error)}") from error
    return module


@contextmanager
def _on_path(root: Path) -> Generator[None, None, None]:
    entry = str(root.resolve())
    for other, modules in _modules_of.items():
        if other != entry:
            for name, module in modules.items():
                if sys.modules.get(name) is module:
                    del sys.modules[name]
    sys.modules.update(_modules_of.get(entry, {}))
    before = set(sys.modules)
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        if entry in sys.path:
            sys.path.remove(entry)
        new = {name: module for name, module in sys.modules.items() if name not in before}
        own = {name: module for name, module in new.items() if _lies_in(module, root.resolve())}
        _modules_of.setdefault(entry, {}).update(own)


def _lies_in(module: ModuleType, root: Path) -> bool:
    """Whether a module was found by the root on the path, not by an environment below it."""
    spec = cast("ModuleSpec | None", getattr(module, "__spec__", None))
    if spec is None:
        return False
    top = spec.name.partition(".")[0]
    places = [spec.origin or "", *(spec.submodule_search_locations or ())]
    return any(Path(at).is_relative_to(root / part) for at in places for part in (top, f"{top}.py"))


def _where(error: BaseException, path: Path) -> str:
    if isinstance(error, SyntaxError) and error.lineno:
        return f"{error.filename or path}:{error.lineno}"
    own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    return f"{path}:{own[-1].lineno}" if own else str(path)


def _cause(error: BaseException) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"can't be imported: {type(error).__name__}: {text}"
