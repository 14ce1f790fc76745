"""From a conversation's facts to the events that the page, the report and the log show.

Owns the names and fields of the runtime's ``Happened`` messages. What the caller or the agent said,
arguments and values appear only in fields named ``text``, which logs leave out.
"""

import json

from runtime.agent import Fields
from runtime.conversation.events import (
    ConfirmationAnswered,
    ConfirmationAsked,
    ConfirmationWithdrawn,
    Fact,
    KnowledgeSearched,
    LateOutcome,
    MemorySet,
    MessageDropped,
    ModelCalled,
    ResponseGiven,
    SkillEnded,
    SkillResumed,
    SkillStarted,
    StepEntered,
    ToolSettled,
    ToolStarted,
)
from runtime.conversation.memory import MemorySchema, masked
from runtime.conversation.state import ConversationState

__all__ = ["report_of"]


def report_of(
    fact: Fact, state: ConversationState, schema: MemorySchema
) -> tuple[str, Fields] | None:
    """The name and fields to report a fact under; None = voice reports it, or nobody needs to."""
    match fact:
        case ToolStarted():
            return "tool_started", (
                ("call_id", fact.call_id),
                ("tool", fact.tool),
                ("idempotency_key", fact.idempotency_key),
                ("on_interrupt", "finish" if fact.finish else "cancel"),
                ("text", masked(schema, state, fact.arguments)),
            )
        case ToolSettled() | LateOutcome():
            made = state.tool_call(fact.call_id)
            name = "tool_settled" if isinstance(fact, ToolSettled) else "late_outcome"
            return name, (
                ("call_id", fact.call_id),
                ("tool", made.tool if made is not None else ""),
                ("outcome", fact.outcome),
                ("text", masked(schema, state, fact.result)),
            )
        case MemorySet():
            field = schema.field(fact.namespace, fact.name)
            shown = "[set]" if field is None or field.pii else fact.value
            return "memory_set", (
                ("name", f"{fact.namespace}.{fact.name}"),
                ("writer", fact.writer),
                ("text", shown),
            )
        case MessageDropped():
            return "send_dropped", (
                ("call_id", fact.call_id),
                ("reason", fact.reason),
                ("chars", len(fact.text)),
                ("text", fact.text),
            )
        case ModelCalled():
            return "model_called", (
                ("model", fact.model),
                ("round", fact.round),
                ("outcome", fact.outcome),
                ("first_ms", fact.first_ms),
                ("took_ms", fact.took_ms),
            )
        case _:
            return _dialogue_report(fact, state)


def _dialogue_report(fact: Fact, state: ConversationState) -> tuple[str, Fields] | None:
    match fact:
        case SkillStarted():
            return "skill_started", (("skill", fact.skill), ("cause", fact.cause))
        case SkillEnded():
            return "skill_ended", (("skill", fact.skill), ("how", fact.how))
        case SkillResumed():
            return "skill_resumed", (("skill", _skill(state, fact.frame)),)
        case StepEntered():
            frame = state.dialogue.frame(fact.frame)
            place = frame.place if frame is not None else None
            return "step_entered", (
                ("skill", _skill(state, fact.frame)),
                ("block", place.block if place is not None else ""),
                ("step", fact.step),
            )
        case ConfirmationAsked():
            return "confirmation_asked", (
                ("call_id", fact.call_id),
                ("tool", _tool(state, fact.call_id)),
                ("say", fact.say),
            )
        case ConfirmationAnswered():
            return "confirmation_answered", (
                ("call_id", fact.call_id),
                ("tool", _tool(state, fact.call_id)),
                ("confirmed", fact.confirmed),
            )
        case ConfirmationWithdrawn():
            return "confirmation_withdrawn", (
                ("call_id", fact.call_id),
                ("tool", _tool(state, fact.call_id)),
                ("reason", fact.reason),
            )
        case ResponseGiven():
            return "response_given", (
                ("response", fact.response),
                ("say", fact.say),
                ("text", json.dumps([[b.title, b.payload] for b in fact.buttons])),
            )
        case KnowledgeSearched():
            return "knowledge_searched", (
                ("call_id", fact.call_id),
                ("passages", fact.passages),
            )
        case _:
            return None


def _skill(state: ConversationState, frame: int) -> str:
    found = state.dialogue.frame(frame)
    return found.skill if found is not None else ""


def _tool(state: ConversationState, call_id: int) -> str:
    made = state.tool_call(call_id)
    return made.tool if made is not None else ""
