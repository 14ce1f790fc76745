"""What the floor orders: imperative records, performed in order by the call's driver.

None of them waits for the far end. Messages to the runtime are the door's own (``runtime.agent``);
the driver fills in what only the playback ledger knows (``InterruptTurn.settled``,
``Input.heard_at_onset``).
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from runtime.agent import CloseCause, ConfirmTurn, Fields, InterruptTurn, RetractTurn, StartTurn


@dataclass(frozen=True, slots=True)
class HoldOutput:
    """Close the output gate: stop feeding, clear the far end, keep the position heard. Idempotent.

    Given whenever the caller may have the floor, audible or not; nothing is cancelled.
    """


@dataclass(frozen=True, slots=True)
class ReleaseOutput:
    """Open the gate: go on from the heard position, at the start of the cut word."""


@dataclass(frozen=True, slots=True)
class FlushOutput:
    """Drop all that is unheard: far end cleared, TTS streams closed, every open say settled.

    The gate stays as it is (held until ``ReleaseOutput``).
    """

    keep: tuple[int, ...] = ()
    """Says that survive (a protected line that is audible)."""


@dataclass(frozen=True, slots=True)
class AllowSay:
    """This say may be played now, when the gate is open: its pacing pause is over."""

    say: int


@dataclass(frozen=True, slots=True)
class DropSay:
    """A say that must not be heard (its turn is over): settle it as dropped."""

    say: int


@dataclass(frozen=True, slots=True)
class SpeakLine:
    """Speak words of the voice plane's own (a filler, an apology); ``say`` is negative and new.

    The driver synthesizes and plays it like any say; it never reaches the runtime as a say.
    """

    say: int
    text: str
    kind: Literal["filler", "apology"]


@dataclass(frozen=True, slots=True)
class DecodeNow:
    """Ask the STT for a final answer for the audio up to ``audio_end_ms``; new voice voids it."""

    audio_end_ms: int


@dataclass(frozen=True, slots=True)
class DropTranscript:
    """Forget the caller's audio up to ``audio_end_ms``: noise, or words already used."""

    audio_end_ms: int


@dataclass(frozen=True, slots=True)
class RaiseNoiseFloor:
    """What was taken for voice was noise: the detector's floor rises for ``for_ms``."""

    for_ms: int


@dataclass(frozen=True, slots=True)
class LearnCallerLevel:
    """``onset_ms`` to ``end_ms`` carried words: that is how loud this caller is."""

    onset_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class ArmTimer:
    """Post ``TimerFired(key, stamp)`` at ``due_ms``; a newer stamp of the key replaces it."""

    key: str
    stamp: int
    due_ms: int


@dataclass(frozen=True, slots=True)
class EndCall:
    """Close the call: hang up, settle, release everything."""

    cause: CloseCause
    transfer_to: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """A decision with its reason and evidence, for the page, the report and the log.

    Caller's words only in fields named ``text``, which logs leave out.
    """

    event: str
    fields: Fields = ()


FloorAction: TypeAlias = (
    HoldOutput
    | ReleaseOutput
    | FlushOutput
    | AllowSay
    | DropSay
    | SpeakLine
    | DecodeNow
    | DropTranscript
    | RaiseNoiseFloor
    | LearnCallerLevel
    | ArmTimer
    | EndCall
    | Record
    | StartTurn
    | ConfirmTurn
    | RetractTurn
    | InterruptTurn
)
