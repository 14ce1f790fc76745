"""Answers to what is being collected, and whatever else the caller gives with them.

Owns the rules for an engaged ``collect`` and for fields that may be set without one.
"""

from runtime.agent import Json
from runtime.models.offline.asking import with_question
from runtime.models.offline.correcting import correction_in, noted, revision
from runtime.models.offline.fields import Reading, read_asked, wants_yes_no
from runtime.models.offline.giving import is_likely, opening_values, unasked_values
from runtime.models.offline.plan import Plan, PlannedCall, Scene, joined
from runtime.models.offline.routing import CERTAIN, route
from runtime.models.offline.wishing import wished_words
from runtime.models.offline.words import question_kind
from runtime.models.situation import AskedField

__all__ = ["answer_question", "not_caught", "revise"]

_ANOTHER_WISH = 0.85
"""So sure it must be that another flow is meant, before words fit for any text are no answer."""
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
        return _set(scene, field, reading.value)
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
    line, labels = scene.lines.not_caught, tuple(option.label for option in field.choices)
    if scene.situation.question is None and 0 < len(labels) <= 4:
        options = joined(labels, scene.lines.joint)
        return Plan(f"{line} {scene.lines.say_one_of.format(options=options)}")
    return with_question(scene, line)


def _read(scene: Scene, field: AskedField) -> Reading:
    """Read the words; those that were said before the question came up must be clear."""
    reading = read_asked(
        scene, field, scene.said, only_clear=not scene.is_first, first_part=scene.first_part
    )
    is_date = field.expect.kind == "date" and reading.value is not None
    if is_date and not scene.is_first and not is_likely(scene, field, reading.value):
        return Reading()
    return reading


def _set(scene: Scene, field: AskedField, value: Json) -> Plan | None:
    if not scene.may("set_fields", **{field.name: value}) or _is_other_wish(scene, field):
        return None
    said = {**opening_values(scene), **unasked_values(scene)}
    values = {field.name: value} | {k: v for k, v in said.items() if k != field.name}
    return Plan("", (PlannedCall("set_fields", values), *_more(scene, field)))


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
        line = scene.lines.digits_wrong.format(
            heard=reading.digits_heard, wanted=field.expect.length
        )
        return with_question(scene, line)
    return None
