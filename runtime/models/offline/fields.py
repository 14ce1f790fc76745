"""Reading the caller's words as the value of a memory field.

Owns how sure a reading must be, in answer to a question and beside one, and the shape that the type
of a field wants. How values are read out of words is ``reading``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from runtime.agent import Expect, Json
from runtime.models.offline.phrases import begins_to_tell, is_curse, is_number
from runtime.models.offline.plan import Scene
from runtime.models.offline.reading import (
    Choice,
    ChoiceReading,
    Found,
    read_date,
    read_digits,
    read_for_type,
    read_yes_no,
    weigh_choices,
)
from runtime.models.offline.reading.asked_words import with_question
from runtime.models.offline.reading.denials import affirmed
from runtime.models.offline.reading.digits import in_two_parts
from runtime.models.offline.reading.tokens import tokenize
from runtime.models.offline.words import plain, question_kind, stems, stop_free
from runtime.models.situation import AskedField, ChoiceOption

__all__ = [
    "Reading",
    "clear_choice",
    "fitted",
    "is_name",
    "is_no_text",
    "read_asked",
    "spoken_name",
    "wants_yes_no",
]

_SURE = 0.9
_LEAST = 0.4
_ALIKE = 85
_MOST_CHOICES = 200
_NAME = re.compile(r"\b(?:sur)?name\b")
_ASKS_WHETHER = re.compile(
    r"\b(?:anything|any|else|something|is there|are there)\b",
    re.IGNORECASE,
)
_FUNCTION_WORDS = frozenset(
    "the a an to of and it is its that this for in on at i you but or so if with from by".split()
)
_PRECISE = frozenset({"digits", "email", "date", "spelled"})


@dataclass(frozen=True, slots=True)
class Reading:
    """What the words came to as an answer."""

    value: Json = None
    """None = nothing was read."""
    among: tuple[str, ...] = ()
    """Labels of choices that fit alike."""
    digits_heard: int | None = None
    """So many, where another number of them is wanted."""


_NOTHING = Reading()
_UNREAD = ChoiceReading(None)


def read_asked(
    scene: Scene, field: AskedField, text: str, *, only_clear: bool, first_part: str = ""
) -> Reading:
    """Read an answer to the question that was asked.

    Args:
        scene: Where the conversation stands.
        field: What was asked for.
        text: The words, or the part of them that counts.
        only_clear: The words were said before the question was: what could be anything is none.
        first_part: The words of the turn before, if the caller was told that they had too few
            digits: those of now may go on with them.
    """
    kind = question_kind(text)
    if is_curse(text):
        return _NOTHING
    if field.choices:
        return _NOTHING if kind == "open" else _chosen(scene, field, text, only_clear=only_clear)
    if wants_yes_no(field):
        return _NOTHING if only_clear else _yes_or_no(scene, field, text)
    if field.expect.kind in _PRECISE or field.type in ("int", "float"):
        clear = only_clear or kind == "open"
        before = "" if clear else first_part
        return _precise(scene, field, text, needs=_SURE if clear else _LEAST, before=before)
    if only_clear or kind in ("open", "closed") or _is_no_answer(scene, text):
        return _NOTHING
    if field.type in ("text", "any") and is_no_text(scene, field, text):
        return _NOTHING
    found = _typed(scene, field, text)
    return _NOTHING if found is None else Reading(fitted(found.value, field.type))


def is_name(field: AskedField) -> bool:
    """Whether a name is asked for, as a text."""
    about = f"{field.name} {field.description}".casefold().replace("_", " ")
    is_text = field.type == "text" and field.expect.kind == "open" and not field.choices
    return is_text and _NAME.search(about) is not None


def is_no_text(scene: Scene, field: AskedField, text: str) -> bool:
    """Whether the words are no text of a caller's own: talk about it, or another field's value."""
    if begins_to_tell(text):
        return True
    language = scene.situation.language
    if not stop_free(text, language):
        asked = scene.situation.question or scene.situation.last_line
        answer = read_yes_no(text, "", scene.lexicon)
        # "No" to "Anything else we should know?" says that there is nothing.
        is_told = answer.is_plain and answer.answer == "no" and _ASKS_WHETHER.search(asked)
        if is_name(field):
            return set(plain(text).split()) <= _FUNCTION_WORDS
        return not is_told and not any(c.isdigit() for c in text)
    return any(
        _is_value_of(scene, other, text)
        for other in scene.situation.settable
        if other.name != field.name and other.value is None
    )


def _is_value_of(scene: Scene, other: AskedField, text: str) -> bool:
    """Whether another open field's choice or date is all that the words say."""
    language = scene.situation.language
    option = clear_choice(scene, other, text)
    if option is not None:
        own = f"{option.label} {str(option.value).replace('_', ' ')}"
        return set(stems(text, language)) <= set(stems(own, language))
    if other.expect.kind != "date":
        return False
    day = read_date(text, scene.today, scene.lexicon)
    if day is None or day.confidence < _SURE:
        return False
    return not stop_free(f"{text[: day.start]} {text[day.end :]}", language)


def wants_yes_no(field: AskedField) -> bool:
    """Whether a yes or a no answers it."""
    return not field.choices and (field.type == "bool" or field.expect.kind == "yes_no")


def clear_choice(
    scene: Scene, field: AskedField, text: str, least: float = _SURE
) -> ChoiceOption | None:
    """Return the choice whose own words were said, also where nobody asked for it; ``least`` is
    how sure the reading must be.
    """
    if not field.choices or question_kind(text) == "open" or is_curse(text):
        return None
    found = weigh_choices(text, _choices(field.choices), scene.lexicon).found
    if found is None or found.confidence < least:
        return None
    option = next((o for o in field.choices if o.value == found.value), None)
    return option if option is not None and _is_named(option.label, text, scene) else None


def fitted(value: Json, field_type: str) -> Json:
    """Return the value in the shape of the type; None where it has none in it."""
    match field_type:
        case "text" | "categorical":
            if isinstance(value, bool) or value is None or isinstance(value, list | dict):
                return None
            return str(value)
        case "bool":
            return value if isinstance(value, bool) else None
        case "int":
            if isinstance(value, float) and value.is_integer():
                return int(value)
            if isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) < 19:
                return int(value)
            return value if isinstance(value, int) and not isinstance(value, bool) else None
        case "float":
            return value if isinstance(value, int | float) and not isinstance(value, bool) else None
        case "list":
            return value if isinstance(value, list) else None
        case _:
            return value


def spoken_name(field: AskedField) -> str:
    """Write a field's name as it is said: ``project.birth_year`` is "birth year"."""
    return " ".join(field.name.rpartition(".")[2].replace("_", " ").split())


def _choices(options: Sequence[ChoiceOption]) -> list[Choice]:
    result: list[Choice] = []
    for option in options[:_MOST_CHOICES]:
        value = str(option.value)
        labels = (option.label,) if value == option.label else (option.label, value)
        result.append(Choice(option.value, labels))
    return result


def _chosen(scene: Scene, field: AskedField, text: str, *, only_clear: bool) -> Reading:
    if only_clear:
        option = clear_choice(scene, field, text)
        return Reading(fitted(option.value, field.type)) if option is not None else _NOTHING
    choices = _choices(_narrowed(scene, field))
    read = weigh_choices(text, choices, scene.lexicon)
    if read == _UNREAD:  # the question's own words may say which: "or did it never arrive?"
        asked = scene.situation.question or scene.situation.last_line
        read = weigh_choices(text, with_question(choices, asked, scene.lexicon), scene.lexicon)
    if read.found is not None:
        return Reading(fitted(read.found.value, field.type))
    if field.type == "bool":
        return _yes_or_no(scene, field, text)
    return Reading(among=tuple(choice.labels[0] for choice in read.ambiguous))


def _narrowed(scene: Scene, field: AskedField) -> Sequence[ChoiceOption]:
    """The choices between which the caller was just asked to decide, else all of them."""
    line, before = scene.situation.last_line, scene.lines.which.partition("{")[0]
    if before not in line:
        return field.choices
    asked = line[line.index(before) :].casefold()
    places = [(asked.find(o.label.casefold()), o) for o in field.choices if o.label]
    named = [option for at, option in sorted(places, key=lambda p: p[0]) if at >= 0]
    return named if len(named) > 1 else field.choices


def _yes_or_no(scene: Scene, field: AskedField, text: str) -> Reading:
    question = scene.situation.question or scene.situation.last_line
    answer = read_yes_no(text, question, scene.lexicon).answer
    if answer not in ("yes", "no"):
        return _NOTHING
    return Reading(answer == "yes" if field.type == "bool" else fitted(answer, field.type))


def _precise(scene: Scene, field: AskedField, text: str, *, needs: float, before: str) -> Reading:
    found = _typed(scene, field, text)
    if found is not None and found.confidence >= needs:
        return Reading(fitted(found.value, field.type))
    wanted = field.expect.length
    if field.expect.kind == "digits" and wanted is not None:
        some = read_digits(affirmed(text, scene.lexicon), None, scene.lexicon)
        if (whole := _joined_digits(scene, before, text, wanted)) is not None:
            return Reading(fitted(whole, field.type))
        if some is not None and len(some.value) != wanted:
            if len(some.value) > 1 or _is_bare_digit(scene, text):
                return Reading(digits_heard=len(some.value))
    return _NOTHING


def _is_bare_digit(scene: Scene, text: str) -> bool:
    """Whether a digit is all that was said; "one moment" has none."""
    words = scene.lexicon
    numbers = frozenset({*words.units, *words.zero_letters})
    return is_number(text, numbers, frozenset(words.fillers))


def _joined_digits(scene: Scene, before: str, text: str, wanted: int) -> str | None:
    """The digits of two turns, where they make the number that is wanted only together."""
    first = read_digits(affirmed(before, scene.lexicon), None, scene.lexicon) if before else None
    if first is None:
        return None
    return in_two_parts(first.value, affirmed(text, scene.lexicon), wanted, scene.lexicon)


def _typed(scene: Scene, field: AskedField, text: str) -> Found[Json] | None:
    return read_for_type(
        field.type,
        text,
        today=scene.today,
        expect=Expect() if field.expect.kind in ("choice", "yes_no") else field.expect,
        about=f"{field.name} {field.description}",
        lexicon=scene.lexicon,
    )


def _is_no_answer(scene: Scene, text: str) -> bool:
    """A bare "yes", "maybe" or "I don't know" to a question that asks for more."""
    answer = read_yes_no(text, "", scene.lexicon)
    return not answer.rest and answer.answer in ("yes", "unclear")


def _is_named(label: str, text: str, scene: Scene) -> bool:
    """Whether a word of the label was said: not just its place in some list."""
    said = [token.norm for token in tokenize(text).words[:60]]
    noise = scene.lexicon.choice_noise
    words = [t.norm for t in tokenize(label).words[:12] if t.norm not in noise]
    return any(
        word == heard or (len(word) > 3 and fuzz.ratio(word, heard) >= _ALIKE)
        for word in words
        for heard in said
    )
