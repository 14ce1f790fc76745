"""Gates of tools: what the model is offered, what is refused all the same, what watchers see."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from runtime.errors import ProjectError
from runtime.models.scripted_model import Call
from runtime.models.scripted_model import Say as Write
from runtime.project.model import Project
from tests.fakes.written_projects import skill, written_project
from tests.runtime.engine.bank_files import bank, offered, on_project, told
from tests.runtime.engine.helpers import Call as Connected
from tests.runtime.engine.helpers import connected

GATED = bank(
    "Help the caller.\n",
    """
    tool_constraints:
      - pay: {requires: session.desk.verified}
    """,
)

GATED_STEP = bank(
    """
    :::ordered_block id=main
    steps:
      - id: do_pay
        execute_tool: pay
        parameters: {payee: Haus Nord, amount: 240}
      - id: ask
        collect: verified
    :::
    """,
    """
    tool_constraints:
      - pay: {requires: session.desk.verified, on_failure: utter_not_paid, on_success: utter_paid}
    """,
)


def gates(call: Connected) -> dict[str, str]:
    """Tool → its gate, as last reported."""
    tools = cast("list[dict[str, Any]]", call.voice.happened("gates")[-1]["tools"])
    return {f"{each['skill']}.{each['tool']}": each["gate"] for each in tools}


@on_project(GATED)
async def test_a_tool_appears_once_memory_satisfies_its_gate_and_goes_again(
    project: Project,
) -> None:
    """C1, C2, R37: in the same turn and conversation."""
    steps = [
        Write("Who are you?"),
        Call("set_fields", {"verified": True}),
        Call("pay", {"payee": "Haus Nord", "amount": 240}),
        Write("Paid."),
        Call("correct", {"memory_key": "verified", "value": False}),
        Write("Right."),
    ]
    async with connected(steps, project=project) as call:
        for said in ("pay my rent", "it is me", "no it is not me"):
            call.voice.hear(said)
            await call.voice.wait_ended()
        shown = ["pay" in offered(request) for request in call.model.requests]
        assert shown == [False, False, True, True, True, False]
        assert all("balance" in offered(request) for request in call.model.requests)
        assert [e["tool"] for e in call.voice.happened("tool_started")] == ["pay"]


@on_project(GATED)
async def test_a_call_to_a_shut_tool_runs_nothing_and_says_no_more_than_that(
    project: Project,
) -> None:
    """R37, C12, C14: the model calls what it was not offered; it is asked once more."""
    steps = [Call("pay", {"payee": "Haus Nord", "amount": 240}), Write("I can't do that yet.")]
    async with connected(steps, project=project) as call:
        call.voice.hear("pay my rent")
        assert (await call.voice.wait_ended()).outcome == "done"
        assert call.voice.happened("tool_started") == []
        assert told(call.model.requests[1]) == ['{"reason":"no such tool here","status":"failed"}']
        assert call.voice.texts == ["I can't do that yet."]


@on_project(GATED)
async def test_a_gate_that_shuts_after_the_request_was_sent_is_looked_at_again(
    project: Project,
) -> None:
    """R37, C14: one reply takes the condition away and calls the tool."""
    pay = Call("pay", {"payee": "Haus Nord", "amount": 240})
    steps = [
        Call("set_fields", {"verified": True}),
        [Call("correct", {"memory_key": "verified", "value": False}), pay],
        Write("Not paid."),
    ]
    async with connected(steps, project=project) as call:
        call.voice.hear("it is me, no it is not, pay")
        await call.voice.wait_ended()
        assert "pay" in offered(call.model.requests[1])
        assert call.voice.happened("tool_started") == []
        assert "it is not available now" in told(call.model.requests[2])[-1]


@on_project(GATED_STEP)
async def test_a_step_s_call_of_a_shut_tool_fails_and_the_block_goes_on(project: Project) -> None:
    """C12, R37, C11: ``execute_tool`` has the same gate, and its failure is told."""
    async with connected([Write("Are you the owner?")], project=project) as call:
        call.voice.hear("pay my rent")
        await call.voice.wait_ended()
        assert call.voice.happened("tool_started") == []
        settled = call.voice.happened("tool_settled")
        assert [(e["tool"], e["outcome"]) for e in settled] == [("pay", "failed")]
        assert "it is not available now" in str(settled[0]["text"])
        assert call.voice.texts == ["That did not work.", "Are you the owner?"]


@on_project(GATED_STEP)
async def test_a_step_s_call_of_an_open_tool_runs(project: Project) -> None:
    """C12, C11"""
    setup = (("desk", "verified", True),)
    async with connected([], project=project, setup=setup) as call:
        call.voice.start("opened")
        await call.voice.wait_ended()
        assert [e["outcome"] for e in call.voice.happened("tool_settled")] == ["ok"]
        assert call.voice.texts[0] == "It is paid, receipt R-240."


@on_project(
    bank(
        "Help the caller.\n",
        """
        tool_constraints:
          - pay: {requires: session.desk.amount > 3}
        """,
    )
)
async def test_a_condition_that_can_not_be_evaluated_keeps_its_tool_shut(project: Project) -> None:
    """C13, K10: nothing is greater than three, and neither is an unset amount."""
    steps = [
        Write("How much?"),
        Call("set_fields", {"amount": 3}),
        Call("correct", {"memory_key": "amount", "value": 4}),
        Write("Good."),
    ]
    async with connected(steps, project=project) as call:
        for said in ("pay", "three, no, four"):
            call.voice.hear(said)
            await call.voice.wait_ended()
        shown = ["pay" in offered(request) for request in call.model.requests]
        assert shown == [False, False, False, True]


@on_project(GATED)
async def test_a_gate_whose_evaluation_breaks_stays_shut(project: Project) -> None:
    """C13: a condition may name what this skill can't read any more."""
    desk = project.skills["desk"]
    other = replace(project, memory=tuple(f for f in project.memory if f.name != "verified"))
    assert desk.constraints["pay"].requires is not None
    async with connected([Write("Hello.")], project=other) as call:
        call.voice.hear("hello")
        await call.voice.wait_ended()
        assert "pay" not in offered(call.model.requests[0])
        assert gates(call)["desk.pay"] == "shut"


@pytest.mark.parametrize("requires", ["verified", "desk.verified", "session.verified", "no(", '""'])
def test_a_gate_is_written_with_its_full_name(tmp_path: Path, requires: str) -> None:
    """C3: anything else is a mistake that is found before the first call."""
    front = f"tool_constraints:\n  - pay: {{requires: {requires}}}"
    with pytest.raises(ProjectError) as caught:
        written_project(tmp_path, bank("Help.\n", front))
    assert any("skills/desk/skill.md" in str(p.place) for p in caught.value.problems)


@on_project(
    bank(
        "Help the caller.\n",
        """
        tool_constraints:
          - pay: {requires: session.desk.receipt and session.shop.open and session.project.vip}
        """,
        memory="vip: {type: bool}\n",
        skills__shop__skill=skill("Sell.\n"),
        skills__shop__memory="schema: {public: {open: {type: bool}}, private: {till: {type: int}}}",
    )
)
async def test_gates_read_their_own_fields_public_ones_and_the_project_s(project: Project) -> None:
    """C16"""
    values = (("desk", "receipt", "R-1"), ("shop", "open", True), ("project", "vip", True))
    for missing in (None, *range(3)):
        setup = tuple(v for n, v in enumerate(values) if n != missing)
        async with connected([Write("Hello.")], project=project, setup=setup) as call:
            call.voice.hear("hello")
            await call.voice.wait_ended()
            assert ("pay" in offered(call.model.requests[0])) is (missing is None)


def test_a_gate_can_not_read_another_skill_s_private_field(tmp_path: Path) -> None:
    """C16: found before the first call."""
    files = bank(
        "Help.\n",
        "tool_constraints:\n  - pay: {requires: session.shop.till}",
        skills__shop__skill=skill("Sell.\n"),
        skills__shop__memory="schema: {private: {till: {type: int}}}",
    )
    with pytest.raises(ProjectError, match="till"):
        written_project(tmp_path, files)


WATCHED = bank(
    "Help the caller.\n",
    """
    import_tools: [weather]
    tool_constraints:
      - pay: {requires: session.desk.verified}
      - weather: {requires: session.desk.amount}
    """,
    skills__desk__tools="""
    from runtime import Button, ToolContext, ToolResult, tool


    @tool(description="Pay somebody.")
    async def pay(payee: str) -> ToolResult:
        return ToolResult()


    @tool(description="Checks an amount.")
    async def run_after_setting_amount(*, context: ToolContext) -> ToolResult:
        return ToolResult()


    @tool(description="Offers payees.")
    async def list_payees(*, context: ToolContext) -> ToolResult:
        context.set_buttons([Button(title="Haus Nord", value="haus_nord")])
        return ToolResult()
    """,
    skills__desk__responses="""
    responses:
      utter_ask_payee:
        - text: Who is paid?
          buttons: {source: list_payees}
    """,
    tools__tools="""
    from runtime import ToolResult, tool


    @tool(description="The weather.")
    async def weather() -> ToolResult:
        return ToolResult("rain")


    @tool(description="The news.")
    async def news() -> ToolResult:
        return ToolResult("none")
    """,
    skills__shop__skill=skill("Sell.\n"),
    skills__shop__tools="""
    from runtime import ToolResult, tool


    @tool(description="Sell.")
    async def sell() -> ToolResult:
        return ToolResult("sold")
    """,
)


@on_project(WATCHED)
async def test_every_declared_tool_is_shown_with_its_gate_whenever_one_has_changed(
    project: Project,
) -> None:
    """C15, R38: hooks and sources of buttons are the engine's own, whatever else holds."""
    steps = [
        Call("set_fields", {"verified": True, "amount": 3}),
        Write("Good."),
        Write("Nothing new."),
        Call("activate", {"flow_id": "shop"}),
        Write("What would you like?"),
    ]
    async with connected(steps, project=project) as call:
        seen: list[dict[str, str]] = []
        for said in (None, "it is me, three euros", "well", "now the shop"):
            if said is not None:
                call.voice.hear(said)
                await call.voice.wait_ended()
            seen.append(gates(call))
        assert len(call.voice.happened("gates")) == 3, "told when one has changed, and only then"
        engine = {
            "desk.run_after_setting_amount": "engine_only",
            "desk.list_payees": "engine_only",
        }
        shut = {"desk.pay": "shut", "desk.weather": "shut", "shop.sell": "inactive"}
        opened = {"desk.pay": "open", "desk.weather": "open", "shop.sell": "inactive"}
        moved = {"desk.pay": "inactive", "desk.weather": "inactive", "shop.sell": "open"}
        assert seen == [engine | shut, engine | opened, engine | opened, engine | moved]
        written = cast("list[dict[str, Any]]", call.voice.happened("gates")[0]["tools"])
        assert {(t["tool"], t["requires"]) for t in written} >= {
            ("pay", "session.desk.verified"),
            ("weather", "session.desk.amount"),
            ("sell", ""),
        }


@on_project(WATCHED)
async def test_only_the_active_skill_s_own_and_imported_tools_are_offered(
    project: Project,
) -> None:
    """R38, R12, R50: no hook, no source of buttons, no shared tool that nobody imported, none of
    another skill; calling one all the same runs nothing.
    """
    hidden = ["run_after_setting_amount", "list_payees", "news", "sell"]
    steps = [
        Call("set_fields", {"verified": True, "amount": 3}),
        [Call(name) for name in hidden],
        Write("I can't."),
        Call("activate", {"flow_id": "shop"}),
        Write("Welcome."),
    ]
    async with connected(steps, project=project) as call:
        for said in ("all of it", "the shop"):
            call.voice.hear(said)
            await call.voice.wait_ended()
        first = offered(call.model.requests[1])
        assert {"pay", "weather"} <= set(first) and not set(hidden) & set(first)
        assert (
            told(call.model.requests[2])[-4:]
            == ['{"reason":"no such tool here","status":"failed"}'] * 4
        )
        started = [e["tool"] for e in call.voice.happened("tool_started")]
        assert started == ["run_after_setting_amount"], "by the engine, after the write"
        last = set(offered(call.model.requests[-1]))
        assert "sell" in last and not {"pay", "weather", "news"} & last
