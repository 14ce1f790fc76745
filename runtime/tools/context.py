"""What a running tool may touch: the caller's ear, memory, its own cancellation.

Owns the face that authors see. What stands behind it (the outbox, the conversation, the runner's
ledger of this call) comes in through ``ToolBacking``; the engine provides it in a call, the harness
of ``runtime.testing`` in an author's tests.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from runtime.agent import Json
from runtime.tools.buttons import Button

if TYPE_CHECKING:
    from runtime.conversation.events import Event

__all__ = ["MemorySlice", "ToolBacking", "ToolContext", "ToolModelContext"]

_NO_CONFIG: Mapping[str, Json] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ToolModelContext:
    """The project's model settings, fixed for the loaded model."""

    llm_config: Mapping[str, Json] = field(default_factory=lambda: _NO_CONFIG)
    """Read-only down to the last level: maps are mapping proxies, lists are tuples."""
    references_index: object | None = None
    """None when the project ships no reference files."""

    def __post_init__(self) -> None:
        """Copy the settings into a form that nothing can write to."""
        object.__setattr__(self, "llm_config", _frozen(self.llm_config))


def _frozen(value: object) -> object:
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value).items()
        return MappingProxyType({name: _frozen(item) for name, item in entries})
    if isinstance(value, list | tuple):
        return tuple(_frozen(item) for item in cast("Sequence[object]", value))
    return value


@runtime_checkable
class MemorySlice(Protocol):
    """The memory that a tool can read and write."""

    def get(self, name: str, default: Any = None, /) -> Any:
        """Return a value, or ``default`` when it is unset, ``None`` or not readable."""
        ...

    def set(self, name: str, value: Any, /) -> None:
        """Write a value through at once.

        Raises:
            MemoryWriteError: the name is not declared, not writable here, or the value does not
                fit its type.
            ProjectMemoryAlreadySetError: the project field was set before.
        """
        ...


class ToolBacking(Protocol):
    """What a tool's context stands on: one object per call of a tool."""

    @property
    def memory(self) -> MemorySlice:
        """Memory as this call sees it."""
        ...

    @property
    def is_cancelled(self) -> bool:
        """Whether the turn was interrupted or this call's time is over."""
        ...

    @property
    def idempotency_key(self) -> str:
        """The key of the wish behind this call."""
        ...

    @property
    def model(self) -> ToolModelContext:
        """The project's model settings."""
        ...

    @property
    def now(self) -> datetime:
        """The present moment of the call."""
        ...

    def events(self) -> Sequence["Event"]:
        """The conversation so far."""
        ...

    async def send(self, text: str) -> None:
        """Queue a message to the caller, or drop it if the turn was interrupted."""
        ...

    def set_buttons(self, buttons: Sequence[Button]) -> None:
        """Take the buttons of a response in place of earlier ones.

        Raises:
            RuntimeError: the call was not made to fill a response's buttons.
        """
        ...

    def hang_up(self) -> None:
        """Ask for the end of the call."""
        ...

    def enter_commit(self) -> None:
        """Begin a stretch in which the cancellation waits."""
        ...

    def leave_commit(self) -> None:
        """End it; a cancellation that waited is delivered at the next ``await``."""
        ...


class _Memory:
    """The slice as authors have it: two methods, and nothing of what is behind it to hold on to."""

    __slots__ = ("_slice",)

    def __init__(self, inner: MemorySlice) -> None:
        self._slice = inner

    def get(self, name: str, default: Any = None) -> Any:
        """Return a value, or ``default`` when it is unset, ``None`` or not readable."""
        return self._slice.get(name, default)

    def set(self, name: str, value: Any) -> None:
        """Write a value through at once; see ``MemorySlice.set`` for what it raises."""
        self._slice.set(name, value)


def _checked(button: object) -> Button:
    if not isinstance(button, Button):
        raise TypeError(f"set_buttons takes Buttons, not {type(button).__name__}")
    texts = (button.title, button.value, button.ref or "")
    if not all(isinstance(cast("object", text), str) for text in texts):
        raise TypeError("a Button's title, value and ref are texts")
    return button


class ToolContext:
    """One per call of a tool, injected as ``context=``."""

    __slots__ = ("_backing",)

    def __init__(self, backing: ToolBacking) -> None:
        """Made by the runtime; tests make one with ``runtime.testing``."""
        self._backing = backing

    @property
    def memory(self) -> MemorySlice:
        """Scoped read and write access to memory."""
        return _Memory(self._backing.memory)

    @property
    def is_cancelled(self) -> bool:
        """True from the moment the interruption is accepted, also for a tool that blocks.

        Check it right before anything that can't be taken back.
        """
        return self._backing.is_cancelled

    @property
    def idempotency_key(self) -> str:
        """The same string each time the same unfinished wish is tried again: 32 hex digits.

        Send it to the backend, so that a call repeated after a cancellation, a timeout or a restart
        is done once.
        """
        return self._backing.idempotency_key

    @property
    def events(self) -> list["Event"]:
        """The conversation's typed events: a fresh list each time."""
        return list(self._backing.events())

    @property
    def model(self) -> ToolModelContext:
        """The project's model settings; read-only."""
        return self._backing.model

    @property
    def now(self) -> datetime:
        """The present moment, UTC: in replays and scenarios the call's, not the machine's."""
        return self._backing.now

    async def send(self, text: str) -> None:
        """Speak to the caller at once, past the model.

        Returns when the message is queued, not when it was heard. Once the turn was interrupted,
        messages are dropped, silently for the tool.
        """
        await self._backing.send(text)

    def set_buttons(self, buttons: Sequence[Button]) -> None:
        """Attach buttons to the response that asked this tool for them; a second list replaces.

        Raises:
            TypeError: something in it is no ``Button``, or a part of one is no text.
            RuntimeError: this call was not made to fill a response's buttons.
        """
        self._backing.set_buttons(tuple(_checked(button) for button in buttons))

    def hang_up(self) -> None:
        """End the call once what is being said has been heard; returns at once, never waits."""
        self._backing.hang_up()

    @asynccontextmanager
    async def committing(self) -> AsyncGenerator[None, None]:
        """Hold the cancellation back while the block runs: put the side effect in it.

        The caller's interruption stops the sound all the same. The block is bounded by the tool's
        timeout; a timeout inside it settles the call as ``unknown``.

        Raises:
            asyncio.CancelledError: the interruption was accepted before the block began.
        """
        self._backing.enter_commit()
        try:
            yield
        finally:
            self._backing.leave_commit()
