"""Whether words are the agent's own, coming back over the line.

Owns what was spoken lately, tail window included, and the comparison. The envelope gate in
``hearing`` works on sound and comes earlier; this is the second net, on words.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from rapidfuzz.distance import Levenshtein

from voice.floor.words import Tokens, tokens_of

_CHARS_A_S: Final = 22
"""Faster than any voice speaks, so that no echo is missed; the rest is still to come."""
_SPARE_CHARS: Final = 12
_BEGIN_MS: Final = 2500
_TAIL_MS: Final = 800
"""Words that begin this long after the agent's last sound may still be its echo."""
_KEPT_LINES: Final = 6
_KEPT_CHARS: Final = 4000
_LONG: Final = 4
"""From so many words in a row on, most of the heard ones are proof enough."""
_SHARE: Final = 0.6
_RUN: Final = 3
_FIRST_SHARE: Final = 0.4
_MOST_COMPARED: Final = 40
_SHORT_WORD: Final = 4
_ALIKE: Final = 0.75
"""Share of a word's letters that are right where it was only misheard."""


@dataclass(slots=True)
class SpokenLine:
    """One line on its way to the caller's ear."""

    say: int
    started_ms: int
    ended_ms: int | None = None
    held_since_ms: int | None = None
    silent_ms: int = 0
    """What holds have cost it before the one that runs."""
    pieces: list[str] = field(default_factory=list[str])
    chars: int = 0

    def said_by(self, at_ms: int) -> Tokens:
        """Its words that can have been heard by then: what is still to come has no echo."""
        last_ms = min(t for t in (at_ms, self.ended_ms, self.held_since_ms) if t is not None)
        spoken_ms = max(0, last_ms - self.started_ms - self.silent_ms)
        chars = _SPARE_CHARS + spoken_ms * _CHARS_A_S // 1000
        return tokens_of("".join(self.pieces)[:chars])

    def add(self, text: str) -> None:
        """Take the next piece of the written text, up to a bound."""
        if self.chars < _KEPT_CHARS:
            self.pieces.append(text[: _KEPT_CHARS - self.chars])
            self.chars += len(text)


class SpokenLately:
    """The last few lines heard by the caller."""

    __slots__ = ("_lines",)

    def __init__(self) -> None:
        self._lines: deque[SpokenLine] = deque(maxlen=_KEPT_LINES)

    def started(self, say: int, pieces: Iterable[str], now: int) -> None:
        """The caller hears the first sample of a line."""
        line = SpokenLine(say, now)
        for piece in pieces:
            line.add(piece)
        self._lines.append(line)

    def more(self, say: int, text: str) -> None:
        """More text of a line that is being heard."""
        for line in self._lines:
            if line.say == say:
                line.add(text)

    def held(self, now: int) -> None:
        """The gate closed: the line that is being heard goes no further."""
        for line in self._lines:
            if line.ended_ms is None and line.held_since_ms is None:
                line.held_since_ms = now

    def released(self, now: int) -> None:
        """The gate opened: it goes on."""
        for line in self._lines:
            if line.held_since_ms is not None:
                line.silent_ms += now - line.held_since_ms
                line.held_since_ms = None

    def ended(self, say: int | None, now: int) -> None:
        """The line was heard to its end, or cut; ``None`` = whatever is playing."""
        for line in self._lines:
            if line.ended_ms is None and say in (None, line.say):
                line.ended_ms = now

    def is_echo(self, tokens: Tokens, start_ms: int, end_ms: int) -> bool:
        """Whether words spoken from ``start_ms`` to ``end_ms`` repeat a line of that time.

        Short answers made of the agent's own words ("the afternoon") are no echo: under four words
        it takes the same words in a row, begun before the line ended, and two only as a whole line.
        """
        return any(
            _repeats(
                tokens, line.said_by(end_ms), line.ended_ms is None or start_ms < line.ended_ms
            )
            for line in self._lines
            if _overlaps(line, start_ms, end_ms)
        )

    def begins_a_line(self, tokens: Tokens, start_ms: int) -> bool:
        """Whether a few words are those with which a line began at about that time.

        One is too little to tell an answer by, but an agent whose own voice stops it comes no
        further than its first word.
        """
        return 0 < len(tokens) < _LONG and any(
            line.said_by(start_ms + _BEGIN_MS)[: len(tokens)] == tokens
            and 0 <= start_ms - line.started_ms <= _BEGIN_MS
            for line in self._lines
        )

    def may_become_echo(self, tokens: Tokens, start_ms: int, end_ms: int) -> bool:
        """Whether a few first words could be the beginning of an echo: wait for more of them."""
        return len(tokens) < _LONG and any(
            _contains(line.said_by(end_ms), tokens)
            for line in self._lines
            if line.ended_ms is None and _overlaps(line, start_ms, end_ms)
        )


def _overlaps(line: SpokenLine, start_ms: int, end_ms: int) -> bool:
    return end_ms >= line.started_ms and (
        line.ended_ms is None or start_ms <= line.ended_ms + _TAIL_MS
    )


def _repeats(heard: Tokens, spoken: Tokens, during: bool) -> bool:
    count = len(heard)
    if count < 2 or not spoken:
        return False
    if heard == spoken:
        return True
    if count < _LONG:
        return count == _LONG - 1 and during and _contains(spoken, heard)
    # an answer picks words of the question, an echo stretches of it ("I would like the morning")
    compared = heard[:_MOST_COMPARED]
    runs = _runs(compared, spoken)
    if max(runs) == len(compared):
        return True
    if not during:
        return False
    # a recognizer follows a soft echo for a while and then loses it
    begins_so = runs[0] >= max(_LONG, _FIRST_SHARE * len(compared))
    # and an agent that holds for its own voice says the same words again and again
    again = len(compared) > _LONG and _covered(runs, 2) == len(compared)
    return begins_so or again or _covered(runs, _RUN) >= max(_LONG, _SHARE * len(compared))


def _contains(spoken: Tokens, heard: Tokens) -> bool:
    count = len(heard)
    return any(
        all(_sounds_like(a, b) for a, b in zip(spoken[at : at + count], heard, strict=True))
        for at in range(len(spoken) - count + 1)
    )


def _runs(heard: Tokens, spoken: Tokens) -> list[int]:
    """For each word of ``heard``: how many words from there on are a run of ``spoken`` as well."""
    after = [0] * (len(spoken) + 1)
    runs = [0] * len(heard)
    for place in range(len(heard) - 1, -1, -1):
        row = [0] * (len(spoken) + 1)
        for at, other in enumerate(spoken):
            if _sounds_like(heard[place], other):
                row[at] = after[at + 1] + 1
        runs[place] = max(row)
        after = row
    return runs


def _covered(runs: list[int], least: int) -> int:
    """How many words lie in runs of ``least`` or more."""
    place = covered = 0
    while place < len(runs):
        if runs[place] >= least:
            covered += runs[place]
            place += runs[place]
        else:
            place += 1
    return covered


def _sounds_like(heard: str, spoken: str) -> bool:
    """Whether a recognizer may write the one for the other ("harbor", "harbour")."""
    if heard == spoken:
        return True
    if min(len(heard), len(spoken)) < _SHORT_WORD:
        return False
    return Levenshtein.normalized_similarity(heard, spoken, score_cutoff=_ALIKE) >= _ALIKE
