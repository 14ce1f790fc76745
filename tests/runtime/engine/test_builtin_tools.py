"""The engine's own tools: when each is offered, what it does, and that no reply ends in silence."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from runtime.agent import HangUp, Listen
from runtime.models.ports import ChatRequest
from runtime.models.scripted_model import Call, Part
from runtime.models.scripted_model import Say as Write
from runtime.project.model import Project
from tests.fakes.written_projects import skill
from tests.runtime.engine.bank_files import bank, offered, on_project, say, started, system, told
from tests.runtime.engine.helpers import connected

NOTHING: list[Part] = []
ELSE = "Is there anything else I can help you with?"
PAY = Call("pay", {"payee": "Nora", "amount": 5})

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
WITH_INDEX = {
    **FILES,
    "references/opening.md": "# Opening hours\n\nThe bank opens at nine and closes at five.\n",
}
VERIFIED = (("desk", "verified", True),)
IDLE = {**FILES, "skills/default_session_start/skill.md": ""}
"""Nothing is active at the start."""
del IDLE["skills/default_session_start/skill.md"]


def parameters(request: ChatRequest, tool: str) -> dict[str, Any]:
    """The properties of a tool's parameters."""
    spec = next(spec for spec in request.tools if spec.name == tool)
    return cast("dict[str, Any]", spec.parameters["properties"])


# ------------------------------------------------------------------ activate


def flow_ids(request: ChatRequest) -> list[str]:
    """What ``activate`` may name."""
    if "activate" not in offered(request):
        return []
    return cast("list[str]", parameters(request, "activate")["flow_id"]["enum"])


@on_project(IDLE)
async def test_activate_names_what_can_be_started_now(project: Project) -> None:
    """R40: rebuilt for each request; not the active skill, nothing hidden, disabled or unmet."""
    steps = [
        Write("Hello."),
        Call("activate", {"flow_id": "desk"}),
        Call("set_fields", {"verified": True}),
        Write("Good."),
    ]
    async with connected(steps, project=project) as call:
        await say(call, "hello")
        await say(call, "the desk please, it is me")
        flows = [flow_ids(request) for request in call.model.requests]
        assert flows == [["desk"], ["desk"], [], ["shop"]]


@on_project(IDLE)
async def test_activate_starts_and_a_name_that_is_not_offered_is_refused(
    project: Project,
) -> None:
    """R40, C14: the refusal comes from the schema of this moment."""
    steps = [Call("activate", {"flow_id": "shop"}), Write("That is not possible yet.")]
    async with connected(steps, project=project) as call:
        assert await say(call, "the shop") == ["That is not possible yet."]
        assert '"status":"failed"' in told(call.model.requests[1])[0]
        assert call.voice.happened("skill_started")[-1]["skill"] != "shop"


# ------------------------------------------------------------------ complete_skill, cancel_skill


@on_project(FILES)
async def test_complete_skill_is_for_prose_and_ends_it(project: Project) -> None:
    """R41: not in a block, never for a skill of blocks only."""
    steps = [
        Call("activate", {"flow_id": "shop"}),
        Call("set_fields", {"item": "lamp"}),
        NOTHING,
        Call("set_fields", {"continue_it": True}),
        Call("complete_skill"),
    ]
    async with connected(steps, project=project, setup=VERIFIED) as call:
        assert (await say(call, "buy a lamp"))[0] == "Here is your lamp."
        assert (await say(call, "yes, that was it"))[-1] == ELSE
        prose = ["complete_skill" in offered(r) for r in call.model.requests]
        assert prose == [True, False, False, False, True]
        ended = [(e["skill"], e["how"]) for e in call.voice.happened("skill_ended")]
        assert ("desk", "completed") in ended


@on_project(FILES)
async def test_a_skill_completed_in_words_is_not_wrapped_up_twice(project: Project) -> None:
    """R41: the model has said what there was to say."""
    steps = [[Write("Done. Anything else?"), Call("complete_skill")]]
    async with connected(steps, project=project) as call:
        assert await say(call, "that is it") == ["Done. Anything else?"]


@on_project(FILES)
async def test_cancel_skill_is_offered_whenever_a_skill_is_active_and_says_so(
    project: Project,
) -> None:
    """R42: in prose and in a block; not when there is nothing to cancel."""
    steps = [
        Call("activate", {"flow_id": "shop"}),
        NOTHING,
        [Write("As you like."), Call("cancel_skill")],
        NOTHING,
        Call("set_fields", {"continue_it": True}),
        Call("cancel_skill"),
        Write("Hello."),
    ]
    async with connected(steps, project=project, setup=VERIFIED, strict=False) as call:
        assert await say(call, "shop") == ["What would you like?"]
        await say(call, "forget it")
        ended = [(e["skill"], e["how"]) for e in call.voice.happened("skill_ended")]
        assert ("shop", "cancelled") in ended
        assert [("cancel_skill" in offered(r)) for r in call.model.requests[:3]] == [True] * 3


@on_project(FILES)
async def test_a_cancelled_skill_is_acknowledged_by_the_engine_where_the_model_is_silent(
    project: Project,
) -> None:
    """R42: never silence."""
    async with connected([Call("cancel_skill"), Write("Hi.")], project=project) as call:
        assert await say(call, "forget it") == ["All right, we'll leave that."]
        await say(call, "hello")
        assert "cancel_skill" not in offered(call.model.requests[1])
        assert "complete_skill" not in offered(call.model.requests[1])


@on_project(IDLE)
async def test_without_a_skill_there_is_nothing_to_cancel_or_set(project: Project) -> None:
    """R41, R42, R43, R44, R45, R46"""
    async with connected([Write("Hello.")], project=project) as call:
        await say(call, "hello")
        assert offered(call.model.requests[0]) == ["activate", "cannot_help", "listen", "hang_up"]


# ------------------------------------------------------------------ set_fields, correct


@on_project(FILES)
async def test_set_fields_writes_a_batch_or_none_of_it(project: Project) -> None:
    """R43: only settable fields are offered, a wrong value refuses them all."""
    steps = [
        Call("set_fields", {"payee": "Nora", "amount": "five"}),
        Call("set_fields", {"payee": "Nora", "amount": 5}),
        Write("Good."),
    ]
    async with connected(steps, project=project) as call:
        await say(call, "five to Nora")
        shown = parameters(call.model.requests[0], "set_fields")
        assert list(shown) == ["payee", "amount", "verified"]
        assert shown["amount"] == {"type": "integer", "description": "How much is paid."}
        written = [(e["name"], e["text"]) for e in call.voice.happened("memory_set")]
        assert written == [("desk.payee", '"Nora"'), ("desk.amount", "5")]
        assert '"status":"failed"' in told(call.model.requests[1])[0]


@on_project(FILES)
async def test_correct_is_offered_only_with_something_to_correct(project: Project) -> None:
    """R44: not for a value that is not set yet, and none of that name is taken."""
    steps = [
        Call("set_fields", {"payee": "Nora"}),
        Call("correct", {"memory_key": "amount", "value": 7}),
        Call("correct", {"memory_key": "payee", "value": "Nele"}),
        Write("Good."),
    ]
    async with connected(steps, project=project) as call:
        await say(call, "to Nora, no, to Nele")
        assert ["correct" in offered(r) for r in call.model.requests] == [False, True, True, True]
        shown = parameters(call.model.requests[1], "correct")
        assert shown["memory_key"]["enum"] == ["payee"]
        written = [(e["name"], e["text"]) for e in call.voice.happened("memory_set")]
        assert written == [("desk.payee", '"Nora"'), ("desk.payee", '"Nele"')]


# ------------------------------------------------------------------ search_knowledge, cannot_help


@on_project(WITH_INDEX)
async def test_after_a_search_only_an_answer_is_left(project: Project) -> None:
    """R46, R47, M14: the passages are in the prompt, the skill's own tools are not offered; both
    are over with the turn.
    """
    steps = [
        Call("search_knowledge", {"query": "opening hours"}),
        Write("From nine to five."),
        Write("Hello again."),
    ]
    async with connected(steps, project=project, setup=VERIFIED) as call:
        assert await say(call, "when do you open?") == ["From nine to five."]
        await say(call, "hm")
        before, after, later = call.model.requests
        assert "search_knowledge" in offered(before) and "cannot_help" not in offered(before)
        assert offered(after) == ["activate", "search_knowledge", "cannot_help"]
        assert "opens at nine" in system(after) and "opens at nine" not in system(later)
        assert "pay" in offered(before) and "pay" in offered(later)
        assert "cannot_help" not in offered(later)
        assert told(after) == ['{"found":1}']


@on_project(FILES)
async def test_without_references_there_is_no_search(project: Project) -> None:
    """R46, R47: ``cannot_help`` is offered at once."""
    async with connected([Write("Hello.")], project=project) as call:
        await say(call, "hello")
        names = offered(call.model.requests[0])
        assert "search_knowledge" not in names and "cannot_help" in names


@on_project(
    {
        **WITH_INDEX,
        "skills/desk/skill.md": skill(
            "Help.\n",
            "tool_constraints: [{pay: {requires_confirmation: "
            "{enabled: true, utter_for_confirmation: utter_ask_pay}}}]",
        ),
    }
)
async def test_a_pending_confirmation_can_be_answered_after_a_search(project: Project) -> None:
    """R46, R45, R48: and ``listen`` is not offered while it is pending."""
    steps = [
        PAY,
        Call("search_knowledge", {"query": "opening hours"}),
        [Write("From nine."), Call("resolve_tool_confirmation", {"confirmed": True})],
        NOTHING,
    ]
    async with connected(steps, project=project, strict=False) as call:
        await say(call, "pay Nora 5")
        await say(call, "if you are open now, yes")
        assert "listen" not in offered(call.model.requests[1])
        after = ["search_knowledge", "cannot_help", "resolve_tool_confirmation"]
        assert offered(call.model.requests[2]) == after
        assert started(call) == ["pay"]


@pytest.mark.parametrize(
    ("in_domain", "line"),
    [
        (True, "I'm sorry, I can't do that for you here. Is there something else I can help with?"),
        (False, "I'm sorry, I can't help with that. Is there something else I can do for you?"),
    ],
)
def test_cannot_help_has_a_line_for_each_kind(tmp_path: Path, in_domain: bool, line: str) -> None:
    """R47"""

    @on_project(FILES)
    async def scenario(project: Project) -> None:
        steps = [Call("cannot_help", {"in_domain": in_domain}), NOTHING]
        async with connected(steps, project=project, strict=False) as call:
            assert await say(call, "sing a song") == [line]

    scenario(tmp_path)


@on_project(FILES)
async def test_words_beside_cannot_help_are_the_answer(project: Project) -> None:
    """R47"""
    steps = [[Write("I can't sing."), Call("cannot_help", {"in_domain": False})], NOTHING]
    async with connected(steps, project=project, strict=False) as call:
        assert await say(call, "sing a song") == ["I can't sing."]


# ------------------------------------------------------------------ listen, hang_up


@on_project(FILES)
async def test_listen_alone_waits_in_silence(project: Project) -> None:
    """R48"""
    async with connected(
        [Call("listen"), [Call("listen"), Call("listen")]], project=project
    ) as call:
        assert await say(call, "hm, let me think") == []
        assert await say(call, "hm") == []
        assert [m.turn for m in call.voice.of(Listen)] == [1, 2]


@on_project(FILES)
async def test_listen_beside_something_else_is_ignored(project: Project) -> None:
    """R48: the other call runs and is answered, the text is said."""
    steps = [
        [Call("balance"), Call("listen")],
        Write("You have 120 euros."),
        [Write("Sure."), Call("listen")],
    ]
    async with connected(steps, project=project, strict=False) as call:
        assert await say(call, "how much?") == ["You have 120 euros."]
        assert started(call) == ["balance"]
        assert len(told(call.model.requests[1])) == 2
        assert (await say(call, "thanks"))[0] == "Sure."


@on_project(WITH_INDEX)
async def test_listen_is_not_offered_where_the_caller_is_owed_an_answer(project: Project) -> None:
    """R48: at a question of a block, after a search; calling it there is refused."""
    steps = [
        Call("search_knowledge", {"query": "opening"}),
        Write("At nine."),
        Call("activate", {"flow_id": "shop"}),
        NOTHING,
        Call("listen"),
        NOTHING,
    ]
    async with connected(steps, project=project, setup=VERIFIED) as call:
        await say(call, "when?")
        await say(call, "the shop")
        assert await say(call, "hm") == ["What would you like?"]
        shown = ["listen" in offered(r) for r in call.model.requests]
        assert shown == [True, False, True, False, False, False]


@on_project(FILES)
async def test_hang_up_ends_the_call_after_a_goodbye(project: Project) -> None:
    """Never silence, not even at the end."""
    async with connected([Call("hang_up")], project=project) as call:
        assert await say(call, "bye") == ["I'll end the call now. Goodbye."]
        assert len(call.voice.of(HangUp)) == 1


# ------------------------------------------------------------------ the older dialect


@on_project(FILES)
async def test_the_older_dialect_completes_anywhere_and_never_listens(project: Project) -> None:
    """M11, M12"""
    older = replace(project, dialect="maestro")
    steps = [Call("activate", {"flow_id": "shop"}), NOTHING, Call("listen"), NOTHING]
    async with connected(steps, project=older, setup=VERIFIED) as call:
        await say(call, "shop")
        await say(call, "hm")
        assert all("listen" not in offered(r) for r in call.model.requests)
        assert all("complete_skill" in offered(r) for r in call.model.requests)
