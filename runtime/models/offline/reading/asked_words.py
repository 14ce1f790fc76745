"""What a question says beside the answers that it offers.

"By standard post, in five working days, or by express, in two?" gives "post", "five working days"
to standard and "two" to express. Owns which of its words belong to which answer.
"""

from collections.abc import Sequence
from dataclasses import replace

from runtime.models.offline.reading.english import ENGLISH
from runtime.models.offline.reading.found import Choice
from runtime.models.offline.reading.lexicon import Lexicon
from runtime.models.offline.reading.wording import Word, worded

__all__ = ["with_question"]

_MOST_CHARS = 600
_PAUSES = frozenset(",;:\u2013\u2014")
_ENDS = frozenset(".!?")
_MOST_CHOICES = 8
_Part = tuple[list[Word], bool, str]
"""Words, whether "or" begins them, and their text."""


def with_question(
    choices: Sequence[Choice], question: str, lexicon: Lexicon = ENGLISH
) -> tuple[Choice, ...]:
    """Return the choices with the words of the question that stand for each.

    A part of the question belongs to the choice that is named in it, or in the part before; where
    one choice is not named at all and one part names none, the two belong together ("or did it
    never arrive?"). Nothing is given away where that is not certain.
    """
    given = tuple(choices)
    if not 1 < len(given) <= _MOST_CHOICES or not question or not lexicon.alternative:
        return given
    parts = _parts(question, lexicon)
    own_words = [_own_words(choice, lexicon) for choice in given]
    named = [
        [k for k, own in enumerate(own_words) if own & {_key(w) for w in words}]
        for words, _, _ in parts
    ]
    if any(len(found) > 1 for found in named):
        return given
    where = [
        next((n for n, found in enumerate(named) if k in found), None) for k in range(len(given))
    ]
    unnamed = [k for k, place in enumerate(where) if place is None]
    if not unnamed:
        return _following(given, parts, [n for n in where if n is not None])
    first = min((n for n in where if n is not None), default=len(parts))
    free = [n for n, found in enumerate(named) if not found and parts[n][1] and n > first]
    if len(unnamed) != 1 or len(free) != 1:
        return given
    own = " ".join(text for _, _, text in parts[free[0] :])
    if any(named[free[0] :]):
        own = parts[free[0]][2]
    return tuple(replace(c, asked_with=own) if k == unnamed[0] else c for k, c in enumerate(given))


def _following(
    choices: tuple[Choice, ...], parts: list[_Part], where: list[int]
) -> tuple[Choice, ...]:
    """Give each choice what follows its name, up to the part that names another one."""
    result: list[Choice] = []
    for choice, place in zip(choices, where, strict=True):
        after = min((n for n in where if n > place), default=len(parts))
        texts = [text for _, _, text in parts[place + 1 : after]]
        result.append(
            replace(choice, asked_with=" ".join([_rest(parts[place][2], choice), *texts]))
        )
    return tuple(result)


def _rest(text: str, choice: Choice) -> str:
    """What follows the name of a choice in its own part."""
    folded = text.casefold()
    for label in choice.labels:
        at = folded.find(label.casefold().replace("_", " "))
        if label and at >= 0:
            return text[at + len(label) :].strip()
    return ""


def _parts(question: str, lexicon: Lexicon) -> list[_Part]:
    """Cut the last question at its pauses and at each "or"."""
    told = worded(question[-_MOST_CHARS:], lexicon, loose=False)
    tokens = told.tokens
    begin = 0
    for n in range(1, len(tokens)):
        if _ENDS & set(tokens.words[n].before):
            begin = n
    parts: list[_Part] = []
    words: list[Word] = []
    first, is_or = begin, False
    for n in range(begin, len(tokens) + 1):
        ends = n == len(tokens)
        cut = not ends and n > begin and bool(_PAUSES & set(tokens.words[n].before))
        alternative = not ends and tokens.norm(n) == lexicon.alternative
        if (ends or cut or alternative) and n > first:
            text = tokens.text[tokens.start(first) : tokens.end(n)]
            words = [w for w in told.words if first <= w.at < n]
            parts.append((words, is_or, text))
            is_or = False
        if cut or alternative:
            first = n + alternative
            is_or = is_or or alternative
    return parts


def _own_words(choice: Choice, lexicon: Lexicon) -> frozenset[tuple[str, bool]]:
    """The telling words of a choice's labels."""
    plain = dict.fromkeys(label.replace("_", " ") for label in choice.labels)
    told = [worded(label, lexicon, loose=False, label=True).words for label in plain]
    return frozenset(_key(w) for words in told for w in words if _is_telling(w, lexicon))


def _key(word: Word) -> tuple[str, bool]:
    return word.form, word.is_denied


def _is_telling(word: Word, lexicon: Lexicon) -> bool:
    return not word.is_cue and word.said not in lexicon.choice_noise
