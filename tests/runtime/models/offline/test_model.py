"""The offline planner as a chat model: any request, fast, and always the same."""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.agent import Expect, Json
from runtime.models.offline.model import OfflineModel
from runtime.models.offline.plan import Plan, scene_of
from runtime.models.offline.planner import plan
from runtime.models.ports import (
    CallAsked,
    ChatMessage,
    ChatRequest,
    Finished,
    ModelEvent,
    RequestedCall,
    TextDelta,
    ToolSpec,
)
from runtime.models.situation import (
    AskedField,
    ChoiceOption,
    FlowOption,
    PendingQuestion,
    Situation,
)
from tests.runtime.models.offline.scenes import FLOWS, NUMBER, scene
from voice.replay.virtual_loop import run_virtual


def streamed(request: ChatRequest) -> list[ModelEvent]:
    async def main() -> list[ModelEvent]:
        model = OfflineModel()
        events = [event async for event in model.stream(request)]
        await model.aclose()
        return events

    return run_virtual(main())


def request_for(said: str, *, messages: Sequence[ChatMessage] = (), **given: Any) -> ChatRequest:
    made = scene(said, **given)
    return ChatRequest(tuple(messages), tuple(made.offered.values()), situation=made.situation)


def test_text_comes_in_a_few_pieces_and_ends():
    """A piece a sentence, with the space before it."""
    events = streamed(request_for("hello"))
    assert events == [TextDelta("Hello."), TextDelta(" What can I do for you?"), Finished("stop")]


def test_a_call_is_one_json_object_with_what_was_asked_for_first():
    """The engine runs its check first."""
    events = streamed(request_for("four seven two nine one three", collecting=NUMBER))
    assert events == [
        CallAsked(RequestedCall("offline_1_1", "set_fields", '{"customer_number": "472913"}')),
        Finished("calls"),
    ]


def test_calls_of_this_turn_are_read_from_the_messages_and_older_ones_are_not():
    """So that words are used once, and a refusal is known."""
    old = (RequestedCall("c1", "activate", '{"flow_id": "a"}'),)
    new = (RequestedCall("c2", "set_fields", '{"n": 1}'), RequestedCall("c3", "correct", "[]"))
    messages = (
        ChatMessage("system", "..."),
        ChatMessage("user", "before"),
        ChatMessage("assistant", "", calls=old),
        ChatMessage("tool", '{"status": "ok"}', call_id="c1"),
        ChatMessage("user", "now"),
        ChatMessage("assistant", "", calls=new),
        ChatMessage("tool", '{"status": "ok"}', call_id="c2"),
        ChatMessage("tool", '{"status": "failed", "reason": "no"}', call_id="c3"),
    )
    read = scene_of(request_for("now", messages=messages, round=2))
    assert [(m.tool, dict(m.arguments), m.is_refused) for m in read.made] == [
        ("set_fields", {"n": 1}, False),
        ("correct", {}, True),
    ]
    assert not read.is_nudged
    assert scene_of(request_for("now", messages=messages)).made == ()


def test_a_note_after_an_empty_reply_is_noticed():
    """A step's result at the end of the messages is no note."""
    messages = (ChatMessage("system", "..."), ChatMessage("user", "mhm"))
    note = ChatMessage("system", "Your last reply was empty.")
    assert scene_of(request_for("mhm", messages=(*messages, note), round=2)).is_nudged
    made = ChatMessage("assistant", "", calls=(RequestedCall("c", "activate", "{}"),))
    result = ChatMessage("tool", '{"status": "ok"}', call_id="c")
    step = ChatMessage("system", "[the system called x: ok]")
    after = request_for("mhm", messages=(*messages, made, result, step), round=2)
    assert not scene_of(after).is_nudged


# ------------------------------------------------------------------ any situation

WORDS = st.sampled_from(
    """yes no maybe the gold one card lost stolen express what how much is it? never mind hold on
    1984 four seven two bye hello thanks agent cancel actually make i meant , . ? {"a": 1} [] name
    \u0000 \u200b \U0001f600 ___ *** \ud55c\uad6d stra\u00dfe""".split(" ")
)
SAID = st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=12).map(" ".join))
TEXT = st.one_of(st.text(max_size=20), st.sampled_from(["gold card", "lost", "", "a_b", "?"]))
JSON: st.SearchStrategy[Json] = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
    st.just(cast("Json", [])), st.just(cast("Json", {})),
)  # fmt: skip
EXPECT = st.builds(
    Expect,
    st.sampled_from(["open", "nothing", "yes_no", "choice", "digits", "spelled", "email", "date"]),
    st.one_of(st.none(), st.integers(-1, 8)),
    st.lists(TEXT, max_size=2).map(tuple),
)
FIELD = st.builds(
    AskedField,
    TEXT,
    st.sampled_from(["text", "bool", "int", "float", "list", "categorical", "json", "any", "x"]),
    TEXT,
    EXPECT,
    st.lists(st.builds(ChoiceOption, TEXT, JSON), max_size=4).map(tuple),
    JSON,
)
FIELDS = st.lists(FIELD, max_size=3).map(tuple)
FLOW = st.builds(FlowOption, TEXT, TEXT, TEXT, st.lists(TEXT, max_size=2).map(tuple), st.booleans())
SITUATION = st.builds(
    Situation,
    said=SAID,
    round=st.integers(0, 21),
    language=st.sampled_from(["en", "en-GB", "de", "", "xx", "zh_CN"]),
    today=st.sampled_from(["2026-02-28", "", "never"]),
    flows=st.lists(FLOW, max_size=4).map(tuple),
    skill=st.one_of(st.none(), TEXT),
    in_prose=st.booleans(),
    collecting=st.one_of(st.none(), FIELD),
    question=st.one_of(st.none(), TEXT),
    settable=FIELDS,
    correctable=FIELDS,
    pending=st.one_of(
        st.none(),
        st.builds(PendingQuestion, TEXT, st.one_of(st.none(), TEXT), st.booleans(), TEXT),
    ),
    passages=st.one_of(st.none(), st.lists(st.one_of(TEXT, SAID), max_size=3).map(tuple)),
    has_knowledge=st.booleans(),
    last_line=TEXT,
    just_done=st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple),
    refused=st.one_of(st.none(), TEXT),
    refused_by_author=st.booleans(),
    step_cancelled=st.sampled_from(["", "order_card"]),
)
MESSAGE = st.builds(
    ChatMessage,
    st.sampled_from(["system", "user", "assistant", "tool"]),
    TEXT,
    st.lists(
        st.builds(RequestedCall, TEXT, st.sampled_from(["set_fields", "activate", "x"]), TEXT),
        max_size=2,
    ).map(tuple),
    TEXT,
)
NAMES = ("activate", "set_fields", "correct", "resolve_tool_confirmation", "search_knowledge",
         "cannot_help", "listen", "cancel_skill", "complete_skill", "hang_up")  # fmt: skip


@st.composite
def requests(draw: st.DrawFn) -> ChatRequest:
    situation = draw(SITUATION)
    chosen = draw(st.sets(st.sampled_from(NAMES)))
    tools = list(scene(situation.said, **_fields(situation)).offered.values())
    odd = [ToolSpec(name, "", {}) for name in sorted(chosen)]
    messages = draw(st.lists(MESSAGE, max_size=4).map(tuple))
    return ChatRequest(messages, tuple(tools if draw(st.booleans()) else odd), situation=situation)


def _fields(situation: Situation) -> dict[str, Any]:
    names = [n for n in Situation.__dataclass_fields__ if n != "said"]
    return {name: getattr(situation, name) for name in names}


@given(requests())
@settings(max_examples=400, deadline=None)
def test_no_request_makes_it_fail_and_it_calls_only_what_is_offered(request: ChatRequest):
    """It decides without its net, in the words of a person, by the schema of the moment."""
    decided = plan(scene_of(request))
    offered = {tool.name: tool.parameters for tool in request.tools}
    for call in decided.calls:
        assert call.tool in offered
        properties = offered[call.tool].get("properties")
        named = properties if isinstance(properties, dict) else {}
        assert set(call.arguments) <= set(named)
        json.dumps(dict(call.arguments))
    assert len(decided.calls) <= 2
    assert OfflineModel().reply(request) == decided


def test_a_rule_that_fails_costs_an_apology(monkeypatch: pytest.MonkeyPatch):
    """The net under the rules: the call goes on."""

    def broken(_: object) -> Plan:
        raise ValueError

    monkeypatch.setattr("runtime.models.offline.model.plan", broken)
    failed = OfflineModel().reply(request_for("hello"))
    assert failed == Plan("Sorry, I didn't catch that.")


# ------------------------------------------------------------------ what it costs


def test_a_request_with_thirty_flows_takes_less_than_five_ms():
    """Measured on the slowest kind: nothing fits, and everything is compared."""
    flows = tuple(
        replace(flow, id=f"{flow.id}{n}", name=f"{flow.name} {n}", examples=(
            *flow.examples, *(f"sentence {k} about {flow.id} number {n}" for k in range(4))
        ))
        for n in range(10)
        for flow in FLOWS
    )  # fmt: skip
    wishes = [f"I would like number {n} of something entirely else, you know" for n in range(40)]
    asked = [request_for(said, flows=flows, has_knowledge=True) for said in wishes]
    model = OfflineModel()
    model.reply(asked[0])
    times: list[float] = []
    for request in asked:
        began = time.perf_counter()
        model.reply(request)
        times.append(time.perf_counter() - began)
    assert sorted(times)[len(times) // 2] < 0.005


def test_importing_it_needs_no_model_library_and_no_network():
    """It is imported only by a project that names it."""
    code = (
        "import sys, runtime.models.offline.model\n"
        "heavy = {'numpy', 'openai', 'httpx', 'aiohttp', 'onnxruntime', 'markdown_it',"
        " 'snowballstemmer'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
