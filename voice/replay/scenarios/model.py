"""A scenario as the player runs it: records only, everything read and checked.

Owns the shapes of the caller's lines, of the set-up and of the expectations. Reading them from a
file is ``reader``; comparing expectations with a call is ``checks``.
"""

from dataclasses import dataclass
from pathlib import Path
from re import Pattern
from typing import Literal, TypeAlias

from runtime.agent import Json
from runtime.errors import Place
from voice.replay.at import At
from voice.replay.starts import WALL_START

__all__ = [
    "Act",
    "CallerAct",
    "Confirmation",
    "Expectation",
    "HangsUp",
    "Heard",
    "HungUp",
    "Interrupted",
    "InterruptedAt",
    "MemoryValue",
    "MemoryWas",
    "ModelScript",
    "Presses",
    "ProblemWas",
    "Said",
    "Says",
    "Scenario",
    "Seed",
    "Sequence",
    "SkillWas",
    "Sounds",
    "Taps",
    "TextRule",
    "ToolExecuted",
    "ToolNotExecuted",
    "Transferred",
    "Types",
]

# ------------------------------------------------------------------ the caller


@dataclass(frozen=True, slots=True)
class Says:
    """Words: sound is made for them, and the STT knows them."""

    text: str
    level_db: float = 0.0
    """Louder or softer than usual."""


@dataclass(frozen=True, slots=True)
class Sounds:
    """A sound file: speech, or a noise that is no words."""

    path: Path
    words: str | None = None
    """What the STT is to understand; None = a noise, or (``is_speech``) the embedded STT's to hear.
    """
    is_speech: bool = True
    level_db: float = 0.0


@dataclass(frozen=True, slots=True)
class Presses:
    """Keypad keys."""

    keys: str


@dataclass(frozen=True, slots=True)
class Types:
    """Typed text; web only."""

    text: str


@dataclass(frozen=True, slots=True)
class Taps:
    """A tapped button's payload; web only."""

    payload: str


@dataclass(frozen=True, slots=True)
class HangsUp:
    """The caller hangs up."""


Act: TypeAlias = Says | Sounds | Presses | Types | Taps | HangsUp


@dataclass(frozen=True, slots=True)
class CallerAct:
    """One line of the caller."""

    what: Act
    at: At
    """Anchors beside those of ``at``: ``caller_turn`` (the default, see ``player``),
    ``tool_starts:<tool>`` and ``tool_ends:<tool>``."""
    name: str
    """Never empty, and no other line's: what it is called, else ``line <n>``."""
    place: Place


# ------------------------------------------------------------------ what must have happened


@dataclass(frozen=True, slots=True)
class TextRule:
    """Which words are meant: all given parts must hold."""

    contains: str | None = None
    """Compared without regard to case and spacing."""
    matches: Pattern[str] | None = None
    response: str | None = None
    """The message is this response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Expectation:
    kind: str
    """Its key in the file."""
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolExecuted(_Expectation):
    """Calls of a tool with these arguments and this outcome."""

    tool: str
    times: int | None = None
    """Exactly so many; None = at least one."""
    arguments: Json = None
    """Each named argument has this value; others don't matter."""
    outcome: str = "ok"
    """``any`` = however it ended, or still open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolNotExecuted(_Expectation):
    """No call of the tool with these arguments even began."""

    tool: str
    arguments: Json = None


@dataclass(frozen=True, slots=True)
class MemoryValue:
    """A field, and the value it is about."""

    name: str
    """Qualified: ``<namespace>.<field>``."""
    value: Json = None
    any_value: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryWas(_Expectation):
    """Each of the fields was written so (or, ``negated``, none was)."""

    values: tuple[MemoryValue, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard(_Expectation):
    """Messages of which the far end heard such words."""

    rule: TextRule
    at_least: int = 1
    at_most: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said(_Expectation):
    """A message of the agent, heard or not (or, ``negated``, there is none)."""

    rule: TextRule
    negated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupted(_Expectation):
    """The caller took the floor from the agent."""

    within_ms: float | None = None
    """Most from the caller's first sound to the agent's last one."""
    during: str | None = None
    """Name of a response, of a tool, or words of the message that was cut."""
    times: int | None = None
    negated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptedAt(_Expectation):
    """A message was cut, and what was heard of it is this."""

    rule: TextRule
    heard: Pattern[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillWas(_Expectation):
    """A skill was started, or ended in some way."""

    skill: str
    how: Literal["started", "completed", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation(_Expectation):
    """A tool was asked about, or the question was answered."""

    tool: str
    answered: bool
    confirmed: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transferred(_Expectation):
    """The call went to a person."""

    to: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HungUp(_Expectation):
    """Who ended the call."""

    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemWas(_Expectation):
    """Something went wrong and was dealt with; it then fails no scenario."""

    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequence(_Expectation):
    """Expectations, each of which came later than the one before."""

    steps: tuple["Expectation", ...]


Expectation: TypeAlias = (
    ToolExecuted
    | ToolNotExecuted
    | MemoryWas
    | Heard
    | Said
    | Interrupted
    | InterruptedAt
    | SkillWas
    | Confirmation
    | Transferred
    | HungUp
    | ProblemWas
    | Sequence
)


# ------------------------------------------------------------------ the whole


@dataclass(frozen=True, slots=True)
class ModelScript:
    """What the model answers, one step a request."""

    steps: tuple[dict[str, Json], ...]
    repeat_last: bool = False


@dataclass(frozen=True, slots=True)
class Seed:
    """A memory field that has a value when the call begins."""

    namespace: str
    name: str
    value: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One call to make, and what must come of it."""

    name: str
    file: str
    """As messages name it."""
    place: Place
    language: str | None = None
    metadata: tuple[tuple[str, str], ...] = ()
    channel: Literal["twilio", "web"] = "twilio"
    seeds: tuple[Seed, ...] = ()
    model: ModelScript | None = None
    """None = the project's own."""
    caller: tuple[CallerAct, ...] = ()
    expect: tuple[Expectation, ...] = ()
    stay_ms: float = 3000.0
    """How long the caller stays on the line when all is said and quiet."""
    limit_ms: float = 600_000.0
    """Longest call, in its own time."""
    wall_start: float = WALL_START
    """Unix time at the connect: the day and hour that the conversation is told."""

    @property
    def needs_ears(self) -> bool:
        """Whether the embedded STT must hear: a recording whose words nobody wrote down."""
        return any(
            isinstance(act.what, Sounds) and act.what.is_speech and act.what.words is None
            for act in self.caller
        )
