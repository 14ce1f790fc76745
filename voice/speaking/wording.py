"""What is said of a written sentence: no marks, no code, no addresses; amounts as people say them.

Owns the order of the rewriting steps and the spoken-to-written map. Marks are cleaned for every
language; numbers, money, dates and the like are put into words for English
(``wording_numbers``), other languages leave them to their engine. Where sentences end is
``chunks``. The written text itself is never changed: memory keeps it. Pure.
"""

import re
from dataclasses import dataclass
from typing import Final

from voice.speaking import wording_marks, wording_numbers
from voice.speaking.wording_text import MappedText

_SPACES: Final = re.compile(r"\s+")
_SPACE_BEFORE_STOP: Final = re.compile(r" +(?=[,.;:!?](?:\s|$))")
_EDGES: Final = re.compile(r"^\s+|\s+$")

_OTHER_SCRIPT: Final = re.compile(r"[^\W\d_\u0000-\u036f\u1e00-\u1fff]")
"""A letter of no Latin script: English number words would not fit there."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """The spoken form of a piece of written text."""

    text: str
    """Empty where there is nothing to say."""
    ends: tuple[int, ...]
    """For each spoken character: how much of the written text is said once it is; never falls."""
    written_length: int

    def written_at(self, spoken_offset: int) -> int:
        """How much of the written text is said once so many spoken characters are."""
        if spoken_offset >= len(self.ends):
            return self.written_length
        return self.ends[spoken_offset - 1] if spoken_offset > 0 else 0


def _is_english(language: str) -> bool:
    return language.replace("_", "-").split("-")[0].lower() in ("en", "english")


def say_as(text: str, language: str = "en") -> Spoken:
    """Put written text into spoken words; total, for any text in any language."""
    mapped = MappedText(text)
    wording_marks.clean(mapped)
    if _is_english(language) and not _OTHER_SCRIPT.search(mapped.text):
        wording_numbers.put_into_words(mapped)
    mapped.sub(_SPACES, lambda _: " ")
    mapped.drop(_SPACE_BEFORE_STOP)
    mapped.drop(_EDGES)
    if not any(char.isalnum() for char in mapped.text):
        return Spoken("", (), len(text))
    return Spoken(mapped.text, mapped.ends, len(text))
