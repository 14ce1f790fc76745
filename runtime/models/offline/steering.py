"""Words that steer the conversation: hold on, say it again, a person, never mind, bye, hello.

Owns the rules for them. Words that answer the question on the table are an answer first.
"""

import re

from rapidfuzz import fuzz

from runtime.models.offline.asking import ask_next, with_question
from runtime.models.offline.confirming import split_answer
from runtime.models.offline.fields import clear_choice, wants_yes_no
from runtime.models.offline.offers import LEAST_PERSON, list_of_flows, means_person
from runtime.models.offline.phrases import (
    adds_nothing,
    asks_again,
    asks_for_another_voice,
    is_backchannel,
    only_go_on,
)
from runtime.models.offline.plan import Plan, Scene, calls, joined, says
from runtime.models.offline.reading import Control, control_words, is_correction, read_yes_no
from runtime.models.offline.reading.denials import affirmed
from runtime.models.offline.routing import CLEAR, Verdict, route
from runtime.models.offline.words import plain

__all__ = ["acknowledge", "steer"]

_CERTAIN = 1.0
_PERSON = re.compile(
    r"\b(?:manager|boss|supervisor|colleague|adviser|advisor|somebody|someone|person|people)\b",
    re.IGNORECASE,
)
_RETRACTS = re.compile(r"\b(?:no|nope|actually|scratch|rather|forget|instead)\b", re.IGNORECASE)
_TOOK_BACK = 0.8
_SAME_LINE = 90
_ELSE = Control("help", 0.0, 0, 0)
"""Stands for words that steer nothing."""
_NO_MORE = frozenset({"nothing", "thanks", "thank", "everything"})
_STOPS = frozenset({"cancel", "stop", "quit", "exit", "abort"})
"""Said to a yes or no question these still end what is being done; "never mind" is a no."""


def steer(scene: Scene) -> Plan | None:
    """Follow words that steer, where nothing else was said; a wish for a person counts more."""
    if not scene.is_first or not scene.said:
        return None
    if asks_for_another_voice(scene.said) or asks_again(scene.said):
        return _repeat(scene)  # the voice is what it is: to hear it once more is what helps
    if is_backchannel(scene.said):
        return None
    control = control_words(scene.said, scene.lexicon)
    if control is None or _is_answer(scene, control):
        return None
    if control.kind == "human":
        if control_words(affirmed(scene.said, scene.lexicon), scene.lexicon) is None:
            return None
        if (instead := _said_instead(scene, control)) is not None:
            is_certain = instead.confidence == _CERTAIN and instead.kind == "cancel"
            return _cancel(scene) if is_certain else None
        return _person(scene) if control.confidence >= LEAST_PERSON else None
    if control.confidence < _CERTAIN:
        return None
    match control.kind:
        case "wait":
            return _wait(scene)
        case "repeat":
            return _repeat(scene)
        case "cancel":
            return _cancel(scene)
        case "goodbye":
            return _goodbye(scene)
        case "greeting" | "presence":
            return _greet(scene, control)
        case "thanks":
            return _thanked(scene)
        case _:
            return _help(scene)


def _said_instead(scene: Scene, human: Control) -> Control | None:
    """What took the wish for a person back: "... to someone, no actually I lost my card"."""
    instead = is_correction(scene.said, scene.lexicon)
    if instead is None or instead.confidence < _TOOK_BACK or instead.start < human.end:
        return None
    if _PERSON.search(instead.value):  # "... no wait, a manager": it still is one
        return None
    other = control_words(instead.value, scene.lexicon)
    if other is not None and other.kind == "human":
        return None
    if _RETRACTS.search(scene.said[human.end : instead.start]) is None:
        # A mere "sorry" may only be polite.
        verdict = route(instead.value, scene.situation.flows, scene.situation.language)
        is_certain = other is not None and other.confidence == _CERTAIN
        if not is_certain and verdict.score < CLEAR:
            return None
    return other or _ELSE


def acknowledge(scene: Scene) -> Plan | None:
    """A yes or no where nothing was asked: no more wishes, or one that is still to be told."""
    situation = scene.situation
    if not scene.is_first or situation.collecting is not None or situation.pending is not None:
        return None
    if is_backchannel(scene.said):
        is_asked = "?" in situation.last_line or not scene.may("listen")
        return says(scene.lines.what_else) if is_asked else calls("listen")
    answer = read_yes_no(scene.said, situation.last_line, scene.lexicon)
    goes_on = answer.answer == "yes" and adds_nothing(answer.rest)
    is_plain = answer.is_plain or goes_on or only_go_on(scene.said)
    if not scene.said or not is_plain:
        return None
    if answer.answer == "no":
        return _goodbye(scene) if _asks_more(scene) else says(scene.lines.any_more)
    return _left_over(scene) or says(scene.lines.what_else)


def _left_over(scene: Scene) -> Plan | None:
    """Start the wish that came with the yes of the turn before, which has been seen to first."""
    situation = scene.situation
    wish = ""
    if _asks_more(scene) and scene.has_answered:
        said = scene.words_before
        wish = split_answer(scene, said, "")[1] or split_answer(scene, said, "", "no")[1]
    verdict = route(wish, situation.flows, situation.language) if wish else Verdict()
    flow = None if verdict.rivals or verdict.score < CLEAR else verdict.best
    if flow is None or not scene.may("activate", flow_id=flow.id):
        return None
    return calls("activate", flow_id=flow.id)


def _asks_more(scene: Scene) -> bool:
    """Whether the line before asks what else there is, so that a no ends the call."""
    line = scene.situation.last_line.casefold()
    if "?" not in line:
        return False
    if any(words in line for words in scene.lines.anything_else):
        return True
    # A bare no to "what can I do for you?" may be meant for somebody else; thanks are for us.
    asked = scene.lines.what_else.casefold() in line
    return asked and bool(_NO_MORE & _words(scene.said))


def _thanked(scene: Scene) -> Plan | None:
    situation = scene.situation
    if situation.collecting is not None or situation.pending is not None:
        answers_it = read_yes_no(scene.said, "", scene.lexicon).answer in ("yes", "no")
        return None if answers_it else with_question(scene, scene.lines.welcome)
    answer = read_yes_no(scene.said, situation.last_line, scene.lexicon)
    if answer.answer in ("yes", "no") and answer.is_plain:
        return acknowledge(scene)
    return with_question(scene, scene.lines.welcome)


def _is_answer(scene: Scene, control: Control) -> bool:
    field = scene.situation.collecting
    if field is None or scene.situation.pending is not None:
        return False
    if clear_choice(scene, field, scene.said) is not None:
        return True
    if not wants_yes_no(field) or control.kind not in ("cancel", "goodbye", "thanks"):
        return False
    if control.kind == "cancel" and scene.may("cancel_skill") and _STOPS & _words(scene.said):
        return False
    asked = scene.situation.question or scene.situation.last_line
    return read_yes_no(scene.said, asked, scene.lexicon).is_plain


def _words(text: str) -> set[str]:
    return set(plain(text).split())


def _wait(scene: Scene) -> Plan:
    if scene.may("listen"):
        return calls("listen")
    return with_question(scene, scene.lines.waiting)


def _repeat(scene: Scene) -> Plan:
    """Say the last line again, unless the engine or the planner asks just this by itself."""
    situation = scene.situation
    line = situation.last_line.strip()
    asked = situation.pending.question if situation.pending is not None else situation.question
    if asked and fuzz.ratio(plain(line), plain(asked)) >= _SAME_LINE:
        line = ""
    question = ask_next(scene)
    if question and question in line:
        return says(line)
    text = f"{line} {question}".strip()
    return says(text or ("" if scene.engine_speaks else scene.lines.what_else))


def _person(scene: Scene) -> Plan | None:
    flow = next((f for f in scene.situation.flows if means_person(scene, f)), None)
    if flow is not None and scene.may("activate", flow_id=flow.id):
        return calls("activate", flow_id=flow.id)
    return with_question(scene, scene.lines.no_person)


def _cancel(scene: Scene) -> Plan | None:
    if scene.may("cancel_skill"):
        return calls("cancel_skill")
    if scene.situation.collecting is not None or scene.situation.pending is not None:
        return None
    return says(scene.lines.any_more)


def _goodbye(scene: Scene) -> Plan:
    """The engine says the project's own goodbye beside a call without words."""
    return calls("hang_up") if scene.may("hang_up") else says(scene.lines.goodbye)


def _greet(scene: Scene, control: Control) -> Plan:
    lines = scene.lines
    is_presence = control.kind == "presence" or scene.said.endswith("?")
    if is_presence or scene.situation.skill is not None:
        return with_question(scene, lines.present)
    return with_question(scene, lines.greeting)


def _help(scene: Scene) -> Plan | None:
    field = scene.situation.collecting
    if field is not None and field.choices:
        options = joined(tuple(option.label for option in field.choices), scene.lines.joint)
        return says(scene.lines.say_one_of.format(options=options))
    line = list_of_flows(scene)
    if not line or scene.situation.pending is not None:
        return None
    return with_question(scene, line)
