"""Dates, years and times of day as an English speaker says them.

Numeric dates are read month first, unless only day first makes sense. Pure.
"""

import re
from typing import Final

from voice.speaking import wording_words as words
from voice.speaking.wording_text import MappedText

_MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_MONTH: Final = (
    r"(?P<month>Jan(?:uary|\.)?|Feb(?:ruary|\.)?|Mar(?:ch|\.)?|Apr(?:il|\.)?|May|June?|July?|"
    r"Aug(?:ust|\.)?|Sept?(?:ember|\.)?|Oct(?:ober|\.)?|Nov(?:ember|\.)?|Dec(?:ember|\.)?)"
)
_YEAR: Final = r"(?P<year>1[0-9]\d\d|20\d\d)"
_ISO: Final = re.compile(rf"(?<![\d-]){_YEAR}-(?P<month>\d\d)-(?P<day>\d\d)(?![\d-])")
_SLASHED: Final = re.compile(
    r"(?<![\d/])(?P<first>\d{1,2})/(?P<second>\d{1,2})/(?P<year>\d{4})(?![\d/])"
)
_DOTTED: Final = re.compile(
    r"(?<![\d.])(?P<second>\d{1,2})\.(?P<first>\d{1,2})\.(?P<year>\d{4})(?![\d])"
)
_MONTH_DAY: Final = re.compile(
    rf"(?<!\w){_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:,.]?\d)"
    rf"(?:,?\s+{_YEAR}(?![\d,.:]\d|\d))?"
)
_DAY_MONTH: Final = re.compile(
    rf"(?<![\w.,:/-])(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?!\w)"
    rf"(?:,?\s+{_YEAR}(?![\d,.:]\d|\d))?"
)
_MONTH_YEAR: Final = re.compile(rf"(?<!\w){_MONTH}\s+{_YEAR}(?![\d,.:]\d|\d)")
_YEARS: Final = re.compile(
    r"(?<![\d.,:/-])(?P<low>1[1-9]\d\d|20\d\d)\s?[-–]\s?(?P<high>1[1-9]\d\d|20\d\d)(?![\d-])"
)
_IN_YEAR: Final = re.compile(
    r"(?i)(?<!\w)(?P<lead>(?:in|since|until|till|year|during|before|after|early|late|mid|spring|"
    rf"summer|autumn|fall|winter)\s+){_YEAR}(?![\d,.:-]\d|\d|\s+[a-z]+s\b)"
)
_HALF: Final = r"(?:\s?(?P<half>[AaPp])\.?\s?[Mm]\b\.?)"
_CLOCK: Final = re.compile(
    rf"(?<![\d:.,])(?P<hour>\d{{1,2}}):(?P<minute>[0-5]\d)(?::[0-5]\d)?(?![\d:]){_HALF}?"
)
_DOT_CLOCK: Final = re.compile(rf"(?<![\d:.,])(?P<hour>\d{{1,2}})\.(?P<minute>[0-5]\d){_HALF}")
_HOUR: Final = re.compile(rf"(?<![\d:.,$€£])(?P<hour>\d{{1,2}}){_HALF}")
_TIME_PART: Final = r"\d{1,2}(?:[:.][0-5]\d)?(?:\s?[AaPp]\.?[Mm]\b\.?)?"
_SPAN: Final = re.compile(
    rf"(?<![\w.,:/$€£-])(?P<low>{_TIME_PART})(?:\s?–\s?|-)(?P<high>{_TIME_PART})(?![\w/:-]|[.,]\d)"
)


def put_into_words(mapped: MappedText) -> None:
    """Rewrite dates and times, and spans of hours and other small numbers."""
    for pattern in (_ISO, _SLASHED, _DOTTED):
        mapped.sub(pattern, _numeric)
    for pattern in (_MONTH_DAY, _DAY_MONTH, _MONTH_YEAR):
        mapped.sub(pattern, _named)
    mapped.sub(_YEARS, lambda m: f"{words.year(int(m['low']))} to {words.year(int(m['high']))}")
    mapped.sub(_IN_YEAR, lambda m: m["lead"] + words.year(int(m["year"])))
    mapped.sub(_SPAN, lambda m: f"{m['low']} to {m['high']}")
    for pattern in (_CLOCK, _DOT_CLOCK):
        mapped.sub(pattern, _clock)
    mapped.sub(_HOUR, _hour)


def _numeric(match: "re.Match[str]") -> str:
    groups = match.groupdict()
    if "first" in groups:
        month, day = int(groups["first"]), int(groups["second"])
        if month > 12:
            month, day = day, month
    else:
        month, day = int(groups["month"]), int(groups["day"])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return match.group()
    return f"{_MONTHS[month - 1]} {words.ordinal(day)}, {words.year(int(groups['year']))}"


def _named(match: "re.Match[str]") -> str:
    groups = match.groupdict()
    name = next(m for m in _MONTHS if m.startswith(groups["month"].rstrip(".")[:3]))
    day, year = groups.get("day"), groups.get("year")
    if day is not None and not 1 <= int(day) <= 31:
        return match.group()
    spoken = f"{name} {words.ordinal(int(day))}" if day is not None else name
    if year is None:
        return spoken
    return f"{spoken}{',' if day is not None else ''} {words.year(int(year))}"


def _clock(match: "re.Match[str]") -> str:
    hour, minute = int(match["hour"]), int(match["minute"])
    if hour > 24:
        return match.group()
    half = _half(match)
    if minute:
        spoken = f"{words.cardinal(hour)} {'oh ' if minute < 10 else ''}{words.cardinal(minute)}"
    elif half:
        spoken = words.cardinal(hour)
    elif hour > 12 or hour == 0:
        spoken = f"{words.cardinal(hour)} hundred hours"
    else:
        spoken = f"{words.cardinal(hour)} o'clock"
    return spoken + half + _kept_stop(match)


def _hour(match: "re.Match[str]") -> str:
    if not 0 <= int(match["hour"]) <= 24:
        return match.group()
    return words.cardinal(int(match["hour"])) + _half(match) + _kept_stop(match)


def _half(match: "re.Match[str]") -> str:
    half = match["half"]
    return f" {half.upper()}M" if half else ""


def _kept_stop(match: "re.Match[str]") -> str:
    """The dot of "p.m." that is also the end of its sentence stays."""
    rest = match.string[match.end() :]
    follows = rest.lstrip()[:1]
    return "." if match.group().endswith(".") and (not follows or follows.isupper()) else ""
