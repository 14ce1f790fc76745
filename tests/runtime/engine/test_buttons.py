"""Buttons under a response: which can be tapped, what a tap writes, how they are read aloud."""

import asyncio

from runtime.agent import Listen, SayEnd
from runtime.conversation.events import ResponseGiven
from runtime.models.scripted_model import Call as Ask
from runtime.models.scripted_model import Say as Write
from runtime.project.model import Project
from tests.fakes.tool_notes import of
from tests.fakes.written_projects import skill
from tests.runtime.engine.helpers import Call, connected
from tests.runtime.engine.worlds import (
    IMPORTS,
    NOTES,
    at_step,
    blocks_only,
    facts,
    fill,
    hear,
    in_project,
    memory,
    nothing,
    offered,
    ran,
    start,
    state,
)

SKIPPED = "I'm sorry, that choice is no longer open."
TOOLS = f"""{IMPORTS}{NOTES}
@tool(description="The windows")
async def windows(context: ToolContext = None) -> ToolResult:
    context.set_buttons([Button(title="Never", value="never")])
    await context.send("Let me see.")
    context.set_buttons([
        Button(title="Tomorrow", value="tomorrow_morning", ref="session.a.window"),
        Button(title="Show later dates", value="later"),
    ])
    note("asked")
    return ToolResult(llm_response=[1])


@tool(description="Tries it where it may not")
async def sneaky(context: ToolContext = None) -> ToolResult:
    try:
        context.set_buttons([Button("a", "b")])
    except RuntimeError as error:
        note("refused", str(error))
    return ToolResult()


@tool(description="x")
async def run_after_setting_size(context: ToolContext = None) -> ToolResult:
    note("hook", context.memory.get("size"))
    if context.memory.get("size") == "large":
        return ToolResult(llm_response={{"error": "Sold out."}})
    return ToolResult()
"""
FILES = {
    "skills/a/skill.md": blocks_only(
        """
        - id: size
          collect: size
          utterance: utter_ask_size
        - id: window
          collect: window
          utterance: utter_ask_window
        - id: done
          action: utter_done
        """
    ),
    "skills/a/memory.yml": """
    schema:
      public:
        size: {type: categorical, enum_values: [small, large]}
        window: {type: text}
    """,
    "skills/a/tools.py": TOOLS,
    "skills/b/skill.md": skill("\nTalk. Use @tool.sneaky.\n"),
    "skills/b/tools.py": TOOLS.replace("run_after_setting_size", "unused"),
    "memory.yml": "city: {type: text}\n",
    "responses.yml": """
    responses:
      utter_ask_size:
        - text: Which size?
          buttons:
            - {title: Small, payload: "set:session.a.size=small"}
            - {title: Large, payload: "set:session.a.size=large"}
            - {title: What fits me?}
      utter_ask_window:
        - text: When shall we come?
          buttons: {source: windows}
      utter_done: ["Done: {size}, {window}."]
    """,
}


async def tap(call: Call, text: str) -> list[str]:
    """Tap a button; return what was said then."""
    before = len(call.voice.texts)
    call.voice.hear(text, kind="tap")
    await call.voice.wait_ended()
    return call.voice.texts[before:]


@in_project(FILES)
async def test_static_buttons_are_read_aloud_and_written_by_a_tap(project: Project) -> None:
    """R33, section 9.4: titles after the question; ``set:`` writes without the model."""
    async with connected([start("a"), nothing()], project=project) as call:
        assert await hear(call, "hi") == ["Which size: Small, Large, or What fits me?"]
        listen = call.voice.of(Listen)[-1]
        assert (listen.expect.kind, listen.expect.choices) == (
            "choice",
            ("Small", "Large", "What fits me?"),
        )
        assert call.voice.of(SayEnd)[-1].expect.choices == ("Small", "Large", "What fits me?")
        said = await tap(call, "set:session.a.size=small")
        assert memory(call, "a.size") == "small"
        assert of("hook") == ["small"], "a tapped value is checked as any other"
        assert said[-1].startswith("When shall we come:")
        assert len(call.model.requests) == 2, "the tap needed no model"


@in_project(FILES)
async def test_a_tap_on_a_title_means_its_button(project: Project) -> None:
    """R33: on a phone the words of the title come in the place of the payload."""
    async with connected([start("a"), nothing()], project=project) as call:
        await hear(call, "hi")
        await tap(call, "Small")
        assert memory(call, "a.size") == "small"


@in_project(FILES)
async def test_a_button_without_a_write_is_plain_input(project: Project) -> None:
    """R33: payload default = title; the model reads the tap as the caller's words."""
    steps = [start("a"), nothing(), Write("You are small.")]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        said = await tap(call, "What fits me?")
        assert said[0] == "You are small."
        assert call.prompt()[-1] == ("user", "What fits me?")
        assert at_step(call) == "size"


@in_project(FILES)
async def test_dynamic_buttons_come_from_their_source(project: Project) -> None:
    """R32, R34, R38: the engine calls the source; its second list replaces the first; a message
    that it sends carries no buttons; the source is never offered."""
    steps = [start("a"), fill(size="small")]
    async with connected(steps, project=project) as call:
        said = await hear(call, "a small one")
        assert said == ["Let me see.", "When shall we come: Tomorrow, or Show later dates?"]
        assert "windows" not in offered(call)
        assert [b.title for b in state(call).buttons] == ["Tomorrow", "Show later dates"]
        assert len(facts(call, ResponseGiven)[-1].buttons) == 2
        assert ran(call) == ["run_after_setting_size", "windows"]
        assert await tap(call, "Tomorrow") == ["Done: small, tomorrow_morning."]


@in_project(FILES)
async def test_a_dynamic_button_without_ref_is_plain_input(project: Project) -> None:
    """R33: no ref = the value goes to the model as input."""
    steps = [start("a"), fill(size="small"), Write("Then?"), fill(window="Friday")]
    async with connected(steps, project=project) as call:
        await hear(call, "a small one")
        said = await tap(call, "later")
        assert said[0] == "Then?"
        assert call.prompt()[-1] == ("user", "later")
        assert of("asked") == [None, None], "the question was put again, with fresh buttons"
        assert await hear(call, "Friday") == ["Done: small, Friday."]


@in_project(FILES)
async def test_set_buttons_works_only_in_a_source(project: Project) -> None:
    """R32: elsewhere it raises ``RuntimeError`` in the tool."""
    steps = [start("b"), Write("Yes?"), Ask("sneaky"), Write("No.")]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        await hear(call, "try it")
        (error,) = of("refused")
        assert "set_buttons" in str(error)
        assert state(call).buttons == ()


@in_project(FILES)
async def test_only_the_buttons_of_the_latest_message_can_be_tapped(project: Project) -> None:
    """Section 9.4: a stale tap says so, ends the turn and writes nothing."""
    steps = [start("a"), nothing(), fill(size="small")]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        await hear(call, "small")
        assert await tap(call, "set:session.a.size=large") == [SKIPPED]
        assert memory(call, "a.size") == "small"
        assert at_step(call) == "window"
        assert state(call).buttons == ()


@in_project(FILES)
async def test_a_tap_that_was_never_offered_writes_nothing(project: Project) -> None:
    """Section 9.4: a payload is no way to write what the agent did not offer."""
    async with connected([start("a"), nothing()], project=project) as call:
        await hear(call, "hi")
        for forged in (
            "set:session.project.city=Kiel",
            "set:session.a.size=huge",
            "set:session.a.window=now",
            "set:",
            "set:=",
        ):
            assert await tap(call, forged) == [SKIPPED]
        assert state(call).memory == {}


@in_project(FILES)
async def test_a_tapped_value_that_the_hook_refuses_is_taken_back(project: Project) -> None:
    """R51: the model hears why, and the question is put again."""
    async with connected([start("a"), nothing(), nothing()], project=project) as call:
        await hear(call, "hi")
        assert (await tap(call, "Large"))[-1].startswith("Which size:")
        assert "not accepted" in call.model.requests[-1].messages[-1].text
        assert memory(call, "a.size") is None
        assert at_step(call) == "size"


@in_project(FILES)
async def test_an_interrupted_question_offers_its_buttons_all_the_same(project: Project) -> None:
    """Section 9.4: they belong to the latest message, heard or not; spoken choices work."""
    async with connected([start("a"), nothing()], project=project) as call:
        call.voice.hear("hi")
        await asyncio.sleep(0.3)
        call.voice.interrupt()
        await tap(call, "Small")
        assert memory(call, "a.size") == "small"


@in_project(FILES)
async def test_a_reopened_turn_has_the_buttons_that_it_answers(project: Project) -> None:
    """B09, section 9.4: what the undone turn said does not make the buttons before it stale."""
    steps = [start("a"), nothing(), Write("Pardon me, please?", ms_per_word=300), nothing()]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        first = call.voice.hear("I'd")
        await asyncio.sleep(0.4)
        call.voice.interrupt("reopened")
        call.voice.hear("I'd take", reopens=first)
        await call.voice.wait_ended()
        collecting = call.model.requests[-1].situation.collecting
        assert collecting is not None
        assert [c.label for c in collecting.choices] == ["Small", "Large", "What fits me?"]
