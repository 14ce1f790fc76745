"""What the caller wants: a flow to start, a question to look up, or something that nobody offers.

Owns the rules for wishes, at rest and in the middle of something else, and for what a search found.
"""

from runtime.models.offline.answering import answer_from, measure_words
from runtime.models.offline.asking import argument_values, ask_next, with_question
from runtime.models.offline.fields import spoken_name
from runtime.models.offline.plan import Plan, Scene, calls, joined, says
from runtime.models.offline.reading import Choice, read_yes_no, weigh_choices
from runtime.models.offline.routing import CERTAIN, CLEAR, Verdict, route
from runtime.models.offline.words import asked_part, question_kind, stop_free
from runtime.models.situation import FlowOption

__all__ = ["answer_from_search", "choose_flow", "help_nobody", "spoken_flow", "wish"]

_MOST_FLOWS = 3


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
        return says(scene.lines.what_else) if answer.answer == "no" and answer.is_plain else None
    choices = [Choice(flow.id, (flow.name, *flow.examples[:8])) for flow in asked]
    found = weigh_choices(scene.said, choices, scene.lexicon).found
    if found is not None:
        return calls("activate", flow_id=found.value)
    verdict = route(scene.said, asked, scene.situation.language)
    if verdict.best is not None and not verdict.rivals:
        return calls("activate", flow_id=verdict.best.id)
    return None


def wish(scene: Scene) -> Plan | None:
    """Start what is clearly wanted, look up what is asked, ask where two flows fit."""
    if not scene.is_first or not scene.said:
        return None
    verdict = route(scene.said, scene.situation.flows, scene.situation.language)
    kind = question_kind(scene.said)
    needed = CLEAR  # also for "can you ...?": it asks for something done as often as for an answer
    if kind is not None and _can_search(scene):
        needed = CERTAIN if kind == "open" else CLEAR
    fits = verdict.best is not None and verdict.score >= needed
    if fits and not verdict.rivals and verdict.best is not None:
        if scene.may("activate", flow_id=verdict.best.id):
            return calls("activate", flow_id=verdict.best.id)
    if kind in ("open", "closed") and _can_search(scene) and not (fits and verdict.rivals):
        return calls("search_knowledge", query=_topic(scene))
    if _is_busy(scene):
        return _aside(scene, kind)
    if verdict.best is not None and scene.may("activate", flow_id=verdict.best.id):
        return _which(scene, verdict)
    if _can_search(scene) and stop_free(scene.said, scene.situation.language):
        return calls("search_knowledge", query=scene.said)
    return None


def answer_from_search(scene: Scene) -> Plan | None:
    """Say what the search found, or that it found nothing."""
    passages = scene.situation.passages
    if passages is None:
        return None
    if any(call.tool == "cannot_help" for call in scene.made):
        return says(ask_next(scene))
    answer = answer_from(passages, _topic(scene), scene.situation.language)
    if answer is not None:
        return with_question(scene, answer)
    if not _is_busy(scene):
        verdict = route(scene.said, scene.situation.flows, scene.situation.language)
        if verdict.best is not None and scene.may("activate", flow_id=verdict.best.id):
            return _which(scene, verdict)
        if scene.may("cannot_help", in_domain=False):
            return calls("cannot_help", in_domain=False)
    return with_question(scene, scene.lines.not_known)


def help_nobody(scene: Scene) -> Plan | None:
    """Nothing on offer fits the words."""
    if not scene.is_first or not scene.said or _is_busy(scene):
        return None
    if not stop_free(scene.said, scene.situation.language):
        return says(f"{scene.lines.not_caught} {scene.lines.what_else}")
    if scene.may("cannot_help", in_domain=False):
        return calls("cannot_help", in_domain=False)
    return says(f"{scene.lines.not_known} {scene.lines.what_else}")


def spoken_flow(flow: FlowOption) -> str:
    """Write a flow's name as it stands inside a sentence."""
    name = " ".join(flow.name.split()).rstrip(".!?")
    is_word = len(name) > 1 and name[1].islower() and name[0].isupper()
    return name[0].lower() + name[1:] if is_word else name


def _is_busy(scene: Scene) -> bool:
    return scene.situation.collecting is not None or scene.situation.pending is not None


def _topic(scene: Scene) -> str:
    """What is asked about: "how much is it?" is about what is on the table."""
    words = measure_words(scene.said)
    if not words or stop_free(asked_part(scene.said), scene.situation.language):
        return scene.said
    return f"{scene.said.rstrip('?!. ')}? {' '.join((*_subject(scene), words))}"


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
    name = spoken_flow(verdict.best) if verdict.best is not None else ""
    return says(scene.lines.suggest.format(option=name))


def _asked_flows(scene: Scene) -> tuple[FlowOption, ...]:
    """The flows that the planner's own question named, in its order."""
    line = scene.situation.last_line
    for pattern in (scene.lines.which, scene.lines.suggest):
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
