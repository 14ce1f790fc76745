"""The call's mouth: says become sound at the far end, in order, and never run far ahead.

Owns the order of says, the output gate (hold and release), feeding at most ``lead`` ahead of real
time, and the one settlement of each say. What was heard is the ledger's answer (``playback``),
sound is made by ``synthesis``, one say's text and sound live in ``utterance``. Whether a say may
be heard at all is decided by ``voice.floor``.

Rules.
1. Only allowed says are fed, in the order they were allowed; a say allowed before its sound is
   there holds back those behind it.
2. The gate is checked when a frame is due, not when the engine delivers it.
3. Sound of a say that is settled is never sent.
4. ``sink`` and ``settled`` are called from ``tick`` or from the event loop, never from inside
   another method but ``settle``, so that the driver may call methods while it handles an event.
5. For each say: at most one SayReady, SayStarted, then SayFinished or SayFailed; exactly one
   SaySettled. A say with nothing to speak has only SayFinished. Lines of the voice plane's own
   (negative ids, turn 0) are says like any other: the driver keeps them from the runtime.

All times are ms of the call's clock, the one ``clock`` gives.
"""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable, Collection
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from runtime.agent import Heard, Say, SayEnd, SayOutcome, SaySettled, SayText
from voice.audio.format import FRAME_MS, AudioFormat
from voice.floor.events import FloorEvent, SayFailed, SayFinished, SayReady, SayStarted
from voice.speaking.playback import Ledger
from voice.speaking.playback_text import Script
from voice.speaking.ports import TextToSpeech
from voice.speaking.synthesis import Synthesizer
from voice.speaking.utterance import Utterance

LEAD_MS: Final = 200
"""How far ahead of real time a far end is fed that can drop what it has."""
LEAD_WITHOUT_CLEAR_MS: Final = 100
"""How far one that can't."""
_RECENT_SAYS: Final = 16
"""Settled says whose text is kept, for what was heard at a past moment."""
_PRUNE_EVERY_MS: Final = 1000

_log = logging.getLogger(__name__)


class Line(Protocol):
    """The way to the far end; nothing here waits."""

    def audio(self, payload: bytes) -> None:
        """Send 20 ms in the line's own format."""
        ...

    def mark(self, name: str) -> None:
        """Send a mark that follows the sound sent so far."""
        ...

    def clear(self) -> None:
        """Tell the far end to drop what it has not played."""
        ...


class Mouth:
    """Speaks one call's says."""

    def __init__(
        self,
        fmt: AudioFormat,
        *,
        tts: TextToSpeech,
        voice: str | None,
        line: Line,
        sink: Callable[[FloorEvent], None],
        settled: Callable[[SaySettled], None],
        call: int,
        can_clear: bool,
        clock: Callable[[], float],
    ) -> None:
        """Open for one call, on the running event loop."""
        self._fmt = fmt
        self._engine_rate_hz = tts.rate_hz
        self._line = line
        self._sink = sink
        self._settled = settled
        self._call = call
        self._can_clear = can_clear
        self._clock = clock
        self._lead_ms = LEAD_MS if can_clear else LEAD_WITHOUT_CLEAR_MS
        self._loop = asyncio.get_running_loop()
        self._ledger = Ledger()
        self._synthesizer = Synthesizer(
            tts, voice, clock=clock, on_sound=self._on_sound, on_end=self._on_sound_end
        )
        self._says: dict[int, Utterance] = {}
        self._queue: list[Utterance] = []
        self._recent: deque[tuple[int, Script]] = deque(maxlen=_RECENT_SAYS)
        self._posts: deque[FloorEvent | SaySettled] = deque()
        self._drain_due = False
        self._held = False
        self._prune_at_ms = 0.0
        self.counts: Counter[str] = Counter()
        """What was dropped, refused or repaired, by kind."""

    # ------------------------------------------------------------------------------ the says

    def say(self, msg: Say) -> None:
        """Begin a say; its text follows."""
        self._open(msg.say, msg.turn, msg.language)

    def text(self, msg: SayText) -> None:
        """Take the next piece of a say's text."""
        utterance = self._says.get(msg.say)
        if utterance is None:
            self.counts["text_of_no_say"] += 1
            return
        utterance.add_text(msg.text, self._clock())
        self._synthesizer.wants(utterance)

    def end(self, msg: SayEnd) -> None:
        """End a say's text."""
        utterance = self._says.get(msg.say)
        if utterance is None:
            self.counts["end_of_no_say"] += 1
            return
        self._end_text(utterance)

    def speak_line(self, say: int, text: str, language: str) -> None:
        """Speak words of the voice plane's own; allowed from the start."""
        utterance = self._open(say, 0, language)
        if utterance is not None:
            utterance.add_text(text, self._clock())
            self.allow(say)
            self._end_text(utterance)

    def allow(self, say: int) -> None:
        """Let a say be heard as soon as its turn in the queue comes."""
        utterance = self._says.get(say)
        if utterance is None or utterance.allowed:
            return
        utterance.allowed = True
        self._queue.append(utterance)
        self._feed(self._clock())

    def drop(self, say: int) -> None:
        """Settle a say that must not be heard any further."""
        utterance = self._says.get(say)
        if utterance is not None:
            for settlement in self._cut([utterance]):
                self._post(settlement)

    # ------------------------------------------------------------------------------ the gate

    def hold(self) -> None:
        """Close the gate: stop feeding, take back what is not heard yet. Idempotent."""
        if not self._held:
            self._held = True
            self._take_back(self._clock())

    def release(self) -> None:
        """Open the gate: go on from what was heard, at the start of the cut word. Idempotent."""
        if not self._held:
            return
        self._held = False
        now = self._clock()
        if not self._can_clear and self._ledger.ahead_ms(now) <= 0:
            # All that was sent has been heard by now, up to the middle of a word.
            for utterance in self._queue:
                if utterance.feed_ms and utterance.end_stream_ms is None:
                    utterance.go_back(utterance.feed_ms)
        for utterance in self._queue:
            utterance.resume()
        self._feed(now)

    def flush(self, keep: Collection[int] = ()) -> tuple[SaySettled, ...]:
        """Settle every say but those to keep; take their unheard sound back.

        The settlements are returned and not passed to ``settled``. The gate stays as it is.
        """
        return tuple(self._cut([u for u in self._says.values() if u.say not in keep]))

    # -------------------------------------------------------------------------- the far end

    def mark_reached(self, name: str) -> None:
        """Take a mark the far end sent back; those that mean nothing are counted."""
        self._ledger.mark_reached(name, self._clock())

    def tick(self, now_ms: float) -> None:
        """Feed what is due and report what was heard; called every 20 ms."""
        if self._says:
            for utterance in self._says.values():
                if utterance.has_paused(now_ms):
                    self._synthesizer.wants(utterance)
            self._synthesizer.tick(now_ms)
            if self._queue:
                self._follow(now_ms)
                self._feed(now_ms)
        if self._posts:
            self._drain()

    def heard_at(self, ms: int) -> tuple[Heard, ...]:
        """What of the last says the caller had heard when they made the sound that came at ``ms``.

        Oldest say first, also those of which nothing had been heard by then; lines of the voice
        plane's own are left out.
        """
        now = self._clock()
        # A far end that stalls has played less than its clock says; only the marks know.
        positions = {
            say: min(heard_ms, self._ledger.content_heard_ms(say, now))
            for say, heard_ms in self._ledger.heard_at(ms).items()
        }
        unsettled = {u.say: u.script for u in self._says.values()}
        positions = {**dict.fromkeys(unsettled, 0), **positions}
        scripts = {**dict(self._recent), **unsettled}
        return tuple(
            Heard(say, script.heard_chars(at), at > 0 and script.is_whole_at(at))
            for say, script in sorted(scripts.items())
            if say >= 0 and (at := positions.get(say)) is not None
        )

    def playing(self, now: float) -> NDArray[np.int16] | None:
        """The 20 ms the caller hears about now, linear at the line's rate; None in silence."""
        if not self._queue:
            return None
        place = self._ledger.sounding_at(now)
        utterance = self._says.get(place[0]) if place else None
        return utterance.sound.linear(place[1]) if place and utterance else None

    def use_voice(self, voice: str | None) -> None:
        """Speak says that begin later in this voice; what is being spoken keeps its own."""
        self._synthesizer.voice = voice

    @property
    def audible(self) -> bool:
        """Whether sound is on its way to the caller's ear."""
        return self._ledger.unheard_ms(self._clock()) > 0

    @property
    def idle(self) -> bool:
        """Whether no say is open and all sound was heard."""
        return not self._says and not self.audible

    @property
    def ignored_marks(self) -> Counter[str]:
        """Marks that meant nothing, by kind."""
        return self._ledger.ignored

    def settle(self) -> None:
        """Settle what is open, now and through ``settled``, after what was settled before."""
        for settlement in self._cut(list(self._says.values())):
            self._post(settlement)
        self._drain()

    async def aclose(self) -> None:
        """Settle what is open (through ``settled``) and close every stream; idempotent."""
        self.settle()
        await self._synthesizer.aclose()

    # ------------------------------------------------------------------------------- feeding

    def _feed(self, now: float) -> None:
        """Send the frames that are due, up to the lead."""
        if self._held or self._ledger.is_stalled(now):
            return
        ledger = self._ledger
        for utterance in self._queue:
            if utterance.end_stream_ms is not None:
                continue
            while max(ledger.ahead_ms(now), 0.0) + FRAME_MS <= self._lead_ms:
                frame = utterance.sound.frame(utterance.feed_ms)
                if frame is None:
                    break
                self._send(utterance, frame, now)
            if not utterance.sound.whole or utterance.ahead_ms > 0:
                return
            self._mark_end(utterance)

    def _send(self, utterance: Utterance, frame: bytes, now: float) -> None:
        ledger = self._ledger
        if utterance.fade:
            frame = utterance.sound.faded(frame)
            utterance.fade = False
        if utterance.first_stream_ms is None:
            utterance.first_stream_ms = ledger.sent_ms
        self._line.audio(frame)
        ledger.send(now, utterance.say, utterance.feed_ms, FRAME_MS)
        utterance.feed_ms += FRAME_MS
        if utterance.passed_boundary() or ledger.mark_due():
            self._line.mark(ledger.mark())
            utterance.sound.trim(utterance.feed_ms)

    def _mark_end(self, utterance: Utterance) -> None:
        utterance.end_stream_ms = self._ledger.sent_ms
        if self._ledger.is_unmarked:
            self._line.mark(self._ledger.mark())

    def _follow(self, now: float) -> None:
        """Report what began and what ended to be heard."""
        heard = self._ledger.heard_ms(now)
        for utterance in tuple(self._queue):
            first = utterance.first_stream_ms
            if first is None:
                break
            if utterance.started_ms is None and heard > first:
                utterance.started_ms = int(now)
                self._post(SayStarted(utterance.say))
            if utterance.end_stream_ms is not None and heard >= utterance.end_stream_ms:
                self._finish(utterance, now)
        if now >= self._prune_at_ms:
            self._prune_at_ms = now + _PRUNE_EVERY_MS
            self._ledger.prune(now)

    def _take_back(self, now: float) -> None:
        """Clear the far end and set every say back to what was heard of it."""
        if not self._can_clear or self._ledger.unheard_ms(now) <= 0:
            return
        self._line.clear()
        self._ledger.clear(now)
        for utterance in self._queue:
            if utterance.first_stream_ms is not None:
                utterance.go_back(self._ledger.content_heard_ms(utterance.say, now))

    # ------------------------------------------------------------------------------ settling

    def _cut(self, utterances: list[Utterance]) -> list[SaySettled]:
        """Settle says now, whatever state they are in; take back their sound if any is unheard."""
        now = self._clock()
        unheard = self._ledger.unheard_ms(now) > 0
        if unheard and any(self._is_out(u, now) for u in utterances):
            self._take_back(now)
            if not self._held:
                kept = [u for u in self._queue if u not in utterances]
                for utterance in kept:
                    utterance.resume()
        out: list[SaySettled] = []
        for utterance in utterances:
            heard_ms = self._heard_of(utterance, now)
            script = utterance.script
            outcome: SayOutcome = "dropped"
            chars = script.heard_chars(heard_ms) if heard_ms else 0
            if heard_ms and script.is_whole_at(heard_ms):
                outcome = "heard"
            elif chars:
                outcome = "cut"
            out.append(self._settle(utterance, outcome, chars, now))
        return out

    def _is_out(self, utterance: Utterance, now: float) -> bool:
        """Whether sound of the say may be on its way, unheard."""
        if utterance.first_stream_ms is None or utterance.resume_ms is not None:
            return False
        end = utterance.end_stream_ms
        return end is None or not self._ledger.is_heard(end, now)

    def _heard_of(self, utterance: Utterance, now: float) -> int:
        """Ms of a say's sound that are heard, or will be where nothing can be taken back."""
        if utterance.first_stream_ms is None:
            return 0
        if not self._can_clear:
            return utterance.feed_ms
        return self._ledger.content_heard_ms(utterance.say, now)

    def _finish(self, utterance: Utterance, now: float) -> None:
        """Settle a say whose sound was heard to its end."""
        if utterance.failed:
            self._post(SayFailed(utterance.say, utterance.cause))
            chars = utterance.script.heard_chars(utterance.feed_ms)
            self._post(self._settle(utterance, "failed", chars, now))
            return
        self._post(SayFinished(utterance.say))
        written = len(utterance.script.written)
        self._post(self._settle(utterance, "heard", written, now))

    def _settle(
        self, utterance: Utterance, outcome: SayOutcome, chars: int, now: float
    ) -> SaySettled:
        """End a say for good."""
        utterance.settled = True
        self.counts["code_dropped"] += utterance.code_dropped
        self._synthesizer.forget(utterance)
        del self._says[utterance.say]
        if utterance.allowed:
            self._queue.remove(utterance)
        self._recent.append((utterance.say, utterance.script))
        started = utterance.started_ms
        return SaySettled(
            self._call,
            utterance.turn,
            utterance.say,
            outcome,
            chars,
            started,
            None if started is None else int(now),
        )

    # ------------------------------------------------------------------------------- plumbing

    def _open(self, say: int, turn: int, language: str) -> Utterance | None:
        if say in self._says:
            self.counts["say_twice"] += 1
            return None
        utterance = Utterance(say, turn, language, self._fmt, self._engine_rate_hz)
        self._says[say] = utterance
        return utterance

    def _end_text(self, utterance: Utterance) -> None:
        utterance.end_text()
        if utterance.is_empty:
            self._finish(utterance, self._clock())
        else:
            self._synthesizer.wants(utterance)

    def _on_sound(self, utterance: Utterance) -> None:
        if not utterance.ready and not utterance.settled and utterance.sound.length_ms > 0:
            utterance.ready = True
            self._post(SayReady(utterance.say))
        if utterance.allowed and not utterance.settled:
            self._feed(self._clock())

    def _on_sound_end(self, utterance: Utterance) -> None:
        if utterance.settled:
            return
        if utterance.failed and utterance.sound.length_ms == 0.0:
            self._finish(utterance, self._clock())
        elif utterance.allowed:
            self._feed(self._clock())

    def _post(self, event: FloorEvent | SaySettled) -> None:
        self._posts.append(event)
        if not self._drain_due:
            self._drain_due = True
            self._loop.call_soon(self._drain)

    def _drain(self) -> None:
        """Hand over what was posted; what that causes in turn comes with the next round."""
        self._drain_due = False
        for _ in range(len(self._posts)):
            if not self._posts:
                return  # what was handed over ended the call: ``settle`` has seen to the rest
            match event := self._posts.popleft():
                case SaySettled():
                    self._settled(event)
                case _:
                    self._sink(event)
