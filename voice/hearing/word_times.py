"""Where the words of a text lie in the caller's audio, for engines that only know where it began.

Owns spreading words over a stretch by their length; pure. Engines that time words don't need it.
"""

from runtime.agent import Word

__all__ = ["spread_words"]


def spread_words(
    text: str, start_ms: int, end_ms: int, *, confidence: float = 1.0, loose: int = 0
) -> tuple[Word, ...]:
    """Give each word its share of the time; the last ``loose`` words get half the confidence."""
    words = text.split()
    whole = sum(len(word) + 1 for word in words)
    length_ms = max(0, end_ms - start_ms)
    timed: list[Word] = []
    before = 0
    for place, word in enumerate(words):
        after = before + len(word) + 1
        timed.append(
            Word(
                word,
                start_ms + length_ms * before // whole,
                start_ms + length_ms * after // whole,
                confidence if place < len(words) - loose else confidence / 2,
            )
        )
        before = after
    return tuple(timed)
