"""Where in a recording there is sound.

Owns spans of time and the simple energy rule behind them: fit for a replay's clean channels (the
caller's lines before any echo, the agent as heard), not for judging a live caller, which is
``voice.hearing``. Pure.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_STEP_MS = 10


@dataclass(frozen=True, slots=True)
class Span:
    """From ``start_ms`` to ``end_ms``."""

    start_ms: float
    end_ms: float

    @property
    def length_ms(self) -> float:
        """Its length; never negative for spans made here."""
        return self.end_ms - self.start_ms

    def overlaps(self, other: "Span") -> bool:
        """Whether they share any time."""
        return self.start_ms < other.end_ms and other.start_ms < self.end_ms


def spans_of_sound(
    samples: NDArray[np.int16],
    rate_hz: int,
    *,
    level_dbfs: float = -48.0,
    join_ms: float = 250.0,
    least_ms: float = 40.0,
) -> tuple[Span, ...]:
    """Find the stretches that are louder than ``level_dbfs``.

    Args:
        samples: one channel.
        rate_hz: its rate.
        level_dbfs: loudness over 10 ms that counts as sound.
        join_ms: shorter gaps are part of the stretch.
        least_ms: shorter stretches (clicks) are left out.

    Returns:
        Spans in order, right to 10 ms, none touching another.
    """
    step = rate_hz * _STEP_MS // 1000
    whole = len(samples) // step * step
    if not whole:
        return ()
    blocks = samples[:whole].astype(np.float64).reshape(-1, step)
    loud = np.sqrt((blocks**2).mean(axis=1)) >= 32768 * 10 ** (level_dbfs / 20)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], loud, [False])).astype(np.int8)))
    found: list[Span] = []
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        span = Span(float(start) * _STEP_MS, float(end) * _STEP_MS)
        if found and span.start_ms - found[-1].end_ms < join_ms:
            found[-1] = Span(found[-1].start_ms, span.end_ms)
        else:
            found.append(span)
    return tuple(span for span in found if span.length_ms >= least_ms)


def gaps_between(spans: tuple[Span, ...], inside: Span) -> tuple[Span, ...]:
    """Return the silent stretches between the first and the last sound inside a span."""
    within = [
        Span(max(s.start_ms, inside.start_ms), min(s.end_ms, inside.end_ms))
        for s in spans
        if s.overlaps(inside)
    ]
    pairs = zip(within, within[1:], strict=False)
    return tuple(Span(one.end_ms, next_.start_ms) for one, next_ in pairs)
