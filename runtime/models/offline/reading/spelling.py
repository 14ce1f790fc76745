"""Spelled words and mail addresses.

Owns ``read_spelled`` and ``read_email``: letters by name, by an alphabet or "as in" a word, with
the names of signs. Digits alone are in ``digits.py``.
"""

import re
from dataclasses import dataclass

from runtime.models.offline.reading.digits import digit_piece
from runtime.models.offline.reading.english import ENGLISH
from runtime.models.offline.reading.found import Found
from runtime.models.offline.reading.lexicon import Lexicon
from runtime.models.offline.reading.tokens import MOST_CHARS, Tokens, tokenize

__all__ = ["read_email", "read_spelled"]

_MOST_LETTERS = 200
_EMAIL = re.compile(
    r"(?<![\w.+-])[A-Za-z0-9][\w.+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}"
)
_LOCAL = re.compile(r"[a-z0-9_+&'-]+(\.[a-z0-9_+&'-]+)*")
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
_PROVIDERS = {"gmail", "hotmail", "outlook", "yahoo", "icloud", "aol", "gmx"}
_ENDINGS = {"com", "org", "net", "edu", "gov", "io", "de", "uk", "co"}
_NOT_LOCAL = frozenset(
    """is it's its it address email mail e-mail my the to um uh er at me reach send sure yes yeah
    okay ok so well that's i'm use for please of on under write and""".split()
)


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    after: int
    certain: bool
    """Nothing else than a letter or a sign could be meant."""


def read_spelled(
    text: str, length: int | None = None, lexicon: Lexicon = ENGLISH
) -> Found[str] | None:
    """Find what was spelled: "b a r k l e y", "B as in boy", "bravo alfa", "capital b", "dash".

    Letters come back in lower case unless called capital; digits and signs among them are kept. The
    longest row of letters is returned, with a ``length`` one of that length. A single word that was
    said and not spelled is returned with little confidence.
    """
    tokens = tokenize(text)
    best: tuple[str, int, int] | None = None
    at = 0
    while at < len(tokens):
        run = _spelled_run(tokens, at, lexicon)
        if run is None:
            at += 1
            continue
        value, after = run
        if value is None:
            at = after
            continue
        if length is None:
            fits = best is None or len(value) > len(best[0])
        else:
            fits = best is None and len(value) == length
        best = (value, at, after) if fits else best
        at = after
    if best is not None:
        value, at, after = best
        return Found(value, tokens.start(at), tokens.end(after), 0.9 if len(value) > 1 else 0.6)
    return _said_as_word(tokens, length, lexicon)


def _said_as_word(tokens: Tokens, length: int | None, lexicon: Lexicon) -> Found[str] | None:
    at = lexicon.lead_phrases.skip(tokens, 0)
    if at >= len(tokens) or lexicon.padding.skip(tokens, at + 1) < len(tokens):
        return None
    value = tokens.norm(at)
    if tokens.words[at].kind != "word" or (length is not None and len(value) != length):
        return None
    return Found(value, tokens.start(at), tokens.end(at + 1), 0.4)


def _spelled_run(tokens: Tokens, at: int, lexicon: Lexicon) -> tuple[str | None, int] | None:
    """Read letters that follow each other; no text = they are words that sound like letters."""
    pieces: list[_Piece] = []
    after = at
    while len(pieces) < _MOST_LETTERS:
        piece = _piece(tokens, after, lexicon)
        if piece is None and pieces:
            piece = _piece(tokens, lexicon.filler_phrases.skip(tokens, after), lexicon)
        if piece is None:
            break
        pieces.append(piece)
        after = piece.after
    if not pieces:
        return None
    while pieces and (not pieces[-1].text.isalnum() and pieces[-1].text != "_"):
        pieces.pop()
    letters = [piece for piece in pieces if piece.text.isalpha()]
    certain = sum(piece.certain for piece in letters)
    lone = len(pieces) == 1 and tokens.norm(at) in ("a", "i", "o") and len(tokens) > 1
    # "are" and "you" are letters only where most of what stands beside them certainly is.
    if not pieces or not certain or certain * 2 < len(letters) or lone:
        return None, after
    if not pieces[0].text.isalnum():
        return None, at + 1
    return "".join(piece.text for piece in pieces), pieces[-1].after


def _piece(tokens: Tokens, at: int, lexicon: Lexicon) -> _Piece | None:
    if at >= len(tokens):
        return None
    capital = lexicon.capital_phrases.match(tokens, at)
    if capital is not None and (inner := _letter(tokens, capital[1], lexicon)) is not None:
        return _Piece(inner.text.upper(), inner.after, inner.certain)
    times = lexicon.repeats.get(tokens.norm(at))
    if times is not None:
        if tokens.norm(at + 1) in ("u", "you", "yu"):
            return _Piece("w", at + 2, True)
        if (inner := _letter(tokens, at + 1, lexicon)) is not None:
            return _Piece(inner.text * times, inner.after, inner.certain)
    letter = _letter(tokens, at, lexicon)
    if letter is not None:
        return letter
    digits = digit_piece(tokens, at, lexicon)
    if digits is not None:
        return _Piece(digits[0], digits[1], False)
    sign = lexicon.signs.get(tokens.norm(at))
    return None if sign is None else _Piece(sign, at + 1, False)


def _letter(tokens: Tokens, at: int, lexicon: Lexicon) -> _Piece | None:
    """Read one letter, and the word it was said to begin."""
    word = tokens.norm(at)
    if len(word) == 1 and word.isalpha():
        return _Piece(word, _example(tokens, at + 1, word, lexicon), True)
    if word == "x" and tokens.norm(at + 1) == "ray":
        return _Piece("x", at + 2, True)
    name = lexicon.letter_names.get(word)
    if name is not None:
        after = _example(tokens, at + 1, name, lexicon)
        return _Piece(name, after, after > at + 1)
    if word in lexicon.alphabet:
        return _Piece(lexicon.alphabet[word], at + 1, True)
    return None


def _example(tokens: Tokens, at: int, letter: str, lexicon: Lexicon) -> int:
    """Pass over "as in boy" where the word begins with the letter."""
    if letter == "x" and tokens.norm(at) == "ray":
        return at + 1
    phrase = lexicon.as_in_phrases.match(tokens, at)
    if phrase is None:
        return at
    word = tokens.norm(phrase[1])
    return phrase[1] + 1 if len(word) > 1 and word.startswith(letter) else at


# --------------------------------------------------------------------------------- addresses


def read_email(text: str, lexicon: Lexicon = ENGLISH) -> Found[str] | None:
    """Find a mail address, in lower case: "jane dot doe at example dot com"."""
    written = _EMAIL.search(text[:MOST_CHARS])
    if written is not None:
        value = written.group().lower().strip(".-")
        if _is_address(value):
            return Found(value, written.start(), written.end(), 0.98)
    tokens = tokenize(text)
    places = [at for at in range(1, len(tokens)) if tokens.norm(at) in lexicon.at_sign]
    for at in reversed(places[-20:]):
        domain = _domain(tokens, at + 1, lexicon)
        local = None if domain is None else _local(tokens, at, lexicon)
        if domain is None or local is None:
            continue
        value = f"{local.text}@{domain.text}"
        if _is_address(value):
            confidence = 0.9 if local.certain and domain.certain else 0.6
            return Found(value, tokens.start(local.after), tokens.end(domain.after), confidence)
    return None


def _is_address(value: str) -> bool:
    local, _, domain = value.partition("@")
    labels = domain.split(".")
    return (
        len(value) <= 254
        and len(local) <= 64
        and _LOCAL.fullmatch(local) is not None
        and len(labels) > 1
        and all(len(label) < 64 and _LABEL.fullmatch(label) for label in labels)
        and len(labels[-1]) > 1
        and labels[-1].isalpha()
    )


def _is_dot(tokens: Tokens, at: int, lexicon: Lexicon) -> bool:
    return lexicon.signs.get(tokens.norm(at)) == "."


def _domain(tokens: Tokens, at: int, lexicon: Lexicon) -> _Piece | None:
    labels: list[str] = [""]
    certain = True
    first = at
    while at < len(tokens) and at - first < 40:
        dotted = tokens.words[at].before == "." and labels[-1]
        if _is_dot(tokens, at, lexicon) or dotted:
            labels.append("")
            at += not dotted
            if dotted:
                labels[-1], at = _word(tokens, at, lexicon)
                at = _letters_on(tokens, at, labels)
            continue
        if len(labels) > 1 and labels[-1]:
            break
        if len(labels) > 1:
            labels[-1], at = _word(tokens, at, lexicon)
            at = _letters_on(tokens, at, labels)
            continue
        if labels[0] and tokens.norm(at) in _ENDINGS and not _has_dot_near(tokens, at, lexicon):
            labels.append(tokens.norm(at))
            certain, at = False, at + 1
            continue
        if labels[0] in _PROVIDERS and not _has_dot_near(tokens, at, lexicon):
            break
        if not tokens.words[at].joins and at > first:
            break
        more, at = _word(tokens, at, lexicon)
        labels[0] += more
    if len(labels) == 1 and labels[0] in _PROVIDERS:
        labels.append("com")
        certain = False
    if len(labels) < 2 or not all(labels):
        return None
    return _Piece(".".join(labels), at, certain)


def _letters_on(tokens: Tokens, at: int, labels: list[str]) -> int:
    """Take "c o m" as one label."""
    while len(labels[-1]) < 4 and len(tokens.norm(at)) == 1 and len(tokens.norm(at - 1)) == 1:
        if not tokens.norm(at).isalpha():
            break
        labels[-1] += tokens.norm(at)
        at += 1
    return at


def _has_dot_near(tokens: Tokens, at: int, lexicon: Lexicon) -> bool:
    return any(_is_dot(tokens, near, lexicon) for near in range(at, at + 3))


def _word(tokens: Tokens, at: int, lexicon: Lexicon) -> tuple[str, int]:
    """Read one part of an address: a letter, digits, a sign or a whole word."""
    digits = digit_piece(tokens, at, lexicon)
    if digits is not None:
        return digits
    word = tokens.norm(at)
    times = lexicon.repeats.get(word)
    if times is not None and len(tokens.norm(at + 1)) == 1:
        return ("w" if tokens.norm(at + 1) == "u" else tokens.norm(at + 1) * times), at + 2
    if lexicon.signs.get(word, " ") in "-_.+&'/":
        return lexicon.signs[word], at + 1
    if len(word) == 1 and (after := _example(tokens, at + 1, word, lexicon)) > at + 1:
        return word, after
    return word.replace("'", ""), at + 1


def _local(tokens: Tokens, at_sign: int, lexicon: Lexicon) -> _Piece | None:
    """Read the part before the "at"; its ``after`` is where it begins."""
    begins = at_sign
    while begins > 0 and at_sign - begins < 40 and not _ends_before(tokens, begins - 1, at_sign):
        begins -= 1
        marks = tokens.words[begins].before
        if any(mark in marks for mark in ",?!:;") or (marks == "." and _spaced(tokens, begins)):
            break
    while begins < at_sign and (
        lexicon.capital_phrases.match(tokens, begins) or tokens.norm(begins) == "that's"
    ):
        begins += 1
    pieces: list[str] = []
    at = begins
    certain = True
    while at < at_sign:
        marks = tokens.words[at].before if at > begins else ""
        capital = lexicon.capital_phrases.match(tokens, at)
        filler = lexicon.filler_phrases.match(tokens, at)
        if (capital and capital[1] < at_sign) or (filler and len(tokens.norm(at)) < 4):
            at = (capital or filler or ("", at + 1))[1]
            continue
        piece, at = _word(tokens, at, lexicon)
        glue = marks if marks in ("-", ".") else ""
        beside = bool(pieces) and not glue and pieces[-1] not in tuple("-_.+&")
        # Two whole words side by side: written together, or with something between them?
        certain = certain and not (beside and len(piece) > 1 and len(pieces[-1]) > 1)
        pieces += [glue, piece] if glue else [piece]
    value = "".join(pieces)
    return _Piece(value, begins, certain) if value else None


def _ends_before(tokens: Tokens, at: int, at_sign: int) -> bool:
    word = tokens.norm(at)
    if word in _NOT_LOCAL and not (at + 1 == at_sign and len(word) == 1):
        return True
    return tokens.words[at].kind == "sign" and word not in "_+&"


def _spaced(tokens: Tokens, at: int) -> bool:
    """Whether a space stands before a token: the full stop before it ended a sentence."""
    start = tokens.start(at)
    return tokens.text[max(0, start - 1) : start].isspace()
