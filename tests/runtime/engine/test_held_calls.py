"""Held calls: one for each skill on the stack, bound to its values, settled if nobody waits for it.

What is asked, and which words answer it, is ``test_held_questions`` and ``test_confirmations``.
"""

from runtime.conversation.events import ToolSettled
from runtime.conversation.prompt_history import STILL_RUNNING
from runtime.models.scripted_model import Call, Part
from runtime.models.scripted_model import Say as Write
from runtime.project.model import Project
from tests.fakes.written_projects import skill
from tests.runtime.engine.bank_files import START, TOOLS, bank, on_project, say, started
from tests.runtime.engine.confirmed_payments import (
    ARGUMENTS,
    CONFIRMED,
    KNOWN,
    NO,
    NOTHING,
    PAY,
    PHRASED,
    PROSE,
    QUESTION,
    RESOLVE,
    YES,
    runs,
)
from tests.runtime.engine.helpers import Call as Connected
from tests.runtime.engine.helpers import connected
from tests.runtime.engine.worlds import facts, fill, offered, start, state

STEP = """
    :::ordered_block id=main
    steps:
      - id: do_pay
        execute_tool: pay
        parameters: {payee: session.desk.payee, amount: session.desk.amount}
      - id: then
        action: action_listen
    :::
"""
NEW_AMOUNT = Call("pay", {"payee": "Haus Nord", "amount": 500})
NEW_QUESTION = "Shall I pay 500 euros to Haus Nord?"


def held(call: Connected) -> list[str]:
    """The tools whose calls are held, the oldest first."""
    made = (state(call).tool_call(hold.call_id) for hold in state(call).dialogue.holds)
    return [each.tool for each in made if each is not None]


def outcomes(call: Connected, tool: str) -> list[tuple[str, str]]:
    """(outcome, result) of a tool's calls."""
    return [
        (fact.outcome, fact.result)
        for fact in facts(call, ToolSettled)
        if (made := state(call).tool_call(fact.call_id)) is not None and made.tool == tool
    ]


# ------------------------------------------------------------------ bound to its values

ROUNDING = (
    TOOLS
    + """
    @tool(description="Round the amount.")
    async def round_up(*, context: ToolContext) -> ToolResult:
        context.memory.set("amount", 500)
        return ToolResult({"amount": 500})
"""
)
TAPPED = """
    responses:
      utter_ask_pay:
        - text: "Shall I pay {amount} euros to {payee}?"
          buttons:
            - {title: Make it five hundred, payload: "set:session.desk.amount=500"}
      utter_denied: [Then I won't pay.]
      utter_paid: ["It is paid, receipt {receipt}."]
      utter_not_paid: [That did not work.]
"""


@on_project(bank("Help the caller.\n", CONFIRMED, skills__desk__tools=ROUNDING))
async def test_a_value_that_a_tool_changes_withdraws_the_held_call(project: Project) -> None:
    """M02: the question would name other values than the call has; the old ones never run."""
    steps = [PAY, Call("round_up"), Write("Rounded."), NEW_AMOUNT, YES, NOTHING]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        assert await say(call, "pay my rent") == [QUESTION]
        assert await say(call, "round it up first") == ["Rounded.", NEW_QUESTION]
        (withdrawn,) = call.voice.happened("confirmation_withdrawn")
        assert withdrawn["reason"] == "its values have changed"
        assert await say(call, "yes") == ["It is paid, receipt R-500."]
        assert runs(call) == ['{"amount":500,"payee":"Haus Nord"}']


@on_project(bank("Help the caller.\n", CONFIRMED, skills__desk__responses=TAPPED))
async def test_a_value_that_a_tap_changes_withdraws_the_held_call(project: Project) -> None:
    """M02, R33: the tapped value is asked about anew."""
    steps = [PAY, NEW_AMOUNT, YES, NOTHING]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        await say(call, "pay my rent")
        call.voice.hear("Make it five hundred", kind="tap")
        await call.voice.wait_ended()
        assert call.voice.texts[-1].startswith(NEW_QUESTION)
        assert runs(call) == []
        await say(call, "yes")
        assert runs(call) == ['{"amount":500,"payee":"Haus Nord"}']


def _yes_beside(change: Call) -> list[list[Part]]:
    return [[YES, change], [change, YES]]


@on_project(bank(STEP, CONFIRMED))
async def test_a_yes_written_before_a_change_of_the_values_is_none_for_a_step(
    project: Project,
) -> None:
    """M02: writes of a reply come first, in whatever order it asks for them."""
    for reply in _yes_beside(fill(amount=500)):
        async with connected([reply, YES], project=project, setup=KNOWN) as call:
            call.voice.start("opened")
            await call.voice.wait_ended()
            assert await say(call, "yes, but make it 500") == [NEW_QUESTION]
            assert runs(call) == []
            await say(call, "yes")
            assert runs(call) == ['{"amount":500,"payee":"Haus Nord"}']


@on_project(PROSE)
async def test_a_yes_written_before_a_change_of_the_values_is_none_for_the_model_s_call(
    project: Project,
) -> None:
    """M02: the model makes the call anew, and it is asked about."""
    change = Call("correct", {"memory_key": "amount", "value": 500})
    for reply in _yes_beside(change):
        steps = [PAY, reply, NEW_AMOUNT, YES, NOTHING]
        async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
            await say(call, "pay my rent")
            assert await say(call, "yes, but make it 500") == [NEW_QUESTION]
            assert runs(call) == []
            await say(call, "yes")
            assert runs(call) == ['{"amount":500,"payee":"Haus Nord"}']


# ------------------------------------------------------------------ one a skill

ORDER_TOOLS = """
    from runtime import ToolContext, ToolResult, tool

    @tool(description="Order.")
    async def order(context: ToolContext = None) -> ToolResult:
        return ToolResult("ordered")
"""
ORDER_FRONT = """
    tool_constraints:
      - order: {requires_confirmation: {enabled: true, utter_for_confirmation: utter_ask_order}}
"""
ORDER_STEP = """
    :::ordered_block id=main
    steps:
      - id: do_order
        execute_tool: order
    :::
"""


def with_shop(body: str, shop: str) -> dict[str, str]:
    """The desk with this body and a shop that may only order once the caller agrees."""
    return dict(
        bank(
            body,
            CONFIRMED,
            skills__shop__skill=skill(shop, ORDER_FRONT),
            skills__shop__tools=ORDER_TOOLS,
            skills__shop__responses="responses: {utter_ask_order: [Shall I order?]}",
        )
    )


@on_project(with_shop("Help the caller.\n", ORDER_STEP))
async def test_a_step_of_another_skill_asks_while_a_call_is_held_below_it(
    project: Project,
) -> None:
    """C12, C8, M02: a yes is for the call in front; the other is asked about again on return."""
    steps = [PAY, start("shop"), YES, NOTHING, fill(continue_it=True), NOTHING, YES, NOTHING]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        await say(call, "pay my rent")
        assert await say(call, "order first") == ["Shall I order?"]
        assert held(call) == ["pay", "order"]
        assert (await say(call, "yes"))[-1].startswith("Shall we go back")
        assert started(call) == ["order"]
        assert await say(call, "yes, go back") == [QUESTION]
        assert started(call) == ["order"], "their yes was for going back"
        await say(call, "yes")
        assert started(call) == ["order", "pay"]
        assert runs(call) == [ARGUMENTS]


@on_project(with_shop("Help the caller.\n", "\nTalk.\n"))
async def test_a_call_of_the_model_s_in_another_skill_is_held_beside_the_first(
    project: Project,
) -> None:
    """M02: neither is refused because of the other, and a no ends only the one in front."""
    steps = [PAY, start("shop"), Call("order"), NO, Write("It isn't ordered.")]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        await say(call, "pay my rent")
        assert await say(call, "order first") == ["Shall I order?"]
        assert held(call) == ["pay", "order"]
        await say(call, "no")
        assert held(call) == ["pay"]
        assert [outcome for outcome, _ in outcomes(call, "order")] == ["cancelled"]
        assert started(call) == []


@on_project(with_shop(STEP, "\nTalk.\n"))
async def test_a_call_of_the_model_s_is_held_above_a_step_that_waits_for_its_yes(
    project: Project,
) -> None:
    """C12, M02: the step's call keeps its place."""
    done = [YES, Call("complete_skill")]
    steps = [start("shop"), Call("order"), *done, NOTHING, fill(continue_it=True), NOTHING, YES]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        call.voice.start("opened")
        await call.voice.wait_ended()
        assert call.voice.texts == [QUESTION]
        assert await say(call, "order first") == ["Shall I order?"]
        assert held(call) == ["pay", "order"]
        assert (await say(call, "yes"))[-1].startswith("Shall we go back")
        assert started(call) == ["order"]
        assert (await say(call, "yes, go back"))[-1] == QUESTION
        await say(call, "yes")
        assert started(call) == ["order", "pay"]


# ------------------------------------------------------------------ its skill


@on_project(bank("Help the caller.\n", CONFIRMED))
async def test_a_call_whose_skill_ends_in_the_same_reply_is_refused(project: Project) -> None:
    """C04, M02: nobody is asked about it, and it has its outcome."""
    steps = [[PAY, Call("complete_skill")], Write("It is not paid.")]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        assert QUESTION not in await say(call, "pay my rent and that's all")
        assert held(call) == []
        ((outcome, why),) = outcomes(call, "pay")
        assert outcome == "failed"
        assert "its skill has ended" in why


@on_project(bank("Help the caller.\n", PHRASED))
async def test_a_yes_after_the_skill_has_ended_is_no_no_either(project: Project) -> None:
    """R45, M02: what the model asked on its own holds nothing, so nothing can be answered."""
    steps = [[PAY, Call("complete_skill")], Write("Shall I pay it?"), Write("I can't.")]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        await say(call, "pay my rent and that's all")
        assert await say(call, "yes") == ["I can't."]
        assert RESOLVE not in offered(call)
        assert runs(call) == []
        assert call.voice.happened("confirmation_answered") == []


@on_project(PROSE)
async def test_a_yes_beside_the_start_of_another_skill_is_kept(project: Project) -> None:
    """M02: it is for what was in front when the caller spoke, whatever comes to the front now."""
    steps = [PAY, [start("shop"), YES], NOTHING]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        await say(call, "pay my rent")
        heard = await say(call, "yes, and when is the shop open?")
        assert runs(call) == [ARGUMENTS]
        assert "The shop is closed." in heard
        assert held(call) == []


@on_project(PROSE)
async def test_the_line_after_a_run_has_the_values_of_the_skill_it_ran_for(
    project: Project,
) -> None:
    """C11: another skill that came to the front in the same reply can't read them."""
    steps = [PAY, [start("shop"), YES], NOTHING]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        await say(call, "pay my rent")
        heard = await say(call, "yes, and when is the shop open?")
        assert heard[0] == "It is paid, receipt R-240."


SHARED = {
    "skills/default_session_start/skill.md": START,
    "skills/desk/skill.md": skill(
        "\nTalk.\n",
        """
        import_tools: [transfer]
        tool_constraints:
          - transfer: {requires: session.desk.verified, requires_confirmation: {enabled: true}}
        """,
    ),
    "skills/desk/memory.yml": "schema: {public: {verified: {type: bool}}}\n",
    "skills/shop/skill.md": skill("\nTalk.\n", "import_tools: [transfer]"),
    "tools/money.py": """
    from runtime import ToolResult, tool

    @tool(description="Transfer money.")
    async def transfer(amount: int) -> ToolResult:
        return ToolResult("R")
""",
}


@on_project(SHARED)
async def test_the_gate_of_a_confirmed_call_is_that_of_the_skill_it_was_held_for(
    project: Project,
) -> None:
    """C16, M02: another skill that may call the tool freely opens no gate for it."""
    steps = [Call("transfer", {"amount": 5}), Write("Shall I?"), [start("shop"), YES], Write("So.")]
    setup = (("desk", "verified", True),)
    async with connected(steps, project=project, setup=setup, strict=False) as call:
        assert await say(call, "transfer 5") == ["Shall I?"]
        await say(call, "yes, and to the shop")
        assert [e["confirmed"] for e in call.voice.happened("confirmation_answered")] == [True]
        assert started(call) == ["transfer"]


# ------------------------------------------------------------------ a no


@on_project(bank(STEP, CONFIRMED))
async def test_a_no_settles_the_call_of_a_step(project: Project) -> None:
    """C7, C04: it is not shown to the model as one that still runs."""
    steps = [NO, Write("Yes?")]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        call.voice.start("opened")
        await call.voice.wait_ended()
        assert await say(call, "no") == ["Then I won't pay."]
        ((outcome, why),) = outcomes(call, "pay")
        assert outcome == "cancelled"
        assert "the caller said no" in why
        assert state(call).open_calls == []
        await say(call, "are you there?")
        assert STILL_RUNNING not in str(call.prompt())


@on_project(bank(STEP, PHRASED))
async def test_a_no_to_a_step_without_a_line_is_told_by_the_model(project: Project) -> None:
    """C7: the caller is not left without an answer."""
    steps = [Write("240 euros to Haus Nord, right?"), NO, Write("Then it stays unpaid.")]
    async with connected(steps, project=project, setup=KNOWN) as call:
        assert await say(call, "hello") == ["240 euros to Haus Nord, right?"]
        assert await say(call, "no") == ["Then it stays unpaid."]
        assert "said no to pay" in call.prompt()[-1][1]
        assert call.voice.happened("step_entered")[-1]["step"] == "then"
        assert runs(call) == []


SHOP_TALK = {
    **PROSE,
    "skills/chat/skill.md": skill("\nTalk.\n"),
}


@on_project(SHOP_TALK)
async def test_going_back_to_an_earlier_topic_parks_what_is_held(project: Project) -> None:
    """C8, section 5: both topics are parked in turn; neither the call nor the skill is dropped."""
    steps = [
        Call("activate", {"flow_id": "chat"}),
        Write("Yes?"),
        Call("activate", {"flow_id": "desk"}),
        PAY,
        Call("activate", {"flow_id": "chat"}),
        Write("Well?"),
        [Call("complete_skill")],
        Write(""),
        Call("set_fields", {"continue_it": True}),
        Write(""),
        YES,
        NOTHING,
    ]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        await say(call, "let us talk")
        assert (await say(call, "pay my rent"))[-1] == QUESTION
        assert await say(call, "back to our talk") == ["Well?"]
        assert runs(call) == []
        assert (await say(call, "that is all"))[-1].startswith("Shall we go back to")
        assert (await say(call, "yes"))[-1] == QUESTION
        await say(call, "yes")
        assert runs(call) == [ARGUMENTS]


@on_project(PROSE)
async def test_a_model_that_calls_again_after_the_yes_ends_the_turn_and_not_in_an_apology(
    project: Project,
) -> None:
    """C9: it is paid, and the caller knows; what the model still wants is refused."""
    async with connected([PAY, YES, PAY, PAY], project=project, setup=KNOWN) as call:
        await say(call, "pay my rent")
        assert await say(call, "yes") == ["It is paid, receipt R-240."]
        assert runs(call) == [ARGUMENTS]
