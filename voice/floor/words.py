"""Which words count: lists of a language, and how far a transcript is to be believed.

Owns normalisation, the backchannel, presence and interrupt lists (English), known hallucinations
and the rules that turn one transcript into one judgement. What a judgement leads to in which state
is ``turns``; whether the words are the agent's own coming back is ``echo``.
"""

import re
import unicodedata
from dataclasses import dataclass
from enum import Enum
from typing import Final

from runtime.agent import InterruptionSettings
from voice.floor.events import Transcribed

_NOT_SPOKEN: Final = re.compile(r"\[[^\]]*\]|\([^)]*\)|<[^>]*>|\u266a[^\u266a]*\u266a?")
_TOKEN: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")

Tokens = tuple[str, ...]

BACKCHANNEL_WORDS: Final = frozenset(
    "okay ok yeah yep yup yes right sure great perfect good cool nice fine mhm mm hmm hm um uh ah"
    " aha oh wow really exactly alright absolutely definitely true correct uhuh mmhmm".split()
)
BACKCHANNEL_PHRASES: Final = (
    "uh huh",
    "mm hmm",
    "mm hm",
    "i see",
    "got it",
    "all right",
    "of course",
    "makes sense",
    "that makes sense",
    "sounds good",
    "sounds great",
    "that's great",
    "that's good",
    "that's right",
    "that's fine",
    "oh really",
    "i know",
    "thank you",
    "you know",
)
INTERRUPT_WORDS: Final = frozenset(
    "stop wait no nope hold hang excuse sorry actually cancel but what why how when where who which"
    " help operator agent human person representative quiet enough wrong not don't can't repeat"
    " again question hello".split()
)
PRESENCE_PHRASES: Final = (
    "hello",
    "hello hello",
    "hey hello",
    "are you there",
    "are you still there",
    "you there",
    "still there",
    "you still there",
    "anyone there",
    "anybody there",
    "is anyone there",
    "is anybody there",
    "is someone there",
    "can you hear me",
    "do you hear me",
    "are you with me",
)
_HOLLOW: Final = frozenset("a the um uh ah oh hmm hm mm mhm".split())
"""Carry no content by themselves: don't help an embedded engine to be believed."""
_GHOSTS: Final = frozenset(
    {
        ("you",),
        ("the",),
        ("so",),
        ("and",),
        ("thanks", "for", "watching"),
        ("thank", "you", "for", "watching"),
        ("i", "don't", "know"),
    }
)
"""What small models write for noise."""
_POLITE_GHOSTS: Final = frozenset({("thank", "you"), ("i", "don't", "know")})

_SURE_INTERRUPT_LOGPROB: Final = -0.5
_SURE_INTERRUPT_MS: Final = 240
_SURE_PARTIAL_LOGPROB: Final = -1.0
_SURE_PARTIAL_MS: Final = 500
_SURE_WORD_LOGPROB: Final = -0.3
_LONG_MS: Final = 900
_DOUBTFUL_LOGPROB: Final = -1.2
_MS_A_WORD: Final = 60
_GRACE_MS: Final = 400


class Kind(Enum):
    """What was heard, for the state table."""

    NOISE = "noise"
    """No words: blank, a known hallucination, a text that repeats itself."""
    BACKCHANNEL = "backchannel"
    PRESENCE = "presence"
    WORDS = "words"
    UNSURE = "unsure"
    """Words that can't be believed yet: more of the utterance has to come."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One transcript, judged without regard to who is speaking."""

    kind: Kind
    reason: str
    """Category for the log; never a word of the caller's."""
    tokens: Tokens


def tokens_of(text: str) -> Tokens:
    """Split into bare lower-case words; marks, brackets, music and invisible characters vanish."""
    if not text:
        return ()
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
        text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return tuple(_TOKEN.findall(_NOT_SPOKEN.sub(" ", text.lower())))


class Lexicon:
    """The lists of one call: the author's where given, else the packaged ones."""

    __slots__ = (
        "_backchannels",
        "_interrupt_phrases",
        "_interrupt_words",
        "_longest",
        "_min_words",
        "_prefixes",
        "_presence",
    )

    def __init__(self, settings: InterruptionSettings) -> None:
        phrases = settings.backchannels
        if phrases is None:
            phrases = (*sorted(BACKCHANNEL_WORDS), *BACKCHANNEL_PHRASES)
        self._backchannels = {t for t in map(tokens_of, phrases) if t}
        self._prefixes = {t[:n] for t in self._backchannels for n in range(1, len(t))}
        self._longest = max((len(t) for t in self._backchannels), default=0)
        interrupts = settings.interrupt_words
        given = [
            t for t in map(tokens_of, INTERRUPT_WORDS if interrupts is None else interrupts) if t
        ]
        self._interrupt_words = frozenset(t[0] for t in given if len(t) == 1)
        self._interrupt_phrases = tuple(sorted({t for t in given if len(t) > 1}))
        self._presence = {tokens_of(phrase) for phrase in PRESENCE_PHRASES}
        self._min_words = max(1, settings.min_words)

    def is_backchannel(self, tokens: Tokens, *, beginnings: bool = True) -> bool:
        """Whether nothing but backchannels was said, the last perhaps only begun."""
        at = 0
        while at < len(tokens):
            for length in range(min(self._longest, len(tokens) - at), 0, -1):
                if tokens[at : at + length] in self._backchannels:
                    at += length
                    break
            else:
                return beginnings and tokens[at:] in self._prefixes
        return bool(tokens)

    def is_presence(self, tokens: Tokens) -> bool:
        """Whether the caller only asks if somebody is there."""
        if tokens in self._presence:
            return True
        return len(tokens) > 1 and tokens[0] == "hello" and self.is_presence(tokens[1:])

    def begins_presence(self, tokens: Tokens) -> bool:
        """Whether the words may still become such a question."""
        return any(phrase[: len(tokens)] == tokens for phrase in self._presence)

    def interrupts(self, tokens: Tokens) -> bool:
        """Whether an interrupt word or phrase is among the words."""
        return not self._interrupt_words.isdisjoint(tokens) or any(
            tokens[at : at + len(phrase)] == phrase
            for phrase in self._interrupt_phrases
            for at in range(len(tokens) - len(phrase) + 1)
        )

    def content(self, tokens: Tokens) -> int:
        """How many words are neither backchannels nor hollow."""
        return sum(
            1 for word in tokens if (word,) not in self._backchannels and word not in _HOLLOW
        )

    def judge(self, heard: Transcribed, *, strong: bool) -> Judgement:
        """Say what a transcript is. ``strong`` engines are believed word for word."""
        tokens = tokens_of(heard.text)
        if not tokens:
            return Judgement(Kind.NOISE, "no_words", tokens)
        if _is_loop(tokens, 8 if strong else 6):
            return Judgement(Kind.NOISE, "repeats_itself", tokens)
        if not strong and (ghost := _ghost_reason(heard, tokens)):
            return Judgement(Kind.NOISE, ghost, tokens)
        if self.is_presence(tokens):
            return self._presence_judgement(heard, tokens, strong)
        if self.is_backchannel(tokens) or heard.verdict == "backchannel":
            return Judgement(Kind.BACKCHANNEL, "backchannel", tokens)
        if not heard.final and self.begins_presence(tokens):
            return Judgement(Kind.UNSURE, "may_ask_for_presence", tokens)
        if strong:
            return self._enough(tokens, "word")
        if heard.verdict == "garble":
            return Judgement(Kind.BACKCHANNEL, "garble", tokens)
        if heard.final:
            return self._judge_final(heard, tokens)
        return self._judge_partial(heard, tokens)

    def _presence_judgement(self, heard: Transcribed, tokens: Tokens, strong: bool) -> Judgement:
        if not strong and not heard.final and heard.logprob < _SURE_INTERRUPT_LOGPROB:
            return Judgement(Kind.UNSURE, "unsure_partial", tokens)
        return Judgement(Kind.PRESENCE, "presence", tokens)

    def _judge_partial(self, heard: Transcribed, tokens: Tokens) -> Judgement:
        if (
            self.interrupts(tokens)
            and heard.logprob >= _SURE_INTERRUPT_LOGPROB
            and heard.voiced_ms >= _SURE_INTERRUPT_MS
        ):
            return Judgement(Kind.WORDS, "interrupt_word", tokens)
        if (
            self.content(tokens) >= max(2, self._min_words)
            and heard.logprob >= _SURE_PARTIAL_LOGPROB
            and heard.voiced_ms >= _SURE_PARTIAL_MS
            and tokens[-1:] not in self._prefixes
        ):
            return Judgement(Kind.WORDS, "words", tokens)
        return Judgement(Kind.UNSURE, "unsure_partial", tokens)

    def _judge_final(self, heard: Transcribed, tokens: Tokens) -> Judgement:
        content = self.content(tokens)
        if self.interrupts(tokens) and heard.logprob >= _SURE_PARTIAL_LOGPROB:
            return Judgement(Kind.WORDS, "interrupt_word", tokens)
        if content >= self._min_words and (
            content >= 2
            or heard.logprob >= _SURE_WORD_LOGPROB
            or (heard.voiced_ms >= _LONG_MS and heard.logprob >= _SURE_PARTIAL_LOGPROB)
        ):
            return Judgement(Kind.WORDS, "words" if content >= 2 else "sure_word", tokens)
        return Judgement(Kind.BACKCHANNEL, "garble", tokens)

    def _enough(self, tokens: Tokens, reason: str) -> Judgement:
        if self.interrupts(tokens):
            return Judgement(Kind.WORDS, "interrupt_word", tokens)
        if self.content(tokens) < self._min_words and len(tokens) < self._min_words:
            return Judgement(Kind.UNSURE, "too_few_words", tokens)
        return Judgement(Kind.WORDS, reason, tokens)


def believable_turn(heard: Transcribed, judgement: Judgement, *, strong: bool) -> bool:
    """Whether these words may open a turn while nobody else speaks.

    Far milder than what interrupts: a backchannel is a turn, but a lone doubtful word is noise.
    """
    if judgement.kind is Kind.NOISE:
        return False
    if strong or len(judgement.tokens) > 1:
        return True
    return heard.logprob >= _DOUBTFUL_LOGPROB


def _is_loop(tokens: Tokens, shortest: int) -> bool:
    return len(tokens) >= shortest and len(set(tokens)) * 3 <= len(tokens)


def _ghost_reason(heard: Transcribed, tokens: Tokens) -> str:
    polite = tokens in _POLITE_GHOSTS
    meant = heard.logprob >= _SURE_WORD_LOGPROB and heard.voiced_ms >= _GRACE_MS
    if (tokens in _GHOSTS or polite) and not (polite and meant):
        return "hallucination"
    if heard.voiced_ms and len(tokens) * _MS_A_WORD > heard.voiced_ms + _GRACE_MS:
        return "more_words_than_voice"
    return ""
