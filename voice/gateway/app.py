"""The gateway's routes on one port.

Owns the mapping from addresses to what answers, and the small answers themselves.

======================================  =========================================================
``POST /twilio``                        the webhook of an incoming call: TwiML
``GET /twilio/stream[/ticket]`` (ws)    Twilio Media Streams
``GET /v1/call`` (ws)                   bargein.v1, for browsers and apps
``GET /``                               the page, and its files
``GET /healthz``, ``/readyz``           alive; ready for another call
``GET /metrics``                        Prometheus
======================================  =========================================================

Sockets are ``sockets`` and ``session``, who may come in is ``access``, starting and stopping is
``server``.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, cast
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketClose

from voice.gateway import twiml
from voice.gateway.admission import Gateway
from voice.gateway.config import GatewayConfig
from voice.gateway.metrics import Metrics
from voice.gateway.session import CallFactory
from voice.gateway.sockets import app_socket, request_target, stream_socket
from voice.gateway.writer import WriterLimits

__all__ = ["build_app", "gateway_of"]

_MOST_FORM_BYTES: Final = 64 * 1024
_FULL: Final = "All lines are busy at the moment. Please call again in a few minutes."
_DRAINING: Final = "This service is restarting. Please call again in a minute."
_PARAMETERS: Final = (("From", "caller"), ("To", "called"))
"""What of the webhook's form goes with the stream, and under which name."""


def build_app(
    config: GatewayConfig,
    factory: CallFactory,
    metrics: Metrics,
    *,
    limits: WriterLimits | None = None,
) -> Starlette:
    """Make the application.

    Args:
        config: settings; ``check`` is ``serve``'s business.
        factory: makes the call of each accepted socket, on the event loop.
        metrics: counts; give ``metrics.call_event`` to the calls as their watcher.
        limits: how far clients may fall behind.
    """
    gateway = Gateway(config, factory, metrics, limits or WriterLimits())
    routes: list[BaseRoute] = [
        Route("/twilio", _webhook(gateway), methods=["POST"]),
        Route("/twilio/", _webhook(gateway), methods=["POST"]),
        WebSocketRoute("/twilio/stream", stream_socket(gateway)),
        WebSocketRoute("/twilio/stream/{ticket}", stream_socket(gateway)),
        WebSocketRoute("/v1/call", app_socket(gateway)),
        Route("/healthz", _healthz),
        Route("/readyz", _readyz(gateway)),
        Route("/metrics", _metrics(gateway)),
    ]
    if (config.page_dir / "index.html").is_file():
        routes.append(Mount("/", _Page(directory=config.page_dir, html=True)))
    else:
        routes.append(Route("/", _no_page))
    app = Starlette(routes=routes)
    app.state.gateway = gateway
    return app


def gateway_of(app: Starlette) -> Gateway:
    """Give what the routes of ``app`` share."""
    return cast("Gateway", app.state.gateway)


_PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The page loads nothing but its own files, and talks to nobody but us."""


class _Page(StaticFiles):
    """The page's files, never stale after an update, and never telling others our address."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":  # an address that is no socket of ours
            await WebSocketClose()(scope, receive, send)
            return
        await super().__call__(scope, receive, send)

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = "no-cache"
        response.headers["x-content-type-options"] = "nosniff"
        # The address may hold ``?token=``.
        response.headers["referrer-policy"] = "no-referrer"
        response.headers["x-frame-options"] = "DENY"
        response.headers["content-security-policy"] = _PAGE_POLICY
        return response


def _webhook(gateway: Gateway) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        form = await _form(request)
        if form is None:
            return PlainTextResponse("too large\n", 413)
        access, headers = gateway.access, request.headers
        target = request_target(request.scope)
        if not access.may_announce(headers, request.query_params, target, form):
            gateway.metrics.refused.labels("unauthorized").inc()
            return PlainTextResponse("not signed\n", 403)
        now_s = asyncio.get_running_loop().time()
        reason = gateway.refusal(access.expected_streams(now_s))
        if reason is not None:
            gateway.metrics.refused.labels(reason).inc()
            return _xml(twiml.refuse(_FULL if reason == "full" else _DRAINING))
        given = dict(form)
        parameters = [(name, given[key]) for key, name in _PARAMETERS if given.get(key)]
        url = access.stream_url(headers, access.mint_ticket(now_s))
        return _xml(twiml.connect(url, parameters))

    return answer


async def _form(request: Request) -> list[tuple[str, str]] | None:
    """Read a URL-encoded form; None if it is larger than any webhook's."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > _MOST_FORM_BYTES:
            return None
    return parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)


def _xml(text: str) -> Response:
    return Response(text, media_type="application/xml")


async def _healthz(request: Request) -> Response:
    return PlainTextResponse("ok\n")


async def _no_page(request: Request) -> Response:
    return PlainTextResponse("bargein is listening; the page is not installed.\n")


def _readyz(gateway: Gateway) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        reason = gateway.refusal()
        if reason is None:
            return PlainTextResponse("ready\n")
        return PlainTextResponse(f"{reason}\n", 503)

    return answer


def _metrics(gateway: Gateway) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        if not gateway.access.may_read_metrics(request.headers, request.query_params):
            return PlainTextResponse("a token is needed\n", 401)
        text = gateway.metrics.exposition()
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    return answer
