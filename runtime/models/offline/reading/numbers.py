"""Numbers in words and digits.

Owns the grammar of English-like cardinals over a lexicon, and ``read_integer`` and
``read_number``. Money is in ``amounts.py``, digits that are no number in ``digits.py``.
"""

import math
import re
from dataclasses import dataclass

from runtime.models.offline.reading.english import ENGLISH
from runtime.models.offline.reading.found import Found
from runtime.models.offline.reading.lexicon import Lexicon
from runtime.models.offline.reading.tokens import Token, Tokens, tokenize

__all__ = [
    "Quantity",
    "below_hundred",
    "cardinal",
    "is_thing",
    "numeral",
    "ordinal",
    "quantities",
    "quantity",
    "read_integer",
    "read_number",
]

_MOST_DIGITS = 15
"""More than a float can hold exactly is no count of anything."""
_GROUPED = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?")
_GROUPED_COMMA = re.compile(r"\d{1,3}(\.\d{3})+(,\d+)?")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number at ``words[first:after]``."""

    value: int | float
    first: int
    after: int


# ------------------------------------------------------------------------------ the grammar


def numeral(token: Token, lexicon: Lexicon) -> int | float | None:
    """Read digits as they are written: ``1,250.00``; None when they are no plain number."""
    said = token.norm
    if token.kind != "number" or len(said) > _MOST_DIGITS + 6:
        return None
    grouped, group, point = (
        (_GROUPED_COMMA, ".", ",") if lexicon.decimal_comma else (_GROUPED, ",", ".")
    )
    if grouped.fullmatch(said):
        said = said.replace(group, "")
    whole, _, part = said.partition(point)
    if not whole.isdigit() or (part and not part.isdigit()) or len(whole) > _MOST_DIGITS:
        # A single sign of the other kind is a decimal point too: "2.5" where a comma is usual.
        whole, _, part = said.partition(group)
        if not (whole.isdigit() and part.isdigit() and len(whole) <= _MOST_DIGITS):
            return None
    return float(f"{whole}.{part}") if part else int(whole)


def below_hundred(tokens: Tokens, at: int, lexicon: Lexicon) -> tuple[int, int] | None:
    """Read a word number below 100 and say where it ends."""
    word = tokens.norm(at)
    if (tens := lexicon.tens.get(word)) is not None:
        unit = lexicon.units.get(tokens.norm(at + 1), 0) if tokens.joins(at + 1) else 0
        return (tens + unit, at + 2) if unit else (tens, at + 1)
    value = lexicon.teens.get(word, lexicon.units.get(word))
    return None if value is None else (value, at + 1)


def cardinal(tokens: Tokens, at: int, lexicon: Lexicon) -> tuple[int | float, int] | None:
    """Read the longest cardinal that begins at a token; digits may stand for its words."""
    first = _group(tokens, at, lexicon, first=True)
    if first is None:
        return None
    total: int | float = 0
    last = math.inf
    begin = at
    group, at = first
    while True:
        goes_on = at == begin or tokens.joins(at)
        scale = lexicon.scales.get(tokens.norm(at), 0) if goes_on else 0
        if not 1000 <= scale < last:
            return total + group, at
        total, at, last = total + group * scale, at + 1, scale
        after = at
        if tokens.norm(after) == lexicon.conjunction:
            after += 1
        following = _group(tokens, after, lexicon)
        if following is None:
            return total, at
        group, end = following
        further = lexicon.scales.get(tokens.norm(end), 0)
        if group >= last or further >= last or tokens.words[at].before not in ("", "-", ","):
            return total, at
        at = end


def _group(
    tokens: Tokens, at: int, lexicon: Lexicon, *, first: bool = False
) -> tuple[int | float, int] | None:
    """Read up to the hundreds."""
    base: tuple[int | float, int] | None = below_hundred(tokens, at, lexicon)
    if base is None and first:
        base = _leading(tokens, at, lexicon)
    elif base is None and (value := _small_numeral(tokens, at, lexicon)) is not None:
        base = value, at + 1
    if base is None:
        return None
    begin = at
    value, at = base
    goes_on = at == begin or tokens.joins(at)
    if lexicon.scales.get(tokens.norm(at)) != 100 or not goes_on or not value:
        return base
    value, at = value * 100, at + 1
    after = at + 1 if tokens.norm(at) == lexicon.conjunction else at
    tail = below_hundred(tokens, after, lexicon) if tokens.joins(at) else None
    if tail is None and tokens.joins(at) and (more := _small_numeral(tokens, after, lexicon)):
        tail = (more, after + 1) if more < 100 else None
    # "one hundred one hundred": the second "one" begins another number.
    if tail is None or not tail[0] or lexicon.scales.get(tokens.norm(tail[1])) == 100:
        return value, at
    return value + tail[0], tail[1]


def _leading(tokens: Tokens, at: int, lexicon: Lexicon) -> tuple[int | float, int] | None:
    """Read what only the beginning of a cardinal may be: digits, "a hundred", "hundred"."""
    if at < len(tokens) and (value := numeral(tokens.words[at], lexicon)) is not None:
        return value, at + 1
    word = tokens.norm(at)
    if word in lexicon.scales:
        return 1, at
    if word in lexicon.articles and tokens.norm(at + 1) in lexicon.scales and tokens.joins(at + 1):
        return 1, at + 1
    return None


def _small_numeral(tokens: Tokens, at: int, lexicon: Lexicon) -> int | None:
    value = numeral(tokens.words[at], lexicon) if at < len(tokens) else None
    return value if isinstance(value, int) and value < 1000 else None


def ordinal(tokens: Tokens, at: int, lexicon: Lexicon) -> tuple[int, int] | None:
    """Read "third", "twenty first" or "3rd"."""
    if at < len(tokens) and tokens.words[at].kind == "ordinal":
        return int(tokens.norm(at)[:-2]), at + 1
    word = tokens.norm(at)
    if (tens := lexicon.tens.get(word)) and tokens.joins(at + 1):
        unit = lexicon.ordinals.get(tokens.norm(at + 1), 10)
        return (tens + unit, at + 2) if unit < 10 else None
    value = lexicon.ordinals.get(word)
    return None if value is None else (value, at + 1)


def quantity(tokens: Tokens, at: int, lexicon: Lexicon) -> Quantity | None:
    """Read one number with sign, decimals and fraction at a token."""
    first = at
    sign = 1
    if tokens.norm(at) in lexicon.minus or _is_minus_sign(tokens, at):
        sign, at = -1, at + (tokens.norm(at) in lexicon.minus)
    body = _body(tokens, at, lexicon)
    if body is None:
        return None
    value, after = body
    if tokens.norm(after) in lexicon.groups and tokens.joins(after):
        value, after = value * lexicon.groups[tokens.norm(after)], after + 1
    return Quantity(_tidy(sign * value), first, after)


def _body(tokens: Tokens, at: int, lexicon: Lexicon) -> tuple[int | float, int] | None:
    word = tokens.norm(at)
    if word in lexicon.point:
        decimals = _decimals(tokens, at, lexicon)
        return None if decimals is None else (float(f"0.{decimals[0]}"), decimals[1])
    article = at + (word in lexicon.articles)
    named = tokens.norm(article)
    if named in lexicon.groups and article > at and tokens.joins(article):
        return 1, article
    if named in ("half", "quarter") and named in lexicon.fractions:
        value = lexicon.fractions[named]
        after = article + 1
        after += tokens.norm(after) in lexicon.articles and tokens.norm(after + 1) in lexicon.scales
        if (scale := lexicon.scales.get(tokens.norm(after))) is not None:
            return value * scale, after + 1
        if tokens.norm(after) in lexicon.articles and tokens.norm(after + 1) in lexicon.groups:
            after += 1
        return value, after
    body = cardinal(tokens, at, lexicon)
    if body is None:
        return None
    value, after = body
    decimals = _decimals(tokens, after, lexicon)
    if decimals is not None and isinstance(value, int):
        value, after = float(f"{value}.{decimals[0]}"), decimals[1]
        scale = lexicon.scales.get(tokens.norm(after))
        return (value * scale, after + 1) if scale else (value, after)
    return _with_fraction(tokens, value, after, lexicon)


def _with_fraction(
    tokens: Tokens, value: int | float, after: int, lexicon: Lexicon
) -> tuple[int | float, int]:
    """Add "and a half", "and three quarters"; or read "three quarters" itself."""
    plural = tokens.norm(after)
    if plural.endswith("s") and plural in lexicon.fractions and value < 10:
        return value * lexicon.fractions[plural], after + 1
    if tokens.norm(after) != lexicon.conjunction:
        return value, after
    count = lexicon.units.get(tokens.norm(after + 1), 0)
    if tokens.norm(after + 1) in lexicon.articles:
        count = 1
    part = lexicon.fractions.get(tokens.norm(after + 2))
    if not count or part is None:
        return value, after
    value, after = value + count * part, after + 3
    scale = lexicon.scales.get(tokens.norm(after))
    return (value * scale, after + 1) if scale else (value, after)


def _decimals(tokens: Tokens, at: int, lexicon: Lexicon) -> tuple[str, int] | None:
    """Read "point two five" into "25"."""
    if tokens.norm(at) not in lexicon.point or not tokens.joins(at):
        return None
    digits = ""
    at += 1
    while tokens.joins(at) and len(digits) < _MOST_DIGITS:
        word = tokens.norm(at)
        if word in lexicon.zero_letters:
            digits, at = digits + "0", at + 1
        elif (small := below_hundred(tokens, at, lexicon)) is not None:
            digits, at = digits + str(small[0]), small[1]
        elif tokens.words[at].kind == "number" and word.isdigit():
            digits, at = digits + word, at + 1
        else:
            break
    return (digits[:_MOST_DIGITS], at) if digits else None


def _is_minus_sign(tokens: Tokens, at: int) -> bool:
    if at >= len(tokens) or tokens.words[at].kind != "number":
        return False
    start = tokens.words[at].start
    return (
        tokens.text[start - 1 : start] in ("-", "\u2212")
        and start > 0
        and not tokens.text[max(0, start - 2) : start - 1].strip()
    )


def _tidy(value: int | float) -> int | float:
    if isinstance(value, int):
        return value
    value = round(value, 10)
    return int(value) if value.is_integer() else value


# --------------------------------------------------------------------- numbers in a sentence


def is_thing(tokens: Tokens, found: Quantity, lexicon: Lexicon) -> bool:
    """Whether a "one" stands for a thing, as in "the gold one"."""
    if found.value != 1 or found.after != found.first + 1:
        return False
    if tokens.words[found.first].kind != "word" or found.first == 0:
        return False
    before = tokens.words[found.first - 1]
    return (
        tokens.joins(found.first)
        and before.kind == "word"
        and before.norm not in lexicon.numeral_before
        and cardinal(tokens, found.first - 1, lexicon) is None
        and before.norm not in lexicon.zero_letters
    )


def quantities(tokens: Tokens, lexicon: Lexicon) -> list[Quantity]:
    """All numbers of a text, from the left, without any "one" that stands for a thing."""
    found: list[Quantity] = []
    at = 0
    while at < len(tokens):
        one = quantity(tokens, at, lexicon)
        if one is None:
            beside = found and found[-1].after == at and tokens.joins(at)
            if beside and tokens.norm(at) in lexicon.zero_letters:
                found.append(Quantity(0, at, at + 1))
            at += 1
            continue
        if not is_thing(tokens, one, lexicon):
            found.append(one)
        at = one.after
    return found


def read_number(text: str, lexicon: Lexicon = ENGLISH) -> Found[int | float] | None:
    """Find a number, whole ones as int: "two and a half", "minus three", "1,250".

    Parts said one after the other are put side by side, as in "twelve fifty" (1250) or "four seven
    one one" (4711). Where there are several numbers the first is returned, with less confidence.
    """
    tokens = tokenize(text)
    found = quantities(tokens, lexicon)
    if not found:
        return _alone(tokens, lexicon)
    value, used = _side_by_side(tokens, found)
    confidence = 0.95 if used == 1 else 0.7
    if used < len(found):
        confidence = 0.4
    start = tokens.start(found[0].first)
    return Found(value, start, tokens.end(found[used - 1].after), confidence)


def read_integer(text: str, lexicon: Lexicon = ENGLISH) -> Found[int] | None:
    """Find a whole number; None also when the number said is not whole.

    The same reading as ``read_number``'s.
    """
    found = read_number(text, lexicon)
    if found is None or not isinstance(found.value, int):
        return None
    return Found(found.value, found.start, found.end, found.confidence)


def _side_by_side(tokens: Tokens, found: list[Quantity]) -> tuple[int | float, int]:
    """Join the first number with those that follow it at once; return how many were used."""
    head = found[0]
    if not isinstance(head.value, int) or head.value < 0:
        return head.value, 1
    digits, used = str(head.value), 1
    for one in found[1:]:
        if one.first != found[used - 1].after or not isinstance(one.value, int):
            break
        word = tokens.words[one.first]
        single = len(str(one.value)) == len(str(head.value)) == 1
        if not (word.joins or (single and word.before == ",")) or one.value < 0:
            break
        if one.value >= 100 and word.kind == "word":
            break
        digits += word.norm if word.kind == "number" and word.norm.isdigit() else str(one.value)
        used += 1
        if len(digits) > _MOST_DIGITS:
            return head.value, 1
    return int(digits), used


def _alone(tokens: Tokens, lexicon: Lexicon) -> Found[int | float] | None:
    """Read a word that sounds like a number, where it is all that was said."""
    at = lexicon.filler_phrases.skip(tokens, 0)
    value = lexicon.sounds_like.get(tokens.norm(at))
    if value is None or lexicon.padding.skip(tokens, at + 1) < len(tokens):
        return None
    return Found(value, tokens.start(at), tokens.end(at + 1), 0.4)
