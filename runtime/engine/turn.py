"""One turn of the agent: steps without the model, then rounds of model and tools, until it waits.

Theory of operation. A turn first waits for what earlier turns left behind. A tapped button or keyed
digits that mean a value are written. Then it goes round: do what needs no model (``steps``); ask
the model, streaming its text to the caller as it comes (``asking``); make the calls it asked for
(``calls``). It ends when it is the caller's turn, and always with something said where the caller
said something: a model that fails, writes nothing twice, asks for impossible calls twice or never
comes to an end is answered for with the project's own line.

Owns the order of things in a turn. It is cancelled by its session when the caller interrupts; the
one check of its own is before each round, so that no model is asked for a turn that is over.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

from runtime.agent import Input, StartTurn, TurnOutcome
from runtime.conversation.state import ConversationState
from runtime.engine.asking import Asking, Reply, Superseded
from runtime.engine.calls import RoundOutcome
from runtime.engine.inputs import take_input
from runtime.engine.moment import Moment, moment_of
from runtime.engine.parts import EngineParts
from runtime.engine.prompt import build_request
from runtime.engine.scope import TurnScope
from runtime.engine.steps import Move
from runtime.models.ports import ChatRequest
from runtime.tasks import raise_if_cancelled

__all__ = ["MOST_ROUNDS", "Turn"]

MOST_ROUNDS = 20

_EMPTY_NOTE = "Your last reply was empty. Answer the caller, or use a tool."
_MODEL_ERROR = "utter_model_call_error"
_GREETINGS = ("utter_session_notice", "utter_session_start")
_SESSION_START = "default_session_start"
_SILENCE = "default_silence_timeout"
_SILENCE_HANG_UP = "default_silence_timeout_hangup"
_LAST_RESORT = "I'm sorry, something went wrong. Could you say that again?"

_logger = logging.getLogger(__name__)


class Turn:
    """One turn, run once."""

    def __init__(
        self,
        parts: EngineParts,
        start: StartTurn,
        begin: Callable[[StartTurn], None],
        preview: Callable[[StartTurn], ConversationState],
        wait_for_earlier: Callable[[int], Awaitable[None]],
    ) -> None:
        """Prepare; ``run`` does it.

        Args:
            parts: The engine of the call.
            start: What the floor said.
            begin: Records that the turn began.
            preview: The state as it would be if it began now.
            wait_for_earlier: Waits until what earlier turns left behind lets this one go on.
        """
        self._parts = parts
        self._desk = parts.desk
        self._begin = begin
        self._preview = preview
        self._wait_for_earlier = wait_for_earlier
        self._begun = False
        self._confirmed = asyncio.Event()
        self._certain = start.certain
        self._other_words = False
        self.scope = TurnScope(start)
        self._asking = Asking(self._desk, self.scope, self._build, self)

    @property
    def is_begun(self) -> bool:
        """Whether it is part of the conversation; an uncertain turn is not."""
        return self._begun

    def confirm(self, input: Input) -> None:
        """The caller is done indeed: with these words."""
        was = self.scope.start.input
        self._other_words = was is None or was.text != input.text
        self.scope.start = replace(self.scope.start, input=input, certain=True)
        self._certain = True
        self._note_stale()
        self.begin()
        self._confirmed.set()

    def begin(self) -> None:
        """Make it part of the conversation, once: at its start, or where it is confirmed.

        Not left to its task, which never runs if it is cancelled in the same moment: the caller's
        words would be lost.
        """
        if not self._begun:
            self._begun = True
            self._begin(self.scope.start)

    # -- Certainty, for ``asking``

    @property
    def is_open(self) -> bool:
        """Not confirmed yet, or confirmed with other words than the model was asked with."""
        return not self._begun or self._other_words

    async def wait(self) -> None:
        """Wait for the confirmation."""
        if not self._certain:
            await self._confirmed.wait()
        if self._other_words:
            raise Superseded

    def start_over(self) -> None:
        """The next request is made with the other words."""
        self._other_words = False

    # -- the turn

    async def run(self) -> TurnOutcome:
        """Do the turn; whatever goes wrong in it is answered for."""
        try:
            return await self._run()
        except (Exception, asyncio.CancelledError) as error:
            raise_if_cancelled()
            _logger.error("a turn failed", extra={"error": type(error).__name__}, exc_info=_debug())
            if not self._certain:
                await self._confirmed.wait()
            return await self._apologize()

    async def _run(self) -> TurnOutcome:
        scope = self.scope
        match scope.start.cause:
            case "opened":
                return await self._open()
            case "silence":
                return await self._check_in()
            case "input" | "asked":
                await self._wait_for_earlier(scope.turn)
                if scope.start.reopens is not None and not self._certain:
                    # Where it stands is known once the turn before is taken back.
                    await self._confirmed.wait()
                    self._other_words = False
                self._note_stale()
                if self._begun:
                    self._start_session()
                if self._begun and not await take_input(self._parts, scope):
                    return "done"
                return await self._answer()

    async def _open(self) -> TurnOutcome:
        for name in _GREETINGS:
            await self._parts.responses.give(self.scope, name)
        self._start_session()
        move = await self._parts.steps.advance(self.scope)
        if move is Move.MODEL and self._desk.skill == _SESSION_START:
            return await self._answer()  # a session start written for the model: it speaks first
        return "done"

    def _note_stale(self) -> None:
        """Whether the caller spoke before they had heard what a held call asks them.

        Also for a turn that is uncertain, and again for the words that confirm it.
        """
        confirming, scope = self._parts.steps.confirming, self.scope
        held = confirming.held
        can_answer = held is not None and confirming.may_be_answered(scope.input)
        scope.answerable = (
            frozenset({held.call_id}) if held is not None and can_answer else frozenset()
        )

    def _start_session(self) -> None:
        """Run the skill that begins a conversation, with its first turn, whatever that is."""
        skill = self._desk.project.skills.get(_SESSION_START)
        if skill is not None and not skill.disabled and not self._desk.state.dialogue.last_frame:
            self._parts.steps.run_engine_skill(self.scope, skill, {})

    async def _check_in(self) -> TurnOutcome:
        n = self.scope.start.silence_n
        is_last = n > self._desk.project.settings.silence_check_ins
        skill = self._desk.project.skills.get(_SILENCE_HANG_UP if is_last else _SILENCE)
        self._desk.silence_n = n
        self.scope.only_engine = True
        self.scope.line_kind = "line" if is_last else "check_in"
        if skill is not None and not skill.disabled:
            self._parts.steps.run_engine_skill(self.scope, skill, {})
            await self._parts.steps.advance(self.scope)
        if is_last:
            self.scope.hangs_up = True
        return "done"

    async def _apologize(self) -> TurnOutcome:
        self._desk.speech.end_open(self.scope.turn)
        given = None
        try:
            given = await self._parts.responses.give(self.scope, _MODEL_ERROR, kind="apology")
        except Exception as error:  # the way out must not fail as well
            _logger.error("an apology failed", extra={"error": type(error).__name__})
        if given is None:
            self._desk.speech.line(self.scope.turn, "apology", _LAST_RESORT)
        return "failed"

    async def _answer(self) -> TurnOutcome:
        scope = self.scope
        empty = mistakes = repeats = 0
        while scope.round < MOST_ROUNDS:
            if self._desk.is_interrupted(scope.turn):
                return "interrupted"  # the message that says so is on its way
            if self._begun:
                if not scope.round:
                    await self._parts.responses.tell_untold(scope)
                move = await self._parts.steps.advance(scope)
                if move is Move.CALLER:
                    return "done"
                if move is Move.STUCK:
                    # What goes round in a circle would do so in every turn to come.
                    self._parts.stack.cancel(scope.turn)
                    return await self._apologize()
            await self._desk.wait_stored()
            if not scope.round:
                scope.menu = await self._desk.parts.menu.fitting(self._state())
            scope.round += 1
            reply = await self._asking.ask()
            if reply.failed:
                return await self._apologize()
            match await self._make_calls(reply):
                case RoundOutcome.ENDS_TURN:
                    if scope.hangs_up and not scope.said:
                        await self._parts.responses.give(scope, "utter_hangup_goodbye")
                    return "done"
                case RoundOutcome.MISTAKEN:
                    mistakes += 1
                case RoundOutcome.REPEATED:
                    repeats += 1
                case RoundOutcome.NOTHING_ASKED if reply.text is None:
                    empty += self._note_empty()
                case RoundOutcome.GO_ON | RoundOutcome.ANSWERED | RoundOutcome.NOTHING_ASKED:
                    empty = 0
            if repeats > 1 and scope.said:
                return "done"  # what the caller agreed to is done, and they know
            if empty > 1:
                if not scope.has_input:
                    return "empty"  # nobody waits for an answer
                await self._apologize()
                return "empty"
            if mistakes > 1 or repeats > 1:
                return await self._apologize()
        return await self._apologize()

    async def _make_calls(self, reply: Reply) -> RoundOutcome:
        scope = self.scope
        scope.note = ""
        scope.owes_reply = False
        outcome = await self._parts.calls.run(
            scope, reply.moment, reply.calls, reply.cut_off, beside_text=reply.text is not None
        )
        answered = outcome in (RoundOutcome.NOTHING_ASKED, RoundOutcome.ANSWERED)
        if reply.text is not None and answered:
            self._parts.steps.replied(scope, reply.text.say, reply.text.text)
        return outcome

    def _note_empty(self) -> int:
        """An empty reply is fine where the engine has something to say; else it is told."""
        if self.scope.said or self._parts.steps.has_own_line:
            self._parts.steps.note_reply(self.scope)
            return 0
        self.scope.note = _EMPTY_NOTE
        self.scope.owes_reply = True
        return 1

    # -- requests

    def _build(self) -> tuple[Moment, ChatRequest]:
        scope = self.scope
        moment = self._moment()
        scope.asked_in.add(self._desk.top_id)
        return moment, build_request(self._desk, moment, scope, self._state())

    def _state(self) -> ConversationState:
        """The conversation with this turn begun."""
        return self._desk.state if self._begun else self._preview(self.scope.start)

    def _moment(self) -> Moment:
        parts = self._parts
        return moment_of(
            self._desk, parts.stack, parts.steps.confirming, parts.responses, self.scope
        )


def _debug() -> bool:
    return _logger.isEnabledFor(logging.DEBUG)
