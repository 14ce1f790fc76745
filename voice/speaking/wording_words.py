"""Single numbers in English words: cardinals, ordinals, years, decimals, digits in groups.

Owns the one use of num2words. Which written form is which kind of number is ``wording_numbers``,
``wording_money`` and ``wording_dates``. Pure.
"""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Final, cast

import num2words

_DIGITS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_LARGEST: Final = 10**15
_NON_DIGITS: Final = re.compile(r"\D+")

MAGNITUDES: Final = {
    "k": "thousand",
    "m": "million",
    "mn": "million",
    "bn": "billion",
    "b": "billion",
    "thousand": "thousand",
    "million": "million",
    "billion": "billion",
    "trillion": "trillion",
}


def _num2words(number: int, to: str) -> str:
    convert = cast(
        "Callable[..., str]",
        num2words.num2words,  # pyright: ignore[reportUnknownMemberType]  # it has no hints
    )
    return convert(number, lang="en", to=to)


def cardinal(number: int) -> str:
    """Say a whole number: "one thousand two hundred thirty-four"; beyond 10^15 its digits."""
    if abs(number) >= _LARGEST:
        return ("minus " if number < 0 else "") + digits(str(abs(number)))
    return _num2words(number, "cardinal").replace(",", "").replace(" and ", " ")


def ordinal(number: int) -> str:
    """Say a rank: "twenty-first"."""
    if abs(number) >= _LARGEST:
        return cardinal(number)
    return _num2words(number, "ordinal").replace(",", "").replace(" and ", " ")


def year(number: int) -> str:
    """Say a year: "nineteen oh five", "two thousand six", "twenty twenty-six"."""
    if 2000 <= number < 2010 or number < 1000 or number > 2999:
        return cardinal(number)
    century, rest = divmod(number, 100)
    if rest == 0:
        return cardinal(century) + " hundred" if century % 10 else cardinal(number)
    return f"{cardinal(century)} {'oh ' if rest < 10 else ''}{cardinal(rest)}"


def decimal(text: str) -> str:
    """Say a plain decimal such as ``3.10``: each digit after the point, none added or lost."""
    whole, *parts = text.split(".")
    words = [cardinal(int(whole or "0"))]
    words.extend("point " + " ".join(_DIGITS[int(d)] for d in part) for part in parts)
    return " ".join(words)


def plain(number: Decimal) -> str:
    """Say a number without digits that mean nothing."""
    text = format(number.normalize(), "f")
    sign = "minus " if text.startswith("-") else ""
    return sign + decimal(text.lstrip("-"))


def digits(text: str) -> str:
    """Say each digit, zeros too, in groups: those that are written, else of three or four."""
    groups: list[str] = []
    for run in _NON_DIGITS.split(text):
        groups.extend(_groups(run))
    return ", ".join(" ".join(_DIGITS[int(d)] for d in group) for group in groups)


def _groups(run: str) -> list[str]:
    if len(run) <= 4:
        return [run] if run else []
    if len(run) in (7, 8):
        return [run[:-4], run[-4:]]
    if len(run) == 10:
        return [run[:3], run[3:6], run[6:]]
    size = 4 if len(run) % 4 == 0 else 3
    cuts = list(range(0, len(run), size))
    if len(run) % size == 1:
        cuts = cuts[:-1]
    return [run[a:b] for a, b in zip(cuts, [*cuts[1:], len(run)], strict=True)]


def letters(text: str) -> str:
    """Spell letters one by one."""
    return " ".join(text.upper())
