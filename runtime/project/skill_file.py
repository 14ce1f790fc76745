"""Reads ``skills/<id>/skill.md``: frontmatter, prose and ordered blocks.

Owns the frontmatter's keys and the putting together. It is read in two steps, since the names in it
are checked against the whole project: ``read_skill`` takes the file apart, ``finish`` makes the
skill once everything else is known.
"""

import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from runtime.errors import Place
from runtime.project.block_file import read_block
from runtime.project.block_flow import check_circles
from runtime.project.constraint_file import (
    read_access,
    read_complete_when,
    read_constraints,
    read_utters,
)
from runtime.project.fields import Fields
from runtime.project.known import KnownThings
from runtime.project.problems import Problems, listed
from runtime.project.prose_file import Body, read_body
from runtime.project.prose_tokens import check_tokens
from runtime.project.skill_model import (
    Block,
    CallStep,
    LinkStep,
    Paragraph,
    Skill,
)
from runtime.project.skill_scope import Scope
from runtime.project.yaml_nodes import Node, Scalar, Sequence
from runtime.project.yaml_source import parse, read_text

__all__ = ["KnownThings", "SkillText", "finish", "read_skill"]

_FOREIGN = ("mcp", "provider")


@dataclass(frozen=True, slots=True)
class SkillText:
    """A skill whose parts stand apart and whose names are not checked yet."""

    id: str
    file: str
    front: Node | None
    """The frontmatter; None when it is empty, or can't be read."""
    body: Body
    place: Place
    """Where the body begins."""
    env: Mapping[str, str] = field(repr=False)
    has_front: bool = True
    """False: the frontmatter could not be read, which has been reported."""
    has_body: bool = True
    """False: the body could not be told from the frontmatter, which has been reported."""


def read_skill(
    data: bytes, file: str, skill_id: str, env: Mapping[str, str], problems: Problems
) -> SkillText:
    """Take the file apart; what is wrong goes into ``problems``."""
    text = read_text(data, file, problems)
    lines = unicodedata.normalize("NFC", text).splitlines() if text is not None else []
    end = _frontmatter_end(lines, file, problems) if text is not None else None
    if end is None:
        return SkillText(
            skill_id, file, None, Body(), Place(file), env, has_front=False, has_body=False
        )
    before = len(problems.found)
    front = parse("\n".join(lines[1:end]), file, problems, env, first_line=2)
    has_front = front is not None or len(problems.found) == before
    body = read_body(lines[end + 1 :], file, end + 2, problems)
    places = [part.place for part in (*body.paragraphs, *body.blocks)]
    place = min(places, default=Place(file, end + 1, 1))
    return SkillText(skill_id, file, front, body, place, env, has_front)


def finish(text: SkillText, known: KnownThings, problems: Problems) -> Skill:
    """Make the skill; names that don't exist are problems."""
    if not text.has_body:
        return Skill(id=text.id, name="", description="", place=text.place)
    ids = [block.id for block in text.body.blocks]
    # What it may not read is known only once 'access' is read.
    top = Fields(text.front, problems, "", Place(text.file, 1, 1))
    access = read_access(top, Scope(text.id, ids, known, (), problems))
    scope = Scope(text.id, ids, known, access.deny_read, problems)
    constraints = read_constraints(top, scope) if text.has_front else {}
    confirmed = [name for name, one in constraints.items() if one.confirmation is not None]
    blocks = _blocks(text, scope, confirmed)
    paragraphs = _paragraphs(text, scope)
    if text.body.is_whole and not paragraphs and not text.body.blocks:
        problems.add(
            text.place,
            "empty_text",
            "the skill has neither prose nor an ordered block",
            "write below the second '---' what the agent should do",
        )
    if not text.has_front:
        return Skill(
            id=text.id,
            name="",
            description="",
            prose=paragraphs,
            blocks=blocks,
            place=text.place,
        )
    skill = _with_front(text, top, scope)
    return replace(skill, prose=paragraphs, blocks=blocks, access=access, constraints=constraints)


def _with_front(text: SkillText, top: Fields, scope: Scope) -> Skill:
    routing = top.section("routing", "examples")
    engine_managed, examples = _engine_managed(routing, scope), routing.texts("examples")
    routing.done()
    skill = Skill(
        id=text.id,
        name=top.required_text("name"),
        description=top.required_text("description"),
        requires=scope.condition_key(top, "requires"),
        precondition=_precondition(top, scope),
        hidden=top.flag("hidden", False),
        disabled=top.flag("disabled", False),
        complete_when=read_complete_when(top, scope),
        utters=read_utters(top, scope),
        engine_managed=engine_managed,
        imports=_imports(top, scope),
        examples=examples,
        place=text.place,
    )
    top.done()
    return skill


def _frontmatter_end(lines: list[str], file: str, problems: Problems) -> int | None:
    if not lines or lines[0].rstrip() != "---":
        problems.add(
            Place(file, 1, 1),
            "frontmatter",
            "the first line must be '---'",
            "begin with '---', name, description, and '---' again",
        )
        return None
    end = next((n for n in range(1, len(lines)) if lines[n].rstrip() == "---"), None)
    if end is None:
        problems.add(
            Place(file, 1, 1),
            "frontmatter",
            "the '---' that ends the frontmatter is missing",
            "write '---' on a line of its own between the keys and the prose",
        )
    return end


# ------------------------------------------------------------------ frontmatter


def _engine_managed(routing: Fields, scope: Scope) -> bool:
    wanted = routing.flag("engine_managed", False)
    packaged = scope.known.packaged
    if not wanted or packaged is None or scope.skill in packaged:
        return wanted
    entry = routing.entry("engine_managed")
    routing.problem(
        entry.place if entry else routing.place,
        "misplaced_key",
        f"'{routing.path('engine_managed')}' is for the packaged skills: nothing would ever start "
        "this one",
        "take it away; 'hidden: true' keeps a skill off the menu",
    )
    return False


def _precondition(top: Fields, scope: Scope) -> str | None:
    entry = top.entry("precondition")
    name = top.text("precondition")
    if entry is not None and name:
        scope.precondition(name, entry.value.place)
    return name


def _imports(top: Fields, scope: Scope) -> tuple[str, ...]:
    """Read the three forms; whether the tools exist is up to what attaches them."""
    names = top.texts("import_tools")
    node = top.node("import_tools")
    for item in node.items if isinstance(node, Sequence) else ():
        written = item.text.strip() if isinstance(item, Scalar) else ""
        kind, slash, rest = written.partition("/")
        owner, _, tool = rest.partition(":")
        if slash and kind in _FOREIGN and not (owner and tool):
            scope.refuse(
                item.place,
                "bad_import",
                f"'{written}' names no tool",
                "write mcp/<server>:<tool> or provider/<id>:<tool>",
            )
    return names


# ------------------------------------------------------------------ body


def _paragraphs(text: SkillText, scope: Scope) -> tuple[Paragraph, ...]:
    found: list[Paragraph] = []
    for written in text.body.paragraphs:
        if written.condition is not None:
            scope.check(written.condition)
        check_tokens(written.text, scope)
        condition = written.condition.condition if written.condition is not None else None
        found.append(Paragraph(written.text.parts, condition, written.place))
    return tuple(found)


def _blocks(text: SkillText, scope: Scope, confirmed: Collection[str]) -> tuple[Block, ...]:
    before = len(scope.problems.found)
    read = (read_block(written, text.file, text.env, scope) for written in text.body.blocks)
    blocks = tuple(block for block in read if block is not None)
    # Where the steps lead can only be said when all of them are there.
    if blocks and len(scope.problems.found) == before and text.body.is_whole:
        check_circles(blocks, scope.problems, confirmed)
        if not text.body.paragraphs:
            _check_entry(blocks, text.place, scope.problems)
    return blocks


def _check_entry(blocks: tuple[Block, ...], place: Place, problems: Problems) -> None:
    targets = {
        step.target
        for block in blocks
        for step in block.steps
        if isinstance(step, CallStep | LinkStep)
        and step.kind == "block"
        and step.target != block.id
    }
    entries = [block.id for block in blocks if block.id not in targets]
    if len(entries) != 1:
        what = f"here these are {listed(entries)}" if entries else "here each is called by another"
        problems.add(
            place,
            "entry_block",
            f"without prose, exactly one block is not called or linked by another; {what}",
            "call the others from one block, or write prose that names them as @block.<id>",
        )
