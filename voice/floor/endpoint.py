"""When a turn ends: a pure curve from how finished the words look to a length of silence.

Owns the curve and what is learnt of this caller's own pauses. Silence counts from the last voiced
window; who measures it and starts the turn is ``listening``. An engine with its own end of turn is
used instead, and the curve stays behind it as a bound.
"""

import re
from collections import deque
from typing import Final

from runtime.agent import Expect, TurnTakingSettings
from voice.floor.words import BACKCHANNEL_WORDS, Tokens, tokens_of

_TAIL_WORDS: Final = frozenset(
    "and but or because if the a an my your our their to um uh er than i'm".split()
)
"""A sentence doesn't end on these, whatever mark the engine writes."""
_SOFT_TAIL_WORDS: Final = frozenset(
    "so when while for with from of at in on by about is are was were am it's like then i we they"
    " can could would should will his its that".split()
)
"""A sentence may end on these, but seldom does."""
_COMPLETE_ALONE: Final = (
    frozenset("no nope huh nothing never thanks stop hello hi bye goodbye please help wait".split())
    | BACKCHANNEL_WORDS
)
_YES_NO: Final = frozenset("yes yeah yep yup no nope sure okay ok right correct".split())
_TEENS: Final = (
    "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
)
_NUMBER_WORDS: Final = dict.fromkeys(_TEENS, 2) | dict.fromkeys(
    "zero oh o one two three four five six seven eight nine twenty thirty forty fifty sixty seventy"
    " eighty ninety hundred".split(),
    1,
)
"""Number words and the digits they stand for."""
_FULL_STOP: Final = 0.8
_ALONE: Final = 0.6
"""A bare "yes" or "okay", from an engine that writes no marks."""
_COLLECTING: Final = frozenset({"digits", "spelled", "email", "date"})
_DOMAIN_END: Final = re.compile(
    r"(?:\.|\bdot\s+)(?:com|org|net|edu|gov|info|io|[a-z]{2})\W*$", re.I
)


class OwnPauses:
    """How long this caller pauses inside a turn."""

    __slots__ = ("_pauses",)

    def __init__(self) -> None:
        self._pauses: deque[int] = deque(maxlen=8)

    def learn(self, pause_ms: int) -> None:
        """Take a pause after which the same turn went on."""
        if 100 <= pause_ms <= 5000:
            self._pauses.append(pause_ms)

    @property
    def usual_ms(self) -> int:
        """Their upper quartile; 0 until two were seen."""
        if len(self._pauses) < 2:
            return 0
        ordered = sorted(self._pauses)
        return ordered[(3 * len(ordered)) // 4]


def end_delay_ms(
    text: str,
    expect: Expect,
    settings: TurnTakingSettings,
    *,
    usual_pause_ms: int = 0,
    slow_answers: bool = False,
) -> int:
    """Silence after which the turn ends: min + (max - min)(1 - s), s from 0 to 1.

    ``slow_answers``: the answer takes its time anyway and can be reopened until it is heard, so the
    shortest wait falls to three quarters.
    """
    collecting = expect.kind in _COLLECTING
    shortest = settings.min_silence_ms
    if slow_answers:
        shortest = shortest * 3 // 4
    longest = settings.collecting_max_ms if collecting else settings.max_silence_ms
    longest = max(longest, shortest)
    finished = finishedness(text, expect)
    if usual_pause_ms > shortest and longest > shortest:
        slowness = min(1.0, (usual_pause_ms - shortest) / (longest - shortest))
        finished *= 1 - 0.4 * slowness
    return round(shortest + (longest - shortest) * (1 - finished))


def finishedness(text: str, expect: Expect) -> float:
    """How finished the words look, 0 (surely going on) to 1 (surely done)."""
    tokens = tokens_of(text)
    if not tokens:
        return 0.0
    answered = _answers(text, tokens, expect)
    if answered is not None:
        return answered
    last = tokens[-1]
    score = _by_mark(text)
    if score < 1.0 and last in _TAIL_WORDS:
        return 0.0
    if score < 1.0 and last in _SOFT_TAIL_WORDS:
        return 0.3 if score == _FULL_STOP else 0.0
    if all(token in _COMPLETE_ALONE for token in tokens):
        score = max(score, _ALONE)
    elif len(tokens) <= 2 and last not in _COMPLETE_ALONE:
        score = min(score, 0.5)
    if last.isdigit() or last in _NUMBER_WORDS or len(last) == 1:
        score = min(score, 0.25 if expect.kind in _COLLECTING else 0.45)
    return score


def _answers(text: str, tokens: Tokens, expect: Expect) -> float | None:
    """How far the expected kind of answer is complete; None where that says nothing."""
    match expect.kind:
        case "yes_no" if tokens[-1] in _YES_NO:
            return 1.0
        case "choice" if any(tokens_of(choice) == tokens for choice in expect.choices):
            return 1.0
        case "digits" | "spelled" if expect.length:
            count = count_signs(tokens, letters=expect.kind == "spelled")
            if count:
                return 1.0 if count >= expect.length else 0.1
        case "email" if _DOMAIN_END.search(text) and ("@" in text or "at" in tokens):
            return 0.8
        case _:
            pass
    return None


def count_signs(tokens: Tokens, *, letters: bool = False) -> int:
    """Count the digits (and single letters) that were said."""
    count = 0
    repeat = 1
    for token in tokens:
        if token in ("double", "triple"):
            repeat = 2 if token == "double" else 3
            continue
        if token.isdigit():
            count += len(token) * repeat
        elif token in _NUMBER_WORDS:
            count += _NUMBER_WORDS[token] * repeat
        elif letters and len(token) == 1:
            count += repeat
        repeat = 1
    return count


def _by_mark(text: str) -> float:
    bare = text.rstrip(" \"'\u201d\u2019)")
    if bare.endswith(("...", "\u2026", "-", "\u2013", "\u2014")):
        return 0.1
    if bare.endswith(("?", "\uff1f")):
        return 1.0
    if bare.endswith((".", "!", "\u3002", "\uff01")):
        return _FULL_STOP
    if bare.endswith((",", ";", ":", "\uff0c", "\u3001")):
        return 0.35
    return 0.3
