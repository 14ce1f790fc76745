"""A call put together by hand: a greeting, an interruption, a tool, a backchannel."""

import numpy as np
from numpy.typing import NDArray

from runtime.agent import Fields
from voice.call.events import CallEvent
from voice.replay.at import At
from voice.replay.far_end import Recording
from voice.replay.script import CallerLine, Speech, Started

RATE = 8000
SECONDS = 16


def _voice(spans: list[tuple[int, int]], seed: int) -> NDArray[np.int16]:
    noise = np.random.default_rng(seed)
    samples = np.zeros(SECONDS * RATE)
    for start, end in spans:
        count = (end - start) * RATE // 1000
        t = np.arange(count) / RATE
        syllables = 0.35 + 0.65 * np.abs(np.sin(2 * np.pi * 2.3 * t + seed))
        piece = noise.normal(0, 3000, count) * syllables
        samples[start * RATE // 1000 :][:count] = piece
    return np.clip(samples, -32768, 32767).astype(np.int16)


CALLER_SPANS = [(600, 2160), (5200, 6900), (12_300, 12_700)]
AGENT_SPANS = [(60, 460), (2800, 5290), (8100, 8900), (10_700, 12_390), (13_000, 14_600)]


def made_recording() -> Recording:
    caller = _voice(CALLER_SPANS, 1)
    line = CallerLine(Speech(caller, RATE), At(None))
    started = Started(line, 0, SECONDS * 1000, 12_700)
    heard = _voice(AGENT_SPANS, 2)
    return Recording(caller, caller, heard, RATE, (started,), (), "caller")


def event(t_ms: int, event: str, **fields: object) -> CallEvent:
    values: Fields = tuple(fields.items())  # type: ignore[assignment]
    return CallEvent(1, t_ms, event, values)


def _said(
    t_ms: int, say: int, turn: int, text: str, heard: int, outcome: str, *span: int
) -> list[CallEvent]:
    return [
        event(
            t_ms,
            "say_settled",
            say=say,
            turn=turn,
            outcome=outcome,
            heard_chars=heard,
            started_ms=span[0] if span else None,
            ended_ms=span[1] if span else None,
        ),
        event(t_ms, "agent_said", say=say, text=text, heard_chars=heard, state=outcome),
    ]


def made_events() -> tuple[CallEvent, ...]:
    offer = (
        "You could come in today, with a little bit of a wait, or in two days, and then we would "
        "have a rental car for you."
    )
    found = "Your order number four four seven is on its way and arrives on Tuesday."
    return (
        event(0, "call_started", channel="twilio", encoding="ulaw", rate_hz=8000),
        event(0, "turn_started", turn=1, reason="opened"),
        event(60, "say_started", say=1),
        event(70, "turn_ended", turn=1, outcome="done"),
        *_said(470, 1, 1, "Front desk.", 11, "heard", 60, 460),
        event(2500, "caller_said", text="When can I bring my car?", final=True),
        event(2560, "turn_started", turn=2, reason="speech"),
        event(2800, "say_started", say=2),
        event(5260, "hold", reason="voice 60 ms", voice_ms=60, audible=True),
        event(5900, "caller_said", text="Yeah, let's do that.", final=True),
        event(5905, "commit", reason="words", text="let's do that"),
        *_said(5905, 2, 2, offer, 41, "cut", 2800, 5290),
        event(5905, "flush", reason="commit"),
        event(5905, "interrupted", turn=2, cause="words", evidence="2 content words"),
        event(7350, "turn_started", turn=3, reason="speech"),
        event(7400, "tool_started", call_id=1, tool="look_up_order", text="{}"),
        event(8050, "filler", reason="tool", text="One moment.", turn=3),
        event(8050, "filler", say=-1),
        event(8100, "say_started", say=-1),
        event(10_400, "tool_settled", call_id=1, tool="look_up_order", outcome="ok"),
        event(12_360, "hold", reason="voice 60 ms", voice_ms=60, audible=True),
        event(12_950, "release", reason="backchannel", text="okay", pause_ms=610),
        *_said(14_600, 3, 3, found, len(found), "heard", 10_700, 14_600),
        event(14_610, "turn_ended", turn=3, outcome="done"),
        event(15_990, "call_ended", cause="caller"),
    )
