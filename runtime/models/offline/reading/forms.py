"""Forms of a word: what is left of it when its endings are cut.

Owns how two forms of one word are told to be one ("arrived" and "arrive"). The irregular ones are
the lexicon's.
"""

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Sense", "form_of"]

_ENDINGS = ("ing", "ied", "ies", "ed", "es", "s", "e")
_VOWELS = frozenset("aeiouy")
_LEAST = 3


@dataclass(frozen=True, slots=True)
class Sense:
    """What a denied word is said for, and when."""

    name: str
    after: frozenset[str] = frozenset()
    """One of these stands shortly before it,"""
    after_not: frozenset[str] = frozenset()
    """or one of these with a "not"."""
    subjects_not: frozenset[str] = frozenset()
    """None of these does: "I didn't come" tells nothing of a parcel."""
    then: str = ""
    """The word that follows at once; empty for any."""


def form_of(word: str, irregular: Mapping[str, str]) -> str:
    """Return a key that the forms of one word share; the word itself where no forms are known.

    It is for comparing only: "arrived" and "arrives" both give "arriv".
    """
    if not irregular:
        return word
    word = irregular.get(word, word)
    if len(word) <= _LEAST or word.endswith("ss") or word.endswith("eed"):
        return word
    for ending in _ENDINGS:
        if not word.endswith(ending):
            continue
        stem = word[: -len(ending)]
        if len(stem) < _LEAST or not _VOWELS & set(stem):
            continue
        if ending in ("ied", "ies"):
            return f"{stem}y"
        doubled = ending in ("ing", "ed") and stem[-1] == stem[-2] and stem[-1] not in "lsz"
        return stem[:-1] if doubled else stem
    return word
