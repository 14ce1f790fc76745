"""The calls of one round: checked, recorded, performed, held or run, and waited for.

Owns what happens between a model's request for a call and its outcome: an unknown tool, a shut
gate, unusable arguments and the engine's own tools are settled here, a call that needs the caller's
yes is held, an author's tool goes to the runner. Every asked call gets exactly one outcome, and the
round waits for all of them, one failing or not.
"""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from runtime.conversation.events import ToolAsked, ToolOutcome, ToolSettled
from runtime.conversation.prompt_history import STILL_RUNNING
from runtime.conversation.state import CallMade
from runtime.engine.builtin import (
    BUILTIN,
    CANCEL_SKILL,
    CORRECT,
    HANG_UP,
    LISTEN,
    RESOLVE,
    SET_FIELDS,
)
from runtime.engine.builtin_calls import BuiltinCalls
from runtime.engine.desk import Desk
from runtime.engine.gates import constraint_of, is_open
from runtime.engine.moment import Moment
from runtime.engine.responses import Responses
from runtime.engine.scope import Refused, TurnScope
from runtime.engine.stack import Stack
from runtime.engine.steps import Steps
from runtime.models.ports import RequestedCall, ToolSpec
from runtime.project.skill_model import Skill, ToolConstraint
from runtime.tools.arguments import ArgumentsRefused, canonical_json, parse_arguments, parse_call
from runtime.tools.call import RunningCall
from runtime.tools.definition import ToolDef
from runtime.tools.runner import refusal

__all__ = ["MOST_CALLS", "Calls", "RoundOutcome"]

MOST_CALLS = 8
"""Calls of one reply that are made; the others are refused."""

MOST_HOOK_REFUSALS = 3
"""Values that hooks may refuse in one turn before that is a mistake of the model's."""

MOST_LOOKED_AT = 32
"""Calls of one reply that are looked at; no sane reply has more."""

_DONE = canonical_json({"status": "ok"})
_INTERRUPTED = "the caller spoke before it was made"
_ORDER = {SET_FIELDS: 0, CORRECT: 0, RESOLVE: 1}

_logger = logging.getLogger(__name__)


class RoundOutcome(Enum):
    """What a round's calls came to."""

    NOTHING_ASKED = auto()
    GO_ON = auto()
    ANSWERED = auto()
    """Only memory was written, and the words beside it were the answer."""
    MISTAKEN = auto()
    """At least one call could not be made as it was asked."""
    REPEATED = auto()
    """It called again what the caller has answered already."""
    ENDS_TURN = auto()


@dataclass(slots=True)
class _Round:
    """One round being made."""

    scope: TurnScope
    moment: Moment
    beside_text: bool
    running: list[tuple[RunningCall, ToolConstraint, str]] = field(
        default_factory=list[tuple[RunningCall, ToolConstraint, str]]
    )
    mistaken: bool = False
    repeated: bool = False
    """It calls again what the caller has answered."""
    withdrew: bool = False
    only_writes: bool = True
    to_hold: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """(call, frame it was made for)."""


class Calls:
    """Performs the rounds of one call's turns."""

    def __init__(
        self,
        desk: Desk,
        stack: Stack,
        steps: Steps,
        responses: Responses,
        own: BuiltinCalls,
    ) -> None:
        """Act through these parts; ``own`` performs the engine's tools."""
        self._desk = desk
        self._stack = stack
        self._steps = steps
        self._responses = responses
        self._own = own

    async def run(
        self,
        scope: TurnScope,
        moment: Moment,
        asked: Sequence[RequestedCall],
        cut_off: Sequence[str],
        *,
        beside_text: bool,
    ) -> RoundOutcome:
        """Make the calls that a reply asked for and wait until each has its outcome."""
        scope.refused = None
        if not asked and not cut_off:
            return RoundOutcome.NOTHING_ASKED
        calls = list(asked[:MOST_LOOKED_AT])
        ids = [self._announce(scope, moment, call) for call in calls]
        this = _Round(scope, moment, beside_text)
        try:
            self._settle_cut_off(this, cut_off)
            for call_id in ids[MOST_CALLS:]:
                self._refuse(this, call_id, f"too many calls at once; make {MOST_CALLS} at most")
            await self._make(this, list(zip(ids, calls, strict=True))[:MOST_CALLS])
            await self._finish(this)
        finally:
            self._settle_unmade(this, ids)
        return self._outcome(this, {call.name for call in calls})

    async def _make(self, this: _Round, asked: Sequence[tuple[int, RequestedCall]]) -> None:
        """Make them in the order of their effect, whatever the order they were written in.

        What the caller has changed is changed before their yes runs what is held, and both before
        another skill comes to the front.
        """
        names = {call.name for _, call in asked}
        for call_id, call in sorted(asked, key=lambda one: _ORDER.get(one[1].name, len(_ORDER))):
            if call.name == LISTEN and (this.beside_text or len(names) > 1):
                self._settle(this, call_id, "ok", _DONE)  # the rest of the reply is followed
            elif call.name in BUILTIN:
                await self._perform(this, call_id, call)
            else:
                self._start(this, call_id, call)

    def _settle_unmade(self, this: _Round, ids: Sequence[int]) -> None:
        """An interruption in the middle of a round leaves no call that nobody will settle."""
        state = self._desk.state
        for call_id in ids:
            made = state.tool_call(call_id)
            is_left = made is not None and made.outcome is None and not made.started
            if is_left and call_id not in state.dialogue.held_calls:
                self._settle(this, call_id, "cancelled", refusal("cancelled", _INTERRUPTED))

    def _outcome(self, this: _Round, names: set[str]) -> RoundOutcome:
        scope = this.scope
        if this.mistaken:
            scope.owes_reply = True
            return RoundOutcome.MISTAKEN
        if this.repeated:
            scope.owes_reply = True
            return RoundOutcome.REPEATED
        if HANG_UP in names:
            scope.hangs_up = True
            return RoundOutcome.ENDS_TURN
        if names == {LISTEN} and not this.beside_text:
            return RoundOutcome.ENDS_TURN
        if this.beside_text and this.only_writes:
            return RoundOutcome.ANSWERED
        return RoundOutcome.GO_ON

    def _announce(self, scope: TurnScope, moment: Moment, call: RequestedCall) -> int:
        call_id = self._desk.next_call_id()
        known = call.name in BUILTIN or any(t.name == call.name for t in moment.tools)
        name = call.name if known else _wire_name(call.name)
        asked = ToolAsked(call_id, call.id, name, _sendable(call.arguments), scope.round)
        self._desk.record(scope.turn, asked)
        return call_id

    def _settle_cut_off(self, this: _Round, names: Sequence[str]) -> None:
        for name in names[:MOST_CALLS]:
            call_id = self._announce(this.scope, this.moment, RequestedCall("", name, ""))
            self._refuse(this, call_id, "the arguments were incomplete; call it again, shorter")

    # -- the engine's own

    async def _perform(self, this: _Round, call_id: int, call: RequestedCall) -> None:
        spec = this.moment.builtin.get(call.name)
        if spec is None:
            self._refuse(this, call_id, "it is not available now")
            return
        try:
            # Models write null for what they don't know: that is left out.
            unknown = dict.fromkeys(_properties(spec)) if call.name == SET_FIELDS else {}
            values = parse_arguments(call.arguments, spec.parameters, unknown).values
        except ArgumentsRefused as reason:
            self._refuse(this, call_id, str(reason))
            return
        if call.name == CANCEL_SKILL and self._asks_before_cancelling:
            this.only_writes = False
            this.to_hold.append((call_id, self._desk.top_id))
            return
        held = self._steps.confirming.call
        done = await self._own.perform(
            this.scope, call_id, call.name, values, beside_text=this.beside_text
        )
        if done.refused is not None:
            self._refuse(this, call_id, done.refused.reason, by_author=done.refused.by_author)
            return
        this.only_writes &= done.is_write or call.name == LISTEN
        this.scope.owes_reply |= done.owes_reply
        this.withdrew |= done.withdrew
        result = _DONE if done.result is None else canonical_json(done.result)
        self._settle(this, call_id, "ok", result)
        if call.name == RESOLVE:
            await self._after_answer(this, held, confirmed=values["confirmed"] is True)

    async def _after_answer(self, this: _Round, made: CallMade | None, *, confirmed: bool) -> None:
        """The model's own held call: run it, or settle it. A step's is the steps' to go on with."""
        if made is None or made.made_for != "model":
            return
        skill = self._desk.project.skills.get(self._desk.skill)
        constraint = constraint_of(skill, made.tool) if skill is not None else ToolConstraint("")
        if confirmed and made.tool == CANCEL_SKILL:
            this.only_writes = False
            self._settle(this, made.call_id, "ok", _DONE)
            await self._own.perform(
                this.scope,
                made.call_id,
                CANCEL_SKILL,
                {},
                beside_text=this.beside_text,
            )
            return
        if confirmed and skill is not None:
            this.only_writes = False
            self._run(this, made.call_id, skill.tools.get(made.tool), made.arguments, skill)
            return
        self._settle(this, made.call_id, "cancelled", refusal("cancelled", "the caller said no"))
        line = constraint.confirmation.denial if constraint.confirmation is not None else None
        if line is None or await self._responses.give(this.scope, line) is None:
            this.scope.owes_reply = True  # the model finds the words

    @property
    def _asks_before_cancelling(self) -> bool:
        rule = self._desk.project.orchestrator.builtin.get(CANCEL_SKILL)
        return rule is not None and rule.requires_confirmation

    # -- authors' tools

    def _start(self, this: _Round, call_id: int, call: RequestedCall) -> None:
        this.only_writes = False
        skill = self._desk.project.skills.get(self._desk.skill)
        offered = {t.name for t in this.moment.tools}
        definition = skill.tools.get(call.name) if skill is not None else None
        if skill is None or definition is None or call.name not in offered:
            self._refuse(this, call_id, "no such tool here")
            return
        if call.name in this.scope.answered:
            this.repeated = True
            reason = "the caller has answered already; do not call it again"
            self._settle(this, call_id, "failed", refusal("failed", reason))
            return
        confirmation = constraint_of(skill, call.name).confirmation
        if confirmation is None:
            self._run(this, call_id, definition, call.arguments, skill)
            return
        canonical = self._checked(this, call_id, definition, call.arguments, skill)
        if canonical is not None:
            this.to_hold.append((call_id, self._desk.top_id))

    def _checked(
        self, this: _Round, call_id: int, definition: ToolDef, arguments: str, skill: Skill
    ) -> str | None:
        """The canonical arguments of a call that may be made; None = it was refused."""
        if not is_open(skill, definition.name, self._desk.reader(skill.id)):
            self._refuse(this, call_id, "it is not available now")
            return None
        try:
            parsed = parse_call(arguments, definition)
        except ArgumentsRefused as reason:
            self._refuse(this, call_id, str(reason))
            return None
        if parsed.unwrapped:
            _logger.warning("a model encoded arguments twice", extra={"tool": definition.name})
        return canonical_json(parsed.values)

    def _run(
        self, this: _Round, call_id: int, definition: ToolDef | None, arguments: str, skill: Skill
    ) -> None:
        if definition is None:
            self._refuse(this, call_id, "no such tool here")
            return
        canonical = self._checked(this, call_id, definition, arguments, skill)
        if canonical is None:
            return
        if self._is_running(call_id, definition.name, canonical):
            self._settle(this, call_id, "failed", STILL_RUNNING)
            this.scope.owes_reply = True
            return
        values = parse_call(canonical, definition).values
        self._desk.prepare_call(call_id, skill.id)
        started = self._desk.runner.start(definition, values, call_id=call_id, turn=this.scope.turn)
        if started is not None:
            this.running.append((started, constraint_of(skill, definition.name), skill.id))

    def _is_running(self, call_id: int, tool: str, canonical: str) -> bool:
        """Whether an equal call runs: one of an earlier call of the conversation counts too."""
        return any(
            made.started and (made.tool, made.arguments) == (tool, canonical)
            for made in self._desk.state.open_calls
            if made.call_id != call_id
        )

    async def _finish(self, this: _Round) -> None:
        scope = this.scope
        for call, _, _ in this.running:
            await call.settled.wait()
        for call, constraint, skill in this.running:
            scope.just_done.append((call.name, call.outcome or ""))
            line = constraint.on_success if call.outcome == "ok" else constraint.on_failure
            if line is not None:
                given = await self._responses.give(
                    scope, line, outcome_of=call.call_id, skill=skill
                )
                if given is not None:
                    continue  # it tells the caller; the model reads the result next time
            scope.owes_reply = True
        taken: set[int] = set()
        for call_id, frame in this.to_hold:
            if frame and self._desk.state.dialogue.frame(frame) is None:
                self._refuse(this, call_id, "its skill has ended")
            elif frame in taken or not self._is_free(scope, frame):
                self._refuse(this, call_id, "another call waits for the caller's answer")
            else:
                taken.add(frame)
                self._steps.confirming.hold(scope, call_id, frame)
                this.withdrew = False
        scope.owes_reply |= this.withdrew

    def _is_free(self, scope: TurnScope, frame: int) -> bool:
        """Whether nothing is held for a frame, now at least.

        A call of the model's own gives way: it calls for something else, so the caller changed it.
        """
        held = self._desk.state.dialogue.held_for(frame)
        made = self._desk.state.tool_call(held.call_id) if held is not None else None
        if made is not None and made.made_for != "model":
            return False
        self._stack.withdraw(scope.turn, "the caller changed it", frame)
        return True

    # -- outcomes

    def _refuse(self, this: _Round, call_id: int, reason: str, *, by_author: bool = False) -> None:
        scope = this.scope
        scope.refused = Refused(reason, by_author)
        if by_author and scope.hook_refusals < MOST_HOOK_REFUSALS:
            # The value was the caller's, and no mistake of the model's.
            scope.hook_refusals += 1
            scope.owes_reply = True
        else:
            this.mistaken = True
        self._settle(this, call_id, "failed", refusal("failed", reason))

    def _settle(self, this: _Round, call_id: int, outcome: ToolOutcome, result: str) -> None:
        self._desk.record(this.scope.turn, ToolSettled(call_id, outcome, result))


def _properties(spec: ToolSpec) -> Sequence[str]:
    properties = spec.parameters.get("properties")
    return list(properties) if isinstance(properties, dict) else []


def _wire_name(name: str) -> str:
    """A name that providers take back: one that they refuse would fail every later request."""
    return re.sub("[^a-zA-Z0-9_-]", "_", name[:64]) or "unnamed"


def _sendable(arguments: str) -> str:
    """The arguments as they may be sent back to a model: one JSON object, whatever it wrote."""
    try:
        return canonical_json(parse_arguments(arguments, {}).values)
    except (ArgumentsRefused, ValueError):
        return "{}"
