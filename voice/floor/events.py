"""What the floor is told: past-tense facts, each a frozen record.

Hearing's final judgements, the playback ledger's clock, keys and typed text, fired timers, and the
messages of the door (``runtime.agent``), which the floor takes as they are. Times are ms of the
call's clock; ``now`` is passed beside each event and never read from a clock.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from runtime.agent import (
    AgentLost,
    AskTurn,
    CallReady,
    HangUp,
    Listen,
    Say,
    SayEnd,
    SayText,
    Transfer,
    TurnEnded,
    Word,
    Working,
)


@dataclass(frozen=True, slots=True)
class VoiceStarted:
    """The cheap detector fired (two voiced frames, over the noise floor, near this caller's level,
    echo gate open): enough for a provisional hold, not yet speech for sure.
    """

    onset_ms: int
    """Start of the first of those frames, by the caller's audio clock."""
    snr_db: float = 0.0


@dataclass(frozen=True, slots=True)
class VoiceConfirmed:
    """The sure detector agrees that the stretch begun at ``onset_ms`` is speech."""

    onset_ms: int
    probability: float = 1.0


@dataclass(frozen=True, slots=True)
class VoiceEnded:
    """The stretch is over: sent at the first unvoiced window after it, without any hangover."""

    onset_ms: int
    last_voiced_ms: int
    """End of the last voiced window, by the caller's audio clock."""
    voiced_ms: int
    """How much of the stretch was voiced."""
    confirmed: bool


Verdict = Literal["words", "backchannel", "garble"]


@dataclass(frozen=True, slots=True)
class Transcribed:
    """The STT answered for the caller's audio up to ``audio_end_ms``; ``text`` may be empty."""

    text: str
    final: bool
    audio_start_ms: int
    audio_end_ms: int
    voiced_ms: int
    """Voiced audio behind these words."""
    logprob: float = 0.0
    """Mean log-probability a token; 0 where the engine gives none."""
    words: tuple[Word, ...] = ()
    verdict: Verdict = "words"
    """What rescoring by the engine says a short utterance is."""
    segment: int = 0
    """Same id and ``final`` again = a repetition, to be ignored."""
    uncertain: bool = False


@dataclass(frozen=True, slots=True)
class SpeakerFinished:
    """The STT's own end of turn (engines that endpoint): ``certain=False`` is an eager end."""

    certain: bool
    audio_end_ms: int


@dataclass(frozen=True, slots=True)
class SpeakerResumed:
    """The eager end was wrong: the caller goes on."""

    audio_end_ms: int


@dataclass(frozen=True, slots=True)
class TranscriberFailed:
    """No STT answers from now on: voice alone decides until ``TranscriberBack``."""

    cause: str


@dataclass(frozen=True, slots=True)
class TranscriberBack:
    """The STT answers again."""


@dataclass(frozen=True, slots=True)
class FramesStopped:
    """No caller audio has arrived for a second; ``at_ms`` is where the audio stopped."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class KeyPressed:
    """One keypad key: 0-9, ``*``, ``#``, A-D."""

    key: str


@dataclass(frozen=True, slots=True)
class TextTyped:
    """The caller typed instead of speaking."""

    text: str


@dataclass(frozen=True, slots=True)
class ButtonTapped:
    """The caller tapped a button; ``payload`` is what the button carries."""

    payload: str


@dataclass(frozen=True, slots=True)
class SayReady:
    """The first sound of a say is synthesized."""

    say: int


@dataclass(frozen=True, slots=True)
class SayStarted:
    """The first sample of a say was heard (the ledger's clock)."""

    say: int


@dataclass(frozen=True, slots=True)
class SayFinished:
    """All of a say was heard, to its end. Filler says have negative ids."""

    say: int


@dataclass(frozen=True, slots=True)
class SayFailed:
    """A say can't be spoken (further): its TTS died or hung."""

    say: int
    cause: str


@dataclass(frozen=True, slots=True)
class TimerFired:
    """A timer armed with ``ArmTimer`` came due; a stale stamp is ignored."""

    key: str
    stamp: int


@dataclass(frozen=True, slots=True)
class CallerGone:
    """The caller hung up or the line is lost. Nothing but closing follows."""

    cause: Literal["caller", "lost", "expired", "drain"]


FloorEvent: TypeAlias = (
    VoiceStarted
    | VoiceConfirmed
    | VoiceEnded
    | Transcribed
    | SpeakerFinished
    | SpeakerResumed
    | TranscriberFailed
    | TranscriberBack
    | FramesStopped
    | KeyPressed
    | TextTyped
    | ButtonTapped
    | SayReady
    | SayStarted
    | SayFinished
    | SayFailed
    | TimerFired
    | CallerGone
    | CallReady
    | Say
    | SayText
    | SayEnd
    | Working
    | Listen
    | TurnEnded
    | AskTurn
    | HangUp
    | Transfer
    | AgentLost
)
