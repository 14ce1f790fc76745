"""Turns and the state table: who has the floor, and what a sound of the caller's does to it.

Owns the numbers of turns, the one that runs, and the decision table, written so that it can be read
beside the one in ARCHITECTURE. It gives no orders; ``floor`` carries decisions out.

A turn lasts from the end of the caller's words until the runtime has ended it and all it said was
heard. At most one runs. A turn is over once: ended, interrupted, retracted or lost with its agent
process.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from runtime.agent import Input, Listen, OpenTool, TurnCause
from voice.floor.words import Kind


class State(Enum):
    """Who has the floor, as far as an interruption cares."""

    LISTENING = "listening"
    """All that was said was heard and no turn runs."""
    THINKING = "thinking"
    """A turn runs, nothing of it was heard, no author tool has started."""
    WORKING = "working"
    """A turn runs in silence with a tool open or something heard."""
    AUDIBLE = "audible"
    """The agent is being heard (or is held in the middle of a line)."""
    PROTECTED = "protected"
    """A line is due that can't be talked over, or interruptions are off."""


class Decision(Enum):
    """What to do about a sound."""

    NOTHING = "nothing"
    GO_ON = "go_on"
    NEXT_FILLER = "next_filler"
    RELEASE = "release"
    TURN = "turn"
    REOPEN = "reopen"
    INTERRUPT = "interrupt"
    KEEP = "keep"


class Sound(Enum):
    """Columns of the table."""

    NOISE = "noise"
    BACKCHANNEL = "backchannel"
    PRESENCE = "presence"
    WORDS = "words"
    KEY = "key"


_D = Decision
TABLE: Final[dict[State, tuple[Decision, Decision, Decision, Decision, Decision]]] = {
    #                 noise        backchannel  presence          words         key
    State.LISTENING: (_D.NOTHING, _D.TURN, _D.TURN, _D.TURN, _D.TURN),
    State.THINKING: (_D.GO_ON, _D.GO_ON, _D.GO_ON, _D.REOPEN, _D.INTERRUPT),
    State.WORKING: (_D.GO_ON, _D.GO_ON, _D.NEXT_FILLER, _D.INTERRUPT, _D.INTERRUPT),
    State.AUDIBLE: (_D.RELEASE, _D.RELEASE, _D.INTERRUPT, _D.INTERRUPT, _D.INTERRUPT),
    State.PROTECTED: (_D.NOTHING, _D.NOTHING, _D.KEEP, _D.KEEP, _D.KEEP),
}
_COLUMN: Final = {sound: at for at, sound in enumerate(Sound)}
_SOUND_OF: Final = {
    Kind.NOISE: Sound.NOISE,
    Kind.UNSURE: Sound.NOISE,
    Kind.BACKCHANNEL: Sound.BACKCHANNEL,
    Kind.PRESENCE: Sound.PRESENCE,
    Kind.WORDS: Sound.WORDS,
}


def decide(state: State, sound: Sound) -> Decision:
    """Look a sound up in the table."""
    return TABLE[state][_COLUMN[sound]]


def sound_of(kind: Kind, state: State, *, asked: bool) -> Sound:
    """The column of a judgement; asked a yes/no question, a backchannel is an answer."""
    if kind is Kind.BACKCHANNEL and asked and state in (State.AUDIBLE, State.PROTECTED):
        return Sound.WORDS
    return _SOUND_OF[kind]


@dataclass(slots=True)
class Turn:
    """The turn that runs."""

    number: int
    cause: TurnCause
    started_ms: int
    input: Input | None = None
    certain: bool = True
    answers: Listen | None = None
    """What the agent was listening for when this turn's words were said."""
    reopens: int | None = None
    tools: tuple[OpenTool, ...] = ()
    tools_started: bool = False
    heard: bool = False
    """Any sound of the agent was heard in it."""
    ended: bool = False
    """The runtime has nothing more to do in it."""
    says: set[int] = field(default_factory=set[int])
    """Ids of its says, to know a repeated one."""


class Turns:
    """Numbers and the running turn."""

    __slots__ = ("cut", "last", "running")

    def __init__(self) -> None:
        self.running: Turn | None = None
        self.last = 0
        """Number of the newest turn."""
        self.cut = 0
        """Highest turn that was interrupted or retracted."""

    def start(self, cause: TurnCause, now: int) -> Turn:
        """Open the next turn; none may be running."""
        self.last += 1
        self.running = Turn(self.last, cause, now)
        return self.running

    def cut_running(self) -> None:
        """The running turn is interrupted, retracted or lost."""
        if self.running is not None:
            self.cut = self.running.number
            self.running = None

    def finish(self) -> None:
        """The running turn has come to its own end."""
        self.running = None

    def of(self, number: int) -> Turn | None:
        """The running turn, if that is its number: the guard of all messages that name a turn."""
        turn = self.running
        return turn if turn is not None and turn.number == number else None


def state_of(
    turn: Turn | None, *, audible: bool, protected: bool, interruptible: bool = True
) -> State:
    """Name the state. ``protected``: the line that is heard, or is next, can't be talked over.

    With interruptions off a turn that got as far as a tool or a sound is protected to its end;
    before that the caller was only not done speaking.
    """
    if protected:
        return State.PROTECTED
    if turn is None:
        return State.AUDIBLE if audible else State.LISTENING
    early = not (audible or turn.heard or turn.tools_started)
    if not interruptible and not (early and turn.cause == "input"):
        return State.PROTECTED
    if audible:
        return State.AUDIBLE
    return State.THINKING if early else State.WORKING
