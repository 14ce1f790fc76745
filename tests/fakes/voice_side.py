"""The voice plane as the agent plane sees it, for tests: records messages, settles says.

It speaks at a fixed pace, one say after the other, and settles each as heard when its time is over;
``interrupt`` settles what is open by what was heard by then, as the playback ledger would.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from runtime.agent import (
    AgentPlane,
    CallReady,
    CloseCall,
    CloseCause,
    ConfirmTurn,
    FromRuntime,
    Happened,
    Heard,
    Input,
    InputKind,
    InterruptCause,
    InterruptTurn,
    Json,
    OpenCall,
    RetractTurn,
    Say,
    SayEnd,
    SayOutcome,
    SaySettled,
    SayText,
    StartTurn,
    TurnEnded,
)

M = TypeVar("M")


@dataclass(slots=True)
class Spoken:
    """A say as the far end would hear it."""

    say: int
    turn: int
    kind: str
    interruptible: bool
    text: str = ""
    ended: bool = False
    starts_s: float | None = None
    settled: SaySettled | None = None


class Voice:
    """One caller's side of the door."""

    def __init__(self, agent: AgentPlane, *, call: int = 1, ms_per_char: float = 50.0) -> None:
        """Attach to ``agent``."""
        self.agent = agent
        self.call = call
        self.messages: list[tuple[int, FromRuntime]] = []
        """(ms of the call, message)."""
        self.says: dict[int, Spoken] = {}
        self.turn = 0
        self._ms_per_char = ms_per_char
        self._zero_s = asyncio.get_running_loop().time()
        self._free_s = self._zero_s
        self._news = asyncio.Event()
        self.slot = agent.attach(call, self._take)

    # -- to the agent

    def open(self, conversation: str | None = None, *, later_s: float = 0.0) -> None:
        """Connect the call, so many seconds later by the calendar."""
        self._zero_s = asyncio.get_running_loop().time()
        wall_s = 1_700_000_000.0 + later_s
        opening = OpenCall(self.call, conversation, "test", "en", (), wall_s, self.slot)
        self.agent.send(opening)

    def hear(
        self,
        text: str,
        *,
        reopens: int | None = None,
        certain: bool = True,
        kind: InputKind = "speech",
    ) -> int:
        """Start the next turn with the caller's words."""
        return self.start("input", text, reopens=reopens, certain=certain, kind=kind)

    def start(
        self,
        cause: str,
        text: str | None = None,
        *,
        silence_n: int = 0,
        reopens: int | None = None,
        certain: bool = True,
        kind: InputKind = "speech",
    ) -> int:
        """Start the next turn."""
        self.turn += 1
        said = None if text is None else self._input(kind, text)
        self.agent.send(
            StartTurn(
                self.call,
                self.turn,
                cause,  # type: ignore[arg-type]  # tests write plain strings
                said,
                silence_n,
                reopens,
                certain,
                self.now_ms(),
            )
        )
        return self.turn

    def confirm(self, text: str) -> None:
        """The caller is done indeed."""
        self.agent.send(ConfirmTurn(self.call, self.turn, Input("speech", text)))

    def retract(self) -> None:
        """The caller goes on."""
        self.agent.send(RetractTurn(self.call, self.turn, self.now_ms()))

    def interrupt(self, cause: InterruptCause = "words", *, turn: int | None = None) -> None:
        """Commit a barge-in: settle what is open, then tell the agent."""
        number = turn or self.turn
        settled = tuple(self._settle_now(say) for say in self.says.values() if say.settled is None)
        self.agent.send(
            InterruptTurn(self.call, number, cause, "word 'no'", settled, self.now_ms())
        )

    def close(self, cause: CloseCause = "caller") -> None:
        """Hang up."""
        for say in self.says.values():
            if say.settled is None:
                self.agent.send(self._settle_now(say))
        self.agent.send(CloseCall(self.call, cause, self.now_ms()))

    def _input(self, kind: InputKind, text: str) -> Input:
        """The caller's input, with what of the open says they had heard when they began."""
        now_s = asyncio.get_running_loop().time()
        heard = tuple(
            Heard(say.say, self._heard_chars(say, now_s), complete=say.settled is not None)
            for say in self.says.values()
            if say.ended and say.settled is None
        )
        return Input(kind, text, onset_ms=self.now_ms(), heard_at_onset=heard)

    # -- from the agent

    def now_ms(self) -> int:
        """Now by the call's clock."""
        return round((asyncio.get_running_loop().time() - self._zero_s) * 1000)

    def of(self, kind: type[M]) -> list[M]:
        """Messages of one kind, in order."""
        return [message for _, message in self.messages if isinstance(message, kind)]

    def times(self, kind: type[M]) -> list[int]:
        """When messages of one kind came."""
        return [at for at, message in self.messages if isinstance(message, kind)]

    def happened(self, event: str) -> list[dict[str, Json]]:
        """The fields of the runtime's events of one name."""
        return [dict(m.fields) for m in self.of(Happened) if m.event == event]

    @property
    def texts(self) -> list[str]:
        """The texts of all says so far."""
        return [say.text for say in self.says.values()]

    async def wait_for(self, kind: type[M], count: int = 1) -> M:
        """Wait for the ``count``-th message of a kind; at most 60 s."""
        async with asyncio.timeout(60):
            while len(self.of(kind)) < count:
                await self._next()
        return self.of(kind)[count - 1]

    async def wait_ended(self, turn: int | None = None) -> TurnEnded:
        """Wait until a turn has ended, and all that was said has been heard."""
        number = turn or self.turn
        async with asyncio.timeout(60):
            while not any(m.turn == number for m in self.of(TurnEnded)):
                await self._next()
            while any(say.settled is None for say in self.says.values()):
                await self._next()
        return next(m for m in self.of(TurnEnded) if m.turn == number)

    async def wait_event(self, event: str, count: int = 1) -> dict[str, Json]:
        """Wait for the ``count``-th runtime event of a name."""
        async with asyncio.timeout(60):
            while len(self.happened(event)) < count:
                await self._next()
        return self.happened(event)[count - 1]

    async def ready(self, conversation: str | None = None, *, later_s: float = 0.0) -> CallReady:
        """Connect, and wait until the agent is there."""
        self.open(conversation, later_s=later_s)
        return await self.wait_for(CallReady)

    async def _next(self) -> None:
        self._news.clear()
        await self._news.wait()

    def _take(self, message: FromRuntime) -> None:
        self.messages.append((self.now_ms(), message))
        match message:
            case Say(say=say, turn=turn, kind=kind, interruptible=interruptible):
                assert say not in self.says, "a say is announced once"
                self.says[say] = Spoken(say, turn, kind, interruptible)
            case SayText(say=say, text=text):
                self.says[say].text += text
            case SayEnd(say=say):
                self._speak(self.says[say])
            case _:
                pass
        self._news.set()

    def _speak(self, say: Spoken) -> None:
        loop = asyncio.get_running_loop()
        say.ended = True
        say.starts_s = max(loop.time(), self._free_s)
        self._free_s = say.starts_s + len(say.text) * self._ms_per_char / 1000
        loop.call_at(self._free_s, self._heard, say)

    def _heard(self, say: Spoken) -> None:
        if say.settled is None:
            self.agent.send(self._settle(say, "heard", len(say.text)))

    def _settle_now(self, say: Spoken) -> SaySettled:
        now = asyncio.get_running_loop().time()
        chars = self._heard_chars(say, now)
        self._free_s = now
        return self._settle(say, "cut" if chars > 0 else "dropped", chars)

    def _heard_chars(self, say: Spoken, now_s: float) -> int:
        if say.starts_s is None or now_s <= say.starts_s:
            return 0
        chars = int((now_s - say.starts_s) * 1000 / self._ms_per_char)
        chars = say.text.rfind(" ", 0, chars + 1) if chars < len(say.text) else chars
        return max(0, chars)

    def _settle(self, say: Spoken, outcome: SayOutcome, chars: int) -> SaySettled:
        say.settled = SaySettled(self.call, say.turn, say.say, outcome, chars)
        self._news.set()
        return say.settled


def kinds(messages: Sequence[FromRuntime]) -> list[str]:
    """The names of messages, for readable comparisons."""
    return [type(message).__name__ for message in messages]
