"""A chat-completions server that streams what a test tells it to, over a real socket.

Owns the SSE side of the OpenAI protocol as a server sees it: scripted replies, recorded requests,
and when each client went away. One reply of the script answers one request; the last is repeated.
"""

import asyncio
import json
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, TypeAlias, cast

import uvicorn

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"
Scope: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[dict[str, Any]]]
Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the reply's text."""

    text: str


@dataclass(frozen=True, slots=True)
class CallPiece:
    """A piece of a tool call; the first one of a call has id and name."""

    index: int | None
    arguments: str = ""
    id: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Finish:
    """The piece that says why the reply ended."""

    reason: str = "stop"


@dataclass(frozen=True, slots=True)
class Usage:
    """The piece without choices that counts tokens."""

    prompt: int
    completion: int


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes as they are, in place of a piece."""

    data: str


@dataclass(frozen=True, slots=True)
class Stall:
    """Send nothing more, and keep the connection until the client goes."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Drop the connection in the middle of the stream."""


Part: TypeAlias = Text | CallPiece | Finish | Usage | Raw | Stall | Cut


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one request."""

    parts: tuple[Part, ...] = ()
    status: int = 200
    """Other than 200: ``body`` is sent and no stream."""
    body: str = '{"error": {"message": "scripted"}}'
    stall_first: bool = False
    """Don't even send the response's head."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Json]
    query: str = ""


@dataclass(slots=True)
class FakeOpenAI:
    """Use as a context manager; ``base`` is the ``api_base`` to give to clients."""

    script: Sequence[Reply]
    requests: list[Recorded] = field(default_factory=list[Recorded])
    disconnects: list[float] = field(default_factory=list[float])
    """When clients went away before the reply was over, by the clock of asyncio's loops."""
    _gone: threading.Condition = field(default_factory=threading.Condition)
    _server: uvicorn.Server | None = None
    _thread: threading.Thread | None = None
    _socket: socket.socket | None = None
    _stopping: asyncio.Event | None = None
    _loop: asyncio.AbstractEventLoop | None = None

    @property
    def base(self) -> str:
        """Root of the API."""
        assert self._socket is not None
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"

    def wait_disconnects(self, count: int, timeout_s: float) -> list[float]:
        """Block until so many clients have gone; for use in a thread."""
        with self._gone:
            self._gone.wait_for(lambda: len(self.disconnects) >= count, timeout_s)
            return list(self.disconnects)

    def __enter__(self) -> "FakeOpenAI":
        self._socket = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(
            cast(Any, self._app),
            interface="asgi3",
            loop="asyncio",
            log_level="critical",
            lifespan="off",
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        started = threading.Event()

        def run() -> None:
            assert self._server is not None and self._socket is not None
            started.set()
            self._server.run(sockets=[self._socket])

        self._thread = threading.Thread(target=run, name="fake-openai")
        self._thread.start()
        started.wait(5)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None and self._thread is not None and self._socket is not None
        if self._loop is not None and self._stopping is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()

    # ---------------------------------------------------------------- the server's side

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        if self._stopping is None:
            self._stopping = asyncio.Event()
            self._loop = asyncio.get_running_loop()
        self._record(scope, await _read_body(receive))
        reply = self.script[min(len(self.requests), len(self.script)) - 1]
        if reply.status != 200:
            await _send_whole(send, reply)
            return
        await self._stream_until_gone(reply, receive, send)

    def _record(self, scope: Scope, body: bytes) -> None:
        headers = {
            key.decode("latin-1"): value.decode("latin-1")
            for key, value in cast("list[tuple[bytes, bytes]]", scope["headers"])
        }
        query = cast(bytes, scope["query_string"]).decode("latin-1")
        self.requests.append(Recorded(scope["path"], headers, json.loads(body), query))

    async def _stream_until_gone(self, reply: Reply, receive: Receive, send: Send) -> None:
        assert self._stopping is not None
        gone = asyncio.ensure_future(_wait_gone(receive))
        stop = asyncio.ensure_future(self._stopping.wait())
        work = asyncio.ensure_future(_stream(reply, send))
        await asyncio.wait({gone, work, stop}, return_when=asyncio.FIRST_COMPLETED)
        if gone.done() and not work.done():
            with self._gone:
                self.disconnects.append(asyncio.get_running_loop().time())
                self._gone.notify_all()
        for task in (gone, work, stop):
            task.cancel()
        await asyncio.wait({gone, work, stop})


async def _read_body(receive: Receive) -> bytes:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return body


async def _wait_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send_whole(send: Send, reply: Reply) -> None:
    head = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": reply.status, "headers": head})
    await send({"type": "http.response.body", "body": reply.body.encode()})


async def _stream(reply: Reply, send: Send) -> None:
    if reply.stall_first:
        await asyncio.Event().wait()
    head = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    for part in reply.parts:
        match part:
            case Stall():
                await asyncio.Event().wait()
            case Cut():
                # uvicorn drops the connection of an application that ends too early
                return
            case Raw(data=data):
                await send({"type": "http.response.body", "body": data.encode(), "more_body": True})
            case _:
                line = f"data: {json.dumps(_chunk(part))}\n\n"
                await send({"type": "http.response.body", "body": line.encode(), "more_body": True})
    await send({"type": "http.response.body", "body": b"data: [DONE]\n\n"})


def _chunk(part: Text | CallPiece | Finish | Usage) -> dict[str, Any]:
    head: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "fake",
    }
    match part:
        case Text(text=text):
            return head | {"choices": [_choice({"content": text}, None)]}
        case Finish(reason=reason):
            return head | {"choices": [_choice({}, reason)]}
        case Usage(prompt=prompt, completion=completion):
            usage: dict[str, Json] = {
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "total_tokens": prompt + completion,
            }
            return head | {"choices": [], "usage": usage}
        case CallPiece():
            function: dict[str, Json] = {"arguments": part.arguments}
            if part.name is not None:
                function["name"] = part.name
            call: dict[str, Json] = {"function": function, "type": "function"}
            if part.index is not None:
                call["index"] = part.index
            if part.id is not None:
                call["id"] = part.id
            return head | {"choices": [_choice({"tool_calls": [call]}, None)]}


def _choice(delta: dict[str, Json], reason: str | None) -> Json:
    return {"index": 0, "delta": delta, "finish_reason": reason}
