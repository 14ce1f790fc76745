"""All tools of a project: where they are looked for, and every fault at once."""

import importlib
import logging
import sys
from pathlib import Path

import pytest

from runtime.errors import Place, Problem
from runtime.testing import ToolHarness
from runtime.tools.loading import LoadedTools, load_project_tools
from voice.replay.virtual_loop import run_virtual

MANTLE = (
    "from rasa.mantle.tools.decorator import ToolContext, tool\n"
    "from rasa.mantle.tools.result import ToolResult\n"
)
MAESTRO = MANTLE.replace("mantle", "calm_v2")


def tool_text(name: str, description: str = "x", body: str = "return ToolResult()") -> str:
    return (
        f"@tool(description={description!r})\n"
        f"async def {name}(context: ToolContext = None) -> ToolResult:\n"
        f"    {body}\n"
    )


def load(root: Path, files: dict[str, str], *skills: str) -> LoadedTools:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return load_project_tools(root, skills)


def test_tools_of_a_skill_stand_in_its_file_and_in_its_folder(tmp_path: Path) -> None:
    """R10, R12, R38, M8, M9: nothing is declared; ``__init__.py`` is skipped; shared ones apart."""
    loaded = load(
        tmp_path,
        {
            "skills/lock_card/tools.py": MANTLE + tool_text("find") + tool_text("lock"),
            "skills/lock_card/tools/__init__.py": MANTLE + tool_text("nobody"),
            "skills/lock_card/tools/b.py": MANTLE + tool_text("b"),
            "skills/lock_card/tools/a.py": MANTLE + tool_text("a"),
            "skills/other/skill.md": "",
            "tools/__init__.py": "raise RuntimeError",
            "tools/shared.py": MANTLE + tool_text("shared"),
        },
        "lock_card",
        "other",
    )
    assert [t.name for t in loaded.local["lock_card"]] == ["find", "lock", "a", "b"]
    assert loaded.local["other"] == ()
    assert list(loaded.shared) == ["shared"]
    assert loaded.shared["shared"].place == Place("tools/shared.py", 3)
    assert loaded.errors == loaded.warnings == ()
    assert loaded.failed == frozenset()


def test_the_folder_shadows_the_file_and_that_is_logged_and_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """R11"""
    with caplog.at_level(logging.WARNING):
        loaded = load(
            tmp_path,
            {
                "skills/s/tools.py": MANTLE + tool_text("find", "file") + tool_text("lock"),
                "skills/s/tools/more.py": MANTLE + tool_text("find", "folder"),
            },
            "s",
        )
    assert [(t.name, t.description) for t in loaded.local["s"]] == [
        ("find", "folder"),
        ("lock", "x"),
    ]
    assert "defined twice" in caplog.text
    (warning,) = loaded.warnings
    assert warning.place == Place("skills/s/tools/more.py", 3)
    assert "'find' is defined at skills/s/tools.py:3 too" in warning.message
    assert loaded.errors == ()


def test_a_name_twice_in_one_file_of_a_skill_is_told(tmp_path: Path) -> None:
    """R11: the later one is what Python keeps."""
    text = MANTLE + tool_text("find", "first") + tool_text("find", "second")
    loaded = load(tmp_path, {"skills/s/tools.py": text}, "s")
    assert [t.description for t in loaded.local["s"]] == ["second"]
    assert [w.place.line for w in loaded.warnings] == [6]


def test_places_are_right_wherever_the_root_is_named_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M8: relative to where one stands, or through a link."""
    text = MANTLE + tool_text("find") + tool_text("find") + "1 / 0\n"
    load(tmp_path / "agent", {"tools/a.py": text})
    monkeypatch.chdir(tmp_path / "agent")
    (tmp_path / "link").symlink_to(tmp_path / "agent")
    for root in (Path(), Path("../link"), tmp_path / "link"):
        (error,) = load_project_tools(root, ()).errors
        assert error.place == Place("tools/a.py", 9)
        assert str(tmp_path) not in error.message


@pytest.mark.parametrize("second", ["tools/b.py", "tools/a.py"])
def test_a_shared_name_is_given_once(tmp_path: Path, second: str) -> None:
    """R12, R14: nothing says which of two a skill would import."""
    first = MANTLE + tool_text("find")
    files = {"tools/a.py": first, second: (first if second == "tools/a.py" else MANTLE)}
    files[second] += tool_text("find")
    loaded = load(tmp_path, files)
    (error,) = loaded.errors
    assert (error.code, error.place.file) == ("duplicate_name", second)
    assert "at tools/a.py:3" in error.message
    assert list(loaded.shared) == ["find"]


def test_a_skill_s_tool_and_a_shared_one_of_its_name_both_exist(tmp_path: Path) -> None:
    """R14: which of them a skill gets is not for loading to say."""
    text = MANTLE + tool_text("find")
    loaded = load(tmp_path, {"skills/s/tools.py": text, "tools/a.py": text}, "s")
    assert [t.place.file for t in (*loaded.local["s"], loaded.shared["find"])] == [
        "skills/s/tools.py",
        "tools/a.py",
    ]
    assert loaded.errors == loaded.warnings == ()


def test_the_faults_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    """R1, R2, R3, R15, R39, M8, D7: each with its file and line."""
    loaded = load(
        tmp_path,
        {
            "skills/one/tools.py": MANTLE
            + "@tool\nasync def bare(): ...\n"
            + "@tool(description='x')\ndef plain(): ...\n"
            + "@tool(description='x')\nasync def typed() -> dict: ...\n"
            + "@tool('x')\nasync def positional(): ...\n"
            + tool_text("fine"),
            "skills/two/tools.py": "x = 1\nimport no_such_module_here\n",
            "skills/two/tools/names.py": MANTLE + tool_text("activate") + tool_text("complete"),
            "skills/two/tools/broken.py": "a = 1\ndef broken(:\n",
            "tools/shared.py": "\n\nraise KeyError('x')\n",
            "tools/from_lib.py": "from lib import broken\n",
            "tools/fine.py": MANTLE + tool_text("shared"),
            "lib/broken.py": "a = 1\n\nb = = 2\n",
        },
        "one",
        "two",
    )
    told = {
        (str(e.place), e.code, e.message.partition(";")[0].partition(": ")[0])
        for e in loaded.errors
    }
    assert told == {
        ("skills/one/tools.py:3", "tool_loading", "bare"),
        ("skills/one/tools.py:5", "tool_loading", "plain"),
        ("skills/one/tools.py:7", "tool_loading", "typed"),
        ("skills/one/tools.py:9", "tool_loading", "<tool>"),
        ("skills/two/tools.py:2", "tool_loading", "can't be imported"),
        ("skills/two/tools/broken.py:2", "tool_loading", "can't be imported"),
        (
            "skills/two/tools/names.py:3",
            "tool_loading",
            "activate is the name of a built-in tool",
        ),
        (
            "skills/two/tools/names.py:6",
            "tool_loading",
            "complete is the name of a built-in tool",
        ),
        ("tools/from_lib.py:1", "tool_loading", "can't be imported"),
        ("tools/shared.py:3", "tool_loading", "can't be imported"),
    }
    (lib,) = [e for e in loaded.errors if e.place.file == "tools/from_lib.py"]
    assert "SyntaxError" in lib.message
    assert "lib/broken.py:3" in lib.message
    assert str(tmp_path) not in lib.message
    assert loaded.local["two"] == ()
    assert [t.name for t in loaded.local["one"]] == ["fine"]
    assert list(loaded.shared) == ["shared"]
    assert (loaded.is_whole("one"), loaded.is_whole("two"), loaded.is_whole(None)) == (
        False,
        False,
        False,
    )


@pytest.mark.parametrize(
    "text",
    [
        "import sys\nsys.exit(0)\n",
        "import asyncio\nraise asyncio.CancelledError\n",
        "class Odd(Exception):\n    def __str__(self): raise ValueError\nraise Odd\n",
        "\nraise RuntimeError('x' * 100_000)\n",
        "class Odd:\n    def __getattr__(self, name): raise RuntimeError\n\nodd = Odd()\n1 / 0\n",
    ],
)
def test_a_hostile_module_is_a_problem_and_nothing_more(tmp_path: Path, text: str) -> None:
    """R15"""
    loaded = load(tmp_path, {"tools/odd.py": text, "tools/ok.py": MANTLE + tool_text("ok")})
    (error,) = loaded.errors
    assert error.place.file == "tools/odd.py"
    assert error.place.line >= 2
    assert len(error.message) < 500
    assert list(loaded.shared) == ["ok"]


def test_strange_objects_at_the_top_of_a_module_are_no_tools(tmp_path: Path) -> None:
    text = "class Odd:\n    def __getattr__(self, name): raise RuntimeError\n\nodd = Odd()\n"
    loaded = load(tmp_path, {"tools/odd.py": MANTLE + text + tool_text("fine")})
    assert loaded.errors == ()
    assert list(loaded.shared) == ["fine"]


def test_lib_can_be_imported_while_loading_and_not_when_a_tool_runs(tmp_path: Path) -> None:
    """R17: at the top of any module; later the import fails, whatever was loaded before."""
    late = "from lib.wallets import WALLETS as late\n    return ToolResult(late)"
    top = "from lib.wallets import WALLETS\n"
    loaded = load(
        tmp_path,
        {
            "lib/__init__.py": "",
            "lib/wallets.py": "from lib.currency import EUR\nWALLETS = {'main': EUR}\n",
            "lib/currency.py": "import sys\nEUR = 'EUR'\nROOT_IS_FIRST = sys.path[0]\n",
            "skills/s/tools.py": MANTLE
            + top
            + tool_text("early", body="return ToolResult(WALLETS)")
            + tool_text("late", body=late),
            "skills/s/tools/more.py": MANTLE + top + "WALLETS['more'] = 1\n",
            "tools/shared.py": MANTLE
            + "from lib.currency import ROOT_IS_FIRST\n"
            + tool_text("first", body="return ToolResult(ROOT_IS_FIRST)"),
        },
        "s",
    )
    assert loaded.errors == ()
    early, late_tool = (t.fn for t in loaded.local["s"])
    assert str(tmp_path) not in sys.path
    assert not [name for name in sys.modules if name.partition(".")[0] == "lib"]
    # one load has one lib: what one file changed the other sees
    assert run_tool(early) == {"main": "EUR", "more": 1}
    assert run_tool(loaded.shared["first"].fn) == str(tmp_path.resolve())
    with pytest.raises(ModuleNotFoundError, match="lib"):
        run_tool(late_tool)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("lib.wallets")


def run_tool(fn: object) -> object:
    async def main() -> object:
        return (await fn()).llm_response  # type: ignore[operator]  # an author's function

    return run_virtual(main())


def test_each_load_reads_the_files_as_they_are(tmp_path: Path) -> None:
    """R17: and a project's ``lib`` is never that of another project."""
    text = (
        MANTLE + "from lib_of_loads.data import NAME\n" + tool_text("find").replace("'x'", "NAME")
    )
    seen: list[str] = []
    for root, name in (("one", "first"), ("two", "second"), ("one", "a third one")):
        files = {"tools/a.py": text, "lib_of_loads/data.py": f"NAME = {name!r}\n"}
        seen.append(load(tmp_path / root, files).shared["find"].description)
    assert seen == ["first", "second", "a third one"]


def test_a_module_of_ours_is_never_hidden_by_the_project_s_folder(tmp_path: Path) -> None:
    """A folder without ``__init__.py`` is no package beside a real one of its name."""
    files = {
        "runtime/nothing.py": "",
        "jsonschema/note.txt": "",
        "colorsys/note.txt": "",
        "tools/a.py": "import colorsys\nimport jsonschema\nfrom runtime import tool, ToolResult, "
        "ToolContext\ncolorsys.rgb_to_hls\njsonschema.validate\n" + tool_text("a"),
    }
    sys.modules.pop("colorsys", None)
    loaded = load(tmp_path, files)
    assert loaded.errors == ()
    assert "colorsys" in sys.modules


def test_dialects_are_told_by_module_also_of_those_that_fail(tmp_path: Path) -> None:
    """D1, M1"""
    loaded = load(
        tmp_path,
        {
            "skills/s/tools.py": MAESTRO + tool_text("a"),
            "tools/native.py": "from runtime import tool, ToolContext, ToolResult\n"
            + tool_text("b"),
            "tools/broken.py": MANTLE + "1 / 0\n",
        },
        "s",
    )
    assert loaded.modules == {
        "skills/s/tools.py": {"maestro"},
        "tools/native.py": frozenset(),
        "tools/broken.py": {"mantle"},
    }
    assert loaded.dialects == {"mantle", "maestro"}


def test_a_misdefined_tool_in_lib_is_told_once_at_its_own_place(tmp_path: Path) -> None:
    """D7"""
    loaded = load(
        tmp_path,
        {
            "lib/more.py": MANTLE + "@tool\nasync def bare(): ...\n",
            "tools/a.py": MANTLE + "from lib.more import bare\n" + tool_text("a"),
            "tools/b.py": MANTLE + "from lib.more import bare\n" + tool_text("b"),
        },
    )
    assert loaded.errors == (
        Problem(
            Place("lib/more.py", 3),
            "tool_loading",
            "bare: @tool needs a description",
            'write @tool(description="…")',
        ),
    )
    assert list(loaded.shared) == ["a", "b"]


def test_a_project_without_tools_loads_to_nothing(tmp_path: Path) -> None:
    loaded = load(tmp_path / "none", {}, "s")
    assert loaded.local == {"s": ()}
    assert (loaded.shared, loaded.errors, loaded.modules) == ({}, (), {})


def test_hooks_are_loaded_as_such(tmp_path: Path) -> None:
    """M10, R50: which skills they serve is not for loading to say."""
    loaded = load(tmp_path, {"tools/h.py": MAESTRO + tool_text("run_after_setting_card_label")})
    assert loaded.shared["run_after_setting_card_label"].hook_for == "card_label"


CARDS = """
from enum import Enum

from rasa.mantle.tools.buttons import Button
from rasa.mantle.tools.decorator import ToolContext, tool
from rasa.mantle.tools.result import ToolResult

from lib.vault import CARDS


class Reason(Enum):
    LOST = "lost"
    STOLEN = "stolen"


@tool(description="Freeze one of the caller's cards. reason: why.")
async def freeze(card: str, reason: Reason, note: str | None = None,
                 context: ToolContext = None) -> ToolResult:
    if card not in CARDS:
        return ToolResult(llm_response={"error": "no such card"})
    await context.send("I am freezing it now.")
    context.memory.set("frozen_card", card)
    return ToolResult(llm_response={"card": card, "why": reason.name, "noted": note is not None})


@tool(description="Cards to choose from")
async def offer_cards(context: ToolContext = None) -> ToolResult:
    context.set_buttons([Button(name, key, ref="session.s.card") for key, name in CARDS.items()])
    return ToolResult()
"""


def test_a_whole_module_as_authors_write_it_loads_and_runs(tmp_path: Path) -> None:
    """R3, R4, R7, R10, R17, R35"""
    files = {"skills/s/tools.py": CARDS, "lib/vault.py": "CARDS = {'c1': 'Blue card'}\n"}
    loaded = load(tmp_path, files, "s")
    assert loaded.errors == ()
    freeze, _ = loaded.local["s"]
    assert freeze.parameters == {
        "type": "object",
        "properties": {
            "card": {"type": "string"},
            "reason": {"type": "string", "enum": ["lost", "stolen"]},
            "note": {"type": "string"},
        },
        "required": ["card", "reason"],
        "additionalProperties": False,
    }
    author = sys.modules[freeze.fn.__module__].freeze
    harness = ToolHarness(memory={"frozen_card": None})
    report = run_virtual(harness.run(author, {"card": "c1", "reason": "stolen"}))
    assert report.result == {"card": "c1", "why": "STOLEN", "noted": False}
    assert report.sent == ("I am freezing it now.",)


def test_a_tool_that_is_imported_by_another_name_is_told_once(tmp_path: Path) -> None:
    """R10: what stands in ``lib`` is no tool, wherever it is imported."""
    text = "import lib.common\nfrom lib.common import shared as mine\nalso = lib.common.shared\n"
    files = {"lib/common.py": MANTLE + tool_text("shared"), "skills/s/tools.py": text}
    loaded = load(tmp_path, files, "s")
    assert (loaded.local["s"], loaded.errors) == ((), ())
    (warning,) = loaded.warnings
    assert (warning.place, warning.code) == (Place("skills/s/tools.py", 2), "no_effect")
    assert "'shared' of lib/common.py:3" in warning.message


@pytest.mark.parametrize(
    "parameter",
    [
        "ctx: ToolContext",
        "ctx: ToolContext = None",
        "ctx: ToolContext | None = None",
        "ctx: 'ToolContext'",
        "ctx: 'Optional[Unseen.ToolContext]' = None",
        "ctx: 'Unseen.ToolContext | None' = None",
    ],
)
@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_a_context_under_another_name_is_refused(
    tmp_path: Path, parameter: str, future: str
) -> None:
    """R4: the model would be asked for it, and the tool would get a string."""
    text = f"@tool(description='x')\nasync def a(what, {parameter}) -> ToolResult: ...\n"
    loaded = load(tmp_path, {"skills/s/tools.py": future + MANTLE + text}, "s")
    (error,) = loaded.errors
    assert "'ctx'" in error.message
    assert error.mend == "call it 'context', which the runtime passes"


def test_a_parameter_without_annotation_is_a_string(tmp_path: Path) -> None:
    """R8: "anything else" of the table; the context needs no annotation."""
    text = "@tool(description='x')\nasync def a(ctx, context) -> ToolResult: ...\n"
    loaded = load(tmp_path, {"skills/s/tools.py": MANTLE + text}, "s")
    (found,) = loaded.local["s"]
    assert found.parameters["properties"] == {"ctx": {"type": "string"}}
    assert found.takes_context
