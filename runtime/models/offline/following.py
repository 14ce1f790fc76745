"""What is left to say after calls of this turn, and in a turn without words.

Owns the rules for what was refused and for outcomes that nobody has told the caller yet.
"""

from runtime.models.offline.asking import ask_next, digits_wrong, with_question
from runtime.models.offline.correcting import contradiction, revision
from runtime.models.offline.giving import recall
from runtime.models.offline.phrases import asks_again, is_refusal, undoes
from runtime.models.offline.plan import Plan, Scene, calls, says
from runtime.models.offline.reading import Control, control_words, read_yes_no
from runtime.models.offline.routing import CERTAIN, route
from runtime.models.offline.words import plain, question_kind
from runtime.models.situation import AskedField

__all__ = ["after_cut_off", "after_refusal", "nothing_said", "outcome", "rest"]

_MOST_CHARS = 300
_SPANS = frozenset("moment second minute sec moments seconds minutes look check find get".split())
_STEERS = ("human", "goodbye")


def after_refusal(scene: Scene) -> Plan | None:
    """Say that it can't be, and ask again: the same words would be refused again.

    Of a batch the engine keeps the values that were not refused, so there is nothing to try anew.
    """
    situation = scene.situation
    if situation.refused is None:
        return None
    own = " ".join(situation.refused.split())
    if situation.refused_by_author and own:
        return with_question(scene, own[:_MOST_CHARS])
    last = scene.made[-1] if scene.made else None
    field = situation.collecting
    if last is None and situation.kind == "keys" and field is not None:
        return with_question(scene, _keyed(scene, field))
    match last.tool if last is not None else "":
        case "set_fields":
            line = scene.lines.not_taken
        case "correct":
            line = scene.lines.not_changed
        case _:
            line = scene.lines.not_possible
    return with_question(scene, line)


def _keyed(scene: Scene, field: AskedField) -> str:
    heard = sum(char.isdecimal() for char in scene.said)
    wanted = field.expect.length
    if wanted is None or not heard or heard == wanted:
        return scene.lines.not_taken
    return digits_wrong(scene, heard, wanted)


def nothing_said(scene: Scene) -> Plan | None:
    """Nobody spoke: only a question that is the model's to put is put."""
    if scene.said:
        return None
    recalled = recall(scene)
    if recalled is not None:
        return recalled
    question = ask_next(scene)
    return says(scene.lines.what_else if scene.is_nudged and not question else question)


def after_cut_off(scene: Scene) -> Plan | None:
    """The caller talked over a step's call, which is made again after an empty reply.

    What stops it, changes it or asks for something else comes before that; all else lets it run.
    """
    situation = scene.situation
    if not situation.step_cancelled or not scene.is_first or situation.pending is not None:
        return None
    revised = revision(scene)
    if revised is None and question_kind(scene.said) is None and len(scene.said.split()) <= 5:
        revised = contradiction(scene, scene.said)
    if revised is not None:
        return revised
    control = control_words(scene.said, scene.lexicon)
    if _stops(scene, control) and scene.may("cancel_skill"):
        return calls("cancel_skill")
    if asks_again(scene.said) or (control is not None and control.kind == "repeat"):
        return Plan()
    if control is not None and control.kind == "wait":
        # To "give me a minute" the agent waits; a "wait" cut in, and what now is for the engine.
        return None if _SPANS & set(plain(scene.said).split()) else Plan()
    if control is not None and control.kind in _STEERS:
        return None
    verdict = route(scene.said, situation.flows, situation.language)
    if question_kind(scene.said) is not None or verdict.score >= CERTAIN:
        return None
    return Plan()


def _stops(scene: Scene, control: Control | None) -> bool:
    if control is not None and control.kind == "cancel":
        return True
    answer = read_yes_no(scene.said, "", scene.lexicon)
    return answer.answer == "no" or is_refusal(scene.said) or undoes(scene.said)


def outcome(scene: Scene) -> Plan | None:
    """Tell what the answer to a held call came to, where nothing of the project did."""
    if not scene.is_nudged:
        return None
    last = scene.made[-1] if scene.made else None
    if last is None or last.tool != "resolve_tool_confirmation" or ask_next(scene):
        return None
    if scene.situation.collecting is not None:
        return None
    if last.arguments.get("confirmed") is not True:
        return says(scene.lines.declined)
    if not scene.situation.just_done:
        return None
    match scene.situation.just_done[-1][1]:
        case "ok":
            return says(scene.lines.done)
        case "failed":
            return says(scene.lines.failed)
        case _:
            return says(scene.lines.uncertain)


def rest(scene: Scene) -> Plan | None:
    """Later rounds: put the question that is due, else leave it to the engine."""
    if scene.is_first:
        return None
    question = ask_next(scene)
    if question or not scene.is_nudged:
        return says(question)
    return says(scene.lines.noted if scene.situation.skill is not None else scene.lines.what_else)
