"""Whole turns over the door, in virtual time, with scripted models."""

import asyncio

import pytest

from runtime import ToolContext, ToolResult, tool
from runtime.agent import HangUp, Listen, Say, SayEnd, SayText, TurnEnded, Working
from runtime.engine.asking import FIRST_TOKEN_S
from runtime.engine.turn import MOST_ROUNDS
from runtime.models.ports import ChatRequest
from runtime.models.scripted_model import Call, Cut, Fail, ScriptedModel, Wait
from runtime.models.scripted_model import Say as Write
from runtime.project.model import MemoryField, Project
from tests.fakes.projects import make_project, response
from tests.fakes.written_projects import skill
from tests.runtime.engine.helpers import connected, in_virtual_time
from tests.runtime.engine.worlds import in_project

APOLOGY = "Sorry, I can't think right now."


@tool(description="Look an order up", filler="Looking.")
async def lookup(id: int) -> ToolResult:
    await asyncio.sleep(3)
    return ToolResult({"id": id, "state": "shipped"})


@in_virtual_time
async def test_a_reply_streams_as_one_say_and_ends_the_turn() -> None:
    async with connected([Write("Hello there, caller.", ms_per_word=100)]) as call:
        call.voice.hear("hi")
        assert (await call.voice.wait_ended()).outcome == "done"
        assert call.voice.texts == ["Hello there, caller."]
        assert [m.kind for m in call.voice.of(Say)] == ["reply"]
        assert call.voice.times(SayText) == [0, 100, 200], "text goes out as it comes"
        assert len(call.voice.of(SayEnd)) == len(call.voice.of(Listen)) == 1
        assert call.prompt() == [("user", "hi")]


@in_virtual_time
async def test_a_tool_runs_between_two_rounds_and_its_result_is_in_the_second_request() -> None:
    """R56"""
    steps = [[Write("One moment."), Call("lookup", {"id": 7})], [Wait(0.1), Write("Shipped.")]]
    async with connected(steps, lookup) as call:
        call.voice.hear("where is order 7")
        await call.voice.wait_ended()
        assert call.voice.texts == ["One moment.", "Shipped."]
        assert [m.kind for m in call.voice.of(SayEnd)] == ["beside_tool", "reply"]
        opened = [m.open for m in call.voice.of(Working)]
        assert [[t.name for t in tools] for tools in opened] == [["lookup"], []]
        assert opened[0][0].filler == "Looking."
        assert call.roles() == ["system", "user", "assistant", "tool"]
        assert call.prompt()[2][1] == '{"id": 7, "state": "shipped"}'
        assert call.voice.happened("tool_settled")[0]["outcome"] == "ok"
        assert [m.outcome for m in call.voice.of(TurnEnded)] == ["done"]


@in_virtual_time
async def test_one_failing_parallel_call_leaves_the_others_alone() -> None:
    """C05, C07: failed at once, three outcomes, in the order asked, one further request."""

    @tool(description="x")
    async def a() -> ToolResult:
        await asyncio.sleep(1)
        return ToolResult("A")

    @tool(description="x")
    async def b() -> ToolResult:
        await asyncio.sleep(0.2)
        raise RuntimeError("card service 502")

    @tool(description="x")
    async def c() -> ToolResult:
        await asyncio.sleep(2)
        return ToolResult("C")

    async with connected([[Call("a"), Call("b"), Call("c")], Write("Done.")], a, b, c) as call:
        call.voice.hear("go")
        await call.voice.wait_ended()
        settled = [(f["tool"], f["outcome"]) for f in call.voice.happened("tool_settled")]
        assert settled == [("b", "failed"), ("a", "ok"), ("c", "ok")]
        assert [text for role, text in call.prompt() if role == "tool"] == [
            '"A"',
            '{"reason":"it failed with an internal error","status":"failed"}',
            '"C"',
        ]
        assert call.voice.now_ms() >= 2000


@in_virtual_time
async def test_an_unknown_tool_is_a_failed_call_and_the_model_is_asked_again() -> None:
    """C14: the reason lists nothing."""
    async with connected([Call("transfer_call_now"), Write("I can't do that.")], lookup) as call:
        call.voice.hear("put me through")
        await call.voice.wait_ended()
        assert call.prompt()[-1] == ("tool", '{"reason":"no such tool here","status":"failed"}')
        assert call.voice.texts == ["I can't do that."]


@in_virtual_time
async def test_unusable_arguments_are_told_once_and_answered_for_after_the_second_time() -> None:
    """C13, C12: the function is not run, what is sent back is well-formed."""
    steps = [Call("lookup", '{"id": "7<|end|>"}'), Call("lookup", "[not json")]
    async with connected(steps, lookup) as call:
        call.voice.hear("order 7")
        assert (await call.voice.wait_ended()).outcome == "failed"
        assert call.prompt()[-1][1].startswith('{"reason":"id: must be of type integer"')
        assert call.model.requests[1].messages[2].calls[0].arguments == '{"id":"7<|end|>"}'
        assert call.voice.texts == [APOLOGY]
        assert call.voice.happened("tool_started") == []
        call.voice.hear("again")
        call.model._steps.append(Write("Yes?"))
        await call.voice.wait_ended()
        assert call.model.requests[2].messages[4].calls[0].arguments == "{}"


@in_virtual_time
async def test_arguments_encoded_twice_run_the_tool() -> None:
    """C12"""
    async with connected([Call("lookup", '"{\\"id\\": 7}"'), Write("Ok.")], lookup) as call:
        call.voice.hear("order 7")
        await call.voice.wait_ended()
        assert call.voice.happened("tool_started")[0]["text"] == '{"id":7}'


@in_virtual_time
async def test_a_call_that_was_cut_off_is_one_failure_and_runs_nothing() -> None:
    """C11, variant"""
    async with connected([Cut("lookup"), Write("Let me try again.")], lookup) as call:
        call.voice.hear("order 7")
        await call.voice.wait_ended()
        assert "incomplete" in call.prompt()[-1][1]
        assert call.voice.happened("tool_started") == []


@in_virtual_time
async def test_an_empty_reply_is_asked_for_once_more() -> None:
    async with connected([[], Write("Yes?")]) as call:
        call.voice.hear("hello")
        assert (await call.voice.wait_ended()).outcome == "done"
        assert call.voice.texts == ["Yes?"]
        assert call.prompt()[-1][0] == "system"


@pytest.mark.parametrize("nothing", [[], [Write("  \n ")]])
def test_a_model_that_says_nothing_twice_is_answered_for(nothing: list[Write]) -> None:
    """Never silence."""

    async def scenario() -> None:
        async with connected([nothing, nothing]) as call:
            call.voice.hear("hello")
            assert (await call.voice.wait_ended()).outcome == "empty"
            assert call.voice.texts == [APOLOGY]
            assert [m.kind for m in call.voice.of(Say)] == ["apology"]

    in_virtual_time(scenario)()


@in_virtual_time
async def test_a_model_that_fails_before_its_first_token_hands_over_to_the_next() -> None:
    second = ScriptedModel([Write("I am the second.")])
    async with connected([Fail()], others=[second]) as call:
        call.voice.hear("hello")
        assert (await call.voice.wait_ended()).outcome == "done"
        assert call.voice.texts == ["I am the second."]
        tried = [(f["model"], f["outcome"]) for f in call.voice.happened("model_called")]
        assert tried == [("first", "failed"), ("model 2", "ok")]


@in_virtual_time
async def test_later_turns_go_on_after_a_model_failed() -> None:
    """N03"""
    steps = [Write("One."), Fail(), Write("Three."), [Write("Half of"), Fail()], Write("Five.")]
    async with connected(steps) as call:
        for word in ("a", "b", "c", "d", "e"):
            call.voice.hear(word)
            await call.voice.wait_ended()
        outcomes = [m.outcome for m in call.voice.of(TurnEnded)]
        assert outcomes == ["done", "failed", "done", "failed", "done"]
        assert call.voice.texts == ["One.", APOLOGY, "Three.", "Half of", APOLOGY, "Five."]
        assert len(call.voice.of(SayEnd)) == len(call.voice.of(Say))


@in_virtual_time
async def test_a_model_that_fails_in_the_middle_is_not_replaced() -> None:
    """The caller never hears two beginnings."""
    second = ScriptedModel([])
    async with connected([[Write("Half of"), Fail()]], others=[second]) as call:
        call.voice.hear("hello")
        await call.voice.wait_ended()
        assert second.requests == []


@in_virtual_time
async def test_a_model_that_hangs_counts_as_failed() -> None:
    async with connected([Wait()]) as call:
        call.voice.hear("hello")
        assert (await call.voice.wait_ended()).outcome == "failed"
        assert call.voice.times(TurnEnded) == [round(FIRST_TOKEN_S * 1000)]
        assert call.model.closed == 1


@in_virtual_time
async def test_a_turn_has_an_end() -> None:
    @tool(description="x")
    async def again(n: int) -> ToolResult:
        return ToolResult("more")

    counter = iter(range(100))

    def ask(_: ChatRequest) -> Call:
        return Call("again", {"n": next(counter)})

    async with connected([ask] * MOST_ROUNDS, again) as call:
        call.voice.hear("go on for ever")
        assert (await call.voice.wait_ended()).outcome == "failed"
        assert call.voice.texts == [APOLOGY]


@in_virtual_time
async def test_a_script_in_the_model_that_raises_anything_is_answered_for() -> None:
    """N03"""

    def broken(_: ChatRequest) -> Write:
        raise KeyError("surprise")

    async with connected([broken, Write("Here again.")]) as call:
        call.voice.hear("a")
        assert (await call.voice.wait_ended()).outcome == "failed"
        call.voice.hear("b")
        assert (await call.voice.wait_ended()).outcome == "done"


# -- fixed lines


@in_virtual_time
async def test_the_greetings_are_said_in_order_without_a_model() -> None:
    greetings = (
        response("utter_session_notice", "This call is recorded.", interruptible=False),
        response("utter_session_start", "Hello!"),
    )
    async with connected([], greetings=greetings) as call:
        call.voice.start("opened")
        await call.voice.wait_ended()
        said = [(s.text, s.kind, s.interruptible) for s in call.voice.says.values()]
        assert said == [("This call is recorded.", "line", False), ("Hello!", "line", True)]


@in_virtual_time
async def test_check_ins_come_in_order_and_then_goodbye_and_a_hang_up() -> None:
    async with connected([]) as call:
        for n in range(1, 5):
            call.voice.start("silence", silence_n=n)
            await call.voice.wait_ended()
        assert call.voice.texts == ["Are you there?", "Still there?", "Hello?", "Goodbye."]
        assert [s.kind for s in call.voice.says.values()] == ["check_in"] * 3 + ["line"]
        (hang_up,) = call.voice.of(HangUp)
        assert (hang_up.turn, hang_up.when) == (4, "heard")


# -- the engine's own tools


@in_virtual_time
async def test_the_model_may_hang_up_and_goodbye_is_said_first() -> None:
    async with connected([Call("hang_up")]) as call:
        call.voice.hear("that is all")
        await call.voice.wait_ended()
        assert call.voice.texts == ["Goodbye."]
        assert call.voice.of(HangUp) != []
        names = [type(m).__name__ for _, m in call.voice.messages]
        assert names.index("HangUp") > names.index("SayEnd")


@in_virtual_time
async def test_a_goodbye_of_the_model_s_own_is_enough() -> None:
    async with connected([[Write("Bye, Nora."), Call("hang_up")]]) as call:
        call.voice.hear("that is all")
        await call.voice.wait_ended()
        assert call.voice.texts == ["Bye, Nora."]
        assert len(call.voice.of(HangUp)) == 1


@in_virtual_time
async def test_listening_ends_the_turn_silently() -> None:
    async with connected([Call("listen"), [Write("Sure."), Call("listen")]]) as call:
        call.voice.hear("hm")
        assert (await call.voice.wait_ended()).outcome == "done"
        assert call.voice.texts == []
        call.voice.hear("let me see")
        await call.voice.wait_ended()
        assert call.voice.texts == ["Sure."]


MEMORY = (
    MemoryField(namespace="desk", name="city", type="text", llm_settable=True),
    MemoryField(
        namespace="desk",
        name="size",
        type="categorical",
        enum_values=("small", "large"),
        llm_settable=True,
        description="How big",
    ),
    MemoryField(namespace="desk", name="pin", type="text", llm_settable=True, pii=True),
    MemoryField(namespace="desk", name="inner", type="text"),
)


@in_virtual_time
async def test_the_model_sets_fields_that_are_declared_for_it() -> None:
    steps = [
        Call("set_fields", {"city": "Kiel", "size": "large", "pin": "4711"}),
        Write("Noted."),
    ]
    async with connected(steps, memory=MEMORY) as call:
        call.voice.hear("Kiel, large")
        await call.voice.wait_ended()
        (spec,) = [t for t in call.model.requests[0].tools if t.name == "set_fields"]
        assert spec.parameters["properties"] == {
            "city": {"type": "string"},
            "size": {"type": "string", "enum": ["small", "large"], "description": "How big"},
            "pin": {"type": "string"},
        }
        system = call.model.requests[1].messages[0].text
        assert 'desk.city: "Kiel"' in system
        assert "desk.pin: [set]" in system
        assert "4711" not in system
        shown = {f["name"]: f["text"] for f in call.voice.happened("memory_set")}
        assert shown == {"desk.city": '"Kiel"', "desk.size": '"large"', "desk.pin": "[set]"}


@in_virtual_time
async def test_fields_that_do_not_fit_are_refused_together() -> None:
    steps = [Call("set_fields", {"city": "Kiel", "size": "huge"}), Write("Which size?")]
    async with connected(steps, memory=MEMORY) as call:
        call.voice.hear("Kiel, huge")
        await call.voice.wait_ended()
        assert call.prompt()[-1][1].startswith('{"reason":"size: must be one of small, large"')
        assert call.voice.happened("memory_set") == []


@in_virtual_time
async def test_set_fields_is_offered_only_where_something_can_be_set() -> None:
    async with connected([Write("Hi.")], lookup) as call:
        call.voice.hear("hi")
        await call.voice.wait_ended()
        offered = [t.name for t in call.model.requests[0].tools]
        assert offered == [
            "lookup",
            "complete_skill",
            "cancel_skill",
            "cannot_help",
            "listen",
            "hang_up",
        ]


# -- the prompt


@in_virtual_time
async def test_the_system_message_holds_the_agent_the_skill_and_the_time() -> None:
    async with connected([Write("Hi.")]) as call:
        await asyncio.sleep(3600)
        call.voice.hear("hi")
        await call.voice.wait_ended()
        system = call.model.requests[0].messages[0].text
        for part in ("You are a test.", "- Be brief.", "# Desk\n\nHelp the caller.", "2023-11-14"):
            assert part in system


# -- messages of tools


@in_virtual_time
async def test_a_tool_speaks_past_the_model_in_order_and_does_not_wait_to_be_heard() -> None:
    """R19"""
    returned: list[int] = []

    @tool(description="x")
    async def talk(*, context: ToolContext) -> ToolResult:
        await context.send("First of two messages.")
        await context.send("Second.")
        await context.send("   ")
        returned.append(1)
        return ToolResult()

    async with connected([Call("talk"), Write("Third.")], talk) as call:
        call.voice.hear("talk")
        await asyncio.sleep(0.01)
        assert returned == [1]
        await call.voice.wait_ended()
        assert call.voice.texts == ["First of two messages.", "Second.", "Third."]
        assert [s.kind for s in call.voice.says.values()] == ["line", "line", "reply"]


@in_virtual_time
async def test_a_tool_may_hang_up_and_never_waits_for_it() -> None:
    """N02: twice, and in the middle of its own call."""

    @tool(description="x")
    async def leave(*, context: ToolContext) -> ToolResult:
        context.hang_up()
        context.hang_up()
        return ToolResult()

    async with connected([Call("leave"), Write("Bye.")], leave) as call:
        call.voice.hear("bye")
        await call.voice.wait_ended()
        assert call.voice.texts == ["Bye."]
        assert len(call.voice.of(HangUp)) == 1


@in_virtual_time
async def test_memory_of_a_tool_is_in_the_next_prompt() -> None:
    """R26"""

    @tool(description="x")
    async def remember(*, context: ToolContext) -> ToolResult:
        context.memory.set("inner", "kept")
        return ToolResult()

    async with connected(
        [Call("remember"), Write("Ok.")], project=make_project(remember, memory=MEMORY)
    ) as call:
        call.voice.hear("remember")
        await call.voice.wait_ended()
        assert 'desk.inner: "kept"' in call.model.requests[1].messages[0].text


@in_project(
    {
        "skills/default_session_start/skill.md": skill("\nGreet the caller.\n"),
        "skills/desk/skill.md": skill("\nHelp.\n"),
    }
)
async def test_a_session_start_that_is_prose_is_the_models_to_say(project: Project) -> None:
    """Section 9.3; an empty reply is none to apologize for: nobody waits for an answer."""
    for step, said in ([Write("Hello.")], ["Hello."]), ([[], []], []):
        async with connected(step, project=project) as call:
            call.voice.start("opened")
            await call.voice.wait_ended()
            assert call.voice.texts == said
