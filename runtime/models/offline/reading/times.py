"""Times of day.

Owns ``read_time``. Dates are in ``dates.py``.
"""

import re
from dataclasses import dataclass

from runtime.models.offline.reading.english import ENGLISH
from runtime.models.offline.reading.found import Found
from runtime.models.offline.reading.lexicon import Lexicon
from runtime.models.offline.reading.numbers import below_hundred, numeral, ordinal
from runtime.models.offline.reading.tokens import MOST_CHARS, Tokens, tokenize

__all__ = ["ClockSpan", "clock_spans", "read_time"]

_CLOCK = re.compile(r"(?<![\d:.,/])(\d{1,2})[:.h](\d{2})(?![\d:./])")
_LEADS = frozenset({"at", "around", "about", "by", "from", "until", "till", "after", "before"})
_Clock = tuple[int, int, int, int, float]
"""Hour, minute, first token, the place after, confidence."""
_RELATIVE = frozenset({"half", "quarter"})
_AT = frozenset({"at"})
_PERIOD = 12 * 60


@dataclass(frozen=True, slots=True)
class ClockSpan:
    """A time of day at ``words[first:after]``, parts of the day left out."""

    minutes: int
    """Since midnight or noon, 0..719: callers seldom say which."""
    first: int
    after: int
    is_bound: bool
    """Only what lies before or after it is meant."""


def clock_spans(tokens: Tokens, lexicon: Lexicon = ENGLISH, *, loose: bool) -> list[ClockSpan]:
    """All times of day of a text, from the left.

    Args:
        tokens: What was said.
        lexicon: The language.
        loose: Times are talked about: a bare "nine" is one. Else only what nothing but a time can
            be: "nine o'clock", "half past nine", "9:00".
    """
    found: list[ClockSpan] = []
    at = 0
    while at < len(tokens):
        clock = _clock_at(tokens, at, lexicon, loose)
        if clock is None or clock[0] > 24 or clock[1] > 59:
            at += 1
            continue
        first, after = at, max(clock[3], at + 1)
        is_bound = tokens.norm(first - 1) in lexicon.bounds and tokens.joins(first)
        found.append(ClockSpan((clock[0] * 60 + clock[1]) % _PERIOD, first, after, is_bound))
        at = after
    return found


def _may_begin(tokens: Tokens, at: int, lexicon: Lexicon) -> bool:
    word = tokens.norm(at)
    return (
        tokens.words[at].kind == "number"
        or word in lexicon.units
        or word in lexicon.teens
        or word in lexicon.tens
        or word in _RELATIVE
        or word in lexicon.articles
        or word in lexicon.clock_words
        or word in lexicon.zero_letters
    )


def _clock_at(tokens: Tokens, at: int, lexicon: Lexicon, loose: bool) -> _Clock | None:
    if not _may_begin(tokens, at, lexicon):
        return None
    token = tokens.words[at]
    if token.kind == "number" and (match := _CLOCK.match(tokens.text, token.start)) is not None:
        after = next((n for n in range(at, len(tokens)) if tokens.words[n].start >= match.end()),
                     len(tokens))  # fmt: skip
        if ":" in match[0] or loose:
            return int(match[1]), int(match[2]), at, after, 0.9
    begin = at + (tokens.norm(at) in lexicon.articles)
    relative = _relative(tokens, at, lexicon)
    if relative is not None:
        says_past = any(tokens.norm(n) in ("past", "after") for n in range(at, relative[3]))
        if loose or says_past or tokens.norm(begin) in _RELATIVE:
            return relative
    clock = _named(tokens, at, lexicon) or _marked(tokens, at, lexicon)
    if clock is not None or not loose:
        led = clock is None and tokens.norm(at - 1) in _AT
        bare = _bare(tokens, at, lexicon) if led else None
        return bare if bare is not None and bare[3] > at else clock
    if tokens.norm(at - 1) in lexicon.number_nouns or ordinal(tokens, at, lexicon) is not None:
        return None
    clock = _bare(tokens, at, lexicon)
    if clock is None or tokens.norm(clock[3]) in lexicon.periods:
        return None
    # "The gold one": a thing, unless nothing else was said or "at" stands before it.
    is_one = clock[0] == 1 and clock[3] == at + 1 and token.kind == "word"
    return None if is_one and len(tokens) > 1 and tokens.norm(at - 1) not in _LEADS else clock


def read_time(text: str, lexicon: Lexicon = ENGLISH) -> Found[str] | None:
    """Find a time of day and return it as ``HH:MM``.

    "Half past nine", "quarter to five pm", "nine thirty", "17:00", "noon", "seventeen hundred".
    Where nothing tells morning from afternoon the hour stays as said, with less confidence. "Half
    nine" is half past nine.
    """
    text = text[:MOST_CHARS]
    tokens = tokenize(text)
    written = _written(text, tokens, lexicon)
    if written is not None:
        return written
    for read in (_relative, _named, _marked):
        for at in range(len(tokens)):
            clock = read(tokens, at, lexicon)
            if clock is not None:
                return _found(tokens, clock, lexicon)
    for at in range(len(tokens)):
        if tokens.norm(at) in _LEADS and (clock := _bare(tokens, at + 1, lexicon)) is not None:
            return _found(tokens, clock, lexicon)
    for at in range(len(tokens)):
        clock = _bare(tokens, at, lexicon)
        if clock is not None:
            # Two numbers, or a number that is all there is; others count something.
            at_end = lexicon.padding.skip(tokens, clock[3]) >= len(tokens)
            alone = at == lexicon.lead_phrases.skip(tokens, 0) and at_end
            if alone or clock[4] >= 0.7:
                return _found(tokens, clock, lexicon)
    return None


def _found(tokens: Tokens, clock: _Clock, lexicon: Lexicon) -> Found[str] | None:
    hour, minute, first, after, confidence = clock
    part = _part(tokens, after, lexicon) or _any_part(tokens, first, lexicon)
    if part is not None:
        kind, end = part
        after = max(after, end) if end > after else after
        if hour > 12 and kind == "am":
            return None
        hour = _shifted(hour, kind)
        confidence = max(confidence, 0.95)
    if not (0 <= hour < 24 and 0 <= minute < 60):
        return None
    value = f"{hour:02d}:{minute:02d}"
    return Found(value, tokens.start(first), tokens.end(after), confidence)


def _shifted(hour: int, kind: str) -> int:
    if hour > 12:
        return hour
    match kind:
        case "am":
            return hour % 12
        case "night":
            # Twelve, one and two at night come after midnight.
            return hour % 12 if hour == 12 or hour < 5 else hour + 12
        case _:
            return hour % 12 + 12


def _part(tokens: Tokens, at: int, lexicon: Lexicon) -> tuple[str, int] | None:
    """Read "pm" or "in the morning" right behind a time, "o'clock" before it passed over."""
    at += tokens.norm(at) in ("o'clock", "oclock")
    found = lexicon.day_part_phrases.match(tokens, at)
    return None if found is None else (lexicon.day_parts[found[0]], found[1])


def _any_part(tokens: Tokens, before: int, lexicon: Lexicon) -> tuple[str, int] | None:
    """Read "tomorrow afternoon at three": a part of the day in front of the time."""
    for at in range(max(0, before - 6), before):
        found = lexicon.day_part_phrases.match(tokens, at)
        if found is not None and found[1] <= before:
            return lexicon.day_parts[found[0]], 0
    return None


def _written(text: str, tokens: Tokens, lexicon: Lexicon) -> Found[str] | None:
    match = _CLOCK.search(text)
    if match is None:
        return None
    hour, minute = int(match[1]), int(match[2])
    if hour > 23 or minute > 59:
        return None
    after = next((n for n, t in enumerate(tokens.words) if t.start >= match.end()), len(tokens))
    first = next((n for n, t in enumerate(tokens.words) if t.end > match.start()), 0)
    if ":" not in match[0] and _part(tokens, after, lexicon) is None and first:
        if tokens.norm(first - 1) not in _LEADS:
            return None  # "12.50" may be money
    confidence = 0.95 if hour > 12 or hour == 0 or len(match[1]) == 2 else 0.8
    return _found(tokens, (hour, minute, first, after, confidence), lexicon)


def _named(tokens: Tokens, at: int, lexicon: Lexicon) -> _Clock | None:
    value = lexicon.clock_words.get(tokens.norm(at))
    if value is None:
        return None
    return int(value[:2]) % 24, int(value[3:]), at, at + 1, 0.95


def _small(tokens: Tokens, at: int, lexicon: Lexicon) -> tuple[int, int] | None:
    found = below_hundred(tokens, at, lexicon)
    if found is not None or at >= len(tokens):
        return found
    value = numeral(tokens.words[at], lexicon)
    return (value, at + 1) if isinstance(value, int) and value < 100 else None


def _relative(tokens: Tokens, at: int, lexicon: Lexicon) -> _Clock | None:
    """Read "half past nine", "quarter to five", "ten minutes past six", "half nine"."""
    begin = at + (tokens.norm(at) in lexicon.articles)
    word = tokens.norm(begin)
    if word in ("half", "quarter"):
        minutes, after = (30 if word == "half" else 15), begin + 1
    elif (found := _small(tokens, begin, lexicon)) is not None and 0 < found[0] < 60:
        minutes, after = found
        after += tokens.norm(after) in ("minutes", "minute")
    else:
        return None
    way = tokens.norm(after)
    past, to = way in ("past", "after"), way in ("to", "till", "before", "of")
    if not (past or to):
        if word != "half":
            return None
        past = True
        after -= 1
    hour = _small(tokens, after + 1, lexicon)
    named = lexicon.clock_words.get(tokens.norm(after + 1))
    if hour is None and named is not None:
        hour = int(named[:2]), after + 2
    if hour is None or not 0 <= hour[0] <= 24 or (to and way == "of" and word != "quarter"):
        return None
    if past:
        return hour[0] % 24, minutes, at, hour[1], 0.8
    before = (hour[0] - 1) % 24 if named or hour[0] > 12 else (hour[0] - 1 or 12)
    return before, 60 - minutes, at, hour[1], 0.8


def _marked(tokens: Tokens, at: int, lexicon: Lexicon) -> _Clock | None:
    """Read what "o'clock", "pm" or "hundred hours" marks as a time."""
    clock = _bare(tokens, at, lexicon)
    if clock is None or ordinal(tokens, at, lexicon) is not None:
        return None
    marked = tokens.norm(clock[3]) in ("o'clock", "oclock")
    if marked:
        return (*clock[:3], clock[3] + 1, 0.8)
    if _part(tokens, clock[3], lexicon) is not None:
        return clock
    return clock if clock[4] > 0.9 else None


def _bare(tokens: Tokens, at: int, lexicon: Lexicon) -> _Clock | None:
    """Read "nine", "nine thirty", "nine oh five", "seventeen hundred", "1730"."""
    said = tokens.norm(at)
    if at < len(tokens) and tokens.words[at].kind == "number" and said.isdigit():
        if len(said) in (3, 4) and int(said[:-2]) < 24 and int(said[-2:]) < 60:
            return int(said[:-2]), int(said[-2:]), at, at + 1, 0.6
    first_zero = tokens.norm(at) in (*lexicon.zero_letters, "zero")
    hour = _small(tokens, at + first_zero, lexicon)
    if hour is None or hour[0] > 23:
        return None
    value, after = hour
    if lexicon.scales.get(tokens.norm(after)) == 100 and value > 9:
        after += 1 + (tokens.norm(after + 1) == "hours")
        return value, 0, at, after, 0.7 if value < 13 else 0.95
    zero = tokens.norm(after) in (*lexicon.zero_letters, "zero")
    minute = _small(tokens, after + zero, lexicon) if tokens.joins(after) else None
    if minute is not None and (10 <= minute[0] < 60 or (zero and minute[0] < 10)):
        return value, minute[0], at, minute[1], 0.7 if value < 13 else 0.9
    return value, 0, at, after, 0.5
