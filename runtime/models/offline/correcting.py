"""Revisions of what was given before: "no, I meant the gold one", "actually make it express".

Owns which earlier value is meant. Words that revise are found by ``reading``.
"""

import re
from datetime import date, timedelta

from runtime.agent import Expect, Json
from runtime.models.offline.asking import with_question
from runtime.models.offline.fields import clear_choice, fitted, spoken_name
from runtime.models.offline.phrases import wished_instead
from runtime.models.offline.plan import Plan, PlannedCall, Scene, joined
from runtime.models.offline.reading import Found, is_correction, read_for_type
from runtime.models.offline.words import plain, stems
from runtime.models.situation import AskedField

__all__ = ["contradiction", "correction_in", "is_other", "noted", "revision"]

_STRONG = 0.8
_SURE = 0.9
_LIKELY = 0.6
_KINDS = frozenset({"date", "digits", "email"})
_STANDS_FOR = frozenset({"one", "ones"})
_ARTICLES = frozenset({"the", "a", "an", "my", "that", "this"})
_OTHER = re.compile(
    r"(?:(?:no|not that one|actually|sorry|oh|i mean|i meant|i want|id like|make it|rather|for|its|"
    r"it was|it is|please|wait) )*(?:the|my) other(?: (?P<thing>\w+))?(?: (?:please|instead|then))*"
)
_READ_BY_WORDS = frozenset({"text", "any", "list"})


def correction_in(scene: Scene) -> Found[str] | None:
    """What is said instead of something, in the words of this turn."""
    return is_correction(scene.said, scene.lexicon)


def revision(scene: Scene, text: str | None = None) -> Plan | None:
    """Plan to correct the one value that the words can revise; None for none and for several.

    Args:
        scene: Where the conversation stands.
        text: The part of the words that counts; None = all of them.
    """
    fields = _correctable(scene)
    if not fields:
        return None
    said = scene.said if text is None else text
    if is_other(said):
        return _other_choice(scene, fields, said)
    for instead, is_strong in _ways(scene, said):
        found = (
            _by_choice(scene, fields, instead)
            or _by_kind(scene, fields, instead)
            or _by_name(scene, fields, instead, said)
            or (_alone(scene, fields, instead) if is_strong else None)
        )
        if found is not None:
            return _correct(scene, found)
    return None


def is_other(text: str) -> bool:
    """Whether it only asks for another one than the one that was taken."""
    return _OTHER.fullmatch(plain(text)) is not None


def _other_choice(scene: Scene, fields: tuple[AskedField, ...], text: str) -> Plan | None:
    """Of "the other card": the one of two that was not taken, or which of them."""
    found = _OTHER.fullmatch(plain(text))
    if found is None:
        return None
    language = scene.situation.language
    named = found["thing"] or ""
    thing = set[str]() if named in _STANDS_FOR else set(stems(named, language))
    chosen = [
        f
        for f in fields
        if any(option.value == f.value for option in f.choices) and _is_a(f, thing, language)
    ]
    if len(chosen) != 1:
        return None
    others = [option for option in chosen[0].choices if option.value != chosen[0].value]
    if len(others) == 1:
        value = fitted(others[0].value, chosen[0].type)
        return None if value is None else _correct(scene, (chosen[0].name, value))
    labels = joined(tuple(option.label for option in others), scene.lines.joint)
    return with_question(scene, scene.lines.which.format(options=labels)) if others else None


def _is_a(field: AskedField, thing: set[str], language: str) -> bool:
    """Whether it is called so; "the other one" can be any."""
    labels = " ".join(option.label for option in field.choices)
    return not thing or thing <= set(stems(f"{spoken_name(field)} {labels}", language))


def contradiction(scene: Scene, text: str) -> Plan | None:
    """Plan to correct a value that the words name differently, without a word that revises."""
    fields = _correctable(scene)
    found = _by_choice(scene, fields, text) or _by_kind(scene, fields, text)
    return None if found is None else _correct(scene, found)


def _correctable(scene: Scene) -> tuple[AskedField, ...]:
    situation = scene.situation
    return tuple(f for f in situation.correctable if scene.may("correct", memory_key=f.name))


def _ways(scene: Scene, said: str) -> list[tuple[str, bool]]:
    """What may be meant instead, the likeliest first, and whether only a change can be meant."""
    ways: list[tuple[str, bool]] = []
    wished = wished_instead(said)
    if wished is not None:
        ways.append(wished)
    corrected = is_correction(said, scene.lexicon)
    if corrected is not None:
        ways.append((corrected.value, corrected.confidence >= _STRONG))
    if scene.lines.which.partition("{")[0] in scene.situation.last_line:
        ways.append((said, False))  # it answers which of several was meant instead
    return ways


def _correct(scene: Scene, found: tuple[str, Json]) -> Plan:
    call = PlannedCall("correct", {"memory_key": found[0], "value": found[1]})
    return Plan(noted(scene), (call,))


def noted(scene: Scene) -> str:
    """Acknowledge what is written beside the question, which the engine puts again after it.

    Only then: words of the planner's would pass for a question that is its own to put.
    """
    return scene.lines.noted if scene.engine_speaks else ""


def _by_choice(scene: Scene, fields: tuple[AskedField, ...], text: str) -> tuple[str, Json] | None:
    hits: list[tuple[str, Json]] = []
    for field in fields:
        # The words say that they revise something: the choice itself may be said loosely.
        option = clear_choice(scene, field, text, least=_STRONG)
        if option is not None and option.value != field.value:
            hits.append((field.name, fitted(option.value, field.type)))
    return hits[0] if len(hits) == 1 and hits[0][1] is not None else None


def _by_kind(scene: Scene, fields: tuple[AskedField, ...], text: str) -> tuple[str, Json] | None:
    """Only one value is a date, or has so many digits: "no, the fifth of December"."""
    hits: list[tuple[str, Json]] = []
    for field in fields:
        if field.choices or field.expect.kind not in _KINDS:
            continue
        value = _read(scene, field, text, least=_LIKELY)
        if value is not None and _has_length(field, value):
            hits.append((field.name, value))
    return hits[0] if len(hits) == 1 else None


def _has_length(field: AskedField, value: Json) -> bool:
    wanted = field.expect.length
    return field.expect.kind != "digits" or wanted is None or len(str(value)) == wanted


def _by_name(
    scene: Scene, fields: tuple[AskedField, ...], text: str, whole: str
) -> tuple[str, Json] | None:
    """The caller names what they revise: "no, my birth year is 1980"."""
    language = scene.situation.language
    said = set(stems(whole, language))
    named = [f for f in fields if (own := set(stems(spoken_name(f), language))) and own <= said]
    if len(named) != 1:
        return None
    value = _read(scene, named[0], text, least=0.4)
    return None if value is None else (named[0].name, value)


def _alone(scene: Scene, fields: tuple[AskedField, ...], text: str) -> tuple[str, Json] | None:
    """One value of a kind was given, and the words can be read as that kind."""
    numbers = [f for f in fields if f.type in ("int", "float") and not f.choices]
    if len(numbers) == 1 and (value := _read(scene, numbers[0], text, least=_SURE)) is not None:
        return numbers[0].name, value
    worded = [f for f in fields if f.type in _READ_BY_WORDS and not f.choices]
    if len(worded) == 1 and (value := _read(scene, worded[0], text, least=0.4)) is not None:
        return worded[0].name, value
    return None


def _read(scene: Scene, field: AskedField, text: str, *, least: float) -> Json:
    if field.choices:
        option = clear_choice(scene, field, text)
        return None if option is None else fitted(option.value, field.type)
    was = field.value
    if field.expect.kind == "date" and (day := _in_its_week(scene, was, text)) is not None:
        return None if day == was else day
    in_digits = isinstance(was, str) and len(was) > 1 and was.isdecimal()
    found = read_for_type(
        field.type,
        text,
        today=scene.today,
        expect=Expect("digits", len(was)) if in_digits and isinstance(was, str) else field.expect,
        about=f"{field.name} {field.description}",
        lexicon=scene.lexicon,
    )
    if found is None or found.confidence < least:
        return None
    value = fitted(found.value, field.type)
    if isinstance(value, str) and found.value == value:
        value = _bare(value)
    return None if value == was else value


def _in_its_week(scene: Scene, was: Json, text: str) -> str | None:
    """A bare weekday instead of a date is the one of its week: "can we make it Thursday"."""
    words = [w for w in plain(text).split() if w not in _ARTICLES and w != "on"]
    weekday = scene.lexicon.weekdays.get(words[0]) if len(words) == 1 else None
    if weekday is None or not isinstance(was, str):
        return None
    try:
        before = date.fromisoformat(was)
        day = before + timedelta(days=weekday - before.weekday())
    except (ValueError, OverflowError):
        return None
    return day.isoformat() if day >= scene.today else None


def _bare(value: str) -> str:
    """Leave what tells a thing from the others: of "the gold one", the gold."""
    words = value.split()
    if len(words) > 1 and words[-1].casefold() in _STANDS_FOR:
        words = words[:-1]
        if len(words) > 1 and words[0].casefold() in _ARTICLES:
            words = words[1:]
    return " ".join(words)
