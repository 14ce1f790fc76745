"""Confirmations: a call is held until the caller has heard its question and agreed.

Owns when a question is asked, asked again, and which words can answer it. A call is bound to its
exact arguments; an answer counts only if the caller began to speak after the essential part of the
question (its last filled-in value; all of it, where the model phrased it) had been heard.
"""

from collections.abc import Mapping

from runtime.agent import Expect, Heard, Input
from runtime.conversation.dialogue import Held
from runtime.conversation.events import ConfirmationAnswered, ConfirmationAsked
from runtime.conversation.state import CallMade, Message
from runtime.engine.desk import Desk
from runtime.engine.gates import constraint_of
from runtime.engine.responses import Responses
from runtime.engine.scope import TurnScope
from runtime.project.skill_model import Confirmation
from runtime.tools.arguments import canonical_json, parse_arguments

__all__ = ["Confirming"]

TOLERANCE_CHARS = 3
"""Of the essential part that may still be unheard: about 200 ms of speech."""

_YES_NO = Expect("yes_no")


class Confirming:
    """The held call of one conversation."""

    def __init__(self, desk: Desk, responses: Responses) -> None:
        """Ask through ``responses``."""
        self._desk = desk
        self._responses = responses

    @property
    def held(self) -> Held | None:
        """What is held for the active skill."""
        return self._desk.state.dialogue.held_for(self._desk.top_id)

    @property
    def is_in_front(self) -> bool:
        """Whether something is held for the active skill."""
        return self.held is not None

    @property
    def was_asked(self) -> bool:
        """Whether the question of what is held for the active skill has been put."""
        return self.held is not None and self.held.say is not None

    @property
    def wording(self) -> str | None:
        """The engine's question about the held call, with the values of this moment."""
        question = self.rule().question if self.is_in_front else None
        return None if question is None else self._responses.wording(question)

    @property
    def call(self) -> CallMade | None:
        """The held call."""
        return self._desk.state.tool_call(self.held.call_id) if self.held is not None else None

    def rule(self) -> Confirmation:
        """How the held call is asked about."""
        made = self.call
        skill = self._desk.project.skills.get(self._desk.skill)
        if made is None or skill is None:
            return Confirmation()
        return constraint_of(skill, made.tool).confirmation or Confirmation()

    def hold(self, scope: TurnScope, call_id: int, frame: int) -> None:
        """Hold a call for a frame; the steps ask for it when nothing else is left to say."""
        made = self._desk.state.tool_call(call_id)
        seen = self._entries_of(made) if made is not None else ()
        self._desk.record(scope.turn, ConfirmationAsked(call_id, frame, None, seen=seen))

    def has_changed(self, made: CallMade) -> bool:
        """Whether memory got another value, since a call was held, than the one it is to use."""
        held = self.held
        if held is None:
            return False
        arguments = parse_arguments(made.arguments, {}).values
        before = dict(held.seen)
        return any(
            value not in (before.get(name, value), "null")
            and value != canonical_json(arguments[name])
            for name, value in self._entries_of(made)
        )

    def _entries_of(self, made: CallMade) -> tuple[tuple[str, str], ...]:
        """Memory entries called like the call's arguments, as JSON text."""
        found: list[tuple[str, str]] = []
        for name in parse_arguments(made.arguments, {}).values:
            field = self._desk.schema.readable(name, self._desk.skill)
            if field is not None:
                value = self._desk.value(field.namespace, field.name)
                found.append((name, canonical_json(value)))
        return tuple(found)

    def is_asked(self, scope: TurnScope) -> bool:
        """Whether the question of what is held in front was put in this turn."""
        return self.held is not None and self.held.call_id in scope.asked_calls

    def is_stale(self, scope: TurnScope) -> bool:
        """Whether the caller's words came before the question in front was heard.

        So they do for a call that comes back to the front in the course of the turn.
        """
        held = self.held
        return held is not None and held.say is not None and held.call_id not in scope.answerable

    async def ask(self, scope: TurnScope) -> bool:
        """Put the engine's own question, again if need be.

        Returns:
            Whether it has one; else the model is to phrase it.
        """
        held = self.held
        question = self.rule().question
        if held is None or question is None:
            return False
        given = await self._responses.give(scope, question, expect=_YES_NO)
        if given is None:
            return False
        self._note_asked(scope, held, given.say, given.essential_chars)
        return True

    def phrased(self, scope: TurnScope, say: int, text: str) -> None:
        """The model's reply was the question."""
        if self.held is not None:
            self._note_asked(scope, self.held, say, len(text.rstrip()))
            scope.expect = _YES_NO

    def _note_asked(self, scope: TurnScope, held: Held, say: int, essential: int) -> None:
        fact = ConfirmationAsked(held.call_id, held.frame, say, essential, held.seen)
        self._desk.record(scope.turn, fact)
        scope.asked_calls.add(held.call_id)
        scope.expect = _YES_NO

    def answer(self, scope: TurnScope, *, confirmed: bool) -> None:
        """The caller has agreed, or has not."""
        made = self.call
        if self.held is None or made is None:
            return
        scope.answered.add(made.tool)
        self._desk.record(scope.turn, ConfirmationAnswered(made.call_id, confirmed))

    def may_be_answered(self, said: Input | None) -> bool:
        """Whether these words of the caller can answer the held question."""
        held = self.held
        if held is None or said is None or held.say is None:
            return False
        at_onset_of = {heard.say: heard for heard in said.heard_at_onset}
        if self._was_followed(held.say, at_onset_of):
            return False
        needed = held.essential_chars - TOLERANCE_CHARS
        at_onset = at_onset_of.get(held.say)
        if at_onset is not None:
            return at_onset.complete or at_onset.chars >= needed
        message = self._desk.state.message(held.say)
        if message is None:
            return False  # taken back, or so long ago that it must be put again
        return message.outcome is not None and message.heard_chars >= needed

    def _was_followed(self, say: int, at_onset: Mapping[int, Heard]) -> bool:
        """Whether the caller had heard something else after the question: they answer that."""
        for item in reversed(self._desk.state.history):
            if not isinstance(item, Message):
                continue
            if item.say <= say:
                return False
            heard = at_onset.get(item.say)
            if heard.chars if heard is not None else item.heard_chars:
                return True
        return False
