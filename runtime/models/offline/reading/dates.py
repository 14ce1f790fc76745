"""Dates.

Owns ``read_date``: days near today, weekdays, spans, named months, and dates in numbers, against a
date that is passed in. Times of day are in ``times.py``.
"""

import calendar
import re
from collections.abc import Callable
from datetime import date, timedelta

from runtime.models.offline.reading.denials import affirmed
from runtime.models.offline.reading.english import ENGLISH
from runtime.models.offline.reading.found import Found
from runtime.models.offline.reading.lexicon import Lexicon
from runtime.models.offline.reading.numbers import below_hundred, cardinal, numeral, ordinal
from runtime.models.offline.reading.tokens import MOST_CHARS, Tokens, tokenize

__all__ = ["read_date"]

_ISO = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_NUMERIC = re.compile(r"(?<![\d.,/-])(\d{1,2})([-/.])\s?(\d{1,2})\2\s?(\d{4}|\d{2})(?!\d)")
_SHORT = re.compile(r"(?<![\d.,/-])(\d{1,2})/(\d{1,2})(?![\d/])")
_MOST_COUNT = 5000
_NEAR = 3
_MOST_DAYS = 31
_WITH_YEAR = 0.95
"""So sure is a date with a month's name and its year."""
_Span = tuple[date, int, int, float]
_Reader = Callable[[Tokens, int, date, Lexicon, bool], _Span | None]
_DEADLINES = frozenset({"by", "from", "until", "till", "since"})
"""A date behind one of them is one all the same: "I need it by Friday"."""


def read_date(
    text: str,
    today: date,
    lexicon: Lexicon = ENGLISH,
    *,
    past: bool = False,
    birth: bool = False,
) -> Found[str] | None:
    """Find a date and return it in ISO form.

    A date without a year, or a weekday alone, is the next one after today (a day of a month also
    today itself), with ``past`` the last one before. "This Friday" may be today; "next Friday" is
    the one of the week that begins next Monday. Years of two digits lie at most ten years ahead.
    Dates in numbers ("3/5", "three five ninety") are read in the lexicon's order, unless only the
    other fits: ``12/03/1985`` is the third of December for ``en`` and ``en-US``, the twelfth of
    March for ``en-GB`` and most other languages. With full stops the day comes first everywhere.

    None where a date is denied ("not on Monday", "any day but Friday"), where two were said that
    differ ("tomorrow or Friday"), and where one is only a bound ("before Friday") or stands for
    many ("every Friday"). None also where a part of it is taken back ("the 11th, no the 12th").
    With ``birth`` it is a date of birth: it has its year, is not near today and not to come.
    """
    text = affirmed(text[:MOST_CHARS], lexicon)
    past = past or birth
    try:
        found = _written(text, today, lexicon, past, birth) or _spoken(
            text, today, lexicon, past, birth
        )
    except (ValueError, OverflowError):
        return None  # past the calendar's end
    if found is None or (birth and found.value > today.isoformat()):
        return None
    is_none = _is_open(text, found, lexicon) or _is_taken_back(text, found, lexicon)
    return None if is_none else found


def _is_taken_back(text: str, found: Found[str], lexicon: Lexicon) -> bool:
    """Whether another number stands behind words that correct: "March 11th, no, the 12th"."""
    tokens = tokenize(text)
    at = next((n for n, t in enumerate(tokens.words) if t.start >= found.end), len(tokens))
    while at < len(tokens):
        correction = lexicon.correction_phrases.match(tokens, at)
        if correction is None:
            at += 1
            continue
        at = lexicon.correction_phrases.skip(tokens, correction[1])
        for near in range(at, min(at + _NEAR, len(tokens))):
            if tokens.norm(near) in ("at", "around"):  # a time of day is no part of a date
                break
            is_number = tokens.words[near].kind in ("number", "ordinal")
            if is_number or below_hundred(tokens, near, lexicon) is not None:
                return True
            if ordinal(tokens, near, lexicon) is not None or tokens.norm(near) in lexicon.months:
                return True
    return False


def _is_open(text: str, found: Found[str], lexicon: Lexicon) -> bool:
    """Whether the words beside a date make it one of several: "tomorrow or so", "before Friday"."""
    tokens = tokenize(text)
    first = next((n for n, t in enumerate(tokens.words) if t.end > found.start), 0)
    after = next((n for n, t in enumerate(tokens.words) if t.start >= found.end), len(tokens))
    alternative, before = lexicon.alternative, tokens.norm(first - 1)
    if alternative and (tokens.norm(after) == alternative or (before == alternative and first > 1)):
        return True
    if before in ("the", "this", "next", "coming"):
        before = tokens.norm(first - 2)
    return before in lexicon.bounds - _DEADLINES


def _found(span: _Span, tokens: Tokens) -> Found[str]:
    value, first, after, confidence = span
    return Found(value.isoformat(), tokens.start(first), tokens.end(after), confidence)


# ---------------------------------------------------------------------------------- in digits


def _written(
    text: str, today: date, lexicon: Lexicon, past: bool, birth: bool
) -> Found[str] | None:
    found: list[Found[str]] = []
    for match in _ISO.finditer(text):
        value = _date(int(match[1]), int(match[2]), int(match[3]))
        if value is not None:
            found.append(Found(value.isoformat(), match.start(), match.end(), 0.98))
    for match in _NUMERIC.finditer(text):
        year = _year(match[4], today)
        # A full stop between the numbers is written where the day comes first.
        day_first = lexicon.day_first or match[2] == "."
        value, confidence = _ordered(int(match[1]), int(match[3]), year, day_first)
        if value is not None:
            found.append(Found(value.isoformat(), match.start(), match.end(), confidence))
    for match in () if birth else _SHORT.finditer(text):
        month, day = (match[2], match[1]) if lexicon.day_first else (match[1], match[2])
        if int(month) > 12:
            month, day = day, month
        value = _without_year(int(month), int(day), today, past)
        if value is not None:
            found.append(Found(value.isoformat(), match.start(), match.end(), 0.7))
    return found[0] if len({one.value for one in found}) == 1 else None


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _year(digits: str, today: date) -> int:
    year = int(digits)
    if len(digits) > 2 or year > 99:
        return year
    year += today.year - today.year % 100
    return year - 100 if year > today.year + 10 else year


def _ordered(first: int, second: int, year: int, day_first: bool) -> tuple[date | None, float]:
    month, day = (second, first) if day_first else (first, second)
    value = _date(year, month, day)
    if value is not None:
        return value, 0.7 if month != day and day <= 12 else 0.9
    return _date(year, day, month), 0.8


def _without_year(month: int, day: int, today: date, past: bool) -> date | None:
    step = -1 if past else 1
    for year in range(today.year, today.year + 9 * step, step):
        value = _date(year, month, day) if 0 < year < 10_000 else None
        if value is not None and (value <= today if past else value >= today):
            return value
    return None


# ----------------------------------------------------------------------------------- in words


def _spoken(text: str, today: date, lexicon: Lexicon, past: bool, birth: bool) -> Found[str] | None:
    tokens = tokenize(text)
    used: set[int] = set()
    spans: list[_Span] = []
    near = (_span_of_time, _near_day, _weekday)
    for read in (_with_month, *near):
        for span in _spans(read, tokens, today, lexicon, past, used):
            if birth and (read in near or span[3] < _WITH_YEAR):
                continue
            if read is not _weekday or not _agrees(span, spans, tokens, lexicon):
                spans.append(span)
    if spans:
        beside = [
            span
            for span in _spans(_day_of_month, tokens, today, lexicon, past, used)
            if any(span[1] == other[2] for other in spans)
        ]
        return _only(spans + beside, tokens)
    for read in (_in_numbers,) if birth else (_in_numbers, _day_of_month):
        if found := _spans(read, tokens, today, lexicon, past, used):
            return _only(found, tokens)
    return None


def _spans(
    read: _Reader, tokens: Tokens, today: date, lexicon: Lexicon, past: bool, used: set[int]
) -> list[_Span]:
    """What a reader finds in tokens that no other found something in."""
    found: list[_Span] = []
    for at in range(len(tokens)):
        span = None if at in used else read(tokens, at, today, lexicon, past)
        if span is not None and not used & set(range(span[1], span[2])):
            found.append(span)
            used |= set(range(span[1], span[2]))
    return found


def _only(spans: list[_Span], tokens: Tokens) -> Found[str] | None:
    """The first one where all are the same day."""
    if len({span[0] for span in spans}) > 1:
        return None
    return _found(min(spans, key=lambda span: span[1]), tokens)


def _agrees(span: _Span, others: list[_Span], tokens: Tokens, lexicon: Lexicon) -> bool:
    """Whether a weekday only says more about a date beside it: "Friday, the third of May"."""
    if span[2] - span[1] > 1:
        return False
    weekday = lexicon.weekdays[tokens.norm(span[1]).removesuffix("'s")]
    return any(other[0].weekday() == weekday for other in others)


def _day(tokens: Tokens, at: int, lexicon: Lexicon) -> tuple[int, int] | None:
    """Read "third", "3rd", "three" or "3" as a day of a month."""
    at += tokens.norm(at) == "the"
    found = ordinal(tokens, at, lexicon) or below_hundred(tokens, at, lexicon)
    if found is None and at < len(tokens):
        value = numeral(tokens.words[at], lexicon)
        found = (value, at + 1) if isinstance(value, int) else None
    return found if found is not None and 1 <= found[0] <= 31 else None


def _with_month(tokens: Tokens, at: int, today: date, lexicon: Lexicon, past: bool) -> _Span | None:
    """Read "the third of May 1990" and "May 3rd, nineteen ninety"."""
    month = lexicon.months.get(tokens.norm(at))
    if month is not None:
        found = _day(tokens, at + 1, lexicon)
        if found is None:
            return None
        day, after = found
    else:
        found = _day(tokens, at, lexicon)
        if found is None:
            return None
        day, after = found
        after += tokens.norm(after) in ("of", "day")
        after += tokens.norm(after) == "of"
        month = lexicon.months.get(tokens.norm(after))
        if month is None:
            return None
        after += 1
    year = _spoken_year(tokens, after, today, lexicon, past)
    if year is not None:
        value = _date(year[0], month, day)
        return None if value is None else (value, at, year[1], _WITH_YEAR)
    value = _without_year(month, day, today, past)
    return None if value is None else (value, at, after, 0.9)


def _spoken_year(
    tokens: Tokens, at: int, today: date, lexicon: Lexicon, past: bool = False
) -> tuple[int, int] | None:
    """Read "1990", "nineteen ninety", "twenty oh five", "two thousand five" or "ninety"."""
    at += tokens.norm(at) in ("in", "of") and at + 1 < len(tokens)
    if at >= len(tokens):
        return None
    if tokens.words[at].kind == "number":
        digits = tokens.norm(at)
        beside = (
            tokens.norm(at + 1) in lexicon.day_parts
            or ":" in tokens.text[tokens.end(at + 1) : tokens.end(at + 1) + 1]
        )
        if digits.isdigit() and (len(digits) == 4 or (len(digits) == 2 and not beside)):
            is_year = len(digits) == 4 or (past and int(digits) > _MOST_DAYS)
            if is_year or tokens.text[tokens.start(at) - 1] in "'\u2019":
                return _year(digits, today), at + 1
        return None
    whole = cardinal(tokens, at, lexicon)
    if whole is not None and isinstance(whole[0], int) and 1000 <= whole[0] <= 2999:
        return whole[0], whole[1]
    century = below_hundred(tokens, at, lexicon)
    if century is None:
        return None
    after = century[1]
    if 18 <= century[0] <= 20:
        zero = tokens.norm(after) in (*lexicon.zero_letters, "zero")
        rest = below_hundred(tokens, after + zero, lexicon)
        if rest is not None and (rest[0] < 10) == zero:
            return century[0] * 100 + rest[0], rest[1]
    if century[0] >= 32 and tokens.norm(after) not in lexicon.day_parts:
        return _year(str(century[0]), today), after
    return None


def _count(tokens: Tokens, at: int, lexicon: Lexicon) -> tuple[int, int] | None:
    if tokens.norm(at) in lexicon.articles:
        if tokens.norm(at + 1) == "couple":
            return 2, at + 2 + (tokens.norm(at + 2) == "of")
        return 1, at + 1
    found = cardinal(tokens, at, lexicon)
    if found is None or not isinstance(found[0], int) or found[0] > _MOST_COUNT:
        return None
    return found[0], found[1]


def _moved(start: date, count: int, period: str) -> date:
    match period:
        case "day":
            return start + timedelta(days=count)
        case "week":
            return start + timedelta(weeks=count)
        case "fortnight":
            return start + timedelta(weeks=2 * count)
        case _:
            months = start.year * 12 + start.month - 1 + count * (12 if period == "year" else 1)
            year, month = divmod(months, 12)
            last = calendar.monthrange(year, month + 1)[1]
            return date(year, month + 1, min(start.day, last))


def _span_of_time(
    tokens: Tokens, at: int, today: date, lexicon: Lexicon, past: bool
) -> _Span | None:
    """Read "in two weeks", "three days ago", "a week from Friday", "next week"."""
    word = tokens.norm(at)
    weekdays = lexicon.weekdays  # "Friday next week" is a weekday's business
    period = lexicon.periods.get(tokens.norm(at + 1))
    if period is not None and word in ("next", "last") and tokens.norm(at - 1) not in weekdays:
        return _moved(today, 1 if word == "next" else -1, period), at, at + 2, 0.6
    inside = word in ("in", "within")
    counted = _count(tokens, at + inside, lexicon)
    if counted is None:
        return None
    count, after = counted
    period = lexicon.periods.get(tokens.norm(after))
    if period is None:
        return None
    after += 1
    if tokens.norm(after) == "ago":
        return _moved(today, -count, period), at, after + 1, 0.9
    if tokens.norm(after) in ("from", "after", "on"):
        begin = after + 1
        if tokens.norm(begin) == "now":
            return _moved(today, count, period), at, begin + 1, 0.9
        base = _near_day(tokens, begin, today, lexicon, False)
        base = base or _weekday(tokens, begin, today, lexicon, False)
        if base is not None:
            return _moved(base[0], count, period), at, base[2], 0.85
    return (_moved(today, count, period), at, after, 0.9) if inside else None


def _near_day(tokens: Tokens, at: int, today: date, lexicon: Lexicon, past: bool) -> _Span | None:
    found = lexicon.day_phrases.match(tokens, at)
    if found is None:
        return None
    return today + timedelta(days=lexicon.day_words[found[0]]), at, found[1], 0.95


def _weekday(tokens: Tokens, at: int, today: date, lexicon: Lexicon, past: bool) -> _Span | None:
    """Read "Friday", "this Friday", "next Friday", "Friday next week", "Friday week"."""
    if tokens.norm(at - 1) in lexicon.recurring:
        return None
    which = tokens.norm(at) if tokens.norm(at) in ("this", "next", "last", "coming") else ""
    named = at + bool(which)
    wanted = lexicon.weekdays.get(tokens.norm(named).removesuffix("'s"))
    if wanted is None:
        return None
    ahead = (wanted - today.weekday()) % 7
    monday = today - timedelta(days=today.weekday())
    after = named + 1
    day = _day(tokens, after, lexicon)
    if day is not None and (tokens.norm(after) == "the" or tokens.words[after].kind == "ordinal"):
        of_month = _day_of_month(tokens, after, today, lexicon, past)
        if of_month is not None and of_month[0].weekday() == wanted:
            return of_month[0], at, of_month[2], 0.9
    follows_next = tokens.norm(after) == "next" and tokens.norm(after + 1) == "week"
    if which == "next" or follows_next:
        after += 2 if follows_next else 0
        return monday + timedelta(days=7 + wanted), at, after, 0.8
    if which == "last":
        return today - timedelta(days=(today.weekday() - wanted - 1) % 7 + 1), at, after, 0.85
    if which == "this":
        return today + timedelta(days=ahead), at, after, 0.9
    if tokens.norm(after) == "week":
        return today + timedelta(days=(ahead or 7) + 7), at, after + 1, 0.8
    if past:
        return today - timedelta(days=(today.weekday() - wanted - 1) % 7 + 1), at, after, 0.8
    return today + timedelta(days=ahead or 7), at, after, 0.9


def _in_numbers(tokens: Tokens, at: int, today: date, lexicon: Lexicon, past: bool) -> _Span | None:
    """Read "three five ninety", "oh three oh five nineteen ninety"."""
    first = _short(tokens, at, lexicon)
    second = None if first is None else _short(tokens, first[1], lexicon)
    if first is None or second is None:
        return None
    year = _spoken_year(tokens, second[1], today, lexicon)
    if year is None:
        zero = tokens.norm(second[1]) in (*lexicon.zero_letters, "zero")
        small = _short(tokens, second[1], lexicon)
        if not zero or small is None:
            return None
        year = _year(str(small[0]), today), small[1]
    value, confidence = _ordered(first[0], second[0], year[0], lexicon.day_first)
    return None if value is None else (value, at, year[1], min(confidence, 0.6))


def _short(tokens: Tokens, at: int, lexicon: Lexicon) -> tuple[int, int] | None:
    at += tokens.norm(at) in (*lexicon.zero_letters, "zero")
    found = below_hundred(tokens, at, lexicon)
    if found is None and at < len(tokens) and len(tokens.norm(at)) < 3:
        value = numeral(tokens.words[at], lexicon)
        found = (value, at + 1) if isinstance(value, int) else None
    return found if found is not None and 0 < found[0] <= 31 else None


def _day_of_month(
    tokens: Tokens, at: int, today: date, lexicon: Lexicon, past: bool
) -> _Span | None:
    """Read "the third"."""
    begin = at + (tokens.norm(at) == "the")
    found = ordinal(tokens, begin, lexicon)
    if found is None or (begin == at and tokens.words[at].kind != "ordinal"):
        return None
    day, after = found
    if not 1 <= day <= 31 or tokens.norm(after) in ("one", "ones", "option"):
        return None
    months = today.year * 12 + today.month - 1
    for step in range(13):
        year, month = divmod(months + (-step if past else step), 12)
        value = _date(year, month + 1, day)
        if value is not None and (value <= today if past else value >= today):
            return value, at, after, 0.6
    return None
