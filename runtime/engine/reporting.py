"""From a conversation's facts to the events that the page, the report and the log show.

Owns the names and fields of the runtime's ``Happened`` messages. What the caller or the agent said,
arguments and values appear only in fields named ``text``, which logs leave out.
"""

from runtime.agent import Fields
from runtime.conversation.events import (
    Fact,
    LateOutcome,
    MemorySet,
    MessageDropped,
    ModelCalled,
    ToolSettled,
    ToolStarted,
)
from runtime.conversation.memory import MemorySchema
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
                ("text", fact.arguments),
            )
        case ToolSettled() | LateOutcome():
            made = state.tool_call(fact.call_id)
            name = "tool_settled" if isinstance(fact, ToolSettled) else "late_outcome"
            return name, (
                ("call_id", fact.call_id),
                ("tool", made.tool if made is not None else ""),
                ("outcome", fact.outcome),
                ("text", fact.result),
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
            return None
