"""One scenario over a real socket with 100 ms each way, and in virtual time: the same decisions."""

import asyncio
import os
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from runtime.project.loader import load
from tests.live.authored import RulerTts
from tests.live.caller import clip, word
from tests.live.projects import LONG, write_project
from tests.live.server import NOTES, serving
from voice.audio.format import WIDE
from voice.call.events import CallEvent
from voice.cli.placed_call import CallOptions, CallRecord, place_call
from voice.cli.virtual_call import replay_project
from voice.replay.at import At
from voice.replay.far_end import Conditions, Recording
from voice.replay.link import Network
from voice.replay.runner import ReplayOptions, ReplayResult
from voice.replay.script import CallerLine, Speech

pytestmark = pytest.mark.xdist_group("live")

DELAY_MS = 100
RATE = WIDE.rate_hz
CONDITIONS = Conditions(network=Network(delay_ms=DELAY_MS), linger_ms=1200, most_ms=14_000)

SAID = ((800, "tell me the story"), (3000, "okay"), (4500, "no take your time"), (7000, "stop it"))
"""When the caller begins to speak, ms since the connect, and the words."""

VOICE = {
    "turn_started": ("turn", "reason", "text"),
    "reopened": ("turn", "reason"),
    "hold": ("reason", "audible"),
    "release": ("reason", "audible"),
    "commit": ("reason", "text"),
    "flush": ("reason", "lines"),
    "interrupted": ("turn", "reason"),
    "suppressed": ("reason", "text"),
    "say_started": ("say",),
    "say_settled": ("say", "turn", "outcome"),
    "filler": ("text",),
}
AGENT = {
    "tool_started": ("tool", "text", "on_interrupt"),
    "tool_settled": ("tool", "outcome"),
    "turn_ended": ("turn", "outcome"),
    "send_dropped": ("reason",),
}
"""Decisions of either plane and what of them must be the same; the planes' clocks differ a little,
so that the order between them is looked at where more than that lies between."""
APART_MS = 60


def decisions(events: Iterable[CallEvent], names: dict[str, tuple[str, ...]]) -> list[object]:
    return [
        (event.event, *(dict(event.fields).get(field) for field in names[event.event]))
        for event in events
        if event.event in names
    ]


def bursts(events: Iterable[CallEvent]) -> list[list[str]]:
    """The decisions of both planes, those that came together in one burst sorted by name."""
    known = sorted(
        (event for event in events if event.event in {**VOICE, **AGENT}),
        key=lambda event: event.t_ms,
    )
    found = [[known[0].event]]
    for before, event in pairwise(known):
        if event.t_ms - before.t_ms > APART_MS:
            found.append([])
        found[-1].append(event.event)
    return [sorted(names) for names in found]


def words_played(recording: Recording, from_ms: float, to_ms: float) -> int:
    """How many words of ``LONG`` the loudspeaker played to their end in this span."""
    heard = recording.heard[round(from_ms * RATE / 1000) : round(to_ms * RATE / 1000)]
    places = (heard.astype(np.int32) - RulerTts.BASE) // RulerTts.STEP
    exact = (heard > 0) & ((heard - RulerTts.BASE) % RulerTts.STEP == 0)
    # a character counts once half of its sound was played; edges may be faded
    counts = np.bincount(places[exact & (places >= 0)], minlength=len(LONG))
    whole = np.flatnonzero(counts >= 20 * RATE // 1000)
    last = int(whole[-1]) + 1 if whole.size else 0
    return sum(1 for end in word_ends() if end <= last)


def word_ends() -> list[int]:
    return [at for at in range(1, len(LONG) + 1) if at == len(LONG) or LONG[at] == " "]


def check_heard(events: tuple[CallEvent, ...], recording: Recording) -> None:
    """No word too many, at most one too few."""
    fields = [dict(event.fields) for event in events if event.event == "say_settled"]
    story = next(f for f in fields if f["turn"] == 2)
    assert story["outcome"] == "cut"
    claimed = sum(1 for end in word_ends() if end <= int(str(story["heard_chars"])))
    started_ms = float(str(story["started_ms"]))
    later = [float(str(f["started_ms"])) for f in fields if f["turn"] in (3, 4) and f["started_ms"]]
    played = words_played(recording, started_ms - DELAY_MS - 50, min(later) - DELAY_MS - 50)
    assert 5 <= claimed <= played <= claimed + 1


def project(folder: Path) -> Path:
    audio_ms = DELAY_MS + 110
    lines = [[text, at + audio_ms, at + audio_ms + 700] for at, text in SAID]
    return write_project(
        folder,
        stt={"name": "tests.live.authored:timed_stt", "lines": lines},
        tts={"name": "tests.live.authored:RulerTts"},
        greeting="Good morning.",
    )


async def live_and_virtual(
    folder: Path, caller: tuple[CallerLine, ...], conditions: Conditions
) -> tuple[CallRecord, ReplayResult]:
    """Replay while the server starts, then place the same call to it."""
    options = ReplayOptions(channel="web", format=WIDE, conditions=conditions)
    replaying = asyncio.create_task(
        asyncio.to_thread(replay_project, load(folder, os.environ), caller, options=options)
    )
    async with serving(folder) as server:
        virtual = await replaying
        live = CallOptions(url=server.ws(), lines=caller, conditions=conditions)
        record = await place_call(live)
        await server.until_empty()
    return record, virtual


def test_live_and_in_virtual_time_the_same_is_decided_and_heard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backchannel, an interruption by words, one in a tool; and heard against played."""
    monkeypatch.setenv(NOTES, str(tmp_path / "virtual.jsonl"))
    folder = project(tmp_path)
    caller = tuple(CallerLine(Speech(word(), RATE), At(None, at)) for at, _ in SAID)

    live, virtual = asyncio.run(live_and_virtual(folder, caller, CONDITIONS))

    events = live.events
    for names in (VOICE, AGENT):
        assert decisions(events, names) == decisions(virtual.events, names)
    assert bursts(events) == bursts(virtual.events)
    happened = {event.event for event in events}
    assert happened >= {"hold", "release", "commit", "interrupted", "filler", "tool_settled"}
    assert ("tool_settled", "wait", "cancelled") in decisions(events, AGENT)
    check_heard(virtual.events, virtual.recording)
    check_heard(events, live.recording)


@pytest.mark.audio
def test_with_the_embedded_engines_the_same_is_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question, and a long answer that is talked over with one word."""
    monkeypatch.setenv(NOTES, str(tmp_path / "virtual.jsonl"))
    folder = write_project(
        tmp_path,
        stt={"name": "local"},
        tts={"name": "local"},
        model={"provider": "tests.live.authored:Obedient", "model": "talkative"},
        greeting="Good morning.",
    )
    caller = (
        CallerLine(Speech(clip("en_brooklyn_bridge"), RATE), At(None, 1300), "question"),
        CallerLine(Speech(clip("kw_no"), RATE), At(None, 4500), "no"),
    )
    conditions = Conditions(network=Network(delay_ms=DELAY_MS), most_ms=6900)
    live, virtual = asyncio.run(live_and_virtual(folder, caller, conditions))
    # before the caller hangs up in the middle of the third answer
    events = [event for event in live.events if event.t_ms < 6700]
    wanted = [event for event in virtual.events if event.t_ms < 6700]
    # which words a running transcript shows first depends on when it was asked
    same = {**VOICE, "turn_started": ("turn", "reason"), "commit": (), "suppressed": ()}
    for names in (same, AGENT):
        assert decisions(events, names) == decisions(wanted, names)
    happened = [event.event for event in events]
    assert (happened.count("turn_started"), happened.count("interrupted")) == (3, 1)
