"""Clients that break the rules, vanish or don't read: the call goes on or ends, in whole calls."""

import asyncio
import base64
import json
from collections.abc import Sequence

import numpy as np
import pytest

from runtime import ToolContext, ToolResult, tool
from runtime.conversation.events import CallEnded
from runtime.models.scripted_model import Call, Say
from tests.acceptance.stage import Backstage, Deed, Mangle, Played, Said, hangs_up, play, says
from tests.fakes.projects import response
from voice.replay.far_end import Conditions
from voice.replay.link import Network
from voice.replay.runner import Channel

LONG = (
    "We are open from nine to five on weekdays. On Saturday we open at ten, and we close at two in "
    "the afternoon. On Sunday there is nobody here at all. "
)


def question(channel: Channel) -> Said:
    return says("When are you open?", "1s", 1.0, rate_hz=8000 if channel == "twilio" else 16_000)


def ask(
    channel: Channel, *deeds: tuple[float, Deed], mangle: Mangle | None = None, strict: bool = True
) -> Played:
    return play(
        [Say("We open at nine.")],
        question(channel),
        channel=channel,
        during=deeds,
        mangle=mangle,
        strict=strict,
    )


def sends(*messages: str | bytes) -> Deed:
    def deed(stage: Backstage) -> None:
        for message in messages:
            stage.call.received(message)

    return deed


def answered(played: Played) -> bool:
    return [state for _, state, _ in played.texts().values()] == ["heard"]


@pytest.mark.parametrize("channel", ["web", "twilio"])
def test_a_message_of_the_wrong_kind_is_refused_by_name_and_the_call_goes_on(
    channel: Channel,
) -> None:
    """H01: text that is no JSON, or sound where JSON is due."""
    wrong: str | bytes = "hello" if channel == "web" else bytes(640)
    played = ask(channel, (1500.0, sends(wrong, wrong)))
    assert answered(played)
    codes = played.result_problems()
    assert len(codes) == 2 and len(set(codes)) == 1 and codes[0]
    if channel == "web":
        errors = [n for n in played.notices if n["type"] == "error"]
        assert [n["code"] for n in errors] == codes


@pytest.mark.parametrize("channel", ["web", "twilio"])
def test_too_many_unusable_messages_end_the_call_with_a_reason(channel: Channel) -> None:
    """H01"""
    wrong: str | bytes = "hello" if channel == "web" else bytes(640)
    played = ask(channel, (1500.0, sends(*[wrong] * 60)), strict=False)
    assert [s.kind for s in played.sent if s.kind.startswith("close")] == ["close 1003"]
    assert played.only("call_ended")["cause"] == "lost"
    assert len(played.named("problem")) == 51, "nothing is read after the end"


@pytest.mark.parametrize("channel", ["web", "twilio"])
def test_empty_messages_change_nothing(channel: Channel) -> None:
    """H02: no fault, no gap in what the caller says."""
    empty: list[str | bytes] = ["", b"", " ", "{}", "null", "[]"]
    plain = ask(channel)
    played = ask(channel, (1300.0, sends(*empty)), (1700.0, sends(*empty)))
    assert answered(played)
    assert played.only("call_ended")["cause"] == "caller"
    said = [f for f in played.named("caller_said") if f["final"]]
    assert said == [f for f in plain.named("caller_said") if f["final"]]


@pytest.mark.parametrize("at", ["say_starts+400ms", "tool_starts+500ms", "#2:say_starts+300ms"])
def test_a_caller_who_is_gone_without_a_word_ends_the_call(at: str) -> None:
    """H03, H04: during a protected sentence, a tool, an answer: settled at once."""
    stopped: list[float] = []

    @tool(description="Slow.")
    async def slow() -> ToolResult:
        try:
            await asyncio.sleep(20)
        except asyncio.CancelledError:
            stopped.append(asyncio.get_running_loop().time() * 1000)
            raise
        return ToolResult("done")

    played = play(
        [[Say("I will see to that, it may take a while."), Call("slow")], Say("x")],
        says("Do the slow thing.", "#1:say_ends+300ms", 1.0),
        hangs_up(at, vanish=True),
        tools=[slow],
        greeting=[
            response(
                "utter_session_notice",
                "This sentence can not be talked over by anybody. ",
                interruptible=False,
            )
        ],
        strict=False,
    )
    gone = played.recording.lines[-1].start_ms
    ended = played.only("call_ended")
    assert ended["cause"] == "lost" and ended["t_ms"] <= gone + 40
    assert all(t_ms <= gone + 1000 for t_ms in stopped)
    assert set(played.outcomes) <= {"cancelled"}
    assert played.recording.ended_by == "vanished"


def test_a_client_that_does_not_read_is_sent_little_and_gets_a_clear_first() -> None:
    """H05: a minute of speech is ready at once; the caller interrupts before reading on."""
    text = LONG * 6
    played = play(
        [Say(text), Say("Yes?")],
        says("When are you open?", "0.5s", 1.0),
        says("Stop please.", "9s", 1.0),
        conditions=Conditions(network=Network(unread_ms=((3500.0, 12_000.0),)), linger_ms=3000),
    )
    unread = [s for s in played.sent if s.kind == "sound" and 3500 <= s.t_ms < 9000]
    assert sum(s.size for s in unread) / 32 <= 1500, "synthesis does not run ahead of a deaf client"
    assert played.texts()[1][1] == "cut"
    assert played.texts()[2][1] == "heard"
    cleared = next(s.t_ms for s in played.sent if s.kind == "clear" and s.t_ms > 8000)
    assert cleared <= 9200
    heard_after = played.sound_ms(12_000, played.named("say_started")[-1]["t_ms"])
    assert heard_after == 0.0, "what waited in the way was dropped"


@pytest.mark.parametrize("off_ms", [-20, -1, 0, 1, 20])
@pytest.mark.parametrize("vanish", [False, True])
def test_a_hang_up_in_the_moment_of_a_barge_in_is_never_lost(off_ms: int, vanish: bool) -> None:
    """H07: one tool is cancelled, one finishes; the end is recorded once."""
    finished: list[str] = []

    @tool(description="Look.")
    async def look() -> ToolResult:
        await asyncio.sleep(30)
        return ToolResult("seen")

    @tool(description="Order.", on_interrupt="finish")
    async def order(*, context: ToolContext) -> ToolResult:
        await asyncio.sleep(4)
        finished.append(context.idempotency_key)
        return ToolResult("ordered")

    def perform(*more: Said) -> Played:
        return play(
            [[Say("I will do both for you now."), Call("look"), Call("order")], Say("x")],
            says("Look and order please.", "0.5s", 1.0),
            says("No, stop that.", "3s", 1.0),
            *more,
            tools=[look, order],
            tool_timeout_s=40,
            most_ms=20_000,
            strict=False,
        )

    commit = perform().only("commit")["t_ms"]
    finished.clear()
    played = perform(hangs_up(f"{commit + off_ms}ms", vanish=vanish))
    assert len([e for e in played.facts if isinstance(e.fact, CallEnded)]) == 1
    assert len(played.named("call_ended")) == 1
    assert len(finished) == 1
    assert sorted(played.outcomes) == ["cancelled", "ok"]
    assert played.facts[-1].at_ms <= commit + 5100


class _Odd:
    """Cuts the caller's sound into pieces of odd lengths."""

    SIZES = (641, 639, 1, 640, 1279, 3)

    def __init__(self) -> None:
        self._rest = b""
        self._turn = 0

    def __call__(self, message: str | bytes) -> Sequence[str | bytes]:
        if isinstance(message, str):
            return [message]
        self._rest += message
        pieces: list[bytes] = []
        while len(self._rest) >= (size := self.SIZES[self._turn % len(self.SIZES)]):
            pieces.append(self._rest[:size])
            self._rest = self._rest[size:]
            self._turn += 1
        return pieces


def test_sound_cut_at_odd_bytes_is_heard_as_if_it_were_not() -> None:
    """H08: the same words, the same turn; no sample is swapped into noise."""
    plain = ask("web")
    odd = ask("web", mangle=_Odd())
    assert answered(odd) and odd.result_problems() == []
    first, second = (p.named("turn_started", reason="speech")[0] for p in (plain, odd))
    assert first["text"] == second["text"]
    assert abs(first["t_ms"] - second["t_ms"]) <= 100
    assert [f["event"] if "event" in f else f["reason"] for f in plain.named("hold")] == [
        f["event"] if "event" in f else f["reason"] for f in odd.named("hold")
    ]


def test_the_agents_sound_is_whole_samples_whatever_the_engine_gives() -> None:
    """H08: each message of sound is a whole number of frames."""
    played = ask("web")
    assert {s.size % 640 for s in played.sent if s.kind == "sound"} == {0}
    assert np.count_nonzero(played.recording.heard) > 0


class _First:
    """Puts something before the first message."""

    def __init__(self, *before: str | bytes) -> None:
        self._before = list(before)

    def __call__(self, message: str | bytes) -> Sequence[str | bytes]:
        before, self._before = self._before, []
        return [*before, message]


WEB_START = json.dumps({"type": "start", "format": {"encoding": "pcm16", "rate_hz": 16000}})
PHONE_MEDIA = json.dumps(
    {"event": "media", "media": {"payload": base64.b64encode(bytes(160)).decode()}}
)


@pytest.mark.parametrize(
    ("channel", "code", "mangle", "message"),
    [
        ("web", "before_start", _First(bytes(640)), None),
        ("twilio", "", _First(PHONE_MEDIA), None),
        ("web", "second_start", None, WEB_START),
        ("web", "", None, json.dumps({"type": "wave", "hands": 2})),
        ("twilio", "", None, json.dumps({"event": "wave", "streamSid": "MZ1"})),
        ("web", "no_type", None, json.dumps({"stop": 1})),
        ("web", "bad_key", None, json.dumps({"type": "key", "key": 55})),
        ("twilio", "", None, json.dumps({"event": "media", "media": {"timestamp": 7}})),
    ],
)
def test_messages_out_of_order_have_one_defined_answer_and_the_call_goes_on(
    channel: Channel, code: str, mangle: Mangle | None, message: str | None
) -> None:
    """H11"""
    deeds = () if message is None else ((600.0, sends(message)),)
    played = ask(channel, *deeds, mangle=mangle)
    assert answered(played), played.trace()
    if code:
        errors = [n["code"] for n in played.notices if n["type"] == "error"]
        assert errors == [code]


def test_what_comes_after_stop_is_not_heard() -> None:
    """H11"""
    stop = json.dumps({"type": "stop"})
    played = ask("web", (1400.0, sends(stop, bytes(640), stop)), strict=False)
    assert played.only("call_ended")["t_ms"] == 1400
    assert played.named("turn_started", reason="speech") == []
