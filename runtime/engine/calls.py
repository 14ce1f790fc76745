"""The calls of one round: checked, recorded, performed or run, and waited for.

Owns what happens between a model's request for a call and its outcome: an unknown tool, unusable
arguments and the engine's own tools are settled here; an author's tool goes to the runner. Every
asked call gets exactly one outcome, and the round waits for all of them, one failing or not.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import Protocol

from runtime.agent import Json
from runtime.conversation.events import MemorySet, ToolAsked, ToolOutcome, ToolSettled
from runtime.conversation.memory import writable
from runtime.conversation.prompt_history import STILL_RUNNING
from runtime.engine.builtin import HANG_UP, LISTEN, SET_FIELDS
from runtime.engine.tool_memory import MemoryHost
from runtime.errors import MemoryWriteError
from runtime.models.ports import RequestedCall, ToolSpec
from runtime.tools.arguments import ArgumentsRefused, canonical_json, parse_arguments
from runtime.tools.call import RunningCall
from runtime.tools.definition import ToolDef
from runtime.tools.runner import ToolRunner, refusal

__all__ = ["MOST_CALLS", "Calls", "CallsHost", "RoundOutcome"]

MOST_CALLS = 32
"""Calls of one reply that are looked at; no sane reply has more."""

_DONE = canonical_json({"status": "ok"})

_logger = logging.getLogger(__name__)


class RoundOutcome(Enum):
    """What a round's calls came to."""

    NOTHING_ASKED = auto()
    GO_ON = auto()
    MISTAKEN = auto()
    """At least one call could not be made as it was asked."""
    ENDS_TURN = auto()


class CallsHost(MemoryHost, Protocol):
    """What the calls need of their session, beside what their memory does."""

    def next_call_id(self) -> int:
        """A number for the next call."""
        ...

    def hang_up(self, turn: int) -> None:
        """End the call once what is being said has been heard."""
        ...

    def say_goodbye(self, turn: int) -> None:
        """Say the project's goodbye."""
        ...


class Calls:
    """Performs the rounds of one call's turns."""

    def __init__(
        self,
        host: CallsHost,
        runner: ToolRunner,
        tools: Mapping[str, ToolDef],
        builtin: Mapping[str, ToolSpec],
    ) -> None:
        """Look tools up in ``tools`` (authors') and ``builtin``."""
        self._host = host
        self._runner = runner
        self._tools = tools
        self._builtin = builtin

    async def run(
        self,
        turn: int,
        number: int,
        asked: Sequence[RequestedCall],
        cut_off: Sequence[str],
        *,
        said_something: bool,
    ) -> RoundOutcome:
        """Make the calls of round ``number`` and wait until each has its outcome."""
        if not asked and not cut_off:
            return RoundOutcome.NOTHING_ASKED
        calls = list(asked[:MOST_CALLS])
        ids = [self._announce(turn, number, call) for call in calls]
        mistaken = self._settle_cut_off(turn, number, cut_off)
        running: list[RunningCall] = []
        for call_id, call in zip(ids, calls, strict=True):
            if call.name in self._builtin:
                mistaken |= not self._perform(turn, call_id, call)
            else:
                mistaken |= not self._start(turn, call_id, call, running)
        for started in running:
            await started.settled.wait()
        names = {call.name for call in calls}
        if HANG_UP in names and not mistaken:
            if not said_something:
                self._host.say_goodbye(turn)
            self._host.hang_up(turn)
            return RoundOutcome.ENDS_TURN
        if names == {LISTEN} and not mistaken:
            return RoundOutcome.ENDS_TURN  # with text beside it, the text was the answer
        return RoundOutcome.MISTAKEN if mistaken else RoundOutcome.GO_ON

    def _announce(self, turn: int, number: int, call: RequestedCall) -> int:
        call_id = self._host.next_call_id()
        known = call.name in self._tools or call.name in self._builtin
        name = call.name if known else _wire_name(call.name)
        asked = ToolAsked(call_id, call.id, name, _sendable(call.arguments), number)
        self._host.record(turn, asked)
        return call_id

    def _settle_cut_off(self, turn: int, number: int, names: Sequence[str]) -> bool:
        for name in names[:MOST_CALLS]:
            call_id = self._announce(turn, number, RequestedCall("", name, ""))
            self._refuse(turn, call_id, "the arguments were incomplete; call it again, shorter")
        return bool(names)

    # -- authors' tools

    def _start(
        self, turn: int, call_id: int, call: RequestedCall, running: list[RunningCall]
    ) -> bool:
        definition = self._tools.get(call.name)
        if definition is None:
            self._refuse(turn, call_id, "no such tool here")
            return False
        try:
            parsed = parse_arguments(call.arguments, definition.parameters, definition.defaults)
        except ArgumentsRefused as reason:
            self._refuse(turn, call_id, str(reason))
            return False
        if parsed.unwrapped:
            _logger.warning("a model encoded arguments twice", extra={"tool": call.name})
        if self._is_running(call.name, canonical_json(parsed.values)):
            self._settle(turn, call_id, "failed", STILL_RUNNING)
            return True
        started = self._runner.start(definition, parsed.values, call_id=call_id, turn=turn)
        if started is not None:
            running.append(started)
        return True

    def _is_running(self, tool: str, canonical: str) -> bool:
        """Whether an equal call runs: one of an earlier call of the conversation counts too."""
        return any(
            made.started and (made.tool, made.arguments) == (tool, canonical)
            for made in self._host.state.open_calls
        )

    # -- the engine's own

    def _perform(self, turn: int, call_id: int, call: RequestedCall) -> bool:
        try:
            values = parse_arguments(call.arguments, self._builtin[call.name].parameters).values
            if call.name == SET_FIELDS:
                self._set_fields(turn, call_id, values)
        except (ArgumentsRefused, MemoryWriteError) as reason:
            self._refuse(turn, call_id, str(reason))
            return False
        self._settle(turn, call_id, "ok", _DONE)
        return True

    def _set_fields(self, turn: int, call_id: int, values: dict[str, Json]) -> None:
        """Write all values or none."""
        state = self._host.state
        checked = [
            writable(self._host.schema, state, name, value, self._host.skill)
            for name, value in values.items()
        ]
        for field, text in checked:
            fact = MemorySet(field.namespace, field.name, text, "model", call_id)
            self._host.record(turn, fact)

    # -- outcomes

    def _refuse(self, turn: int, call_id: int, reason: str) -> None:
        self._settle(turn, call_id, "failed", refusal("failed", reason))

    def _settle(self, turn: int, call_id: int, outcome: ToolOutcome, result: str) -> None:
        self._host.record(turn, ToolSettled(call_id, outcome, result))


def _wire_name(name: str) -> str:
    """A name that providers take back: one that they refuse would fail every later request."""
    return re.sub("[^a-zA-Z0-9_-]", "_", name[:64]) or "unnamed"


def _sendable(arguments: str) -> str:
    """The arguments as they may be sent back to a model: one JSON object, whatever it wrote."""
    try:
        return canonical_json(parse_arguments(arguments, {}).values)
    except (ArgumentsRefused, ValueError):
        return "{}"
