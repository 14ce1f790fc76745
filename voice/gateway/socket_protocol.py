"""uvicorn's websocket connection, made fit for live calls.

Owns what differs from the stock one: a small write buffer, so that a client that stops reading is
noticed in seconds; a connection that is cut instead of waited for when its peer is gone; a budget
of fragments; close codes that tell a lost connection from a closed one; and no log line that could
hold a token from an address. Everything else is uvicorn's ``websockets-sansio`` implementation.
"""

import asyncio
import logging
from typing import Any, Final, cast

from uvicorn.config import Config
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.frames import Frame
from websockets.http11 import Request

__all__ = ["ABORT", "SEND_BUFFER_BYTES", "GatewaySocket"]

ABORT: Final = "bargein.abort"
"""Key in the scope's extensions of a function that cuts the connection."""
SEND_BUFFER_BYTES: Final = 16 * 1024
"""Kernel send buffer asked for (Linux doubles it): a second or two of telephone sound."""
_WRITE_LIMIT_BYTES: Final = 8 * 1024
_LINGER_S: Final = 2.0
_MOST_FRAGMENTS: Final = 1024
_MOST_UNREAD: Final = 32
"""Messages that may wait for the application before the socket is read no further."""

# uvicorn and websockets log request targets, which may hold ``?token=``, below this level.
_quiet = logging.getLogger(__name__)
_quiet.setLevel(logging.WARNING)


class GatewaySocket(WebSocketsSansIOProtocol):
    """One websocket connection."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """As uvicorn makes it, with our bounds."""
        super().__init__(config, server_state, app_state, _loop)
        self.logger = _quiet
        self.conn.logger = _quiet
        self.conn.debug = False
        self.close_timeout = _LINGER_S
        self._linger: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the write buffer small."""
        super().connection_made(transport)
        cast("asyncio.Transport", transport).set_write_buffer_limits(high=_WRITE_LIMIT_BYTES)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the application 1006 where no close frame came."""
        if self._linger is not None:
            self._linger.cancel()
        if self.handshake_complete and self.conn.close_rcvd is None:
            self.queue.put_nowait({"type": "websocket.disconnect", "code": 1006})
        super().connection_lost(exc)

    def handle_connect(self, event: Request) -> None:
        """Give the application a way to cut the connection."""
        super().handle_connect(event)
        if self.response.status_code == 101:
            self.scope.setdefault("extensions", {})[ABORT] = {"abort": self.transport.abort}

    def send_receive_event_to_app(self) -> None:
        """Hand a message on, and stop reading only when several wait.

        uvicorn stops and goes on for each message: two system calls, fifty times a second and call.
        """
        was_paused, self.read_paused = self.read_paused, True
        super().send_receive_event_to_app()
        self.read_paused = was_paused
        if not was_paused and self.queue.qsize() >= _MOST_UNREAD:
            self.read_paused = True
            self.transport.pause_reading()

    def handle_cont(self, event: Frame) -> None:
        """Refuse a message in endless pieces: empty ones never reach the limit on size."""
        super().handle_cont(event)
        if len(self.frames) > _MOST_FRAGMENTS:
            self.frames = []
            self.conn.fail(1009, "too many fragments")
            self.handle_parser_exception()

    def keepalive_timeout(self) -> None:
        """No pong came: the peer is gone, so nothing is written and nothing waited for."""
        self.pong_timer = None
        if self.close_sent or self.transport.is_closing():
            return
        self.transport.abort()

    async def send(self, message: Any) -> None:
        """Send; after a close by whichever side it is as if the client were gone."""
        if self.handshake_complete and self.close_sent:
            raise ClientDisconnected
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and self.close_sent:
            # A refusal is complete; without this uvicorn logs it as an unfinished handshake.
            self.handshake_complete = True

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        """Cut the connection if its peer does not let it close."""
        super().on_task_complete(task)
        if not self.disconnected:
            self._linger = self.loop.call_later(_LINGER_S, self.transport.abort)
