"""Yes, no, and neither.

Owns ``read_yes_no``. What a yes confirms is the engine's; words that steer the conversation are in
``controls.py``.
"""

from runtime.models.offline.reading.english import ENGLISH
from runtime.models.offline.reading.found import Answer, AnswerKind
from runtime.models.offline.reading.lexicon import Lexicon
from runtime.models.offline.reading.tokens import Tokens, tokenize

__all__ = ["read_yes_no"]

_BREAKS = frozenset(
    {"but", "not", "don't", "dont", "never", "no", "nope", "cancel", "stop", "wait"}
)
"""After a yes, a word that may take it back."""
_POINTERS = frozenset({"it", "that", "this", "please"})
_SOFT = frozenset({"but", "only", "if", "except", "though"})


def read_yes_no(text: str, question: str = "", lexicon: Lexicon = ENGLISH) -> Answer:
    """Tell a yes from a no, and both from everything that is neither.

    Only words at the beginning answer; the rest is returned with them ("no, I meant the gold one"
    is a no with the rest "I meant the gold one"). A yes and a no in one answer, a doubt, or an
    answer with a question mark is ``unclear``. "ok" and its like are a yes alone, and nothing
    before a no ("ok cancel").

    Args:
        text: What was said.
        question: What was asked. An act that it names ("shall I cancel it?") is no refusal when it
            is said back: "yes, cancel it" is a yes then, a bare "cancel it" unclear.
        lexicon: The language.
    """
    tokens = tokenize(text)
    asked = {token.norm for token in tokenize(question).words} - _POINTERS
    at = 0
    seen: list[str] = []
    asks = False
    while (found := lexicon.answer_phrases.match(tokens, at)) is not None:
        kind, after = found
        if kind == "other":
            break
        if kind == "act":
            names = any(tokens.norm(n) in asked for n in range(at, after))
            kind = "named_act" if names else _act(tokens, at, after, lexicon)
            if kind == "other":
                break
        seen.append(kind)
        at = after
        asks = asks or tokens.asks(after)
    rest = tokens.rest(at) if at < len(tokens) else ""
    answer, confidence = _decide(seen, asks, tokens, at)
    return Answer(answer, text.strip() if answer == "other" else rest, confidence)


def _act(tokens: Tokens, at: int, after: int, lexicon: Lexicon) -> str:
    """A "cancel" refuses by itself; with an object behind it, it asks for something else."""
    following = lexicon.answer_phrases.match(tokens, after)
    if after < len(tokens) and following is None:
        return "other"
    return "no"


def _decide(seen: list[str], asks: bool, tokens: Tokens, at: int) -> tuple[AnswerKind, float]:
    kinds = set(seen) - {"neutral"}
    if not kinds:
        return "other", 0.9
    rest = {tokens.norm(n) for n in range(at, min(len(tokens), at + 40))}
    if "hedge" in kinds or asks:
        if kinds == {"hedge"} and (rest or seen[0] == "hedge" and asks):
            return ("unclear", 0.6) if not rest else ("other", 0.6)
        return "unclear", 0.8
    if "no" in kinds:
        return ("unclear", 0.8) if kinds & {"yes"} or "named_act" in kinds else ("no", 0.95)
    if kinds == {"named_act"}:
        return "unclear", 0.6
    if kinds == {"weak_yes"} and rest:
        # "good morning", "right now I live in Graz": no answer, or hardly one.
        return "other", 0.6
    if rest & _BREAKS - _SOFT:
        return "unclear", 0.7
    weak = "yes" not in kinds
    return "yes", 0.6 if rest & _SOFT else (0.85 if weak else 0.95)
