"""What the caller wants: a flow to start, a question to look up, or something that nobody offers.

Owns the rules for wishes, at rest and in the middle of something else, and for what a search found.
"""

from runtime.models.offline.answering import answer_from, asks_only_measure, measure_words
from runtime.models.offline.asking import argument_values, ask_next, with_question
from runtime.models.offline.correcting import is_other
from runtime.models.offline.fields import spoken_name
from runtime.models.offline.offers import list_of_flows, spoken_flow
from runtime.models.offline.phrases import (
    is_number,
    negates,
    undoes,
    without_joints,
    without_undoing,
)
from runtime.models.offline.plan import Plan, Scene, calls, joined, says
from runtime.models.offline.reading import Choice, is_correction, read_yes_no, weigh_choices
from runtime.models.offline.reading.denials import affirmed
from runtime.models.offline.routing import CERTAIN, CLEAR, Verdict, route
from runtime.models.offline.words import asked_part, plain, question_kind, stems, stop_free
from runtime.models.situation import FlowOption

__all__ = ["answer_from_search", "choose_flow", "help_nobody", "wish", "wished_words"]

_MOST_FLOWS = 3
_NAMED = 0.9
"""How sure a choice among things that were only listed must be."""
_ALL_ALIKE = 0.95
_TOOK_BACK = 0.8
_ASKED_TO_BE_TOLD = 0.85
_TELLS = frozenset("do does did is are am was were has have isn't aren't isnt arent dont".split())
_ANSWERS = frozenset({"resolve_tool_confirmation", "set_fields"})
"""Beside one of these a search is for a question that came with an answer."""


def choose_flow(scene: Scene) -> Plan | None:
    """Start the flow that answers "which do you mean?"."""
    if not scene.is_first or not scene.said:
        return None
    asked = _asked_flows(scene)
    if not asked:
        return None
    if len(asked) == 1:
        answer = read_yes_no(scene.said, scene.situation.last_line, scene.lexicon)
        if answer.answer == "yes" and answer.is_plain:
            return calls("activate", flow_id=asked[0].id)
        if answer.answer == "no" and answer.is_plain:
            return says(scene.lines.what_else)
    only_named = question_kind(scene.said) == "open" or (
        scene.lines.can_do.partition("{")[0] in scene.situation.last_line
    )
    choices = [Choice(flow.id, (flow.name, *flow.examples[:8])) for flow in asked]
    found = weigh_choices(scene.said, choices, scene.lexicon).found
    only_named = only_named or len(asked) == 1
    if found is not None and (not only_named or found.confidence >= _NAMED):
        return calls("activate", flow_id=found.value)
    if only_named:
        return None  # words that name none of them are a wish like any other
    verdict = route(scene.said, asked, scene.situation.language)
    if verdict.best is not None and not verdict.rivals:
        return calls("activate", flow_id=verdict.best.id)
    return None


def wish(scene: Scene) -> Plan | None:
    """Start what is clearly wanted, look up what is asked, ask where two flows fit."""
    if not scene.is_first or not scene.said or _is_bare_number(scene):
        return None
    said, situation = wished_words(scene), scene.situation
    if is_other(scene.said) and _is_busy(scene):
        return None  # another one of what is talked about, and no other wish
    if _is_being_done(scene, said):
        return with_question(scene, scene.lines.noted)
    verdict = route(said, situation.flows, situation.language)
    kind = question_kind(said)
    fits = verdict.best is not None and verdict.score >= _needed(scene, said, kind)
    if fits and not verdict.rivals and verdict.best is not None:
        if scene.may("activate", flow_id=verdict.best.id):
            return calls("activate", flow_id=verdict.best.id)
    is_torn = fits and bool(verdict.rivals) and verdict.score >= CERTAIN
    if kind in ("open", "closed") and _can_search(scene) and not is_torn:
        return calls("search_knowledge", query=_topic(scene))
    if _is_busy(scene):
        return _aside(scene, kind)
    if verdict.best is not None and scene.may("activate", flow_id=verdict.best.id):
        return _which(scene, verdict)
    if _can_search(scene) and stop_free(said, situation.language):
        return calls("search_knowledge", query=said)
    return None


def answer_from_search(scene: Scene) -> Plan | None:
    """Say what the search found, or that it found nothing."""
    passages, language = scene.situation.passages, scene.situation.language
    if passages is None:
        return None
    if any(call.tool == "cannot_help" for call in scene.made):
        return says(ask_next(scene))
    topic = _searched(scene)
    answer = answer_from(passages, topic, language)
    if answer is not None and _is_answered(topic, answer):
        return with_question(scene, answer)
    if _is_busy(scene) or any(call.tool in _ANSWERS for call in scene.made):
        return with_question(scene, scene.lines.not_known)
    verdict = route(wished_words(scene), scene.situation.flows, language)
    if verdict.best is not None and scene.may("activate", flow_id=verdict.best.id):
        return _which(scene, verdict)
    return _declined(scene) or with_question(scene, scene.lines.not_known)


def help_nobody(scene: Scene) -> Plan | None:
    """Nothing on offer fits the words."""
    if not scene.is_first or not scene.said or _is_busy(scene):
        return None
    if _is_bare_number(scene) or not stop_free(scene.said, scene.situation.language):
        return _told_what_there_is(scene) or says(
            f"{scene.lines.not_caught} {scene.lines.what_else}"
        )
    return _declined(scene) or says(f"{scene.lines.not_known} {scene.lines.what_else}")


def wished_words(scene: Scene) -> str:
    """The words without a yes or no before them: of "yes, and where is my order", the question."""
    situation = scene.situation
    instead = is_correction(scene.said, scene.lexicon)
    if instead is not None and instead.start > 0 and instead.confidence >= _TOOK_BACK:
        if route(instead.value, situation.flows, situation.language).score >= CLEAR:
            return instead.value  # "... no actually I lost my card"
    answer = read_yes_no(scene.said, situation.last_line, scene.lexicon)
    if answer.answer not in ("yes", "no") or not answer.rest:
        return scene.said
    head = scene.said[: len(scene.said) - len(answer.rest)]
    if negates(head):  # "I don't want to ..." denies what follows it
        return scene.said
    return without_joints(answer.rest) or scene.said


def _needed(scene: Scene, said: str, kind: str | None) -> float:
    """How surely a flow must be meant: more so where the words ask for an answer."""
    if kind is None or not _can_search(scene):
        return CLEAR
    if kind == "open":
        # "How much is a filling?" has the words of "I need a filling", and wants to be told.
        return _ALL_ALIKE if measure_words(said) else CERTAIN
    # "Can you ...?" asks for something done as often as for an answer, "do you ...?" does not.
    first = plain(asked_part(said)).partition(" ")[0]
    return _ASKED_TO_BE_TOLD if first in _TELLS else CLEAR


def _is_being_done(scene: Scene, said: str) -> bool:
    """The caller asks once more for what the question on the table is asked for."""
    language = scene.situation.language
    wanted = set(stems(said, language))
    return (
        _is_busy(scene)
        and scene.situation.collecting is not None
        and stop_free(said, language)
        and wanted <= set(stems(scene.opening.words, language))
    )


def _is_answered(topic: str, answer: str) -> bool:
    """What is to be undone is not told about by a line on how it is done."""
    return question_kind(topic) == "open" or not undoes(topic) or undoes(answer)


def _declined(scene: Scene) -> Plan | None:
    situation = scene.situation
    is_ours = undoes(scene.said) and bool(
        route(without_undoing(scene.said), situation.flows, situation.language).best
    )
    told = None if is_ours else _told_what_there_is(scene)
    if told is None and scene.may("cannot_help", in_domain=is_ours):
        return calls("cannot_help", in_domain=is_ours)
    return told


def _told_what_there_is(scene: Scene) -> Plan | None:
    """The second time in a row that nothing can be made of the words, the caller needs help."""
    line = list_of_flows(scene) if scene.has_failed else ""
    return says(f"{scene.lines.not_again} {line}") if line else None


def _is_bare_number(scene: Scene) -> bool:
    words = scene.lexicon
    numbers = frozenset(
        {*words.units, *words.teens, *words.tens, *words.scales, *words.zero_letters}
    )
    return scene.situation.kind == "keys" or is_number(
        scene.said, numbers, frozenset(words.fillers)
    )


def _searched(scene: Scene) -> str:
    """What was looked up: the words of the caller, or the part of them that asked."""
    for call in reversed(scene.made):
        query = call.arguments.get("query")
        if call.tool == "search_knowledge" and isinstance(query, str) and len(scene.made) > 1:
            return query
    return _topic(scene)


def _is_busy(scene: Scene) -> bool:
    situation = scene.situation
    return bool(situation.collecting or situation.pending or situation.step_cancelled)


def _topic(scene: Scene) -> str:
    """What is asked about: "how much is it?" is about what is on the table."""
    said = wished_words(scene)
    words = measure_words(said)
    if not words or not asks_only_measure(said, scene.situation.language):
        return said
    return f"{said.rstrip('?!. ')}? {' '.join((*_subject(scene), words))}"


def _subject(scene: Scene) -> tuple[str, ...]:
    """The values in the question, or those it offers; else the line before."""
    held, field = scene.situation.pending, scene.situation.collecting
    if held is not None:
        line = (held.question or scene.situation.last_line).casefold()
        values = (str(value) for value in argument_values(held.arguments).values())
        return tuple(v for v in values if 1 < len(v) <= 40 and v.casefold() in line)
    if field is not None:
        return (spoken_name(field), *(option.label for option in field.choices[:4]))
    return (scene.situation.last_line,)


def _can_search(scene: Scene) -> bool:
    return scene.situation.has_knowledge and scene.may("search_knowledge", query="")


def _aside(scene: Scene, kind: str | None) -> Plan | None:
    """A question in the middle of something, and nowhere to look it up."""
    if kind != "open":
        return None
    return with_question(scene, scene.lines.not_known)


def _which(scene: Scene, verdict: Verdict) -> Plan:
    if len(verdict.rivals) > 1:
        names = tuple(spoken_flow(flow) for flow in verdict.rivals[:_MOST_FLOWS])
        return says(scene.lines.which.format(options=joined(names, scene.lines.joint)))
    kept = affirmed(scene.said, scene.lexicon)
    if not stop_free(kept, scene.situation.language):
        # All that was said was a denial: nobody wants to be asked about it.
        return says(f"{scene.lines.noted} {scene.lines.what_else}")
    name = spoken_flow(verdict.best) if verdict.best is not None else ""
    return says(scene.lines.suggest.format(option=name))


def _asked_flows(scene: Scene) -> tuple[FlowOption, ...]:
    """The flows that the planner's own question named, in its order."""
    line = scene.situation.last_line
    for pattern in (scene.lines.which, scene.lines.suggest, scene.lines.can_do):
        before = pattern.partition("{")[0]
        if before not in line:
            continue
        asked = line[line.rindex(before) :].casefold()
        found = [
            (at, flow)
            for flow in scene.situation.flows
            if (at := asked.find(spoken_flow(flow).casefold())) >= 0
            and scene.may("activate", flow_id=flow.id)
        ]
        return tuple(flow for _, flow in sorted(found, key=lambda one: one[0]))
    return ()
