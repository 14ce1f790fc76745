"""What the model sees and is offered, as whole texts.

The texts stand in ``golden/``. After a change that is meant, write them anew with
``BARGEIN_WRITE_GOLDEN=1`` and read the difference.
"""

import asyncio
import os
from pathlib import Path

import pytest

from runtime.engine.prompt_text import KeptPrompt, prompt_text
from runtime.models.ports import ChatRequest
from runtime.models.scripted_model import Call, Part
from runtime.models.scripted_model import Say as Write
from runtime.project.model import Project
from tests.fakes.written_projects import skill
from tests.runtime.engine.bank_files import TOOLS, bank, offered, on_project, say, system, told
from tests.runtime.engine.helpers import connected

GOLDEN = Path(__file__).parent / "golden"
NOTHING: list[Part] = []

AGENT = """
agent:
  persona: You are Bo, who answers the phone of Harbour Bank.
rules:
  - Never give advice.
fillers: {enabled: false}
orchestrator:
  model_group: main
  voice_rules: [Be short.]
"""
SMALL = AGENT + "  max_prompt_tokens: 600\n"
PAY = Call("pay", {"payee": "Haus Nord", "amount": 240})
KNOWN = (("desk", "payee", "Haus Nord"), ("desk", "amount", 240))
ASKED = """
    tool_constraints:
      - pay:
          requires: session.desk.amount
          requires_confirmation: {enabled: true, utter_for_confirmation: utter_ask_pay}
"""


def agent(files: dict[str, str], text: str = AGENT) -> dict[str, str]:
    """The same files with this ``agent.yml``."""
    return {**files, "agent.yml": text}


def same_as_golden(name: str, *requests: ChatRequest) -> None:
    """Compare requests with the text that is kept under a name."""
    path = GOLDEN / f"{name}.md"
    found = prompt_text(KeptPrompt(1, n, request) for n, request in enumerate(requests, 1))
    found = found.rstrip("\n") + "\n"
    if os.environ.get("BARGEIN_WRITE_GOLDEN"):
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")


# ------------------------------------------------------------------ whole texts


@on_project(agent(dict(bank("Pay what the caller asks for, with @tool.pay.\n", ASKED))))
async def test_before_and_after_a_gate_opens(project: Project) -> None:
    """C1, C2: the tool, its description and its parameters come with the value."""
    steps = [Write("How much?"), Call("set_fields", {"amount": 240}), Write("And to whom?")]
    async with connected(steps, project=project) as call:
        await say(call, "pay my rent")
        await say(call, "240 euros")
        same_as_golden("gate", call.model.requests[0], call.model.requests[2])


@on_project(
    agent(
        {
            **bank("Help.\n"),
            "references/opening.md": "# Opening hours\n\nThe bank opens at nine.\n",
        }
    )
)
async def test_after_a_search(project: Project) -> None:
    """R46: the passages, and the tools that are left."""
    steps = [Call("search_knowledge", {"query": "opening"}), Write("At nine.")]
    async with connected(steps, project=project) as call:
        await say(call, "when do you open?")
        same_as_golden("search", call.model.requests[1])


BLOCK = """
    :::ordered_block id=main
    steps:
      - id: who
        collect: payee
        utterance: utter_ask_payee
      - id: how_much
        collect: amount
        description: Whole euros, five at least.
      - id: talk
        instructions: Thank the caller for {amount} euros.
    :::
"""


@on_project(
    agent(
        dict(
            bank(
                BLOCK.replace("{amount}", "@memory.desk.amount"),
                skills__desk__responses="responses: {utter_ask_payee: [Who is paid?]}",
            )
        )
    )
)
async def test_in_a_block(project: Project) -> None:
    """R41, R48: at a question of the engine's, at one of the model's, in free instructions."""
    steps = [
        NOTHING,
        Call("set_fields", {"payee": "Haus Nord"}),
        Write("How many euros?"),
        Call("set_fields", {"amount": 240}),
        Write("Thank you."),
    ]
    async with connected(steps, project=project, strict=False) as call:
        await say(call, "hello")
        await say(call, "Haus Nord")
        await say(call, "240")
        same_as_golden("block", *(call.model.requests[n] for n in (0, 2, 4)))


@on_project(agent(dict(bank("Pay.\n", ASKED))))
async def test_with_a_pending_confirmation(project: Project) -> None:
    """R45, R48, C8: the held call, its arguments and its question, which may be answered now."""
    steps = [PAY, Write("It is your rent.")]
    async with connected(steps, project=project, setup=KNOWN) as call:
        await say(call, "pay my rent")
        await say(call, "what for?")
        same_as_golden("pending", call.model.requests[1])


@on_project(agent(dict(bank("Pay.\n", ASKED))))
async def test_with_words_that_came_before_the_question_was_heard(project: Project) -> None:
    """M02, M04: the cut question ends where the caller stopped hearing it."""
    async with connected([PAY, NOTHING], project=project, setup=KNOWN) as call:
        await asyncio.sleep(5)
        call.voice.hear("pay my rent")
        await call.voice.wait_event("confirmation_asked", 2)
        await asyncio.sleep(0.8)
        call.voice.interrupt()
        call.voice.hear("yes yes")
        await call.voice.wait_ended()
        same_as_golden("too_early", call.model.requests[1])


@on_project(
    agent(
        dict(bank("Pay.\n", "tool_constraints: [{pay: {requires_confirmation: {enabled: true}}}]"))
    )
)
async def test_with_a_question_that_the_model_is_to_phrase(project: Project) -> None:
    """C5"""
    steps = [PAY, Write("240 euros to Haus Nord?")]
    async with connected(steps, project=project) as call:
        await say(call, "pay my rent")
        same_as_golden("phrase", call.model.requests[1])


# ------------------------------------------------------------------ what prose shows

PROSE = """
Start with @block.checks, then @skill.shop, and pay with @tool.pay.

if: session.desk.verified
The caller is @memory.project.who and pays @memory.desk.payee.

if: session.desk.amount > 100
This is a lot.

Always be kind.

:::ordered_block id=checks
steps:
  - id: ask
    collect: verified
:::
"""


@on_project(
    agent(
        dict(
            bank(
                PROSE,
                memory="who: {type: text, pii: true}\nvip: {type: bool}\n",
                skills__shop__skill=skill("Sell.\n"),
                skills__shop__memory=(
                    "schema: {public: {item: {type: text}}, private: {till: {type: int}}}"
                ),
            )
        )
    )
)
async def test_prose_is_scoped_and_its_tokens_show_live_values(project: Project) -> None:
    """Section 5: paragraphs by their condition, values as they are now, personal ones as [set]."""
    setup = (
        ("project", "who", "Nora Feld"),
        ("shop", "item", "lamp"),
        ("shop", "till", 7),
        ("desk", "receipt", "R-1"),
    )
    steps = [
        Write("Who are you?"),
        Call("set_fields", {"verified": True, "amount": 101, "payee": "Zoë"}),
        Write("Good."),
    ]
    async with connected(steps, project=project, setup=setup) as call:
        await say(call, "hello")
        await say(call, "it is me")
        before, after = system(call.model.requests[0]), system(call.model.requests[2])
        start = (
            'Start with `activate(flow_id="desk.checks")`, then `activate(flow_id="shop")`, '
            "and pay with `pay`."
        )
        assert start in before and start in after
        assert "The caller is" not in before and "This is a lot." not in before
        assert "The caller is [set] and pays Zoë." in after.replace('"', "")
        assert after.index("This is a lot.") < after.index("Always be kind.")
        assert "Always be kind." in before
        assert "- project.who: [set]" in before and '- desk.receipt: "R-1"' in before
        assert "Nora" not in str(call.model.requests) and "if:" not in after
        assert "till" not in after and "vip" not in after, "another's private, and the unset"


@on_project(
    agent(dict(bank(PROSE, skills__shop__skill=skill("Sell.\n"), memory="who: {type: text}")))
)
async def test_a_reference_to_an_unset_value_says_so(project: Project) -> None:
    """Section 5"""
    setup = (("desk", "verified", True),)
    async with connected([Write("Hm.")], project=project, setup=setup) as call:
        await say(call, "hello")
        assert "The caller is (not set) and pays (not set)." in system(call.model.requests[0])


@on_project(
    agent(
        {
            **bank(PROSE, skills__shop__skill=skill("Sell.\n"), memory="who: {type: text}"),
            "skills/desk/memory.yml": """
            schema:
              public:
                payee: {type: text, llm_settable: true, pii: true}
                amount: {type: int, llm_settable: true}
                verified: {type: bool}
              private:
                receipt: {type: text}
            """,
        }
    )
)
async def test_a_personal_value_of_the_skill_s_own_is_shown_as_set(project: Project) -> None:
    """Section 6: in prose, in memory and in the tools."""
    setup = (("desk", "payee", "Haus Nord"), ("desk", "verified", True))
    async with connected([Write("Hm.")], project=project, setup=setup) as call:
        await say(call, "hello")
        request = call.model.requests[0]
        assert "Haus Nord" not in str(request.messages)
        assert "- desk.payee: [set]" in system(request)
        assert "Haus Nord" not in str(request.tools)


# ------------------------------------------------------------------ the budget

LONG = "word " * 60


def users(request: ChatRequest) -> list[str]:
    """The caller's words in a request, shortened to their first."""
    return [m.text.split()[0] for m in request.messages if m.role == "user"]


@on_project(agent(dict(bank("Help.\n")), SMALL))
async def test_the_oldest_turns_fall_out_first(project: Project) -> None:
    """Section 3: what stays is the end of the conversation, without holes, and the memory."""
    steps = [Call("set_fields", {"payee": "Haus Nord"}), *[Write(LONG) for _ in range(12)]]
    async with connected(steps, project=project) as call:
        for n in range(12):
            await say(call, f"n{n} {LONG}")
        last = call.model.requests[-1]
        kept = users(last)
        assert 2 <= len(kept) < 12
        assert kept == [f"n{n}" for n in range(12 - len(kept), 12)]
        assert sum(len(m.text) for m in last.messages[1:]) <= 2600
        assert last.messages[1].role == "user", "no half turn"
        assert '- desk.payee: "Haus Nord"' in system(last)


@on_project(agent(dict(bank("Help.\n", ASKED)), SMALL))
async def test_a_pending_confirmation_never_falls_out(project: Project) -> None:
    """Section 3, R45"""
    steps = [PAY, *[Write(LONG) for _ in range(10)]]
    async with connected(steps, project=project, setup=KNOWN) as call:
        await say(call, "first pay my rent")
        for n in range(10):
            await say(call, f"n{n} {LONG}")
        last = call.model.requests[-1]
        assert users(last)[0] == "first" and "n0" not in users(last)
        assert told(last) == ["awaits_confirmation"]
        assert '"payee":"Haus Nord"' in system(last)
        assert "resolve_tool_confirmation" in offered(last)


@on_project(
    agent(
        dict(
            bank(
                "Help.\n",
                skills__desk__tools=TOOLS
                + """

    @tool(description="Order.", on_interrupt="finish", timeout=3000)
    async def order() -> ToolResult:
        await asyncio.sleep(2000)
        return ToolResult("ordered")
""",
            )
        ),
        SMALL,
    )
)
async def test_an_open_call_never_falls_out(project: Project) -> None:
    """Section 3, C04: it has the result ``still_running``, however old it is."""
    steps = [Call("order"), *[Write(LONG) for _ in range(10)]]
    async with connected(steps, project=project) as call:
        call.voice.hear("first order it")
        await call.voice.wait_event("tool_started")
        call.voice.interrupt()
        for n in range(10):
            await say(call, f"n{n} {LONG}")
        last = call.model.requests[-1]
        assert users(last)[0] == "first" and "n0" not in users(last)
        assert told(last) == ["still_running"]
        calls = [c.id for m in last.messages for c in m.calls]
        assert calls == [m.call_id for m in last.messages if m.role == "tool"]


@pytest.mark.parametrize("channel_rules", [True, False])
def test_the_packaged_rules_can_be_replaced(tmp_path: Path, channel_rules: bool) -> None:
    """Section 3: ``voice_rules`` stand in the place of the packaged block."""
    text = AGENT if channel_rules else AGENT.replace("  voice_rules: [Be short.]\n", "")

    @on_project(agent(dict(bank("Help.\n")), text))
    async def scenario(project: Project) -> None:
        async with connected([Write("Hello.")], project=project) as call:
            await say(call, "hello")
            shown = system(call.model.requests[0])
            assert ("- Be short." in shown) is channel_rules
            assert ("You are on a phone call" in shown) is not channel_rules
            assert "- Never give advice." in shown

    scenario(tmp_path)
