"""What was done before this request, read from its messages.

Owns the reading: the calls of this turn, the words before it, and those that began what is being
done now. What the caller heard is in there, what they said of keys too.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import cast

from runtime.agent import Json
from runtime.models.offline.lines import Lines
from runtime.models.offline.reading import lexicon_for, read_yes_no
from runtime.models.ports import ChatMessage

__all__ = ["MadeCall", "Opening", "Past", "past_of"]

_KEYS = "[keys] "
_LOST = " [part of this was lost on the line]"
_WRITES = ("set_fields", "correct")
_MOST_CHARS = 1000


@dataclass(frozen=True, slots=True)
class MadeCall:
    """A call that the planner made in a round before, this turn."""

    tool: str
    arguments: Mapping[str, Json]
    is_refused: bool = False


@dataclass(frozen=True, slots=True)
class Opening:
    """How what is being done now was asked for."""

    words: str = ""
    """The caller's, when it was begun; empty where nothing was."""
    tried: frozenset[str] = frozenset()
    """Fields that the planner has sought to set since."""


@dataclass(frozen=True, slots=True)
class Past:
    """What the messages tell."""

    made: tuple[MadeCall, ...] = ()
    """In this turn, oldest first."""
    rounds: int = 0
    """In how many rounds of this turn calls were made."""
    opening: Opening = field(default_factory=Opening)
    words_before: str = ""
    """What the caller said in the turn before; no keys."""
    first_part: str = ""
    """The same, where the caller was told that there were too few digits in them."""
    has_answered: bool = False
    """Those words answered a held call."""
    has_failed: bool = False
    """In the turn before nothing could be made of the words, and nothing was being done."""
    times_missed: int = 0
    """How many turns in a row before this one held no answer to what was asked."""


def past_of(messages: Sequence[ChatMessage], lines: Lines, language: str) -> Past:
    """Read the messages, the last of the caller's among them."""
    spoken = [n for n, message in enumerate(messages) if message.role == "user"]
    last = spoken[-1] if spoken else -1
    before = spoken[-2] if len(spoken) > 1 else -1
    turn, turn_before = messages[last + 1 :], messages[before + 1 : last] if before >= 0 else ()
    words_before = _words(messages[before]) if before >= 0 else ""
    made = _made(turn)
    return Past(
        made,
        sum(1 for message in turn if message.calls),
        _opening(messages, spoken, lines, language),
        words_before,
        words_before if _too_few(turn_before, lines) else "",
        _answers(turn_before),
        _failed(turn_before, lines),
        _missed(messages, spoken, lines),
    )


def _made(turn: Sequence[ChatMessage]) -> tuple[MadeCall, ...]:
    results = {m.call_id: m.text for m in turn if m.role == "tool"}
    return tuple(
        MadeCall(call.name, _object(call.arguments), _is_refused(results.get(call.id, "")))
        for message in turn
        for call in message.calls
    )


def _opening(
    messages: Sequence[ChatMessage], spoken: Sequence[int], lines: Lines, language: str
) -> Opening:
    begun = next(
        (
            n
            for n in range(len(messages) - 1, -1, -1)
            if any(call.name == "activate" for call in messages[n].calls)
        ),
        -1,
    )
    said = [n for n in spoken if n < begun]
    if begun < 0 or not said:
        return Opening()
    words = _words(messages[said[-1]])
    asked = "".join(m.text for m in messages[said[-2] + 1 : said[-1]]) if len(said) > 1 else ""
    is_reply = any(line.partition("{")[0] in asked for line in (lines.suggest, lines.which))
    if is_reply and read_yes_no(words, "", lexicon_for(language)).is_plain:
        words = _words(messages[said[-2]])  # the yes to "do you mean this?" says nothing itself
    tried = {
        name
        for call in _made(messages[begun + 1 :])
        if call.tool in _WRITES
        for name in (*call.arguments, call.arguments.get("memory_key"))
        if isinstance(name, str)
    }
    return Opening(words, frozenset(tried))


def _too_few(turn: Sequence[ChatMessage], lines: Lines) -> bool:
    """Whether the agent told so; of a call's first turn there is no turn before."""
    told = lines.digits_wrong.partition("{")[0]
    return any(message.role == "assistant" and told in message.text for message in turn)


def _answers(turn: Sequence[ChatMessage]) -> bool:
    return any(call.name == "resolve_tool_confirmation" for m in turn for call in m.calls)


def _words(message: ChatMessage) -> str:
    if message.text.startswith(_KEYS):
        return ""
    return " ".join(message.text.removesuffix(_LOST)[: 4 * _MOST_CHARS].split())[:_MOST_CHARS]


def _failed(turn: Sequence[ChatMessage], lines: Lines) -> bool:
    """What was understood and is not offered is no failure to understand."""
    calls = [call for message in turn for call in message.calls if call.name == "cannot_help"]
    if any(_object(call.arguments).get("in_domain") is not True for call in calls):
        return True
    return any(
        message.role == "assistant"
        and lines.what_else in message.text
        and (lines.not_caught in message.text or lines.not_known in message.text)
        for message in turn
    )


def _missed(messages: Sequence[ChatMessage], spoken: Sequence[int], lines: Lines) -> int:
    told = (lines.not_caught, lines.digits_wrong.partition("{")[0], lines.year_missing)
    count = 0
    for first, after in reversed(list(pairwise(spoken))):
        said = [m.text for m in messages[first + 1 : after] if m.role == "assistant"]
        if not any(line in text for text in said for line in told):
            break
        count += 1
    return count


def _object(text: str) -> Mapping[str, Json]:
    read = _parsed(text)
    return read if isinstance(read, dict) else {}


def _is_refused(result: str) -> bool:
    read = _parsed(result)
    return isinstance(read, dict) and read.get("status") == "failed" and "reason" in read


def _parsed(text: str) -> Json:
    try:
        return cast(Json, json.loads(text))
    except (ValueError, RecursionError):
        return None
