"""Tries a group's models in order.

Owns the rule when the next one is tried: the one before failed ahead of its first text or call, so
that the caller never hears two beginnings. Building the models is ``factory``.
"""

import logging
from collections.abc import AsyncIterator, Sequence

from runtime.errors import ProviderError
from runtime.models.ports import ChatModel, ChatRequest, ModelEvent
from runtime.tasks import closing_stream

__all__ = ["FallbackModel"]

_logger = logging.getLogger(__name__)


class FallbackModel(ChatModel):
    """Several models that look like one."""

    def __init__(self, models: Sequence[ChatModel]) -> None:
        """Try ``models`` in this order; at least one."""
        if not models:
            raise ValueError("a group needs at least one model")
        self._models = tuple(models)

    async def stream(self, request: ChatRequest) -> AsyncIterator[ModelEvent]:
        """Stream from the first model that answers.

        Raises:
            ProviderError: of the model that failed last, or after it had begun to answer.
        """
        for position, model in enumerate(self._models):
            begun = False
            try:
                async with closing_stream(model.stream(request)) as stream:
                    async for event in stream:
                        begun = True
                        yield event
                return
            except ProviderError as error:
                if begun or position == len(self._models) - 1:
                    raise
                _logger.warning(
                    "a model failed before it answered; the next of its group is tried",
                    extra={"position": position, "retryable": error.retryable},
                )

    async def aclose(self) -> None:
        """Close all models."""
        for model in self._models:
            await model.aclose()
