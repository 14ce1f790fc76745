"""A stage for the floor: timers that fire, a player that plays, a caller to script.

The player plays one allowed line at a time in real time, stands while the gate is closed, and
reports what is heard as the playback ledger would. Everything happens in ms of one clock; nothing
waits.
"""

import heapq
from collections.abc import Iterator

from runtime.agent import (
    CallReady,
    CallSettings,
    Expect,
    InterruptTurn,
    Listen,
    OpenTool,
    Say,
    SayEnd,
    SayKind,
    SayText,
    StartTurn,
    TurnEnded,
    Word,
    Working,
)
from voice.floor.actions import (
    AllowSay,
    ArmTimer,
    DropSay,
    EndCall,
    FloorAction,
    FlushOutput,
    HoldOutput,
    Record,
    ReleaseOutput,
    SpeakLine,
)
from voice.floor.events import (
    FloorEvent,
    SayFinished,
    SayStarted,
    TimerFired,
    Transcribed,
    Verdict,
    VoiceConfirmed,
    VoiceEnded,
    VoiceStarted,
)
from voice.floor.floor import Floor

CALL = 7


class Player:
    """The far end: one line at a time, position kept through holds."""

    def __init__(self) -> None:
        self.held = False
        self.length_ms: dict[int, int] = {}
        self.left_ms: dict[int, float] = {}
        self.allowed: list[int] = []
        self.started: set[int] = set()
        self.finished: list[int] = []

    def take(self, action: FloorAction) -> None:
        match action:
            case HoldOutput():
                self.held = True
            case ReleaseOutput():
                self.held = False
            case FlushOutput():
                self.allowed.clear()
            case DropSay(say=say):
                self.allowed = [other for other in self.allowed if other != say]
            case AllowSay(say=say) | SpeakLine(say=say):
                self.allowed.append(say)
                self.left_ms[say] = self.length_ms.get(say, 600 if say < 0 else 2000)
            case _:
                pass

    def play(self, ms: int) -> Iterator[FloorEvent]:
        if self.held or not self.allowed:
            return
        say = self.allowed[0]
        if say not in self.started:
            self.started.add(say)
            yield SayStarted(say)
            return
        self.left_ms[say] -= ms
        if self.left_ms[say] <= 0:
            self.allowed.pop(0)
            self.finished.append(say)
            yield SayFinished(say)


class Scene:
    """A call on stage. Times are absolute ms."""

    def __init__(
        self, settings: CallSettings | None = None, *, strong: bool = True, ready: bool = True
    ) -> None:
        self.settings = settings or CallSettings()
        self.floor = Floor(CALL, self.settings, strong_stt=strong)
        self.now = 0
        self.log: list[tuple[int, FloorAction]] = []
        self.player = Player()
        self._timers: list[tuple[int, int, str, int]] = []
        self._order = 0
        self._next_say = 1
        self._script: list[tuple[int, int, FloorEvent]] = []
        if ready:
            self.do(CallReady(CALL, "c", self.settings))

    # ---------------------------------------------------------------- running

    def do(self, event: FloorEvent) -> list[FloorAction]:
        """Feed one event now."""
        actions = self.floor.handle(event, self.now)
        for action in actions:
            self.log.append((self.now, action))
            self.player.take(action)
            if isinstance(action, ArmTimer):
                self._order += 1
                heapq.heappush(self._timers, (action.due_ms, self._order, action.key, action.stamp))
        return actions

    def at(self, ms: int, event: FloorEvent) -> None:
        """Script an event for later."""
        self._order += 1
        heapq.heappush(self._script, (ms, self._order, event))

    def until(self, ms: int) -> "Scene":
        """Let time pass: scripted events, timers and playback, in order of their times."""
        while True:
            step = (self.now // 20 + 1) * 20
            due = self._timers[0][0] if self._timers else ms + 1
            scripted = self._script[0][0] if self._script else ms + 1
            following = min(step, due, scripted)
            if following > ms:
                self.now = max(self.now, ms)
                return self
            self.now = max(self.now, following)
            if scripted <= self.now:
                self.do(heapq.heappop(self._script)[2])
            elif due <= self.now:
                _, _, key, stamp = heapq.heappop(self._timers)
                self.do(TimerFired(key, stamp))
            else:
                for event in self.player.play(20):
                    self.do(event)

    def live_stamp(self, key: str) -> int | None:
        """The newest stamp given out for a timer."""
        stamps = [a.stamp for _, a in self.log if isinstance(a, ArmTimer) and a.key == key]
        return stamps[-1] if stamps else None

    # ---------------------------------------------------------------- the caller

    def voice(self, start: int, end: int, *, confirmed: bool = True, lag: int = 60) -> None:
        """Script a stretch of voice as the ear would report it."""
        self.at(start + lag, VoiceStarted(start))
        if confirmed:
            self.at(start + lag + 100, VoiceConfirmed(start))
        self.at(end + 20, VoiceEnded(start, end, end - start, confirmed))

    def says(
        self, start: int, end: int, text: str, *, final_at: int | None = None, **more: object
    ) -> None:
        """Script voice and its final, 200 ms after the end unless told otherwise."""
        self.voice(start, end)
        self.at(end + 200 if final_at is None else final_at, final(text, start, end))

    # ---------------------------------------------------------------- the agent

    @property
    def turn(self) -> int:
        """Number of the newest turn."""
        return max((start.turn for start in self.starts()), default=0)

    def reply(
        self,
        text: str = "All right, that is done.",
        *,
        ms: int = 2000,
        kind: SayKind = "reply",
        protected: bool = False,
        expect: Expect | None = None,
        turn: int | None = None,
        ends: bool = True,
    ) -> int:
        """The runtime says something whole in the newest turn, and ends it unless told not to."""
        say = self._next_say
        self._next_say += 1
        number = self.turn if turn is None else turn
        self.player.length_ms[say] = ms
        self.do(Say(CALL, number, say, kind, interruptible=not protected))
        self.do(SayText(CALL, number, say, text))
        self.do(SayEnd(CALL, number, say, expect or Expect()))
        if ends:
            self.ends(number)
        return say

    def ends(self, turn: int | None = None) -> None:
        """The runtime listens and ends the newest turn."""
        number = self.turn if turn is None else turn
        self.do(Listen(CALL, number))
        self.do(TurnEnded(CALL, number, "done"))

    def ends_only(self) -> None:
        """The runtime ends the newest turn, having listened already."""
        self.do(TurnEnded(CALL, self.turn, "done"))

    def tool(self, *names: str, filler: str | None = None, turn: int | None = None) -> None:
        """These author tools are open now."""
        number = self.turn if turn is None else turn
        tools = tuple(OpenTool(n, name, filler) for n, name in enumerate(names, 1))
        self.do(Working(CALL, number, tools))

    def greeted(self, *, at: int = 3000) -> "Scene":
        """The opening turn said one line, it was heard, and the floor listens."""
        self.reply("Good morning, Harbour Clinic.", ms=1000)
        return self.until(at)

    # ---------------------------------------------------------------- what came out

    def of(self, *kinds: type[FloorAction]) -> list[tuple[int, FloorAction]]:
        """Orders of these kinds with their times."""
        return [(ms, action) for ms, action in self.log if isinstance(action, kinds)]

    def starts(self) -> list[StartTurn]:
        return [action for _, action in self.log if isinstance(action, StartTurn)]

    def interrupts(self) -> list[InterruptTurn]:
        return [action for _, action in self.log if isinstance(action, InterruptTurn)]

    def allowed(self) -> list[int]:
        return [action.say for _, action in self.log if isinstance(action, AllowSay)]

    def spoken(self) -> list[tuple[int, str]]:
        return [(ms, a.text) for ms, a in self.log if isinstance(a, SpeakLine)]

    def ended(self) -> list[EndCall]:
        return [action for _, action in self.log if isinstance(action, EndCall)]

    def records(self, event: str) -> list[dict[str, object]]:
        """Fields of the records with this name, their time added."""
        return [
            {"t": ms, **dict(action.fields)}
            for ms, action in self.log
            if isinstance(action, Record) and action.event == event
        ]

    def when(self, kind: type[FloorAction], nth: int = 0) -> int:
        """When the nth order of a kind came; negative counts from the end."""
        return self.of(kind)[nth][0]

    def forget(self) -> "Scene":
        """Look only at what comes from now on (turn numbers are kept)."""
        last = [(ms, action) for ms, action in self.log if isinstance(action, StartTurn)][-1:]
        self.log = last
        return self


def final(
    text: str,
    start: int,
    end: int,
    *,
    segment: int = 0,
    logprob: float = 0.0,
    verdict: Verdict = "words",
    words: tuple[Word, ...] = (),
    voiced: int | None = None,
) -> Transcribed:
    """The STT's last word on some audio."""
    return Transcribed(
        text,
        True,
        start,
        end,
        end - start if voiced is None else voiced,
        logprob,
        words,
        verdict,
        segment,
    )


def partial(text: str, start: int, end: int, *, logprob: float = 0.0) -> Transcribed:
    """The STT's first guess."""
    return Transcribed(text, False, start, end, end - start, logprob)
