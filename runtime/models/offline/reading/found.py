"""What the readers return.

Owns the records that say what was found in a caller's words and where. How a value is found is the
business of the module named after the kind of value.
"""

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from runtime.agent import Json

__all__ = [
    "Answer",
    "AnswerKind",
    "Choice",
    "ChoiceReading",
    "Control",
    "ControlKind",
    "Found",
]

T = TypeVar("T", covariant=True)

AnswerKind = Literal["yes", "no", "unclear", "other"]
ControlKind = Literal[
    "cancel",
    "repeat",
    "goodbye",
    "wait",
    "human",
    "thanks",
    "greeting",
    "presence",
    "help",
]


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """One value and the place it was read from: ``text[start:end]``."""

    value: T
    start: int
    end: int
    confidence: float = 1.0
    """0..1: 0.9 and more = the words say just this, 0.5 = one reading of several."""


@dataclass(frozen=True, slots=True)
class Answer:
    """How a question that wants yes or no was answered."""

    answer: AnswerKind
    """``unclear`` = both, neither for certain, or asked back; ``other`` = no answer at all."""
    rest: str = ""
    """What came after the answer's words; the whole text where there was no answer."""
    confidence: float = 1.0

    @property
    def is_plain(self) -> bool:
        """A yes or a no and nothing else beside it: fit to confirm something."""
        return self.answer in ("yes", "no") and not self.rest


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the answers on offer."""

    value: Json
    labels: tuple[str, ...]
    """What it may be called; the first is how it is said."""
    asked_with: str = ""
    """The words of the question that stand for it: "in two days". They count only for a caller who
    says nothing else."""


@dataclass(frozen=True, slots=True)
class ChoiceReading:
    """Which of the choices was meant: one, or several that fit alike, or none."""

    found: Found[Json] | None
    ambiguous: tuple[Choice, ...] = ()
    """Two or more that fit about as well, in the order of the offer; empty when one was found."""


@dataclass(frozen=True, slots=True)
class Control:
    """Words that steer the conversation itself."""

    kind: ControlKind
    confidence: float
    """1.0 = nothing else was said; less, the more other words stood beside them."""
    start: int
    end: int
