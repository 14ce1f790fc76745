"""Amounts of money as an English speaker says them.

Owns currencies and the reading of both ways to write a decimal (1,234.56 and 1.234,56). Other
numbers are ``wording_numbers``. Pure.
"""

import re
from decimal import Decimal
from typing import Final

from voice.speaking import wording_words as words
from voice.speaking.wording_text import MappedText

_Names = tuple[str, str, str, str]

_DOLLAR: Final = ("dollar", "dollars", "cent", "cents")
_EURO: Final = ("euro", "euros", "cent", "cents")
_POUND: Final = ("pound", "pounds", "penny", "pence")
_YEN: Final = ("yen", "yen", "", "")
_FRANC: Final = ("franc", "francs", "centime", "centimes")
_RUPEE: Final = ("rupee", "rupees", "paisa", "paise")
_UNITS: Final[dict[str, _Names]] = {
    "$": _DOLLAR,
    "US$": _DOLLAR,
    "USD": _DOLLAR,
    "AUD": ("Australian dollar", "Australian dollars", "cent", "cents"),
    "CAD": ("Canadian dollar", "Canadian dollars", "cent", "cents"),
    "€": _EURO,
    "EUR": _EURO,
    "£": _POUND,
    "GBP": _POUND,
    "¥": _YEN,
    "JPY": _YEN,
    "CHF": _FRANC,
    "₹": _RUPEE,
    "INR": _RUPEE,
}
_POINT_GROUPS: Final = frozenset({"€", "EUR", "CHF"})
"""Currencies whose countries write 10.000 for ten thousand."""

_UNIT: Final = r"(?P<unit>US\$|[$€£¥₹]|(?:USD|AUD|CAD|EUR|GBP|JPY|CHF|INR)(?![A-Za-z]))"
_AMOUNT: Final = (
    r"(?P<amount>\d(?:[\d.,']{0,30}\d)?(?:[eE]\d{1,2})?)"
    r"(?:\s?(?P<magnitude>[kK]|[mM]n?|bn|B|thousand|million|billion|trillion)(?![A-Za-z]))?"
)
_BEFORE: Final = re.compile(
    rf"(?<![\w.,$€£¥₹])(?P<sign>[-−]\s?)?{_UNIT}\s?(?P<sign2>-)?{_AMOUNT}(?!\d)"
)
_AFTER: Final = re.compile(
    rf"(?<![\w.,])(?P<sign>(?P<sign2>[-−]))?{_AMOUNT}\s?"
    r"(?P<unit>[$€£¥₹](?!\s?\d)|(?:USD|AUD|CAD|EUR|GBP|JPY|CHF|INR)(?!\w))"
)
_RANGE: Final = re.compile(r"(?<=[\d])\s?[-–]\s?(?=(?:US\$|[$€£¥₹])\s?\d)")
_SHARED_UNIT: Final = re.compile(
    r"(?<!\w)(?P<unit>[$€£])(?P<low>\d[\d.,]{0,20})\s?[-–]\s?(?P<high>\d[\d.,]{0,20}(?<=\d))(?![\d-])"
)
_COMMA_GROUPS: Final = re.compile(r"\d{1,3}(,\d{3})+")
_DOT_GROUPS: Final = re.compile(r"\d{1,3}(\.\d{3})+")


def put_into_words(mapped: MappedText) -> None:
    """Rewrite amounts."""
    mapped.sub(_SHARED_UNIT, lambda m: f"{m['unit']}{m['low']} to {m['unit']}{m['high']}")
    mapped.sub(_RANGE, lambda _: " to ")
    mapped.sub(_BEFORE, _say)
    mapped.sub(_AFTER, _say)


def _say(match: "re.Match[str]") -> str:
    amount = _read(match["amount"], match["unit"])
    if amount is None:
        return match.group()
    sign = "minus " if match["sign"] or match["sign2"] else ""
    return sign + _spoken(amount, _UNITS[match["unit"]], match["magnitude"])


def _spoken(amount: Decimal, names: _Names, magnitude: str | None) -> str:
    one, many, small_one, small_many = names
    if magnitude:
        return f"{words.plain(amount)} {words.MAGNITUDES[magnitude.lower()]} {many}"
    cents = amount * 100
    if cents != cents.to_integral_value() or (not small_one and amount % 1):
        # A part of a cent is read out, not rounded away.
        return f"{words.plain(amount)} {many}"
    whole, rest = divmod(int(cents), 100)
    parts: list[str] = []
    if whole or not rest:
        parts.append(f"{words.cardinal(whole)} {one if whole == 1 else many}")
    if rest:
        parts.append(f"{words.cardinal(rest)} {small_one if rest == 1 else small_many}")
    return " and ".join(parts)


def _read(text: str, unit: str) -> Decimal | None:
    """Understand an amount written in either way; None where it is neither."""
    text = text.replace("'", "")
    mantissa, _, exponent = text.lower().partition("e")
    plain = _plain(mantissa, unit)
    if plain is None:
        return None
    return Decimal(plain) * 10 ** int(exponent or "0")


def _plain(text: str, unit: str) -> str | None:
    """Write with a decimal point and without groups."""
    comma, dot = text.rfind(","), text.rfind(".")
    if comma < 0 and dot < 0:
        return text
    if comma >= 0 and dot >= 0:
        mark, group = (",", ".") if comma > dot else (".", ",")
        if text.count(mark) > 1:
            return None
        return text.replace(group, "").replace(mark, ".")
    if dot < 0:
        if _COMMA_GROUPS.fullmatch(text):
            return text.replace(",", "")
        return text.replace(",", ".") if text.count(",") == 1 else None
    if text.count(".") > 1:
        return text.replace(".", "") if _DOT_GROUPS.fullmatch(text) else None
    if unit in _POINT_GROUPS and _DOT_GROUPS.fullmatch(text) and not text.startswith("0"):
        return text.replace(".", "")
    return text
