"""One turn of the agent: its fixed lines, or rounds of model and tools until the model is done.

Theory of operation. A turn that needs no model says its lines. Any other one first waits for what
earlier turns left behind (``TurnHost.wait_for_earlier``), then goes round: ask the model, streaming
its text to the caller as it comes; run the calls it asked for, all at once; ask again with their
results. It ends when a reply asks for nothing, and always with something said: a model that fails,
writes nothing twice, asks for impossible calls twice or never comes to an end is answered for with
the project's own line. An uncertain turn (the caller may go on) asks the model, but takes nothing
of what it answers before it is confirmed.

Owns the order of things in a turn. It is cancelled by its session when the caller interrupts; the
one check of its own is before each round, so that no model is asked for a turn that is over.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from runtime.agent import Input, StartTurn, TurnOutcome
from runtime.conversation.events import ModelCalled
from runtime.engine.calls import MOST_CALLS, Calls, RoundOutcome
from runtime.engine.speech import OpenSay, Speech
from runtime.models.ports import (
    CallAsked,
    CallCutOff,
    ChatModel,
    ChatRequest,
    Finished,
    ModelEvent,
    RequestedCall,
    TextDelta,
)
from runtime.project.model import Project
from runtime.tasks import closing_stream, raise_if_cancelled

__all__ = [
    "FIRST_TOKEN_S",
    "MOST_REPLY_CHARS",
    "MOST_ROUNDS",
    "NEXT_TOKEN_S",
    "Turn",
    "TurnHost",
]

MOST_ROUNDS = 20
MOST_REPLY_CHARS = 20_000
"""Where the reply of a model that does not stop is ended: over twenty minutes of speech."""
FIRST_TOKEN_S = 20.0
"""How long a model may think before it counts as failed."""
NEXT_TOKEN_S = 15.0
"""How long a model may stop in the middle of a reply."""

_EMPTY_NOTE = "Your last reply was empty. Answer the caller, or use a tool."

_logger = logging.getLogger(__name__)


class TurnHost(Protocol):
    """What a turn needs of its session."""

    @property
    def project(self) -> Project:
        """The agent."""
        ...

    @property
    def speech(self) -> Speech:
        """The way to the caller's ear."""
        ...

    @property
    def models(self) -> Sequence[tuple[str, ChatModel]]:
        """The model group, named, in the order it is tried."""
        ...

    def begin(self, start: StartTurn) -> None:
        """Record that the turn began."""
        ...

    def request(self, start: StartTurn, *, begun: bool, note: str) -> ChatRequest:
        """Build the request from live state (for a turn not yet begun: as if it were)."""
        ...

    async def wait_for_earlier(self, turn: int) -> None:
        """Wait until the calls that earlier turns left behind let this one go on."""
        ...

    def is_interrupted(self, turn: int) -> bool:
        """Whether the floor took this turn back, as of this very moment."""
        ...

    async def wait_stored(self) -> None:
        """Wait until the outcomes of commits are stored, within a bound."""
        ...

    def record_model(self, turn: int, fact: ModelCalled) -> None:
        """Record how a request to a model ended."""
        ...

    def hang_up(self, turn: int) -> None:
        """End the call once what is being said has been heard."""
        ...


@dataclass(slots=True)
class _Reply:
    """What a model answered in one round."""

    text: OpenSay | None = None
    calls: list[RequestedCall] = field(default_factory=list[RequestedCall])
    cut_off: list[str] = field(default_factory=list[str])
    """Names of calls whose arguments ended too early."""
    failed: bool = False

    @property
    def began(self) -> bool:
        """Whether anything of it was taken."""
        return self.text is not None or bool(self.calls) or bool(self.cut_off)

    @property
    def is_endless(self) -> bool:
        """Whether it is longer than any sane reply."""
        chars = len(self.text.text) if self.text is not None else 0
        return chars > MOST_REPLY_CHARS or len(self.calls) + len(self.cut_off) > MOST_CALLS


class _Superseded(Exception):
    """An uncertain turn was confirmed with other words: what the model says is for nothing."""


class Turn:
    """One turn, run once."""

    def __init__(self, host: TurnHost, calls: Calls, start: StartTurn) -> None:
        """Prepare; ``run`` does it."""
        self._host = host
        self._calls = calls
        self._start = start
        self._begun = False
        self._confirmed = asyncio.Event()
        self._certain = start.certain
        self._other_words = False
        self._model = 0

    @property
    def is_begun(self) -> bool:
        """Whether it is part of the conversation; an uncertain turn is not."""
        return self._begun

    def confirm(self, input: Input) -> None:
        """The caller is done indeed: with these words."""
        was = self._start.input
        self._other_words = was is None or was.text != input.text
        self._start = replace(self._start, input=input, certain=True)
        self._certain = True
        self.begin()
        self._confirmed.set()

    def begin(self) -> None:
        """Make it part of the conversation, once: at its start, or where it is confirmed.

        Not left to its task, which never runs if it is cancelled in the same moment: the caller's
        words would be lost.
        """
        if not self._begun:
            self._begun = True
            self._host.begin(self._start)

    async def run(self) -> TurnOutcome:
        """Do the turn; whatever goes wrong in it is answered for."""
        try:
            return await self._run()
        except (Exception, asyncio.CancelledError) as error:
            raise_if_cancelled()
            _logger.error("a turn failed", extra={"error": type(error).__name__})
            if not self._certain:
                await self._confirmed.wait()
            return self._apologize()

    async def _run(self) -> TurnOutcome:
        match self._start.cause:
            case "opened":
                for greeting in self._host.project.greetings:
                    self._line(greeting.text, interruptible=greeting.interruptible)
                return "done"
            case "silence":
                return self._check_in()
            case "input" | "asked":
                return await self._answer()

    # -- lines

    def _line(self, text: str, *, interruptible: bool = True) -> None:
        self._host.speech.line(self._start.turn, "line", text, interruptible=interruptible)

    def _check_in(self) -> TurnOutcome:
        project, n = self._host.project, self._start.silence_n
        if n <= project.settings.silence_check_ins and project.check_ins:
            text = project.check_ins[min(n, len(project.check_ins)) - 1]
            self._host.speech.line(self._start.turn, "check_in", text)
        else:
            self._line(project.goodbye)
            self._host.hang_up(self._start.turn)
        return "done"

    def _apologize(self) -> TurnOutcome:
        self._host.speech.end_open(self._start.turn)
        self._host.speech.line(self._start.turn, "apology", self._host.project.model_error)
        return "failed"

    # -- rounds of model and tools

    async def _answer(self) -> TurnOutcome:
        await self._host.wait_for_earlier(self._start.turn)
        empty = mistakes = 0
        for number in range(1, MOST_ROUNDS + 1):
            if self._host.is_interrupted(self._start.turn):
                return "interrupted"  # the message that says so is on its way
            await self._host.wait_stored()
            reply = await self._ask(number, _EMPTY_NOTE if empty else "")
            if reply.failed:
                return self._apologize()
            outcome = await self._calls.run(
                self._start.turn,
                number,
                reply.calls,
                reply.cut_off,
                said_something=reply.text is not None,
            )
            match outcome:
                case RoundOutcome.NOTHING_ASKED if reply.text is not None:
                    return "done"
                case RoundOutcome.NOTHING_ASKED:
                    empty += 1
                case RoundOutcome.ENDS_TURN:
                    return "done"
                case RoundOutcome.MISTAKEN:
                    mistakes += 1
                case RoundOutcome.GO_ON:
                    empty = 0
            if empty > 1:
                self._apologize()
                return "empty"
            if mistakes > 1:
                return self._apologize()
        return self._apologize()

    async def _ask(self, number: int, note: str) -> _Reply:
        """Ask the models in their order until one answers."""
        while True:
            try:
                return await self._ask_group(number, note)
            except _Superseded:
                self._other_words = False

    async def _ask_group(self, number: int, note: str) -> _Reply:
        reply = _Reply(failed=True)
        for index in range(self._model, len(self._host.models)):
            reply = await self._ask_model(number, note, *self._host.models[index])
            if not reply.failed or reply.began:
                break
            self._model = min(index + 1, len(self._host.models) - 1)
        await self._wait_confirmed()
        self._close_text(reply)
        return reply

    def _close_text(self, reply: _Reply) -> None:
        if reply.text is not None:
            reply.text.end("beside_tool" if reply.calls or reply.cut_off else None)

    async def _ask_model(self, number: int, note: str, name: str, model: ChatModel) -> _Reply:
        loop = asyncio.get_running_loop()
        reply = _Reply()
        began, first_s = loop.time(), None
        outcome: Literal["ok", "failed", "closed"] = "closed"
        try:
            request = self._host.request(self._start, begun=self._begun, note=note)
            async with closing_stream(model.stream(request)) as stream:
                async with asyncio.timeout(FIRST_TOKEN_S) as bound:
                    async for event in stream:
                        first_s = loop.time() - began if first_s is None else first_s
                        if not self._begun or self._other_words:
                            bound.reschedule(None)
                            await self._wait_confirmed()
                        bound.reschedule(loop.time() + NEXT_TOKEN_S)
                        self._take(event, reply, number)
                        if reply.is_endless:
                            break
            outcome = "ok"
        except _Superseded:
            raise
        except (Exception, asyncio.CancelledError) as error:
            raise_if_cancelled()
            # A cancellation that nobody asked of this turn is a fault of the model's library.
            outcome = "failed"
            _logger.warning("a model failed", extra={"model": name, "error": type(error).__name__})
            reply.failed = True
        finally:
            took_ms = round((loop.time() - began) * 1000)
            first_ms = None if first_s is None else round(first_s * 1000)
            fact = ModelCalled(name, number, outcome, first_ms, took_ms)
            self._host.record_model(self._start.turn, fact)
        return reply

    async def _wait_confirmed(self) -> None:
        if not self._certain:
            await self._confirmed.wait()
        if self._other_words:
            raise _Superseded

    def _take(self, event: ModelEvent, reply: _Reply, number: int) -> None:
        match event:
            case TextDelta(text):
                if reply.text is None:
                    text = text.lstrip()
                    if not text:
                        return
                    kind = "beside_tool" if reply.calls else "reply"
                    reply.text = self._host.speech.open(self._start.turn, kind, round=number)
                reply.text.write(text)
            case CallAsked(call):
                reply.calls.append(call)
            case CallCutOff(name):
                reply.cut_off.append(name)
            case Finished():
                pass  # the stream ends by itself
