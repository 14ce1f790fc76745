"""The request to the model: who the agent is, what it knows now, and the conversation as heard.

Owns the system message. The history's messages are ``runtime.conversation.prompt_history``; the
tools on offer are the turn's.
"""

from datetime import UTC, datetime

from runtime.agent import Json
from runtime.conversation.memory import MemorySchema, value_of
from runtime.conversation.prompt_history import INTERRUPTED_MARK, STILL_RUNNING, history_messages
from runtime.conversation.state import ConversationState
from runtime.models.ports import ChatMessage, ChatRequest, ToolSpec
from runtime.project.model import MemoryField, Project
from runtime.tools.arguments import canonical_json

__all__ = ["VOICE_RULES", "build_request"]

VOICE_RULES = (
    "You are on a phone call: what you write is spoken. Use short, plain sentences.",
    "Write no markdown, no lists, no emoji and no links. Write numbers and dates as digits; they "
    "are read out properly.",
    "Ask one question at a time.",
    f'A message of yours that ends in "{INTERRUPTED_MARK}" was heard only up to there.',
    "Before a tool that takes a while, say in a few words what you are doing.",
    f'A tool whose result is "{STILL_RUNNING}" has not finished: do not call it again, and do not '
    "claim that it failed or worked.",
    'A result with the status "cancelled" was not done; "unknown" may have been done: say so '
    "honestly when it matters.",
)


def build_request(
    project: Project,
    schema: MemorySchema,
    state: ConversationState,
    *,
    tools: tuple[ToolSpec, ...],
    at_ms: int,
    note: str = "",
) -> ChatRequest:
    """Build a request from live state.

    Args:
        project: Persona, rules, the skill.
        schema: Declared memory.
        state: The conversation so far.
        tools: Tools on offer.
        at_ms: Now, by the call's clock.
        note: A last word to the model about this one request.
    """
    parts = [
        project.persona.strip(),
        _bullets("Rules", project.rules),
        _bullets("Speaking", VOICE_RULES),
        f"The language of the call is {project.language}.",
        _clock(state, at_ms),
        _memory(project, schema, state),
        f"# {project.skill.name}\n{project.skill.prose.strip()}",
    ]
    system = "\n\n".join(part for part in parts if part)
    messages = [ChatMessage("system", system), *history_messages(state)]
    if note:
        messages.append(ChatMessage("system", note))
    return ChatRequest(tuple(messages), tools)


def _bullets(title: str, lines: tuple[str, ...]) -> str:
    return "\n".join([f"# {title}", *(f"- {line}" for line in lines)]) if lines else ""


def _clock(state: ConversationState, at_ms: int) -> str:
    start = state.call.wall_start if state.call is not None else 0.0
    # UTC whatever the machine's zone: the same call gives the same prompt everywhere.
    now = datetime.fromtimestamp(start + at_ms / 1000, tz=UTC)
    return f"It is {now:%A, %Y-%m-%d %H:%M} UTC."


def _memory(project: Project, schema: MemorySchema, state: ConversationState) -> str:
    known: list[str] = []
    for field in schema.fields:
        value = value_of(state, field)
        if value is not None and _is_readable(field, project.skill.id):
            known.append(f"{field.namespace}.{field.name}: {_shown(field, value)}")
    return _bullets("Known so far", tuple(known))


def _is_readable(field: MemoryField, skill: str) -> bool:
    return not field.private or field.namespace == skill


def _shown(field: MemoryField, value: Json) -> str:
    return "[set]" if field.pii else canonical_json(value)
