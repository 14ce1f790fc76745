"""Words that steer the conversation: hold on, say it again, a person, never mind, bye, hello.

Owns the rules for them. Words that answer the question on the table are an answer first.
"""

from rapidfuzz import fuzz

from runtime.models.offline.asking import ask_next, with_question
from runtime.models.offline.fields import clear_choice, wants_yes_no
from runtime.models.offline.plan import Plan, Scene, calls, joined, says
from runtime.models.offline.reading import Control, control_words, read_yes_no
from runtime.models.offline.wishing import spoken_flow
from runtime.models.offline.words import plain
from runtime.models.situation import FlowOption

__all__ = ["acknowledge", "steer"]

_CERTAIN = 1.0
_PERSON = 0.35
_SAME_LINE = 90
_STOPS = frozenset({"cancel", "stop", "quit", "exit", "abort"})
"""Said to a yes or no question these still end what is being done; "never mind" is a no."""


def steer(scene: Scene) -> Plan | None:
    """Follow words that steer, where nothing else was said; a wish for a person counts more."""
    if not scene.is_first or not scene.said:
        return None
    control = control_words(scene.said, scene.lexicon)
    if control is None or _is_answer(scene, control):
        return None
    if control.kind == "human":
        return _person(scene) if control.confidence >= _PERSON else None
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
            return with_question(scene, scene.lines.welcome)
        case _:
            return _help(scene)


def acknowledge(scene: Scene) -> Plan | None:
    """A bare yes or no where nothing was asked: a sign of listening, or no more wishes."""
    situation = scene.situation
    if not scene.is_first or situation.collecting is not None or situation.pending is not None:
        return None
    answer = read_yes_no(scene.said, situation.last_line, scene.lexicon)
    if not scene.said or not answer.is_plain:
        return None
    line = situation.last_line.casefold()
    asks_more = "?" in line and any(words in line for words in scene.lines.anything_else)
    if answer.answer == "no":
        return _goodbye(scene) if asks_more else says(scene.lines.what_else)
    if "?" in line or not scene.may("listen"):
        return says(scene.lines.what_else)
    return calls("listen")


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
    flow = next((f for f in scene.situation.flows if _means_person(scene, f)), None)
    if flow is not None and scene.may("activate", flow_id=flow.id):
        return calls("activate", flow_id=flow.id)
    return with_question(scene, scene.lines.no_person)


def _means_person(scene: Scene, flow: FlowOption) -> bool:
    texts = (flow.name, *flow.examples, flow.description)
    found = (control_words(text, scene.lexicon) for text in texts if text)
    return any(c is not None and c.kind == "human" and c.confidence >= _PERSON for c in found)


def _cancel(scene: Scene) -> Plan | None:
    if scene.may("cancel_skill"):
        return calls("cancel_skill")
    if scene.situation.collecting is not None or scene.situation.pending is not None:
        return None
    return says(scene.lines.noted)


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
    names = tuple(spoken_flow(f) for f in scene.situation.flows if not f.is_reference)
    if not names or scene.situation.pending is not None:
        return None
    line = scene.lines.can_do.format(options=joined(names, scene.lines.joint))
    return with_question(scene, line)
