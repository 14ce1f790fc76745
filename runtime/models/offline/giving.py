"""Values that a caller gives without being asked for them.

Owns which of them are clear enough to be kept: in the words beside an answer, and in those that
began what is being done now, which may have been said turns ago.
"""

from datetime import date, timedelta

from runtime.agent import Json
from runtime.models.offline.fields import clear_choice, fitted, read_asked, spoken_name
from runtime.models.offline.phrases import negates
from runtime.models.offline.plan import Plan, PlannedCall, Scene
from runtime.models.offline.words import question_kind, stems
from runtime.models.situation import AskedField

__all__ = ["is_likely", "opening_values", "recall", "unasked_values"]

_MERE_WISH = 2
"""So few words that say something are the wish and no more, once something else was talked about:
who began with "I lost my card" is asked all the same whether it was lost or stolen."""
_LONG_CODE = 5
"""So many digits are a field's by their number alone; fewer could be anything."""
_NO_YEAR = 2 * 366
"""A day of birth as near as this was said without its year: it is no such day."""
_BIRTH = ("birth", "born", "dob")
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
    return _chosen(scene, scene.said, scene.situation.collecting)


def opening_values(scene: Scene) -> dict[str, Json]:
    """The same in the words that began this, dates and long numbers too; each tried once only."""
    text = scene.opening.words
    if not text or negates(text) or question_kind(text) == "open":
        return {}
    # Words of turns ago answer the question of now too; those of now are read for it elsewhere.
    asked = scene.situation.collecting if text == scene.said else None
    found = _precise(scene, text, asked)
    if text == scene.said or len(stems(text, scene.situation.language)) > _MERE_WISH:
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
        if field.choices or field.expect.kind not in _PRECISE or not _may_be_said(scene, field):
            continue
        value = read_asked(scene, field, text, only_clear=True).value
        if value is None or not scene.may("set_fields", **{field.name: value}):
            continue
        if field.expect.kind == "date" and not is_likely(scene, field, value):
            continue
        given[field.name] = value
    values = list(given.values())
    return {name: value for name, value in given.items() if values.count(value) == 1}


def _open_fields(scene: Scene, asked: AskedField | None) -> list[AskedField]:
    """Fields without a value; one that is not shown shows among those that may be corrected."""
    known = {field.name for field in scene.situation.correctable}
    if asked is not None:
        known.add(asked.name)
    return [f for f in scene.situation.settable if f.value is None and f.name not in known]


def _may_be_said(scene: Scene, field: AskedField) -> bool:
    """Digits belong to the field whose length they have, or whose name was said."""
    if field.expect.kind != "digits":
        return True
    language = scene.situation.language
    own = set(stems(spoken_name(field), language))
    is_named = bool(own) and own <= set(stems(scene.opening.words, language))
    return field.expect.length is not None and (field.expect.length >= _LONG_CODE or is_named)


def is_likely(scene: Scene, field: AskedField, value: Json) -> bool:
    """Nobody was born this year, or is booked for a day gone by; of dates that nobody asked for."""
    try:
        day = date.fromisoformat(str(value))
    except ValueError:
        return False
    about = f"{field.name} {field.description}".casefold()
    if any(word in about for word in _BIRTH):
        return day < scene.today - timedelta(days=_NO_YEAR)
    return day >= scene.today
