"""Answers to the question that a held call waits for.

Owns the rules. A yes confirms where nothing else was said, where its words are the question's own,
and where something of its own kind comes after it ("yes, go ahead, and is there parking?").
Whatever else is said leaves the call held, and the engine puts its question again.
"""

import re
from dataclasses import dataclass

from runtime.models.offline.asking import argument_values, ask_next, with_question
from runtime.models.offline.correcting import contradiction, revision
from runtime.models.offline.phrases import (
    adds_nothing,
    asks_again,
    asks_what_was_asked,
    is_refusal,
    is_sound,
    keeps,
    leaves_as_it_is,
    only_go_on,
    says_so,
    undoes,
    undoes_it,
    undoes_politely,
    without_joints,
    without_leads,
)
from runtime.models.offline.plan import Plan, PlannedCall, Scene, calls, says
from runtime.models.offline.reading import (
    Answer,
    AnswerKind,
    control_words,
    read_date,
    read_integer,
    read_time,
    read_yes_no,
)
from runtime.models.offline.routing import CLEAR, route
from runtime.models.offline.words import plain, question_kind, stems, stop_free
from runtime.models.situation import PendingQuestion

__all__ = ["answer_confirmation", "not_confirmed", "split_answer"]

_RESOLVE = "resolve_tool_confirmation"
_BESIDE = re.compile(r"\b(?:and|also|then|too|plus|next|by the way|one more thing)[\s,.;]*$")
_JOINTS = re.compile(
    r"(?:[,.;!]\s*|\s+)(?:(?:and|also|then|plus|oh|by the way|one more thing)\b[\s,]*)+|[,.;!]\s+",
    re.IGNORECASE,
)
_CLEAR_YES = 0.9
_STALLS = re.compile(r"\blet(?:'s| me) (?:see|think)\b|\bh+m+\b(?!\s*yes)")
_CONDITION = re.compile(
    r"\b(?:but|if|unless|only|except|provided|as long as|first|before|until|not|no|wait|without|"
    r"however|though|assuming)\b|n't\b"
)
_POINTS = re.compile(r"\b(?:it|that|this|them|those|these)\b")
_URGED = re.compile(r"\b(?:go ahead|do it|do that|please do|go for it|carry on|proceed)\b")
_NO = frozenset({"no", "nope", "nah"})
_YES = frozenset({"yes", "yeah", "yep", "ok", "okay", "sure"})
_MOST_VALUE_WORDS = 8
_MOST_ALONE = 5
_APPROVES = frozenset(
    """fine good great ok okay perfect right correct works work suits then lovely sounds nice best
    ideal brilliant excellent alright""".split()
)
_SAYS_NOTHING = frozenset("please the my that it this just can you to a an of actually".split())
_OTHER = re.compile(
    r"\b(?:other|another|different|existing|old|previous|second|last|one|instead|\w+days?|\d+)\b"
)


@dataclass(frozen=True, slots=True)
class _Heard:
    """The caller's words as an answer to one held call."""

    held: PendingQuestion
    asked: str
    """The question as the caller heard it."""
    answer: Answer
    rest: str
    """What was said beside the answer, without what joins the two."""


def answer_confirmation(scene: Scene) -> Plan | None:
    """Resolve a held call by a clear yes or no, or correct what it was asked about."""
    held = scene.situation.pending
    if held is None or not scene.is_first or not scene.said:
        return None
    heard = _heard(scene, held)
    if asks_again(scene.said) or asks_what_was_asked(scene.said):
        return says(ask_next(scene))
    stays = _stays(scene, heard)
    revised = None if stays else _revised(scene, heard)
    if revised is not None:
        return revised
    if not held.may_answer or not scene.may(_RESOLVE):
        return _too_early(scene, heard)
    if _is_yes(scene, heard):
        return calls(_RESOLVE, confirmed=True)
    is_same = undoes_it(scene.said) and undoes(heard.asked)
    if is_same or (not stays and leaves_as_it_is(scene.said)):
        return not_confirmed(scene)  # "can you delete it": it may mean what is asked about
    if stays or _is_no(scene, heard):
        return calls(_RESOLVE, confirmed=False)
    return (
        _yes_and(scene, heard)
        or _instead_of_it(scene, heard)
        or (
            not_confirmed(scene)
            if heard.answer.answer == "unclear" and not heard.answer.rest
            else None
        )
    )


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


def _heard(scene: Scene, held: PendingQuestion) -> _Heard:
    asked = held.question or scene.situation.last_line
    answer = read_yes_no(scene.said, asked, scene.lexicon)
    rest = answer.rest if answer.answer in ("yes", "no") else scene.said
    return _Heard(held, asked, answer, without_joints(rest.strip(" ,.;")))


def _decides(scene: Scene, words: str) -> bool:
    return read_yes_no(words, "", scene.lexicon).answer in ("yes", "no")


def _too_early(scene: Scene, heard: _Heard) -> Plan | None:
    """A yes said before the question was heard answers nothing: it is asked again.

    A plain no counts, where it can be given: nothing is done for it that was not heard.
    """
    refuses = heard.answer.answer == "no" and heard.answer.is_plain or is_refusal(scene.said)
    if refuses and scene.may(_RESOLVE, confirmed=False):
        return calls(_RESOLVE, confirmed=False)
    if undoes_it(scene.said) and undoes(heard.asked):
        return says(ask_next(scene))
    answer = heard.answer
    bare = answer.answer in ("yes", "no", "unclear") and not answer.rest
    return says(ask_next(scene)) if bare else None


def _stays(scene: Scene, heard: _Heard) -> bool:
    """Whether "keep it" was said where it was asked whether to undo it."""
    is_asked = undoes(heard.asked) or undoes(heard.held.tool.replace("_", " "))
    return is_asked and keeps(scene.said)


def _revised(scene: Scene, heard: _Heard) -> Plan | None:
    """Yes, "but make it Wednesday"; no, "the fifth"; yes, "on Friday" where Thursday was asked."""
    if heard.answer.answer == "unclear" and not heard.answer.rest:
        return None
    revised = revision(scene)
    if revised is None and heard.rest and heard.rest != scene.said:
        revised = revision(scene, heard.rest)
    if revised is not None or question_kind(heard.rest) == "open":
        return revised
    return contradiction(scene, heard.rest) if _names_it(scene, heard) else None


def _names_it(scene: Scene, heard: _Heard) -> bool:
    """Whether a value in the words is one of the held call's, said without a word that revises."""
    rest = heard.rest
    if not rest or question_kind(rest) is not None or len(rest.split()) > _MOST_VALUE_WORDS:
        return False
    if undoes(rest):
        own_act = undoes(heard.asked) or undoes(heard.held.tool.replace("_", " "))
        return own_act and _cancels_another(scene, heard)
    # With a yes or a no before it, or alone: "on Friday", where Thursday was asked about.
    return heard.answer.answer in ("yes", "no") or len(rest.split()) <= _MOST_ALONE


# ------------------------------------------------------------------------------- a yes and a no


def _is_yes(scene: Scene, heard: _Heard) -> bool:
    if only_go_on(scene.said) or says_so(scene.said):
        return True
    if is_sound(scene.said):
        return False
    if undoes_politely(scene.said, heard.asked):
        return True
    if heard.answer.answer != "yes" or _STALLS.search(scene.said.casefold()):
        return False
    return not heard.rest or adds_nothing(heard.rest) or _says_back(scene, heard)


def _is_no(scene: Scene, heard: _Heard) -> bool:
    if heard.answer.answer == "no" or is_refusal(scene.said):
        return True
    if without_leads(scene.said):
        return False
    # "Wait, no": the last word decides, if those before it only took the floor.
    *before, last = plain(scene.said).split() or [""]
    return bool(before) and last in _NO and not set(before) & (_NO | _YES)


def _says_back(scene: Scene, heard: _Heard) -> bool:
    """The words after the yes are the question's own, or its values: "yes, Thursday at three"."""
    if question_kind(heard.rest) is not None or _CONDITION.search(heard.rest.casefold()):
        return False
    language = scene.situation.language
    values = argument_values(heard.held.arguments).values()
    known = " ".join(str(value).replace("_", " ") for value in values)
    asked = set(stems(f"{heard.asked} {heard.held.tool} {known}", language))
    left = " ".join(w for w in _without_values(scene, heard).split() if plain(w) not in _APPROVES)
    if not stop_free(left, language):
        return left != heard.rest or adds_nothing(left)
    return set(stems(left, language)) <= asked


def _without_values(scene: Scene, heard: _Heard) -> str:
    """Leave out what reads as a value of the held call, in whatever words it was said."""
    rest = heard.rest
    for value in argument_values(heard.held.arguments).values():
        found = (
            read_date(rest, scene.today, scene.lexicon),
            read_time(rest, scene.lexicon),
            read_integer(rest, scene.lexicon),
        )
        same = next((f for f in found if f is not None and str(f.value) == str(value)), None)
        if same is not None:
            rest = f"{rest[: same.start]} {rest[same.end :]}"
    return rest


# ---------------------------------------------------------------------------- and something else


def _yes_and(scene: Scene, heard: _Heard) -> Plan | None:
    """A plain yes, and then a question or a wish of its own: the yes counts."""
    head, rest = split_answer(scene, scene.said, heard.asked)
    if not rest or _CONDITION.search(rest.casefold()) or _CONDITION.search(head.casefold()):
        return None
    if _URGED.search(head.casefold()) is None:
        if _BESIDE.search(head.casefold()) is None or _POINTS.search(rest.casefold()):
            return None  # "yes, how much is it?" may well depend on the answer
    agreed = PlannedCall(_RESOLVE, {"confirmed": True})
    situation = scene.situation
    if route(rest, situation.flows, situation.language).score >= CLEAR:
        return Plan("", (agreed,))
    if question_kind(rest) is None:
        return None
    if not situation.has_knowledge or not scene.may("search_knowledge", query=""):
        return Plan("", (agreed,))
    return Plan("", (agreed, PlannedCall("search_knowledge", {"query": rest})))


def split_answer(scene: Scene, text: str, asked: str, kind: AnswerKind = "yes") -> tuple[str, str]:
    """Part a plain yes or no, with what joins it to the rest, from the rest; else both empty."""
    found = ("", "")
    for joint in _JOINTS.finditer(text):
        answer = read_yes_no(text[: joint.start()], asked, scene.lexicon)
        if answer.answer == kind and answer.is_plain and answer.confidence >= _CLEAR_YES:
            found = (text[: joint.end()], text[joint.end() :])
    return found


def _instead_of_it(scene: Scene, heard: _Heard) -> Plan | None:
    """To "cancel the one on Friday" is another wish: what is held is taken back first."""
    if heard.answer.answer == "yes" or not _cancels_another(scene, heard):
        return None
    if question_kind(scene.said) == "open":
        return None
    declined = PlannedCall(_RESOLVE, {"confirmed": False})
    situation = scene.situation
    verdict = route(scene.said, situation.flows, situation.language)
    flow = verdict.best if verdict.score >= CLEAR and not verdict.rivals else None
    if flow is not None and _OTHER.search(heard.rest.casefold()) is not None:
        if scene.may("activate", flow_id=flow.id):
            # What is parked with its no says nothing of it now.
            activated = PlannedCall("activate", {"flow_id": flow.id})
            return Plan(scene.lines.declined, (declined, activated))
    return Plan("", (declined,))


def _cancels_another(scene: Scene, heard: _Heard) -> bool:
    """It names a thing to be undone which the question does not name."""
    rest = heard.rest
    if not undoes(rest) or len(rest.split()) < 2:
        return False
    day = read_date(rest, scene.today, scene.lexicon)
    if day is not None and str(day.value) in heard.asked:
        rest = f"{rest[: day.start]} {rest[day.end :]}"
    return bool(set(plain(rest).split()) - set(plain(heard.asked).split()) - _SAYS_NOTHING)
