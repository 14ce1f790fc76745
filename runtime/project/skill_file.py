"""Reads ``skills/<id>/skill.md``: frontmatter and the prose that the model follows.

Owns the frontmatter's keys and the tokens in prose. ``@tool.<name>`` becomes the tool's name; the
other tokens, conditions and ordered blocks are refused by name, since this version runs prose only.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from runtime.errors import Place
from runtime.project.fields import Fields
from runtime.project.model import Skill
from runtime.project.problems import Problems, nearest
from runtime.project.yaml_source import parse, read_text

_LATER = (
    "requires",
    "precondition",
    "hidden",
    "disabled",
    "complete_when",
    "import_tools",
    "tool_constraints",
    "utter",
    "access",
    "routing",
)
_TOKEN = re.compile(r"(?<![\w@.])@(block|skill|tool|memory)\b(?:\.([\w.]*\w))?")
_CONDITION = re.compile(r"\s*if:")
_BLOCK = re.compile(r"\s*:::")
_BARE_SESSION = re.compile(r"\bsession\.\w")


@dataclass(frozen=True, slots=True)
class SkillText:
    """A skill whose prose still holds its tokens; ``finish`` resolves them."""

    id: str
    name: str
    description: str
    prose: str
    place: Place


def read_skill(
    data: bytes, file: str, skill_id: str, env: Mapping[str, str], problems: Problems
) -> SkillText:
    """Read the file; what is wrong goes into ``problems``."""
    text = read_text(data, file, problems)
    if text is None:
        return SkillText(skill_id, "", "", "", Place(file))
    lines = text.splitlines()
    end = _frontmatter_end(lines, file, problems)
    if end is None:
        return SkillText(skill_id, "", "", "", Place(file))
    front = "\n".join(lines[1:end])
    top = Fields(parse(front, file, problems, env, first_line=2), problems, "", Place(file, 1, 1))
    name = top.required_text("name")
    description = top.required_text("description")
    top.done(_LATER)
    body = lines[end + 1 :]
    blank = next((n for n, line in enumerate(body) if line.strip()), len(body))
    place = Place(file, end + 2 + blank, 1)
    prose = "\n".join(line.rstrip() for line in body[blank:]).strip()
    if not prose:
        problems.add(
            Place(file, end + 1, 1),
            "empty_text",
            "the skill has no prose",
            "write below the second '---' what the agent should do",
        )
    _refuse_later(body[blank:], place, problems)
    return SkillText(skill_id, name, description, prose, place)


def finish(skill: SkillText, tools: Collection[str], problems: Problems) -> Skill:
    """Resolve the tokens of the prose; ``tools`` are the names that the skill has."""
    resolved: list[str] = []
    for number, line in enumerate(skill.prose.split("\n")):
        where = Place(skill.place.file, skill.place.line + number)
        resolved.append(_resolve(line, where, tools, problems))
    return Skill(
        id=skill.id,
        name=skill.name,
        description=skill.description,
        prose="\n".join(resolved),
        place=skill.place,
    )


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


def _refuse_later(body: list[str], place: Place, problems: Problems) -> None:
    paragraph_begins = True
    for number, line in enumerate(body):
        where = Place(place.file, place.line + number, 1 + len(line) - len(line.lstrip()))
        if _BLOCK.match(line) and line.strip() != ":::":
            problems.add(
                where,
                "unsupported",
                "ordered blocks are not supported yet in this version",
                "say in prose what the agent should do",
            )
        elif paragraph_begins and _CONDITION.match(line):
            problems.add(
                where,
                "unsupported",
                "conditions in prose are not supported yet in this version",
                "write in words when the paragraph applies",
            )
        session = _BARE_SESSION.search(line)
        if session is not None and not _CONDITION.match(line):
            problems.add(
                Place(where.file, where.line, session.start() + 1),
                "bad_token",
                "'session.…' means nothing in prose",
                "name the field in words",
            )
        paragraph_begins = not line.strip()


def _resolve(line: str, where: Place, tools: Collection[str], problems: Problems) -> str:
    def name(match: re.Match[str]) -> str:
        place = Place(where.file, where.line, match.start() + 1)
        kind, target = match.groups()
        if kind != "tool":
            problems.add(
                place,
                "unsupported",
                f"'@{kind}.…' is not supported yet in this version",
                "say it in words",
            )
        elif not target:
            problems.add(place, "bad_token", "the tool's name is missing", "write @tool.<name>")
        elif target not in tools:
            close = nearest(target, tools)
            problems.add(
                place,
                "unknown_tool",
                f"the skill has no tool called '{target}'",
                f"did you mean '@tool.{close}'?" if close else "define it in the skill's tools.py",
            )
        return f"`{target}`"

    return _TOKEN.sub(name, line)
