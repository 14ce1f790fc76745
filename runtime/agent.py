"""The door between the two planes: every message that crosses it.

Owns the frozen messages of both directions and nothing else; how they travel is
``runtime.plane`` (in one loop) and ``runtime.process`` (in a child process). Ids are ints, times
are ms of the call's clock (0 = the call connected). Voice numbers calls and turns, runtime numbers
says and tool calls. Each direction is one ordered channel. Each ``Say`` gets exactly one
``SaySettled``, also one that comes for a turn that is over.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"
Fields: TypeAlias = tuple[tuple[str, Json], ...]

ExpectKind = Literal["open", "nothing", "yes_no", "choice", "digits", "spelled", "email", "date"]
InputKind = Literal["speech", "keys", "text", "tap"]
TurnCause = Literal["opened", "input", "silence", "asked"]
InterruptCause = Literal["words", "key", "text", "voice", "reopened", "hang_up"]
SayKind = Literal["reply", "line", "beside_tool", "check_in", "apology"]
SayOutcome = Literal["heard", "cut", "dropped", "failed"]
CloseCause = Literal["caller", "agent", "lost", "expired", "drain"]
TurnOutcome = Literal["done", "interrupted", "failed", "empty"]


@dataclass(frozen=True, slots=True)
class Expect:
    """What kind of answer the agent waits for; shapes the end of turn and the reading of the
    words.
    """

    kind: ExpectKind = "open"
    length: int | None = None
    """Digits or letters expected, where known."""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KeyRule:
    """How keypad digits are collected: exactly one of ``length`` and ``finish``."""

    length: int | None = None
    finish: str | None = None
    """The key that ends the input; it is not part of it."""
    inter_digit_ms: int = 3000
    speech_too: bool = True


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a transcript with its place in the caller's audio."""

    text: str
    start_ms: int
    end_ms: int
    confidence: float = 1.0
    """0..1."""


@dataclass(frozen=True, slots=True)
class Heard:
    """How much of a say the caller had heard at some moment."""

    say: int
    chars: int
    """Characters of the *written* text."""
    complete: bool


@dataclass(frozen=True, slots=True)
class Input:
    """What the caller said, keyed, typed or tapped in one turn."""

    kind: InputKind
    text: str
    words: tuple[Word, ...] = ()
    onset_ms: int = 0
    end_ms: int = 0
    heard_at_onset: tuple[Heard, ...] = ()
    uncertain: bool = False
    """The STT lost audio inside these words: ask again rather than guess."""


# ------------------------------------------------------------------ resolved settings of a call


@dataclass(frozen=True, slots=True, kw_only=True)
class FillerSettings:
    """When and with what words a wait is filled (ARCHITECTURE, the floor)."""

    enabled: bool = True
    after_ms: int = 1200
    every_ms: int = 6000
    most: int = 3
    phrases: tuple[str, ...] = (
        "One moment.",
        "Let me have a look.",
        "Still with you, just a second.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptionSettings:
    """The two-stage barge-in: hold at once, commit on words, release on none."""

    enabled: bool = True
    onset_ms: int = 40
    confirm_ms: int = 140
    resume_ms: int = 350
    stt_wait_ms: int = 800
    hold_max_ms: int = 1500
    voice_commit_ms: int = 600
    pause_budget_ms: int = 1500
    min_words: int = 1
    backchannels: tuple[str, ...] | None = None
    """None = the packaged list of the language."""
    interrupt_words: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTakingSettings:
    """The endpointing curve: silence after which a turn ends, by how finished the words look."""

    min_silence_ms: int = 400
    max_silence_ms: int = 1600
    collecting_max_ms: int = 2000
    decode_silence_ms: int = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSettings:
    """Everything the voice plane needs to know about the agent: resolved numbers, no project."""

    language: str = "en"
    fillers: FillerSettings = field(default_factory=FillerSettings)
    interruptions: InterruptionSettings = field(default_factory=InterruptionSettings)
    turn_taking: TurnTakingSettings = field(default_factory=TurnTakingSettings)
    pause_after_filler_ms: int = 800
    pause_between_messages_ms: int = 1000
    silence_timeout_ms: int = 7000
    """0 = never."""
    silence_check_ins: int = 3
    expiration_ms: int = 3_600_000
    """A call in which the caller does nothing for this long is ended; 0 = never."""
    apology: str = "I'm sorry, something went wrong on my side. Could you say that again?"
    """Spoken by the voice plane when the agent plane is lost or a reply can't be spoken."""


# ------------------------------------------------------------------ voice -> runtime


@dataclass(frozen=True, slots=True)
class OpenCall:
    call: int
    conversation: str | None
    channel: str
    language: str
    metadata: tuple[tuple[str, str], ...]
    wall_start: float
    """Unix time at ms 0 of the call; prompts' clock = this + call ms."""
    slot: int = 0
    """Index into the shared ``interrupted_through`` table."""
    resumed: bool = False
    """The agent process was replaced in the middle of this call, whose turns are numbered on."""


@dataclass(frozen=True, slots=True)
class StartTurn:
    call: int
    turn: int
    cause: TurnCause
    input: Input | None = None
    silence_n: int = 0
    """1 = first check-in; ``silence_check_ins`` + 1 = say goodbye and hang up."""
    reopens: int | None = None
    """The turn whose words this one repeats with more; its engine writes are undone."""
    certain: bool = True
    at_ms: int = 0


@dataclass(frozen=True, slots=True)
class ConfirmTurn:
    call: int
    turn: int
    input: Input


@dataclass(frozen=True, slots=True)
class RetractTurn:
    call: int
    turn: int
    at_ms: int


@dataclass(frozen=True, slots=True)
class SaySettled:
    call: int
    turn: int
    say: int
    outcome: SayOutcome
    heard_chars: int
    """Characters of the written text that were heard to the end of their word."""
    started_ms: int | None = None
    ended_ms: int | None = None


@dataclass(frozen=True, slots=True)
class InterruptTurn:
    call: int
    turn: int
    cause: InterruptCause
    evidence: str
    settled: tuple[SaySettled, ...]
    at_ms: int


@dataclass(frozen=True, slots=True)
class CloseCall:
    call: int
    cause: CloseCause
    at_ms: int


ToRuntime: TypeAlias = (
    OpenCall | StartTurn | ConfirmTurn | RetractTurn | InterruptTurn | SaySettled | CloseCall
)


# ------------------------------------------------------------------ runtime -> voice


@dataclass(frozen=True, slots=True)
class CallReady:
    call: int
    conversation: str
    settings: CallSettings


@dataclass(frozen=True, slots=True)
class Say:
    call: int
    turn: int
    say: int
    kind: SayKind
    interruptible: bool = True
    language: str = "en"


@dataclass(frozen=True, slots=True)
class SayText:
    call: int
    turn: int
    say: int
    text: str
    """The next piece of the written text, as it streams."""


@dataclass(frozen=True, slots=True)
class SayEnd:
    call: int
    turn: int
    say: int
    expect: Expect = field(default_factory=Expect)
    kind: SayKind | None = None
    """What it turned out to be, where ``Say`` could not know: a reply that calls of tools follow is
    ``beside_tool``. None = as announced."""


@dataclass(frozen=True, slots=True)
class OpenTool:
    call_id: int
    name: str
    filler: str | None = None


@dataclass(frozen=True, slots=True)
class Working:
    """The author tools that are open now; sent on each change, ``()`` = none."""

    call: int
    turn: int
    open: tuple[OpenTool, ...]


@dataclass(frozen=True, slots=True)
class Listen:
    call: int
    turn: int
    expect: Expect = field(default_factory=Expect)
    keys: KeyRule | None = None
    silence_after_ms: int | None = None
    """None = the call's own; 0 = never."""


@dataclass(frozen=True, slots=True)
class TurnEnded:
    call: int
    turn: int
    outcome: TurnOutcome


@dataclass(frozen=True, slots=True)
class AskTurn:
    call: int
    reason: str


@dataclass(frozen=True, slots=True)
class HangUp:
    call: int
    turn: int
    when: Literal["heard", "now"] = "heard"


@dataclass(frozen=True, slots=True)
class Transfer:
    call: int
    turn: int
    target: str
    when: Literal["heard", "now"] = "heard"


@dataclass(frozen=True, slots=True)
class Happened:
    """A runtime event for the page, the report and the log."""

    call: int
    turn: int
    at_ms: int
    event: str
    fields: Fields


@dataclass(frozen=True, slots=True)
class AgentLost:
    """The agent plane died and is being restarted: running turns are gone, nothing committed is."""

    call: int
    cause: str


@dataclass(frozen=True, slots=True)
class CallRefused:
    """The agent plane can't serve this call at all."""

    call: int
    cause: str


FromRuntime: TypeAlias = (
    CallReady
    | Say
    | SayText
    | SayEnd
    | Working
    | Listen
    | TurnEnded
    | AskTurn
    | HangUp
    | Transfer
    | Happened
    | AgentLost
    | CallRefused
)


class AgentPlane(Protocol):
    """The agent plane as voice sees it: in this loop, or in a child process."""

    def attach(self, call: int, sink: Callable[[FromRuntime], None]) -> int:
        """Route this call's messages to ``sink`` (on the event loop) and return its shared slot."""
        ...

    def send(self, message: ToRuntime) -> None:
        """Post a message; never waits, keeps order. ``InterruptTurn`` first raises the shared
        ``interrupted_through`` of its call, so that a tool that blocks sees it too.
        """
        ...

    def detach(self, call: int) -> None:
        """Forget the call's sink, after its ``CloseCall`` was sent; idempotent."""
        ...

    async def aclose(self) -> None:
        """End the plane: bounded, idempotent."""
        ...
