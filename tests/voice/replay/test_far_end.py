"""The phone of the tests: what it sends, what it plays, and how badly it can behave."""

import asyncio
import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from runtime.agent import CloseCause
from voice.audio.codec import from_linear, to_linear
from voice.audio.format import PHONE, WIDE, AudioFormat, Encoding
from voice.replay.at import parse_at
from voice.replay.far_end import Conditions, Echo, FarEnd, MarkFaults, Recording
from voice.replay.link import Network
from voice.replay.phones import TwilioPhone, WebPhone
from voice.replay.script import CallerLine, HangUp, Keys, Speech, Tap, Typed
from voice.replay.virtual_loop import run_virtual

PCM = AudioFormat(Encoding.PCM16, 8000)


def tone(ms: float, level: int = 8000, rate_hz: int = 8000) -> NDArray[np.int16]:
    """A square wave: no sample of it is small."""
    count = round(ms * rate_hz / 1000)
    return np.where(np.arange(count) % 8 < 4, level, -level).astype(np.int16)


@dataclass
class Server:
    """A server that notes what it gets and when, and can be told to act."""

    far_end: FarEnd
    on_message: "Callable[[Server, dict[str, object]], None] | None" = None
    got: list[tuple[float, dict[str, object]]] = field(default_factory=list)
    sound: list[tuple[float, bytes]] = field(default_factory=list)
    ended: list[tuple[float, CloseCause]] = field(default_factory=list)

    def received(self, message: str | bytes) -> None:
        now = self.far_end.now_ms
        if isinstance(message, bytes):
            self.sound.append((now, message))
            return
        decoded = json.loads(message)
        if decoded.get("event") == "media":
            self.sound.append((now, base64.b64decode(decoded["media"]["payload"])))
            return
        self.got.append((now, decoded))
        if self.on_message is not None:
            self.on_message(self, decoded)

    def lost(self, cause: CloseCause) -> None:
        self.ended.append((self.far_end.now_ms, cause))

    def play(self, samples: NDArray[np.int16]) -> None:
        payload = base64.b64encode(from_linear(PHONE, samples)).decode()
        self.far_end.link.audio(json.dumps({"event": "media", "media": {"payload": payload}}))

    def mark(self, name: str) -> None:
        self.far_end.link.audio(json.dumps({"event": "mark", "mark": {"name": name}}))

    def clear(self) -> None:
        self.far_end.link.clear(json.dumps({"event": "clear"}))

    def marks(self) -> list[tuple[float, object]]:
        return [
            (round(at, 1), message["mark"]["name"])  # type: ignore[index,call-overload]
            for at, message in self.got
            if message["event"] == "mark"
        ]

    def samples(self) -> NDArray[np.int16]:
        return np.concatenate([to_linear(PHONE, payload) for _, payload in self.sound])


def phone_call(
    *caller: CallerLine,
    conditions: Conditions | None = None,
    acts: dict[float, Callable[[Server], None]] | None = None,
    phone: Callable[[], TwilioPhone | WebPhone] = TwilioPhone,
    observe: Callable[[FarEnd], None] | None = None,
) -> tuple[Server, Recording]:
    """Run one call; ``acts`` are what the server does, by ms since the connect."""

    async def main() -> tuple[Server, Recording]:
        far_end = FarEnd(phone(), caller, conditions or Conditions(linger_ms=200))
        server = Server(far_end)
        loop = asyncio.get_running_loop()
        for at_ms, act in (acts or {}).items():
            loop.call_later(at_ms / 1000, act, server)
        if observe is not None:
            observe(far_end)
        await far_end.run(server)
        await asyncio.sleep(1)
        return server, far_end.recording()

    return run_virtual(main())


def says(text: str, samples: NDArray[np.int16], name: str = "") -> CallerLine:
    return CallerLine(Speech(samples, 8000), parse_at(text), name)


def loud_from_to(samples: NDArray[np.int16], rate_hz: int = 8000) -> tuple[float, float] | None:
    loud = np.flatnonzero(np.abs(samples.astype(int)) > 500)
    if not loud.size:
        return None
    return int(loud[0]) * 1000 / rate_hz, (int(loud[-1]) + 1) * 1000 / rate_hz


def test_it_opens_as_twilio_does_and_sends_a_frame_every_20_ms() -> None:
    server, _ = phone_call(says("0s", tone(400)))
    assert [message["event"] for _, message in server.got[:2]] == ["connected", "start"]
    times = [at for at, _ in server.sound]
    assert times == pytest.approx([20 * (n + 1) for n in range(len(times))])
    assert all(len(payload) == 160 for _, payload in server.sound)


def test_a_line_starts_at_its_very_sample() -> None:
    server, recording = phone_call(says("103ms", tone(200)))
    assert loud_from_to(server.samples()) == (103, 303)
    assert loud_from_to(recording.caller) == (103, 303)


def test_lines_that_overlap_are_added() -> None:
    server, _ = phone_call(says("0s", tone(200, 4000)), says("0s", tone(200, 4000)))
    assert np.abs(server.samples()[:1600].astype(int)).max() == pytest.approx(8000, rel=0.05)


def test_both_directions_are_late_by_the_networks_delay() -> None:
    server, recording = phone_call(
        says("0s", tone(100)),
        conditions=Conditions(network=Network(delay_ms=100), linger_ms=500),
        acts={200: lambda s: s.play(tone(100))},
    )
    assert server.got[0][0] == 100
    assert server.sound[0][0] == 120
    assert loud_from_to(recording.heard) == (300, 400)


def test_jitter_never_changes_the_order_and_is_the_same_every_time() -> None:
    def once() -> list[float]:
        server, _ = phone_call(
            says("0s", tone(1000)),
            conditions=Conditions(network=Network(delay_ms=30, jitter_ms=60, seed=3)),
        )
        return [at for at, _ in server.sound]

    times = once()
    assert times == sorted(times)
    assert len(set(np.diff(times).round(3))) > 3
    assert once() == times


def test_a_mark_is_answered_when_the_sound_before_it_was_heard() -> None:
    def act(server: Server) -> None:
        server.play(tone(300))
        server.mark("a")
        server.mark("b")

    server, _ = phone_call(says("0s", tone(800)), acts={100: act})
    assert server.marks() == [(400, "a"), (400, "b")]


def test_a_clear_stops_the_sound_and_gives_the_waiting_marks_back_at_once() -> None:
    def act(server: Server) -> None:
        server.play(tone(100))
        server.mark("heard")
        server.play(tone(500))
        server.mark("cut")

    server, recording = phone_call(says("0s", tone(1000)), acts={0: act, 250: lambda s: s.clear()})
    assert server.marks() == [(100, "heard"), (250, "cut")]
    assert loud_from_to(recording.heard) == (0, 250)


def test_the_page_says_which_marks_a_clear_dropped() -> None:
    def act(server: Server) -> None:
        server.far_end.link.audio(tone(500, rate_hz=16000).tobytes())
        server.far_end.link.audio(json.dumps({"type": "mark", "name": "m1"}))

    server, recording = phone_call(
        CallerLine(Speech(tone(900, rate_hz=16000), 16000)),
        phone=WebPhone,
        acts={0: act, 100: lambda s: s.far_end.link.clear(json.dumps({"type": "clear"}))},
    )
    assert {"type": "mark", "name": "m1", "cleared": True} in [m for _, m in server.got]
    assert loud_from_to(recording.heard, 16000) == (0, 100)
    assert server.sound[0][1] == tone(20, rate_hz=16000).tobytes()


@pytest.mark.parametrize(
    ("faults", "expected"),
    [
        (MarkFaults(lose_every=2), [(100, "m1"), (300, "m3")]),
        (
            MarkFaults(repeat_every=1),
            [(100, "m1"), (100, "m1"), (200, "m2"), (200, "m2"), (300, "m3"), (300, "m3")],
        ),
        (MarkFaults(late_every=1, late_by_ms=150), [(250, "m1"), (350, "m2"), (450, "m3")]),
        (MarkFaults(rename_every=3), [(100, "m1"), (200, "m2"), (300, "m3?")]),
    ],
)
def test_marks_go_wrong_to_order(faults: MarkFaults, expected: list[tuple[float, str]]) -> None:
    def act(server: Server) -> None:
        for number in (1, 2, 3):
            server.play(tone(100))
            server.mark(f"m{number}")

    server, _ = phone_call(
        says("0s", tone(900)), conditions=Conditions(marks=faults, linger_ms=100), acts={0: act}
    )
    assert server.marks() == expected


def test_what_a_slow_reader_has_not_read_can_still_be_cleared() -> None:
    server, recording = phone_call(
        says("0s", tone(1200)),
        conditions=Conditions(network=Network(unread_ms=((100, 600),)), linger_ms=100),
        acts={
            90: lambda s: s.play(tone(20)),
            150: lambda s: s.play(tone(300)),
            300: lambda s: s.clear(),
        },
    )
    assert loud_from_to(recording.heard) == (90, 110)
    assert server.far_end.link.lost_messages == 0


def test_a_phone_that_never_reads_costs_a_bounded_queue() -> None:
    def act(server: Server) -> None:
        for _ in range(600):
            server.play(tone(20))

    server, recording = phone_call(
        says("0s", tone(400)),
        conditions=Conditions(network=Network(unread_ms=((0, 10_000),)), linger_ms=100),
        acts={50: act},
    )
    assert server.far_end.link.lost_messages == 100
    assert loud_from_to(recording.heard) is None


def test_the_agents_sound_comes_back_softer_and_later() -> None:
    _, recording = phone_call(
        says("0s", np.zeros(8000, np.int16)),
        conditions=Conditions(echo=Echo(down_db=20, delay_ms=63), linger_ms=100),
        acts={100: lambda s: s.play(tone(200, 16000))},
    )
    assert loud_from_to(recording.heard) == (100, 300)
    assert loud_from_to(recording.microphone) == (163, 363)
    assert np.abs(recording.microphone.astype(int)).max() == pytest.approx(1600, rel=0.05)
    assert loud_from_to(recording.caller) is None


def test_a_line_can_wait_for_the_agent_to_start() -> None:
    _, recording = phone_call(
        says("agent_starts+300ms", tone(100)), acts={417: lambda s: s.play(tone(1000))}
    )
    assert loud_from_to(recording.caller) == (717, 817)


def test_the_second_line_waits_for_the_agent_to_end_after_the_first() -> None:
    _, recording = phone_call(
        says("0s", np.concatenate([tone(100), np.zeros(800, np.int16)]), "first"),
        says("agent_ends+200ms", tone(100)),
        conditions=Conditions(linger_ms=900),
        acts={300: lambda s: s.play(tone(500))},
    )
    spoken = recording.caller[8 * 500 :]
    assert loud_from_to(spoken) == (500, 600)


def test_a_pause_in_a_turn_of_the_agent_is_no_end() -> None:
    def act(server: Server) -> None:
        far_end = server.far_end
        far_end.observe("turn_started", (("turn", 1),), 0)
        server.play(tone(100))

    def end(server: Server) -> None:
        server.far_end.observe("turn_ended", (("turn", 1), ("outcome", "done")), 0)

    server, _ = phone_call(
        says("0s", tone(50)),
        acts={100: act, 700: lambda s: s.play(tone(100)), 750: end},
    )
    happenings = server.far_end.happenings
    assert happenings.times("agent_starts") == (100,)
    assert happenings.times("agent_ends") == (800,)


def test_a_filler_that_nobody_settles_ends_with_its_sound() -> None:
    def act(server: Server) -> None:
        server.far_end.observe("say_started", (("say", -1),), 100)
        server.play(tone(100))

    server, recording = phone_call(says("0s", tone(50)), acts={100: act})
    assert server.far_end.happenings.times("agent_ends") == (200,)
    assert recording.ended_by == "caller"


def test_tools_are_anchors() -> None:
    server, recording = phone_call(
        says("tool_starts+500ms", tone(100)),
        says("#1:tool_ends", tone(100)),
        acts={
            100: lambda s: s.far_end.observe("tool_started", (("call_id", 1),), 100),
            900: lambda s: s.far_end.observe("tool_settled", (("call_id", 1),), 900),
        },
    )
    assert [line.start_ms for line in recording.lines] == [600, 900]
    assert server.far_end.happenings.times("tool_ends") == (900,)


def test_a_line_whose_moment_never_comes_is_reported() -> None:
    waiting = says("#3:agent_starts", tone(10), "third")
    _, recording = phone_call(waiting, conditions=Conditions(most_ms=500))
    assert recording.unstarted == (waiting,)
    assert recording.ended_by == "time"


def test_keys_follow_one_another_and_text_is_typed_where_it_can_be() -> None:
    server, _ = phone_call(
        CallerLine(Keys("47#"), parse_at("100ms")), CallerLine(Typed("hi"), parse_at("0s"))
    )
    keys = [(at, m["dtmf"]) for at, m in server.got if m["event"] == "dtmf"]
    assert [at for at, _ in keys] == pytest.approx([120, 300, 500])
    assert [key["digit"] for _, key in keys] == ["4", "7", "#"]  # type: ignore[index,call-overload]
    server, _ = phone_call(CallerLine(Typed("hi"), parse_at("0s")), phone=WebPhone)
    assert {"type": "text", "text": "hi"} in [message for _, message in server.got]


def test_buttons_are_tapped_where_there_are_any() -> None:
    tap = CallerLine(Tap("order:42"), parse_at("100ms"))
    server, _ = phone_call(tap, phone=WebPhone)
    assert {"type": "tap", "payload": "order:42"} in [message for _, message in server.got]
    server, _ = phone_call(tap)
    assert {message["event"] for _, message in server.got} == {"connected", "start", "stop"}


def test_a_page_says_the_callers_language() -> None:
    start = json.loads(WebPhone(WIDE, (("a", "b"),), "de").opening()[0])
    assert (start["language"], start["metadata"]) == ("de", {"a": "b"})


def test_the_caller_hangs_up_once_all_has_been_quiet_for_a_while() -> None:
    server, recording = phone_call(
        says("0s", tone(100)),
        conditions=Conditions(linger_ms=500),
        acts={300: lambda s: s.play(tone(300))},
    )
    assert recording.ended_by == "caller"
    assert server.got[-1][1]["event"] == "stop"
    assert server.ended == [(pytest.approx(1100), "caller")]


def test_a_caller_who_vanishes_says_nothing() -> None:
    server, recording = phone_call(
        says("0s", tone(1000)),
        CallerLine(HangUp("vanish"), parse_at("310ms")),
        conditions=Conditions(network=Network(delay_ms=50)),
    )
    assert recording.ended_by == "vanished"
    assert "stop" not in [message["event"] for _, message in server.got]
    assert server.ended == [(pytest.approx(370), "lost")]
    assert len(server.sound) == 13  # what was under way when the line went dead is lost


def test_the_server_may_hang_up() -> None:
    server, recording = phone_call(
        says("0s", tone(1000)), acts={200: lambda s: s.far_end.link.close(1000, "agent")}
    )
    assert recording.ended_by == "agent"
    assert server.ended == [(200, "caller")]


def test_a_muted_phone_sends_nothing() -> None:
    server, _ = phone_call(
        says("0s", tone(600)), conditions=Conditions(muted_ms=((100, 300),), linger_ms=100)
    )
    times = [at for at, _ in server.sound]
    assert not [at for at in times if 100 < at <= 300]
    assert len(times) > 20
