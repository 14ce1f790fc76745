"""A text as the words it is compared by: what was said against the labels on offer.

Owns what counts as one word: a number in words is its digits, a time of day is one word however it
is said, the forms of a verb are one, and what is denied is another word than what is not.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from runtime.models.offline.reading.denials import Denials, find_denials
from runtime.models.offline.reading.forms import form_of
from runtime.models.offline.reading.lexicon import Lexicon
from runtime.models.offline.reading.numbers import below_hundred, numeral
from runtime.models.offline.reading.times import clock_spans
from runtime.models.offline.reading.tokens import Tokens, tokenize

__all__ = ["Word", "Worded", "has_clock", "turned", "worded"]

_CLOCK = "@"
_BOUND = "@<"
_NEAR = 4
_MOST_WORDS = 60


@dataclass(frozen=True, slots=True)
class Word:
    """One word to compare."""

    said: str
    """Lower case; a number in digits, a time as ``@`` and minutes."""
    form: str
    """Shared by the forms of one word."""
    sense: str
    """Shared by words that stand for one another; empty for most."""
    is_denied: bool
    is_cue: bool
    """It denies, and says nothing else."""
    at: int
    """Its first token."""

    @property
    def is_clock(self) -> bool:
        """Whether it is a time of day."""
        return self.said.startswith(_CLOCK)

    @property
    def is_count(self) -> bool:
        """Whether it is a number or a time."""
        return self.is_clock or self.said.isdigit()


@dataclass(frozen=True, slots=True)
class Worded:
    """A text, and its words."""

    tokens: Tokens
    words: tuple[Word, ...]
    denials: Denials


def worded(text: str, lexicon: Lexicon, *, loose: bool, label: bool = False) -> Worded:
    """Cut a text into the words it is compared by, 60 at most.

    Args:
        text: What was said, or a label.
        lexicon: The language.
        loose: A bare number is a time of day.
        label: It is an answer on offer: written, and no talk.
    """
    tokens = tokenize(text)
    denials = find_denials(tokens, lexicon)
    cues = denials.cues
    if label and tokens.norm(0) == lexicon.denial.refusal and len(tokens) > 1:
        # "No insurance" on a button is no answer to a question.
        cues = (True, *cues[1:])
        denials = Denials((True,) * len(tokens), cues)
    clocks = {span.first: span for span in clock_spans(tokens, lexicon, loose=loose)}
    words: list[Word] = []
    at = 0
    while at < len(tokens) and len(words) < _MOST_WORDS:
        clock = clocks.get(at)
        denied, cue = denials.denied[at], cues[at]
        if clock is not None:
            said = f"{_BOUND if clock.is_bound else _CLOCK}{clock.minutes}"
            words.append(Word(said, said, "", denied, False, at))
            at = clock.after
            continue
        said, after = _said(tokens, at, lexicon)
        form = said if said.isdigit() else form_of(said, lexicon.forms)
        sense = _sense(tokens, at, form, lexicon, denied=denied, label=label)
        words.append(Word(said, form, sense, denied, cue, at))
        at = after
    return Worded(tokens, tuple(words), denials)


def has_clock(text: str, lexicon: Lexicon) -> bool:
    """Whether a time of day is in it that nothing else can be."""
    return bool(clock_spans(tokenize(text), lexicon, loose=False))


def turned(words: Sequence[Word]) -> list[Word]:
    """The same words with what is denied affirmed, and what is affirmed denied."""
    return [replace(word, is_denied=not word.is_denied) for word in words]


def _said(tokens: Tokens, at: int, lexicon: Lexicon) -> tuple[str, int]:
    small = below_hundred(tokens, at, lexicon)
    if small is not None:
        return str(small[0]), small[1]
    value = numeral(tokens.words[at], lexicon)
    said = tokens.norm(at) if value is None else str(value)
    return said.removesuffix("'s"), at + 1


def _sense(
    tokens: Tokens, at: int, form: str, lexicon: Lexicon, *, denied: bool, label: bool
) -> str:
    if not denied:
        return lexicon.senses_by_form.get(form, "")
    sense = lexicon.denied_senses_by_form.get(form)
    if sense is None:
        return lexicon.senses_by_form.get(form, "")
    if sense.then and tokens.norm(at + 1) != sense.then:
        return ""
    if label:
        return sense.name
    before = {tokens.norm(n) for n in range(max(0, at - _NEAR), at)}
    fits = before & sense.after or ("not" in before and before & sense.after_not)
    return sense.name if fits and not before & sense.subjects_not else ""
