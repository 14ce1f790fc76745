"""Ends, faults and long runs, in whole calls: nothing waits for itself, nothing piles up."""

import asyncio
import gc
import shutil
import threading
from collections import Counter, deque
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from runtime import ToolContext, ToolResult, tool
from runtime.agent import CallSettings
from runtime.errors import ProjectError, ProviderError
from runtime.models.scripted_model import Call, Fail, Say, ScriptedModel
from runtime.project.loader import load
from tests.acceptance.stage import Backstage, Cast, Deed, Said, Tool, hangs_up, play, says, silero
from tests.acceptance.voices import LegibleTts, PlannedTts
from tests.fakes.projects import make_project
from voice.call.ports import Engines
from voice.hearing.stt_scripted import ScriptedStt
from voice.replay.far_end import Conditions
from voice.replay.virtual_loop import run_virtual
from voice.speaking.ports import TtsStream


@pytest.mark.parametrize("tools", [1, 2])
def test_a_tool_may_hang_up_and_nobody_waits_for_anybody(tools: int) -> None:
    """N02: asked for twice, by one tool or by two at once: the goodbye is heard, the call ends."""

    def leaving(name: str) -> Tool:
        async def leave(*, context: ToolContext) -> ToolResult:
            context.hang_up()
            context.hang_up()
            await asyncio.sleep(0.2)
            context.hang_up()
            return ToolResult("leaving")

        leave.__name__ = name
        return tool(description="Leave.")(leave)

    names = ["leave", "leave_too"][:tools]
    played = play(
        [[Call(name) for name in names], Say("Goodbye then, until tomorrow.")],
        says("That was all.", "0.5s", 1.0),
        tools=[leaving(name) for name in names],
        strict=False,
    )
    assert played.recording.ended_by == "agent"
    assert played.only("call_ended")["cause"] == "agent"
    assert played.outcomes == ["ok"] * tools
    assert [s.kind for s in played.sent if s.kind.startswith("close")] == ["close 1000"]


@pytest.mark.parametrize("cause", ["caller", "lost", "drain"])
def test_a_call_that_is_told_to_end_many_times_ends_once(cause: str) -> None:
    """N02: from any side, in one moment."""

    def end(stage: Backstage) -> None:
        stage.call.lost(cast(Any, cause))
        stage.call.lost("caller")
        stage.call.received('{"type":"stop"}')
        stage.far_end.hang_up()

    played = play([Say("x")], greeting="Good morning to all of you.", during=[(900.0, end)],
                  strict=False)  # fmt: skip
    assert played.only("call_ended")["cause"] == cause
    assert len([s for s in played.sent if s.kind.startswith("close")]) == 1


def test_a_reply_that_fails_does_not_stop_the_ones_after_it() -> None:
    """N03: the engine dies in the second, the model in the fourth; the others are heard."""
    answers = [f"This is the answer to question number {word}." for word in _WORDS]
    steps: list[Any] = [Say(text) for text in answers]
    steps[3] = Fail("no model today")
    played = play(
        steps,
        *[says(f"Question {word} please.", f"{1 + 8 * n}s", 1.0) for n, word in enumerate(_WORDS)],
        tts=PlannedTts(dies=[2]),
    )
    states = {text: (state, chars) for text, state, chars in played.texts().values()}
    for number in (0, 2, 4):
        assert states[answers[number]][0] == "heard", played.trace()
    failed, chars = states[answers[1]]
    assert failed == "failed" and 0 < chars < len(answers[1])
    assert "Sorry, I can't think right now." in states, "the model's failure is spoken"
    assert len(played.named("problem")) >= 1
    assert 1 <= len(played.named("apology")) <= 1


_WORDS = ("one", "two", "three", "four", "five")


class _Refusing(LegibleTts):
    """A provider that takes no request at all."""

    def __init__(self) -> None:
        super().__init__()
        self.asked_ms: list[float] = []

    def open(self, language: str, voice: str | None) -> TtsStream:
        self.asked_ms.append(asyncio.get_running_loop().time() * 1000)
        raise ProviderError("the key is not valid", retryable=True)


def test_a_provider_that_refuses_at_once_is_not_asked_for_ever() -> None:
    """H06: a few attempts for each reply, then it counts as failed; the call goes on."""
    tts = _Refusing()
    played = play(
        [Say("First answer."), Say("Second answer.")],
        says("Question one please.", "1s", 1.0),
        says("Question two please.", "20s", 1.0),
        tts=tts,
        strict=False,
    )
    replies = [state for _, state, _ in played.texts().values()]
    assert replies and set(replies) == {"failed"}
    assert 2 <= len(tts.asked_ms) <= 12, tts.asked_ms
    assert len(played.named("turn_started", reason="speech")) == 2
    assert played.only("call_ended")["cause"] == "caller"


def test_many_short_calls_leave_no_thread_task_or_stream_behind() -> None:
    """N05: one process's engines, fifty callers, a tool each."""

    @tool(description="Look.")
    async def look() -> ToolResult:
        await asyncio.sleep(0.1)
        return ToolResult("seen")

    counts: list[tuple[int, int]] = []
    tts = LegibleTts()

    async def main() -> None:
        detector = silero()
        project = replace(make_project(look), settings=CallSettings(silence_timeout_ms=60_000))
        for number in range(50):
            caller = (
                says("Look for it please.", "0.2s", 0.8),
                hangs_up(f"{1200 + 37 * number}ms", vanish=number % 3 == 0),
            )
            company = Cast(
                project,
                ScriptedModel([Call("look"), Say("I have seen it.")], repeat_last=True),
                Engines(ScriptedStt(["Look for it please."]), tts, detector),
                caller,
                Conditions(),
                "web",
                (),
            )
            played = await company.perform()
            assert played.tasks_left == ()
            assert len(played.named("call_ended")) == 1
            counts.append((threading.active_count(), len(asyncio.all_tasks())))

    run_virtual(main())
    assert len(set(counts[1:])) == 1, Counter(counts)
    assert tts.opened == tts.closed


def test_a_long_call_keeps_no_more_than_a_short_one() -> None:
    """N06: a quarter of an hour with barge-ins, a muted microphone and silence; nothing grows."""
    turns = 70
    lines: list[Said] = []
    for number in range(turns):
        line = says("Tell me more about that.", f"{2 + 10 * number}s", 1.0)
        lines.append(replace(line, words=replace(line.words, start_ms=None, end_ms=None)))  # type: ignore[type-var]
    sizes: list[Counter[str]] = []

    def measure(stage: Backstage) -> None:
        sizes.append(_sizes(stage.call))

    text = "There is a lot to be told about this, and it takes longer than anybody wants to listen."
    end_s = 2 + 10 * turns
    deeds: list[tuple[float, Deed]] = [
        (t * 1000.0, measure) for t in (155, 355, end_s - 5, end_s + 150, end_s + 300)
    ]

    played = play(
        ScriptedModel([Say(text)], repeat_last=True),
        *lines,
        stt=ScriptedStt(["Tell me more about that."], cycle=True),
        tts=LegibleTts(100),
        settings=CallSettings(silence_timeout_ms=0),
        during=deeds,
        conditions=Conditions(
            muted_ms=((end_s * 1000.0, (end_s + 150) * 1000.0),), linger_ms=320_000, most_ms=2e6
        ),
        most_ms=2e6,
        strict=False,
    )
    assert len(played.named("turn_started")) == turns + 1
    assert len(played.named("commit")) >= turns - 1
    early, *later = sizes
    for size in later:
        # what grows with the turns has more than this by the end; small fixed bounds may fill up
        grown = {key: (early[key], size[key]) for key in size if size[key] > max(early[key], 64)}
        assert grown == {}


def test_a_line_that_names_a_sound_file_is_refused_when_the_project_is_loaded(
    tmp_path: Path,
) -> None:
    """N04: with its place; no call waits for a sound that is not there."""
    folder = tmp_path / "agent"
    shutil.copytree(Path(__file__).parents[1] / "projects" / "good_listener", folder)
    (folder / "responses.yml").write_text(
        "responses:\n  utter_session_start:\n    - audio: hold.wav\n", encoding="utf-8"
    )
    with pytest.raises(ProjectError) as refused:
        load(folder, {})
    assert "responses.yml:3" in str(refused.value) and "audio" in str(refused.value)


def _sizes(call: object) -> Counter[str]:
    """What the rooms of a call keep: the lengths of all collections that have no bound."""
    found: Counter[str] = Counter()
    seen: set[int] = set()
    rooms = ("_floor", "_ear", "_mouth", "_journal", "_timers", "_inbound", "_protocol", "_early")
    waiting: list[object] = [getattr(call, name) for name in rooms]
    gc.collect()
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        for name, value in _parts(thing):
            if isinstance(value, list | dict | set | tuple | deque):
                kept = cast("Collection[object]", value)
                fixed = isinstance(value, tuple) or getattr(kept, "maxlen", None) is not None
                place = f"{type(thing).__module__}.{type(thing).__name__}.{name}"
                found[place] += 0 if fixed else len(kept)
                if isinstance(value, dict):
                    kept = cast("dict[object, object]", value).values()
                waiting += [item for item in kept if _is_ours(item)]
            elif _is_ours(value):
                waiting.append(value)
    return found


def _is_ours(thing: object) -> bool:
    rooms = ("voice.floor", "voice.hearing", "voice.speaking", "voice.wire", "voice.call")
    return type(thing).__module__.startswith(rooms) and not type(thing).__name__.endswith("Tts")


def _parts(thing: object) -> Iterator[tuple[str, object]]:
    names = {
        name
        for cls in type(thing).__mro__
        for name in (cls.__dict__.get("__slots__", ()) or ())
        if name != "__weakref__"
    }
    names |= set(getattr(thing, "__dict__", {}))
    for name in sorted(names):
        if hasattr(thing, name):
            yield name, getattr(thing, name)
