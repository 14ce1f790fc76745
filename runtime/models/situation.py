"""Where a turn stands, as data: what the prompt tells a large model in words.

Owns the records that the engine hands over beside each request. A model that reads prose ignores
them; the offline planner, which reads no prose, decides by them alone. Nothing in here is unknown
to the prompt, and tools may be called only if the request offers them.
"""

from dataclasses import dataclass

from runtime.agent import Expect, InputKind, Json

__all__ = [
    "AskedField",
    "ChoiceOption",
    "FlowOption",
    "PendingQuestion",
    "Situation",
    "inside_sentence",
]


@dataclass(frozen=True, slots=True)
class FlowOption:
    """Something that ``activate`` can start."""

    id: str
    """The value of ``flow_id``."""
    name: str
    description: str
    examples: tuple[str, ...] = ()
    is_reference: bool = False
    """The active prose names it (``@block``, ``@skill``): it is part of what is being done."""


@dataclass(frozen=True, slots=True)
class ChoiceOption:
    """One answer on offer."""

    label: str
    """As it is said: a button's title, or the value itself."""
    value: Json


@dataclass(frozen=True, slots=True)
class AskedField:
    """A memory entry that the model may write now."""

    name: str
    """As ``set_fields`` and ``correct`` call it."""
    type: str
    """``text bool int float list categorical json any``."""
    description: str = ""
    expect: Expect = Expect()
    choices: tuple[ChoiceOption, ...] = ()
    """Of a categorical field, or of the buttons that were offered with its question."""
    value: Json = None
    """What it holds now; always None for a field marked ``pii``."""


@dataclass(frozen=True, slots=True)
class PendingQuestion:
    """A tool call that waits for the caller's yes or no."""

    tool: str
    question: str | None
    """The engine's own wording; None = the model phrases it."""
    may_answer: bool
    """Whether what the caller said now can answer it (it was heard before they spoke)."""
    arguments: str
    """JSON text of the held arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """One round of one turn."""

    said: str = ""
    """The caller's words of this turn; empty in a turn without any."""
    kind: InputKind | None = None
    round: int = 1
    language: str = "en"
    today: str = ""
    """ISO date at the moment of the request, UTC."""
    flows: tuple[FlowOption, ...] = ()
    """What ``activate`` offers."""
    skill: str | None = None
    """Name of the active skill."""
    in_prose: bool = False
    """Free prose or instructions are to be followed: more than this data can say."""
    has_returned: bool = False
    """What the active prose refers to has been run, and has come back."""
    prose: str = ""
    """The active skill's visible prose, or the step's instructions, as text."""
    collecting: AskedField | None = None
    """The engaged ``collect``."""
    question: str | None = None
    """The line that the engine asks it with, after the reply, while it stays unanswered."""
    settable: tuple[AskedField, ...] = ()
    correctable: tuple[AskedField, ...] = ()
    """Values that the caller gave earlier and may revise now."""
    pending: PendingQuestion | None = None
    passages: tuple[str, ...] | None = None
    """What the search of this turn found; None = no search ran."""
    has_knowledge: bool = False
    last_line: str = ""
    """What the caller last heard of the agent."""
    just_done: tuple[tuple[str, str], ...] = ()
    """(tool, outcome) of the model's calls in the rounds before, this turn."""
    refused: str | None = None
    """Why the last call of this turn could not be made."""
    refused_by_author: bool = False
    """The reason is a sentence of the project's own (a hook's ``error``), fit to be heard."""
    step_cancelled: str = ""
    """Tool of the active step whose call was cut off: it is called again after this reply, unless
    the reply does something else."""


def inside_sentence(name: str) -> str:
    """A skill's name as it stands inside a sentence: its first word without the capital."""
    is_word = len(name) > 1 and name[0].isupper() and name[1].islower()
    return name[0].lower() + name[1:] if is_word else name
