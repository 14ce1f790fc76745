"""From words to the JSON value of a memory field.

Owns ``read_for_type``, which chooses the reader by the field's type and by what answer is expected,
and ``cleaned``. Whether the value may be written is the engine's.
"""

import json
import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import cast

from runtime.agent import Expect, Json
from runtime.models.offline.reading.amounts import has_money, read_amount
from runtime.models.offline.reading.answers import read_yes_no
from runtime.models.offline.reading.choices import read_choice
from runtime.models.offline.reading.corrections import is_correction
from runtime.models.offline.reading.dates import read_date
from runtime.models.offline.reading.denials import affirmed
from runtime.models.offline.reading.digits import read_digits
from runtime.models.offline.reading.english import ENGLISH
from runtime.models.offline.reading.found import Choice, Found
from runtime.models.offline.reading.lexicon import Lexicon
from runtime.models.offline.reading.names import read_name
from runtime.models.offline.reading.numbers import quantities, read_integer, read_number
from runtime.models.offline.reading.spelling import read_email, read_spelled
from runtime.models.offline.reading.tokens import Tokens, tokenize

__all__ = ["cleaned", "read_for_type"]

_NumberReader = Callable[[str, Lexicon], Found[int] | Found[int | float] | None]
_OPEN = Expect()
_MOST_LIST = 50
_BORN = re.compile(r"\b(?:birth\w*|born|dob)(?![a-z])")
_SURE = 0.8
_YEARS, _SHORT_YEARS = 1000, 100


def read_for_type(
    field_type: str,
    text: str,
    *,
    today: date,
    enum_values: Sequence[str] = (),
    choices: Sequence[Choice] = (),
    expect: Expect = _OPEN,
    about: str = "",
    lexicon: Lexicon = ENGLISH,
) -> Found[Json] | None:
    """Read the value that a field takes; None when the words hold none.

    A number, a date, a name, or digits that were denied ("not four") are none, and so are two
    numbers or dates that differ, unless the second takes back the first. A field that is about a
    birth takes no weekday and no date to come.

    Args:
        field_type: ``text bool int float list categorical json any``.
        text: What was said.
        today: For relative dates.
        enum_values: Of a categorical field.
        choices: Offered with the question; they win over ``enum_values`` and ``expect.choices``.
        expect: What answer was waited for.
        about: The field's name and description: an open text "about" a name or a mail address is
            read as one.
        lexicon: The language.
    """
    offered = tuple(choices) or tuple(
        Choice(value, (value,)) for value in (enum_values or expect.choices)
    )
    match field_type:
        case "bool":
            return _bool(text, offered, lexicon)
        case "int":
            return _picked(text, offered, lexicon, int) or _number(text, read_integer, lexicon)
        case "float":
            number = read_amount if has_money(text, lexicon) or _is_money(about) else read_number
            return _picked(text, offered, lexicon, float) or _number(text, number, lexicon)
        case "categorical":
            return read_choice(text, offered, lexicon)
        case "list":
            return _list(text, offered, lexicon)
        case "json":
            return _json(text, lexicon)
        case "any" if expect.kind == "open" and not offered:
            return _any(text, lexicon)
        case _:
            return _text(text, today, offered, expect, about.casefold(), lexicon)


def _widened(found: Found[int | float] | Found[int] | Found[Json] | None) -> Found[Json] | None:
    return None if found is None else Found(found.value, found.start, found.end, found.confidence)


def _instead(text: str, lexicon: Lexicon) -> tuple[str, int] | None:
    """What was said to stand for something before it, and where: "Tuesday, no sorry, Friday"."""
    found = is_correction(text, lexicon)
    if found is None or found.confidence < _SURE:
        return None
    return found.value, found.start


def _moved(found: Found[Json] | None, by: int) -> Found[Json] | None:
    if found is None:
        return None
    return Found(found.value, found.start + by, found.end + by, found.confidence)


def _number(text: str, read: _NumberReader, lexicon: Lexicon) -> Found[Json] | None:
    """A number that was not denied, and that no other one stands beside."""
    if (instead := _instead(text, lexicon)) is not None:
        found = _moved(_one_number(instead[0], read, lexicon), instead[1])
        if found is not None:
            # "1985, no sorry, 84" is another end of the year, and no year itself.
            whole = read(text[: instead[1]], lexicon)
            is_part = whole is not None and whole.value >= _YEARS and _is_short(found.value)
            return None if is_part else found
    return _one_number(text, read, lexicon)


def _is_short(value: Json) -> bool:
    return isinstance(value, int | float) and value < _SHORT_YEARS


def _one_number(text: str, read: _NumberReader, lexicon: Lexicon) -> Found[Json] | None:
    text = affirmed(text, lexicon)
    found = read(text, lexicon)
    if found is None:
        return None
    tokens = tokenize(text)
    beside = [
        one.value
        for one in quantities(tokens, lexicon)
        if tokens.start(one.first) >= found.end or tokens.end(one.after) <= found.start
    ]
    first = next((n for n, t in enumerate(tokens.words) if t.end > found.start), 0)
    if any(v != found.value for v in beside) or tokens.norm(first - 1) in lexicon.number_bounds:
        return None
    return _widened(found)


def _dated(text: str, today: date, lexicon: Lexicon, *, birth: bool) -> Found[Json] | None:
    if (instead := _instead(text, lexicon)) is not None:
        found = _widened_text(read_date(instead[0], today, lexicon, birth=birth))
        if found is not None:
            return _moved(found, instead[1])
        if quantities(tokenize(instead[0]), lexicon):
            return None  # "March 12th 1984, sorry, 1985": a part of it is another
    return _widened_text(read_date(text, today, lexicon, birth=birth))


def _is_money(about: str) -> bool:
    return any(word in about.casefold() for word in ("amount", "price", "cost", "money", "fee"))


def _picked(
    text: str, offered: Sequence[Choice], lexicon: Lexicon, kind: type
) -> Found[Json] | None:
    if not offered:
        return None
    found = read_choice(text, offered, lexicon)
    if found is None or isinstance(found.value, bool):
        return None
    fits = isinstance(found.value, int) or (kind is float and isinstance(found.value, float))
    return found if fits else None


def _bool(text: str, offered: Sequence[Choice], lexicon: Lexicon) -> Found[Json] | None:
    answer = read_yes_no(text, lexicon=lexicon)
    if answer.answer in ("yes", "no"):
        value = answer.answer == "yes"
        return Found(value, 0, len(text) - len(answer.rest), answer.confidence)
    found = read_choice(text, offered, lexicon) if offered else None
    return found if found is not None and isinstance(found.value, bool) else None


def _text(
    text: str,
    today: date,
    offered: Sequence[Choice],
    expect: Expect,
    about: str,
    lexicon: Lexicon,
) -> Found[Json] | None:
    match expect.kind:
        case "digits":
            return _widened_text(read_digits(affirmed(text, lexicon), expect.length, lexicon))
        case "spelled":
            return _widened_text(read_spelled(text, expect.length, lexicon))
        case "email":
            return _widened_text(read_email(text, lexicon))
        case "date":
            birth = _BORN.search(about.replace("_", " ")) is not None
            return _dated(text, today, lexicon, birth=birth)
        case "choice":
            return read_choice(text, offered, lexicon)
        case "yes_no":
            answer = read_yes_no(text, lexicon=lexicon)
            if answer.answer not in ("yes", "no"):
                return None
            return Found(answer.answer, 0, len(text) - len(answer.rest), answer.confidence)
        case _:
            pass
    if offered and (picked := read_choice(text, offered, lexicon)) is not None:
        return picked
    words = set(about.replace("_", " ").replace("-", " ").split())
    if "email" in words or "mail" in words:
        return _widened_text(read_email(text, lexicon))
    if words & {"name", "surname"}:
        left = affirmed(text, lexicon)
        name = read_name(left, lexicon)
        if name is not None or left != text:
            return _widened_text(name)
    return _widened_text(cleaned(text, lexicon))


def _widened_text(found: Found[str] | None) -> Found[Json] | None:
    return None if found is None else Found(found.value, found.start, found.end, found.confidence)


def cleaned(text: str, lexicon: Lexicon = ENGLISH) -> Found[str] | None:
    """Return the words without what leads in ("it's", "my address is") and politeness at the end.

    None where nothing is left, or where only a question was asked back.
    """
    tokens = tokenize(text)
    at = _after_leads(tokens, lexicon)
    after = len(tokens)
    while after > at:
        begins = next(
            (n for n in range(max(at, after - 5), after)
             if lexicon.padding.skip(tokens, n) >= after), None
        )  # fmt: skip
        if begins is None:
            break
        after = begins
    if after <= at:
        return None
    start, end = tokens.start(at), tokens.end(after)
    if at and tokens.text[start - 1] in "$\u20ac\u00a3#+(":
        start -= 1
    return Found(tokens.text[start:end], start, end, 0.4 if "?" in tokens.tail else 0.8)


def _after_leads(tokens: Tokens, lexicon: Lexicon) -> int:
    at = 0
    while at < len(tokens):
        found = lexicon.lead_phrases.match(tokens, at)
        if found is not None:
            at = found[1]
            continue
        # "my delivery address is"
        is_at = next((n for n in range(at + 2, at + 6) if tokens.norm(n) in ("is", "are")), None)
        if tokens.norm(at) not in ("my", "the", "our") or is_at is None:
            break
        at = is_at + 1
    return at


def _list(text: str, offered: Sequence[Choice], lexicon: Lexicon) -> Found[Json] | None:
    """Split "milk, eggs and bread"."""
    whole = cleaned(text, lexicon)
    if whole is None:
        return None
    parts: list[str] = [""]
    tokens = tokenize(whole.value)
    for token in tokens.words:
        breaks = any(mark in ",;" for mark in token.before)
        if token.norm == lexicon.conjunction or breaks:
            parts.append("")
        if token.norm != lexicon.conjunction:
            parts[-1] += f" {tokens.text[token.start : token.end]}"
    items: list[Json] = []
    for part in parts[:_MOST_LIST]:
        if not part.strip():
            continue
        if offered:
            picked = read_choice(part, offered, lexicon)
            if picked is not None:
                items.append(picked.value)
            continue
        items.append(part.strip())
    return Found(items, whole.start, whole.end, whole.confidence) if items else None


def _json(text: str, lexicon: Lexicon) -> Found[Json] | None:
    if len(text) < 5000 and text.strip()[:1] in ("{", "["):
        try:
            return Found(cast(Json, json.loads(text)), 0, len(text), 0.9)
        except (ValueError, RecursionError):
            pass
    return _any(text, lexicon)


def _any(text: str, lexicon: Lexicon) -> Found[Json] | None:
    """A number where only a number was said, else the words."""
    whole = cleaned(text, lexicon)
    if whole is None:
        return None
    tokens = tokenize(whole.value)
    found = quantities(tokens, lexicon)
    if len(found) == 1 and found[0].first == 0 and found[0].after == len(tokens):
        return Found(found[0].value, whole.start, whole.end, 0.8)
    return _widened_text(whole)
