"""What happened in a conversation: past-tense facts in a numbered envelope.

Owns the records that are stored and folded (``state``); the frozen messages between the planes are
``runtime.agent``. Values of memory, arguments and results are kept as JSON text, which is both what
the model reads and what the store writes. Times are ms of the call's clock.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from runtime.agent import CloseCause, InputKind, SayKind, SayOutcome, TurnCause, TurnOutcome

__all__ = [
    "BlockEnded",
    "BlockStarted",
    "CallEnded",
    "CallFor",
    "CallStarted",
    "ConfirmationAnswered",
    "ConfirmationAsked",
    "ConfirmationWithdrawn",
    "DialogueFact",
    "EndHow",
    "Event",
    "Fact",
    "KnowledgeSearched",
    "LateOutcome",
    "MemorySet",
    "MessageDropped",
    "MessageHeard",
    "MessageWritten",
    "ModelCalled",
    "OfferedButton",
    "ResponseGiven",
    "SkillEnded",
    "SkillResumed",
    "SkillStarted",
    "StartCause",
    "StepAsked",
    "StepEntered",
    "ToolAsked",
    "ToolOutcome",
    "ToolSettled",
    "ToolStarted",
    "TurnFinished",
    "TurnInterrupted",
    "TurnStarted",
    "UtterFired",
    "UtterLooked",
]

ToolOutcome = Literal["ok", "failed", "timed_out", "cancelled", "unknown"]
Writer = Literal["tool", "model", "seed", "step", "keys", "tap", "engine", "rollback"]
"""Who wrote a memory field. ``tool``: an author's tool or hook; ``rollback``: a hook refused."""
CallFor = Literal["model", "step", "hook", "buttons"]
"""On whose behalf a tool is called; only the model's calls are part of what the model reads."""
StartCause = Literal["activated", "delegated", "called", "resolver", "engine"]
"""Why a skill started: the caller's wish, a ``@skill`` of running prose, a ``call`` step, a
precondition, the engine itself. All but ``activated`` give back to the skill below by themselves.
"""
EndHow = Literal["completed", "cancelled", "dropped", "linked"]


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A caller was connected, or connected again to this conversation."""

    channel: str
    language: str
    wall_start: float
    """Unix time at ms 0 of the call."""
    metadata: tuple[tuple[str, str], ...] = ()
    resumed: bool = False
    """The same call as before, after the agent process was replaced."""


@dataclass(frozen=True, slots=True)
class CallEnded:
    """The call is over; tools that were to finish may still settle after it."""

    cause: CloseCause


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The agent's turn began, with the caller's words where there were some."""

    cause: TurnCause
    kind: InputKind | None = None
    text: str = ""
    uncertain: bool = False
    silence_n: int = 0
    reopens: int | None = None
    """The turn that this one replaces: its input is repeated here with more."""


@dataclass(frozen=True, slots=True)
class TurnInterrupted:
    """The caller took the floor back."""

    cause: str
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The agent's doing in this turn came to its end."""

    outcome: TurnOutcome


@dataclass(frozen=True, slots=True)
class MessageWritten:
    """The agent wrote a message, up to here if it was cut off while it streamed."""

    say: int
    kind: SayKind
    text: str
    round: int
    """The round of the turn it belongs to, from 1; 0 = outside of any."""
    interruptible: bool = True
    call_id: int | None = None
    """The tool call that sent it."""


@dataclass(frozen=True, slots=True)
class MessageHeard:
    """The playback ledger settled a message: this is what the caller heard of it."""

    say: int
    outcome: SayOutcome
    heard_chars: int


@dataclass(frozen=True, slots=True)
class MessageDropped:
    """A tool's message that was never queued, since its turn was interrupted."""

    call_id: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class ToolAsked:
    """The model asked for a call."""

    call_id: int
    model_call_id: str
    """The id that the model gave it."""
    tool: str
    arguments: str
    """JSON object text; ``{}`` where what the model wrote is not one."""
    round: int
    made_for: CallFor = "model"
    frame: int = 0
    """The skill frame that a step's call belongs to."""


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """An asked call passed every check and runs."""

    call_id: int
    tool: str
    arguments: str
    """Canonical JSON of the validated arguments."""
    idempotency_key: str
    finish: bool
    """An interruption lets it run to its end."""


@dataclass(frozen=True, slots=True)
class ToolSettled:
    """A call reached its one outcome."""

    call_id: int
    outcome: ToolOutcome
    result: str
    """JSON text for the model: the tool's answer, or the reason there is none."""
    committed: bool = False
    """A commit section of it was entered: an effect may stand."""


@dataclass(frozen=True, slots=True)
class LateOutcome:
    """A call that had been settled without its end came to its end after all."""

    call_id: int
    outcome: ToolOutcome
    result: str


@dataclass(frozen=True, slots=True)
class MemorySet:
    """A memory field was written."""

    namespace: str
    name: str
    value: str
    """JSON text."""
    writer: Writer
    call_id: int | None = None


@dataclass(frozen=True, slots=True)
class SkillStarted:
    """A skill came onto the stack."""

    frame: int
    """Number of its place on the stack, from 1, never used twice."""
    skill: str
    cause: StartCause
    block: str | None = None
    """Where a skill without prose begins."""
    waiting_for: str | None = None
    """The precondition it is parked behind."""
    below: int | None = None
    """The frame that it is put below: a resolver that serves it as well; None = on top."""


@dataclass(frozen=True, slots=True)
class SkillEnded:
    """A skill left the stack."""

    frame: int
    skill: str
    how: EndHow


@dataclass(frozen=True, slots=True)
class SkillResumed:
    """A parked skill goes on: its precondition holds, or the caller wants to return to it."""

    frame: int
    over: bool = False
    """It comes to the top with what it runs for; what was there is parked in its turn."""


@dataclass(frozen=True, slots=True)
class BlockStarted:
    """An ordered block began inside a skill; ``linked`` = it replaces the one that named it."""

    frame: int
    block: str
    linked: bool = False


@dataclass(frozen=True, slots=True)
class BlockEnded:
    """The innermost block of a skill came to its END."""

    frame: int


@dataclass(frozen=True, slots=True)
class StepEntered:
    """A block reached a step; ``visit`` counts all steps of the conversation."""

    frame: int
    step: str
    visit: int


@dataclass(frozen=True, slots=True)
class StepAsked:
    """The question of the current step, or the model's reply in it, was put to the caller."""

    frame: int
    say: int = 0
    awaits: str = ""
    """``<namespace>.<field>`` that the question asks for."""


@dataclass(frozen=True, slots=True)
class UtterFired:
    """A skill's ``utter`` rule was said; each is said once a start."""

    frame: int
    rule: int


@dataclass(frozen=True, slots=True)
class UtterLooked:
    """Which ``when`` rules hold without having become true since the skill was started."""

    frame: int
    holding: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ConfirmationAsked:
    """A call is held until the caller agrees; also recorded each time it is asked again."""

    call_id: int
    frame: int
    say: int | None
    """The question; None = the model is to phrase it in its next reply."""
    essential_chars: int = 0
    """How much of the question's text must have been heard before an answer counts."""
    seen: tuple[tuple[str, str], ...] = ()
    """Memory entries called like the call's arguments, with their values as JSON text."""


@dataclass(frozen=True, slots=True)
class ConfirmationAnswered:
    """The caller agreed to the held call, or did not."""

    call_id: int
    confirmed: bool


@dataclass(frozen=True, slots=True)
class ConfirmationWithdrawn:
    """The held call is not wanted any more: its values changed, its skill is gone."""

    call_id: int
    reason: str


@dataclass(frozen=True, slots=True)
class OfferedButton:
    """A button as it was offered."""

    title: str
    payload: str
    """What a tap sends, or the value it writes when ``ref`` is there."""
    ref: str | None = None
    """``session.<namespace>.<field>``."""


@dataclass(frozen=True, slots=True)
class ResponseGiven:
    """A response was said; its buttons are the ones that can be tapped now."""

    response: str
    say: int
    buttons: tuple[OfferedButton, ...] = ()
    outcome_of: int | None = None
    """The call whose outcome it tells: the caller must come to hear it."""
    skill: str = ""
    """Whose names it was filled with."""


@dataclass(frozen=True, slots=True)
class KnowledgeSearched:
    """The reference files were searched."""

    call_id: int
    passages: int


@dataclass(frozen=True, slots=True)
class ModelCalled:
    """One request to a chat model came to its end."""

    model: str
    round: int
    outcome: Literal["ok", "failed", "closed"]
    first_ms: int | None
    """Until its first text or call; None = there was none."""
    took_ms: int


DialogueFact: TypeAlias = (
    SkillStarted
    | SkillEnded
    | SkillResumed
    | BlockStarted
    | BlockEnded
    | StepEntered
    | StepAsked
    | UtterFired
    | UtterLooked
    | ConfirmationAsked
    | ConfirmationAnswered
    | ConfirmationWithdrawn
)
"""What moves the stack of skills and the confirmation; folded by ``dialogue``."""

Fact: TypeAlias = (
    CallStarted
    | CallEnded
    | TurnStarted
    | TurnInterrupted
    | TurnFinished
    | MessageWritten
    | MessageHeard
    | MessageDropped
    | ToolAsked
    | ToolStarted
    | ToolSettled
    | LateOutcome
    | MemorySet
    | ModelCalled
    | DialogueFact
    | ResponseGiven
    | KnowledgeSearched
)


@dataclass(frozen=True, slots=True)
class Event:
    """A fact with its place in the conversation."""

    conversation: str
    sequence: int
    """From 1, without gaps."""
    at_ms: int
    turn: int
    """0 = outside of any turn."""
    fact: Fact
