"""Tool modules from disk."""

import logging
import sys
from pathlib import Path

import pytest

from runtime.errors import ToolLoadingError
from tests.fakes.loaded_tools import TOOLS, load_tools

HEAD = "from runtime import tool, ToolContext, ToolResult\n"


def tool_text(name: str, description: str = "x") -> str:
    return (
        f"@tool(description={description!r})\n"
        f"async def {name}(context: ToolContext = None) -> ToolResult:\n"
        "    return ToolResult()\n"
    )


def write(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_tools_of_a_file_are_found_in_its_order(tmp_path: Path) -> None:
    """R10"""
    write(tmp_path, TOOLS, HEAD + tool_text("b") + tool_text("a") + "async def c(): ...\n")
    assert [t.name for t in load_tools(tmp_path)] == ["b", "a"]


def test_a_later_file_shadows_an_earlier_one_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """R11"""
    write(tmp_path, TOOLS, HEAD + tool_text("a", "first"))
    write(tmp_path, "skills/s/tools/more.py", HEAD + tool_text("a", "second"))
    with caplog.at_level(logging.WARNING):
        (found,) = load_tools(tmp_path)
    assert found.description == "second"
    assert "defined twice" in caplog.text


def test_the_root_is_importable_while_loading_and_not_after(tmp_path: Path) -> None:
    """R17"""
    write(tmp_path, "helper_of_loading_test.py", "VALUE = 'from lib'\n")
    write(
        tmp_path,
        TOOLS,
        HEAD + "from helper_of_loading_test import VALUE\n" + tool_text("a"),
    )
    before = list(sys.path)
    assert len(load_tools(tmp_path)) == 1
    assert sys.path == before


@pytest.mark.parametrize(
    ("text", "where", "cause"),
    [
        ("import no_such_module_here\n", ":1: ", "ModuleNotFoundError"),
        ("x = 1\ny = 1 / 0\n", ":2: ", "ZeroDivisionError"),
        ("def broken(:\n", ":1: ", "SyntaxError"),
        ("import sys\nsys.exit(3)\n", ":2: ", "SystemExit"),
        ("raise KeyError('x')\n", ":1: ", "KeyError"),
    ],
)
def test_a_module_that_can_not_be_imported_names_file_line_and_cause(
    tmp_path: Path, text: str, where: str, cause: str
) -> None:
    """R15, M8"""
    write(tmp_path, TOOLS, text)
    before = list(sys.path)
    with pytest.raises(ToolLoadingError) as caught:
        load_tools(tmp_path)
    assert f"{TOOLS}{where}" in str(caught.value)
    assert cause in str(caught.value)
    assert sys.path == before


def test_a_bad_definition_is_told_as_such(tmp_path: Path) -> None:
    """D7"""
    write(tmp_path, TOOLS, HEAD + "@tool(description='x')\ndef plain():\n    pass\n")
    with pytest.raises(ToolLoadingError, match=r"tools\.py:2: plain"):
        load_tools(tmp_path)


def test_reserved_names_are_refused(tmp_path: Path) -> None:
    """R39"""
    write(tmp_path, TOOLS, HEAD + tool_text("set_fields"))
    with pytest.raises(ToolLoadingError, match="set_fields"):
        load_tools(tmp_path)


def test_tools_imported_from_elsewhere_are_not_taken_twice(tmp_path: Path) -> None:
    write(tmp_path, "shared_of_loading_test.py", HEAD + tool_text("shared"))
    text = HEAD + "from shared_of_loading_test import shared\n" + tool_text("own") + "again = own\n"
    write(tmp_path, TOOLS, text)
    assert [t.name for t in load_tools(tmp_path)] == ["own"]


def test_two_projects_with_a_lib_of_the_same_name_each_get_their_own(tmp_path: Path) -> None:
    """R17: what one project's tools share is shared by its files only."""
    roots = [tmp_path / name for name in ("one", "two")]
    for root in roots:
        write(root, "lib_of_two/__init__.py", "")
        write(root, "lib_of_two/data.py", f"NAME = {root.name!r}\nSEEN = []\n")
        body = (
            HEAD
            + "from lib_of_two import data\nfrom lib_of_two.data import NAME\n"
            + "data.SEEN.append(1)\n"
        )
        for file in (TOOLS, "skills/s/tools/more.py"):
            name = f"t_{Path(file).stem}"
            write(root, file, body + tool_text(name).replace("'x'", "NAME + str(len(data.SEEN))"))
    found = [[t.description for t in load_tools(root)] for root in (roots[0], roots[1], roots[0])]
    assert found == [["one1", "one2"], ["two1", "two2"], ["one1", "one2"]]
