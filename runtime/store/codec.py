"""Events as rows: a kind and a JSON body.

Owns the names of kinds on disk, which must never change their meaning: a fact that gets another
shape gets another name. Unknown keys of a body are ignored, so that an older version reads what a
newer one wrote with a field more.
"""

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from runtime.conversation.events import (
    BlockEnded,
    BlockStarted,
    CallEnded,
    CallStarted,
    ConfirmationAnswered,
    ConfirmationAsked,
    ConfirmationWithdrawn,
    Event,
    Fact,
    KnowledgeSearched,
    LateOutcome,
    MemorySet,
    MessageDropped,
    MessageHeard,
    MessageWritten,
    ModelCalled,
    ResponseGiven,
    SkillEnded,
    SkillResumed,
    SkillStarted,
    StepAsked,
    StepEntered,
    ToolAsked,
    ToolSettled,
    ToolStarted,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
    UtterFired,
    UtterLooked,
)
from runtime.store.ports import StoreError

__all__ = ["decode", "encode_fact", "kind_of"]

_KINDS: Mapping[str, type[Fact]] = {
    "call_started": CallStarted,
    "call_ended": CallEnded,
    "turn_started": TurnStarted,
    "turn_interrupted": TurnInterrupted,
    "turn_finished": TurnFinished,
    "message_written": MessageWritten,
    "message_heard": MessageHeard,
    "message_dropped": MessageDropped,
    "tool_asked": ToolAsked,
    "tool_started": ToolStarted,
    "tool_settled": ToolSettled,
    "late_outcome": LateOutcome,
    "memory_set": MemorySet,
    "model_called": ModelCalled,
    "skill_started": SkillStarted,
    "skill_ended": SkillEnded,
    "skill_resumed": SkillResumed,
    "block_started": BlockStarted,
    "block_ended": BlockEnded,
    "step_entered": StepEntered,
    "step_asked": StepAsked,
    "utter_fired": UtterFired,
    "utter_looked": UtterLooked,
    "confirmation_asked": ConfirmationAsked,
    "confirmation_answered": ConfirmationAnswered,
    "confirmation_withdrawn": ConfirmationWithdrawn,
    "response_given": ResponseGiven,
    "knowledge_searched": KnowledgeSearched,
}
_NAMES: Mapping[type[Fact], str] = {cls: name for name, cls in _KINDS.items()}

_encoder = msgspec.json.Encoder()


def kind_of(fact: Fact) -> str:
    """The name of a fact's kind on disk."""
    return _NAMES[type(fact)]


def encode_fact(fact: Fact) -> bytes:
    """Write a fact's body. Lone surrogates, which no JSON holds, are replaced."""
    try:
        return _encoder.encode(fact)
    except UnicodeEncodeError:
        return _encoder.encode(_clean(msgspec.to_builtins(fact)))


def decode(
    conversation: str, sequence: int, at_ms: int, turn: int, kind: str, body: bytes
) -> Event:
    """Read a row.

    Raises:
        StoreError: the kind is unknown, or the body is not one of its kind.
    """
    cls = _KINDS.get(kind)
    if cls is None:
        raise StoreError(f"event {sequence} of a conversation has the unknown kind {kind!r}")
    try:
        fact = cast("Fact", msgspec.json.decode(body, type=cast("type[Any]", cls)))
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoreError(f"event {sequence} of a conversation can't be read as {kind}") from error
    return Event(conversation, sequence, at_ms, turn, fact)


def _clean(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list | tuple):
        return [_clean(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in cast("dict[str, object]", value).items()}
    return value
