"""``docs/problems.md`` has a row for every code that a problem can have, and for no other."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DOCUMENT = ROOT / "docs" / "problems.md"

_CODE = re.compile(r"[a-z]+(_[a-z0-9]+)*")
_ADDING = frozenset({"add", "problem", "_refuse", "_problem", "_note", "refuse"})
_WORDING = "yaml_words.py"


def _texts(node: ast.AST) -> Iterator[str]:
    """The texts an expression can be, for a code chosen on the spot."""
    match node:
        case ast.Constant(value=str(text)) if _CODE.fullmatch(text):
            yield text
        case ast.IfExp(body=body, orelse=orelse):
            yield from (*_texts(body), *_texts(orelse))
        case _:
            pass


def _codes(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=[_, code, *_]):
                if name in _ADDING:
                    yield from _texts(code)
            case ast.Tuple(elts=[code, _, *_]) if path.name == _WORDING:
                yield from (text for text in _texts(code) if "_" in text)
            case _:
                pass


def codes_in_source() -> set[str]:
    folders = ("project", "tools", "knowledge", "models/offline")
    paths = [path for name in folders for path in (ROOT / "runtime" / name).rglob("*.py")]
    return {code for path in paths for code in _codes(path)}


def documented() -> list[str]:
    text = DOCUMENT.read_text(encoding="utf-8")
    return re.findall(r"^\| `([a-z0-9_]+)` \|", text, re.MULTILINE)


def test_every_code_has_its_row_and_every_row_its_code():
    """An author who looks a code up finds what it means, an example, and the mend."""
    rows = documented()
    assert len(rows) == len(set(rows))
    source = codes_in_source()
    assert sorted(source - set(rows)) == [], "write their rows"
    assert sorted(set(rows) - source) == [], "take them away"


def test_rows_stand_in_the_order_of_the_alphabet_and_are_whole():
    assert documented() == sorted(documented())
    for line in DOCUMENT.read_text(encoding="utf-8").split("\n"):
        if line.startswith("| `"):
            assert len([cell for cell in line.strip("|").split(" | ") if cell.strip()]) == 4, line
