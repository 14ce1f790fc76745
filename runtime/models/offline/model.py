"""The chat model of a project that has none: it follows the skills by rules, with no network.

Owns the port: a request in, a few pieces of text and calls out. What is decided is ``planner``'s.
"""

import json
import logging
import re
from collections.abc import AsyncIterator, Iterator

from runtime.models.offline.lines import lines_for
from runtime.models.offline.plan import Plan, scene_of
from runtime.models.offline.planner import plan
from runtime.models.ports import (
    CallAsked,
    ChatModel,
    ChatRequest,
    Finished,
    ModelEvent,
    RequestedCall,
    TextDelta,
)
from runtime.models.situation import FlowOption, Situation

__all__ = ["OfflineModel"]

_AFTER_SENTENCE = re.compile(r"(?<=[.!?…])(?=\s)")

_logger = logging.getLogger(__name__)


class OfflineModel(ChatModel):
    """The same request always gets the same answer; it keeps nothing between requests."""

    def __init__(self, language: str = "en") -> None:
        """Load the words of a language ahead of the first caller."""
        flow = FlowOption("any", "Any wish", "Whatever is wanted.")
        situation = Situation(said="I want any wish", language=language, flows=(flow,))
        self.reply(ChatRequest((), situation=situation))

    async def stream(self, request: ChatRequest) -> AsyncIterator[ModelEvent]:
        """Stream the reply sentence by sentence, then its calls; never raises."""
        decided = self.reply(request)
        for piece in _pieces(decided.text):
            yield TextDelta(piece)
        for number, call in enumerate(decided.calls, 1):
            arguments = json.dumps(
                dict(call.arguments), ensure_ascii=False
            )  # what was asked for is first
            name = f"offline_{request.situation.round}_{number}"
            yield CallAsked(RequestedCall(name, call.tool, arguments))
        yield Finished("calls" if decided.calls else "stop")

    def reply(self, request: ChatRequest) -> Plan:
        """Decide on the whole answer; a rule that fails costs an apology, never the call."""
        try:
            return plan(scene_of(request))
        except Exception as error:  # words of a caller may not end their call
            _logger.error("the offline planner failed", extra={"error": type(error).__name__})
            situation = request.situation
            return Plan(lines_for(situation.language).not_caught if situation.said else "")

    async def aclose(self) -> None:
        """There is nothing to release."""


def _pieces(text: str) -> Iterator[str]:
    if text:
        yield from (piece for piece in _AFTER_SENTENCE.split(text) if piece)
