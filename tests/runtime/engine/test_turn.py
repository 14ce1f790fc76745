"""Whole turns over the door, in virtual time, with scripted models."""

import asyncio

from runtime import ToolContext, ToolResult, tool
from runtime.agent import Say, SayEnd, TurnEnded, Working
from runtime.models.scripted_model import Call, ScriptedModel, Wait
from runtime.models.scripted_model import Say as Write
from runtime.plane import InLoopAgent
from tests.fakes.projects import make_project
from tests.fakes.voice_side import Voice
from voice.replay.virtual_loop import run_virtual


@tool(description="Look an order up", filler="Looking.")
async def lookup(id: int, context: ToolContext = None) -> ToolResult:  # type: ignore[assignment]
    await asyncio.sleep(3)
    return ToolResult({"id": id, "state": "shipped"})


def test_a_reply_streams_as_one_say_and_ends_the_turn() -> None:
    async def main() -> None:
        model = ScriptedModel([Write("Hello there, caller.")])
        agent = InLoopAgent(make_project(), models=[model])
        voice = Voice(agent)
        await voice.ready()
        voice.hear("hi")
        ended = await voice.wait_ended()
        assert ended.outcome == "done"
        assert voice.texts == ["Hello there, caller."]
        assert [m.kind for m in voice.of(Say)] == ["reply"]
        assert len(voice.of(SayEnd)) == 1
        assert [m.role for m in model.requests[0].messages] == ["system", "user"]
        await agent.aclose()

    run_virtual(main())


def test_a_tool_runs_between_two_rounds_and_its_result_is_in_the_second_request() -> None:
    async def main() -> None:
        model = ScriptedModel(
            [[Write("One moment."), Call("lookup", {"id": 7})], [Wait(0.1), Write("Shipped.")]]
        )
        agent = InLoopAgent(make_project(lookup), models=[model])
        voice = Voice(agent)
        await voice.ready()
        voice.hear("where is order 7")
        await voice.wait_ended()
        assert voice.texts == ["One moment.", "Shipped."]
        assert [m.kind for m in voice.of(SayEnd)] == ["beside_tool", "reply"]
        opened = [m.open for m in voice.of(Working)]
        assert [[t.name for t in tools] for tools in opened] == [["lookup"], []]
        assert opened[0][0].filler == "Looking."
        messages = model.requests[1].messages
        assert [m.role for m in messages] == ["system", "user", "assistant", "tool"]
        assert messages[3].text == '{"id": 7, "state": "shipped"}'
        assert voice.happened("tool_settled")[0]["outcome"] == "ok"
        assert [m.outcome for m in voice.of(TurnEnded)] == ["done"]
        await agent.aclose()

    run_virtual(main())
