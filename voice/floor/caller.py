"""What the caller is doing: the stretch of voice that runs, and the words on their way to a turn.

Owns the bookkeeping by the caller's audio clock: which audio the STT has answered for, which a turn
has used up, which words are a repetition or come late. Decides nothing about the floor.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import Final

from runtime.agent import Input, InputKind, Word
from voice.floor.events import Transcribed

_ANSWER_SLACK_MS: Final = 200
"""An answer up to this much before the last voiced window still speaks for all of it: recognizers
put the end of a word earlier than detectors of voice do."""
_MOSTLY_NEW: Final = 0.7
"""Words of which so much lies behind the used audio are not late, only early by a little."""
_LEAD_IN_MS: Final = 400
_KNOWN_FINALS: Final = 64
_MOST_PARTS: Final = 200


@dataclass(slots=True)
class Stretch:
    """A run of voice, as the detectors see it."""

    onset_ms: int
    confirmed: bool = False
    doubted: bool = False
    """The sure detector did not agree in time: not speech until it does."""
    distrusted: bool = False
    """It may not hold the agent (any more): only words can."""

    @property
    def running(self) -> bool:
        """It may be speech that goes on."""
        return not self.doubted

    @property
    def takes_floor(self) -> bool:
        """It is speech that nobody may talk over."""
        return self.confirmed and not self.distrusted


@dataclass(slots=True)
class Utterance:
    """The caller's words between two turns."""

    onset_ms: int | None = None
    base: Input | None = None
    """The earlier part, where a turn is reopened."""
    reopens: int | None = None
    parts: list[Transcribed] = field(default_factory=list[Transcribed])
    partial: Transcribed | None = None
    counts: bool = False
    """These words will be a turn; else they are candidates, dropped when the voice ends."""
    committed: bool = False
    """They have interrupted something: they can't be taken back."""
    kept: bool = False
    """They wait for a protected line to end."""
    complete: bool = False
    """The end of the turn is past."""
    changed_ms: int = 0
    """When words were last added."""

    @property
    def has_words(self) -> bool:
        """Anything was said."""
        return bool(self.parts or self.partial is not None or self.base is not None)

    @property
    def text(self) -> str:
        """All words, one message."""
        base = self.base.text.strip() if self.base is not None else ""
        return f"{base} {self.new_text}".strip()

    @property
    def new_text(self) -> str:
        """The words since the last turn, without the reopened part."""
        return " ".join(part.text.strip() for part in self._standing)

    @property
    def _standing(self) -> list[Transcribed]:
        """The finals, and the partial in place of those whose audio it covers again."""
        if self.partial is None:
            return self.parts
        return [*_before(self.parts, self.partial), self.partial]

    def add(self, heard: Transcribed, onset_ms: int, now: int) -> None:
        """Take a transcript that says something, of speech that began at ``onset_ms``."""
        if self.onset_ms is None:
            self.onset_ms = onset_ms
        if heard.final:
            self.parts = _before(self.parts, heard)
            if len(self.parts) < _MOST_PARTS:
                self.parts.append(heard)
            self.partial = None
        elif self.partial is None or self.partial.text != heard.text:
            self.partial = heard
        else:
            return
        self.complete = False
        self.changed_ms = now

    def nothing_said(self) -> None:
        """A final took the running partial back; what has interrupted something stands."""
        if self.partial is not None and self.committed:
            self.parts = self._standing
        self.partial = None

    def as_input(self, end_ms: int) -> Input:
        """Make the turn's input, with the first onset and the last end."""
        heard = self._standing
        words: tuple[Word, ...] = tuple(word for part in heard for word in part.words)
        onset = self.onset_ms or 0
        kind: InputKind = "speech"
        uncertain = any(part.uncertain for part in heard)
        if self.base is not None:
            words = self.base.words + words
            onset = self.base.onset_ms
            uncertain = uncertain or self.base.uncertain
        return Input(kind, self.text, words, onset, max(end_ms, onset), uncertain=uncertain)


class Caller:
    """Voice and words of the caller."""

    __slots__ = (
        "_finals",
        "_onsets",
        "answered_ms",
        "covered_ms",
        "last_onset_ms",
        "last_voiced_ms",
        "stretch",
        "utterance",
    )

    def __init__(self) -> None:
        self.stretch: Stretch | None = None
        self.last_onset_ms: int | None = None
        """Onset of the newest stretch."""
        self.last_voiced_ms: int | None = None
        """End of the last voiced window of the newest stretch that ended."""
        self.answered_ms = -1
        """The STT has given its final word for the audio up to here."""
        self.covered_ms = -1
        """Audio up to here is used up: its words belong to a turn, or were none."""
        self.utterance = Utterance()
        self._onsets: deque[int] = deque(maxlen=16)
        self._finals: OrderedDict[tuple[int, str, int], None] = OrderedDict()

    @property
    def speaking(self) -> bool:
        """Voice runs that is, or may be, speech."""
        return self.stretch is not None and self.stretch.running

    @property
    def holds_floor(self) -> bool:
        """Voice runs that is speech for sure."""
        return self.stretch is not None and self.stretch.takes_floor

    def voice_started(self, onset_ms: int) -> Stretch:
        """A stretch begins (a missing end of the one before is made good)."""
        self.stretch = Stretch(onset_ms)
        self.last_onset_ms = onset_ms
        self._onsets.append(onset_ms)
        return self.stretch

    def voice_ended(self, last_voiced_ms: int) -> None:
        """The stretch is over."""
        self.stretch = None
        self.last_voiced_ms = max(last_voiced_ms, self.last_voiced_ms or 0)

    def is_repeated(self, heard: Transcribed) -> bool:
        """Whether this final came before: same segment, or same words for the same audio."""
        key = (heard.segment, "", 0) if heard.segment else (0, heard.text, heard.audio_end_ms)
        if key in self._finals:
            return True
        self._finals[key] = None
        if len(self._finals) > _KNOWN_FINALS:
            self._finals.popitem(last=False)
        return False

    def is_overtaken(self, heard: Transcribed) -> bool:
        """Whether a partial comes after the final for its audio."""
        return not heard.final and heard.audio_end_ms <= self.answered_ms

    def is_late(self, heard: Transcribed) -> bool:
        """Whether words without a new onset belong to audio that is used up."""
        start = _start_of(heard)
        new_ms = heard.audio_end_ms - self.covered_ms
        if start >= self.covered_ms or new_ms > _MOSTLY_NEW * (heard.audio_end_ms - start):
            return False
        onset = self.last_onset_ms
        return onset is None or onset < self.covered_ms or onset > heard.audio_end_ms

    def answered(self, heard: Transcribed) -> None:
        """Note how far the STT has answered."""
        self.answered_ms = max(self.answered_ms, heard.audio_end_ms)

    @property
    def is_answered(self) -> bool:
        """Whether the STT has answered for all voice so far."""
        last = self.last_voiced_ms
        if last is None or self.answered_ms >= last:
            return True
        onset = self.last_onset_ms or 0
        return self.answered_ms > max(onset, last - _ANSWER_SLACK_MS)

    @property
    def end_ms(self) -> int:
        """End of the caller's speech: the last voiced window, or what the STT says without one."""
        utterance = self.utterance
        heard = utterance.partial or (utterance.parts[-1] if utterance.parts else None)
        onset = utterance.onset_ms or 0
        if self.last_voiced_ms is not None and self.last_voiced_ms > onset:
            return self.last_voiced_ms
        if heard is None:
            return utterance.base.end_ms if utterance.base is not None else self.covered_ms
        return heard.words[-1].end_ms if heard.words else heard.audio_end_ms

    def collect(self, heard: Transcribed, now: int) -> None:
        """Add a transcript to the utterance.

        Its audio may have a lead-in before the voice; then the onset is the voice's own.
        """
        start = _start_of(heard)
        onset = next((ms for ms in self._onsets if 0 <= ms - start <= _LEAD_IN_MS), start)
        self.utterance.add(heard, min(onset, now), now)

    @property
    def done_ms(self) -> int:
        """End of the audio that words or voice were found in so far."""
        if self.utterance.has_words or self.last_voiced_ms is None:
            return max(self.end_ms, self.last_voiced_ms or 0)
        return self.last_voiced_ms

    def use_up(self, end_ms: int) -> None:
        """Audio up to here is done with, and so are the words collected from it."""
        self.covered_ms = max(self.covered_ms, end_ms)
        self.utterance = Utterance()


def _before(parts: list[Transcribed], heard: Transcribed) -> list[Transcribed]:
    """Leave out the finals whose audio a later transcript covers again, from an earlier start."""
    return [part for part in parts if part.audio_start_ms < heard.audio_start_ms]


def _start_of(heard: Transcribed) -> int:
    return heard.words[0].start_ms if heard.words else heard.audio_start_ms
