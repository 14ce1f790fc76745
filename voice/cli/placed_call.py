"""One real call to a server, by a phone made of a recorded caller.

Owns the websocket and the two tasks on it; the phone itself, its script, its delays and what it
recorded are ``voice.replay.far_end``, the same as in replays, here on the real clock. So the same
caller can be put to a live server and to a project in virtual time, and what came out compared.
What is printed and written is ``call_command``.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast
from urllib.parse import urlsplit

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.typing import Subprotocol

from runtime.agent import CloseCause, Json
from runtime.errors import AgentError, WireError
from voice.audio.format import PHONE, WIDE, AudioFormat
from voice.call.events import CallEvent
from voice.replay.far_end import Conditions, FarEnd, Recording
from voice.replay.phones import ClearAsked, Notice, Phone, PhoneEvent, Sound, TwilioPhone, WebPhone
from voice.replay.script import CallerLine
from voice.wire.bargein_v1 import SUBPROTOCOL

__all__ = ["CallError", "CallOptions", "CallRecord", "Dialect", "line_format", "place_call"]

_log = logging.getLogger(__name__)

Dialect: TypeAlias = Literal["twilio", "v1"]

_OPEN_S: Final = 10.0
_LEAVE_S: Final = 3.0
_MOST_UNSENT: Final = 1500
"""Messages that a server has not taken: 30 s of sound."""
_MOST_MESSAGE_BYTES: Final = 4 * 1024 * 1024


class CallError(AgentError):
    """The call could not be placed: says what the server answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOptions:
    """Whom to call, and what the caller does."""

    url: str
    """``ws://`` or ``wss://`` (``http`` and ``https`` are taken for them)."""
    lines: tuple[CallerLine, ...]
    """Speech at ``line_format``'s rate."""
    dialect: Dialect | None = None
    """None = by the path: ``/v1/call`` is ours, everything else Twilio's."""
    conditions: Conditions = Conditions()
    token: str | None = None
    """Sent as a bearer token."""
    metadata: tuple[tuple[str, str], ...] = ()

    @property
    def spoken(self) -> Dialect:
        """The dialect that is spoken."""
        if self.dialect is not None:
            return self.dialect
        return "v1" if urlsplit(self.url).path.rstrip("/").endswith("/v1/call") else "twilio"


@dataclass(frozen=True, slots=True)
class CallRecord:
    """What a call left behind."""

    events: tuple[CallEvent, ...]
    """What the server reported (only ours do), beside what the phone saw: ``connected``,
    ``first_sound``, ``clear_received``, ``closed``; in order.
    """
    recording: Recording
    duration_ms: float
    close_code: int
    close_reason: str
    sound_messages: int
    clears: int


def line_format(dialect: Dialect) -> AudioFormat:
    """Format of the line that a dialect's phone speaks."""
    return PHONE if dialect == "twilio" else WIDE


async def place_call(
    options: CallOptions, progress: Callable[[float], None] | None = None
) -> CallRecord:
    """Place a call in real time and carry it until one side has hung up.

    Args:
        options: whom to call, and what the caller does.
        progress: called about once a second with the ms gone by.

    Raises:
        CallError: no call came about.
    """
    is_web = options.spoken == "v1"
    phone = _WatchedPhone(
        WebPhone(WIDE, options.metadata) if is_web else TwilioPhone(options.metadata)
    )
    async with _connected(options) as ws:
        far_end = FarEnd(phone, options.lines, options.conditions)
        phone.watch(far_end)
        side = _SocketSide()
        async with asyncio.TaskGroup() as group:
            reading = group.create_task(_read(ws, far_end), name="read")
            writing = group.create_task(_write(ws, side), name="write")
            await far_end.run(side, progress)
            duration_ms = far_end.now_ms
            # What is still under way (the stop) lands first, then the socket closes.
            await asyncio.wait({writing}, timeout=_LEAVE_S)
            await ws.close()
            await asyncio.wait({reading}, timeout=_LEAVE_S)
            for task in (reading, writing):
                task.cancel()
        code, reason = ws.close_code or 1006, ws.close_reason or ""
    phone.note("closed", (("code", code), ("reason", reason)))
    return CallRecord(
        tuple(sorted(phone.events, key=lambda event: event.t_ms)),
        far_end.recording(),
        duration_ms,
        code,
        reason,
        phone.sound_messages,
        phone.clears,
    )


@asynccontextmanager
async def _connected(options: CallOptions) -> AsyncGenerator[ClientConnection, None]:
    """Open the socket, and say what went wrong in words without the address's query."""
    url = options.url.replace("http", "ws", 1) if options.url.startswith("http") else options.url
    headers = {"Authorization": f"Bearer {options.token}"} if options.token else {}
    host = urlsplit(url).hostname or ""
    try:
        ws = await connect(
            url,
            subprotocols=[Subprotocol(SUBPROTOCOL)] if options.spoken == "v1" else None,
            additional_headers=headers,
            compression=None,
            max_size=_MOST_MESSAGE_BYTES,
            open_timeout=_OPEN_S,
            proxy=None if host in ("localhost", "127.0.0.1", "::1") else True,
        )
    except InvalidStatus as error:
        raise CallError(_refusal(error.response.status_code)) from None
    except (OSError, TimeoutError, WebSocketException, ValueError) as error:
        detail = str(error).replace(options.token or "\0", "…")
        raise CallError(f"no connection to {host or 'nowhere'}: {detail}") from None
    try:
        yield ws
    finally:
        await ws.close()


def _refusal(status: int) -> str:
    hints = {
        401: "it wants a token: --token",
        403: "it wants a token (--token), or there is no such address",
        404: "there is no such address",
        503: "it takes no more calls now",
    }
    hint = hints.get(status)
    return f"the server refused the call with HTTP {status}" + (f": {hint}" if hint else "")


class _WatchedPhone(Phone):
    """A phone that notes what it reads: the server's events, clears, the first sound."""

    def __init__(self, inner: Phone) -> None:
        self._inner = inner
        self._far_end: FarEnd | None = None
        self.events: list[CallEvent] = []
        self.sound_messages = 0
        self.clears = 0

    def watch(self, far_end: FarEnd) -> None:
        """Take the times from this phone's owner, and tell it the server's events."""
        self._far_end = far_end
        self.note("connected")

    def note(self, name: str, fields: tuple[tuple[str, Json], ...] = ()) -> None:
        """Note what happened now, on this side."""
        now_ms = 0 if self._far_end is None else round(self._far_end.now_ms)
        self.events.append(CallEvent(1, now_ms, name, fields))

    @property
    def format(self) -> AudioFormat:
        return self._inner.format

    def opening(self) -> list[str | bytes]:
        return self._inner.opening()

    def audio(self, payload: bytes) -> str | bytes:
        return self._inner.audio(payload)

    def mark(self, name: str, *, cleared: bool) -> str | bytes:
        return self._inner.mark(name, cleared=cleared)

    def key(self, key: str) -> str | bytes:
        return self._inner.key(key)

    def text(self, text: str) -> str | bytes | None:
        return self._inner.text(text)

    def tap(self, payload: str) -> str | bytes | None:
        return self._inner.tap(payload)

    def stop(self) -> str | bytes:
        return self._inner.stop()

    def read(self, message: str | bytes) -> PhoneEvent:
        """Read as the phone does; what no server may send is noted and passed over."""
        try:
            event = self._inner.read(message)
        except (WireError, ValueError):
            self.note("bad_message")
            return Notice("bad_message")
        match event:
            case Sound():
                if not self.sound_messages:
                    self.note("first_sound")
                self.sound_messages += 1
            case ClearAsked():
                self.clears += 1
                self.note("clear_received")
            case Notice() if isinstance(message, str):
                self._noticed(message)
            case _:
                pass
        return event

    def _noticed(self, message: str) -> None:
        notice = cast("dict[str, Json]", msgspec.json.decode(message))
        kind, name, t_ms = notice.pop("type", ""), notice.pop("event", ""), notice.pop("t_ms", 0)
        fields = tuple(notice.items())
        match kind, name, t_ms:
            case "event", str(), int():
                self.events.append(CallEvent(1, t_ms, name, fields))
                if self._far_end is not None:
                    self._far_end.observe(name, fields, self._far_end.now_ms)
            case "started", _, _:
                self.note("call_started", fields)
            case "error", _, _:
                self.note("problem", fields)
            case "ended", _, _:
                self.note("ended", fields)
            case _:
                pass


class _SocketSide:
    """The far end's view of the server: what it sends goes into a queue."""

    def __init__(self) -> None:
        self.unsent: asyncio.Queue[str | bytes | None] = asyncio.Queue(_MOST_UNSENT)

    def received(self, message: str | bytes) -> None:
        """Queue one message for the server."""
        self._put(message)

    def lost(self, cause: CloseCause) -> None:
        """The phone hangs up after what is queued."""
        self._put(None)

    def _put(self, message: str | bytes | None) -> None:
        if self.unsent.full():  # the server reads nothing: its oldest sound is no use any more
            self.unsent.get_nowait()
        self.unsent.put_nowait(message)


async def _write(ws: ClientConnection, side: _SocketSide) -> None:
    try:
        while (message := await side.unsent.get()) is not None:
            await ws.send(message)
    except ConnectionClosed:
        _log.debug("the server closed while the phone was sending")


async def _read(ws: ClientConnection, far_end: FarEnd) -> None:
    try:
        async for message in ws:
            far_end.link.audio(message)
    except ConnectionClosed:
        _log.debug("the connection was lost")
    far_end.link.close(ws.close_code or 1006, ws.close_reason or "")
