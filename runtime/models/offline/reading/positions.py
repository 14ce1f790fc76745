"""Places in a list: "the second one", "number two", "the last".

Owns when such a word counts: it must stand as a place, not as in "the last time" or "first of all".
"""

from dataclasses import dataclass

from runtime.models.offline.reading.lexicon import Lexicon
from runtime.models.offline.reading.numbers import below_hundred, numeral
from runtime.models.offline.reading.tokens import Tokens

__all__ = ["Place", "read_positions"]

_MOST_WORDS = 60
_BEFORE = frozenset("the my that's its it's is say take be yes yeah ok okay no not very".split())
"""What may stand before a place; also nothing, or what only leads in."""
_AFTER = frozenset({"one", "ones", "option", "choice", "in", "on", "you", "and", "not", "or"})
_OF = frozenset({"the", "them", "those", "these", "your"})


@dataclass(frozen=True, slots=True)
class Place:
    """One place that was named."""

    index: int
    """In the list, from 0."""
    at: int
    """The token."""
    is_among: bool = False
    """A word of a label follows: "the second gold one"."""


def read_positions(
    tokens: Tokens, count: int, lexicon: Lexicon, vocabulary: frozenset[str]
) -> list[Place]:
    """Find the places of a list of ``count`` that were named, each once, in order.

    Args:
        tokens: What was said.
        count: How many are on the list.
        lexicon: The language.
        vocabulary: Words of the labels: a place may stand before them ("the second card"), and one
            that is itself in a label is none ("first class").
    """
    places: dict[int, Place] = {}
    for at in range(min(len(tokens), _MOST_WORDS)):
        word = tokens.norm(at)
        place, among = None, False
        if word in lexicon.number_nouns:
            place = _numbered(tokens, at + 1, lexicon)
        elif word in lexicon.positions and word not in vocabulary:
            place = lexicon.positions[word] if _is_place(tokens, at, lexicon, vocabulary) else None
            after = tokens.norm(at + 1)
            among = after in vocabulary and after not in lexicon.choice_noise
        if place is not None and 0 < abs(place) <= count:
            index = place - 1 if place > 0 else count + place
            places.setdefault(index, Place(index, at, among))
    return [places[index] for index in sorted(places)]


def _numbered(tokens: Tokens, at: int, lexicon: Lexicon) -> int | None:
    """Read the "two" of "number two"; no longer number begins with it."""
    named = below_hundred(tokens, at, lexicon)
    if named is None:
        number = numeral(tokens.words[at], lexicon) if at < len(tokens) else None
        named = (number, at + 1) if isinstance(number, int) else None
    if named is None:
        return None
    goes_on = tokens.joins(named[1]) and below_hundred(tokens, named[1], lexicon) is not None
    return None if goes_on else named[0]


def _is_place(tokens: Tokens, at: int, lexicon: Lexicon, vocabulary: frozenset[str]) -> bool:
    before, after = tokens.norm(at - 1), tokens.norm(at + 1)
    led = lexicon.lead_phrases.skip(tokens, 0) >= at
    begins = at == 0 or led or not tokens.joins(at)
    if not begins and before not in _BEFORE:
        return False
    if tokens.norm(at - 2) in lexicon.bounds or before in lexicon.bounds:
        return False
    if not tokens.joins(at + 1) or lexicon.padding.skip(tokens, at + 1) > at + 1:
        return True
    if after == "of":
        return tokens.norm(at + 2) in _OF
    return after in _AFTER or after in vocabulary
