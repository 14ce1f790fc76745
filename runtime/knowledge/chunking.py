"""Cuts a reference file's markdown into chunks that each can be read alone.

Owns where a cut may stand: before a heading, else between paragraphs, lines of a list, sentences
or words, in this order. Pure. Reading files is ``references``; searching chunks is ``index``.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["DEFAULT_OVERLAP", "DEFAULT_SIZE", "Chunk", "chunk_markdown"]

DEFAULT_SIZE = 1000
DEFAULT_OVERLAP = 20

_MAX_HEADING = 200
"""A longer heading is a paragraph that somebody underlined."""

_MAX_HEADING_SOURCE = 1_000
"""The same before its markup is taken away."""

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_BREAK = re.compile("\r\n?|[\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff\ufffe\uffff\ud800-\udfff]")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s[^()]*)?\)")
_HEADING_ID = re.compile(r"\s*\{#[\w:.-]+\}\s*\Z")
# A wide full stop ends a sentence without a space after it.
_SENTENCE = re.compile(r"(?<=[.!?…])(\s+)|(?<=[.!?…][\"')\]”’»])(\s+)|(?<=[。！？])()")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of one reference file."""

    text: str
    """NFC, never empty, without the headings above it."""
    file: str
    """Relative to the project's root, with ``/``."""
    headings: tuple[str, ...] = ()
    """The headings above it, outermost first."""
    position: int = 0
    """Place among the chunks of its file, from 0."""
    line: int = 0
    """Where its block begins in the file, from 1; 0 = unknown."""

    @property
    def heading(self) -> str:
        """The headings above it as one line; empty above the first."""
        return " > ".join(self.headings)


@dataclass(frozen=True, slots=True)
class _Atom:
    """What is not cut any further, and what joins it to the one before."""

    joiner: str
    text: str
    line: int


@dataclass(slots=True)
class _Section:
    headings: tuple[str, ...]
    line: int
    depth: int = 0
    blocks: list[tuple[str, bool, int]] = field(default_factory=list[tuple[str, bool, int]])
    """Text, whether its line breaks mean nothing, first line."""


def chunk_markdown(
    text: str,
    file: str,
    chunk_size: int = DEFAULT_SIZE,
    chunk_overlap: int = DEFAULT_OVERLAP,
) -> tuple[Chunk, ...]:
    """Cut one file's text; an empty file has no chunks.

    Args:
        text: Markdown. Front matter and comments are left out.
        file: What the chunks are to call it.
        chunk_size: Most characters of a chunk.
        chunk_overlap: Most characters of a chunk's end, in whole words, that the next chunk of
            the same section begins with; fewer where the next piece needs the room.

    Raises:
        ValueError: ``chunk_size`` is below 1, or not 0 ≤ ``chunk_overlap`` < ``chunk_size``.
    """
    if not 0 <= chunk_overlap < chunk_size:
        raise ValueError("chunk_overlap must be at least 0 and less than chunk_size")
    chunks: list[Chunk] = []
    for section in _sections(_normalised(text)):
        for line, piece in _packed(_atoms(section, chunk_size), chunk_size, chunk_overlap):
            chunks.append(Chunk(piece, file, section.headings, len(chunks), line))
    return tuple(chunks)


def _normalised(text: str) -> str:
    text = _BREAK.sub("\n", text)
    text = _CONTROL.sub("", text)
    # Lines keep their numbers: what is dropped leaves its line breaks behind.
    text = _FRONT_MATTER.sub(lambda found: "\n" * found.group().count("\n"), text)
    return unicodedata.normalize("NFC", text)


# ------------------------------------------------------------------ sections


@functools.cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt  # a project that brings its index along never needs it

    # Blocks only: what stands inside a line is never looked at, which also makes this fast.
    return MarkdownIt("commonmark").disable("inline")


def _sections(text: str) -> Iterator[_Section]:
    """Sections that hold something, in order."""
    lines = text.split("\n")
    path: list[tuple[int, str]] = []
    section = _Section((), 1)
    for token, content in _blocks(_markdown().parse(text)):
        begin, end = token.map or (0, 0)
        heading = _heading(content) if token.type == "heading_open" else ""
        if heading:
            depth = int(token.tag[1:])
            yield from _told(section, next_depth=depth)
            path = [(d, name) for d, name in path if d < depth] + [(depth, heading)]
            section = _Section(tuple(name for _, name in path), begin + 1, depth)
            continue
        block = "\n".join(lines[begin:end]) if token.type != "heading_open" else content
        if token.type not in ("fence", "code_block"):
            block = _COMMENT.sub("", block)
        block = block.strip("\n").rstrip()
        if block.strip():
            is_wrapped = token.type == "paragraph_open" and not _is_table(block)
            section.blocks.append((block, is_wrapped, begin + 1))
    yield from _told(section, next_depth=0)


def _told(section: _Section, next_depth: int) -> Iterator[_Section]:
    if section.blocks:
        yield section
    elif section.headings and next_depth <= section.depth:
        # "We are closed on Sundays" as a heading with nothing below says something by itself.
        section.blocks.append((section.headings[-1], True, section.line))
        section.headings = section.headings[:-1]
        yield section


def _blocks(tokens: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    """Each outermost block with the text inside a heading."""
    for at, token in enumerate(tokens):
        if token.level == 0 and token.nesting >= 0 and token.map and token.type != "hr":
            yield token, tokens[at + 1].content if token.type == "heading_open" else ""


def _is_table(block: str) -> bool:
    """Whether a line rules off a table's head; to CommonMark a table is a paragraph."""
    return any("|" in row and "-" in row and not row.strip(" \t|:-") for row in block.split("\n"))


def _heading(content: str) -> str:
    """A heading's words without their markup; empty for what is no heading to us."""
    if len(content) > _MAX_HEADING_SOURCE:
        return ""
    plain = _LINK.sub(r"\1", _COMMENT.sub("", content))
    plain = " ".join(_HEADING_ID.sub("", plain).replace("`", "").replace("*", "").split())
    return plain if len(plain) <= _MAX_HEADING else ""


# ------------------------------------------------------------------ cutting


def _atoms(section: _Section, size: int) -> Iterator[_Atom]:
    for block, is_wrapped, line in section.blocks:
        text = " ".join(block.split()) if is_wrapped else block
        joiner = "\n\n"
        for at, row in enumerate(_rows(text, size)):
            for piece in _sentences(row, size):
                yield _Atom(joiner, piece, line + at)
                joiner = " "
            joiner = "\n"


def _rows(text: str, size: int) -> list[str]:
    """The lines of a list, a table or code that is too long for one chunk."""
    return [text] if len(text) <= size else text.split("\n")


def _sentences(row: str, size: int) -> Iterator[str]:
    if len(row) <= size:
        yield row
        return
    begin = 0
    for found in _SENTENCE.finditer(row):
        yield from _words(row[begin : found.start()], size)
        begin = found.end()
    yield from _words(row[begin:], size)


def _words(sentence: str, size: int) -> Iterator[str]:
    if len(sentence) <= size:
        if sentence.strip():
            yield sentence.strip()
        return
    line = ""
    for word in sentence.split():
        if line and len(line) + 1 + len(word) <= size:
            line += " " + word
            continue
        if line:
            yield line
        *whole, line = [word[at : at + size] for at in range(0, len(word), size)]
        yield from whole
    if line:
        yield line


# ------------------------------------------------------------------ packing


def _packed(atoms: Iterator[_Atom], size: int, overlap: int) -> Iterator[tuple[int, str]]:
    """Put atoms together while they fit."""
    text, line = "", 0
    for atom in atoms:
        if not atom.text.strip():
            continue
        if text and len(text) + len(atom.joiner) + len(atom.text) <= size:
            text += atom.joiner + atom.text
            continue
        if text:
            yield line, text
            room = min(overlap, size - len(atom.text) - len(atom.joiner))
            tail = _tail(text, room)
            text = tail + atom.joiner + atom.text if tail else atom.text
        else:
            text = atom.text
        line = atom.line
    if text:
        yield line, text


def _tail(text: str, room: int) -> str:
    """The last whole words of a text, at most ``room`` characters."""
    if room <= 0:
        return ""
    tail = text[-room:]
    if len(text) > room and not text[-room - 1].isspace() and not tail[0].isspace():
        cut = re.search(r"\s", tail)
        tail = tail[cut.end() :] if cut else ""
    return tail.strip()
