"""Words and their stems, and whether a sentence is a question.

Owns what two texts are compared by. Which words say nothing is ``runtime.knowledge.query_words``.
"""

import importlib
from collections.abc import Callable
from functools import lru_cache
from typing import Literal, Protocol, cast

from runtime.knowledge.query_words import content_words
from runtime.models.offline.reading.tokens import Tokens, tokenize

__all__ = [
    "MOST_CHARS",
    "QuestionKind",
    "asked_part",
    "plain",
    "question_kind",
    "stems",
    "stop_free",
]

MOST_CHARS = 1000
"""Of what was said; nobody says more in a turn that could be understood without a model."""

QuestionKind = Literal["open", "closed", "marked"]
"""``open``: how, what, when; ``closed``: can, do, is; ``marked``: a question mark alone."""

_OPEN = frozenset(
    """what what's whats when when's where where's wheres who who's whose which why how how's how'd
    how'll what're""".split()
)
_CLOSED = frozenset(
    """can could do does did is are will would may should has have am was were isn't aren't don't
    doesn't can't won't""".split()
)
_SUBJECTS = frozenset(
    """i you we they he she it there the a an my your our this that these those anyone anybody
    someone any its their it's""".split()
)
_BEFORE = frozenset(
    """um uh er erm hm hmm ah oh well so and but ok okay yes yeah no sorry please hi hello hey wait
    actually also then now just first good morning afternoon evening excuse me thanks quick question
    quickly alright right one more thing""".split()
)
_ASKS = (
    "tell me",
    "can you tell me",
    "could you tell me",
    "do you know",
    "i want to know",
    "i wanted to know",
    "i'd like to know",
    "i would like to know",
    "i was wondering",
    "i'm wondering",
    "i wonder",
    "i have a question",
    "i've got a question",
    "i'm not sure",
    "by the way",
)
_OFFERS = (("what", "about"), ("how", "about"))
_MOST_BEFORE = 12


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str:
        """Return the stem."""
        ...


@lru_cache(maxsize=8)
def _stemmer(language: str) -> _Stemmer | None:
    """The Snowball stemmer of a language, loaded when it is first needed."""
    # By its name: the package has no types.
    make = cast(Callable[[str], _Stemmer], importlib.import_module("snowballstemmer").stemmer)
    names = {
        "en": "english",
        "de": "german",
        "fr": "french",
        "es": "spanish",
        "it": "italian",
        "nl": "dutch",
        "pt": "portuguese",
    }
    name = names.get(language)
    return None if name is None else make(name)


@lru_cache(maxsize=8192)
def _stem(word: str, language: str) -> str:
    stemmer = _stemmer(language)
    return word if stemmer is None else stemmer.stemWord(word)


def stems(text: str, language: str) -> tuple[str, ...]:
    """Return the stems of the words that say something, each once, in order."""
    base = _base(language)
    words = content_words(text[:MOST_CHARS], base)
    return tuple(dict.fromkeys(_stem(word, base) for word in words))


def stop_free(text: str, language: str) -> bool:
    """Whether more than words that say nothing was said."""
    marker = "zq"  # a word of its own keeps the stop words from being all there is
    return len(content_words(f"{text[:MOST_CHARS]} {marker}", _base(language))) > 1


def plain(text: str) -> str:
    """Return the words in lower case without punctuation or apostrophes, a space between."""
    return " ".join(token.norm.replace("'", "") for token in tokenize(text[:MOST_CHARS]).words)


def question_kind(text: str) -> QuestionKind | None:
    """Tell what kind of question is asked, if any; by its first words in English, else its mark.

    "What about express?" offers an answer and is none; "how much is that" needs no question mark.
    """
    tokens = tokenize(text[:MOST_CHARS])
    at = _start(tokens)
    marked = "?" in tokens.tail
    if (tokens.norm(at), tokens.norm(at + 1)) in _OFFERS:
        return "marked" if marked else None
    if tokens.norm(at) in _OPEN:
        return "open"
    if tokens.norm(at) in _CLOSED and tokens.norm(at + 1) in _SUBJECTS:
        return "closed"
    inside = any(
        "?" in tokens.words[n].before and tokens.norm(_start(tokens, n)) in _OPEN
        for n in range(1, len(tokens))
    ) or any(
        tokens.norm(n) in _OPEN and set(tokens.words[n].before) & set(".?!;,")
        for n in range(1, len(tokens))
    )
    return "open" if inside and marked else "marked" if marked else None


def asked_part(text: str) -> str:
    """Return what follows greetings and fillers: of "wait, how much?", the "how much?"."""
    tokens = tokenize(text[:MOST_CHARS])
    return tokens.rest(_start(tokens))


def _start(tokens: Tokens, at: int = 0) -> int:
    """Pass over greetings, fillers and what asks to be told."""
    until = at + _MOST_BEFORE
    while at < min(len(tokens), until):
        asks = next((p for p in _ASKS if _stands(tokens, at, p)), None)
        if asks is not None:
            at += len(asks.split())
            if tokens.norm(at) == "if":  # "do you know if", "I was wondering whether"
                at += 1
            continue
        if tokens.norm(at) not in _BEFORE:
            break
        at += 1
    return at


def _stands(tokens: Tokens, at: int, phrase: str) -> bool:
    return all(tokens.norm(at + n) == word for n, word in enumerate(phrase.split()))


def _base(language: str) -> str:
    return language.replace("_", "-").partition("-")[0].casefold() or "en"
