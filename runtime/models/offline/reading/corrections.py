"""Corrections: what a caller says instead of what was understood.

Owns ``is_correction``. Reading the value out of the remainder is for the reader of its kind.
"""

from runtime.models.offline.reading.denials import find_denials
from runtime.models.offline.reading.english import ENGLISH
from runtime.models.offline.reading.found import Found
from runtime.models.offline.reading.lexicon import Lexicon
from runtime.models.offline.reading.tokens import Tokens, tokenize

__all__ = ["is_correction"]

_INSIDE = frozenset({"sorry", "mean", "meant", "scratch", "correction"})
"""A correction in the middle of a sentence has one of these: "Tuesday, no sorry, Wednesday"."""
_INSIDE_AFTER_PAUSE = _INSIDE | {"wait", "rather", "make", "actually"}
_NEGATION = frozenset({"not"})
_BUT = frozenset({"but"})
_CHANGE = frozenset({"change", "correct", "replace"})
_TO = frozenset({"to", "with"})
_MOST_SPAN = 40


def is_correction(text: str, lexicon: Lexicon = ENGLISH) -> Found[str] | None:
    """Return what is said instead: "no, I meant Friday", "change it to two", "not gold, platinum".

    None when nothing is corrected or nothing follows the correction ("no", "sorry?").
    """
    tokens = tokenize(text)
    at = lexicon.filler_phrases.skip(tokens, 0)
    begins, strong = _leads(tokens, at, lexicon)
    if tokens.norm(at) == lexicon.denial.refusal and begins > at:
        if find_denials(tokens, lexicon).cues[at]:  # "no insurance needed" corrects nothing
            return None
    instead = _instead(tokens, begins, lexicon)
    if instead is not None:
        return _result(tokens, instead, lexicon, 0.85)
    inside = _inside(tokens, begins, lexicon)
    if inside is not None:
        return _result(tokens, inside, lexicon, 0.8)
    if begins == at:
        return None
    return _result(tokens, begins, lexicon, 0.9 if strong else 0.6)


def _leads(tokens: Tokens, at: int, lexicon: Lexicon) -> tuple[int, bool]:
    """Pass over what begins a correction; strong where more than a "no" was said."""
    first = at
    while True:
        at = lexicon.filler_phrases.skip(tokens, at)
        found = lexicon.correction_phrases.match(tokens, at)
        if found is None:
            return at if at > first else first, at - first > 1
        at = found[1]


def _instead(tokens: Tokens, at: int, lexicon: Lexicon) -> int | None:
    """Read "not X, Y", "not X but Y" and "change X to Y"."""
    word = tokens.norm(at)
    for lead in ("i", "said", "it's", "its", "that's"):
        if word == lead:
            at += 1
            word = tokens.norm(at)
    until = min(len(tokens), at + _MOST_SPAN)
    if word in _NEGATION:
        for near in range(at + 2, until):
            if tokens.norm(near) in _BUT:
                return near + 1
            if any(mark in ",.;" for mark in tokens.words[near].before):
                return near
    if word in _CHANGE:
        for near in range(at + 2, until):
            if tokens.norm(near) in _TO:
                return near + 1
    return None


def _inside(tokens: Tokens, at: int, lexicon: Lexicon) -> int | None:
    last: int | None = None
    place = at + 1
    while place < len(tokens):
        found = lexicon.correction_phrases.match(tokens, place)
        if found is None:
            place += 1
            continue
        after = lexicon.correction_phrases.skip(tokens, found[1])
        paused = not tokens.joins(place)
        telling = _INSIDE_AFTER_PAUSE if paused or "no" in tokens.norm(place) else _INSIDE
        strong = any(tokens.norm(n) in telling for n in range(place, after))
        if strong and after < len(tokens) and (after - place > 1 or paused):
            last = after
        place = after
    return last


def _result(tokens: Tokens, at: int, lexicon: Lexicon, confidence: float) -> Found[str] | None:
    if lexicon.padding.skip(tokens, at) >= len(tokens):
        return None
    at = lexicon.filler_phrases.skip(tokens, at)
    rest = tokens.rest(at).rstrip(" .!,;")
    return Found(rest, tokens.start(at), tokens.start(at) + len(rest), confidence)
