"""Digits that are no number: codes, phone numbers, the end of a card.

Owns ``read_digits``, which keeps leading zeros. Numbers are in ``numbers.py``, digits among letters
in ``spelling.py``.
"""

from dataclasses import dataclass

from runtime.models.offline.reading.english import ENGLISH
from runtime.models.offline.reading.found import Found
from runtime.models.offline.reading.lexicon import Lexicon
from runtime.models.offline.reading.numbers import below_hundred
from runtime.models.offline.reading.tokens import Tokens, tokenize

__all__ = ["digit_piece", "in_two_parts", "read_digits"]


_MOST_LEADING = 8


@dataclass(frozen=True, slots=True)
class _Run:
    digits: str
    first: int
    after: int
    corrected: bool
    """Words that take back what was said before stand in front of it."""


def read_digits(
    text: str, length: int | None = None, lexicon: Lexicon = ENGLISH
) -> Found[str] | None:
    """Find a row of digits: "four seven one one", "forty seven eleven", "double five", "oh seven".

    Fillers and punctuation between the digits are passed over. With a ``length`` only a row of that
    length is returned, or all rows together where they have it; without, the longest row, and of
    two as long the first, unless the second takes back the first.
    """
    tokens = tokenize(text)
    runs = _runs(tokens, lexicon, compounds=True, alike=False)
    if not runs or (length is not None and not any(len(r.digits) == length for r in runs)):
        return _second_look(tokens, length, lexicon, runs)
    best = _best(runs, length)
    if length is not None and any(
        run.corrected and run.first > best.first and len(run.digits) < length for run in runs
    ):
        return None  # "... one two, sorry, three" takes back a digit of them, and which is not said
    return _result(tokens, best, len(runs))


def in_two_parts(first: str, text: str, length: int, lexicon: Lexicon = ENGLISH) -> str | None:
    """Join digits that were understood with those of a text; None unless both make ``length``.

    None also where the text begins with the same digits: then it may be said again, not go on; and
    where it has more than one row of digits, or takes something back.
    """
    tokens = tokenize(text)
    missing = length - len(first)
    if missing <= 0 or len(_runs(tokens, lexicon, compounds=True, alike=False)) != 1:
        return None
    takes_back = lexicon.correction_phrases.match(tokens, lexicon.filler_phrases.skip(tokens, 0))
    second = read_digits(text, missing, lexicon)
    if second is None or takes_back is not None or second.value[:2] == first[:2]:
        return None
    return first + second.value


def _second_look(
    tokens: Tokens, length: int | None, lexicon: Lexicon, runs: list[_Run]
) -> Found[str] | None:
    """Try other readings of the same words, for the length that is asked for."""
    if length is None:
        return None
    for compounds, alike in ((False, False), (True, True), (False, True)):
        other = _runs(tokens, lexicon, compounds=compounds, alike=alike)
        if any(len(run.digits) == length for run in other):
            found = _result(tokens, _best(other, length), len(other))
            return Found(found.value, found.start, found.end, 0.6)
    if (
        len(runs) > 1
        and not any(run.corrected for run in runs)
        and sum(len(run.digits) for run in runs) == length
    ):
        digits = "".join(run.digits for run in runs)
        return Found(digits, tokens.start(runs[0].first), tokens.end(runs[-1].after), 0.6)
    return None


def _best(runs: list[_Run], length: int | None) -> _Run:
    fitting = [run for run in runs if length is None or len(run.digits) == length]
    best = fitting[0]
    for run in fitting[1:]:
        longer, as_long = len(run.digits) > len(best.digits), len(run.digits) == len(best.digits)
        if longer or (as_long and run.corrected):
            best = run
    return best


def _result(tokens: Tokens, run: _Run, count: int) -> Found[str]:
    confidence = 0.95 if count == 1 else 0.7
    return Found(run.digits, tokens.start(run.first), tokens.end(run.after), confidence)


def _runs(tokens: Tokens, lexicon: Lexicon, *, compounds: bool, alike: bool) -> list[_Run]:
    runs: list[_Run] = []
    at, corrected = 0, False
    while at < len(tokens):
        run = _run(tokens, at, lexicon, compounds, alike)
        if run is not None:
            digits, after = run
            runs.append(_Run(digits, at, after, corrected and bool(runs)))
            at, corrected = after, False
            continue
        corrected = corrected or lexicon.correction_phrases.match(tokens, at) is not None
        at += 1
    return runs


def _run(
    tokens: Tokens, at: int, lexicon: Lexicon, compounds: bool, alike: bool
) -> tuple[str, int] | None:
    """Read digits that follow each other, fillers between them left out."""
    pieces: list[str] = []
    after = at
    while True:
        piece = digit_piece(tokens, after, lexicon, compounds=compounds)
        if piece is None and not pieces:
            piece = _leading(tokens, after, lexicon, alike)
        elif piece is None:
            piece = _beside(tokens, after, lexicon, alike)
        if piece is None and pieces:
            begins = _gap(tokens, after, lexicon)
            piece = digit_piece(tokens, begins, lexicon, compounds=compounds)
            piece = piece or _beside(tokens, begins, lexicon, alike)
        if piece is None:
            break
        pieces.append(piece[0])
        after = piece[1]
    digits = "".join(pieces)
    if digits == "1" and at and tokens.words[at].kind == "word":
        return None if tokens.norm(at - 1) not in lexicon.numeral_before else (digits, after)
    return (digits, after) if digits else None


def _gap(tokens: Tokens, at: int, lexicon: Lexicon) -> int:
    """Pass over what may stand between two digits."""
    at = lexicon.padding.skip(tokens, at)
    while (
        tokens.norm(at) == lexicon.conjunction or lexicon.signs.get(tokens.norm(at), "x") in "-. "
    ):
        if not tokens.norm(at):
            break
        at = lexicon.padding.skip(tokens, at + 1)
    return at


def _beside(tokens: Tokens, at: int, lexicon: Lexicon, alike: bool) -> tuple[str, int] | None:
    """Read a word that is a digit only after digits: "oh", and what sounds like one."""
    word = tokens.norm(at)
    if word in lexicon.zero_letters:
        # After a pause and with nothing behind it, "oh" is a sigh.
        goes_on = tokens.joins(at) or digit_piece(tokens, at + 1, lexicon) is not None
        return ("0", at + 1) if goes_on else None
    if not alike or word not in lexicon.sounds_like:
        return None
    return str(lexicon.sounds_like[word]), at + 1


def _leading(tokens: Tokens, at: int, lexicon: Lexicon, alike: bool) -> tuple[str, int] | None:
    """Read such a word where digits follow it at once."""
    digits = ""
    while len(digits) < _MOST_LEADING:
        word = tokens.norm(at)
        if word in lexicon.zero_letters:
            digits += "0"
        elif alike and word in lexicon.sounds_like:
            digits += str(lexicon.sounds_like[word])
        else:
            break
        at += 1
        if not tokens.joins(at):
            break
    if not digits or not (tokens.joins(at) or (alike and len(digits) > 1)):
        return None
    follows = digit_piece(tokens, at, lexicon) is not None or (alike and len(digits) > 1)
    return (digits, at) if follows else None


def digit_piece(
    tokens: Tokens, at: int, lexicon: Lexicon, *, compounds: bool = True
) -> tuple[str, int] | None:
    """Read one word or group of digits at a token and say where it ends.

    Args:
        tokens: What was said.
        at: Where to read.
        lexicon: The language.
        compounds: Whether "twenty five" is 25, or 20 and 5.
    """
    if at >= len(tokens):
        return None
    token = tokens.words[at]
    if token.kind == "number":
        return token.norm.replace(",", "").replace(".", ""), at + 1
    if (times := lexicon.repeats.get(token.norm)) is not None:
        return _repeated(tokens, at + 1, lexicon, times)
    small = below_hundred(tokens, at, lexicon)
    if small is None:
        return None
    value, after = small
    if not compounds and after == at + 2:
        return str(lexicon.tens[token.norm]), at + 1
    return _with_hundreds(tokens, value, after, lexicon)


def _repeated(tokens: Tokens, at: int, lexicon: Lexicon, times: int) -> tuple[str, int] | None:
    word = tokens.norm(at)
    if word in lexicon.zero_letters:
        return "0" * times, at + 1
    if word in lexicon.units:
        return str(lexicon.units[word]) * times, at + 1
    single = at < len(tokens) and tokens.words[at].kind == "number" and len(word) == 1
    return (word * times, at + 1) if single else None


def _with_hundreds(
    tokens: Tokens, value: int, after: int, lexicon: Lexicon
) -> tuple[str, int] | None:
    """Read "four hundred", "eight hundred and twelve", "two thousand"."""
    scale = lexicon.scales.get(tokens.norm(after), 0)
    if scale not in (100, 1000) or not value:
        return str(value), after
    value, after = value * scale, after + 1
    linked = tokens.norm(after) == lexicon.conjunction
    tail = below_hundred(tokens, after + linked, lexicon)
    if tail is None or not tail[0]:
        return str(value), after
    # "one eight hundred five five five": a digit followed by more digits is one of them.
    alone = tail[1] == after + linked + 1 and tail[0] < 10
    if alone and not linked and below_hundred(tokens, tail[1], lexicon) is not None:
        return str(value), after
    return str(value + tail[0]), tail[1]
