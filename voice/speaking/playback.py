"""The playback ledger: what of the sound handed to the far end the caller has heard.

Nothing else may answer that question. It knows when each 20 ms left, at which offset of the
stream, and what the far end's marks confirm; no clock is read, ``now`` (float ms of the call's
clock) comes with each question.

Theory of operation. The far end plays what it gets, in order, as it comes. So the sound of one
*run* (frames sent without letting the far end's buffer run dry) would be played, over a perfect
line, at ``play_ms + (offset - run offset)``: the ideal clock. Reality is later by the way out, by
the far end's own buffer and by each time it stalled. A mark that comes back tells the sum of these
and the way back: its *round trip*. The least round trip of the call is what the line always costs
(``base``); what a run's latest mark took more is how far that run lags.

- Heard now = ideal position, less the lag, less half the base round trip (or, where that is short,
  all of it up to 60 ms: it may be the far end's buffer) and a frame. A clear sent now meets the far
  end about where the ideal clock stands, so this stays behind the truth. Never more than was sent,
  nor much past the first mark that has not come back, nor less than a mark that has.
- Heard when the caller's sound of time t began = ideal position at t, less the lag, less the whole
  base: their sound needed the way in, ours the way out.

A clear raises the *epoch*: marks of older epochs (far ends echo them on a clear) mean nothing. A
mark can only correct within bounds: one that comes before its sound can have been played is
counted and ignored, as are unknown, empty, repeated and late ones.
"""

from collections import Counter, deque
from dataclasses import dataclass
from typing import Final

MARK_EVERY_MS: Final = 200
"""Sound between two marks."""
OVERDUE_MS: Final = 1000
"""A mark later than this means a far end that stalls."""
GIVE_UP_MS: Final = 10_000.0
"""A mark later than this means a far end that sends no marks any more."""
_UNKNOWN_DELAY_MS: Final = 60.0
"""Way out and the far end's buffer, while no round trip is known."""
_MARGIN_MS: Final = 20.0
_EARLY_MS: Final = 5.0
_MOST_PENDING: Final = 256
_MOST_STRETCHES: Final = 512


@dataclass(slots=True)
class _Run:
    """Sound sent without a gap: the far end plays it in one piece."""

    stream_ms: int
    play_ms: float
    lag_ms: float
    """By its latest mark."""
    backlog_ms: float
    """Least lag of its latest three marks: what the far end surely still has to play."""
    lags_ms: tuple[float, float]
    """Of the two marks before the latest."""


@dataclass(slots=True)
class _Stretch:
    """Consecutive sound of one say, inside one run."""

    run: _Run
    stream_ms: int
    say: int
    content_ms: int
    length_ms: int
    """Cut down at a clear to what was heard."""


@dataclass(slots=True)
class _Mark:
    """A mark that is out; ``due_ms`` is when the ideal clock reaches it."""

    sequence: int
    stream_ms: int
    due_ms: float
    run: _Run
    early: bool = False
    """It has come before its sound can have been played: no position, and not waited for."""


class Ledger:
    """What was sent and what was heard, of one call."""

    def __init__(self) -> None:
        """Begin with nothing sent."""
        self.epoch = 0
        self.sent_ms = 0
        """Stream offset of the next frame; grows for the whole call."""
        self.ignored: Counter[str] = Counter()
        """Marks that meant nothing, by kind."""
        self._runs: deque[_Run] = deque()
        self._stretches: deque[_Stretch] = deque(maxlen=_MOST_STRETCHES)
        self._pending: deque[_Mark] = deque()
        self._skipped: deque[int] = deque(maxlen=64)
        self._sequence = 0
        self._epoch_first = 0
        self._confirmed_ms = 0
        self._marked_ms = 0
        self._end_ms = 0.0
        self._base_ms: float | None = None
        self._trusted = True
        self._patience_ms = GIVE_UP_MS

    # -------------------------------------------------------------------------------- sending

    def ahead_ms(self, now: float) -> float:
        """How much sound the far end has to play; not positive when it has none."""
        return self._end_ms + self._runs[-1].backlog_ms - now if self._runs else 0.0

    def send(self, now: float, say: int, content_ms: int, length_ms: int) -> None:
        """Count a frame of a say that leaves now."""
        if not self._runs or self._end_ms < now:
            self._runs.append(self._new_run(now))
            self._end_ms = now
        run = self._runs[-1]
        last = self._stretches[-1] if self._stretches else None
        if (
            last is not None
            and last.run is run
            and last.say == say
            and last.content_ms + last.length_ms == content_ms
        ):
            last.length_ms += length_ms
        else:
            self._stretches.append(_Stretch(run, self.sent_ms, say, content_ms, length_ms))
        self.sent_ms += length_ms
        self._end_ms += length_ms

    def _new_run(self, now: float) -> _Run:
        """What a run lagged, the gap before the next takes off it."""
        lag = backlog = 0.0
        if self._runs:
            gap = now - self._end_ms
            lag = max(0.0, self._runs[-1].lag_ms - gap)
            backlog = max(0.0, self._runs[-1].backlog_ms - gap)
        return _Run(self.sent_ms, now, lag, backlog, (backlog, backlog))

    def mark_due(self) -> bool:
        """Whether a mark should follow the frame just sent (beside those at chunk ends)."""
        if self._base_ms is None and self._sequence == self._epoch_first:
            return True
        return self.sent_ms - self._marked_ms >= MARK_EVERY_MS

    @property
    def is_unmarked(self) -> bool:
        """Whether sound was sent that no mark follows."""
        return self.sent_ms > self._marked_ms

    def mark(self) -> str:
        """Name the mark that follows the sound sent so far; at most 24 bytes."""
        self._sequence += 1
        if len(self._pending) >= _MOST_PENDING:
            self._pending.popleft()
        self._pending.append(_Mark(self._sequence, self.sent_ms, self._end_ms, self._runs[-1]))
        self._marked_ms = self.sent_ms
        return f"{self.epoch % 10**9}.{self._sequence % 10**12}"

    # ---------------------------------------------------------------------------------- marks

    def mark_reached(self, name: str, now: float) -> bool:
        """Take a mark from the far end; False (and counted) if it means nothing."""
        kind = self._judge(name)
        if kind:
            self.ignored[kind] += 1
            return False
        sequence = int(name.partition(".")[2])
        at = next(m for m in self._pending if m.sequence == sequence)
        if now < at.due_ms - _EARLY_MS:
            self.ignored["early"] += 1
            at.early = True
            while self._pending[0].early and self._pending[0].due_ms < now:
                self._skipped.append(self._pending.popleft().sequence)
            return False
        while (mark := self._pending.popleft()).sequence != sequence:
            self._skipped.append(mark.sequence)
        self._trusted = True
        self._patience_ms = GIVE_UP_MS
        round_trip = max(0.0, now - at.due_ms)
        self._base_ms = round_trip if self._base_ms is None else min(self._base_ms, round_trip)
        run, lag = at.run, round_trip - self._base_ms
        run.backlog_ms = min(*run.lags_ms, lag)
        run.lag_ms, run.lags_ms = lag, (run.lags_ms[1], lag)
        self._confirmed_ms = max(self._confirmed_ms, at.stream_ms)
        return True

    def _judge(self, name: str) -> str:
        """Say why a mark is to be ignored; empty for one that is out in this epoch."""
        if not name:
            return "empty"
        left, _, right = name.partition(".")
        if not (len(name) <= 24 and name.isascii() and left.isdigit() and right.isdigit()):
            return "unknown"
        epoch, sequence = int(left), int(right)
        if epoch < self.epoch and sequence <= self._epoch_first:
            return "stale"
        if epoch != self.epoch or not self._epoch_first < sequence <= self._sequence:
            return "unknown"
        if not self._pending or sequence < self._pending[0].sequence:
            return "out_of_order" if sequence in self._skipped else "repeated"
        return ""

    def overdue_ms(self, now: float) -> float:
        """How late the first mark that is owed is, beyond what this line always costs."""
        owed = self._owed()
        if owed is None or not self._trusted:
            return 0.0
        return now - owed.due_ms - (self._base_ms or 0.0)

    def _owed(self) -> _Mark | None:
        """The first mark that is out and has not come in any way."""
        return next((mark for mark in self._pending if not mark.early), None)

    def is_stalled(self, now: float) -> bool:
        """Whether feeding must stop until marks come.

        A far end that never sent a mark, or sent none for 10 s, is followed by the clock alone
        (counted under ``no_marks``) until one comes.
        """
        late = self.overdue_ms(now)
        if late <= OVERDUE_MS:
            return False
        if self._base_ms is None or late > self._patience_ms:
            self._trusted = False
            self.ignored["no_marks"] += 1
            self._pending.clear()
            return False
        return True

    # ---------------------------------------------------------------------------------- heard

    def heard_ms(self, now: float) -> float:
        """Stream offset up to which the caller has heard, if a clear left now."""
        if not self._runs:
            return float(self.sent_ms)
        delay = self._delay_ms()
        position = self._ideal(now - delay - _MARGIN_MS)
        owed = self._owed()
        if owed is not None and self._trusted and self._base_ms is not None:
            position = min(position, owed.stream_ms + self._base_ms - delay)
        return max(position, float(self._confirmed_ms))

    def is_heard(self, stream_ms: int, now: float) -> bool:
        """Whether the caller has heard up to this stream offset."""
        return self.heard_ms(now) >= stream_ms

    def unheard_ms(self, now: float) -> float:
        """Sound that is out and, as far as is known, not heard yet."""
        return self.sent_ms - self.heard_ms(now)

    def prune(self, now: float) -> None:
        """Forget runs that are over; called now and then."""
        while len(self._runs) > 1 and self.is_heard(self._runs[1].stream_ms, now):
            self._runs.popleft()

    def _delay_ms(self) -> float:
        """What of the base round trip the sound itself may need to the caller's ear."""
        base = self._base_ms
        if base is None:
            return _UNKNOWN_DELAY_MS
        return max(base / 2, min(base, _UNKNOWN_DELAY_MS))

    def _ideal(self, at: float) -> float:
        """Stream offset that plays at ``at``, each run late by its own lag."""
        end = self.sent_ms
        for run in reversed(self._runs):
            since = at - run.play_ms - run.lag_ms
            if since >= 0:
                return min(run.stream_ms + since, float(end))
            end = run.stream_ms
        return float(end)

    # ----------------------------------------------------------------------------------- says

    def clear(self, now: float) -> None:
        """Count a clear that leaves now: raise the epoch, keep of each stretch what was heard."""
        heard = self.heard_ms(now)
        late = self.overdue_ms(now)
        if late > OVERDUE_MS:
            self._patience_ms -= late
        for stretch in self._stretches:
            if self._is_open(stretch):
                stretch.length_ms = max(0, min(stretch.length_ms, int(heard - stretch.stream_ms)))
        self.epoch += 1
        self._epoch_first = self._sequence
        self._runs.clear()
        self._pending.clear()
        self._skipped.clear()
        self._confirmed_ms = self.sent_ms
        self._marked_ms = self.sent_ms

    def content_heard_ms(self, say: int, now: float) -> int:
        """How much of a say's sound, from its start, was heard if a clear left now."""
        heard = self.heard_ms(now)
        best = 0
        for stretch in self._stretches:
            if stretch.say == say:
                length = stretch.length_ms
                if self._is_open(stretch):
                    length = max(0, min(length, int(heard - stretch.stream_ms)))
                best = max(best, stretch.content_ms + length if length else 0)
        return best

    def heard_at(self, ms: float) -> dict[int, int]:
        """For each say of late: ms of its sound that the caller had heard when they made the sound
        that reached us at ``ms``.
        """
        at = ms - (2 * _UNKNOWN_DELAY_MS if self._base_ms is None else self._base_ms)
        positions: dict[int, int] = {}
        for stretch in self._stretches:
            start = stretch.run.play_ms + stretch.stream_ms - stretch.run.stream_ms
            since = int(at - start - stretch.run.lag_ms)
            heard = max(0, min(stretch.length_ms, since))
            end = stretch.content_ms + heard if heard else 0
            positions[stretch.say] = max(positions.get(stretch.say, 0), end)
        return positions

    def sounding_at(self, now: float) -> tuple[int, int] | None:
        """Say and ms of its sound that the ideal clock plays now; None in silence."""
        for stretch in reversed(self._stretches):
            start = stretch.run.play_ms + stretch.stream_ms - stretch.run.stream_ms
            if now >= start:
                if now >= start + stretch.length_ms:
                    return None
                return stretch.say, stretch.content_ms + int(now - start)
        return None

    def _is_open(self, stretch: _Stretch) -> bool:
        """Whether a stretch belongs to this epoch."""
        return bool(self._runs) and stretch.stream_ms >= self._runs[0].stream_ms
