"""What one turn knows of itself while it runs, and nobody after it.

Owns plain data; everything that must outlive the turn is an event.
"""

from collections import Counter
from dataclasses import dataclass, field

from runtime.agent import Expect, Input, SayKind, StartTurn

__all__ = ["Refused", "TurnScope"]


@dataclass(frozen=True, slots=True)
class Refused:
    """Why something could not be done."""

    reason: str
    """For the model."""
    by_author: bool = False
    """A hook of the project says it."""


@dataclass(slots=True)
class TurnScope:
    """The running turn, as its parts share it."""

    start: StartTurn
    round: int = 0
    """The model's round that runs or ran last; 0 = none yet."""
    asked_in: set[int] = field(default_factory=set[int])
    """Frames (0 = no skill) in which the model has been asked with the caller's words."""
    replied_at: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    """(frame, visit) where the model has replied in words: there it is the caller's turn."""
    is_taken: bool = False
    """The caller's input was a value, and it is written."""
    menu: tuple[int, list[str]] | None = None
    """How many skills are offered, and those that fit best first; None = all."""
    passages: tuple[str, ...] | None = None
    """What a search of this turn found; None = there was none."""
    entered: Counter[tuple[int, str]] = field(default_factory=Counter[tuple[int, str]])
    """(frame, step) → how often it was entered in this turn."""
    answered: set[str] = field(default_factory=set[str])
    """Tools whose confirmation was answered in this turn: the model must not call them again."""
    asked_calls: set[int] = field(default_factory=set[int])
    """Held calls whose question was put in this turn."""
    must_phrase: bool = False
    """The model's reply did not ask what it was to ask, and it was told so."""
    answerable: frozenset[int] = frozenset()
    """Held calls whose question the caller had heard when they began to speak."""
    refused: Refused | None = None
    """Why the latest call could not be made, or what was keyed or tapped not taken."""
    hook_refusals: int = 0
    """Values of this turn that hooks have refused."""
    just_done: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """(tool, outcome) of the model's calls of this turn."""
    note: str = ""
    """A last word to the model about its next request."""
    said: bool = False
    """Something was said in this turn."""
    owes_reply: bool = False
    """The model must hear what its last calls came to."""
    only_engine: bool = False
    """Nothing but the engine's own skills moves on: nobody has spoken."""
    line_kind: SayKind = "line"
    """What the responses of this turn are."""
    wrapped_up: bool = False
    """The model has said in words that a skill is done."""
    expect: Expect = field(default_factory=Expect)
    """What the caller is expected to answer."""
    hangs_up: bool = False
    transfers_to: str | None = None

    @property
    def turn(self) -> int:
        """Number of the turn, by the voice plane's count."""
        return self.start.turn

    @property
    def input(self) -> Input | None:
        """What the caller said."""
        return self.start.input

    @property
    def has_input(self) -> bool:
        """Whether the caller said or keyed anything: it wants an answer."""
        said = self.start.input
        return said is not None and bool(said.text.strip())

    @property
    def has_words(self) -> bool:
        """Whether there is something of the caller's for the model to consider."""
        return self.has_input and not self.is_taken

    def has_considered(self, frame: int) -> bool:
        """Whether the caller's words, if any, were put to the model in this frame."""
        return not self.has_words or frame in self.asked_in
