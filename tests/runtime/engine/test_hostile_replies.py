"""Replies that can't be followed, calls that are made again, and calls that the caller cut off.

Whatever the model answers, each call has one outcome and the caller hears something.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from runtime.engine.calls import MOST_CALLS
from runtime.engine.turn import MOST_ROUNDS
from runtime.models.scripted_model import Call, Cut, Part, Step
from runtime.models.scripted_model import Say as Write
from runtime.project.model import Project
from tests.fakes.written_projects import skill
from tests.runtime.engine.bank_files import RESPONSES, bank, on_project, say, started, told
from tests.runtime.engine.helpers import connected

APOLOGY = "I'm sorry, I can't answer that just now. Could you say it again?"
PAY = Call("pay", {"payee": "Nora", "amount": 5})
VERIFIED = (("desk", "verified", True),)

SHOP = skill(
    """
    :::ordered_block id=main
    steps:
      - id: ask
        collect: item
        utterance: utter_ask_item
      - id: done
        action: utter_sold
    :::
    """,
    "requires: session.desk.verified",
)
FILES = bank(
    "Help the caller.\n",
    skills__shop__skill=SHOP,
    skills__shop__memory="schema: {public: {item: {type: text, llm_settable: true}}}",
    skills__shop__responses="""
    responses:
      utter_ask_item: [What would you like?]
      utter_sold: ["Here is your {item}."]
    """,
    skills__secret__skill=skill("Only by reference.\n", "hidden: true"),
    skills__closed__skill=skill("Never.\n", "disabled: true"),
)


@on_project(FILES)
async def test_ten_calls_at_once_are_eight_and_two_refusals(project: Project) -> None:
    """C05, C13: each has one outcome, in order; the model is told why and asked once more."""
    many = [Call("pay", {"payee": "Nora", "amount": n}) for n in range(10)]
    async with connected([many, Write("Done.")], project=project) as call:
        assert await say(call, "pay all ten") == ["Done."]
        assert len(started(call)) == MOST_CALLS
        results = told(call.model.requests[1])
        assert len(results) == 10
        assert ["too many calls" in result for result in results] == [False] * 8 + [True] * 2
        assert len(call.voice.happened("tool_settled")) == 10


BAD: list[tuple[str, Sequence[Part], str]] = [
    ("an unknown tool", [Call("transfer_call_now")], "no such tool here"),
    ("a tool of another skill", [Call("sell")], "no such tool here"),
    ("half JSON", [Call("pay", '{"payee": "No')], "JSON"),
    ("cut off", [Cut("pay")], "incomplete"),
    ("no object", [Call("pay", "[]")], "object"),
    ("nothing", [Call("pay", "null")], "object"),
    ("text", [Call("pay", '"x"')], "JSON"),
    ("two objects", [Call("pay", '{"a":1}{"a":2}')], "JSON"),
    ("a comma too many", [Call("pay", '{"payee": "Nora", "amount": 5,}')], "JSON"),
    ("not a number", [Call("pay", '{"payee": "Nora", "amount": NaN}')], ""),
    ("a wrong type", [Call("pay", {"payee": "Nora", "amount": "5"})], "amount"),
    ("a control token", [Call("pay", {"payee": "Nora", "amount": "5<|end|>"})], "amount"),
    ("something missing", [Call("pay", {"payee": "Nora"})], "amount"),
    ("something else", [Call("pay", {"payee": "Nora", "amount": 5, "to": "me"})], ""),
    ("two megabytes", [Call("pay", {"payee": "N" * 2_000_000, "amount": 5})], "longer"),
    ("a wrong flow", [Call("activate", {"flow_id": "closed"})], ""),
    ("a field that is not settable", [Call("set_fields", {"receipt": "R-9"})], ""),
    ("no answer is asked for", [Call("resolve_tool_confirmation", {"confirmed": True})], ""),
    ("no index", [Call("search_knowledge", {"query": "x"})], ""),
    ("nothing to correct", [Call("correct", {"memory_key": "payee", "value": "x"})], ""),
]


@pytest.mark.parametrize(("parts", "reason"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_an_impossible_call_is_told_once_and_answered_for_after_the_second_time(
    tmp_path: Path, parts: Sequence[Part], reason: str
) -> None:
    """C11, C13, C14: one retry with the reason, then the spoken way out; nothing runs; the next
    turn is a normal one.
    """

    @on_project(FILES)
    async def scenario(project: Project) -> None:
        steps: list[Step] = [parts, parts, Write("Hello.")]
        async with connected(steps, project=project, setup=VERIFIED) as call:
            assert await say(call, "do it") == [APOLOGY]
            result = told(call.model.requests[1])[0]
            assert '"status":"failed"' in result and reason in result
            assert len(result) < 400, "short, and nothing of the arguments"
            assert started(call) == []
            outcomes = [e["outcome"] for e in call.voice.happened("tool_settled")]
            assert outcomes == ["failed", "failed"]
            assert await say(call, "hello") == ["Hello."]
            assert max(len(m.text) for m in call.model.requests[2].messages) < 10_000

    scenario(tmp_path)


@pytest.mark.parametrize("empty", [[], [Write("")], [Write(" \n")]])
def test_an_empty_reply_is_asked_for_once_more_and_then_answered_for(
    tmp_path: Path, empty: list[Part]
) -> None:
    """L06: never silence; at a question of the engine's own the question is the answer."""

    @on_project(FILES)
    async def scenario(project: Project) -> None:
        steps: list[Step] = [empty, empty, Call("activate", {"flow_id": "shop"}), empty, empty]
        async with connected(steps, project=project, setup=VERIFIED) as call:
            assert await say(call, "hello") == [APOLOGY]
            assert "empty" in call.model.requests[1].messages[-1].text
            assert await say(call, "shop") == ["What would you like?"]
            assert await say(call, "hm") == ["What would you like?"]

    scenario(tmp_path)


@on_project(FILES)
async def test_a_model_that_goes_round_in_a_circle_is_answered_for(project: Project) -> None:
    """Never silence: at most twenty rounds a turn."""
    steps: list[Step] = [Call("pay", {"payee": "Nora", "amount": n}) for n in range(MOST_ROUNDS)]
    async with connected([*steps, Write("Hello.")], project=project) as call:
        assert await say(call, "go on for ever") == [APOLOGY]
        assert len(call.model.requests) == MOST_ROUNDS
        assert await say(call, "hello") == ["Hello."]


@on_project(FILES)
async def test_mistakes_are_counted_over_the_whole_turn(project: Project) -> None:
    """C13: two mistakes a turn are the most, also with a good call between them."""
    bad = Call("pay", {"payee": "Nora"})
    async with connected([bad, PAY, bad, Write("Hello.")], project=project) as call:
        assert await say(call, "pay Nora 5") == [APOLOGY]
        assert started(call) == ["pay"]
        assert await say(call, "hello") == ["Hello."]


@on_project(FILES)
async def test_arguments_that_came_encoded_twice_run_and_results_are_one_json_text(
    project: Project,
) -> None:
    """C12: non-ASCII text intact."""
    twice = Call("pay", '"{\\"payee\\": \\"Zoë Größe\\", \\"amount\\": 5}"')
    async with connected([twice, Write("Done.")], project=project) as call:
        await say(call, "pay")
        assert started(call) == ["pay"]
        assert told(call.model.requests[1]) == ['{"receipt": "R-5"}']
        assert "Zoë Größe" in call.model.requests[1].messages[-2].calls[0].arguments


# ------------------------------------------------------------------ running and cancelled calls

ORDERS = bank(
    "Help the caller.\n",
    skills__desk__tools="""
    import asyncio

    from runtime import ToolContext, ToolResult, tool


    @tool(description="Order something.", on_interrupt="finish")
    async def order(item: str, qty: int = 1) -> ToolResult:
        await asyncio.sleep(6)
        return ToolResult({"ordered": item})


    @tool(description="Slow.")
    async def slow() -> ToolResult:
        await asyncio.sleep(6)
        return ToolResult("slow")


    @tool(description="Quick.")
    async def quick() -> ToolResult:
        return ToolResult("quick")


    @tool(description="Speaks and writes late.", on_interrupt="finish")
    async def late(*, context: ToolContext) -> ToolResult:
        await asyncio.sleep(2)
        await context.send("Your bill is ready.")
        return ToolResult("late")
    """,
    skills__desk__responses=RESPONSES,
)


@on_project(ORDERS)
async def test_an_order_that_runs_is_not_placed_again_however_it_is_written(
    project: Project,
) -> None:
    """C09, C10: it finishes through the interruption; what is equal once checked is equal."""
    lamp = {"item": "lamp", "qty": 1}
    steps = [
        Call("order", lamp),
        [
            Call("order", {"qty": 1, "item": "lamp"}),
            Call("order", {"item": "lamp", "qty": 1.0}),
            Call("order", {"item": "lamp"}),
            Call("order", {"item": "chair"}),
        ],
        Write("It is on its way."),
    ]
    async with connected(steps, project=project) as call:
        call.voice.hear("order a lamp")
        await call.voice.wait_event("tool_started")
        await asyncio.sleep(2)
        call.voice.interrupt()
        call.voice.hear("hello? did you order the lamp?")
        await call.voice.wait_ended()
        texts = [e["text"] for e in call.voice.happened("tool_started")]
        assert texts == ['{"item":"lamp","qty":1}', '{"item":"chair","qty":1}']
        results = told(call.model.requests[2])
        assert results[1:4] == ["still_running"] * 3
        ordered = [e for e in call.voice.happened("tool_settled") if e["outcome"] == "ok"]
        assert len(ordered) == 2


@on_project(ORDERS)
async def test_a_cancelled_call_leaves_the_next_ones_running(project: Project) -> None:
    """C16, C10: one is cancelled, one finishes, and the next turn runs another."""
    steps = [Call("slow"), Call("quick"), Write("Quick.")]
    async with connected(steps, project=project) as call:
        call.voice.hear("slow")
        await call.voice.wait_event("tool_started")
        await asyncio.sleep(1)
        call.voice.interrupt()
        call.voice.hear("quick then")
        await call.voice.wait_ended()
        settled = [(e["tool"], e["outcome"]) for e in call.voice.happened("tool_settled")]
        assert settled == [("slow", "cancelled"), ("quick", "ok")]
        assert '"status":"cancelled"' in told(call.model.requests[1])[0].replace(" ", "")


@on_project(ORDERS)
async def test_a_tool_that_speaks_after_the_interruption_is_not_heard(project: Project) -> None:
    """C18: its words are stale, its result is known."""
    steps = [Call("late"), Write("Yes?"), Write("It is ready.")]
    async with connected(steps, project=project) as call:
        call.voice.hear("bill")
        await call.voice.wait_event("tool_started")
        await asyncio.sleep(1)
        call.voice.interrupt()
        assert (await say(call, "hello?"))[0] == "Yes?"
        await say(call, "and the bill?")
        assert "Your bill is ready." not in call.voice.texts
        assert len(call.voice.happened("send_dropped")) == 1
        assert "late" in str([m.text for m in call.model.requests[2].messages])


@on_project(ORDERS)
async def test_a_typed_interruption_comes_after_the_message_that_it_cut_off(
    project: Project,
) -> None:
    """B04"""
    steps = [Write("Your options are A, B and C, and there is D as well."), Write("B it is.")]
    async with connected(steps, project=project) as call:
        call.voice.hear("what is there?")
        await asyncio.sleep(1)
        call.voice.interrupt("text")
        call.voice.hear("the second one", kind="text")
        await call.voice.wait_ended()
        assert call.prompt()[-2:] == [
            ("assistant", "Your options are A, [interrupted]"),
            ("user", "the second one"),
        ]


@on_project(FILES)
async def test_a_call_written_as_text_is_not_made(project: Project) -> None:
    """C15: on the engine's side a text is a text; whoever reads models cuts such blocks out."""
    text = 'Sure. {"name": "pay", "arguments": {"payee": "Nora", "amount": 5}}'
    async with connected([Write(text)], project=project) as call:
        await say(call, "pay")
        assert started(call) == []
