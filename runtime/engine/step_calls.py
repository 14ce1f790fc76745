"""``execute_tool``: the engine calls a tool for a step.

Owns the checks before the call (it exists, its gate is open, its arguments fit, the caller agreed)
and what follows from its outcome. The step's state is folded from events: a call that returned has
advanced the step whatever became of the turn, one that was cancelled is made again, with the same
key.
"""

import asyncio
from collections.abc import Iterator
from enum import Enum, auto

from runtime.agent import Json
from runtime.conversation.dialogue import BlockPlace, Frame
from runtime.conversation.events import ToolAsked, ToolSettled
from runtime.conversation.state import CallMade
from runtime.engine.confirming import Confirming
from runtime.engine.desk import Desk
from runtime.engine.gates import constraint_of, is_open
from runtime.engine.responses import Responses
from runtime.engine.scope import TurnScope
from runtime.engine.stack import CHANGED, Stack
from runtime.project.skill_model import Skill, ToolStep, ValueRef
from runtime.tools.arguments import ArgumentsRefused, canonical_json, parse_call
from runtime.tools.definition import ToolDef
from runtime.tools.runner import refusal

__all__ = ["StepCalls", "ToolMove"]

_DENIED = "The caller has said no to {}, and it was not done. Tell them so, in a few words."

_LOOK_S = 0.1


class ToolMove(Enum):
    """How a tool step stands."""

    DONE = auto()
    """Go on with what comes next."""
    ASKED = auto()
    """The caller was asked to confirm: their turn."""
    PHRASE = auto()
    """The model is to ask the caller."""
    CONSIDER = auto()
    """The model is to hear the caller first, or to say something."""
    AGAIN = auto()
    """Look at the step again."""


class StepCalls:
    """The tool steps of one call."""

    def __init__(
        self, desk: Desk, stack: Stack, confirming: Confirming, responses: Responses
    ) -> None:
        """Call through the desk's runner."""
        self._desk = desk
        self._stack = stack
        self._confirming = confirming
        self._responses = responses

    async def advance(
        self, scope: TurnScope, frame: Frame, skill: Skill, step: ToolStep, place: BlockPlace
    ) -> ToolMove:
        """Bring the step as far as it comes without the caller."""
        if place.denied:
            return await self._denied(scope, frame, skill, step, place)
        if place.outcome == "cancelled" and not scope.has_considered(frame.id):
            return ToolMove.CONSIDER  # what cut it off may well be a "no, stop"
        if place.call_id is None or place.outcome == "cancelled":
            return await self._ask(scope, frame, skill, step)
        if place.outcome is not None:
            return await self._after(scope, skill, step, place)
        held = self._confirming.held
        if held is not None and held.call_id == place.call_id:
            return await self._still_held(scope, frame, place.call_id, skill, step)
        made = self._desk.state.tool_call(place.call_id)
        if made is not None and made.started:
            return await self._still_running(scope, frame, made)
        return await self._run(scope, frame, skill, step, place)

    # -- one state of the step each

    async def _ask(self, scope: TurnScope, frame: Frame, skill: Skill, step: ToolStep) -> ToolMove:
        desk = self._desk
        call_id = desk.next_call_id()
        arguments = self.arguments(skill, step)
        desk.record(
            scope.turn,
            ToolAsked(call_id, "", step.tool, arguments, scope.round, "step", frame.id),
        )
        refused = self._refusal(skill, step, arguments)
        if refused is not None:
            desk.record(scope.turn, ToolSettled(call_id, "failed", refusal("failed", refused)))
            return ToolMove.AGAIN
        confirmation = constraint_of(skill, step.tool).confirmation
        if confirmation is None:
            return ToolMove.AGAIN
        self._confirming.hold(scope, call_id, frame.id)
        return ToolMove.ASKED if await self._confirming.ask(scope) else ToolMove.PHRASE

    async def _still_held(
        self, scope: TurnScope, frame: Frame, call_id: int, skill: Skill, step: ToolStep
    ) -> ToolMove:
        made = self._desk.state.tool_call(call_id)
        if made is not None and made.arguments != self.arguments(skill, step):
            # A confirmation is bound to its values: the caller has corrected one.
            self._stack.withdraw(scope.turn, CHANGED, frame.id)
            return ToolMove.AGAIN
        if self._confirming.is_asked(scope):
            return ToolMove.ASKED
        return ToolMove.ASKED if await self._confirming.ask(scope) else ToolMove.PHRASE

    async def _still_running(self, scope: TurnScope, frame: Frame, made: CallMade) -> ToolMove:
        """An interruption let it run on (``finish``): answer the caller, then wait for its end."""
        if not scope.has_considered(frame.id):
            return ToolMove.CONSIDER
        for call in self._desk.runner.open_calls:
            if call.call_id == made.call_id:
                await call.settled.wait()
        # An earlier call of the conversation may run it: its end shows in the record, nowhere else.
        while made.outcome is None:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_S)
        return ToolMove.AGAIN

    async def _run(
        self,
        scope: TurnScope,
        frame: Frame,
        skill: Skill,
        step: ToolStep,
        place: BlockPlace,
    ) -> ToolMove:
        desk, call_id = self._desk, place.call_id
        made = desk.state.tool_call(call_id) if call_id is not None else None
        if call_id is None or made is None:
            return ToolMove.DONE
        confirmation = constraint_of(skill, step.tool).confirmation
        if confirmation is not None and not place.confirmed:
            self._confirming.hold(scope, call_id, frame.id)
            return ToolMove.ASKED if await self._confirming.ask(scope) else ToolMove.PHRASE
        if (
            place.confirmed
            and step.tool not in scope.answered
            and not scope.has_considered(frame.id)
        ):
            return ToolMove.CONSIDER  # their yes is of an earlier turn, and they have spoken since
        if made.arguments != self.arguments(skill, step):
            fact = ToolSettled(call_id, "cancelled", refusal("cancelled", CHANGED))
            desk.record(scope.turn, fact)
            return ToolMove.AGAIN
        refused = self._refusal(skill, step, made.arguments)  # again: memory may have moved on
        if refused is not None:
            desk.record(scope.turn, ToolSettled(call_id, "failed", refusal("failed", refused)))
            return ToolMove.AGAIN
        definition = skill.tools[step.tool]
        parsed = parse_call(made.arguments, definition)
        desk.prepare_call(call_id, skill.id)
        running = desk.runner.start(
            definition,
            parsed.values,
            call_id=call_id,
            turn=scope.turn,
            wish=f"{place.block}/{step.id}/{place.visit}",
        )
        if running is not None:
            await running.settled.wait()
        return ToolMove.AGAIN

    async def _denied(
        self, scope: TurnScope, frame: Frame, skill: Skill, step: ToolStep, place: BlockPlace
    ) -> ToolMove:
        made = self._desk.state.tool_call(place.call_id) if place.call_id is not None else None
        if made is not None and made.outcome is None:
            reason = refusal("cancelled", "the caller said no")
            self._desk.record(scope.turn, ToolSettled(made.call_id, "cancelled", reason))
        confirmation = constraint_of(skill, step.tool).confirmation
        line = confirmation.denial if confirmation is not None else None
        if line is not None and await self._responses.give(scope, line) is not None:
            return ToolMove.DONE
        if (frame.id, place.visit) in scope.replied_at:
            return ToolMove.DONE
        scope.note = _DENIED.format(step.tool)
        return ToolMove.CONSIDER

    async def _after(
        self, scope: TurnScope, skill: Skill, step: ToolStep, place: BlockPlace
    ) -> ToolMove:
        """Say how it went; no model is there to say that a step's call was refused either."""
        constraint = constraint_of(skill, step.tool)
        line = constraint.on_success if place.outcome == "ok" else constraint.on_failure
        if line is not None:
            await self._responses.give(scope, line, outcome_of=place.call_id)
        return ToolMove.DONE

    # -- checks

    def arguments(self, skill: Skill, step: ToolStep) -> str:
        """The arguments that the step's call would have now, as canonical JSON."""
        found = self._arguments(skill, step)
        definition = skill.tools.get(step.tool)
        # A parameter that takes texts alone is given a list or a map as its JSON, as by a model.
        for name in _texts_alone(definition) if definition is not None else ():
            if isinstance(found.get(name), list | dict):
                found[name] = canonical_json(found[name])
        return canonical_json(found)

    def _arguments(self, skill: Skill, step: ToolStep) -> dict[str, Json]:
        """The written values, with live memory in the place of references; unset ones left out."""
        found: dict[str, Json] = {}
        for name, value in step.parameters:
            if isinstance(value, ValueRef):
                field = self._desk.schema.field(value.namespace, value.name)
                if field is None or not self._desk.schema.is_readable(field, skill.id):
                    continue
                value = self._desk.value(value.namespace, value.name)
                if value is None:
                    continue
            found[name] = value
        return found

    def _refusal(self, skill: Skill, step: ToolStep, arguments: str) -> str | None:
        definition = skill.tools.get(step.tool)
        if definition is None:
            return "no such tool here"
        if not is_open(skill, step.tool, self._desk.reader(skill.id)):
            return "it is not available now"
        try:
            parse_call(arguments, definition)
        except ArgumentsRefused as reason:
            return str(reason)
        return None


def _texts_alone(definition: ToolDef) -> Iterator[str]:
    """Parameters of the type string."""
    properties = definition.parameters.get("properties")
    for name, schema in properties.items() if isinstance(properties, dict) else ():
        if isinstance(schema, dict) and schema.get("type") == "string":
            yield name
