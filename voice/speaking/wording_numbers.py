"""Numbers as an English speaker says them: what is counted, and what is spelled.

Owns the order in which kinds of numbers are looked for (money, dates, phone numbers and ids, then
the rest) and all kinds but ``wording_money`` and ``wording_dates``. The words themselves come from
``wording_words``. Pure.
"""

import re
from typing import Final

from voice.speaking import wording_dates, wording_money
from voice.speaking import wording_words as words
from voice.speaking.wording_text import MappedText

# ----------------------------------------------------------------- phone numbers and ids

_PLUS_PHONE: Final = re.compile(r"(?<![\w+])\+\s?(\d(?:[\s().\-/]{0,2}\d){6,16})(?!\d)")
_NANP_PHONE: Final = re.compile(
    r"(?<![\d\-(+])((?:1[\-. ])?(?:\(\d{3}\) ?|\d{3}[\-. ])\d{3}[\-. ]\d{4})(?![\d-])"
)
_LOCAL_PHONE: Final = re.compile(r"(?<![\d\-./])(\d{3}-\d{4})(?![\d-])")
_CALL: Final = re.compile(
    r"(?i)(?<!\w)(?P<lead>(?:phone|telephone|tel|call|dial|fax|mobile|hotline|text)\b"
    r"(?:\s+(?:us|me|them|number|no\.|on|at|is))*[.:]?\s+)(?P<id>\d{3,}(?:[ \-/]\d+)*)"
    r"(?![\d.,:]?\d|\s+[a-z]+s\b)"
)
_ID_WORDS: Final = (
    r"order|account|card|confirmation|reference|ref|ticket|case|booking|reservation|tracking|"
    r"invoice|policy|customer|member|membership|passport|licen[cs]e|serial|pin|code|passcode|"
    r"number|digits|id|iban|extension|ext|zip|zip code|postcode|postal code|flight|room|suite|"
    r"apartment|apt|gate|bus|locker|box|sku"
)
_ID: Final = re.compile(
    rf"(?i)(?<!\w)(?P<lead>(?:{_ID_WORDS})\b(?P<named>(?:\s+(?:number|no\.|code|id|ending|"
    r"in|with|is|are))*)[.:]?\s*(?P<hash>#?)\s?)(?P<id>\d+(?:[ \-]\d+)*)(?![\w.,:/]?\d|\w)"
    r"(?P<plural>(?=\s+[a-z]+s\b)?)"
)
_ENDING: Final = re.compile(
    r"(?i)(?<!\w)(?P<lead>(?:ending|ends|last four(?: digits)?)(?:\s+(?:in|with|are|is))?:?\s+)"
    r"(?P<id>\d{2,})(?![\w.,:/]?\d|\w)"
)
_CARD: Final = re.compile(r"(?<![\d\-.,])(\d{4}(?:[ -]\d{4}){1,4})(?![\d-])")
_DASHED: Final = re.compile(r"(?<![\w\-.,])(\d+(?:-\d+){2,})(?![\w-])")
_LEADING_ZERO: Final = re.compile(r"(?<![\w.,:/])(0\d+)(?![.,:/]?\d)")
_LONG: Final = re.compile(r"(?<![\w.,:/])(\d{7,})(?![.,:/]?\d|\w)")
_MIXED: Final = re.compile(
    r"(?<![\w\-])(?=[A-Z0-9-]*[A-Z])(?=[A-Z0-9-]*\d[A-Z-]*\d)[A-Z0-9]+(?:-[A-Z0-9]+)*(?![\w-])"
)
_RUN: Final = re.compile(r"[A-Z]+|\d+")

# ----------------------------------------------------------------------------- quantities

_NUMBER: Final = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
_TIMES: Final = re.compile(r"(?<=\d)\s?[*×]\s?(?=\d)")
_OVER: Final = re.compile(r"(?<=\d)\s?÷\s?(?=\d)")
_EQUALS: Final = re.compile(r"\s=\s|(?<=\d)=(?=\d)")
_PLUS: Final = re.compile(r"(?<=\d)\s?\+\s?(?=\d)")
_MINUS: Final = re.compile(r"(?<=\d) [-−] (?=\d+(?:\.\d+)?(?: =|=|\s?[+*×÷]))")
_LEAD_PLUS: Final = re.compile(r"(?<!\S)\+(?=\d)")
_ABOUT: Final = re.compile(r"(?<!\w)[~≈]\s?(?=[\d$€£])")
_NUMBER_SIGN: Final = re.compile(r"(?<!\w)(?:#|(?:No|Nr|no|nr)\.)\s?(?=\d)")
_AMPERSAND: Final = re.compile(r"\s?&\s?")
_EITHER: Final = re.compile(r"(?<=[a-z]{2})/(?=[a-z]{2})")
_THOUSANDS: Final = re.compile(r"(?<=\d)(?:[\u00a0\u202f\u2009](?=\d{3}(?!\d))| (?=000(?!\d)))")
_DEGREES: Final = re.compile(
    rf"(?<![\w.,])(?P<sign>[-−])?(?P<n>{_NUMBER})\s?°\s?(?P<scale>[CF]\b)?"
)
_PERCENT: Final = re.compile(r"(?<=\d)\s?%")
_ORDINAL: Final = re.compile(r"(?<![\w.,])(\d{1,9})(?:st|nd|rd|th)\b")
_FRACTION: Final = re.compile(r"(?<![\w./])(\d{1,2})/(\d{1,2})(?![\w/.]?\d|\w)")
_FRACTIONS: Final = {
    "1/2": "one half",
    "1/3": "one third",
    "2/3": "two thirds",
    "1/4": "one quarter",
    "3/4": "three quarters",
    "24/7": "twenty-four seven",
}
_VULGAR: Final = re.compile(r"(?P<n>\d+)?\s?(?P<part>[½⅓⅔¼¾])")
_VULGARS: Final = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4"}
_UNIT: Final = re.compile(
    rf"(?<![\w.,])(?P<n>{_NUMBER})\s?"
    r"(?P<unit>km/h|kmh|km|cm|mm|kg|mg|ml|kWh|kW|GB|MB|TB|kB|mph|lbs?|oz|ft|hrs?|mins?|secs?)\b"
    r"(?!\.\w)"
)
_UNITS: Final = {
    "km/h": "kilometers per hour",
    "kmh": "kilometers per hour",
    "km": "kilometers",
    "cm": "centimeters",
    "mm": "millimeters",
    "kg": "kilograms",
    "mg": "milligrams",
    "ml": "milliliters",
    "kWh": "kilowatt hours",
    "kW": "kilowatts",
    "GB": "gigabytes",
    "MB": "megabytes",
    "TB": "terabytes",
    "kB": "kilobytes",
    "mph": "miles per hour",
    "lb": "pounds",
    "lbs": "pounds",
    "oz": "ounces",
    "ft": "feet",
    "hr": "hours",
    "hrs": "hours",
    "min": "minutes",
    "mins": "minutes",
    "sec": "seconds",
    "secs": "seconds",
}
_ONE_OF: Final = {"feet": "foot", "kilometers per hour": "kilometer per hour"}
_POWER: Final = re.compile(r"(?<![\w.,])(\d{1,4})[eE](\d{1,2})(?!\w)")
_VERSION: Final = re.compile(r"(?<![\w.,])(\d+(?:\.\d+){2,})(?![\w]|\.\d)")
_PLAIN: Final = re.compile(rf"(?P<sign>(?<![\w)])[-−](?=\d))?(?P<n>{_NUMBER})")


def put_into_words(mapped: MappedText) -> None:
    """Rewrite every number of the text."""
    if not any(char.isdigit() for char in mapped.text):
        mapped.sub(_AMPERSAND, lambda _: " and ")
        mapped.sub(_EITHER, _either)
        return
    _sums(mapped)
    wording_money.put_into_words(mapped)
    _called_numbers(mapped)
    wording_dates.put_into_words(mapped)
    _bare_ids(mapped)
    _quantities(mapped)
    mapped.sub(_PLAIN, _plain)


def _sums(mapped: MappedText) -> None:
    for pattern, word in (
        (_TIMES, " times "),
        (_OVER, " divided by "),
        (_MINUS, " minus "),
        (_PLUS, " plus "),
        (_EQUALS, " equals "),
        (_ABOUT, "about "),
        (_AMPERSAND, " and "),
        (_THOUSANDS, ""),
    ):
        mapped.sub(pattern, lambda _, word=word: word)
    mapped.sub(_EITHER, _either)


def _either(match: "re.Match[str]") -> str:
    return " " if match.string[: match.start()].endswith("and") else " or "


def _called_numbers(mapped: MappedText) -> None:
    mapped.sub(_PLUS_PHONE, lambda m: "plus " + words.digits(m.group(1)))
    for pattern in (_NANP_PHONE, _LOCAL_PHONE):
        mapped.sub(pattern, lambda m: words.digits(m.group(1)))
    mapped.sub(_CALL, lambda m: m["lead"] + words.digits(m["id"]))
    mapped.sub(_ID, _id)
    mapped.sub(_ENDING, lambda m: m["lead"] + words.digits(m["id"]))


def _bare_ids(mapped: MappedText) -> None:
    mapped.sub(_CARD, lambda m: words.digits(m.group(1)))
    mapped.sub(_DASHED, lambda m: words.digits(m.group(1)))
    mapped.sub(_LEADING_ZERO, lambda m: words.digits(m.group(1)))
    mapped.sub(_LONG, _long)
    mapped.sub(_MIXED, _mixed)


def _id(match: "re.Match[str]") -> str:
    """Spell what follows "order", "card" and the like, unless it counts something."""
    text = match["id"]
    named = bool(match["named"].strip() or match["hash"])
    follows_plural = re.match(r"\s+[a-z]+s\b", match.string[match.end() :])
    small = len(text) < 3 and not text.startswith("0")
    if small or (follows_plural and not named and not text.startswith("0")):
        return match.group()
    return match["lead"].replace("#", "number ") + words.digits(text)


def _long(match: "re.Match[str]") -> str:
    text = match.group(1)
    return match.group() if text.endswith("000") else words.digits(text)


def _mixed(match: "re.Match[str]") -> str:
    """Spell an id of capitals and digits; runs of four letters and more stay words."""
    runs = _RUN.findall(match.group())
    if any(len(run) > 3 for run in runs if not run.isdigit()):
        return match.group()
    return ", ".join(words.digits(r) if r.isdigit() else words.letters(r) for r in runs)


def _quantities(mapped: MappedText) -> None:
    mapped.sub(_NUMBER_SIGN, lambda _: "number ")
    mapped.sub(_DEGREES, _degrees)
    mapped.sub(_PERCENT, lambda _: " percent")
    mapped.sub(_ORDINAL, lambda m: words.ordinal(int(m.group(1))))
    mapped.sub(_VULGAR, _vulgar)
    mapped.sub(_FRACTION, _fraction)
    mapped.sub(_UNIT, _unit)
    mapped.sub(_POWER, lambda m: words.cardinal(int(m.group(1)) * 10 ** int(m.group(2))))
    mapped.sub(_VERSION, lambda m: words.decimal(m.group(1)))
    mapped.sub(_LEAD_PLUS, lambda _: "plus ")


def _number(text: str) -> str:
    return words.decimal(text.replace(",", ""))


def _degrees(match: "re.Match[str]") -> str:
    scale = {"C": " Celsius", "F": " Fahrenheit"}.get(match["scale"] or "", "")
    unit = "degree" if match["n"] == "1" else "degrees"
    return f"{'minus ' if match['sign'] else ''}{_number(match['n'])} {unit}{scale}"


def _vulgar(match: "re.Match[str]") -> str:
    part = _FRACTIONS[_VULGARS[match["part"]]]
    if match["n"] is None:
        return part
    return f"{_number(match['n'])} and {part.replace('one half', 'a half')}"


def _fraction(match: "re.Match[str]") -> str:
    known = _FRACTIONS.get(match.group())
    if known:
        return known
    low, high = int(match.group(1)), int(match.group(2))
    return f"{words.cardinal(low)} out of {words.cardinal(high)}" if low <= high else match.group()


def _unit(match: "re.Match[str]") -> str:
    unit = _UNITS[match["unit"]]
    if match["n"] == "1":
        unit = _ONE_OF.get(unit, unit.removesuffix("s"))
    return f"{_number(match['n'])} {unit}"


def _plain(match: "re.Match[str]") -> str:
    """Say a number that is nothing special; never glued to letters beside it."""
    text, (start, end) = match.string, match.span()
    before = " " if start and text[start - 1].isalpha() else ""
    after = " " if text[end : end + 1].isalpha() else ""
    sign = "minus " if match["sign"] else ""
    return before + sign + _number(match["n"]) + after
