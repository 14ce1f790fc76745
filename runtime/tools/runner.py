"""Runs authors' tools: each call is a task of its own and reaches exactly one recorded outcome.

Theory of operation. ``start`` checks what must hold at the last moment (the turn is not
interrupted, no equal call runs) and creates the task. The outcome is written by the task's
done-callback, where it happens, before anyone awaits it; awaiting sides only learn that it is
there. ``cancel`` is a request, the outcome is the proof:

- returned, and no cancellation had been delivered → ``ok``, also when it raced an interruption;
- raised → ``failed``; the cancellation was delivered and the task ended in any other way than by an
  error → ``cancelled``, and a value it still returned is discarded;
- over its time → ``timed_out`` at once, by the clock, whatever the task does later;
- cancelled, and not ended within ``GRACE_S`` → ``unknown``, left behind;
- ended by force after it had entered a commit section → ``unknown``: its effect may stand.

What a settled call still does is news (``LateOutcome``), never a second outcome. A cancellation
waits while a commit section is open; the tool's timeout does not.
"""

import asyncio
import json
import logging
import sysconfig
import traceback
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from runtime.agent import Json
from runtime.conversation.events import LateOutcome, ToolOutcome, ToolSettled, ToolStarted
from runtime.conversation.prompt_history import STILL_RUNNING
from runtime.errors import MemoryWriteError, ToolError
from runtime.tools.arguments import canonical_json
from runtime.tools.call import RunningCall, ToolHost
from runtime.tools.context import ToolContext
from runtime.tools.definition import ToolDef
from runtime.tools.result import ToolResult

__all__ = ["GRACE_S", "ToolRunner", "idempotency_key", "refusal"]

GRACE_S = 1.0
"""How long a cancelled tool may clean up."""

MAX_RESULT_CHARS = 100_000
MAX_REASON_CHARS = 2_000
"""Of the text of a ``ToolError``."""

_logger = logging.getLogger(__name__)


class ToolRunner:
    """The calls of one conversation."""

    def __init__(
        self,
        host: ToolHost,
        conversation: str,
        default_timeout_s: float,
        fulfilled: Callable[[str, str], int],
    ) -> None:
        """Run calls for ``host``.

        Args:
            host: The conversation.
            conversation: Its id, part of every idempotency key.
            default_timeout_s: For tools that name none.
            fulfilled: How often a tool with these canonical arguments has settled ``ok``.
        """
        self._host = host
        self._conversation = conversation
        self._default_timeout_s = default_timeout_s
        self._fulfilled = fulfilled
        self._calls: dict[int, RunningCall] = {}
        """Calls whose task has not ended, settled or not."""

    # -- starting

    def start(
        self,
        definition: ToolDef,
        arguments: dict[str, Json],
        *,
        call_id: int,
        turn: int,
        wish: str = "",
    ) -> RunningCall | None:
        """Start a call, or settle it on the spot when it must not run.

        Args:
            definition: The tool.
            arguments: Validated.
            call_id: Number of the call.
            turn: The turn that it belongs to.
            wish: What else tells this wish from an equal one (a step and its visit).

        Returns:
            The running call; None if it was refused (its outcome is recorded).
        """
        canonical = canonical_json(arguments)
        if self._host.is_interrupted(turn):
            self._refuse(call_id, turn, "cancelled", refusal("cancelled", "it never started"))
            return None
        if any(c.name == definition.name and c.canonical == canonical for c in self.open_calls):
            self._refuse(call_id, turn, "failed", STILL_RUNNING)
            return None
        n = self._fulfilled(definition.name, canonical)
        call = RunningCall(
            self._host,
            definition,
            call_id=call_id,
            turn=turn,
            arguments=arguments,
            canonical=canonical,
            key=idempotency_key(self._conversation, definition.name, canonical, n, wish),
            timeout_s=definition.timeout_s or self._default_timeout_s,
            left_commit=self._deliver,
        )
        self._launch(call)
        return call

    def _launch(self, call: RunningCall) -> None:
        # No await below: the record, the ledger and the task must come into being together.
        loop = asyncio.get_running_loop()
        self._host.record(
            call.turn,
            ToolStarted(call.call_id, call.name, call.canonical, call.key, call.finishes),
        )
        self._calls[call.call_id] = call
        # Told before the task exists: a tool that blocks the loop would hold the news up with it.
        self._host.calls_changed(call.turn)
        call.started_s = loop.time()
        call.task = loop.create_task(_run(call), name=f"tool {call.name}")
        call.task.add_done_callback(lambda task: self._ended(call, task))
        call.timers.append(loop.call_later(call.timeout_s, self._expire, call))

    def _refuse(self, call_id: int, turn: int, outcome: ToolOutcome, result: str) -> None:
        self._host.record(turn, ToolSettled(call_id, outcome, result))

    # -- what runs

    @property
    def open_calls(self) -> list[RunningCall]:
        """Calls without an outcome, in the order they started."""
        return [call for call in self._calls.values() if call.outcome is None]

    def open_in(self, turn: int) -> list[RunningCall]:
        """The open calls of one turn."""
        return [call for call in self.open_calls if call.turn == turn]

    def holding_back(self, turn: int) -> list[RunningCall]:
        """Calls of earlier turns that ``turn`` must wait for before its model or tools.

        They are those being cancelled and those in a commit section; a ``finish`` tool outside of
        one is not waited for.
        """
        return [
            call
            for call in self.open_calls
            if call.turn < turn and (not call.finishes or call.open_commits > 0)
        ]

    @property
    def tasks(self) -> set[asyncio.Task[Any]]:
        """The tasks that have not ended, those left behind included."""
        return {call.task for call in self._calls.values() if call.task is not None}

    # -- cancelling

    def interrupt(self, turn: int) -> list[RunningCall]:
        """Cancel the calls of a turn that are to be cancelled; return them."""
        stopped = [call for call in self.open_in(turn) if not call.finishes]
        for call in stopped:
            self._cancel(call)
        return stopped

    async def close(self) -> set[asyncio.Task[Any]]:
        """Cancel what may be cancelled, let the rest run to its own timeout, settle everything.

        Returns:
            Tasks that still run although they are settled: they refused to end.
        """
        for call in self.open_calls:
            if not call.finishes:
                self._cancel(call)
        for call in self.open_calls:
            await call.settled.wait()  # bounded by the call's timeout and grace timers
        return self.tasks

    def _cancel(self, call: RunningCall) -> None:
        call.cancel_wanted = True
        self._deliver(call)

    def _deliver(self, call: RunningCall) -> None:
        """Raise ``CancelledError`` at the tool's current ``await``, once, outside of commits."""
        if not call.cancel_wanted or call.cancel_delivered or call.open_commits:
            return
        if call.outcome is None and call.task is not None and call.task.cancel():
            call.cancel_delivered = True
            call.drop_timers()  # from here on the grace bounds it, not its timeout
            loop = asyncio.get_running_loop()
            call.timers.append(loop.call_later(GRACE_S, self._give_up, call))

    def _give_up(self, call: RunningCall) -> None:
        if call.outcome is None:
            _logger.warning(
                "a cancelled tool did not end in time and is left behind",
                extra={"tool": call.name, "call_id": call.call_id},
            )
            self._settle(call, "unknown", refusal("unknown", "it did not stop in time"))

    # -- settling

    def _expire(self, call: RunningCall) -> None:
        if call.outcome is not None:
            return
        self._settle_overdue(call)
        if call.task is not None:
            call.task.cancel()

    def _settle_overdue(self, call: RunningCall) -> None:
        call.expired = True
        if call.commits:
            self._settle(
                call, "unknown", refusal("unknown", "it took too long; it may have worked")
            )
        else:
            self._settle(call, "timed_out", refusal("timed_out", "it took too long"))

    def _ended(self, call: RunningCall, task: asyncio.Task[ToolResult | None]) -> None:
        self._calls.pop(call.call_id, None)
        overdue = asyncio.get_running_loop().time() - call.started_s > call.timeout_s
        if call.outcome is None and overdue and not call.cancel_wanted:
            self._settle_overdue(call)
        if call.outcome is None:
            self._settle(call, *_judge(call, task))
        elif not task.cancelled():
            self._host.record(call.turn, LateOutcome(call.call_id, *_judge_late(call, task)))
        elif call.outcome == "unknown" and not call.commits:
            news = refusal("cancelled", "it stopped after all")
            self._host.record(call.turn, LateOutcome(call.call_id, "cancelled", news))

    def _settle(self, call: RunningCall, outcome: ToolOutcome, result: str) -> None:
        committed = call.commits > 0
        self._host.record(call.turn, ToolSettled(call.call_id, outcome, result, committed))
        call.settle(outcome)
        self._host.calls_changed(call.turn)


def idempotency_key(conversation: str, tool: str, canonical: str, n: int, wish: str = "") -> str:
    """The key of a wish: equal until it is fulfilled, whoever tries it again."""
    text = canonical_json([conversation, tool, canonical, n, *([wish] if wish else [])])
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def refusal(status: str, reason: str) -> str:
    """The JSON text a model reads where a call has no answer."""
    return canonical_json({"status": status, "reason": reason})


async def _run(call: RunningCall) -> ToolResult | None:
    """Call the author's function; only ``CancelledError`` and plain errors leave it."""
    kwargs: dict[str, Any] = dict(call.arguments)
    if call.definition.takes_context:
        kwargs["context"] = ToolContext(call)
    try:
        return await call.definition.fn(**kwargs)
    except (SystemExit, KeyboardInterrupt) as stop:
        # Raised by author code it must not end the process.
        raise ToolError("the tool tried to end the process") from stop


def _judge(call: RunningCall, task: asyncio.Task[ToolResult | None]) -> tuple[ToolOutcome, str]:
    """The outcome that a task's end gives its call."""
    if not task.cancelled() and (error := task.exception()) is not None:
        return "failed", _failure(call, error)
    if task.cancelled() or call.cancel_delivered:
        if call.commits:
            return "unknown", refusal("unknown", "it was stopped late; it may have worked")
        return "cancelled", refusal("cancelled", "the caller interrupted it")
    return _answer(call, task.result())


def _judge_late(
    call: RunningCall, task: asyncio.Task[ToolResult | None]
) -> tuple[ToolOutcome, str]:
    """How a call that had been given up ended after all."""
    error = task.exception()
    return _answer(call, task.result()) if error is None else ("failed", _failure(call, error))


def _failure(call: RunningCall, error: BaseException) -> str:
    _log_failure(call, error)
    told = "it failed with an internal error"
    if isinstance(error, ToolError):
        try:
            told = str(error)[:MAX_REASON_CHARS]
        except Exception:  # author's code, in a callback that must settle the call
            _logger.error("a tool's error has no text", extra={"tool": call.name})
    return refusal("failed", told)


def _answer(call: RunningCall, value: object) -> tuple[ToolOutcome, str]:
    if value is None:
        value = ToolResult()
    if not isinstance(value, ToolResult):
        _logger.error("a tool did not return a ToolResult", extra={"tool": call.name})
        return "failed", refusal("failed", "it ran, but its answer can't be read")
    if value.llm_response is None:
        return "ok", canonical_json({"status": "ok"})
    try:
        text = _json_text(value.llm_response)
    except ValueError:
        _logger.error("a tool's answer is not JSON", extra={"tool": call.name})
        return "failed", refusal("failed", "it ran, but its answer can't be read")
    if len(text) > MAX_RESULT_CHARS:
        return "failed", refusal("failed", "it ran, but its answer is too long")
    return "ok", text


def _json_text(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except Exception as error:  # containers may be author's code, and the call must be settled
        raise ValueError("not a JSON value") from error
    text.encode()  # a lone surrogate is no text: UnicodeEncodeError is a ValueError
    return text


_OURS = f"{Path(__file__).parents[1]}/"
_NOT_THE_AUTHORS = (
    _OURS,
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
)
"""Where code is that no project wrote."""


def _log_failure(call: RunningCall, error: BaseException) -> None:
    """Name the author's line, never the message: it may hold what the caller said.

    But for a refusal of ours (an undeclared memory entry): that speaks of names alone.
    """
    frames = list(traceback.extract_tb(error.__traceback__))
    authors = [f for f in frames if not f.filename.startswith(_NOT_THE_AUTHORS)] or frames
    where = f"{authors[-1].filename}:{authors[-1].lineno}" if authors else ""
    fields = {"tool": call.name, "error": type(error).__name__, "where": where}
    is_ours = bool(frames) and frames[-1].filename.startswith(_OURS)
    if isinstance(error, MemoryWriteError) and is_ours:
        fields["reason"] = str(error)
    _logger.error("a tool failed", extra=fields)
