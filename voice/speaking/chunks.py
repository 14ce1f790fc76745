"""Cut streamed written text into sentence chunks, each small enough to speak soon.

Owns where one chunk ends and the next begins; the chunks joined are the text, character for
character. What of a chunk is spoken is ``wording``; text that is never spoken (fenced code, a tool
call written as text) comes out as chunks of its own, so that a sentence is never glued to it.

A sentence is given once the first visible character after it is known, since only that tells
"Dr. Klein" from an end: at most one token late. Stops of scripts without spaces end it at once.
Pure: no clock, no task. One chunker a say.
"""

import re
from dataclasses import dataclass
from typing import Final

SOFT_LIMIT: Final = 220
"""Characters without a stop after which a clause end is good enough."""
HARD_LIMIT: Final = 420
"""Characters after which a space, or in the end any place, is."""

_AT_ONCE: Final = "。！？｡।॥؟۔።"
_CLOSERS: Final = "\"')]}”’»›」』）】*_~`"
_ABBREVIATIONS: Final = frozenset(
    "mr mrs ms dr prof st sr jr rev gen sen rep gov capt lt col sgt hon messrs mme mlle "
    "vs approx dept est inc ltd corp co bros e.g i.e cf viz al fig eq vol pp ed eds trans "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri "
    "ave blvd rd ln sq ext tel bzw usw z.b d.h nr hr fr str ca evtl ggf inkl "
    "sra srta ud uds av avda apdo".split()
)
_BEFORE_NUMBER: Final = frozenset({"no", "nos", "p", "para", "art", "sec", "ch", "n"})
_STOP: Final = re.compile(r"[.!?…]+[" + re.escape(_CLOSERS) + r"]*(?=\s)")
_LAST_STOP: Final = re.compile(r"[.!?…]+[" + re.escape(_CLOSERS) + r"]*$")
_OPEN_NUMBER: Final = re.compile(r"\d\.$")
"""Cents or minutes may follow."""
_AT_ONCE_STOP: Final = re.compile(
    f"[{_AT_ONCE}]+[" + re.escape(_CLOSERS) + r"]*[^\S\n]*",
)
_LINE: Final = re.compile(r"\n\s*")
_OPENERS: Final = (
    ("```", "```"),
    ("~~~", "~~~"),
    ("<function", "</function>"),
    ("<tool_call>", "</tool_call>"),
    ("<think>", "</think>"),
)
_OPENER: Final = re.compile("|".join(re.escape(o) for o, _ in _OPENERS))
_CLAUSE: Final = re.compile(r"[,;:、，；：–—](?:\s+|(?<=[、，；：]))")
_LIST_NUMBER: Final = re.compile(r"(?:^|\n)\s*\(?\d{1,2}\.$")
_WORD_BEFORE: Final = re.compile(r"[^\s(\[{\"“‘«]+$")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a say's written text."""

    offset: int
    """Where it begins in the say's written text."""
    text: str
    spoken: bool = True
    """False for code and tool-call text, of which nothing is said."""


class SentenceChunker:
    """Turns text that comes in tokens into chunks, in order and without loss."""

    def __init__(self) -> None:
        """Start at offset 0 of an empty text."""
        self._buffer = ""
        self._offset = 0
        self._closer = ""
        self._scanned = 0

    def push(self, text: str) -> list[Chunk]:
        """Take the next piece of text; give the chunks that are complete now."""
        self._buffer += text
        return self._cut(flushing=False)

    def pause(self) -> list[Chunk]:
        """Give what reads like a whole sentence, since no text has come for a while.

        A model that goes on to call a tool writes no next word to show that the last one ended.
        """
        text = self._buffer
        body = text.rstrip()
        match = _LAST_STOP.search(body)
        if self._closer or match is None or _OPENER.search(text) or not self._is_end(match, "A"):
            return []
        if body == text and _OPEN_NUMBER.search(body):
            return []
        return [self._take(len(text))]

    def flush(self) -> list[Chunk]:
        """Give what is left: the text is over."""
        out = self._cut(flushing=True)
        if self._buffer:
            out.append(self._take(len(self._buffer), spoken=not self._closer))
        self._closer = ""
        return out

    def _take(self, length: int, *, spoken: bool = True) -> Chunk:
        chunk = Chunk(self._offset, self._buffer[:length], spoken)
        self._buffer = self._buffer[length:]
        self._offset += length
        self._scanned = 0
        return chunk

    def _cut(self, *, flushing: bool) -> list[Chunk]:
        out: list[Chunk] = []
        while self._buffer:
            if self._closer:
                length = self._unspoken_end(flushing=flushing)
                if not length:
                    break
                out.append(self._take(length, spoken=False))
                continue
            length = self._spoken_end(flushing=flushing)
            if not length:
                break
            if length > 0:
                out.append(self._take(length))
        return out

    def _unspoken_end(self, *, flushing: bool) -> int:
        """Length of the code chunk at the start of the buffer, 0 while its end is unknown."""
        at = self._buffer.find(self._closer, self._scanned)
        if at < 0:
            # A long block leaves in parts, so that hostile text can't grow the buffer.
            keep = len(self._closer)
            if len(self._buffer) > HARD_LIMIT and not flushing:
                part = len(self._buffer) - keep
                return part if self._scanned <= part else 0
            return 0
        end = at + len(self._closer)
        while end < len(self._buffer) and self._buffer[end].isspace():
            end += 1
        self._closer = ""
        return end

    def _spoken_end(self, *, flushing: bool) -> int:
        """Length of the sentence at the start, 0 = not known yet, -1 = look again (code begins)."""
        opener = _OPENER.search(self._buffer)
        limit = opener.start() if opener else len(self._buffer)
        end = self._sentence_end(limit, flushing=flushing or opener is not None)
        if end:
            return end
        if opener is None:
            return self._forced_end() if limit > SOFT_LIMIT else 0
        if limit:
            return limit
        self._closer = dict(_OPENERS)[opener.group()]
        # The opener must not be taken for its own closer.
        self._scanned = len(opener.group())
        return -1

    def _sentence_end(self, limit: int, *, flushing: bool) -> int:
        text = self._buffer
        best = 0
        for end in self._ends(limit, flushing=flushing):
            if text[:end].strip() and (not best or end < best):
                best = end
        return best

    def _ends(self, limit: int, *, flushing: bool) -> list[int]:
        """First candidate of each kind: a stop, a stop of a script without spaces, a line end."""
        text = self._buffer
        ends: list[int] = []
        for match in _STOP.finditer(text, 0, limit):
            after = match.end()
            while after < limit and text[after].isspace():
                after += 1
            while after < limit and text[after] in "»›":
                after += 1
                while after < limit and text[after].isspace():
                    after += 1
            if after >= limit:
                if flushing:
                    ends.append(after)
                break
            if self._is_end(match, text[after]):
                ends.append(after)
                break
        for match in _AT_ONCE_STOP.finditer(text, 0, limit):
            ends.append(match.end())
            break
        for match in _LINE.finditer(text, 0, limit):
            # Leading blank lines end nothing; they go with the line that follows.
            if text[: match.start()].strip():
                ends.append(match.end())
                break
        return ends

    def _is_end(self, match: "re.Match[str]", following: str) -> bool:
        text = self._buffer
        stop = match.group()
        if stop[0] != "." or stop.startswith(".."):
            return not following.islower() or stop[0] in "!?"
        if following.islower():
            return False
        head = text[: match.start()]
        found = _WORD_BEFORE.search(head)
        word = found.group() if found else ""
        bare = word.strip("*_~`").lower()
        if bare in _ABBREVIATIONS or (bare in _BEFORE_NUMBER and following.isdigit()):
            return False
        if _LIST_NUMBER.search(text[: match.start() + 1]):
            return False
        return not _is_initial(word)

    def _forced_end(self) -> int:
        """A place to cut a long text without stops; 0 while it may still find one."""
        text = self._buffer
        clauses = [m.end() for m in _CLAUSE.finditer(text, SOFT_LIMIT // 2, HARD_LIMIT)]
        clauses = [end for end in clauses if end < len(text)]
        if clauses:
            return clauses[-1]
        if len(text) <= HARD_LIMIT:
            return 0
        space = text.rfind(" ", SOFT_LIMIT // 2, HARD_LIMIT)
        return space + 1 if space >= 0 else HARD_LIMIT


def _is_initial(word: str) -> bool:
    """Whether a dot after this is part of a name or a country ("J.", "U.S"), not an end."""
    letters = word.strip("*_~`\"'").split(".")
    if not all(len(part) == 1 and part.isupper() for part in letters):
        return False
    return letters != ["I"]
