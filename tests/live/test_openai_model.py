"""A served agent whose model is an OpenAI-compatible server: the real SDK, over real sockets."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.fakes.openai_server import CallPiece, FakeOpenAI, Finish, Reply, Stall, Text
from tests.live.caller import calling, word
from tests.live.projects import write_project
from tests.live.server import serving

pytestmark = pytest.mark.xdist_group("live")

SCRIPT = (
    Reply(
        (CallPiece(0, '{"fact": ', "c1", "commit"), CallPiece(0, '"tea"}'), Finish("tool_calls"))
    ),
    Reply((Text("It is "), Text("written down."), Finish())),
    Reply((Text("Here is a long answer that goes on and on. "), Stall())),
    Reply((Text("All right."), Finish())),
)


async def _call(folder: Path, model: FakeOpenAI) -> str:
    written = {"provider": "openai", "model": "tiny", "api_base": model.base, "api_key": "${KEY}"}
    project = write_project(folder, model=written, texts=("no stop that",))
    async with (
        serving(project, env={"KEY": "sk-never-to-be-seen"}) as server,
        calling(server.ws()) as caller,
    ):
        await caller.until_event("agent_said", state="heard")
        await caller.type("write down tea")
        said = await caller.until_event("agent_said", state="heard", count=2)
        assert said["text"] == "It is written down."
        await caller.type("tell me everything")
        await caller.until(lambda: len(caller.named("say_started")) == 3, "the long answer")
        caller.say(word())
        await caller.until_event("commit")
        gone = await asyncio.to_thread(model.wait_disconnects, 1, 3.0)
        assert len(gone) == 1
        said = await caller.until_event("agent_said", state="heard", count=3)
        assert said["text"] == "All right."
        return server.written


def test_tools_barge_in_and_the_next_turn_with_a_model_on_a_real_socket(tmp_path: Path) -> None:
    """B01, C01: the stream is closed at the barge-in, and the next prompt holds what was heard."""
    with FakeOpenAI(SCRIPT) as model:
        log = asyncio.run(_call(tmp_path, model))
        assert "sk-never-to-be-seen" not in log
        asked = [request.body["messages"] for request in model.requests]
    assert len(asked) == 4
    result = asked[1][-1]  # type: ignore[index, call-overload]  # a list of messages by the protocol
    assert result["role"] == "tool" and json.loads(str(result["content"])) == {"written": "tea"}
    last = json.dumps(asked[3])
    assert "no stop that" in last
    assert "It is written down." in last
    assert "goes on and on" not in last  # never heard
    assert model.requests[0].headers["authorization"] == "Bearer sk-never-to-be-seen"
