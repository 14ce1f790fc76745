"""One skill.md read and finished in memory, for the tests of its readers."""

from collections.abc import Collection
from typing import Any

from runtime.errors import Problem
from runtime.project.model import MemoryField
from runtime.project.problems import Problems
from runtime.project.skill_file import KnownThings, finish, read_skill
from runtime.project.skill_model import Block, Skill
from runtime.tools.definition import ToolDef
from runtime.tools.result import ToolResult

FILE = "skills/cards/skill.md"
FRONT = "---\nname: Cards\ndescription: Replace a card.\n---\n"
FIELDS: tuple[MemoryField, ...] = (
    MemoryField(namespace="project", name="authenticated", type="bool"),
    MemoryField(namespace="project", name="phone", type="text"),
    MemoryField(namespace="cards", name="card", type="categorical", enum_values=("blue", "gold")),
    MemoryField(namespace="cards", name="sure", type="bool"),
    MemoryField(namespace="cards", name="amount", type="int"),
    MemoryField(namespace="cards", name="pin", type="text"),
    MemoryField(namespace="cards", name="note", type="text", private=True),
    MemoryField(namespace="login", name="tries", type="int"),
    MemoryField(namespace="login", name="secret", type="text", private=True),
)


def _tool(name: str, required: tuple[str, ...] = (), **types: Any) -> ToolDef:
    schemas: Any = {n: t if isinstance(t, dict) else {"type": t} for n, t in types.items()}
    parameters: dict[str, Any] = {"properties": schemas, "required": list(required)}
    return ToolDef(name=name, description="Does it.", parameters=parameters, fn=_nothing)


async def _nothing(**_: object) -> ToolResult:
    return ToolResult()


TOOLS = (
    _tool("lock_card", card="string", why="string", n="integer", deep="array"),
    _tool("find_cards"),
    _tool(
        "order",
        ("card", "amount"),
        card="string",
        amount="number",
        sure="boolean",
        how={"type": "string", "enum": ["fast", "slow"]},
        own={"$ref": "#"},
    ),
)
KNOWN: dict[str, Any] = {
    "skills": ("cards", "login"),
    "tools": {tool.name: tool for tool in TOOLS},
    "memory": FIELDS,
    "responses": ("utter_ask_card", "utter_done", "utter_sure", "utter_no"),
    "preconditions": ("signed_in",),
    "sub_agents": ("researcher",),
}


def read(text: str, **known: Collection[Any] | None) -> tuple[Skill, list[Problem]]:
    """The skill ``cards`` of this file, and what is wrong in it, by place."""
    problems = Problems()
    names: dict[str, Any] = {**KNOWN, **known}
    draft = read_skill(text.encode(), FILE, "cards", {}, problems)
    skill = finish(draft, KnownThings(**names), problems)
    return skill, sorted(problems.found, key=lambda p: (p.place, p.code))


def right(text: str, **known: Collection[Any] | None) -> Skill:
    """The skill of a file in which nothing is wrong."""
    skill, problems = read(text, **known)
    assert [str(p) for p in problems] == []
    return skill


def wrong(text: str, **known: Collection[Any] | None) -> list[Problem]:
    """What is wrong; each problem says what to write instead."""
    _, problems = read(text, **known)
    assert [str(p) for p in problems if not p.mend] == []
    assert {p.place.file for p in problems} <= {FILE}
    return problems


def marked(text: str) -> tuple[str, list[tuple[int, int, str]]]:
    """A file without its marks, and what they announce.

    A mark ``«code»`` stands right before the character that a problem points at.
    """
    clean: list[str] = []
    expected: list[tuple[int, int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        while "«" in line:
            before, _, rest = line.partition("«")
            code, _, after = rest.partition("»")
            expected.append((number, len(before) + 1, code))
            line = before + after
        clean.append(line)
    return "\n".join(clean), expected


def check_marks(text: str, **known: Collection[Any] | None) -> list[Problem]:
    """Read a marked file; exactly the announced problems are found, each at its character."""
    clean, expected = marked(text)
    found = wrong(clean, **known)
    assert [(p.place.line, p.place.column, p.code) for p in found] == sorted(expected), [
        str(p) for p in found
    ]
    return found


def block_of(steps: str) -> str:
    """A skill.md with one block; ``steps`` as they stand below ``steps:``."""
    return f"{FRONT}:::ordered_block id=main\nsteps:\n{steps}\n:::\n"


def right_block(steps: str, **known: Collection[Any] | None) -> Block:
    """The one block of a skill in which nothing is wrong."""
    return right(block_of(steps), **known).blocks[0]
