"""Words that steer the conversation: cancel, repeat, goodbye, wait, a person, help.

Owns ``control_words``. What follows from them is the planner's.
"""

from runtime.models.offline.reading.english import ENGLISH
from runtime.models.offline.reading.found import Control, ControlKind
from runtime.models.offline.reading.lexicon import Lexicon
from runtime.models.offline.reading.tokens import tokenize

__all__ = ["control_words"]

_RANK: tuple[ControlKind, ...] = (
    "human",
    "cancel",
    "repeat",
    "help",
    "wait",
    "goodbye",
    "presence",
    "thanks",
    "greeting",
)
"""Where several were said, the first of these is meant."""
_LEAST = 0.3


def control_words(text: str, lexicon: Lexicon = ENGLISH) -> Control | None:
    """Find what steers the conversation, or None.

    Confidence 1.0 means that nothing else was said. Other words beside it lower the confidence by
    their share: "cancel the meeting on Friday" has an object and is None, "I want to talk to a
    person about my bill" is ``human`` with about 0.6.
    """
    tokens = tokenize(text)
    kinds: dict[ControlKind, tuple[int, int]] = {}
    known = at = 0
    while at < len(tokens):
        found = lexicon.control_phrases.match(tokens, at)
        if found is None:
            at += 1
            continue
        said, after = found
        known += after - at
        for ranked in _RANK:
            if ranked == said:
                kinds[ranked] = (kinds.get(ranked, (at, after))[0], after)
        at = after
    if not kinds:
        return None
    kind = min(kinds, key=_RANK.index)
    first, after = kinds[kind]
    share = known / len(tokens)
    confidence = 1.0 if known == len(tokens) else round(0.8 * share, 2)
    if kind in ("cancel", "wait", "repeat", "greeting", "thanks") and share < 1:
        # One short word of many: "what time is it", "stop at the office", "hi I need a table".
        confidence = round(confidence * (0.8 if after - first > 1 else 0.5), 2)
    if confidence < _LEAST:
        return None
    return Control(kind, confidence, tokens.start(first), tokens.end(after))
