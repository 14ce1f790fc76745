"""A project's tools.py as its author writes it: imports of other runtimes, schema, context."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from runtime import ToolContext, ToolResult, tool
from runtime.errors import ProjectError, ToolLoadingError
from runtime.models.scripted_model import Call as Ask
from runtime.models.scripted_model import Say as Write
from runtime.project.model import Project
from runtime.testing import ToolHarness
from tests.fakes import tool_notes
from tests.fakes.loaded_tools import TOOLS, load_tools
from tests.fakes.written_projects import skill, written_project
from tests.runtime.engine.helpers import connected
from tests.runtime.engine.worlds import hear, in_project, ran, start
from voice.replay.virtual_loop import run_virtual

ROOTS = ("rasa.mantle.tools", "rasa.calm_v2.tools")

PRINTED = """
from {root}.decorator import ToolContext, tool
from {root}.result import ToolResult


@tool(description="Look up the balance of an account")
async def check_balance(
    account_id: str,
    count: int,
    cards: list[str],
    exact: bool | None = None,
    context: ToolContext = None,
) -> ToolResult:
    context.memory.set("balance", count)
    return ToolResult(llm_response={{"balance": context.memory.get("balance")}})
"""


def tools_py(folder: Path, text: str, name: str = TOOLS) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def of_rasa() -> list[str]:
    return [name for name in sys.modules if name.partition(".")[0] == "rasa"]


# ------------------------------------------------------------------ imports


@pytest.mark.parametrize("root", ROOTS)
def test_the_printed_import_paths_are_ours_and_the_tool_is_like_any_other(
    tmp_path: Path, root: str
) -> None:
    """D2, M1, R3, R4, R7, R8, R9: names, schema, memory and result of a file as it is printed."""
    tools_py(tmp_path, PRINTED.format(root=root))
    (found,) = load_tools(tmp_path)
    assert (found.name, found.description) == ("check_balance", "Look up the balance of an account")
    assert found.parameters == {
        "type": "object",
        "properties": {
            "account_id": {"type": "string"},
            "count": {"type": "integer"},
            "cards": {"type": "array", "items": {"type": "string"}},
            "exact": {"type": "boolean"},
        },
        "required": ["account_id", "count", "cards"],
        "additionalProperties": False,
    }
    assert found.takes_context


@pytest.mark.parametrize(
    "line",
    [
        "import rasa.core.agent",
        "from rasa import shared",
        "from rasa.mantle import engine",
        "from rasa.mantle.tools.registry import find",
        "from rasa.mantle.tools.result import ToolError",
        "import rasa.mantle.tools.decorator.tool",
    ],
)
def test_nothing_else_of_the_package_resolves(tmp_path: Path, line: str) -> None:
    """D2, M8, R15: the file is named with the line and the cause."""
    tools_py(tmp_path, f"{line}\n")
    with pytest.raises(ToolLoadingError, match=r"tools\.py:1: .*(ImportError|ModuleNotFound)"):
        load_tools(tmp_path)
    assert of_rasa() == []


def test_a_real_package_of_the_name_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D2: its modules are the ones imported, at the top of a file and in a tool's body."""
    site = tmp_path / "site"
    for package in ("rasa", "rasa/mantle", "rasa/mantle/tools"):
        tools_py(site, "", f"{package}/__init__.py")
    tools_py(site, "class ToolResult: real = True\n", "rasa/mantle/tools/result.py")
    monkeypatch.setattr(sys, "path", [str(site), *sys.path])
    importlib.invalidate_caches()
    text = """
import runtime
from rasa.mantle.tools.result import ToolResult as Real

@runtime.tool(description="x")
async def look(context: runtime.ToolContext = None) -> runtime.ToolResult:
    from rasa.mantle.tools.result import ToolResult as Again
    return runtime.ToolResult([Real.real, Again is Real])
"""
    try:
        tools_py(tmp_path / "agent", text)
        (look,) = load_tools(tmp_path / "agent")

        async def main() -> None:
            assert (await look.fn(context=None)).llm_response == [True, True]

        run_virtual(main())
        tools_py(tmp_path / "b", "import rasa.calm_v2.tools\n")
        with pytest.raises(ToolLoadingError, match=r"rasa\.calm_v2"):
            load_tools(tmp_path / "b")
    finally:
        for name in of_rasa():
            del sys.modules[name]


def test_a_project_s_own_module_of_the_name_is_a_real_one(tmp_path: Path) -> None:
    """D2: a folder ``rasa`` at the project's root is the author's."""
    tools_py(tmp_path, "VALUE = 'mine'\n", "rasa/__init__.py")
    text = "import rasa\nassert rasa.VALUE == 'mine'\nfrom runtime import ToolResult, tool\n"
    text += "@tool(description=rasa.VALUE)\nasync def a() -> ToolResult:\n    ...\n"
    tools_py(tmp_path, text)
    (found,) = load_tools(tmp_path)
    assert found.description == "mine"


def test_a_bad_definition_is_told_the_same_way_for_every_import_path(tmp_path: Path) -> None:
    """R1, R2, M1: bare ``@tool``, and a function that is not ``async``."""
    for root in ROOTS:
        head = f"from {root}.decorator import tool\nfrom {root}.result import ToolResult\n\n"
        bare = head + "@tool\nasync def a() -> ToolResult: ...\n"
        plain = head + "@tool(description='x')\ndef a() -> ToolResult: ...\n"
        for text, mend in ((bare, "description="), (plain, "async def")):
            tools_py(tmp_path, text)
            with pytest.raises(ToolLoadingError, match=rf"tools\.py:4: a: .*{mend}"):
                load_tools(tmp_path)


def test_a_module_that_fails_stops_the_load_and_init_files_are_not_run(tmp_path: Path) -> None:
    """M8, R15"""
    files = {
        "skills/desk/skill.md": skill("\nHelp.\n"),
        "skills/desk/memory.yml": "schema: {public: {balance: {type: int}}}\n",
        "skills/desk/tools/__init__.py": "raise RuntimeError('never run')\n",
        "skills/desk/tools/good.py": PRINTED.format(root="rasa.calm_v2.tools"),
    }
    loaded = written_project(tmp_path / "right", files)
    assert list(loaded.skills["desk"].tools) == ["check_balance"]
    with pytest.raises(ProjectError, match=r"skills/desk/tools/worse\.py:1: .*rasa\.nothing"):
        written_project(
            tmp_path / "wrong", {**files, "skills/desk/tools/worse.py": "import rasa.nothing\n"}
        )


# ------------------------------------------------------------------ time


@in_project(
    {
        "agent.yml": (
            "agent:\n  persona: You are a test.\norchestrator:\n  model_group: main\n"
            "tool_timeout: 2.5\n"
        ),
        "skills/desk/skill.md": skill("\nHelp.\n"),
        "skills/desk/tools.py": """
            import asyncio
            from runtime import ToolResult, tool

            @tool(description="x")
            async def slow() -> ToolResult:
                await asyncio.sleep(60)
                return ToolResult()
            """,
    }
)
async def test_the_timeout_of_the_project_ends_a_call_by_the_clock(project: Project) -> None:
    """R5: its own ``tool_timeout``; the model is told and answers."""
    steps = [start("desk"), Ask("slow", {}), Write("That took too long.")]
    async with connected(steps, project=project) as call:
        assert "That took too long." in await hear(call, "Look it up.")
        (settled,) = [e for e in call.voice.happened("tool_settled") if e["outcome"] != "ok"]
        assert settled["outcome"] == "timed_out"
        assert ran(call) == ["slow"]


def test_ten_seconds_is_the_usual_timeout(tmp_path: Path) -> None:
    """R5"""
    loaded = written_project(tmp_path, {"skills/desk/skill.md": skill("\nHelp.\n")})
    assert loaded.tool_timeout_s == 10


# ------------------------------------------------------------------ context


def test_reading_works_as_in_the_older_dialect_without_a_default() -> None:
    """M6, R25: ``get(name)`` is the whole call; what is unset or unknown reads as nothing."""
    harness = ToolHarness(memory={"balance": None, "count": 0, "project.phone": "0151"})
    read: dict[str, Any] = {}

    @tool(description="x")
    async def look(*, context: ToolContext) -> ToolResult:
        for name in ("balance", "count", "phone", "project.phone", "other.secret", "nothing"):
            read[name] = context.memory.get(name)
        return ToolResult()

    async def main() -> None:
        assert (await harness.run(look)).outcome == "ok"

    run_virtual(main())
    assert read == {
        "balance": None,
        "count": 0,
        "phone": "0151",
        "project.phone": "0151",
        "other.secret": None,
        "nothing": None,
    }


CONTEXT = """
    from rasa.mantle.tools import Button, ToolContext, ToolResult, tool
    from tests.fakes.tool_notes import note

    @tool(description="x")
    async def look(context: ToolContext = None) -> ToolResult:
        note("context", context)
        model = context.model
        note("config", model.llm_config)
        note("index", model.references_index)
        for change in (
            lambda: setattr(model, "llm_config", {}),
            lambda: setattr(context, "model", None),
            lambda: model.llm_config.__setitem__("model", "x"),
        ):
            try:
                change()
            except (AttributeError, TypeError):
                note("refused")
        seen = context.events
        count = len(seen)
        seen.clear()
        note("events", (count, len(context.events)))
        await context.send("One moment.")
        try:
            context.set_buttons([Button(title="Yes", value="yes")])
        except RuntimeError:
            note("no buttons")
        return ToolResult(llm_response=["any", {"json": [1, None, True]}])
"""


@in_project({"skills/desk/skill.md": skill("\nHelp.\n"), "skills/desk/tools.py": CONTEXT})
async def test_what_a_tool_finds_in_its_context(project: Project) -> None:
    """R18, R19, R21, R22, R32, R34, R35: one for each call; ``send`` is heard before the model."""
    steps = [start("desk"), Ask("look", {}), Ask("look", {}), Write("Done.")]
    async with connected(steps, project=project) as call:
        said = await hear(call, "Look.")
        assert said[-3:] == ["One moment.", "One moment.", "Done."]
        told = [m.text for m in call.model.requests[-1].messages if m.role == "tool"]
        assert told[-1] == '["any", {"json": [1, null, true]}]'
    first, second = tool_notes.of("context")
    assert first is not second
    assert len(tool_notes.of("refused")) == 6
    assert len(tool_notes.of("no buttons")) == 2
    assert tool_notes.of("index") == [None, None]
    for pair in tool_notes.of("events"):
        assert isinstance(pair, tuple)
        assert pair[0] == pair[1] > 0
    assert tool_notes.of("config")[0] == {"models": ({"provider": "scripted", "model": "first"},)}
