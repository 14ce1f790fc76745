"""The conversation as a model reads it: messages as heard, calls with their results.

Owns the well-formedness of every request: each call is followed by exactly one result, a running
one by ``still_running``; no assistant message is empty; a message that the caller interrupted ends
where the caller stopped hearing it. The system message is ``runtime.engine.prompt``.
"""

from collections.abc import Sequence, Set
from itertools import groupby

from runtime.conversation.state import (
    CallerSaid,
    CallMade,
    ConversationState,
    HistoryItem,
    LateNews,
    Message,
)
from runtime.models.ports import ChatMessage, RequestedCall

__all__ = [
    "AWAITS_CONFIRMATION",
    "INTERRUPTED_MARK",
    "STILL_RUNNING",
    "heard_text",
    "history_messages",
]

STILL_RUNNING = "still_running"
"""The result of a call that has none yet."""

AWAITS_CONFIRMATION = "awaits_confirmation"
"""The result of a call that is held until the caller agrees."""

NOT_BEGUN = "not_begun"
"""The result of a step's call that the caller agreed to, and that was cut off before its start."""

INTERRUPTED_MARK = "[interrupted]"
"""Ends a message that the caller did not hear to its end."""


def history_messages(state: ConversationState, max_chars: int = 32_000) -> list[ChatMessage]:
    """Write the history, oldest first, leaving out the oldest turns beyond ``max_chars``.

    A turn with a call that still runs is never left out.
    """
    turns = [
        (list(items), turn) for turn, items in groupby(state.history, key=lambda item: item.turn)
    ]
    kept: list[list[ChatMessage]] = []
    room = max_chars
    for items, turn in reversed(turns):
        messages = _turn_messages(
            items,
            interrupted=turn in state.interrupted,
            held=state.dialogue.held_calls,
        )
        room -= sum(_size(message) for message in messages)
        if room >= 0 or not kept or any(_is_open(item) for item in items):
            kept.append(messages)
    return [message for messages in reversed(kept) for message in messages]


def heard_text(message: Message, *, interrupted: bool) -> str:
    """What the caller heard of a message, marked where it was cut; empty = nothing.

    A message that is not settled is being spoken: it counts whole, unless its turn was interrupted
    (then the ledger has not spoken yet, and unheard text must not be taken for heard).
    """
    if message.outcome is None:
        whole = not interrupted or not message.interruptible
        return message.text.strip() if whole else ""
    if message.outcome == "heard" or message.heard_chars >= len(message.text.rstrip()):
        return message.text.strip()
    heard = message.text[: message.heard_chars].strip()
    return f"{heard} {INTERRUPTED_MARK}" if heard else ""


def _turn_messages(
    items: Sequence[HistoryItem], *, interrupted: bool, held: Set[int]
) -> list[ChatMessage]:
    """One turn: the caller's words, then round by round text and calls, results, other lines."""
    result: list[ChatMessage] = []
    written: set[int] = set()
    for item in items:
        match item:
            case CallerSaid():
                result.append(ChatMessage("user", _caller_text(item)))
            case LateNews():
                result.append(ChatMessage("system", _news_text(item)))
            case CallMade() if item.made_for == "step":
                result.append(ChatMessage("system", _step_text(item, held)))
            case CallMade() if item.made_for != "model":
                pass  # a hook, a source of buttons: what they did shows in memory and messages
            case Message() if item.round == 0 or item.call_id is not None:
                text = heard_text(item, interrupted=interrupted)
                if text:
                    result.append(ChatMessage("assistant", text))
            case Message() | CallMade():
                if item.round not in written:
                    written.add(item.round)
                    result.extend(
                        _round_messages(items, item.round, interrupted=interrupted, held=held)
                    )
    return result


def _round_messages(
    items: Sequence[HistoryItem], number: int, *, interrupted: bool, held: Set[int]
) -> list[ChatMessage]:
    texts: list[str] = []
    calls: list[CallMade] = []
    for item in items:
        if isinstance(item, CallMade) and item.round == number and item.made_for == "model":
            calls.append(item)
        elif isinstance(item, Message) and item.round == number and item.call_id is None:
            texts.append(heard_text(item, interrupted=interrupted))
    text = " ".join(part for part in texts if part)
    if not calls:
        return [ChatMessage("assistant", text)] if text else []
    asked = tuple(RequestedCall(_wire_id(call), call.tool, call.arguments) for call in calls)
    results = [ChatMessage("tool", _result(call, held), call_id=_wire_id(call)) for call in calls]
    return [ChatMessage("assistant", text, calls=asked), *results]


def _wire_id(call: CallMade) -> str:
    # Ours, not the model's: models repeat their ids over a conversation.
    return f"call_{call.call_id}"


def _result(call: CallMade, held: Set[int]) -> str:
    if call.outcome is None:
        return AWAITS_CONFIRMATION if call.call_id in held else STILL_RUNNING
    return call.result


def _step_text(call: CallMade, held: Set[int]) -> str:
    """What a step's call came to: the system made it, so it is no call of the model's."""
    open_status = STILL_RUNNING if call.started else NOT_BEGUN
    status = call.outcome or (AWAITS_CONFIRMATION if call.call_id in held else open_status)
    return f"[the system called {call.tool}: {status}]"


def _caller_text(item: CallerSaid) -> str:
    text = f"[keys] {item.text}" if item.kind == "keys" else item.text
    return f"{text} [part of this was lost on the line]" if item.uncertain else text


def _news_text(item: LateNews) -> str:
    return f"Late news of call_{item.call_id} ({item.tool}): {item.outcome}: {item.result}"


def _is_open(item: HistoryItem) -> bool:
    return isinstance(item, CallMade) and item.outcome is None


def _size(message: ChatMessage) -> int:
    return len(message.text) + sum(len(c.name) + len(c.arguments) for c in message.calls) + 8
