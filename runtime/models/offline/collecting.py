"""Answers to what is being collected, and whatever else the caller gives with them.

Owns the rules for an engaged ``collect`` and for fields that may be set without one.
"""

import re

from runtime.agent import Json
from runtime.models.offline.asking import digits_wrong, with_question
from runtime.models.offline.correcting import correction_in, noted, revision
from runtime.models.offline.fields import Reading, clear_choice, is_name, read_asked, wants_yes_no
from runtime.models.offline.giving import (
    is_birth,
    is_likely,
    opening_values,
    own_part,
    unasked_values,
)
from runtime.models.offline.offers import means_person
from runtime.models.offline.plan import Plan, PlannedCall, Scene, joined
from runtime.models.offline.reading import is_correction, read_date
from runtime.models.offline.routing import CERTAIN, route
from runtime.models.offline.wishing import wished_words
from runtime.models.offline.words import question_kind
from runtime.models.situation import AskedField

__all__ = ["answer_question", "not_caught", "revise"]

_ANOTHER_WISH = 0.85
"""So sure it must be that another flow is meant, before words fit for any text are no answer."""
_PARTS = re.compile(r"\s*[,;.]\s*(?:and\b\s*)?|\s+and\s+", re.IGNORECASE)
_THING = re.compile(r"\b(?:the|my) (?:[\w']+ ){1,3}ones?\b", re.IGNORECASE)
_YEAR = re.compile(r"\d{4}")
_MOST_LABELS = 4
_NAMED = 0.8
"""How sure it must be that a thing named in passing is the one that is known."""
_OPEN_TYPES = frozenset({"text", "any", "list", "json"})


def answer_question(scene: Scene) -> Plan | None:
    """Set what was asked for, with what else was given; ask which one where several fit."""
    field = scene.situation.collecting
    if field is None or scene.situation.pending is not None or scene.has_used_words:
        return None
    if not scene.said:
        return None
    instead = correction_in(scene) if scene.is_first else None
    reading = Reading()
    if instead is not None and field.choices:
        reading = read_asked(scene, field, instead.value, only_clear=True)
    if reading.value is None and instead is not None and (revised := revision(scene)) is not None:
        return revised
    if reading.value is None:
        reading = _read(scene, field)
    if reading.value is not None:
        may_revise = scene.is_first and bool(field.choices)
        beside = _revised_beside(scene, field) if may_revise else ()
        if beside is None:
            return not_caught(scene)
        return _set(scene, field, reading.value, beside)
    return _ask_on(scene, reading) or _wished(scene) or _beside(scene)


def revise(scene: Scene) -> Plan | None:
    """Correct an earlier value where nothing is being asked."""
    return revision(scene) if scene.is_first and scene.said else None


def not_caught(scene: Scene) -> Plan | None:
    """Nothing in the words answers what was asked."""
    field = scene.situation.collecting
    if field is None or scene.situation.pending is not None:
        return None
    if not scene.is_first or not scene.said:
        return None
    lines = scene.lines
    line = lines.year_missing if _lacks_year(scene, field) else lines.not_caught
    is_unnamed = scene.situation.question is None and 0 < len(field.choices) <= 4
    if is_unnamed and not scene.times_missed:
        return Plan(f"{line} {_form(scene, field)}")
    return with_question(scene, f"{line} {_help(scene, field)}".strip())


def _lacks_year(scene: Scene, field: AskedField) -> bool:
    """A day of birth was said without its year."""
    if not is_birth(field) or field.expect.kind != "date" or _YEAR.search(scene.said):
        return False
    return read_date(scene.said, scene.today, scene.lexicon, past=True) is not None


def _help(scene: Scene, field: AskedField) -> str:
    """What to say beside a second apology in a row; from the third on also whom to ask for."""
    if not scene.times_missed:
        return ""
    help_line = _form(scene, field)
    has_person = any(
        means_person(scene, flow) and scene.may("activate", flow_id=flow.id)
        for flow in scene.situation.flows
    )
    if scene.times_missed > 1 and has_person:
        help_line = f"{help_line} {scene.lines.or_person}"
    return help_line.strip()


def _form(scene: Scene, field: AskedField) -> str:
    """What an answer may be; empty for an open question."""
    lines, wanted = scene.lines, field.expect.length
    labels = tuple(option.label for option in field.choices)
    if 0 < len(labels) <= _MOST_LABELS:
        return lines.say_one_of.format(options=joined(labels, lines.joint))
    if field.expect.kind == "digits" and wanted is not None and wanted > 1:
        return lines.digits_form.format(wanted=wanted)
    if field.expect.kind == "date":
        return lines.date_form
    return lines.say_one_of.format(options=lines.yes_no) if wants_yes_no(field) else ""


def _read(scene: Scene, field: AskedField) -> Reading:
    """Read the words; those that were said before the question came up must be clear."""
    said = own_part(scene, field) if is_name(field) and scene.is_first else scene.said
    reading = read_asked(
        scene, field, said, only_clear=not scene.is_first, first_part=scene.first_part
    )
    is_date = field.expect.kind == "date" and reading.value is not None
    if is_date and not scene.is_first and not is_likely(scene, field, reading.value):
        return Reading()
    return reading


def _revised_beside(scene: Scene, field: AskedField) -> tuple[PlannedCall, ...] | None:
    """Of "actually it was the blue one and it was stolen", what does not answer: the blue one.

    None where it names a thing that is none of those known: nothing may be done with the old one.
    """
    parts = [part for part in _PARTS.split(scene.said) if part.strip()]
    left = [part for part in parts if clear_choice(scene, field, part) is None]
    if not left or len(left) == len(parts):
        return ()
    if correction_in(scene) is None:
        left = [part for part in left if is_correction(part, scene.lexicon) is not None]
    revised = revision(scene, ", ".join(left))
    thing = _THING.search(" ".join(left))
    if revised is None and thing is not None:
        revised = revision(scene, f"I meant {thing[0]}")
    if revised is not None:
        return revised.calls
    is_known = thing is None or any(
        (option := clear_choice(scene, known, thing[0], least=_NAMED)) is not None
        and option.value == known.value
        for known in scene.situation.correctable
    )
    return () if is_known else None


def _set(
    scene: Scene, field: AskedField, value: Json, beside: tuple[PlannedCall, ...] = ()
) -> Plan | None:
    if not scene.may("set_fields", **{field.name: value}) or _is_other_wish(scene, field):
        return None
    said = {**opening_values(scene), **unasked_values(scene)}
    values = {field.name: value} | {k: v for k, v in said.items() if k != field.name}
    for call in beside:
        values.pop(str(call.arguments.get("memory_key")), None)
    return Plan("", (PlannedCall("set_fields", values), *beside, *_more(scene, field)))


def _more(scene: Scene, field: AskedField) -> tuple[PlannedCall, ...]:
    """What a yes or no was followed by: another wish, or a question."""
    rest, situation = wished_words(scene), scene.situation
    if not wants_yes_no(field) or rest == scene.said or not scene.is_first:
        return ()
    verdict = route(rest, situation.flows, situation.language)
    flow = verdict.best
    if flow is not None and verdict.score >= CERTAIN and not verdict.rivals:
        if scene.may("activate", flow_id=flow.id):
            return (PlannedCall("activate", {"flow_id": flow.id}),)
    if question_kind(rest) in ("open", "closed") and scene.may("search_knowledge", query=""):
        return (PlannedCall("search_knowledge", {"query": rest}),)
    return ()


def _wished(scene: Scene) -> Plan | None:
    """Friday "would be better" is about a value of before, where it answers nothing now."""
    return revision(scene) if scene.is_first else None


def _beside(scene: Scene) -> Plan | None:
    """Keep what was given instead of an answer; the question is asked again."""
    values = unasked_values(scene) if scene.is_first and question_kind(scene.said) is None else {}
    return Plan(noted(scene), (PlannedCall("set_fields", values),)) if values else None


def _is_other_wish(scene: Scene, field: AskedField) -> bool:
    """Any words fit an open field, also those that ask for something else."""
    if field.choices or field.type not in _OPEN_TYPES or field.expect.kind != "open":
        return False
    situation = scene.situation
    return route(wished_words(scene), situation.flows, situation.language).score >= _ANOTHER_WISH


def _ask_on(scene: Scene, reading: Reading) -> Plan | None:
    field = scene.situation.collecting
    if field is None or not scene.is_first:
        return None
    if reading.among:
        options = joined(reading.among, scene.lines.joint)
        return Plan(scene.lines.which.format(options=options))
    if reading.digits_heard is not None:
        line = digits_wrong(scene, reading.digits_heard, field.expect.length)
        return with_question(scene, f"{line} {_help(scene, field)}".strip())
    return None
