"""What to believe of a small recognizer: guards against its inventions, and short words weighed.

Owns the rules that stand between ``moonshine``'s text and the floor; pure. Strong engines need none
of them. Whether believed words interrupt anybody is the floor's matter.

Given sound without words, the model writes words all the same: "You", "Thank you for watching.", a
sentence over and over. The probabilities it gives them tell most of these, not all; so there are a
list, a test for loops, and a limit by how long the caller's voice lasted.

Given a short "uh-huh" it writes "Ava.". So for short sounds the likely phrases are weighed by the
model itself, against the same sound: where a backchannel is nearly as likely as the text, and no
phrase that interrupts is likelier, the caller said a backchannel.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from voice.floor.events import Verdict

__all__ = [
    "BACKCHANNELS",
    "INTERRUPTS",
    "WITHIN_NATS",
    "Believed",
    "Weighed",
    "believe_final",
    "believe_partial",
    "is_weighable",
    "most_tokens",
    "plain_words",
    "unlooped",
    "weigh",
]

BACKCHANNELS: Final = (
    "Okay",
    "Yeah",
    "Yep",
    "Yes",
    "Right",
    "Sure",
    "Uh-huh",
    "Mm-hmm",
    "Mm",
    "Hmm",
    "Oh",
    "Ah",
    "Got it",
    "I see",
    "All right",
    "Great",
    "Good",
    "Oh, okay",
    "Oh, yeah",
    "Yeah, okay",
)
"""Phrases with which a listener shows that they listen, as the model writes them."""

INTERRUPTS: Final = (
    "Stop",
    "Wait",
    "No",
    "Hold on",
    "Excuse me",
    "Sorry",
    "What",
    "Hello",
    "Actually",
    "But",
)
"""Short phrases with which a caller takes the floor."""

_FALSE_ALONE: Final = frozenset(
    {
        "you",
        "the",
        "so",
        "and",
        "i",
        "a",
        "thanks for watching",
        "thank you for watching",
        "thank you so much for watching",
        "bye",
        "bye bye",
        "subscribe",
        "music",
        "applause",
    }
)
"""What the model writes for sound without words."""
_FALSE_UNLESS_SURE: Final = frozenset(
    {"thank you", "thank you very much", "i'm sorry", "i don't know"}
)
"""The same, but callers say these too."""
_SURE_LOGPROB: Final = -0.3
_SURE_VOICED_MS: Final = 300

_GARBLE_LOGPROB: Final = -0.5
"""A lone word under this is hardly the one that was said."""
_DOUBTFUL_LOGPROB: Final = -0.7
"""Under this, a short text is dropped and a long one is marked uncertain."""
_HOPELESS_LOGPROB: Final = -1.0
_SHORT_MS: Final = 900
_SHORT_WORDS: Final = 3
_MS_A_WORD: Final = 60
_SPARE_MS: Final = 400
_DISTINCT_LEAST: Final = 3
_ECHOES: Final = 3
"""One word so many times and nothing else is one word."""
_LOOP_WORDS: Final = 4
"""So many words said twice over, one after the other, are a loop; callers repeat fewer."""
_DIGITS: Final = frozenset(
    ("oh", "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "double")
)
WITHIN_NATS: Final = 5.0
_INSTEAD_NATS: Final = 3.5

_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
_NOT_SPEECH: Final = re.compile(r"[\u2669-\u266f]|\[[^\]]*\]|\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Believed:
    """What is left of a text, and what the floor should know with it."""

    text: str
    verdict: Verdict = "words"
    uncertain: bool = False


@dataclass(frozen=True, slots=True)
class Weighed:
    """The likeliest phrase of each kind, in nats; None where none was near enough to be scored."""

    greedy: float
    backchannel: tuple[float, str] | None
    interrupt: tuple[float, str] | None


def most_tokens(sound_s: float) -> int:
    """How many tokens so much sound can hold: what goes on longer is a loop."""
    return int(6.5 * sound_s) + 8


def plain_words(text: str) -> list[str]:
    """The words of a text, lower case, without marks."""
    return _WORD.findall(text.lower().replace("\u2019", "'"))


def unlooped(text: str) -> str:
    """Say a word once that the model wrote over and over, as it does for a short loud "no".

    Digits stay: callers dictate them again and again.
    """
    words = plain_words(text)
    if len(words) < _ECHOES or len(set(words)) > 1 or words[0] in _DIGITS or words[0].isdigit():
        return text
    return f"{words[0].capitalize()}."


def is_weighable(text: str, voiced_ms: int) -> bool:
    """Whether a text is so short that its phrase should be weighed."""
    words = plain_words(text)
    if voiced_ms >= _SHORT_MS or len(words) > _SHORT_WORDS:
        return False
    return bool(words) and " ".join(words) not in _KNOWN


def weigh(text: str, voiced_ms: int, weighed: Weighed | None) -> tuple[Verdict, str]:
    """Judge a short text: what it is, and the phrase that was most likely meant."""
    words = plain_words(text)
    joined = " ".join(words)
    if joined in _INTERRUPT_WORDS or not words:
        return "words", text
    if joined in _BACKCHANNEL_WORDS or all(word in _BACKCHANNEL_WORDS for word in words):
        return "backchannel", text
    if weighed is None or weighed.backchannel is None:
        return "words", text
    score, phrase = weighed.backchannel
    meant = plain_words(phrase)
    if len(words) > len(meant) and words[: len(meant)] == meant:
        # "Yes" is likely for "Yes, please" since it begins it, not since it is all that was said.
        return "words", text
    least = weighed.greedy - WITHIN_NATS
    if weighed.interrupt is not None:
        least = max(least, weighed.interrupt[0])
    if score < least:
        return "words", text
    # The nearer phrase is the better text only where it is nearly as likely: half a sentence that
    # was cut short resembles an "ah" as well.
    return "backchannel", f"{phrase}." if score >= weighed.greedy - _INSTEAD_NATS else text


def believe_final(text: str, logprob: float, voiced_ms: int, weighed: Weighed | None) -> Believed:
    """Judge a final text by its mean log-probability a token and how long the voice lasted."""
    words = plain_words(text)
    if _is_invented(text, words, logprob, voiced_ms):
        return Believed("")
    if voiced_ms < _SHORT_MS:
        verdict, phrase = weigh(text, voiced_ms, weighed)
        if verdict == "backchannel":
            return Believed(phrase, verdict)
        if logprob < _DOUBTFUL_LOGPROB:
            return Believed("")
        lone = len(words) == 1 and logprob < _GARBLE_LOGPROB and words[0] not in _INTERRUPT_WORDS
        return Believed(text, "garble" if lone else "words")
    if logprob < _HOPELESS_LOGPROB:
        return Believed("")
    return Believed(text, uncertain=logprob < _DOUBTFUL_LOGPROB)


def believe_partial(text: str, logprob: float, voiced_ms: int, weighed: Weighed | None) -> Believed:
    """Judge a text that may grow: more is let through, less is concluded."""
    if logprob < _HOPELESS_LOGPROB or _is_invented(text, plain_words(text), logprob, voiced_ms):
        return Believed("")
    verdict, _ = weigh(text, voiced_ms, weighed)
    return Believed(text, verdict)


def _is_invented(text: str, words: Sequence[str], logprob: float, voiced_ms: int) -> bool:
    if not words or _NOT_SPEECH.search(text):
        return True
    joined = " ".join(words)
    if joined in _FALSE_ALONE:
        return True
    if joined in _FALSE_UNLESS_SURE:
        return logprob < _SURE_LOGPROB or voiced_ms < _SURE_VOICED_MS
    if len(words) * _MS_A_WORD > voiced_ms + _SPARE_MS:
        return True
    return _loops(words)


def _loops(words: Sequence[str]) -> bool:
    """Whether the text goes round in circles; dictated digits may."""
    said = [word for word in words if word not in _DIGITS and not word.replace("-", "").isdigit()]
    if len(said) >= 6 and len(set(said)) * _DISTINCT_LEAST <= len(said):
        return True
    for length in range(_LOOP_WORDS, len(said) // 2 + 1):
        for at in range(len(said) - 2 * length + 1):
            if said[at : at + length] == said[at + length : at + 2 * length]:
                return True
    return False


_BACKCHANNEL_WORDS: Final = frozenset(" ".join(plain_words(phrase)) for phrase in BACKCHANNELS)
_INTERRUPT_WORDS: Final = frozenset(" ".join(plain_words(phrase)) for phrase in INTERRUPTS)
_KNOWN: Final = _BACKCHANNEL_WORDS | _INTERRUPT_WORDS
