"""A whole call on stage: scripted engines and model, everything between them real, virtual time.

The phone of the replay speaks the wire protocol to a real ``Call``; ear, floor, mouth and agent
plane are the ones that serve. What the call sends is noted on its way out, and the agent's voice is
one in which every character can be told from the recording (``LegibleTts``), so that what is
remembered can be compared with what was played, character by character.

Every call played here is also checked for what must hold in each (``Played.check_promises``).
"""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from runtime.agent import CallSettings, CloseCause
from runtime.conversation.events import Event, ToolOutcome, ToolSettled
from runtime.models.scripted_model import ScriptedModel, Step
from runtime.plane import InLoopAgent
from runtime.project.model import MemoryField, Project
from runtime.project.response_model import Response
from runtime.store.memory_store import MemoryStore
from runtime.tasks import cancel_and_settle
from runtime.tools.result import ToolResult
from tests.acceptance.voices import LegibleTts, Samples, played_chars
from tests.fakes.projects import make_project, response
from voice.audio.files import read_sound
from voice.audio.format import WIDE
from voice.call.driver import Call
from voice.call.events import CallEvent
from voice.call.ports import Engines, Outbound
from voice.hearing.ports import VoiceDetector
from voice.hearing.silero import SileroDetector
from voice.hearing.stt_scripted import ScriptedLine, ScriptedStt
from voice.replay.at import parse_at
from voice.replay.events_file import event_line
from voice.replay.far_end import CallSide, Conditions, FarEnd, MarkFaults, Recording
from voice.replay.phones import ClearAsked, MarkSet, Phone, Sound, TwilioPhone, WebPhone
from voice.replay.runner import WALL_START, Channel
from voice.replay.script import CallerLine, HangUp, Keys, Speech, Typed
from voice.replay.virtual_loop import run_virtual
from voice.speaking.pacer import Ticker
from voice.speaking.tts_scripted import ScriptedTts
from voice.wire.bargein_v1 import BargeinProtocol
from voice.wire.events import WireProtocol
from voice.wire.twilio import TwilioProtocol

CLIPS: Final = Path(__file__).parents[2] / "audio_fixtures" / "clips"
VOICE: Final = "en_brooklyn_bridge.wav"
COUGH: Final = "ns_burp.wav"

Json = dict[str, Any]
Tool = Callable[..., Awaitable[ToolResult]]


# ------------------------------------------------------------------ the caller


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence of the caller: a voice, and the words that the STT makes of it."""

    line: CallerLine
    words: ScriptedLine | None


@cache
def _clip(name: str, rate_hz: int) -> Samples:
    """A recording without the silence around it."""
    samples = read_sound(CLIPS / name, rate_hz).samples
    loud = np.flatnonzero(np.abs(samples.astype(np.int32)) > 400)
    return samples[loud[0] : loud[-1] + 1]


def voice(seconds: float, rate_hz: int, clip: str = VOICE) -> Samples:
    """Somebody talking for so long."""
    samples = _clip(clip, rate_hz)
    return np.resize(samples, round(seconds * rate_hz))


def says(text: str, at: str, seconds: float = 1.0, *, rate_hz: int = 16_000) -> Said:
    """Say ``text`` for so long from ``at`` on: ``2.5s`` of the call, or ``agent_starts+1s``."""
    line = CallerLine(Speech(voice(seconds, rate_hz), rate_hz), parse_at(at))
    start = parse_at(at)
    if start.anchor is None:
        from_ms = round(start.offset_ms)
        return Said(line, ScriptedLine(text, from_ms, from_ms + round(seconds * 1000)))
    return Said(line, ScriptedLine(text))


def noise(at: str, seconds: float = 0.15, clip: str = COUGH, *, rate_hz: int = 16_000) -> Said:
    """Make a noise that is no words."""
    return Said(CallerLine(Speech(voice(seconds, rate_hz, clip), rate_hz), parse_at(at)), None)


def presses(keys: str, at: str) -> Said:
    """Press keys."""
    return Said(CallerLine(Keys(keys), parse_at(at)), None)


def types(text: str, at: str) -> Said:
    """Type instead of speaking."""
    return Said(CallerLine(Typed(text), parse_at(at)), None)


def hangs_up(at: str, *, vanish: bool = False) -> Said:
    """End the call."""
    return Said(CallerLine(HangUp("vanish" if vanish else "stop"), parse_at(at)), None)


# ------------------------------------------------------------------ the way out


@dataclass(frozen=True, slots=True)
class Sent:
    """Something that the call handed to its way out."""

    t_ms: float
    kind: str
    """``sound``, ``mark``, ``clear``, ``close``, or what the notice calls itself."""
    size: int = 0
    """Bytes of sound."""
    name: str = ""
    """Of a mark."""


class _Tap(Outbound):
    """Notes what goes by."""

    def __init__(self, way: Outbound, phone: Phone, clock: Callable[[], float]) -> None:
        self._way = way
        self._phone = phone
        self._clock = clock
        self.sent: list[Sent] = []
        self.notices: list[Json] = []

    def audio(self, message: str | bytes) -> None:
        self._note(message)
        self._way.audio(message)

    def control(self, message: str | bytes) -> None:
        self._note(message)
        if isinstance(message, str):
            self.notices.append(json.loads(message))
        self._way.control(message)

    def clear(self, message: str | bytes | None) -> None:
        self.sent.append(Sent(self._clock(), "clear"))
        self._way.clear(message)

    def close(self, code: int, reason: str) -> None:
        self.sent.append(Sent(self._clock(), f"close {code}"))
        self._way.close(code, reason)

    def _note(self, message: str | bytes) -> None:
        match self._phone.read(message):
            case Sound(payload):
                self.sent.append(Sent(self._clock(), "sound", len(payload)))
            case MarkSet(name):
                self.sent.append(Sent(self._clock(), "mark", name=name))
            case ClearAsked():
                self.sent.append(Sent(self._clock(), "clear"))
            case notice:
                self.sent.append(Sent(self._clock(), notice.name))


# ------------------------------------------------------------------ a call


@dataclass(frozen=True, slots=True, kw_only=True)
class Backstage:
    """What a test can reach while the call runs."""

    call: Call
    far_end: FarEnd
    model: ScriptedModel
    tts: ScriptedTts
    events: list[CallEvent]
    ticker: Ticker
    sent: list[Sent]
    """What the call has sent so far."""


Deed = Callable[[Backstage], object]
Mangle = Callable[[str | bytes], Sequence[str | bytes]]
"""What becomes of a message of the phone on its way to the call."""


class _Mangled(CallSide):
    """A call behind a line that does things to messages."""

    def __init__(self, call: Call, mangle: Mangle) -> None:
        self._call = call
        self._mangle = mangle

    def received(self, message: str | bytes) -> None:
        for piece in self._mangle(message):
            self._call.received(piece)

    def lost(self, cause: CloseCause) -> None:
        self._call.lost(cause)


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What a call left behind."""

    events: tuple[CallEvent, ...]
    recording: Recording
    sent: tuple[Sent, ...]
    notices: tuple[Json, ...]
    model: ScriptedModel
    tts: ScriptedTts
    facts: tuple[Event, ...]
    """The conversation, as stored."""
    tasks_left: tuple[str, ...]
    honest_marks: bool
    """The far end answered each mark when it was reached."""
    ignored_marks: Counter[str] = field(default_factory=Counter[str])

    def named(self, event: str, **wanted: object) -> list[Json]:
        """Fields of the events of a name, with ``t_ms``; only those with these values."""
        found = [
            {"t_ms": e.t_ms, **cast(Json, dict(e.fields))} for e in self.events if e.event == event
        ]
        return [f for f in found if all(f.get(key) == value for key, value in wanted.items())]

    def only(self, event: str, **wanted: object) -> Json:
        """The one event of a name with these values."""
        found = self.named(event, **wanted)
        assert len(found) == 1, f"{len(found)} of {event} {wanted}\n{self.trace()}"
        return found[0]

    def prompt(self, request: int = -1) -> list[tuple[str, str]]:
        """The messages of a request to the model, but for the system's first."""
        return [(m.role, m.text) for m in self.model.requests[request].messages[1:]]

    @property
    def outcomes(self) -> list[ToolOutcome]:
        """Outcomes of the tools, as recorded, in order."""
        return [e.fact.outcome for e in self.facts if isinstance(e.fact, ToolSettled)]

    def texts(self) -> dict[int, tuple[str, str, int]]:
        """Each settled say of the agent: its text, outcome and heard characters."""
        return {
            f["say"]: (f["text"], f["state"], f["heard_chars"])
            for f in self.named("agent_said")
            if f["state"] != "written"
        }

    def sound_ms(self, from_ms: float, to_ms: float) -> float:
        """How much sound the far end heard in a span."""
        rate = self.recording.rate_hz
        piece = self.recording.heard[round(from_ms * rate / 1000) : round(to_ms * rate / 1000)]
        return float(np.count_nonzero(np.abs(piece.astype(np.int32)) > 64)) * 1000 / rate

    def last_sound_ms(self, before_ms: float) -> float:
        """End of the last sound that the far end heard before then."""
        rate = self.recording.rate_hz
        piece = self.recording.heard[: round(before_ms * rate / 1000)]
        loud = np.flatnonzero(np.abs(piece.astype(np.int32)) > 64)
        return (int(loud[-1]) + 1) * 1000 / rate if loud.size else 0.0

    def first_sound_ms(self, after_ms: float) -> float | None:
        """Start of the first sound that the far end heard from then on."""
        rate = self.recording.rate_hz
        first = round(after_ms * rate / 1000)
        loud = np.flatnonzero(np.abs(self.recording.heard[first:].astype(np.int32)) > 64)
        return (first + int(loud[0])) * 1000 / rate if loud.size else None

    def trace(self) -> str:
        """All events, for the message of a failing test."""
        return "\n".join(event_line(event) for event in self.events)

    def result_problems(self) -> list[str]:
        """Codes of what went wrong."""
        return [str(f.get("code") or f.get("reason")) for f in self.named("problem")]

    def check_promises(self) -> None:
        """What holds for every call: one outcome each, nothing left behind, no word too many."""
        assert self.tasks_left == (), self.tasks_left
        assert self.tts.opened == self.tts.closed and self.tts.open_now == 0
        started = [f["call_id"] for f in self.named("tool_started")]
        settled = Counter(f["call_id"] for f in self.named("tool_settled"))
        recorded = Counter(e.fact.call_id for e in self.facts if isinstance(e.fact, ToolSettled))
        assert set(recorded.values()) <= {1}, "a call has one outcome"
        assert set(settled) <= set(recorded) and set(settled.values()) <= {1}
        assert set(started) <= set(recorded), "each call that began was settled"
        says = Counter(f["say"] for f in self.named("say_settled"))
        assert set(says.values()) <= {1}, "a say is settled once"
        self._check_heard()

    def _check_heard(self) -> None:
        """No word is remembered that was not played, and at most one that was is missing."""
        if not isinstance(self.tts, LegibleTts) or self.recording.rate_hz != self.tts.rate_hz:
            return
        counted = Counter(text for text, _, _ in self.texts().values())
        for text, state, chars in self.texts().values():
            if counted[text] > 1 or state == "failed":
                continue  # the same sound twice: which of them was heard can't be told
            if any(char.isdigit() or char in "$*" for char in text):
                continue  # spoken in other words than written
            played = played_chars(self.tts, text, self.recording.heard)
            assert chars <= played, f"{chars} remembered, {played} played: {text!r}"
            missed = _whole_words(text[chars:played], text[played : played + 1])
            assert len(missed) <= 1 or not self.honest_marks, f"forgot {missed} of {text!r}"


def _whole_words(text: str, after: str) -> list[str]:
    """The words of ``text`` that are over where it ends; ``after`` is the next character."""
    words = text.split()
    return words if not after.strip() or not text.strip() or text[-1] == " " else words[:-1]


def play(
    steps: Sequence[Step] | ScriptedModel,
    *caller: Said,
    tools: Sequence[Tool] = (),
    greeting: str | Sequence[Response] = "",
    settings: CallSettings | None = None,
    memory: tuple[MemoryField, ...] = (),
    tool_timeout_s: float = 10.0,
    project: Project | None = None,
    tts: ScriptedTts | None = None,
    stt: ScriptedStt | None = None,
    detector: VoiceDetector | None = None,
    conditions: Conditions | None = None,
    channel: Channel = "web",
    during: Sequence[tuple[float, Deed]] = (),
    mangle: Mangle | None = None,
    strict: bool = True,
    linger_ms: float = 3000.0,
    most_ms: float = 60_000.0,
) -> Played:
    """Play one call in virtual time.

    Args:
        steps: what the model answers, one a request; or the model.
        caller: what the caller does.
        tools: the agent's tools.
        greeting: what the agent says first.
        settings: of the call; None = the defaults with silence after a minute.
        memory: fields that tools may write.
        tool_timeout_s: most that a tool may take.
        project: instead of one of the above.
        tts: the agent's voice; None = legible.
        stt: what is understood; None = what the caller's lines say.
        detector: the sure voice detector; None = the quick one alone.
        conditions: of line and room.
        channel: ``web`` (16 kHz, lossless) or ``twilio`` (lines must be at 8 kHz).
        during: what is done at which ms of the call.
        mangle: what becomes of the phone's messages on their way.
        strict: the model's script must be used up.
        linger_ms: the caller hangs up after so much quiet.
        most_ms: ... and then at the latest.
    """
    if isinstance(greeting, str):
        greeting = (response("utter_session_start", greeting),) if greeting else ()
    made = project or make_project(*tools, memory=memory, tool_timeout_s=tool_timeout_s)
    if project is None:
        resolved = settings or CallSettings(silence_timeout_ms=60_000)
        made = replace(
            made, settings=resolved, responses={**made.responses, **{g.name: g for g in greeting}}
        )
    model = steps if isinstance(steps, ScriptedModel) else ScriptedModel(steps)
    company = Cast(
        made,
        model,
        Engines(stt or _stt(caller), tts or LegibleTts(), detector),
        caller,
        conditions or Conditions(linger_ms=linger_ms, most_ms=most_ms),
        channel,
        tuple(during),
        mangle,
    )
    played = run_virtual(company.perform())
    played.check_promises()
    if strict:
        model.assert_finished()
    return played


def silero() -> SileroDetector:
    """The sure detector."""
    return SileroDetector()


def _stt(caller: Sequence[Said]) -> ScriptedStt:
    lines = [said.words for said in caller if said.words is not None]
    timed = all(line.start_ms is not None for line in lines)
    return ScriptedStt(lines if timed else [line.text for line in lines])


@dataclass(frozen=True, slots=True)
class Cast:
    """All that takes part in one call."""

    project: Project
    model: ScriptedModel
    engines: Engines
    caller: Sequence[Said]
    conditions: Conditions
    channel: Channel
    during: tuple[tuple[float, Deed], ...]
    mangle: Mangle | None = None

    async def perform(self) -> Played:
        loop = asyncio.get_running_loop()
        before = asyncio.all_tasks()
        store = MemoryStore()
        agent = InLoopAgent(
            self.project, models=[self.model], store=store, new_conversation=lambda _: "the call"
        )
        phone, protocol = _ends(self.channel)
        far_end = FarEnd(phone, tuple(said.line for said in self.caller), self.conditions)
        start = loop.time()
        tap = _Tap(far_end.link, phone, lambda: (loop.time() - start) * 1000)
        events: list[CallEvent] = []

        def watch(event: CallEvent) -> None:
            events.append(event)
            far_end.observe(event.event, event.fields, event.t_ms)

        ticker = Ticker(phases=1)
        if self.engines.detector is not None:
            ticker.every(self.engines.detector.run)
        call = Call(
            1,
            protocol=protocol,
            out=tap,
            engines=self.engines,
            agent=agent,
            ticker=ticker,
            channel=self.channel,
            wall_start=WALL_START,
            on_event=watch,
        )
        tts = cast(ScriptedTts, self.engines.tts)
        stage = Backstage(
            call=call,
            far_end=far_end,
            model=self.model,
            tts=tts,
            events=events,
            ticker=ticker,
            sent=tap.sent,
        )
        for at_ms, deed in self.during:
            loop.call_at(start + at_ms / 1000, deed, stage)
        ticking = loop.create_task(_tick(ticker), name="ticker")
        await far_end.run(call if self.mangle is None else _Mangled(call, self.mangle))
        async with asyncio.timeout(60):
            await call.wait_closed()
        await agent.aclose()
        await cancel_and_settle(ticking, grace=1.0)
        left = asyncio.all_tasks() - before
        events.sort(key=lambda event: event.t_ms)
        mouth = cast(Any, call)._mouth
        return Played(
            events=tuple(events),
            recording=far_end.recording(),
            sent=tuple(tap.sent),
            notices=tuple(tap.notices),
            model=self.model,
            tts=tts,
            facts=tuple(await store.load("the call")),
            tasks_left=tuple(sorted(task.get_name() for task in left)),
            honest_marks=self.conditions.marks == MarkFaults(),
            ignored_marks=Counter() if mouth is None else mouth.ignored_marks,
        )


async def _tick(ticker: Ticker) -> None:
    await asyncio.sleep(0.002)
    await ticker.run()


def _ends(channel: Channel) -> tuple[Phone, WireProtocol]:
    if channel == "twilio":
        return TwilioPhone(), TwilioProtocol()
    return WebPhone(WIDE), BargeinProtocol()
