"""The websocket routes: may this one come in, and with which codec?

Owns the upgrade: permission, room, sub-protocol, and the refusal as an HTTP status where there is
no call. From the upgrade on it is ``session``'s. Plain ASGI, since a wrapper around each 20 ms
message is paid fifty times a second by every call.
"""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final, cast

from starlette.datastructures import Headers, QueryParams
from starlette.types import Receive, Scope, Send

from voice.gateway.admission import Gateway
from voice.gateway.session import ClientProtocol, Session
from voice.gateway.socket_protocol import ABORT
from voice.wire.bargein_v1 import SUBPROTOCOL, BargeinProtocol
from voice.wire.twilio import TwilioProtocol

__all__ = ["CallSocket", "app_socket", "request_target", "stream_socket"]

_RETRY_S: Final = b"5"


class CallSocket:
    """One websocket route, as an ASGI application."""

    def __init__(
        self,
        gateway: Gateway,
        *,
        channel: str,
        is_allowed: Callable[[Scope], bool],
        protocol: Callable[[int], ClientProtocol],
        subprotocol: str | None = None,
    ) -> None:
        """Serve calls of ``gateway``.

        Args:
            gateway: counts the calls and makes them.
            channel: what the calls are called, ``phone`` or ``web``.
            is_allowed: whether this upgrade may open a call.
            protocol: makes the codec of a call, from its id.
            subprotocol: named in the answer if the client offers it.
        """
        self._gateway = gateway
        self._channel = channel
        self._is_allowed = is_allowed
        self._protocol = protocol
        self._subprotocol = subprotocol

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take or refuse one upgrade; a call that is taken lives in here."""
        await receive()  # websocket.connect
        status = self._why_not(scope)
        if status is not None:
            await _refuse(send, status)
            return
        # no await between the count and the place: two upgrades must not both get the last one
        call_id = self._gateway.take_place(self._channel)
        try:
            offered = cast("list[str]", scope.get("subprotocols", []))
            chosen = self._subprotocol if self._subprotocol in offered else None
            await send({"type": "websocket.accept", "subprotocol": chosen})
            session = Session(
                call_id,
                self._protocol(call_id),
                channel=self._channel,
                send=send,
                abort=_abort_of(scope),
                factory=self._gateway.factory,
                metrics=self._gateway.metrics,
                limits=self._gateway.limits,
            )
            self._gateway.seat(call_id, session)
            await session.run(receive)
        finally:
            self._gateway.leave(call_id)

    def _why_not(self, scope: Scope) -> HTTPStatus | None:
        metrics = self._gateway.metrics
        if not self._is_allowed(scope):
            metrics.refused.labels("unauthorized").inc()
            return HTTPStatus.FORBIDDEN
        reason = self._gateway.refusal()
        if reason is None:
            return None
        metrics.refused.labels(reason).inc()
        return HTTPStatus.SERVICE_UNAVAILABLE


def app_socket(gateway: Gateway) -> CallSocket:
    """Serve browsers and apps: bargein.v1, with or without naming it."""

    def is_allowed(scope: Scope) -> bool:
        return gateway.access.may_call(Headers(scope=scope), QueryParams(scope["query_string"]))

    return CallSocket(
        gateway,
        channel="web",
        is_allowed=is_allowed,
        protocol=lambda call_id: BargeinProtocol(str(call_id)),
        subprotocol=SUBPROTOCOL,
    )


def stream_socket(gateway: Gateway) -> CallSocket:
    """Serve telephone streams: Twilio Media Streams."""

    def is_allowed(scope: Scope) -> bool:
        ticket = cast("dict[str, str]", scope["path_params"]).get("ticket", "")
        return gateway.access.may_stream(
            Headers(scope=scope),
            QueryParams(scope["query_string"]),
            request_target(scope),
            ticket,
            asyncio.get_running_loop().time(),
        )

    return CallSocket(
        gateway,
        channel="phone",
        is_allowed=is_allowed,
        protocol=lambda _: TwilioProtocol(),
    )


def request_target(scope: Scope) -> str:
    """Path and query as the client wrote them, which is what a signature covers."""
    raw = cast("bytes", scope.get("raw_path") or scope["path"].encode())
    query = cast("bytes", scope["query_string"])
    return (raw + b"?" + query if query else raw).decode("latin-1")


def _abort_of(scope: Scope) -> Callable[[], None]:
    """Find what cuts the connection; other servers than ours have no such thing."""
    extension = cast("dict[str, Any]", scope.get("extensions") or {}).get(ABORT)
    if extension is None:
        return lambda: None
    return cast("Callable[[], None]", extension["abort"])


async def _refuse(send: Send, status: HTTPStatus) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    if status is HTTPStatus.SERVICE_UNAVAILABLE:
        headers.append((b"retry-after", _RETRY_S))
    start = {"type": "websocket.http.response.start", "status": int(status), "headers": headers}
    await send(start)
    body = f"{status.phrase}\n".encode()
    await send({"type": "websocket.http.response.body", "body": body})
