"""The agent plane inside an event loop: one session per call, the models and the store they share.

Owns the delivery of the door's messages in order (``loop.call_soon``, so that neither side is ever
called inside of the other), the sessions' tasks, and the conversations in use. In tests and replays
this is the whole agent plane; live it runs inside the child process of ``runtime.process``.
"""

import asyncio
import logging
import traceback
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from runtime.agent import (
    AgentPlane,
    CallRefused,
    CloseCall,
    FromRuntime,
    Json,
    OpenCall,
    ToRuntime,
)
from runtime.conversation.state import ConversationState
from runtime.engine.desk import SessionParts
from runtime.engine.menu import Menu
from runtime.engine.record import ConversationRecord
from runtime.engine.search import Search
from runtime.engine.session import Session
from runtime.interrupted_through import InterruptedThrough
from runtime.models.ports import ChatModel, ChatRequest
from runtime.project.model import Project
from runtime.store.memory_store import MemoryStore
from runtime.store.ports import EventStore
from runtime.store.write_behind import WriteBehind
from runtime.tasks import cancel_and_settle, run_bounded

__all__ = ["InLoopAgent"]

LOAD_BOUND_S = 3.0
_SETTLE_S = 5.0
"""Over the longest timeout of a tool: what it may take to settle a call."""
_CLOSE_S = 5.0
"""What the store, and each model, may take to close."""
_BACKLOG = 1000
"""Messages of one call that wait while its conversation is loaded."""

_logger = logging.getLogger(__name__)


class InLoopAgent(AgentPlane):
    """The agent plane in this loop."""

    def __init__(
        self,
        project: Project,
        *,
        models: Iterable[ChatModel],
        store: EventStore | None = None,
        slots: InterruptedThrough | None = None,
        first_id: int = 1,
        new_conversation: Callable[[OpenCall], str] | None = None,
        keep_prompts: Callable[[int, int, ChatRequest], None] | None = None,
        setup: tuple[tuple[str, str, Json], ...] = (),
    ) -> None:
        """Prepare; the first message starts it.

        Args:
            project: The agent.
            models: The model group, in the order it is tried.
            store: Where conversations are kept; None = in memory. Closed with this.
            slots: The table shared with the voice plane; None = one of its own.
            first_id: Says and calls of tools are numbered from here on.
            new_conversation: Names a new conversation; None = at random.
            keep_prompts: Is shown each request to the model: (turn, round, request).
            setup: (namespace, name, value) that every new conversation begins with.
        """
        specs = [spec.model or spec.provider for spec in project.model_group]
        named = [
            (specs[i] if i < len(specs) else f"model {i + 1}", model)
            for i, model in enumerate(models)
        ]
        self._slots = slots or InterruptedThrough()
        self._journal = WriteBehind(store or MemoryStore())
        self._parts = SessionParts(
            project=project,
            models=tuple(named),
            journal=self._journal,
            search=Search.of(project),
            menu=Menu(project),
            interrupted_through=self._slots.read,
            first_id=first_id,
            keep_prompts=keep_prompts,
            setup=setup,
        )
        self._new_conversation = new_conversation or _at_random
        self._calls: dict[int, _CallSlot] = {}
        self._conversations: dict[str, _Conversation] = {}
        self._serving: set[asyncio.Task[None]] = set()
        self._leaving: set[asyncio.Task[Any]] = set()
        self._closed = False

    # -- AgentPlane

    def attach(self, call: int, sink: Callable[[FromRuntime], None]) -> int:
        """Route this call's messages to ``sink`` and return its slot in the shared table.

        Raises:
            RuntimeError: the call is attached already, or every slot is taken.
        """
        if call in self._calls:
            raise RuntimeError("the call is attached already")
        slot = self._slots.take()
        self._calls[call] = _CallSlot(call, slot, sink, owns_slot=True)
        return slot

    def attach_at(self, call: int, sink: Callable[[FromRuntime], None], slot: int) -> None:
        """Route the messages of a call whose slot the other process has taken.

        Raises:
            RuntimeError: the call is attached already.
        """
        if call in self._calls:
            raise RuntimeError("the call is attached already")
        self._calls[call] = _CallSlot(call, slot, sink, owns_slot=False)

    def send(self, message: ToRuntime) -> None:
        """Post a message; an interruption is in the shared table before this returns."""
        entry = self._calls.get(message.call)
        if entry is None or self._closed:
            _logger.debug("a message for a call that is not attached was dropped")
            return
        if entry.owns_slot:
            self._slots.raise_interrupted(entry.slot, message)
        self._loop().call_soon(self._receive, entry, message)

    def detach(self, call: int) -> None:
        """Forget the call's sink; what it started settles by itself. Idempotent."""
        entry = self._calls.pop(call, None)
        if entry is not None:
            entry.sink = None
            if entry.owns_slot:
                self._slots.give_back(entry.slot)
            self._loop().call_soon(self._receive, entry, CloseCall(call, "lost", 0))

    async def aclose(self) -> None:
        """Close every call, let what it started settle, store the rest; bounded, idempotent."""
        if self._closed:
            return
        self._closed = True
        for entry in list(self._calls.values()):
            self._receive(entry, CloseCall(entry.call, "drain", 0))
        if self._serving:
            await asyncio.wait(self._serving, timeout=self._longest_tool_s + _SETTLE_S)
        await cancel_and_settle(*self._serving, *self._leaving)
        await _close_quietly("the store", self._journal.aclose(_CLOSE_S))
        await _close_quietly("the search", self._parts.search.aclose())
        await _close_quietly("the menu", self._parts.menu.aclose())
        for _, model in self._parts.models:
            await _close_quietly("a model", model.aclose())

    @property
    def closing_bound_s(self) -> float:
        """How long closing may take: what tools may take to end, and the store to write that."""
        return self._longest_tool_s + _SETTLE_S + 3 * _CLOSE_S

    @property
    def _longest_tool_s(self) -> float:
        project = self._parts.project
        tools = (tool for skill in project.skills.values() for tool in skill.tools.values())
        return max(project.tool_timeout_s, *(tool.timeout_s or 0.0 for tool in tools), 0.0)

    # -- delivery

    def _loop(self) -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    def _receive(self, entry: "_CallSlot", message: ToRuntime) -> None:
        if isinstance(message, OpenCall):
            if not entry.opened and not self._closed:
                entry.opened = True
                self._journal.start()
                name = f"call {message.call}"
                task = self._loop().create_task(self._serve(entry, message), name=name)
                self._serving.add(task)
                task.add_done_callback(self._serving.discard)
        elif entry.session is not None:
            self._handle(entry.session, message)
        elif entry.opened and len(entry.backlog) < _BACKLOG:
            entry.backlog.append(message)

    def _handle(self, session: Session, message: ToRuntime) -> None:
        try:
            session.handle(message)
        except Exception as error:
            where = _place_of(error)
            _logger.error(
                "a message was not handled",
                extra={"error": type(error).__name__, "kind": type(message).__name__, **where},
            )

    def _emit(self, entry: "_CallSlot", message: FromRuntime) -> None:
        self._loop().call_soon(self._hand_over, entry, message)

    def _hand_over(self, entry: "_CallSlot", message: FromRuntime) -> None:
        if entry.sink is not None:
            entry.sink(message)

    # -- calls

    async def _serve(self, entry: "_CallSlot", opening: OpenCall) -> None:
        conversation = await self._open_conversation(opening)
        conversation.users += 1
        try:
            session = Session(
                replace(opening, slot=entry.slot),
                conversation.record,
                self._parts,
                lambda message: self._emit(entry, message),
                recover=conversation.loaded,
            )
            conversation.loaded = False
            conversation.session = entry.session = session
            session.open()
            for message in entry.backlog:
                self._handle(session, message)
            entry.backlog.clear()
            self._leave(await session.run(), conversation)
        except Exception as error:
            _logger.error(
                "a call can't be served", extra={"error": type(error).__name__, **_place_of(error)}
            )
            self._emit(entry, CallRefused(opening.call, "internal"))
        finally:
            self._release(conversation)

    async def _open_conversation(self, opening: OpenCall) -> "_Conversation":
        """Take up the conversation that the call names, or begin a new one."""
        wanted = opening.conversation
        if wanted is not None:
            known = self._conversations.get(wanted)
            if known is not None and not known.is_taken:
                return known
            if known is None:
                taken = self._conversations[wanted] = _Conversation(
                    ConversationRecord(wanted, (), self._journal.add)
                )
                taken.loading = True
                try:
                    past = await self._journal.load(wanted, LOAD_BOUND_S)
                    taken.record = ConversationRecord(wanted, past, self._journal.add)
                    taken.loaded = True
                    if not self._has_expired(taken.record.state, opening):
                        return taken
                    del self._conversations[wanted]
                except Exception as error:
                    # Never write into a log that could not be read: the numbers would collide.
                    del self._conversations[wanted]
                    _logger.error(
                        "a conversation can't be loaded; the call begins a new one",
                        extra={"error": type(error).__name__},
                    )
                finally:
                    taken.loading = False
        name = self._new_conversation(opening)
        record = ConversationRecord(name, (), self._journal.add)
        fresh = self._conversations[name] = _Conversation(record)
        return fresh

    def _has_expired(self, state: ConversationState, opening: OpenCall) -> bool:
        """Whether the caller comes back too late to go on with a conversation."""
        limit_ms = self._parts.project.settings.expiration_ms
        if not limit_ms or opening.resumed or state.call is None:
            return False
        last_s = state.call.wall_start + state.at_ms / 1000
        return (opening.wall_start - last_s) * 1000 > limit_ms

    def _leave(self, tasks: set[asyncio.Task[Any]], conversation: "_Conversation") -> None:
        """Keep tools that refused to end until they do, and their conversation with them."""
        for task in tasks:
            self._leaving.add(task)
            conversation.users += 1
            task.add_done_callback(self._leaving.discard)
            task.add_done_callback(lambda _: self._release(conversation))

    def _release(self, conversation: "_Conversation") -> None:
        conversation.users -= 1
        name = conversation.record.conversation
        if conversation.users == 0 and self._conversations.get(name) is conversation:
            del self._conversations[name]


@dataclass(slots=True)
class _CallSlot:
    """An attached call."""

    call: int
    slot: int
    sink: Callable[[FromRuntime], None] | None
    owns_slot: bool
    """False: another process takes, writes and gives back the slot."""
    opened: bool = False
    session: Session | None = None
    backlog: list[ToRuntime] = field(default_factory=list[ToRuntime])
    """Messages that came while the conversation was loaded."""


@dataclass(slots=True)
class _Conversation:
    """A conversation in use by a call, or by what a call left running."""

    record: ConversationRecord
    loaded: bool = False
    """Fresh from the store: what it shows as open is not running any more."""
    loading: bool = False
    session: Session | None = None
    users: int = 0

    @property
    def is_taken(self) -> bool:
        """Whether a call that is not over yet has it."""
        return self.loading or (self.session is not None and not self.session.is_closing)


async def _close_quietly(what: str, closing: Coroutine[Any, Any, None]) -> None:
    """One part that can't be closed keeps no other open."""
    try:
        await run_bounded(closing, 3 * _CLOSE_S)
    except Exception as error:
        _logger.error(
            "a part could not be closed", extra={"part": what, "error": type(error).__name__}
        )


def _at_random(_: OpenCall) -> str:
    return uuid4().hex


def _place_of(error: BaseException) -> dict[str, str]:
    frames = traceback.extract_tb(error.__traceback__)
    return {"where": f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""}
