"""The caller's speech that is not yet transcribed, cut into stretches for a small recognizer.

Owns the frames of one stream, where a stretch begins and where it may be cut; pure. When it is
decoded is ``stt_local``'s matter. The frames come with time stamps and a note whether a voice was
running; everything else follows from these.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from voice.audio.format import FRAME_MS
from voice.audio.level import dbfs
from voice.hearing.ports import Samples

__all__ = ["Stretch", "Utterance"]

PRE_ROLL_MS: Final = 300
_LEAD_FRAMES: Final = PRE_ROLL_MS // FRAME_MS
_SPLIT_AFTER_MS: Final = 4000
_SPLIT_DIP_MS: Final = 200
_LONGEST_MS: Final = 11_000
"""The model was trained on short sound: past this it slows down and loses words."""
_CUT_WITHIN_FRAMES: Final = 100
_GONE_DB: Final = 26.0


@dataclass(frozen=True, slots=True)
class Frame:
    """20 ms of linear samples at the line's rate."""

    samples: Samples
    end_ms: int
    voiced: bool
    level_db: float


@dataclass(frozen=True, slots=True)
class Stretch:
    """What one decoding gets: the sound, and where in the caller's audio it lies."""

    segment: int
    sound: Samples
    start_ms: int
    """Where its voice begins; the sound begins up to 300 ms earlier."""
    end_ms: int
    voice_end_ms: int
    voiced_ms: int


@dataclass(slots=True)
class Utterance:
    """Frames from the pre-roll of the first voice to now."""

    segment: int = 1
    """Id of the stretch that is open; each final closes one."""
    _frames: list[Frame] = field(default_factory=list[Frame])
    _lead: deque[Frame] = field(
        default_factory=lambda: deque[Frame](maxlen=PRE_ROLL_MS // FRAME_MS)
    )
    _voiced_ms: int = 0
    _quiet_ms: int = 0

    @property
    def voiced_ms(self) -> int:
        """How much of the open stretch was voiced."""
        return self._voiced_ms

    @property
    def end_ms(self) -> int:
        """End of the last frame of the open stretch, 0 when there is none."""
        return self._frames[-1].end_ms if self._frames else 0

    def push(self, samples: Samples, end_ms: int, voiced: bool) -> None:
        """Take 20 ms; a stretch opens with its first voiced frame, and takes the lead along."""
        frame = Frame(samples, end_ms, voiced, dbfs(samples))
        if not self._frames and not voiced:
            self._lead.append(frame)
            return
        if not self._frames:
            self._frames.extend(self._lead)
            self._lead.clear()
        self._frames.append(frame)
        self._voiced_ms += FRAME_MS if voiced else 0
        self._quiet_ms = 0 if voiced else self._quiet_ms + FRAME_MS

    def take(self, until_ms: int | None = None) -> Stretch | None:
        """Look at the open stretch, up to ``until_ms``; None where it has no voice."""
        frames = self._frames
        if until_ms is not None:
            frames = [frame for frame in frames if frame.end_ms <= until_ms]
        voiced = [frame for frame in frames if frame.voiced]
        if not voiced:
            return None
        # A detector stays sure for a while after the voice has gone; what it takes for voice then
        # is far softer than the words were.
        least_db = max(frame.level_db for frame in voiced) - _GONE_DB
        while voiced[-1].level_db < least_db:
            voiced.pop()
        return Stretch(
            self.segment,
            np.concatenate([frame.samples for frame in frames]),
            voiced[0].end_ms - FRAME_MS,
            frames[-1].end_ms,
            voiced[-1].end_ms,
            len(voiced) * FRAME_MS,
        )

    def close(self, until_ms: int) -> None:
        """End the open stretch there; what lies after it begins the next one."""
        rest = [frame for frame in self._frames if frame.end_ms > until_ms]
        lead = [frame for frame in self._frames if frame.end_ms <= until_ms and not frame.voiced]
        self.segment += 1
        self._frames = []
        self._voiced_ms = self._quiet_ms = 0
        # Quiet frames are nobody's words: they may lead into the next stretch as well.
        self._lead.extend(frame for frame in lead if frame.end_ms > until_ms - PRE_ROLL_MS)
        for frame in rest:
            self.push(frame.samples, frame.end_ms, frame.voiced)

    def forget(self, until_ms: int) -> None:
        """Drop what lies before ``until_ms``, words and lead."""
        self.close(until_ms)
        kept = [frame for frame in self._lead if frame.end_ms > until_ms]
        self._lead.clear()
        self._lead.extend(kept)

    def cut_ms(self) -> int | None:
        """Where a long stretch should be cut now, if anywhere."""
        if not self._frames:
            return None
        length_ms = self._frames[-1].end_ms - self._frames[0].end_ms
        if length_ms > _SPLIT_AFTER_MS and self._quiet_ms >= _SPLIT_DIP_MS:
            return self._frames[-1].end_ms - self._quiet_ms // 2
        if length_ms < _LONGEST_MS:
            return None
        last = self._frames[-_CUT_WITHIN_FRAMES:]
        return min(last, key=lambda frame: frame.level_db).end_ms
