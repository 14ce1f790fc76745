"""Which test holds which promise: reads docstrings, writes the table of ``docs/acceptance.md``.

``python -m tests.acceptance_table`` prints what is wrong with the file and fails if anything is;
with ``--write`` it writes the table first. A test holds the ids that its docstring names.
"""

import ast
import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "acceptance.md"
BEGIN = "<!-- table: written by python -m tests.acceptance_table --write -->"
END = "<!-- end of table -->"

_ID = re.compile(r"\b[A-NR]\d{1,2}\b")
"""``R7`` and ``R60`` of the author's contract, ``C07`` of the cases: a leading zero counts."""

_PROMISE = re.compile(r"^- \*\*([A-NR]\d{1,2})\*\* ", re.MULTILINE)

Held = dict[str, list[tuple[str, str]]]
"""Id → the file and the name of each test, in the order of the tree."""


def held_ids(folder: Path = ROOT / "tests") -> Held:
    """What every test says that it holds."""
    held: Held = defaultdict(list)
    for path in sorted(folder.rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                if node.name.lower().startswith("test"):
                    words = ast.get_docstring(node) or ""
                    for found in dict.fromkeys(_ID.findall(words)):
                        held[found].append((path.relative_to(folder).as_posix(), node.name))
    return dict(held)


def promised_ids(text: str) -> list[str]:
    """The ids that the document gives words to, in its order."""
    return _PROMISE.findall(text)


def table(held: Held, promised: list[str]) -> str:
    """The generated region of the document."""
    lines = ["| id | tests |", "|---|---|"]
    for name in promised:
        files: dict[str, list[str]] = defaultdict(list)
        for path, test in held.get(name, []):
            files[path].append(test.removeprefix("test_").replace("_", " "))
        cells = [f"`{path}`: {'; '.join(tests)}" for path, tests in files.items()]
        lines.append(f"| {name} | {'<br>'.join(cells)} |")
    return "\n".join(lines)


def with_table(text: str, made: str) -> str:
    """The document with its table replaced.

    Raises:
        ValueError: it has no place for one.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError("docs/acceptance.md has no place for the table")
    return f"{before}{BEGIN}\n{made}\n{END}{after}"


def faults(text: str, held: Held) -> list[str]:
    """What is wrong, each with its mend."""
    promised = promised_ids(text)
    found = [f"{name} is promised twice" for name in set(promised) if promised.count(name) > 1]
    found += [
        f"{name} is promised and no test names it: write one, or take the promise back"
        for name in promised
        if name not in held
    ]
    found += [
        f"{name} is named by {held[name][0][0]} and not promised: write its line"
        for name in sorted(held)
        if name not in promised
    ]
    if with_table(text, table(held, promised)) != text:
        found.append("the table is stale: run python -m tests.acceptance_table --write")
    return sorted(found)


def main(arguments: list[str]) -> int:
    """Write the table if asked to, then check."""
    held = held_ids()
    text = DOCUMENT.read_text(encoding="utf-8")
    if "--write" in arguments:
        text = with_table(text, table(held, promised_ids(text)))
        DOCUMENT.write_text(text, encoding="utf-8")
    wrong = faults(text, held)
    sys.stdout.writelines(f"{line}\n" for line in wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
