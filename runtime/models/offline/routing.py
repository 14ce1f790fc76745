"""Which flow the caller's words mean.

Owns the scores: how much a flow's name, examples and description share with what was said, rare
words counting for more. Pure; what follows from a verdict is the rules'.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz

from runtime.models.offline.phrases import can_not, undoes
from runtime.models.offline.reading import lexicon_for
from runtime.models.offline.reading.denials import affirmed
from runtime.models.offline.reading.tokens import tokenize
from runtime.models.offline.words import MOST_CHARS, plain, stems, stop_free
from runtime.models.situation import FlowOption

__all__ = ["CERTAIN", "CLEAR", "MARGIN", "POSSIBLE", "Verdict", "route"]

CERTAIN = 0.75
"""From here on a flow is meant, also where something else was asked for."""
CLEAR = 0.5
POSSIBLE = 0.36
"""From here on it is worth asking whether it is meant."""
MARGIN = 0.1
"""Flows nearer to each other than this are told apart by the caller."""

_EXAMPLE_WORDS = 0.68
_EXAMPLE_LIKENESS = 0.32
_LEAST_LIKENESS = 0.6
_WHOLE = 0.78
"""What full coverage by a flow's words counts for: less than by one of its sentences."""
_ONE_SHARED = 0.5
_CONTAINED = 0.65
"""At least, for one of a flow's sentences word by word among others."""
_UNKNOWN = 0.3
"""What a word that no flow has weighs, against the rarest that one has."""
_MOST_UNKNOWN = 0.75
"""What all of them together weigh at most: who tells more does not want something else."""
_CAN_NOT = 0.15
"""What it adds that both say what can't be: "I can't come to my appointment"."""
_DENIED = 0.7
_MOST_PHRASES = 40
_WHEN = frozenset("next last this past coming time oclock about around early late".split())


@dataclass(frozen=True, slots=True)
class Verdict:
    """How well the flows fit."""

    best: FlowOption | None = None
    score: float = 0.0
    rivals: tuple[FlowOption, ...] = ()
    """Those that fit about as well, the best among them; empty when there is one alone."""


@dataclass(frozen=True, slots=True)
class _Phrase:
    text: str
    stems: frozenset[str]
    negates: bool
    denied: bool = False


@dataclass(frozen=True, slots=True)
class _Entry:
    flow: FlowOption
    phrases: tuple[_Phrase, ...]
    """Its name and its examples."""
    stems: frozenset[str]
    """Of all that is written about it."""
    undoes: bool
    """It says that something is cancelled, deleted or ended."""

    @property
    def negates(self) -> bool:
        """One of its sentences is of something that can't be."""
        return any(phrase.negates for phrase in self.phrases)


class _Catalogue:
    """Flows, ready to be compared."""

    def __init__(self, flows: Sequence[FlowOption], language: str) -> None:
        self._language = language
        self._entries = [_entry(flow, language) for flow in flows]
        count = Counter(stem for entry in self._entries for stem in entry.stems)
        total = len(self._entries)
        self._weights = {stem: math.log(1 + total / seen) for stem, seen in count.items()}
        self._rarest = math.log(1 + total)

    def scores(self, said: str) -> list[tuple[float, FlowOption]]:
        """Scores from 0 to 1, best first; the order of the offer among equals."""
        if not stop_free(said, self._language):
            return []
        heard = frozenset(stems(said, self._language))
        # When, and how many, does not tell what is wanted.
        values = frozenset(stems(" ".join(_values(said, self._language)), self._language))
        known = sum(self._weights.get(stem, 0.0) for stem in heard)
        strange = sum(stem not in self._weights for stem in heard - values)
        unknown = min(strange * _UNKNOWN, _MOST_UNKNOWN) * self._rarest
        text, is_undoing = plain(said), undoes(said)
        scored = [
            (
                self._unless_denied(entry, said, self._score(entry, heard, known + unknown, text)),
                entry.flow,
            )
            for entry in self._entries
            if entry.undoes or not is_undoing
        ]
        if can_not(text) and any(entry.negates for entry in self._entries):
            # "I can't make it to my appointment" makes none, where another flow is about that.
            fitting = {entry.flow for entry in self._entries if entry.negates}
            scored = [(s if flow in fitting else _DENIED * s, flow) for s, flow in scored]
        scored.sort(key=lambda one: -one[0])
        return scored

    def _unless_denied(self, entry: _Entry, said: str, score: float) -> float:
        kept = frozenset(stems(affirmed(said, lexicon_for(self._language)), self._language))
        if kept & entry.stems or any(
            p.denied and len(p.stems & frozenset(stems(said, self._language))) == len(p.stems)
            for p in entry.phrases
        ):
            return score
        if can_not(plain(said)) or not _denied(said, self._language):
            return score
        return min(score, CLEAR - 0.01)

    def _score(self, entry: _Entry, heard: frozenset[str], whole: float, text: str) -> float:
        if not whole:
            return 0.0
        shared = heard & entry.stems
        covered = sum(self._weights[stem] for stem in shared) / whole
        best = _WHOLE * covered if len(shared) > 1 else _ONE_SHARED * covered
        is_denied = can_not(text)
        for phrase in entry.phrases:
            common = heard & phrase.stems
            alike = fuzz.token_sort_ratio(text, phrase.text) / 100
            if not common and alike < 0.85:
                continue
            part = sum(self._weights[stem] for stem in common)
            all_of_it = sum(self._weights[stem] for stem in phrase.stems)
            fits = 2 * part / (whole + all_of_it) if part else 0.0
            likeness = alike if alike >= _LEAST_LIKENESS else 0.0
            alike_too = _CAN_NOT if common and is_denied and phrase.negates else 0.0
            best = max(best, _EXAMPLE_WORDS * fits + _EXAMPLE_LIKENESS * likeness + alike_too)
            if len(common) == len(phrase.stems) and f" {phrase.text} " in f" {text} ":
                best = max(best, _CONTAINED if " " in phrase.text else 0.0)
        return min(best, 1.0)


def route(said: str, flows: Sequence[FlowOption], language: str) -> Verdict:
    """Weigh the flows; references of the active prose are not what a caller asks for."""
    scored = _catalogue(tuple(f for f in flows if not f.is_reference), language).scores(said)
    if not scored or scored[0][0] < POSSIBLE:
        return Verdict()
    score, best = scored[0]
    near = tuple(flow for other, flow in scored if other > score - MARGIN and other >= POSSIBLE)
    # Same wording at full likeness in two flows is ambiguous too; being near a certain one is not.
    if score >= 0.97 and (len(scored) < 2 or scored[1][0] < 0.97):
        near = ()
    return Verdict(best, score, near if len(near) > 1 else ())


@lru_cache(maxsize=64)
def _catalogue(flows: tuple[FlowOption, ...], language: str) -> _Catalogue:
    return _Catalogue(flows, language)


def _entry(flow: FlowOption, language: str) -> _Entry:
    texts = (flow.name, *flow.examples[:_MOST_PHRASES])
    phrases = tuple(
        _Phrase(
            plain(text),
            frozenset(stems(text, language)),
            can_not(plain(text)),
            _denied(text, language),
        )
        for text in texts
    )
    about = frozenset(stems(flow.description, language)) if flow.description else frozenset[str]()
    return _Entry(
        flow,
        phrases,
        about.union(*(phrase.stems for phrase in phrases)),
        any(undoes(text) for text in (*texts, flow.description)),
    )


def _denied(text: str, language: str) -> bool:
    kept = frozenset(stems(affirmed(text, lexicon_for(language)), language))
    return kept != frozenset(stems(text, language))


def _values(said: str, language: str) -> list[str]:
    """The words of days, times and numbers."""
    words = lexicon_for(language)
    known = {
        *words.months, *words.weekdays, *words.units, *words.teens, *words.tens, *words.ordinals,
        *words.periods, *words.clock_words, *words.day_parts, *_WHEN,
    }  # fmt: skip
    known.update(word for phrase in words.day_words for word in phrase.split())
    return [
        token.norm
        for token in tokenize(said[:MOST_CHARS]).words
        if token.kind != "word" or token.norm in known
    ]
