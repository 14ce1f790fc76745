"""Amounts of money.

Owns ``read_amount``: numbers beside words and signs for money, in units of the currency. Which
currency was named is not reported; plain numbers are in ``numbers.py``.
"""

from runtime.models.offline.reading.english import ENGLISH
from runtime.models.offline.reading.found import Found
from runtime.models.offline.reading.lexicon import Lexicon
from runtime.models.offline.reading.numbers import Quantity, quantities
from runtime.models.offline.reading.tokens import Tokens, tokenize

__all__ = ["has_money", "read_amount"]

_SIGNS = frozenset("$\u20ac\u00a3\u00a5")


def has_money(text: str, lexicon: Lexicon = ENGLISH) -> bool:
    """Whether a sign or a word for money stands in the text."""
    return any(
        token.norm in _SIGNS or (token.norm in lexicon.currencies and len(token.norm) > 1)
        for token in tokenize(text).words
    )


def read_amount(text: str, lexicon: Lexicon = ENGLISH) -> Found[int | float] | None:
    """Find an amount, rounded to cents: "twelve dollars and fifty cents", "$1,250.00".

    Two numbers without a unit are units and cents, so "twelve fifty" is 12.5 and "three hundred
    fifty" 350. An amount with its unit is preferred to a bare number before it.
    """
    tokens = tokenize(text)
    found = quantities(tokens, lexicon)
    marked = [n for n, one in enumerate(found) if _unit(tokens, one, lexicon) is not None]
    if marked:
        return _marked(tokens, found, marked, lexicon)
    if not found:
        return None
    value, used, confidence = _unmarked(tokens, found)
    if used < len(found):
        confidence = 0.4
    return Found(value, tokens.start(found[0].first), tokens.end(found[used - 1].after), confidence)


def _unit(tokens: Tokens, one: Quantity, lexicon: Lexicon) -> tuple[float, int, int] | None:
    """Return what one of the unit is worth and the place of number and unit together."""
    if tokens.norm(one.first - 1) in _SIGNS:
        return 1, one.first - 1, one.after
    word = tokens.norm(one.after)
    if word in _SIGNS:
        return 1, one.first, one.after + 1
    if word in lexicon.currencies:
        return lexicon.currencies[word], one.first, one.after + 1
    return None


def _marked(
    tokens: Tokens, found: list[Quantity], marked: list[int], lexicon: Lexicon
) -> Found[int | float]:
    at = marked[0]
    head = found[at]
    worth, first, after = _unit(tokens, head, lexicon) or (1, head.first, head.after)
    value = head.value * worth
    # "twelve fifty dollars"
    if at and found[at - 1].after == head.first and _are_cents(tokens, found[at - 1], head):
        value, first = found[at - 1].value + head.value / 100, found[at - 1].first
        if tokens.norm(first - 1) in _SIGNS:
            first -= 1
    if worth == 1 and at + 1 < len(found):
        cents = found[at + 1]
        unit = _unit(tokens, cents, lexicon)
        begins = after + (tokens.norm(after) == lexicon.conjunction)
        follows = cents.first == begins and isinstance(cents.value, int) and 0 < cents.value < 100
        if follows and (unit is None or unit[0] < 1):
            value += cents.value * (unit[0] if unit else 0.01)
            after = unit[2] if unit else cents.after
    # "five dollars and a half" is read by no one as five; a fraction after the unit counts.
    if tokens.norm(after) == lexicon.conjunction and tokens.norm(after + 1) in lexicon.articles:
        part = lexicon.fractions.get(tokens.norm(after + 2))
        if part is not None:
            value, after = value + part * worth, after + 3
    confidence = 0.95 if len(marked) == 1 or value != head.value * worth else 0.5
    return Found(_cents(value), tokens.start(first), tokens.end(after), confidence)


def _unmarked(tokens: Tokens, found: list[Quantity]) -> tuple[int | float, int, float]:
    head = found[0]
    if len(found) == 1 or found[1].first != head.after or not tokens.joins(head.after):
        return _cents(head.value), 1, 0.9
    if len(found) == 2 and _are_cents(tokens, head, found[1]):
        return _cents(head.value + found[1].value / 100), 2, 0.8
    if len(found) == 3 and found[1].value == 0 and found[2].first == found[1].after:
        cents = found[2].value
        if isinstance(head.value, int) and isinstance(cents, int) and 0 < cents < 10:
            return _cents(head.value + cents / 100), 3, 0.8
    digits = ""
    used = 0
    for one in found:
        if used and one.first != found[used - 1].after:
            break
        if not isinstance(one.value, int) or not 0 <= one.value < 1000 or len(digits) > 12:
            break
        digits, used = digits + str(one.value), used + 1
    return (int(digits), used, 0.5) if used > 1 else (_cents(head.value), 1, 0.4)


def _are_cents(tokens: Tokens, whole: Quantity, cents: Quantity) -> bool:
    return (
        isinstance(whole.value, int)
        and isinstance(cents.value, int)
        and whole.value >= 0
        and 10 <= cents.value < 100
        and tokens.joins(cents.first)
    )


def _cents(value: int | float) -> int | float:
    rounded = round(float(value), 2)
    return int(rounded) if rounded.is_integer() else rounded
