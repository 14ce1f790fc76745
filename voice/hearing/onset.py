"""Where a stretch of voice begins, is confirmed and ends: two detectors and loudness, made facts.

Owns the decision; it is pure and knows one caller. The cheap detector's answer and the level of
each 20 ms frame come in through ``frame``, the sure detector's windows through ``score``; both
return the facts that follow, usually none. Which sound is scored at all is told by
``wants_sure``. Whether a stretch stops the agent is the floor's matter.

Rules:

1. A stretch starts when enough frames running are voiced, 10 dB over the noise floor, over
   -52 dBFS, not 12 dB under this caller's level (once that is known), and not echo. The cheap
   detector is early on soft sounds where the sure one lags by 150-250 ms; so it starts alone.
2. The sure detector confirms it at 0.5. Where only the sure one hears a voice, both facts come at
   once; level and echo bind it just the same, since echo and side talk are voices too.
3. A confirmed stretch ends when the sure one falls to 0.35 and the sound is low, or has stayed
   there for 160 ms whatever the sound. An unconfirmed one ends when the cheap one has closed for
   60 ms. Without the sure one, or when it gets no time to answer, the cheap one closed for 80 ms
   is enough.
4. Every ``VoiceStarted`` is followed by one ``VoiceEnded``, by rule 3, a gap in the audio, or a
   judgement that it was noise.
5. Ends are measured to the last voiced window or frame, never to the moment of the decision.
"""

from bisect import bisect_left, insort
from collections import deque
from typing import Final, TypeAlias

from runtime.agent import InterruptionSettings
from voice.audio.format import FRAME_MS
from voice.floor.events import VoiceConfirmed, VoiceEnded, VoiceStarted

__all__ = ["Onset", "VoiceFact"]

VoiceFact: TypeAlias = VoiceStarted | VoiceConfirmed | VoiceEnded

_NONE: Final[tuple[VoiceFact, ...]] = ()

_SNR_DB: Final = 10.0
"""A starting frame is so much over the noise floor."""
_LOUD_DBFS: Final = -52.0
"""Nothing softer starts a stretch, however still the line."""
_UNDER_CALLER_DB: Final = 12.0
"""Softer than this under the caller's own level is somebody else in the room."""
_LOW_DB: Final = 4.0
"""Within this of the noise floor, sound is low: the voice is gone."""
_STILL_LINE_DBFS: Final = -60.0
"""A line that sends digital silence between words has no noise floor to come near to; this is the
level under which its sound counts as low all the same."""
_CONFIRM: Final = 0.5
_UNVOICED: Final = 0.35
_UNVOICED_MOST_MS: Final = 160
"""So long unvoiced by the sure detector ends a stretch in spite of noise."""
_CHEAP_CLOSED_FRAMES: Final = 3
_ALONE_CLOSED_FRAMES: Final = 4
_ALONE_ONSET_FRAMES: Final = 3
"""The cheap detector by itself waits for one frame more than it does with a sure one behind it."""
_SURE_LATE_MS: Final = 240
"""A sure detector that has not answered for so long is not asked."""
_SURE_HANG_MS: Final = 160
"""The sure detector stays sure about so long after the sound has gone; in noise, which hides the
sound's end, it is believed instead."""
_MAYBE_SNR_DB: Final = 6.0
_MAYBE_HANG_MS: Final = 240
"""After the last frame that may have been voice, the sure detector is fed for so long."""
_RECENT_FRAMES: Final = 5
"""Loudness that the sure detector's windows, 32 ms long and late, are judged by."""


class _NoiseFloor:
    """The 15th percentile of frame levels over the last two seconds."""

    _FRAMES: Final = 100
    _ASSUMED_FRAMES: Final = 8
    """Levels of a still line, assumed at first: so few that a noisy line is known for one in 0.9 s,
    so many that a caller who speaks into the first frame is heard."""
    _START_DBFS: Final = -60.0

    def __init__(self) -> None:
        self._recent = deque([self._START_DBFS] * self._ASSUMED_FRAMES)
        self._ordered = [self._START_DBFS] * self._ASSUMED_FRAMES

    def push(self, level_db: float) -> float:
        if len(self._recent) >= self._FRAMES:
            oldest = self._recent.popleft()
            del self._ordered[bisect_left(self._ordered, oldest)]
        self._recent.append(level_db)
        insort(self._ordered, level_db)
        return self._ordered[len(self._ordered) * 15 // 100]

    def loud_part_db(self) -> float:
        """The 80th percentile of the last second: how loud what was taken for voice is."""
        last = sorted(list(self._recent)[-50:])
        return last[len(last) * 4 // 5]


class _Stretch:
    """The stretch that is running."""

    __slots__ = (
        "closed_frames",
        "loud_ms",
        "confirmed",
        "last_voiced_ms",
        "onset_ms",
        "pause_ms",
        "unvoiced_ms",
    )

    def __init__(self, onset_ms: int, last_voiced_ms: int) -> None:
        self.onset_ms = onset_ms
        self.last_voiced_ms = last_voiced_ms
        self.loud_ms = last_voiced_ms
        """End of the last frame that was clearly over the noise floor."""
        self.confirmed = False
        self.closed_frames = 0
        self.unvoiced_ms = 0
        """Unvoiced windows running, ms."""
        self.pause_ms = 0
        """Unvoiced windows inside the stretch that voice followed, ms."""


class Onset:
    """One caller's stretches of voice."""

    def __init__(self, settings: InterruptionSettings, *, sure: bool) -> None:
        """Start silent; ``sure`` tells whether ``score`` will be called."""
        frames = max(1, -(-settings.onset_ms // FRAME_MS))
        self._sure = sure
        self._onset_frames = frames if sure else max(frames, _ALONE_ONSET_FRAMES)
        self._noise = _NoiseFloor()
        self._floor_db = -60.0
        self._raised_db = -100.0
        self._raised_until_ms = 0
        self._caller_db: float | None = None
        self._stretch: _Stretch | None = None
        self._run = 0
        self._recent: deque[tuple[float, bool]] = deque(maxlen=_RECENT_FRAMES)
        self._level_db = -100.0
        self._maybe_until_ms = -1
        self._maybe_since_ms = 0
        self._scored_ms = -_SURE_LATE_MS
        self._probability = 0.0
        self._must_close = False
        self._noise_judged = False
        self._ended_ms = 0
        """End of the latest stretch: the next one begins after it."""

    @property
    def running(self) -> bool:
        """Whether a stretch has started and not ended."""
        return self._stretch is not None

    @property
    def onset_ms(self) -> int:
        """Where the running stretch began; 0 when none runs."""
        return self._stretch.onset_ms if self._stretch is not None else 0

    @property
    def wants_sure(self) -> bool:
        """Whether the frame just given may be voice: worth the sure detector's time."""
        return self._stretch is not None or self._maybe_until_ms >= 0

    @property
    def floor_db(self) -> float:
        """The noise floor now, dBFS, raised where noise was taken for voice."""
        return self._floor_db

    @property
    def caller_db(self) -> float | None:
        """This caller's speech level, dBFS; None until a stretch with words was learnt."""
        return self._caller_db

    def frame(
        self, level_db: float, voiced: bool, end_ms: int, echo_open: bool
    ) -> tuple[VoiceFact, ...]:
        """Take the cheap detector's word on the 20 ms that end at ``end_ms``."""
        floor = self._noise.push(level_db)
        if end_ms < self._raised_until_ms:
            floor = max(floor, self._raised_db)
        self._floor_db = floor
        self._level_db = level_db
        self._recent.append((level_db, echo_open))
        if self._noise_judged:
            self._noise_judged = False
            if self._stretch is not None:
                return (self._end(self._stretch),)
        self._note_maybe(level_db, voiced, end_ms)
        cheap = voiced and echo_open and self._loud_enough(level_db, _SNR_DB)
        if self._stretch is not None:
            return self._go_on(self._stretch, level_db, voiced, end_ms)
        self._run = self._run + 1 if cheap else 0
        if self._must_close:
            self._must_close = self._run > 0
            return _NONE
        if self._run < self._onset_frames:
            return _NONE
        onset_ms = end_ms - self._run * FRAME_MS
        self._stretch = _Stretch(onset_ms, end_ms)
        started = VoiceStarted(onset_ms, round(level_db - floor, 1))
        if self._sure:
            return (started,)
        # Nobody else will confirm it: the longer run of frames that it took has to do.
        self._stretch.confirmed = True
        return (started, VoiceConfirmed(onset_ms))

    def score(self, end_ms: int, probability: float) -> tuple[VoiceFact, ...]:
        """Take the sure detector's word on the window that ends at ``end_ms``."""
        length_ms = max(0, min(32, end_ms - self._scored_ms))
        self._scored_ms = end_ms
        self._probability = probability
        stretch = self._stretch
        if stretch is None:
            return self._start_soft(end_ms, probability)
        if probability > _UNVOICED:
            stretch.pause_ms += stretch.unvoiced_ms
            stretch.unvoiced_ms = 0
            if probability >= _CONFIRM and not stretch.confirmed:
                stretch.confirmed = True
                stretch.last_voiced_ms = max(stretch.onset_ms, end_ms)
                return (VoiceConfirmed(stretch.onset_ms, round(probability, 3)),)
            if stretch.confirmed:
                stretch.last_voiced_ms = max(stretch.last_voiced_ms, end_ms)
            return _NONE
        if not stretch.confirmed:
            if stretch.closed_frames >= _CHEAP_CLOSED_FRAMES:
                return (self._end(stretch),)
            return _NONE
        stretch.unvoiced_ms += length_ms
        if self._is_low(self._level_db):
            return (self._end(stretch),)
        if stretch.unvoiced_ms >= _UNVOICED_MOST_MS:
            # What goes on sounding is noise: it must pause before it may start a stretch again.
            self._must_close = True
            return (self._end(stretch),)
        return _NONE

    def gap(self, at_ms: int) -> tuple[VoiceFact, ...]:
        """The audio stopped at ``at_ms``: whatever was running ends there."""
        self._run = 0
        self._maybe_until_ms = -1
        self._probability = 0.0
        stretch = self._stretch
        if stretch is None:
            return _NONE
        stretch.last_voiced_ms = max(stretch.onset_ms, min(stretch.last_voiced_ms, at_ms))
        return (self._end(stretch),)

    def learn_level(self, level_db: float) -> None:
        """This caller spoke at ``level_db``: follow it, faster up than down."""
        if self._caller_db is None:
            self._caller_db = level_db
            return
        share = 0.5 if level_db > self._caller_db else 0.3
        self._caller_db += share * (level_db - self._caller_db)

    def raise_noise_floor(self, now_ms: int, for_ms: int) -> None:
        """What sounded was noise: for ``for_ms``, voice must be 10 dB louder than it was.

        Never so far that this caller could not be heard. A running stretch ends with the next
        frame, so that a caller who speaks up over the noise starts one of their own.
        """
        raised = self._noise.loud_part_db()
        if self._caller_db is not None:
            raised = min(raised, self._caller_db - _SNR_DB)
        self._raised_db = raised
        self._raised_until_ms = now_ms + for_ms
        self._noise_judged = True

    def _go_on(
        self, stretch: _Stretch, level_db: float, voiced: bool, end_ms: int
    ) -> tuple[VoiceFact, ...]:
        answers = self._sure and end_ms - self._scored_ms < _SURE_LATE_MS
        if level_db >= max(self._floor_db, _STILL_LINE_DBFS) + _SNR_DB:
            stretch.loud_ms = end_ms
        if voiced and not self._is_low(level_db):
            stretch.closed_frames = 0
            if not stretch.confirmed or not answers:
                stretch.last_voiced_ms = end_ms
            return _NONE
        stretch.closed_frames += 1
        if not answers:
            over = stretch.closed_frames >= _ALONE_CLOSED_FRAMES
        else:
            over = (
                not stretch.confirmed
                and stretch.closed_frames >= _CHEAP_CLOSED_FRAMES
                and self._probability <= _UNVOICED
            )
        return (self._end(stretch),) if over else _NONE

    def _start_soft(self, end_ms: int, probability: float) -> tuple[VoiceFact, ...]:
        if probability < _CONFIRM or not self._recent or not self._recent[-1][1]:
            return _NONE
        # Only frames that can be more than echo count: in the agent's pauses the detector is still
        # sure of the echo before.
        level_db = max(level for level, echo_open in self._recent if echo_open)
        snr = _SNR_DB if self._raised_until_ms > end_ms else _MAYBE_SNR_DB
        if not self._loud_enough(level_db, snr):
            return _NONE
        onset_ms = end_ms - 32
        if self._maybe_until_ms >= 0:
            # The sure one is late on soft sounds: the voice began with the first likely frame.
            onset_ms = max(end_ms - 200, min(onset_ms, self._maybe_since_ms))
        onset_ms = max(onset_ms, self._ended_ms)
        self._must_close = False
        stretch = self._stretch = _Stretch(onset_ms, end_ms)
        stretch.confirmed = True
        return (
            VoiceStarted(onset_ms, round(level_db - self._floor_db, 1)),
            VoiceConfirmed(onset_ms, round(probability, 3)),
        )

    def _end(self, stretch: _Stretch) -> VoiceEnded:
        self._stretch = None
        self._run = 0
        self._ended_ms = stretch.last_voiced_ms
        if stretch.confirmed and 0 <= stretch.last_voiced_ms - stretch.loud_ms <= _SURE_HANG_MS:
            stretch.last_voiced_ms = stretch.loud_ms
        whole_ms = stretch.last_voiced_ms - stretch.onset_ms
        return VoiceEnded(
            stretch.onset_ms,
            stretch.last_voiced_ms,
            max(0, whole_ms - stretch.pause_ms),
            stretch.confirmed,
        )

    def _note_maybe(self, level_db: float, voiced: bool, end_ms: int) -> None:
        if voiced and self._loud_enough(level_db, _MAYBE_SNR_DB):
            if self._maybe_until_ms < 0:
                self._maybe_since_ms = end_ms - FRAME_MS
            self._maybe_until_ms = end_ms + _MAYBE_HANG_MS
        elif end_ms >= self._maybe_until_ms:
            self._maybe_until_ms = -1

    def _loud_enough(self, level_db: float, snr_db: float) -> bool:
        return (
            level_db > _LOUD_DBFS
            and level_db >= self._floor_db + snr_db
            and (self._caller_db is None or level_db >= self._caller_db - _UNDER_CALLER_DB)
        )

    def _is_low(self, level_db: float) -> bool:
        return level_db < max(self._floor_db, _STILL_LINE_DBFS) + _LOW_DB
