"""Takes the body of a ``skill.md`` apart: paragraphs with their conditions, and ordered blocks.

Owns where a paragraph and a block begin and end. Tokens are ``prose_tokens``, a block's YAML is
``block_file``.
"""

import re
from dataclasses import dataclass

from runtime.errors import Place
from runtime.project.placed_conditions import PlacedCondition, read_condition
from runtime.project.problems import Problems
from runtime.project.prose_tokens import ProseText, read_prose_text
from runtime.project.yaml_nodes import Scalar

__all__ = ["BlockText", "Body", "ParagraphText", "read_body"]

_CONDITION = re.compile(r"(\s*if:\s*)(.*)")
_DIRECTIVE = re.compile(r"\s*:::\s*([^\s:]*)(.*)")
_ID = re.compile(r"\s+id=(?P<quote>[\"']?)(?P<id>[^\W\d]\w*)(?P=quote)\s*")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)")
_BLOCK = "ordered_block"
_FORM = "write ':::ordered_block id=<id>' … ':::'"


@dataclass(frozen=True, slots=True)
class ParagraphText:
    """One paragraph whose names are not checked yet."""

    text: ProseText
    condition: PlacedCondition | None
    place: Place


@dataclass(frozen=True, slots=True)
class BlockText:
    """One ordered block as it stands in the file."""

    id: str
    lines: tuple[str, ...]
    first_line: int
    """Line of the file where ``lines`` begin."""
    place: Place


@dataclass(frozen=True, slots=True)
class Body:
    """What stands below the frontmatter."""

    paragraphs: tuple[ParagraphText, ...] = ()
    blocks: tuple[BlockText, ...] = ()
    is_whole: bool = True
    """False: something of it was refused, so that nothing can be said of what is missing."""


def read_body(lines: list[str], file: str, first_line: int, problems: Problems) -> Body:
    """Take it apart; ``first_line`` is the line of the file where ``lines`` begin."""
    before = len(problems.found)
    reader = _Reader(lines, file, first_line, problems)
    reader.read()
    is_whole = len(problems.found) == before
    return Body(tuple(reader.paragraphs), tuple(reader.blocks), is_whole)


class _Reader:
    def __init__(self, lines: list[str], file: str, first_line: int, problems: Problems) -> None:
        self.paragraphs: list[ParagraphText] = []
        self.blocks: list[BlockText] = []
        self._lines = lines
        self._file = file
        self._first_line = first_line
        self._problems = problems
        self._begin: int | None = None  # index where the open paragraph began
        self._fence: tuple[str, int] | None = None  # what closes the open fence, and its line

    def read(self) -> None:
        at = 0
        while at < len(self._lines):
            line = self._lines[at]
            if self._fence is None and _DIRECTIVE.fullmatch(line):
                self._close(at)
                at = self._directive(at)
                continue
            self._follow_fence(line, at)
            if not line.strip() and self._fence is None:
                self._close(at)
            elif self._begin is None:
                self._begin = at
            at += 1
        if self._fence is not None:
            self._problems.add(
                self._place(self._fence[1]),
                "bad_fence",
                "this fence around code is not closed, so that it holds the rest of the file",
                f"write '{self._fence[0]}' on a line below the code",
            )
        self._close(at)

    def _place(self, at: int) -> Place:
        """The first character of a line that is no blank."""
        line = self._lines[at]
        indent = len(line) - len(line.lstrip())
        return Place(self._file, self._first_line + at, indent + 1)

    def _follow_fence(self, line: str, at: int) -> None:
        match = _FENCE.fullmatch(line)
        if match is None:
            return
        if self._fence is None:
            self._fence = (match[1], at)
        elif match[1].startswith(self._fence[0]) and not match[2].strip():
            self._fence = None

    # ---------------------------------------------------------------- blocks

    def _directive(self, at: int) -> int:
        """Read one ``:::`` line and what belongs to it; return the index of the line after."""
        match = _DIRECTIVE.fullmatch(self._lines[at])
        name, rest = match.groups() if match is not None else ("", "")
        if not name:
            self._problems.add(
                self._place(at), "bad_block", "this ':::' ends a block that was not begun", _FORM
            )
            return at + 1
        end, is_closed = self._end_of(at)
        after = end + 1 if is_closed else end
        if not is_closed:
            self._problems.add(
                self._place(at),
                "bad_block",
                "the ':::' that ends this block is missing",
                "write ':::' on a line of its own below the steps",
            )
        if name != _BLOCK:
            self._problems.add(self._place(at), "bad_block", f"':::{name}' is not known", _FORM)
            return after
        found = _ID.fullmatch(rest)
        if found is None:
            self._problems.add(
                self._place(at),
                "bad_block",
                "an ordered block has an id of letters, digits and '_', and nothing else",
                _FORM,
            )
        elif is_closed:
            self._add(found["id"], at, end)
        return after

    def _end_of(self, at: int) -> tuple[int, bool]:
        """(index of the closing line, True), or (where the next block begins, False)."""
        for index in range(at + 1, len(self._lines)):
            match = _DIRECTIVE.fullmatch(self._lines[index])
            if match is not None and not match[1]:
                return index, True
            if match is not None and match[1] == _BLOCK:
                return index, False
        return len(self._lines), False

    def _add(self, block_id: str, at: int, end: int) -> None:
        first = next((block for block in self.blocks if block.id == block_id), None)
        if first is not None:
            self._problems.add(
                self._place(at),
                "duplicate_id",
                f"the block '{block_id}' is written twice; first at {first.place}",
                "give it another id",
            )
            return
        lines = tuple(self._lines[at + 1 : end])
        self.blocks.append(BlockText(block_id, lines, self._first_line + at + 1, self._place(at)))

    # ---------------------------------------------------------------- paragraphs

    def _close(self, end: int) -> None:
        """End the open paragraph before the line ``end``."""
        if self._begin is None:
            return
        begin, self._begin = self._begin, None
        place = self._place(begin)
        condition = None
        match = _CONDITION.fullmatch(self._lines[begin])
        if match is not None:
            where = Place(self._file, place.line, len(match[1]) + 1)
            text = match[2].strip()
            condition = read_condition(Scalar(where, text, text, plain=True), self._problems)
            begin += 1
            if begin == end:
                self._problems.add(
                    place,
                    "empty_text",
                    "the paragraph has a condition and no text",
                    "write the text in the lines below it, without a blank line between",
                )
                return
        read = self._text(begin, end)
        if match is None or condition is not None:
            self.paragraphs.append(ParagraphText(read, condition, place))

    def _text(self, begin: int, end: int) -> ProseText:
        lines = [line.rstrip() for line in self._lines[begin:end]]
        text = "\n".join(lines)

        def locate(offset: int, _: str) -> Place:
            above = text.count("\n", 0, offset)
            column = offset - (text.rfind("\n", 0, offset) + 1)
            return Place(self._file, self._first_line + begin + above, column + 1)

        return read_prose_text(text, locate, self._problems)
