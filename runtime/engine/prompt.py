"""The request to the model: who the agent is, what it knows now, and the conversation as heard.

Owns the system message and the token budget. The history's messages are
``runtime.conversation.prompt_history``; what is on offer is ``moment``. What the prompt leaves out
when there is too much is the oldest turns, never a held call or one that still runs.
"""

from runtime.agent import Json
from runtime.conversation.memory import value_of
from runtime.conversation.prompt_history import INTERRUPTED_MARK, STILL_RUNNING, history_messages
from runtime.conversation.state import ConversationState
from runtime.engine.builtin import ACTIVATE
from runtime.engine.desk import Desk
from runtime.engine.gates import holds
from runtime.engine.moment import Moment, situation_of
from runtime.engine.scope import TurnScope
from runtime.models.ports import ChatMessage, ChatRequest
from runtime.project.model import MemoryField, Project
from runtime.project.skill_model import (
    BlockToken,
    CollectStep,
    InstructStep,
    ProsePart,
    Skill,
    SkillToken,
    ToolStep,
    ToolToken,
)
from runtime.tools.arguments import canonical_json

__all__ = ["TEXT_RULES", "VOICE_RULES", "build_request"]

CHARS_A_TOKEN = 4
"""A cautious mean over the languages written in Latin letters."""

MOST_VALUE_CHARS = 2000
"""Of one memory value: a longer one is the tools' business, and is cut in the prompt."""

LEAST_HISTORY_CHARS = 2000
"""Kept for the conversation however long the rest is."""

_SHARED_RULES = (
    f'A message of yours that ends in "{INTERRUPTED_MARK}" was heard only up to there.',
    f'A tool whose result is "{STILL_RUNNING}" has not finished: do not call it again, and do not '
    "claim that it failed or worked.",
    'A result with the status "cancelled" was not done; "unknown" may have been done: say so '
    "honestly when it matters.",
)
VOICE_RULES = (
    "You are on a phone call: what you write is spoken. Use short, plain sentences.",
    "Write no markdown, no lists, no emoji and no links. Write numbers and dates as digits; they "
    "are read out properly.",
    "Ask one question at a time.",
    *_SHARED_RULES,
)
TEXT_RULES = ("Answer in short, plain sentences. Ask one question at a time.", *_SHARED_RULES)
_FILLER = "Before a tool that takes a while, say in a few words what you are doing."
_KNOWLEDGE = (
    "Answer from these passages alone. If they do not hold the answer, say so, or call cannot_help."
)
_CUT_OFF = (
    "The caller spoke, and the call of `{}` was stopped before it was done. The system makes it "
    "after your reply, unless the caller wants something else: then record that or cancel "
    "the skill. Answer what they said, shortly, or write nothing."
)
_TEXT_CHANNELS = frozenset({"text", "chat"})


def build_request(
    desk: Desk, moment: Moment, scope: TurnScope, state: ConversationState
) -> ChatRequest:
    """Build a request.

    Args:
        desk: The call.
        moment: What is on offer, from live state.
        scope: The turn, with its note to the model.
        state: The conversation so far, with this turn begun.
    """
    project = desk.project
    now = desk.now()
    skill_text = _skill_text(desk, moment)
    parts = [
        project.persona.strip(),
        _bullets("Rules", project.rules),
        _bullets("Speaking", _channel_rules(desk)),
        _filler_guidance(project, scope),
        _tool_guidance(moment),
        f"The language of the call is {desk.opening.language or project.language}.",
        f"It is {now:%A, %Y-%m-%d %H:%M} UTC.",
        _memory(desk, moment),
        skill_text,
        _passages(project, scope),
        _pending(moment, scope),
    ]
    system = "\n\n".join(part for part in parts if part)
    budget = project.orchestrator.max_prompt_tokens * CHARS_A_TOKEN
    used = len(system) + sum(len(canonical_json(s.parameters)) + 60 for s in moment.specs)
    room = max(LEAST_HISTORY_CHARS, budget - used)
    messages = [ChatMessage("system", system), *history_messages(state, room)]
    if scope.note:
        messages.append(ChatMessage("system", scope.note))
    situation = situation_of(
        desk, moment, scope, state, prose=skill_text, day=now.date().isoformat()
    )
    return ChatRequest(tuple(messages), moment.specs, situation=situation)


def _bullets(title: str, lines: tuple[str, ...]) -> str:
    return "\n".join([f"# {title}", *(f"- {line}" for line in lines)]) if lines else ""


def _channel_rules(desk: Desk) -> tuple[str, ...]:
    orchestrator = desk.project.orchestrator
    if desk.opening.channel in _TEXT_CHANNELS:
        return TEXT_RULES if orchestrator.text_rules is None else orchestrator.text_rules
    return VOICE_RULES if orchestrator.voice_rules is None else orchestrator.voice_rules


def _filler_guidance(project: Project, scope: TurnScope) -> str:
    guidance = project.filler_guidance
    if scope.round > 1 or not project.settings.fillers.enabled:
        return ""
    lines = [guidance.instructions or _FILLER]
    lines += [f'Caller: "{user}" You: "{said}"' for user, said in guidance.examples]
    if guidance.reminder:
        lines.append(guidance.reminder)
    return _bullets("While a tool runs", tuple(lines))


def _tool_guidance(moment: Moment) -> str:
    lines = tuple(f"{spec.name}: {spec.description}" for spec in moment.builtin.values())
    return _bullets("When to use the system's tools", lines)


# ------------------------------------------------------------------ what is known


def _memory(desk: Desk, moment: Moment) -> str:
    skill = moment.skill.id if moment.skill is not None else ""
    known: list[str] = []
    for field in desk.schema.fields:
        value = value_of(desk.state, field)
        wanted = field.namespace in ("project", skill)
        if value is not None and wanted and desk.schema.is_readable(field, skill):
            known.append(f"{field.namespace}.{field.name}: {_shown(field, value)}")
    return _bullets("Known so far", tuple(known))


def _shown(field: MemoryField, value: Json) -> str:
    shown = "[set]" if field.pii else canonical_json(value)
    return shown if len(shown) <= MOST_VALUE_CHARS else f"{shown[:MOST_VALUE_CHARS]}… (cut)"


def _passages(project: Project, scope: TurnScope) -> str:
    if scope.passages is None:
        return ""
    rule = project.knowledge.instructions or _KNOWLEDGE
    found = scope.passages or ("(nothing was found)",)
    return "\n\n".join(["# What the search found", rule, *found])


# ------------------------------------------------------------------ what is to be done


def _skill_text(desk: Desk, moment: Moment) -> str:
    if moment.skill is None:
        return _catalogue(desk, moment)
    step = moment.step
    title = f"# {moment.skill.name}"
    match step:
        case InstructStep():
            text = _rendered(desk, moment.skill, step.instructions)
            return f"{title}\n{text}"
        case CollectStep():
            return f"{title}\n{_collecting(moment, step)}"
        case ToolStep() if moment.cut_off:
            return f"{title}\n{_CUT_OFF.format(moment.cut_off)}"
        case _ if moment.place is not None:
            return title
        case _:
            return "\n\n".join([title, *_prose(desk, moment.skill), *_completion(moment.skill)])


def _prose(desk: Desk, skill: Skill) -> list[str]:
    read = desk.reader(skill.id)
    return [
        _rendered(desk, skill, paragraph.parts)
        for paragraph in skill.prose
        if holds(paragraph.condition, read)
    ]


def _completion(skill: Skill) -> list[str]:
    criteria = skill.complete_when.criteria
    return [_bullets("It is complete when", criteria)] if criteria else []


def _rendered(desk: Desk, skill: Skill, parts: tuple[ProsePart, ...]) -> str:
    text = ""
    for part in parts:
        match part:
            case str():
                text += part
            case BlockToken():
                text += f'`{ACTIVATE}(flow_id="{skill.id}.{part.block}")`'
            case SkillToken():
                text += f'`{ACTIVATE}(flow_id="{part.skill}")`'
            case ToolToken():
                text += f"`{part.tool}`"
            case _:
                field = desk.schema.field(part.namespace, part.name)
                readable = field is not None and desk.schema.is_readable(field, skill.id)
                value = value_of(desk.state, field) if field is not None and readable else None
                text += "(not set)" if field is None or value is None else _shown(field, value)
    return text


def _collecting(moment: Moment, step: CollectStep) -> str:
    field = moment.collecting
    about = step.description or (field.description if field is not None else None) or step.field
    lines = [
        f"You are collecting `{step.field}`: {about}",
        "If the caller has given it, record it with set_fields, with whatever else they gave.",
    ]
    if field is not None and field.enum_values:
        lines.append(f"It is one of: {', '.join(field.enum_values)}.")
    if moment.question is not None:
        lines.append(
            f'The system asks for it by itself, with these words: "{moment.question}" Do not ask '
            "yourself. Answer what else the caller said, shortly, or write nothing."
        )
    else:
        lines.append("If they have not, ask for it in one short question.")
    return "\n".join(lines)


def _catalogue(desk: Desk, moment: Moment) -> str:
    lines = [
        f"{flow.id}: {desk.project.skills[flow.skill].name}. "
        f"{desk.project.skills[flow.skill].description}"
        for flow in moment.flows.values()
    ]
    text = _bullets("What you can do for the caller", tuple(lines))
    before_end = [s for s in desk.project.before_end if s in desk.project.skills]
    if before_end:
        text += f"\n\nBefore the conversation ends, activate: {', '.join(before_end)}."
    return text


def _pending(moment: Moment, scope: TurnScope) -> str:
    if not moment.is_held:
        return ""
    lines = [
        f"The call {moment.held_tool} is held until the caller agrees. Its arguments: "
        f"{moment.held_arguments}"
    ]
    if moment.is_stale:
        lines.append(
            "The caller spoke before they had heard the question: their words are no answer to it. "
            "Answer what they said, if it needs one."
        )
    if moment.held_question is not None:
        lines.append(
            f'The system asks, and asks again while there is no answer: "{moment.held_question}" '
            "Do not ask yourself."
        )
    elif scope.answered:
        pass
    else:
        lines.append("Ask the caller to confirm it, with its values, in one short question.")
    return _bullets("Waiting for a yes or no", tuple(lines))
