"""An embeddings server that answers what a test tells it to, over a real socket.

Owns the ``/embeddings`` side of the OpenAI protocol: each text becomes a vector of which words of a
small dictionary it holds, so that texts of one topic are near. One reply of the script answers one
request; the last is repeated.
"""

import json
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, TypeAlias, cast

import uvicorn

Scope: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[dict[str, Any]]]
Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]

TOPICS = (
    frozenset({"refund", "money", "repaid", "reimbursed"}),
    frozenset({"hours", "open", "closed", "opening"}),
    frozenset({"dog", "pet", "animal", "pets"}),
)
"""One dimension each."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one request."""

    status: int = 200
    body: str | None = None
    """None = the vectors."""
    is_reversed: bool = False
    """Send the vectors last first, each with its index."""
    stall: bool = False
    """Never answer."""


def vector(text: str) -> list[float]:
    """How many words of each topic a text has."""
    words = "".join(c if c.isalpha() else " " for c in text.lower()).split()
    return [float(sum(word in topic for word in words)) for topic in TOPICS]


@dataclass(slots=True)
class FakeEmbeddings:
    """Use as a context manager; ``base`` is the ``api_base`` to give to clients."""

    script: Sequence[Answer] = (Answer(),)
    requests: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    keys: list[str] = field(default_factory=list[str])
    _server: uvicorn.Server | None = None
    _thread: threading.Thread | None = None
    _socket: socket.socket | None = None

    @property
    def base(self) -> str:
        """Root of the API."""
        assert self._socket is not None
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"

    def __enter__(self) -> "FakeEmbeddings":
        self._socket = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(
            cast(Any, self._app),
            interface="asgi3",
            loop="asyncio",
            log_level="critical",
            lifespan="off",
            timeout_graceful_shutdown=1,
        )
        server = self._server = uvicorn.Server(config)
        sockets = [self._socket]
        self._thread = threading.Thread(
            target=lambda: server.run(sockets=sockets), name="fake-embeddings"
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None and self._thread is not None and self._socket is not None
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()

    # ---------------------------------------------------------------- the server's side

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http" and scope["path"] == "/v1/embeddings"
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body", False):
                break
        headers = dict(cast("list[tuple[bytes, bytes]]", scope["headers"]))
        self.keys.append(headers.get(b"authorization", b"").decode("latin-1"))
        request = cast("dict[str, Any]", json.loads(body))
        self.requests.append(request)
        answer = self.script[min(len(self.requests), len(self.script)) - 1]
        if answer.stall:
            while (await receive())["type"] != "http.disconnect":
                pass
            return
        text = _vectors(request, answer) if answer.body is None else answer.body
        head = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": answer.status, "headers": head})
        await send({"type": "http.response.body", "body": text.encode()})


def _vectors(request: dict[str, Any], answer: Answer) -> str:
    data: list[dict[str, Any]] = [
        {"object": "embedding", "index": at, "embedding": vector(text)}
        for at, text in enumerate(cast("list[str]", request["input"]))
    ]
    if answer.is_reversed:
        data.reverse()
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return json.dumps({"object": "list", "model": "fake", "data": data, "usage": usage})
