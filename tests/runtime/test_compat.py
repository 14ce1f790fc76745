"""Import paths of other runtimes resolve to ours, for a project's own code alone."""

import builtins
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import runtime
from runtime import Button, ToolContext, ToolResult, tool
from runtime.agent import Json
from runtime.compat import ALIASES, Alias, StandIns, dialects_in
from runtime.errors import ToolLoadingError
from runtime.testing import ToolHarness, ToolReport
from runtime.tools.imports import ProjectImports
from tests.fakes.loaded_tools import TOOLS, load_tools
from voice.replay.virtual_loop import run_virtual

OURS = {"tool": tool, "ToolContext": ToolContext, "ToolResult": ToolResult, "Button": Button}


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def execute(root: Path, text: str) -> ModuleType:
    imports = ProjectImports(root)
    path = write(root / "tools" / "code.py", text)
    with imports.loading():
        return imports.execute(path)


def run(fn: object, arguments: dict[str, Json] | None = None) -> ToolReport:
    return run_virtual(ToolHarness().run(fn, arguments))


@pytest.fixture(autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    """What a load puts into Python's import system is gone when it ends."""
    finders, path, real = list(sys.meta_path), list(sys.path), builtins.__import__
    yield
    assert sys.meta_path == finders
    assert sys.path == path
    assert builtins.__import__ is real
    assert not [name for name in sys.modules if name.partition(".")[0] == "rasa"]
    assert importlib.util.find_spec("rasa") is None


@pytest.mark.parametrize("package", ["rasa.mantle.tools", "rasa.calm_v2.tools"])
def test_the_import_paths_as_documented_are_ours(tmp_path: Path, package: str) -> None:
    """R3, M1, D2"""
    module = execute(
        tmp_path,
        f"from {package}.decorator import ToolContext, tool\n"
        f"from {package}.result import ToolResult\n"
        f"from {package}.buttons import Button\n",
    )
    assert {name: getattr(module, name) for name in OURS} == OURS


@pytest.mark.parametrize(
    "text",
    [
        "import rasa.mantle.tools.result\nfound = rasa.mantle.tools.result.ToolResult",
        "import rasa.mantle.tools.result as r\nfound = r.ToolResult",
        "from rasa.mantle import tools\nfrom rasa.mantle.tools import result\n"
        "found = tools.result.ToolResult",
        "from rasa.mantle.tools.result import *\nfound = ToolResult",
        "from rasa.mantle.tools import ToolResult as found",
        "import importlib\nfound = importlib.import_module('rasa.mantle.tools.result').ToolResult",
    ],
)
def test_every_form_of_import_works(tmp_path: Path, text: str) -> None:
    """D2"""
    assert execute(tmp_path, f"{text}\n").found is ToolResult


def test_an_import_in_the_body_of_a_tool_works_when_it_is_called(tmp_path: Path) -> None:
    """D2: nothing of it can be seen from elsewhere, before or after."""
    write(
        tmp_path / "lib" / "answers.py",
        "def answer(value):\n"
        "    from rasa.calm_v2.tools.result import ToolResult\n"
        "    return ToolResult(llm_response=value)\n",
    )
    module = execute(
        tmp_path,
        "from lib.answers import answer\n"
        "from rasa.mantle.tools.decorator import tool\n"
        "@tool(description='x')\n"
        "async def direct():\n"
        "    from rasa.mantle.tools.result import ToolResult\n"
        "    return ToolResult(llm_response='direct')\n"
        "@tool(description='x')\n"
        "async def by_lib():\n"
        "    return answer('by lib')\n",
    )
    for _ in range(2):
        assert run(module.direct).result == "direct"
        assert run(module.by_lib).result == "by lib"
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("rasa.mantle.tools.result")


def test_other_packages_can_import_the_stand_ins_only_while_a_project_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D2"""
    write(
        tmp_path / "site" / "tools_of_compat_test.py",
        "from rasa.mantle.tools.result import ToolResult\n"
        "def later():\n    import rasa\n    return rasa\n",
    )
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    module = execute(tmp_path / "project", "from tools_of_compat_test import ToolResult, later\n")
    monkeypatch.delitem(sys.modules, "tools_of_compat_test")
    assert module.ToolResult is ToolResult
    with pytest.raises(ModuleNotFoundError):
        module.later()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("from rasa.mantle.tools.nothing import tool", "rasa.mantle.tools.nothing"),
        ("import rasa.cdd", "rasa.mantle.tools.decorator"),
        ("from rasa.mantle.tools.result import Nothing", "Nothing"),
    ],
)
def test_what_the_table_has_not_is_missing_and_said(tmp_path: Path, text: str, said: str) -> None:
    write(tmp_path / TOOLS, f"{text}\n")
    with pytest.raises(ToolLoadingError, match=said):
        load_tools(tmp_path)


class TestARealPackage:
    """D2: the stand-ins step back for one that is installed."""

    @pytest.fixture
    def installed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        site = tmp_path / "site"
        write(site / "rasa" / "__init__.py", "raise RuntimeError('was imported')\n")
        with monkeypatch.context() as patch:
            patch.syspath_prepend(str(site))
            yield
        sys.path_importer_cache.pop(str(site), None)
        importlib.invalidate_caches()

    def test_is_found_without_importing_it(self, installed: None) -> None:
        assert StandIns().real == {"rasa"}
        assert StandIns().module("rasa.mantle.tools.result") is None
        assert "rasa" not in sys.modules

    def test_is_what_a_tool_gets(self, installed: None, tmp_path: Path) -> None:
        write(tmp_path / "p" / TOOLS, "from rasa.mantle.tools.result import x\n")
        with pytest.raises(ToolLoadingError, match="was imported"):
            load_tools(tmp_path / "p")

    def test_that_lacks_our_names_is_named_as_the_cause(
        self, installed: None, tmp_path: Path
    ) -> None:
        write(tmp_path / "site" / "rasa" / "__init__.py", "")
        write(tmp_path / "p" / TOOLS, "from rasa.mantle.tools.result import x\n")
        try:
            with pytest.raises(ToolLoadingError, match="'rasa' that is installed.*from runtime"):
                load_tools(tmp_path / "p")
        finally:
            sys.modules.pop("rasa", None)


def test_further_rows_need_nothing_but_the_table() -> None:
    """A name is looked up when it is asked for: a row costs no import until then."""
    rows = (Alias("other_runtime.agents.custom", {"Say": "runtime.agent:Say"}),)
    stand_ins = StandIns({row.module: row for row in rows})
    module = stand_ins.module("other_runtime.agents.custom")
    assert module is not None
    assert "Say" not in vars(module)
    assert module.Say is importlib.import_module("runtime.agent").Say
    top = stand_ins.module("other_runtime")
    assert top is not None
    assert top.agents.custom is module


def test_every_row_of_the_table_leads_somewhere() -> None:
    for row in ALIASES.values():
        for target in row.names.values():
            home, _, name = target.partition(":")
            assert hasattr(importlib.import_module(home), name), row.module
    exported = ALIASES["rasa.mantle.tools"].names
    assert set(runtime.__all__) <= set(exported)


@pytest.mark.parametrize(
    ("source", "dialects"),
    [
        ("from rasa.calm_v2.tools.decorator import tool", {"maestro"}),
        ("import rasa.calm_v2.tools.result", {"maestro"}),
        ("from rasa.mantle.tools import decorator", {"mantle"}),
        ("from rasa.mantle.tools.nothing import x", {"mantle"}),
        ("def f():\n    from rasa import calm_v2", {"maestro"}),
        ("import rasa.mantle.tools.result\nimport rasa.calm_v2", {"mantle", "maestro"}),
        ("import rasa", set[str]()),
        ("from runtime import tool\nfrom . import rasa", set[str]()),
        ("# from rasa.calm_v2.tools.result import ToolResult", set[str]()),
        ("from rasa.calm_v2 import (", set[str]()),
    ],
)
def test_the_dialect_is_told_by_what_a_module_imports(source: str, dialects: set[str]) -> None:
    """D1, M1"""
    assert dialects_in(source.encode()) == dialects
