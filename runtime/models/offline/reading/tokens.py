"""A caller's words as tokens with their places.

Owns the cutting of a transcript into words, numbers and signs, and the lookup of phrases in them.
What a word means is the lexicon's.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = ["MOST_CHARS", "Phrases", "Token", "Tokens", "tokenize"]

MOST_CHARS = 20_000
"""Readers look at no more of a text than this."""

_TOKEN = re.compile(
    r"(?P<meridiem>\b[ap]\.\s?m\b\.?)"
    r"|(?P<ordinal>\d{1,4}(?:st|nd|rd|th)\b)"
    r"|(?P<number>\d+(?:[.,]\d+)*)"
    r"|(?P<word>[^\W\d_]+(?:['\u2019][^\W\d_]+)*)"
    r"|(?P<sign>[$\u20ac\u00a3\u00a5@_&+%])"
    r"|(?P<mark>\S)",
    re.IGNORECASE,
)
_MOST_MARKS = 8


@dataclass(frozen=True, slots=True)
class Token:
    """One word, number or sign; ``text[start:end]`` of what was said."""

    norm: str
    """Lower case, straight apostrophes, ASCII digits."""
    start: int
    end: int
    kind: Literal["word", "number", "ordinal", "sign"]
    before: str = ""
    """The punctuation between the token before and this one, without spaces."""

    @property
    def joins(self) -> bool:
        """No pause was written before it: it may belong to the word before."""
        return self.before in ("", "-")


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text and its tokens; marks of punctuation stand in the token after them."""

    text: str
    words: tuple[Token, ...]
    tail: str = ""
    """The punctuation after the last token."""

    def __len__(self) -> int:
        """Count the tokens."""
        return len(self.words)

    def norm(self, at: int) -> str:
        """The word at a place, empty outside of the text."""
        return self.words[at].norm if 0 <= at < len(self.words) else ""

    def joins(self, at: int) -> bool:
        """Whether there is a token at a place that goes on without a pause."""
        return 0 <= at < len(self.words) and self.words[at].joins

    def asks(self, after: int) -> bool:
        """Whether a question mark follows the token before ``after``."""
        marks = self.words[after].before if after < len(self.words) else self.tail
        return "?" in marks

    def start(self, at: int) -> int:
        """Where a token begins in the text."""
        return self.words[at].start if at < len(self.words) else len(self.text)

    def end(self, after: int) -> int:
        """Where the token before ``after`` ends in the text."""
        return self.words[after - 1].end if 0 < after <= len(self.words) else 0

    def rest(self, at: int) -> str:
        """The text from a token on, trimmed."""
        return self.text[self.start(at) :].strip()


def tokenize(text: str) -> Tokens:
    """Cut a text, of any content and length; what is past ``MOST_CHARS`` is left out."""
    text = text[:MOST_CHARS]
    words: list[Token] = []
    marks = ""
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        said = match.group()
        if kind == "mark":
            marks = (marks + said)[:_MOST_MARKS]
            continue
        match kind:
            case "meridiem":
                token = Token(said[0].lower() + "m", match.start(), match.end(), "word", marks)
            case "number" | "ordinal":
                token = Token(_ascii(said), match.start(), match.end(), kind, marks)
            case "sign":
                token = Token(said, match.start(), match.end(), "sign", marks)
            case _:
                norm = said.casefold().replace("\u2019", "'")
                token = Token(norm, match.start(), match.end(), "word", marks)
        words.append(token)
        marks = ""
    return Tokens(text, tuple(words), marks)


def _ascii(said: str) -> str:
    return "".join(
        str(unicodedata.decimal(char)) if char.isdecimal() else char.lower() for char in said
    )


class Phrases:
    """Phrases by their first word; the longest that fits wins."""

    def __init__(self, phrases: Mapping[str, Iterable[str]]) -> None:
        """Index phrases by kind; where two kinds claim one phrase, the later kind has it.

        Speech-to-text leaves apostrophes out as often as not, so each phrase counts without too.
        """
        table: dict[tuple[str, ...], str] = {}
        for kind, said in phrases.items():
            for phrase in said:
                table[tuple(phrase.split())] = kind
                table.setdefault(tuple(phrase.replace("'", "").split()), kind)
        self._by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for words, kind in sorted(table.items(), key=lambda entry: -len(entry[0])):
            if words:
                self._by_first.setdefault(words[0], []).append((words, kind))

    def match(self, tokens: Tokens, at: int, *, joined: bool = False) -> tuple[str, int] | None:
        """Return the kind of the longest phrase at a place and the place after it.

        Args:
            tokens: What was said.
            at: The first token of the phrase.
            joined: No pause may stand inside of the phrase.
        """
        for words, kind in self._by_first.get(tokens.norm(at), ()):
            after = at + len(words)
            if all(tokens.norm(at + n) == word for n, word in enumerate(words)) and (
                not joined or all(tokens.joins(n) for n in range(at + 1, after))
            ):
                return kind, after
        return None

    def skip(self, tokens: Tokens, at: int) -> int:
        """Return the place after all phrases that follow each other from ``at`` on."""
        while (found := self.match(tokens, at)) is not None:
            at = found[1]
        return at
