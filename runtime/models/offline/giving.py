"""Values that a caller gives without being asked for them.

Owns which of them are clear enough to be kept: in the words beside an answer, and in those that
began what is being done now, which may have been said turns ago.
"""

import re
from datetime import date, timedelta

from runtime.agent import Json
from runtime.models.offline.fields import clear_choice, fitted, is_no_text, read_asked, spoken_name
from runtime.models.offline.phrases import negates
from runtime.models.offline.plan import Plan, PlannedCall, Scene
from runtime.models.offline.reading import is_correction
from runtime.models.offline.reading.denials import affirmed
from runtime.models.offline.words import question_kind, stems
from runtime.models.situation import AskedField

__all__ = ["is_birth", "is_likely", "opening_values", "own_part", "recall", "unasked_values"]

_MERE_WISH = 2
"""So few words that say something are the wish and no more, once something else was talked about:
who began with "I lost my card" is asked all the same whether it was lost or stolen."""
_LONG_CODE = 5
"""So many digits are a field's by their number alone; fewer could be anything."""
_NO_YEAR = 2 * 366
"""A day of birth as near as this was said without its year: it is no such day."""
_BIRTH = ("birth", "born", "dob")
_BORN = re.compile(r"\b(?:born|birth\w*|dob)\b", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:was|were|did|had|got|happened|lost|stolen|went|came|bought|ordered|called|since|broke)\b",
    re.IGNORECASE,
)
_FIRST_YEAR = 1900
_PARTS = re.compile(r"\s*[,;.]\s+(?:and\b\s*)?|\s+and\s+", re.IGNORECASE)
_PRECISE = frozenset({"digits", "email", "date"})


def recall(scene: Scene) -> Plan | None:
    """Keep what was said with the wish, once it has been begun; the words of now are used up."""
    is_used = not scene.is_first if scene.said else scene.situation.kind == "keys"
    if not is_used or scene.situation.pending is not None or scene.situation.refused is not None:
        return None
    values = opening_values(scene)
    return Plan("", (PlannedCall("set_fields", values),)) if values else None


def unasked_values(scene: Scene) -> dict[str, Json]:
    """Values of fields that nobody asked for, each named by a word of its own."""
    asked = scene.situation.collecting
    return _beside(scene, asked) | _chosen(scene, scene.said, asked)


def _beside(scene: Scene, asked: AskedField | None) -> dict[str, Json]:
    """Dates and numbers of a clause of their own: "it's 472913 and I was born in 1984"."""
    if asked is None or not scene.is_first or question_kind(scene.said) == "open":
        return {}
    if negates(scene.said) or is_correction(scene.said, scene.lexicon) is not None:
        return {}
    parts = [part for part in _PARTS.split(scene.said) if part.strip()]
    given: dict[str, Json] = {}
    # "It was stolen, on Friday" is no Friday to come.
    is_past = _PAST.search(scene.said) is not None
    days = {f.name for f in scene.situation.settable if f.expect.kind == "date" and not is_birth(f)}
    if len(parts) == 1 and not _is_for_another(scene, asked):
        return {}
    for part in parts:
        if read_asked(scene, asked, part, only_clear=True).value is not None:
            continue
        for name, value in _precise(scene, part, asked).items():
            if name in given:
                return {}
            if is_past and name in days:
                continue
            given[name] = value
    return given


def own_part(scene: Scene, asked: AskedField) -> str:
    """The words without the clauses that give other fields' values: of "Nora, number 472913"."""
    parts = [part for part in _PARTS.split(scene.said) if part.strip()]
    own = [
        part
        for part in parts
        if not _precise(scene, part, asked) and not _chosen(scene, part, asked)
    ]
    return ", ".join(own) if own and len(own) < len(parts) else scene.said


def _is_for_another(scene: Scene, asked: AskedField) -> bool:
    """A text was asked for, and no words of the caller's own were said: "on Friday"."""
    is_text = asked.type in ("text", "any") and asked.expect.kind == "open" and not asked.choices
    return is_text and is_no_text(scene, asked, scene.said)


def opening_values(scene: Scene) -> dict[str, Json]:
    """The same in the words that began this, dates and long numbers too; each tried once only."""
    text, is_now = scene.opening.words, scene.opening.words == scene.said
    if negates(text):  # "it is not lost, it's damaged": what is left of it counts
        text = affirmed(text, scene.lexicon)
    if not text.strip(" ;,.") or negates(text) or question_kind(text) == "open":
        return {}
    # Words of turns ago answer the question of now too; those of now are read for it elsewhere.
    asked = scene.situation.collecting if is_now else None
    found = _precise(scene, text, asked)
    if is_now or len(stems(text, scene.situation.language)) > _MERE_WISH:
        found |= _chosen(scene, text, asked)
    return {name: value for name, value in found.items() if name not in scene.opening.tried}


def _chosen(scene: Scene, text: str, asked: AskedField | None) -> dict[str, Json]:
    taken = {o.label.casefold() for o in asked.choices} if asked is not None else set[str]()
    given: dict[str, tuple[str, Json]] = {}
    for field in _open_fields(scene, asked):
        option = clear_choice(scene, field, text)
        if option is None or option.label.casefold() in taken:
            continue
        value = fitted(option.value, field.type)
        if value is not None and scene.may("set_fields", **{field.name: value}):
            given[field.name] = (option.label.casefold(), value)
    labels = [label for label, _ in given.values()]
    return {name: value for name, (label, value) in given.items() if labels.count(label) == 1}


def _precise(scene: Scene, text: str, asked: AskedField | None) -> dict[str, Json]:
    """Dates, addresses and numbers of a known length, where one field alone can take them."""
    given: dict[str, Json] = {}
    for field in _open_fields(scene, asked):
        if _is_year_of_birth(field) and _BORN.search(text):
            year = read_asked(scene, field, text, only_clear=True).value
            if isinstance(year, int) and _FIRST_YEAR <= year < scene.today.year:
                given[field.name] = year
            continue
        if (
            field.choices
            or field.expect.kind not in _PRECISE
            or not _may_be_said(scene, field, text)
        ):
            continue
        value = read_asked(scene, field, text, only_clear=True).value
        if value is None or not scene.may("set_fields", **{field.name: value}):
            continue
        if field.expect.kind == "date" and not is_likely(scene, field, value):
            continue
        given[field.name] = value
    values = list(given.values())
    return {name: value for name, value in given.items() if values.count(value) == 1}


def _is_year_of_birth(field: AskedField) -> bool:
    about = f"{field.name} {field.description}".casefold().replace("_", " ")
    is_year = field.type == "int" and not field.choices and "year" in about
    return is_year and is_birth(field)


def _open_fields(scene: Scene, asked: AskedField | None) -> list[AskedField]:
    """Fields without a value; one that is not shown shows among those that may be corrected."""
    known = {field.name for field in scene.situation.correctable}
    if asked is not None:
        known.add(asked.name)
    return [f for f in scene.situation.settable if f.value is None and f.name not in known]


def _may_be_said(scene: Scene, field: AskedField, text: str) -> bool:
    """Digits belong to the field whose length they have, or whose name was said."""
    if field.expect.kind != "digits":
        return True
    language = scene.situation.language
    own = set(stems(spoken_name(field), language))
    is_named = bool(own) and own <= set(stems(text, language))
    # "I was born in 1984" names the birth year as well as "my birth year is 1984" does.
    is_named = is_named or (is_birth(field) and _BORN.search(text) is not None)
    return field.expect.length is not None and (field.expect.length >= _LONG_CODE or is_named)


def is_birth(field: AskedField) -> bool:
    """Whether it is about somebody's birth."""
    about = f"{field.name} {field.description}".casefold()
    return any(word in about for word in _BIRTH)


def is_likely(scene: Scene, field: AskedField, value: Json) -> bool:
    """Nobody was born this year, or is booked for a day gone by; of dates that nobody asked for."""
    try:
        day = date.fromisoformat(str(value))
    except ValueError:
        return False
    if is_birth(field):
        return day < scene.today - timedelta(days=_NO_YEAR)
    return day >= scene.today
