"""Asking the models: in their order, streaming, until one has answered.

Owns one request from its building to the end of its reply, and who is asked next when a model fails
before its first token. An uncertain turn (the caller may go on) asks, but takes nothing of what
comes before it is confirmed; confirmed with other words, it asks anew.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from runtime.conversation.events import ModelCalled
from runtime.engine.desk import Desk
from runtime.engine.moment import Moment
from runtime.engine.scope import TurnScope
from runtime.engine.speech import OpenSay
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
from runtime.tasks import closing_stream, raise_if_cancelled

__all__ = ["FIRST_TOKEN_S", "MOST_REPLY_CHARS", "NEXT_TOKEN_S", "Asking", "Reply"]

MOST_REPLY_CHARS = 20_000
"""Where the reply of a model that does not stop is ended: over twenty minutes of speech."""
MOST_REPLY_CALLS = 32
FIRST_TOKEN_S = 20.0
"""How long a model may think before it counts as failed."""
NEXT_TOKEN_S = 15.0
"""How long a model may stop in the middle of a reply."""

_logger = logging.getLogger(__name__)


class Certainty(Protocol):
    """Whether the caller is done indeed."""

    @property
    def is_open(self) -> bool:
        """The turn is not confirmed yet, or was confirmed with other words."""
        ...

    async def wait(self) -> None:
        """Wait for the confirmation.

        Raises:
            Superseded: it came with other words.
        """
        ...

    def start_over(self) -> None:
        """The next request is made with the other words."""
        ...


class Superseded(Exception):
    """An uncertain turn was confirmed with other words: what the model says is for nothing."""


@dataclass(slots=True)
class Reply:
    """What a model answered in one round."""

    moment: Moment
    """What it was offered."""
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
        return chars > MOST_REPLY_CHARS or len(self.calls) + len(self.cut_off) > MOST_REPLY_CALLS


class Asking:
    """The requests of one turn."""

    def __init__(
        self,
        desk: Desk,
        scope: TurnScope,
        build: Callable[[], tuple[Moment, ChatRequest]],
        certainty: Certainty,
    ) -> None:
        """Ask with what ``build`` makes of the live state."""
        self._desk = desk
        self._scope = scope
        self._build = build
        self._certainty = certainty
        self._model = 0

    async def ask(self) -> Reply:
        """Ask the models in their order until one answers."""
        while True:
            try:
                return await self._ask_group()
            except Superseded:
                self._certainty.start_over()

    async def _ask_group(self) -> Reply:
        models = self._desk.parts.models
        moment, request = self._build()
        reply = Reply(moment, failed=True)
        keep = self._desk.parts.keep_prompts
        if keep is not None:
            keep(self._scope.turn, self._scope.round, request)
        for index in range(self._model, len(models)):
            reply = await self._ask_model(moment, request, *models[index])
            if not reply.failed or reply.began:
                break
            self._model = min(index + 1, len(models) - 1)
        if self._certainty.is_open:
            await self._certainty.wait()
        if reply.text is not None:
            self._scope.said = True
            reply.text.end(
                "beside_tool" if reply.calls or reply.cut_off else None, self._scope.expect
            )
        return reply

    async def _ask_model(
        self, moment: Moment, request: ChatRequest, name: str, model: ChatModel
    ) -> Reply:
        loop = asyncio.get_running_loop()
        reply = Reply(moment)
        began, first_s = loop.time(), None
        outcome: Literal["ok", "failed", "closed"] = "closed"
        try:
            async with closing_stream(model.stream(request)) as stream:
                async with asyncio.timeout(FIRST_TOKEN_S) as bound:
                    async for event in stream:
                        first_s = loop.time() - began if first_s is None else first_s
                        if self._certainty.is_open:
                            bound.reschedule(None)
                            await self._certainty.wait()
                        bound.reschedule(loop.time() + NEXT_TOKEN_S)
                        self._take(event, reply)
                        if reply.is_endless:
                            break
            outcome = "ok"
        except Superseded:
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
            fact = ModelCalled(name, self._scope.round, outcome, first_ms, took_ms)
            self._desk.record(self._scope.turn, fact)
        return reply

    def _take(self, event: ModelEvent, reply: Reply) -> None:
        match event:
            case TextDelta(text):
                if reply.text is None:
                    text = text.lstrip()
                    if not text:
                        return
                    kind = "beside_tool" if reply.calls else "reply"
                    reply.text = self._desk.speech.open(
                        self._scope.turn, kind, round=self._scope.round
                    )
                reply.text.write(text)
            case CallAsked(call):
                reply.calls.append(call)
            case CallCutOff(name):
                reply.cut_off.append(name)
            case Finished():
                pass  # the stream ends by itself
