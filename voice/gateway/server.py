"""Starting and stopping: uvicorn with our signals, our drain and our websocket connection.

Owns the life of the listening socket. The first SIGTERM or SIGINT drains: no further call is taken
(``/readyz`` says 503, the webhook says a sentence, upgrades get 503), calls that are open may go on
for ``drain_s``, then they are ended and their clients told; the second signal ends them at once.
Either way the process leaves with code 0. The routes are ``app``.
"""

import asyncio
import logging
import socket
from collections.abc import Callable
from types import FrameType
from typing import Final

import uvicorn
from starlette.applications import Starlette

from voice.gateway.admission import Gateway
from voice.gateway.app import gateway_of
from voice.gateway.config import GatewayConfig
from voice.gateway.socket_protocol import SEND_BUFFER_BYTES, GatewaySocket

__all__ = ["serve"]

_log = logging.getLogger(__name__)

_MOST_MESSAGE_BYTES: Final = 1_048_576
_PING_S: Final = 10.0
_LEAVE_S: Final = 12.0
"""How long ended calls may take to settle before the process leaves without them."""
_BACKLOG: Final = 1024

Listening = Callable[[str, int], None]
"""Told the host and the real port once connections are accepted."""


async def serve(
    app: Starlette,
    config: GatewayConfig,
    on_listening: Listening | None = None,
    *,
    stop: asyncio.Event | None = None,
) -> None:
    """Serve until the first signal has drained the server, or ``stop`` is set.

    Args:
        app: what ``build_app`` made for ``config``.
        config: where to listen; checked here.
        on_listening: called once, when the socket accepts connections.
        stop: drains as the first signal does; for tests and embedding.

    Raises:
        GatewayConfigError: the settings must not be served.
        OSError: the address can't be listened on.
    """
    config.check()
    gateway = gateway_of(app)
    listener = _listen(config.host, config.port)
    options = uvicorn.Config(
        app,
        host=config.host,
        port=config.port,
        http="h11",
        ws=GatewaySocket,
        ws_max_size=_MOST_MESSAGE_BYTES,
        ws_ping_interval=_PING_S,
        ws_ping_timeout=_PING_S,
        ws_per_message_deflate=False,
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    server = _Server(options, gateway, on_listening, stop)
    try:
        await server.serve(sockets=[listener])
    finally:
        listener.close()


def _listen(host: str, port: int) -> socket.socket:
    try:
        return _bound(host, port)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OSError(error.errno, f"can't listen on {host}, port {port}: {reason}") from None


def _bound(host: str, port: int) -> socket.socket:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, kind, number, _, address = sorted(found, key=lambda entry: entry[0])[0]
    listener = socket.socket(family, kind, number)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Accepted connections inherit it; see socket_protocol for why it is small.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        listener.bind(address)
        listener.listen(_BACKLOG)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener


class _Server(uvicorn.Server):
    """uvicorn's server, draining."""

    def __init__(
        self,
        config: uvicorn.Config,
        gateway: Gateway,
        on_listening: Listening | None,
        stop: asyncio.Event | None,
    ) -> None:
        super().__init__(config)
        self._gateway = gateway
        self._on_listening = on_listening
        self._stop = stop
        self._loop = asyncio.get_running_loop()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Drain on the first signal, end on the second.

        uvicorn would keep them and raise them again when it is done, which ends the process as
        killed; a drained server has done what it was asked and leaves with 0.
        """
        if self.should_exit:
            self.force_exit = True
            self._loop.call_soon_threadsafe(self._gateway.end_calls)
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections, and say so."""
        await super().startup(sockets)
        if self._on_listening is not None and sockets:
            host, port = sockets[0].getsockname()[:2]
            self._on_listening(host, port)

    async def on_tick(self, counter: int) -> bool:
        """Also watch ``stop``."""
        if self._stop is not None and self._stop.is_set():
            self.should_exit = True
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain while still answering, then close what is left."""
        gateway = self._gateway
        gateway.begin_drain()
        if not self.force_exit:
            await gateway.wait_empty(self._gateway.config.drain_s)
        gateway.end_calls()
        if not await gateway.wait_empty(_LEAVE_S):
            _log.error("calls are left behind", extra={"open_calls": gateway.open_calls})
        await super().shutdown(sockets)
