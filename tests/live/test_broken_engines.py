"""Speech engines and models that die, hang, raise or say nothing, in calls on real sockets."""

import asyncio
from pathlib import Path

import pytest

from tests.live.caller import Caller, calling, word
from tests.live.in_process import InProcess, serving_here
from tests.live.projects import write_project

pytestmark = pytest.mark.xdist_group("live")

HANGS_AT_MOST_S = 7.0
"""An engine that gives no sound for 5 s counts as broken."""


def project(folder: Path) -> Path:
    return write_project(
        folder,
        stt={"name": "tests.live.authored:FaultyStt"},
        tts={"name": "tests.live.authored:FaultyTts"},
    )


async def is_answered(caller: Caller, text: str) -> None:
    """Type and hear the answer to its end: the call goes on."""
    await caller.type(f"say {text}")
    await caller.until(lambda: text in caller.heard(), f"heard: {text}")


async def hears_an_apology(caller: Caller, seconds: float) -> None:
    apology = await caller.until_event("apology", seconds)
    said = await caller.until_event("agent_said", say=apology["say"], state="heard")
    assert "sorry" in str(said["text"]).lower()
    assert caller.named("problem", reason="reply_failed")


async def voice_breaks(here: InProcess, how: str) -> None:
    async with calling(here.ws()) as caller:
        await caller.until_event("say_settled", outcome="heard")
        await caller.type(f"say it {how}")
        await caller.until_event("say_settled", HANGS_AT_MOST_S, outcome="failed")
        await hears_an_apology(caller, 2.0)
        await is_answered(caller, "all is well")


async def ear_breaks(here: InProcess) -> Caller:
    """Speak on a call whose engine is broken; afterwards type, which needs no ear."""
    async with calling(here.ws()) as caller:
        await caller.until_event("say_settled", outcome="heard")
        caller.say(word())
        await caller.until_event("hold")
        await caller.until(
            lambda: caller.is_over or caller.named("release"), "the floor is open again", 4.0
        )
        if not caller.is_over:
            await is_answered(caller, "all is well")
    return caller


def test_a_voice_that_breaks_costs_its_reply_an_apology_and_nothing_else(tmp_path: Path) -> None:
    """D04: an engine that dies in a sentence, one that never gives a sound; both calls go on."""

    async def scenario() -> None:
        async with serving_here(project(tmp_path)) as here, asyncio.TaskGroup() as group:
            for how in ("dies", "hangs"):
                group.create_task(voice_breaks(here, how))

    asyncio.run(scenario())


def test_an_ear_that_breaks_is_named_and_no_other_call_notices(tmp_path: Path) -> None:
    """One says that it failed, one never answers: these calls go on. One raises: a clean end."""

    async def scenario() -> None:
        async with serving_here(project(tmp_path)) as here:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(ear_breaks(here)) for _ in range(3)]
            callers = [task.result() for task in tasks]
            assert any(caller.named("problem", code="stt_failed") for caller in callers)
            ended = [caller for caller in callers if caller.notices[-1]["type"] == "ended"]
            assert len(ended) <= 1
            assert all(caller.named("problem", code="internal") for caller in ended)
            async with calling(here.ws()) as caller:
                await caller.until_event("say_settled", outcome="heard")
                caller.say(word())
                await caller.until(lambda: "well heard" in caller.heard(), "the answer")
            assert await here.gateway.wait_empty(5)

    asyncio.run(scenario())


def test_a_model_that_returns_nothing_is_asked_again_and_the_call_goes_on(tmp_path: Path) -> None:
    """Once: the second answer is spoken. Always: an apology is, and the next question answered."""

    async def scenario() -> None:
        async with serving_here(project(tmp_path)) as here, calling(here.ws()) as caller:
            await caller.until_event("say_settled", outcome="heard")
            await caller.type("nothing")
            ended = await caller.until_event("turn_ended", count=2)
            assert ended["outcome"] == "done"
            await caller.until_event("say_settled", count=2, outcome="heard")
            await caller.type("never anything")
            await caller.until_event("turn_ended", count=3)
            await caller.until_event("say_settled", count=3, outcome="heard")
            assert "sorry" in caller.heard()[-1].lower()
            await is_answered(caller, "all is well")

    asyncio.run(scenario())
