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
_APART_MS: Final = 100
_JOIN_WITHIN_MS: Final = 600
"""A caller who goes on so soon after "Yeah" is in the same sentence."""
_JOIN_LONGEST_MS: Final = 3000


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
    _wordless: list[Frame] = field(default_factory=list[Frame])
    """The closed stretch, if it held nothing that counts: the next one may begin with it."""
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
            self._open(end_ms)
        self._frames.append(frame)
        self._voiced_ms += FRAME_MS if voiced else 0
        self._quiet_ms = 0 if voiced else self._quiet_ms + FRAME_MS

    def _open(self, end_ms: int) -> None:
        """Begin with what led here, and with a wordless stretch that ended just before.

        "Yeah" and "let's do that" are transcribed far better as one sentence than one by one.
        """
        before, self._wordless = self._wordless, []
        voice_end_ms = max((frame.end_ms for frame in before if frame.voiced), default=0)
        if before and end_ms - FRAME_MS - voice_end_ms <= _JOIN_WITHIN_MS:
            self._frames.extend(before)
            self._voiced_ms = sum(FRAME_MS for frame in before if frame.voiced)
        joined_ms = self._frames[-1].end_ms if self._frames else 0
        self._frames.extend(frame for frame in self._lead if frame.end_ms > joined_ms)
        self._lead.clear()

    def take(self, until_ms: int | None = None) -> Stretch | None:
        """Look at the open stretch, up to ``until_ms``; None where it has no voice.

        Quiet right after ``until_ms`` comes along: the model reads the last word better when it
        hears that it ended.
        """
        frames = self._frames
        if until_ms is not None:
            more = (f.end_ms for f in frames if f.voiced and f.end_ms > until_ms)
            last_ms = next(more, frames[-1].end_ms + FRAME_MS if frames else 0) - FRAME_MS
            frames = [frame for frame in frames if frame.end_ms <= max(until_ms, last_ms)]
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

    def close(self, until_ms: int, *, wordless: bool = False) -> None:
        """End the open stretch there; what lies after it begins the next one.

        ``wordless``: it held no words that count, so a stretch that follows at once includes it.
        """
        closed = [frame for frame in self._frames if frame.end_ms <= until_ms]
        length_ms = closed[-1].end_ms - closed[0].end_ms if closed else 0
        self._wordless = closed if wordless and length_ms <= _JOIN_LONGEST_MS else []
        rest = [frame for frame in self._frames if frame.end_ms > until_ms]
        lead = [frame for frame in self._frames if frame.end_ms <= until_ms and not frame.voiced]
        self.segment += 1
        self._frames = []
        self._voiced_ms = self._quiet_ms = 0
        # Quiet frames are nobody's words: they may lead into the next stretch as well.
        self._lead.extend(frame for frame in lead if frame.end_ms > until_ms - PRE_ROLL_MS)
        for frame in rest:
            self.push(frame.samples, frame.end_ms, frame.voiced)

    def skipped_to(self, end_ms: int) -> bool:
        """Whether audio is missing between the open stretch and a frame that ends there."""
        return bool(self._frames) and end_ms - self.end_ms > _APART_MS

    def forget(self, until_ms: int) -> None:
        """Drop what lies before ``until_ms``, words and lead."""
        self.close(until_ms)
        self._wordless = []
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
