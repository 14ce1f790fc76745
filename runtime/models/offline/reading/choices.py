"""Which of several answers on offer was meant.

Owns the weighing of a caller's words against the labels of the choices: by the label itself, by
position, by digits in it, by a word that only one has, and by likeness.
"""

import re
from collections.abc import Sequence

from rapidfuzz import fuzz

from runtime.agent import Json
from runtime.models.offline.reading.corrections import is_correction
from runtime.models.offline.reading.digits import read_digits
from runtime.models.offline.reading.english import ENGLISH
from runtime.models.offline.reading.found import Choice, ChoiceReading, Found
from runtime.models.offline.reading.lexicon import Lexicon
from runtime.models.offline.reading.numbers import below_hundred, numeral
from runtime.models.offline.reading.tokens import Tokens, tokenize

__all__ = ["read_choice", "weigh_choices"]

_MOST_CHOICES = 200
_MOST_WORDS = 60
_LIKE = 84
"""Likeness, 0..100, from which a word is taken for a label's."""
_WHOLE = 78
_MARGIN = 10


def read_choice(
    text: str, choices: Sequence[Choice], lexicon: Lexicon = ENGLISH
) -> Found[Json] | None:
    """Return the value of the one choice that was meant, None for none or several."""
    return weigh_choices(text, choices, lexicon).found


def weigh_choices(
    text: str, choices: Sequence[Choice], lexicon: Lexicon = ENGLISH
) -> ChoiceReading:
    """Find the choice that was meant, or those between which the words do not decide.

    Read are: a label or a word that only one has ("the gold one"), a position ("the second one",
    "number two", "the last"), digits of a label in words ("the one ending in forty two"), and a
    label heard badly. No more than the first 200 choices and 60 words are looked at.
    """
    choices = choices[:_MOST_CHOICES]
    corrected = is_correction(text, lexicon)
    if corrected is not None:
        inner = _weigh(corrected.value, choices, lexicon)
        if inner.found is not None:
            shift = corrected.start
            one = inner.found
            return ChoiceReading(
                Found(one.value, one.start + shift, one.end + shift, one.confidence)
            )
    return _weigh(text, choices, lexicon)


def _weigh(text: str, choices: Sequence[Choice], lexicon: Lexicon) -> ChoiceReading:
    tokens = tokenize(text)
    said = _words(tokens, lexicon)[:_MOST_WORDS]
    if not said or not choices:
        return ChoiceReading(None)
    labels = [[_words(tokenize(_plain(x)), lexicon) for x in c.labels] for c in choices]
    whole = (0, len(tokens.text))
    several: list[int] = []
    for fitting, confidence in (
        (_by_label(said, labels), 0.95),
        (_by_word(said, labels, lexicon), 0.85),
        (_by_position(tokens, len(choices), lexicon), 0.9),
        (_by_digits(text, choices, lexicon), 0.85),
        (_by_likeness(said, labels, lexicon), 0.6),
    ):
        if len(fitting) == 1:
            return ChoiceReading(Found(choices[fitting[0]].value, *whole, confidence))
        if len(fitting) > 1 and not several:
            several = fitting
    return ChoiceReading(None, tuple(choices[n] for n in several))


def _plain(label: str) -> str:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", label[:500])
    return spaced.replace("_", " ").replace("-", " ")


def _words(tokens: Tokens, lexicon: Lexicon) -> list[str]:
    """The words, numbers among them as digits."""
    words: list[str] = []
    at = 0
    while at < len(tokens):
        small = below_hundred(tokens, at, lexicon)
        if small is not None:
            words.append(str(small[0]))
            at = small[1]
            continue
        value = numeral(tokens.words[at], lexicon)
        word = tokens.norm(at) if value is None else str(value)
        words.append(word.removesuffix("'s"))
        at += 1
    return words


def _by_label(said: list[str], labels: list[list[list[str]]]) -> list[int]:
    """Choices with a label that stands in the words as it is, the longest ones only."""
    # "1" is also what is left of "the gold one".
    alone = len(said) == 1
    sizes: dict[int, int] = {}
    for n, ways in enumerate(labels):
        for words in ways:
            if words and _contains(said, words) and (words != ["1"] or alone):
                sizes[n] = max(sizes.get(n, 0), len(words))
    if not sizes:
        return []
    return _maximal(sizes, labels)


def _maximal(sizes: dict[int, int], labels: list[list[list[str]]]) -> list[int]:
    """Leave out a choice whose label is only a part of another's: gold beside gold plus."""
    longest = max(sizes.values())
    top = [n for n, size in sizes.items() if size == longest]
    kept = list(top)
    for n, size in sizes.items():
        if size == longest:
            continue
        inside = any(
            _contains(whole, part) for m in top for whole in labels[m] for part in labels[n] if part
        )
        if not inside:
            kept.append(n)
    return sorted(kept)


def _contains(said: list[str], words: list[str]) -> bool:
    size = len(words)
    return any(said[n : n + size] == words for n in range(len(said) - size + 1))


def _by_word(said: list[str], labels: list[list[list[str]]], lexicon: Lexicon) -> list[int]:
    """Choices that share the most telling words with what was said."""
    owners: dict[str, set[int]] = {}
    for n, ways in enumerate(labels):
        for words in ways:
            for word in words:
                if word not in lexicon.choice_noise:
                    owners.setdefault(word, set()).add(n)
    scores: dict[int, float] = {}
    for heard in dict.fromkeys(said):
        if heard in lexicon.choice_noise or heard == "1":
            continue
        word = heard if heard in owners else _alike(heard, owners)
        if word is None:
            continue
        for n in owners[word]:
            scores[n] = scores.get(n, 0) + 1 / len(owners[word])
    if not scores:
        return []
    best = max(scores.values())
    return sorted(n for n, score in scores.items() if score > best - 0.25)


def _alike(heard: str, owners: dict[str, set[int]]) -> str | None:
    if len(heard) < 4 or heard.isdigit():
        return None
    like = [(fuzz.ratio(heard, word), word) for word in owners if abs(len(word) - len(heard)) < 3]
    best = max(like, default=(0, ""))
    return best[1] if best[0] >= _LIKE else None


def _by_position(tokens: Tokens, count: int, lexicon: Lexicon) -> list[int]:
    """Read "the second one", "number two", "the last"."""
    places: list[int] = []
    for at in range(min(len(tokens), _MOST_WORDS)):
        word = tokens.norm(at)
        place = lexicon.positions.get(word)
        if word in lexicon.number_nouns:
            named = below_hundred(tokens, at + 1, lexicon)
            number = numeral(tokens.words[at + 1], lexicon) if at + 1 < len(tokens) else None
            place = named[0] if named else number if isinstance(number, int) else None
        elif place is not None and tokens.norm(at - 1) in ("one", "a", "just", "wait"):
            place = None  # "one second"
        if place is not None and 0 < abs(place) <= count:
            places.append(place - 1 if place > 0 else count + place)
    return sorted(set(places))


def _by_digits(text: str, choices: Sequence[Choice], lexicon: Lexicon) -> list[int]:
    """Choices whose label has the digits that were said, at its end before elsewhere."""
    found = read_digits(text, lexicon=lexicon)
    if found is None or len(found.value) < 2:
        return []
    held = [
        ["".join(char for char in label if char.isdecimal()) for label in choice.labels]
        for choice in choices
    ]
    ending = [n for n, ways in enumerate(held) if any(w.endswith(found.value) for w in ways)]
    return ending or [n for n, ways in enumerate(held) if any(found.value in w for w in ways)]


def _by_likeness(said: list[str], labels: list[list[list[str]]], lexicon: Lexicon) -> list[int]:
    heard = " ".join(word for word in said if word not in lexicon.choice_noise)
    if len(heard) < 4:
        return []
    scores = [
        max((fuzz.ratio(heard, " ".join(words)) for words in ways), default=0) for ways in labels
    ]
    best = max(scores)
    if best < _WHOLE:
        return []
    return [n for n, score in enumerate(scores) if score > best - _MARGIN]
