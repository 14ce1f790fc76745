"""The one task that writes to a client's socket, and the bounded queue before it.

Owns what goes out in which order: a clear first (what it drops is dropped here too), then notices,
then sound and the marks that stand behind it. Nothing that queues ever waits; the writer waits for
the socket, and what is queued meanwhile is bounded:

* sound to 3 s of playing time: beyond that the oldest goes, with the marks behind it, so that no
  mark ever confirms sound that was not sent;
* notices to 2000: they are never dropped, so a client that takes none is ended;
* time to 5 s: a client that has not taken a message, or has been behind by the full 3 s, for so
  long is *stalled*. The session is told, once.

Closing is bounded too: what a client does not take within 2 s is not waited for. The wire formats
are ``voice.wire``; reading the socket is ``session``.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from starlette.types import Send

from voice.call.ports import Outbound

__all__ = ["SocketWriter", "WriterLimits"]

Message = str | bytes

_WATCH_S: Final = 0.5
_MOST_NOTICES: Final = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterLimits:
    """How far a client may fall behind."""

    sound_ms: float = 3000.0
    stall_s: float = 5.0
    close_s: float = 2.0


class SocketWriter(Outbound):
    """The way out of one call. ``run`` must be a task of the session's."""

    def __init__(
        self,
        send: Send,
        *,
        sound_ms: Callable[[Message], float],
        abort: Callable[[], None],
        stalled: Callable[[], None],
        lag: Callable[[float], None],
        limits: WriterLimits,
    ) -> None:
        """Prepare; nothing is sent before ``run``.

        Args:
            send: the socket's ASGI ``send``; an ``OSError`` from it means that it is gone.
            sound_ms: playing time of a queued message, 0 for marks.
            abort: cuts the connection without waiting for the client.
            stalled: told once when the client stays too far behind; it should close.
            lag: given the longest wait in the sound queue, seconds, about twice a second.
            limits: how far the client may fall behind.
        """
        self._send = send
        self._sound_ms_of = sound_ms
        self._abort = abort
        self._on_stalled = stalled
        self._on_lag = lag
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._sound: deque[tuple[Message, float, float]] = deque()
        """Message, its playing time in ms, and when it was queued."""
        self._notices: deque[Message] = deque()
        self._wake = asyncio.Event()
        self._watcher: asyncio.TimerHandle | None = None
        self._closing: tuple[int, str] | None = None
        self._closing_s = 0.0
        self._gone = False
        self._is_stalled = False
        self._sending_since_s: float | None = None
        self._over_since_s: float | None = None
        self._longest_lag_s = -1.0
        self.queued_ms = 0.0
        """Sound that waits here, ms of playing time."""
        self.dropped_ms = 0.0
        """Sound that was dropped because the client did not keep up."""

    # ------------------------------------------------------------------ queueing

    def audio(self, message: Message) -> None:
        """Queue sound, or a mark that must stay behind the sound before it."""
        if self._closing is not None or self._gone:
            return
        length_ms = self._sound_ms_of(message)
        self._sound.append((message, length_ms, self._loop.time()))
        self.queued_ms += length_ms
        if self.queued_ms > self._limits.sound_ms:
            self._drop_oldest()
        self._wake.set()

    def control(self, message: Message) -> None:
        """Queue a notice that may overtake sound."""
        if self._closing is None and not self._gone:
            self._notices.append(message)
            self._wake.set()

    def clear(self, message: Message | None) -> None:
        """Drop queued sound and marks, then send the clear (if any) before anything else."""
        self._sound.clear()
        self.queued_ms = 0.0
        self._over_since_s = None
        if message is not None and self._closing is None and not self._gone:
            self._notices.appendleft(message)
            self._wake.set()

    def close(self, code: int, reason: str) -> None:
        """Send what notices are queued, then close the socket; idempotent."""
        if self._closing is None:
            self._closing = (code, reason)
            self._closing_s = self._loop.time()
            self.clear(None)
            self._wake.set()

    def abandon(self) -> None:
        """The socket is gone: drop everything and end ``run``."""
        self._gone = True
        self._sound.clear()
        self._notices.clear()
        self.queued_ms = 0.0
        self._wake.set()

    def _drop_oldest(self) -> None:
        if self._over_since_s is None:
            self._over_since_s = self._loop.time()
        while self._sound and self.queued_ms > self._limits.sound_ms:
            _, length_ms, _ = self._sound.popleft()
            self.queued_ms -= length_ms
            self.dropped_ms += length_ms
        while self._sound and self._sound[0][1] == 0:
            self._sound.popleft()

    # ------------------------------------------------------------------ writing

    async def run(self) -> None:
        """Write until closed or gone. Never raises but when cancelled."""
        self._watcher = self._loop.call_later(_WATCH_S, self._watch)
        try:
            while not self._gone:
                message = self._next()
                if message is not None:
                    await self._write(message)
                elif self._closing is not None:
                    code, reason = self._closing
                    close = {"type": "websocket.close", "code": code, "reason": reason[:120]}
                    await self._send(close)
                    return
                else:
                    self._wake.clear()
                    await self._wake.wait()
        except OSError:
            pass  # the client is gone: the reader is told by the socket itself
        finally:
            self._watcher.cancel()
            self.abandon()

    def _next(self) -> Message | None:
        if self._notices:
            return self._notices.popleft()
        if not self._sound:
            return None
        message, length_ms, queued_s = self._sound.popleft()
        self.queued_ms -= length_ms
        if self._over_since_s is not None and self.queued_ms <= self._limits.sound_ms / 2:
            self._over_since_s = None
        self._longest_lag_s = max(self._longest_lag_s, self._loop.time() - queued_s)
        return message

    async def _write(self, message: Message) -> None:
        self._sending_since_s = self._loop.time()
        kind = "text" if isinstance(message, str) else "bytes"
        await self._send({"type": "websocket.send", kind: message})
        self._sending_since_s = None

    def _watch(self) -> None:
        """Look after the bounds of time; a callback, since ``run`` may be stuck in the socket."""
        self._watcher = self._loop.call_later(_WATCH_S, self._watch)
        now = self._loop.time()
        if self._longest_lag_s >= 0:
            self._on_lag(self._longest_lag_s)
            self._longest_lag_s = -1.0
        if self._closing is not None:
            if now - self._closing_s > self._limits.close_s:
                self._abort()
            return
        since = [s for s in (self._sending_since_s, self._over_since_s) if s is not None]
        behind = bool(since) and now - min(since) > self._limits.stall_s
        if not self._is_stalled and (behind or len(self._notices) > _MOST_NOTICES):
            self._is_stalled = True
            self._on_stalled()
