"""What a call of one of the engine's own tools does.

Owns their effects on the conversation. Each returns why it could not be done, or what the model
reads as its result; recording the outcome is the round's (``calls``).
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from runtime.agent import Json
from runtime.conversation.events import KnowledgeSearched
from runtime.engine import builtin
from runtime.engine.desk import Desk
from runtime.engine.responses import Responses
from runtime.engine.scope import Refused, TurnScope
from runtime.engine.stack import CHANGED, Stack
from runtime.engine.steps import Steps
from runtime.engine.writes import Writes

__all__ = ["BuiltinCalls", "Done"]

UNSUPPORTED = "default_unsupported_request_handler"
_CANCELLED = "utter_skill_cancelled"
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Done:
    """How a call of the engine's own went."""

    refused: Refused | None = None
    """Why it was not done."""
    result: Json = None
    """What the model reads; None = just that it is done."""
    owes_reply: bool = False
    """The model must go on with it."""
    withdrew: bool = False
    """The model's held call was taken back: it must make another, or tell the caller."""
    is_write: bool = False
    """It only wrote memory: words beside it were the answer."""


class BuiltinCalls:
    """Performs them for one call."""

    def __init__(
        self,
        desk: Desk,
        stack: Stack,
        steps: Steps,
        responses: Responses,
        writes: Writes,
    ) -> None:
        """Act through these parts."""
        self._desk = desk
        self._stack = stack
        self._steps = steps
        self._responses = responses
        self._writes = writes

    async def perform(
        self,
        scope: TurnScope,
        call_id: int,
        name: str,
        values: Mapping[str, Json],
        *,
        beside_text: bool,
    ) -> Done:
        """Do what the call asks for; its arguments fit the schema of the moment."""
        match name:
            case builtin.ACTIVATE:
                return self._activate(scope, str(values["flow_id"]))
            case builtin.COMPLETE_SKILL:
                scope.wrapped_up = beside_text
                self._steps.complete(scope)
                return Done()
            case builtin.CANCEL_SKILL:
                return await self._cancel(scope, beside_text=beside_text)
            case builtin.SET_FIELDS:
                return await self._write(scope, values, call_id)
            case builtin.CORRECT:
                key, value = str(values["memory_key"]), values["value"]
                return await self._write(scope, {key: value}, call_id)
            case builtin.RESOLVE:
                return self._resolve(scope, confirmed=values["confirmed"] is True)
            case builtin.SEARCH:
                return await self._look_up(scope, call_id, str(values["query"]))
            case builtin.CANNOT_HELP:
                return self._cannot_help(scope, values["in_domain"], beside_text=beside_text)
            case _:
                return Done()  # listen and hang_up: what they do to the turn is the round's

    def _activate(self, scope: TurnScope, flow_id: str) -> Done:
        flow = self._stack.flows().get(flow_id)
        if flow is None:
            return Done(refused=Refused("it can't be started now"))
        top = self._desk.top
        if flow.block is not None and top is not None and top.skill == flow.skill:
            self._steps.start_block(scope, top, flow.block)
        elif top is not None and top.skill == flow.skill:
            return Done(refused=Refused("it is active already"))
        else:
            self._stack.go_to(scope.turn, flow)
        return Done()

    def _resolve(self, scope: TurnScope, *, confirmed: bool) -> Done:
        confirming = self._steps.confirming
        if confirming.call is None:
            return Done(result={"status": "no_answer", "reason": CHANGED})
        if confirming.is_stale(scope):
            # Looked at again: a turn that begins early may be confirmed with other words.
            return Done(refused=Refused("the caller spoke before they had heard the question"))
        if confirmed and self._steps.is_held_outdated(confirming.wording):
            return self._withdraw(scope)
        confirming.answer(scope, confirmed=confirmed)
        return Done()

    async def _cancel(self, scope: TurnScope, *, beside_text: bool) -> Done:
        self._stack.cancel(scope.turn)
        if not beside_text:
            await self._responses.give(scope, _CANCELLED)
        return Done()

    async def _write(self, scope: TurnScope, values: Mapping[str, Json], call_id: int) -> Done:
        given = {name: value for name, value in values.items() if value is not None}
        question = self._steps.confirming.wording
        refused = await self._writes.write(scope.turn, given, "model", call_id)
        if refused is None and self._steps.is_held_outdated(question):
            return self._withdraw(scope)
        return Done(refused=refused, is_write=True)

    def _withdraw(self, scope: TurnScope) -> Done:
        """A held call is bound to the values that the caller was asked about."""
        made = self._steps.confirming.call
        self._stack.withdraw(scope.turn, CHANGED, self._desk.top_id)
        if made is None or made.made_for != "model":
            return Done(is_write=True)  # the step asks anew by itself
        note = f"{made.tool} is not held any more, {CHANGED}: call it with the new ones"
        return Done(result={"status": "ok", "note": note}, withdrew=True)

    async def _look_up(self, scope: TurnScope, call_id: int, query: str) -> Done:
        passages = await self._desk.parts.search.find(query)
        scope.passages = (*(scope.passages or ()), *passages)
        self._desk.record(scope.turn, KnowledgeSearched(call_id, len(passages)))
        return Done(result={"found": len(passages)}, owes_reply=True)

    def _cannot_help(self, scope: TurnScope, in_domain: Json, *, beside_text: bool) -> Done:
        skill = self._desk.project.skills.get(UNSUPPORTED)
        if beside_text or skill is None or skill.disabled:
            return Done(owes_reply=not beside_text)
        self._steps.run_engine_skill(scope, skill, {"in_domain": in_domain is True})
        return Done()
