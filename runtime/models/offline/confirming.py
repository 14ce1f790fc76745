"""Answers to the question that a held call waits for.

Owns the rules. A yes confirms only where nothing but a yes was said; whatever else is said leaves
the call held, and the engine puts its question again.
"""

from runtime.models.offline.asking import ask_next, with_question
from runtime.models.offline.correcting import revision
from runtime.models.offline.plan import Plan, Scene, calls, says
from runtime.models.offline.reading import Answer, control_words, read_yes_no
from runtime.models.offline.words import question_kind, stems
from runtime.models.situation import PendingQuestion

__all__ = ["answer_confirmation", "not_confirmed"]


def answer_confirmation(scene: Scene) -> Plan | None:
    """Resolve a held call by a clear yes or no, or correct what it was asked about."""
    held = scene.situation.pending
    if held is None or not scene.is_first or not scene.said:
        return None
    asked = held.question or scene.situation.last_line
    answer = read_yes_no(scene.said, asked, scene.lexicon)
    revised = revision(scene)
    if revised is not None and answer.answer != "unclear":
        return revised
    if not held.may_answer or not scene.may("resolve_tool_confirmation"):
        return _too_early(scene, answer)
    match answer.answer:
        case "yes" if answer.is_plain or _says_back(scene, held, answer.rest):
            return calls("resolve_tool_confirmation", confirmed=True)
        case "no":
            return calls("resolve_tool_confirmation", confirmed=False)
        case "unclear" if not answer.rest:
            return not_confirmed(scene)
        case _:
            return None


def not_confirmed(scene: Scene) -> Plan | None:
    """What was said is neither a yes nor a no, and nothing else that can be done."""
    if scene.situation.pending is None or not scene.is_first or not scene.said:
        return None
    control = control_words(scene.said, scene.lexicon)
    if control is not None and control.kind == "repeat" and control.confidence == 1:
        return says(ask_next(scene))
    waits = control is not None and control.kind == "wait" and control.confidence == 1
    if waits and control is not None:
        before, after = scene.said[: control.start], scene.said[control.end :]
        waits = not _decides(scene, before) and not _decides(scene, after)
    return with_question(scene, scene.lines.waiting if waits else scene.lines.yes_or_no)


def _decides(scene: Scene, words: str) -> bool:
    return read_yes_no(words, "", scene.lexicon).answer in ("yes", "no")


def _too_early(scene: Scene, answer: Answer) -> Plan | None:
    """A yes said before the question was heard answers nothing: it is asked again."""
    bare = answer.answer in ("yes", "no", "unclear") and not answer.rest
    return says(ask_next(scene)) if bare else None


def _says_back(scene: Scene, held: PendingQuestion, rest: str) -> bool:
    """The words after the yes are the question's own: "yes, order it"."""
    if question_kind(rest) is not None:
        return False
    language = scene.situation.language
    asked = set(stems(f"{held.question or scene.situation.last_line} {held.tool}", language))
    own = rest.casefold().split()
    return "but" not in own and "not" not in own and set(stems(rest, language)) <= asked
