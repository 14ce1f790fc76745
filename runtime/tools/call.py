"""One running call of a tool: its ledger, and what its context stands on.

Owns the facts about a call between its start and its end. What decides on them (cancelling, timing
out, settling) is ``runner``; what the call reaches outside of itself comes through ``ToolHost``.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Protocol

from runtime.agent import Json
from runtime.conversation.events import Event, Fact, ToolOutcome
from runtime.tools.buttons import Button
from runtime.tools.context import MemorySlice, ToolModelContext
from runtime.tools.definition import ToolDef

__all__ = ["RunningCall", "ToolHost"]


class ToolHost(Protocol):
    """What calls need of the conversation they run in."""

    def record(self, turn: int, fact: Fact) -> None:
        """Append a fact to the conversation."""
        ...

    def is_interrupted(self, turn: int) -> bool:
        """Whether the floor took this turn back, as of this very moment, or the call is over."""
        ...

    def memory_of(self, call: "RunningCall") -> MemorySlice:
        """Memory as this call sees it."""
        ...

    def model_context(self) -> ToolModelContext:
        """The project's model settings."""
        ...

    def events(self) -> Sequence[Event]:
        """The conversation so far."""
        ...

    async def send(self, call: "RunningCall", text: str) -> None:
        """Queue a tool's message, or drop it and record that."""
        ...

    def set_buttons(self, call: "RunningCall", buttons: Sequence[Button]) -> None:
        """Take the buttons of a response's source; ``RuntimeError`` in any other call."""
        ...

    def hang_up(self, turn: int) -> None:
        """End the call once what is being said has been heard."""
        ...

    def calls_changed(self, turn: int) -> None:
        """The set of open calls of a turn is another one now."""
        ...

    def now(self) -> datetime:
        """The present moment of the call, UTC."""
        ...


class RunningCall:
    """A call from its start on; implements ``runtime.tools.context.ToolBacking``."""

    def __init__(
        self,
        host: ToolHost,
        definition: ToolDef,
        *,
        call_id: int,
        turn: int,
        arguments: dict[str, Json],
        canonical: str,
        key: str,
        timeout_s: float,
        left_commit: Callable[["RunningCall"], None],
    ) -> None:
        """Begin the ledger; the runner starts the task and is told when a commit was left."""
        self._host = host
        self._left_commit = left_commit
        self._outside = asyncio.Event()
        self._outside.set()
        self.definition = definition
        self.call_id = call_id
        self.turn = turn
        self.arguments = arguments
        self.canonical = canonical
        self.key = key
        self.timeout_s = timeout_s
        self.started_s = 0.0
        """Loop time."""
        self.task: asyncio.Task[Any] | None = None
        self.outcome: ToolOutcome | None = None
        self.settled = asyncio.Event()
        self.open_commits = 0
        self.commits = 0
        """Commit sections entered so far: from the first on, an effect may stand."""
        self.cancel_wanted = False
        self.cancel_delivered = False
        self.expired = False
        self.drops = 0
        """Messages of it that were not queued."""
        self.timers: list[asyncio.TimerHandle] = []

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.definition.name

    @property
    def finishes(self) -> bool:
        """Whether an interruption lets it run to its end."""
        return self.definition.on_interrupt == "finish"

    # -- ToolBacking

    @property
    def memory(self) -> MemorySlice:
        """Memory as this call sees it."""
        return self._host.memory_of(self)

    @property
    def is_cancelled(self) -> bool:
        """Whether the turn was interrupted or this call's time is over."""
        return self.cancel_wanted or self.expired or self._host.is_interrupted(self.turn)

    @property
    def idempotency_key(self) -> str:
        """The key of the wish behind this call."""
        return self.key

    @property
    def model(self) -> ToolModelContext:
        """The project's model settings."""
        return self._host.model_context()

    @property
    def now(self) -> datetime:
        """The present moment of the call."""
        return self._host.now()

    def events(self) -> Sequence[Event]:
        """The conversation so far."""
        return self._host.events()

    async def send(self, text: str) -> None:
        """Queue a message; the pause is a place where a cancellation can reach the tool."""
        await self._host.send(self, text)
        await asyncio.sleep(0)

    def set_buttons(self, buttons: Sequence[Button]) -> None:
        """Take the buttons of the response that asked for them."""
        self._host.set_buttons(self, buttons)

    def hang_up(self) -> None:
        """Ask for the end of the call; one that was given up has no say in it any more."""
        if self.outcome is None:
            self._host.hang_up(self.turn)

    def enter_commit(self) -> None:
        """Begin a commit section, unless the caller has already said no."""
        if self.expired or (self.is_cancelled and not self.finishes):
            raise asyncio.CancelledError
        self.open_commits += 1
        self.commits += 1
        self._outside.clear()

    def leave_commit(self) -> None:
        """End a commit section; a cancellation that waited comes once the tool awaits again."""
        self.open_commits -= 1
        if self.open_commits == 0:
            self._outside.set()
            # Not at once: a tool that returns straight from the section has returned normally.
            asyncio.get_running_loop().call_soon(self._left_commit, self)

    # -- waiting

    async def wait_released(self) -> None:
        """Wait until later turns need not wait for this call any more."""
        if self.finishes:
            await self._outside.wait()
        else:
            await self.settled.wait()

    def settle(self, outcome: ToolOutcome) -> None:
        """Write the outcome into the ledger and wake whoever waits; called once, by the runner."""
        self.outcome = outcome
        self.drop_timers()
        self.settled.set()
        self._outside.set()

    def drop_timers(self) -> None:
        """Disarm what would end this call by the clock."""
        for timer in self.timers:
            timer.cancel()
        self.timers.clear()
