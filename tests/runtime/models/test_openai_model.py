"""The real SDK against a server of ours over a real socket."""

import asyncio
import logging

import pytest

from runtime.agent import Json
from runtime.errors import ProviderError
from runtime.models.openai_client import AZURE_VERSION, Endpoint
from runtime.models.openai_model import OpenAIModel, Waits, from_options
from runtime.models.ports import (
    CallAsked,
    CallCutOff,
    ChatMessage,
    ChatRequest,
    Finished,
    ModelEvent,
    RequestedCall,
    TextDelta,
    ToolSpec,
)
from runtime.tasks import closing_stream
from tests.fakes.openai_server import (
    CallPiece,
    Cut,
    FakeOpenAI,
    Finish,
    Raw,
    Reply,
    Stall,
    Text,
    Usage,
)

KEY = "sk-very-secret"
ASK = ChatRequest(messages=(ChatMessage("system", "be kind"), ChatMessage("user", "hello")))


async def _all(model: OpenAIModel, request: ChatRequest = ASK) -> list[ModelEvent]:
    async with closing_stream(model.stream(request)) as stream:
        return [event async for event in stream]


def _run(server: FakeOpenAI, request: ChatRequest = ASK, **options: object) -> list[ModelEvent]:
    async def main() -> list[ModelEvent]:
        model = OpenAIModel("fake", Endpoint(server.base, KEY), **options)  # type: ignore[arg-type]
        try:
            async with asyncio.timeout(10):
                return await _all(model, request)
        finally:
            await model.aclose()

    return asyncio.run(main())


def _failure(reply: Reply, **options: object) -> ProviderError:
    with FakeOpenAI([reply]) as server, pytest.raises(ProviderError) as caught:
        _run(server, **options)
    return caught.value


def test_text_is_streamed_in_order_and_usage_is_told():
    """The port's contract."""
    reply = Reply((Text("Hel"), Text("lo."), Finish("stop"), Usage(7, 2)))
    with FakeOpenAI([reply]) as server:
        events = _run(server)
    assert events == [
        TextDelta("Hel"),
        TextDelta("lo."),
        Finished("stop", (("input", 7), ("output", 2))),
    ]


def test_the_request_carries_history_calls_results_and_tools():
    """C04: each call of the history is sent with its result."""
    request = ChatRequest(
        messages=(
            ChatMessage("user", "book it"),
            ChatMessage("assistant", "", (RequestedCall("call_1", "book", '{"a": 1}'),)),
            ChatMessage("tool", "still_running", call_id="call_1"),
            ChatMessage("user", "broken \ud83d half"),
        ),
        tools=(ToolSpec("book", "Book it", {"type": "object", "properties": {}}),),
        temperature=0.5,
    )
    with FakeOpenAI([Reply((Text("ok"), Finish()))]) as server:
        _run(server, request, max_tokens=50)
    (sent,) = server.requests
    assert sent.path == "/v1/chat/completions"
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.body == {
        "model": "fake",
        "stream": True,
        "temperature": 0.5,
        "max_tokens": 50,
        "messages": [
            {"role": "user", "content": "book it"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "book", "arguments": '{"a": 1}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "still_running"},
            {"role": "user", "content": "broken ? half"},
        ],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "book",
                    "description": "Book it",
                    "parameters": {"type": "object", "properties": {}},
                },
            }
        ],
    }


def test_calls_are_put_together_by_index_from_interleaved_pieces():
    """C05, C11: two calls of one reply stay apart, and are asked once each when they are whole."""
    reply = Reply(
        (
            Text("One moment."),
            CallPiece(0, id="a", name="look", arguments='{"id"'),
            CallPiece(1, id="b", name="book", arguments=""),
            CallPiece(0, arguments=": 7}"),
            CallPiece(1, arguments='{"slot": "x"}'),
            Finish("tool_calls"),
        )
    )
    with FakeOpenAI([reply]) as server:
        events = _run(server)
    assert events == [
        TextDelta("One moment."),
        CallAsked(RequestedCall("a", "look", '{"id": 7}')),
        CallAsked(RequestedCall("b", "book", '{"slot": "x"}')),
        Finished("calls"),
    ]


@pytest.mark.parametrize("index", [0, None])
def test_servers_that_give_every_call_the_same_index_are_understood(index: int | None):
    """A new id begins a new call, whatever its index."""
    reply = Reply(
        (
            CallPiece(index, id="a", name="look", arguments="{}"),
            CallPiece(index, id="b", name="book", arguments=""),
            Finish("stop"),
        )
    )
    with FakeOpenAI([reply]) as server:
        events = _run(server)
    assert events == [
        CallAsked(RequestedCall("a", "look", "{}")),
        CallAsked(RequestedCall("b", "book", "{}")),
        Finished("calls"),
    ]


def test_a_call_cut_off_by_the_length_limit_is_never_asked():
    """C11: the whole call before it is."""
    reply = Reply(
        (
            CallPiece(0, id="a", name="look", arguments="{}"),
            CallPiece(1, id="b", name="book", arguments='{"slot": '),
            Finish("length"),
        )
    )
    with FakeOpenAI([reply]) as server:
        events = _run(server)
    assert events == [
        CallAsked(RequestedCall("a", "look", "{}")),
        CallCutOff("book"),
        Finished("length"),
    ]


def test_a_call_printed_as_text_is_neither_spoken_nor_asked(caplog: pytest.LogCaptureFixture):
    """C15: the text around it is spoken, and the log counts the block without its words."""
    pieces = ["Sure. ``", '`json\n{"name":"lookup",', '"arguments":{"id":7}}\n`', "`` One second."]
    reply = Reply((*map(Text, pieces), Finish()))
    with caplog.at_level(logging.INFO), FakeOpenAI([reply]) as server:
        events = _run(server)
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "Sure. One second."
    assert events[-1] == Finished("stop")
    (note,) = [r for r in caplog.records if r.name == "runtime.models.openai_model"]
    assert note.__dict__["blocks"] == 1
    assert "lookup" not in caplog.text


@pytest.mark.parametrize(
    ("status", "retryable"), [(400, False), (401, False), (404, False), (429, True), (500, True)]
)
def test_a_refusal_names_the_status_and_whether_to_try_again(status: int, retryable: bool):
    """The server's own words are not repeated: they may quote the key or the prompt."""
    error = _failure(Reply(status=status, body=f'{{"error": {{"message": "bad key {KEY}"}}}}'))
    assert str(error) == f"the model refused the request: HTTP {status}"
    assert error.retryable is retryable
    assert error.__cause__ is None and error.__suppress_context__


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((Text("a"), Cut()), "the connection to the model failed"),
        ((Text("a"), Raw("data: {broken\n\n")), "the model sent something that is not JSON"),
        ((Text("a"),), "the model's stream ended before its reply did"),
        (
            (Text("a"), Raw('data: {"error": {"message": "sk-very-secret"}}\n\n')),
            "the model failed while it answered",
        ),
    ],
)
def test_a_stream_that_breaks_is_a_retryable_failure(parts: tuple[object, ...], message: str):
    """No reply is taken for whole that was not ended by the server."""
    error = _failure(Reply(parts))  # type: ignore[arg-type]
    assert str(error) == message
    assert error.retryable


@pytest.mark.parametrize("reply", [Reply((Text("a"), Stall())), Reply(stall_first=True)])
def test_a_server_that_stalls_is_given_up_in_bounded_time(reply: Reply):
    """Before the response's head and in the middle of it."""
    with FakeOpenAI([reply]) as server:
        with pytest.raises(ProviderError) as caught:
            _run(server, waits=Waits(first_token_s=0.2))
        assert len(server.wait_disconnects(1, 5)) == 1
    assert str(caught.value) == "the model did not answer in time"
    assert caught.value.retryable


def test_a_server_that_is_not_there_is_a_retryable_failure():
    with FakeOpenAI([Reply()]) as server:
        base = server.base

    async def main() -> None:
        model = OpenAIModel("fake", Endpoint(base, KEY))
        try:
            await _all(model)
        finally:
            await model.aclose()

    with pytest.raises(ProviderError, match="the connection to the model failed"):
        asyncio.run(main())


def test_closing_the_stream_closes_the_connection_at_once():
    """An interruption stops the model: its server sees the client go within 100 ms."""
    with FakeOpenAI([Reply((Text("a"), Stall()))]) as server:

        async def main() -> float:
            model = OpenAIModel("fake", Endpoint(server.base, KEY))
            async with closing_stream(model.stream(ASK)) as stream:
                assert await anext(stream) == TextDelta("a")
                closed = asyncio.get_running_loop().time()
            (gone,) = await asyncio.to_thread(server.wait_disconnects, 1, 5)
            await model.aclose()
            return gone - closed

        assert asyncio.run(main()) < 0.1


def test_a_cancelled_reader_closes_the_connection_at_once():
    """The engine cancels the task that reads, also while it waits for the next piece."""
    with FakeOpenAI([Reply((Text("a"), Stall()))]) as server:

        async def main() -> float:
            model = OpenAIModel("fake", Endpoint(server.base, KEY))
            begun = asyncio.Event()

            async def read() -> None:
                async with closing_stream(model.stream(ASK)) as stream:
                    async for _ in stream:
                        begun.set()

            async with asyncio.TaskGroup() as group:
                reader = group.create_task(read())
                await begun.wait()
                reader.cancel()
                cancelled = asyncio.get_running_loop().time()
            (gone,) = await asyncio.to_thread(server.wait_disconnects, 1, 5)
            await model.aclose()
            return gone - cancelled

        assert asyncio.run(main()) < 0.1


def test_no_key_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    """A server that wants no key must not be given somebody else's."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with FakeOpenAI([Reply((Text("ok"), Finish()))]) as server:

        async def main() -> None:
            model = OpenAIModel("fake", Endpoint(server.base))
            await _all(model)
            await model.aclose()

        asyncio.run(main())
    assert KEY not in str(server.requests[0].headers)


@pytest.mark.parametrize(
    ("version", "sent_as", "has_usage"),
    [(None, "max_completion_tokens", True), ("2024-06-01", "max_tokens", False)],
)
def test_azure_is_asked_by_deployment_with_its_own_key_header(
    version: str | None, sent_as: str, has_usage: bool
):
    """The wire form of Azure OpenAI; versions from before September 2024 know the older names."""
    with FakeOpenAI([Reply((Text("Hi."), Finish()))]) as server:
        options: dict[str, Json] = {
            "api_base": server.base.removesuffix("/v1"),
            "api_key": KEY,
            "max_tokens": 9,
        }
        if version is not None:
            options["api_version"] = version

        async def main() -> list[ModelEvent]:
            model = from_options("azure", "desk-model", options)
            try:
                return await _all(model)
            finally:
                await model.aclose()

        events = asyncio.run(main())
    (sent,) = server.requests
    assert events[0] == TextDelta("Hi.")
    assert sent.path == "/openai/deployments/desk-model/chat/completions"
    assert sent.query == f"api-version={version or AZURE_VERSION}"
    assert sent.headers["api-key"] == KEY
    assert "authorization" not in sent.headers
    assert sent.body[sent_as] == 9
    assert ("stream_options" in sent.body) is has_usage


def test_further_parameters_of_a_request_are_passed_on():
    """Section 4: what else ``integrations.yml`` says of a model."""
    with FakeOpenAI([Reply((Text("Hi."), Finish()))]) as server:
        options: dict[str, Json] = {"api_base": server.base, "top_p": 0.5, "seed": 7, "timeout": 3}

        async def main() -> None:
            model = from_options("openai", "m", options)
            try:
                await _all(model)
            finally:
                await model.aclose()

        asyncio.run(main())
    (sent,) = server.requests
    assert (sent.body["top_p"], sent.body["seed"]) == (0.5, 7)
    assert "timeout" not in sent.body
