"""One caller's ear: 20 ms of sound in, facts for the floor out.

Owns the path of a frame through the cheap detector, the echo gate, ``onset`` and the sure detector,
and which of it the speech-to-text gets. Decides nothing itself: the rules are ``onset``'s and
``echo``'s, the words are the engine's, what they mean is the floor's.

Two cascades keep silence cheap. The sure detector is fed only from a frame that may be voice,
with 160 ms of what came before, so that its state is warm. The speech-to-text is fed once a
stretch is confirmed (small engines write words for any noise), but then from 300 ms before its
onset, and until 400 ms after its end. The ring that keeps the last second is always filled and what
has been fed is remembered by its time, so no syllable is lost at the moment of a decision and none
is fed twice.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from math import log10
from typing import Final

from runtime.agent import InterruptionSettings
from voice.audio.codec import to_linear
from voice.audio.format import FRAME_MS, AudioFormat
from voice.audio.level import FLOOR_DBFS, dbfs
from voice.audio.resample import Resampler
from voice.floor.events import FloorEvent, VoiceConfirmed, VoiceEnded, VoiceStarted
from voice.hearing.echo import EchoGate
from voice.hearing.guarded_stt import GuardedStt
from voice.hearing.onset import Onset, VoiceFact
from voice.hearing.ports import Samples, SpeechToText, SttHints, VoiceDetector
from voice.hearing.webrtc import WebRtcGate

__all__ = ["Ear"]

_PRE_ROLL_MS: Final = 300
_TAIL_MS: Final = 400
_SURE_PRE_ROLL_MS: Final = 160
_RING_FRAMES: Final = 50
"""Pre-roll plus the time the sure detector may need for a soft onset, in frames."""
_LEVELS_KEPT: Final = 3000
"""One minute of frame levels, for learning how loud the caller's last words were."""
_ECHO_SLACK: Final = 0.2
_SPEECH_OVER_FLOOR_DB: Final = 10.0


@dataclass(frozen=True, slots=True)
class _Kept:
    """A frame in the ring: as it came, linear, and linear at the detectors' rate."""

    payload: bytes
    samples: Samples
    narrow: Samples
    end_ms: int


class Ear:
    """Hears one call; made when the line's format is known, closed with the call."""

    def __init__(
        self,
        fmt: AudioFormat,
        *,
        detector: VoiceDetector | None,
        stt: SpeechToText,
        hints: SttHints,
        settings: InterruptionSettings,
        sink: Callable[[FloorEvent], None],
    ) -> None:
        """Open the engines for a line of that format.

        ``detector`` None = the cheap detector decides alone. ``sink`` gets voice facts from inside
        ``frame``, ``gap`` and the detector's ``run``, the engine's facts from the event loop.

        Raises:
            AudioError: a rate that is not 8, 16, 24 or 48 kHz.
        """
        self._fmt = fmt
        self._sink = sink
        narrow_hz = fmt.rate_hz if fmt.rate_hz in (8000, 16000) else 16000
        self._resampler = Resampler(fmt.rate_hz, narrow_hz) if narrow_hz != fmt.rate_hz else None
        self._cheap = WebRtcGate(narrow_hz)
        self._echo = EchoGate()
        self._onset = Onset(settings, sure=detector is not None)
        self._hears_all = stt.hears_all
        # An engine of an author's own may refuse: then there must be no row yet.
        self._stt = GuardedStt(stt.open(fmt, hints, sink), sink)
        self._probe = detector.open(narrow_hz, self._scored) if detector is not None else None
        self._probed_ms = -(10**9)
        self._fed_ms = -(10**9)
        self._feed_until_ms = -(10**9)
        self._feeding = False
        """Whether the stretch that runs is one the engine should hear."""
        self._ring: deque[_Kept] = deque(maxlen=_RING_FRAMES)
        self._levels: deque[tuple[int, float]] = deque(maxlen=_LEVELS_KEPT)
        self._closed = False

    def frame(self, payload: bytes, end_ms: int) -> None:
        """Take 20 ms of the line's own format, ending at ``end_ms`` of the caller's audio clock."""
        if self._closed:
            return
        samples = to_linear(self._fmt, payload)
        narrow = samples if self._resampler is None else self._resampler.push(samples)
        level_db = dbfs(samples)
        self._levels.append((end_ms, level_db))
        self._echo.inbound(level_db, end_ms)
        kept = _Kept(payload, samples, narrow, end_ms)
        self._ring.append(kept)
        echo_open = self._echo.allows(level_db, end_ms)
        if self._echo.has_just_closed and self._onset.running and self._was_all_echo():
            # What seemed a caller was the agent's own voice: its words are nobody's.
            self._stt.forget(end_ms)
            self._tell(self._onset.gap(end_ms))
        facts = self._onset.frame(level_db, self._cheap.is_voiced(narrow), end_ms, echo_open)
        if facts:
            self._tell(facts)
        if self._probe is not None and self._onset.wants_sure:
            self._probe_frames(end_ms)
        self._feed(kept)

    def spoke(self, samples: Samples | None, rate_hz: int, at_ms: int) -> None:
        """20 ms that the far end hears about now (None = silence); for the echo gate only.

        ``rate_hz`` is that of the outbound sound; levels don't depend on it.
        """
        level_db = FLOOR_DBFS if samples is None or rate_hz <= 0 else dbfs(samples)
        self._echo.outbound(level_db, at_ms)

    def decode_now(self, end_ms: int) -> None:
        """Ask the engine for a final answer for the audio up to there."""
        if not self._closed:
            self._stt.decode_now(end_ms)

    def forget(self, end_ms: int) -> None:
        """Let the engine drop the audio up to there."""
        if not self._closed:
            self._stt.forget(end_ms)

    def raise_noise_floor(self, now_ms: int, for_ms: int) -> None:
        """What was taken for voice was noise: for so long, only louder sound is voice."""
        self._onset.raise_noise_floor(now_ms, for_ms)

    def learn_level(self, onset_ms: int, end_ms: int) -> None:
        """The stretch carried words: from its louder frames, learn how loud this caller is."""
        least = self._onset.floor_db + _SPEECH_OVER_FLOOR_DB
        powers = [
            10.0 ** (level / 10.0)
            for at, level in self._levels
            if onset_ms < at <= end_ms and level >= least
        ]
        if powers:
            self._onset.learn_level(10.0 * log10(sum(powers) / len(powers)))

    def gap(self, at_ms: int) -> None:
        """No audio came after ``at_ms``: the stretch that was running ended there."""
        if self._probe is not None:
            self._probe.reset()
        self._probed_ms = -(10**9)
        self._tell(self._onset.gap(at_ms))

    async def aclose(self) -> None:
        """Release the detector's row and the engine's stream; idempotent."""
        if self._closed:
            return
        self._closed = True
        if self._probe is not None:
            self._probe.close()
        await self._stt.aclose()

    def _was_all_echo(self) -> bool:
        """Whether the stretch that runs was never louder than the echo that is now proven."""
        spoken = [level for level in self._levels if level[0] > self._onset.onset_ms]
        louder = sum(self._echo.allows(level_db, end_ms) for end_ms, level_db in spoken)
        return louder <= _ECHO_SLACK * len(spoken)

    def _scored(self, end_ms: int, probability: float) -> None:
        facts = self._onset.score(end_ms, probability)
        if facts:
            self._tell(facts)

    def _tell(self, facts: tuple[VoiceFact, ...]) -> None:
        for fact in facts:
            match fact:
                case VoiceStarted(onset_ms=onset_ms):
                    if self._probe is None:
                        self._feed_from(onset_ms)
                case VoiceConfirmed(onset_ms=onset_ms):
                    self._feed_from(onset_ms)
                case VoiceEnded(last_voiced_ms=last_voiced_ms):
                    if self._feeding:
                        self._feeding = False
                        self._feed_until_ms = last_voiced_ms + _TAIL_MS
            self._sink(fact)

    def _feed_from(self, onset_ms: int) -> None:
        """Give the engine what the ring holds from the pre-roll on, but for what it has."""
        self._feeding = True
        if self._hears_all:
            return
        from_ms = onset_ms - _PRE_ROLL_MS
        for kept in self._ring:
            if kept.end_ms > max(from_ms, self._fed_ms):
                self._fed_ms = kept.end_ms
                self._stt.feed(kept.payload, kept.samples, kept.end_ms, kept.end_ms > onset_ms)

    def _feed(self, kept: _Kept) -> None:
        if kept.end_ms <= self._fed_ms:
            return
        if self._feeding or self._hears_all or kept.end_ms <= self._feed_until_ms:
            self._fed_ms = kept.end_ms
            self._stt.feed(kept.payload, kept.samples, kept.end_ms, self._feeding)

    def _probe_frames(self, end_ms: int) -> None:
        """Give the sure detector this frame, and after a pause of it what came just before."""
        assert self._probe is not None
        missed_ms = end_ms - self._probed_ms
        if missed_ms == FRAME_MS:
            self._probe.push(self._ring[-1].narrow, end_ms)
            self._probed_ms = end_ms
            return
        if missed_ms > FRAME_MS + _SURE_PRE_ROLL_MS:
            self._probe.reset()
            from_ms = end_ms - FRAME_MS - _SURE_PRE_ROLL_MS
        else:
            from_ms = self._probed_ms
        for kept in self._ring:
            if kept.end_ms > from_ms:
                self._probe.push(kept.narrow, kept.end_ms)
        self._probed_ms = end_ms
