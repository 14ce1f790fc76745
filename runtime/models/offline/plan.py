"""What a rule sees and what it decides.

Owns ``Scene``, one request as data, and ``Plan``. The rules themselves are in the modules
``confirming``, ``steering``, ``collecting``, ``giving``, ``wishing``, ``prose`` and ``following``;
their order is ``planner``'s.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import TypeAlias

from runtime.agent import Json
from runtime.models.offline.lines import Lines, lines_for
from runtime.models.offline.past import MadeCall, Opening, past_of
from runtime.models.offline.reading import Lexicon, lexicon_for
from runtime.models.offline.words import MOST_CHARS
from runtime.models.ports import ChatRequest, ToolSpec
from runtime.models.situation import Situation

__all__ = [
    "MadeCall",
    "Opening",
    "Plan",
    "PlannedCall",
    "Rule",
    "Scene",
    "calls",
    "joined",
    "says",
    "scene_of",
]

_SOME_DAY = date(2000, 1, 1)
_MOST_OPTIONS = 4


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call to ask for."""

    tool: str
    arguments: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole reply; both empty = nothing to say, which the engine takes for an answer."""

    text: str = ""
    calls: tuple[PlannedCall, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One request, as the rules read it."""

    situation: Situation
    offered: Mapping[str, ToolSpec] = field(default_factory=dict[str, ToolSpec])
    made: tuple[MadeCall, ...] = ()
    """Oldest first."""
    is_nudged: bool = False
    """The reply before was empty, and nobody said anything: this one must not be."""
    opening: Opening = Opening()
    words_before: str = ""
    """The caller's words of the turn before."""
    first_part: str = ""
    """The same, where the caller was told that there were too few digits in them."""
    has_answered: bool = False
    """They answered a held call."""
    has_failed: bool = False
    """Nothing could be made of the words before, either."""
    times_missed: int = 0
    """How many turns in a row before this one held no answer to what was asked."""

    @cached_property
    def said(self) -> str:
        """The caller's words, trimmed to a length that can be understood."""
        return " ".join(self.situation.said[: 4 * MOST_CHARS].split())[:MOST_CHARS]

    @cached_property
    def lexicon(self) -> Lexicon:
        """The words of the call's language."""
        return lexicon_for(self.situation.language)

    @cached_property
    def lines(self) -> Lines:
        """What to say in the call's language."""
        return lines_for(self.situation.language)

    @cached_property
    def today(self) -> date:
        """The day of the request."""
        try:
            return date.fromisoformat(self.situation.today[:10])
        except ValueError:
            return _SOME_DAY

    @property
    def is_first(self) -> bool:
        """Nothing was done about the caller's words yet."""
        return self.situation.round <= 1 and not self.made

    @property
    def has_used_words(self) -> bool:
        """The words were understood as something in a round before: they mean nothing else now."""
        return any(call.tool != "activate" for call in self.made)

    @property
    def engine_speaks(self) -> bool:
        """The engine puts its own question after an empty reply."""
        pending = self.situation.pending
        if pending is not None:
            return pending.question is not None
        return self.situation.collecting is not None and self.situation.question is not None

    def may(self, tool: str, **arguments: Json) -> bool:
        """Whether a tool is on offer, and the arguments are among those that its schema names."""
        spec = self.offered.get(tool)
        if spec is None:
            return False
        properties = spec.parameters.get("properties")
        if not isinstance(properties, dict):
            return not arguments
        return all(
            name in properties and _is_among(properties[name], value)
            for name, value in arguments.items()
        )


Rule: TypeAlias = Callable[[Scene], Plan | None]
"""Pure; None = it is for another rule to decide."""


def says(text: str) -> Plan:
    """Plan to say something and wait."""
    return Plan(text)


def calls(tool: str, **arguments: Json) -> Plan:
    """Plan one call and no words."""
    return Plan("", (PlannedCall(tool, arguments),))


def joined(options: tuple[str, ...], joint: str) -> str:
    """Write options as they are spoken, ``a, b, or c``; four at most."""
    options = options[:_MOST_OPTIONS]
    if len(options) < 2:
        return "".join(options)
    comma = "," if len(options) > 2 else ""
    return f"{', '.join(options[:-1])}{comma} {joint} {options[-1]}"


def scene_of(request: ChatRequest) -> Scene:
    """Read a request: its situation, its tools, and what was done, from its messages."""
    situation, messages = request.situation, request.messages
    past = past_of(messages, lines_for(situation.language), situation.language)
    is_later = situation.round > 1 and bool(situation.said)
    ends_in_note = len(messages) > 1 and messages[-1].role == "system"
    return Scene(
        situation=situation,
        offered={tool.name: tool for tool in request.tools},
        made=past.made if is_later else (),
        is_nudged=ends_in_note and situation.round - 1 > (past.rounds if is_later else 0),
        opening=past.opening,
        words_before=past.words_before,
        first_part=past.first_part,
        has_answered=past.has_answered,
        has_failed=past.has_failed,
        times_missed=past.times_missed,
    )


def _is_among(schema: Json, value: Json) -> bool:
    if not isinstance(schema, dict):
        return True
    allowed = schema.get("enum")
    return value in allowed if isinstance(allowed, list) else True
