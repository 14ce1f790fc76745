"""Hooks where more than one thing happens at once: a batch, a parallel tool, a crash, a question.

What one hook of one value does is ``test_hooks``.
"""

import asyncio

from runtime.conversation.events import MemorySet
from runtime.models.scripted_model import Call as Ask
from runtime.models.scripted_model import Say as Write
from runtime.models.scripted_model import ScriptedModel
from runtime.plane import InLoopAgent
from runtime.project.model import Project
from runtime.store.memory_store import MemoryStore
from tests.fakes.tool_notes import of
from tests.fakes.voice_side import Voice
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
    ran,
    start,
    state,
)

HOOKS = f"""{IMPORTS}{NOTES}
@tool(description="x")
async def run_after_setting_city(context: ToolContext = None) -> ToolResult:
    city = context.memory.get("city")
    note("city", city)
    if city == "slow":
        await asyncio.sleep(5)
    return ToolResult({{"error": "no such city" if city == "nowhere" else None}})


@tool(description="x")
async def run_after_setting_code(context: ToolContext = None) -> ToolResult:
    code = context.memory.get("code")
    note("code", code)
    return ToolResult({{"error": "no such code" if code == "bad" else None}})
"""
FILES = {
    "skills/a/skill.md": skill("\nAsk for the city.\n"),
    "skills/a/memory.yml": """
    schema:
      public:
        city: {type: text, llm_settable: true}
        code: {type: text, llm_settable: true}
        free: {type: text, llm_settable: true}
    """,
    "skills/a/tools.py": HOOKS,
}


def told(call: Call, tool: str) -> str:
    """What the model read as the latest result of a tool."""
    return str([e["text"] for e in call.voice.happened("tool_settled") if e["tool"] == tool][-1])


# ------------------------------------------------------------------ one refuses


@in_project(FILES)
async def test_a_refusal_leaves_the_other_fields_of_the_batch_checked(project: Project) -> None:
    """R43, R51: the second hook runs although the first refused; each judges its own value."""
    steps = [start("a"), Write("Which?"), fill(city="nowhere", code="X"), Write("Which city?")]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        await hear(call, "nowhere, X")
        assert of("code") == ["X"]
        assert (memory(call, "a.city"), memory(call, "a.code")) == (None, "X")
        assert "no such city" in told(call, "set_fields")


@in_project(FILES)
async def test_all_refusals_of_a_batch_are_told(project: Project) -> None:
    """R43, R51: and nothing that was refused is kept."""
    steps = [start("a"), Write("Which?"), fill(city="nowhere", code="bad", free="F"), Write("Hm?")]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        await hear(call, "nowhere, bad")
        assert "no such city no such code" in told(call, "set_fields")
        values = [memory(call, f"a.{name}") for name in ("city", "code", "free")]
        assert values == [None, None, "F"]


# ------------------------------------------------------------------ cut off


@in_project(FILES)
async def test_an_interruption_takes_back_what_no_hook_has_checked_yet(project: Project) -> None:
    """R51, R54: the later fields of the batch too; a field without a hook stays."""
    batch = fill(city="slow", code="X", free="F")
    async with connected([start("a"), Write("Which?"), batch, Write("Yes?")], project=project) as c:
        await hear(c, "hi")
        c.voice.hear("slow, X, F")
        await asyncio.sleep(1)
        assert memory(c, "a.code") == "X"
        c.voice.interrupt()
        assert await hear(c, "wait") == ["Yes?"]
        assert of("code") == []
        assert [memory(c, f"a.{name}") for name in ("city", "code", "free")] == [None, None, "F"]
        assert state(c).open_calls == []


@in_project(FILES)
async def test_a_restart_in_the_middle_of_a_hook_takes_its_write_back(project: Project) -> None:
    """R51: the life after a crash keeps no value that was not checked."""
    before, after = MemoryStore(), MemoryStore()
    steps = [start("a"), Write("Which?"), fill(city="Kiel"), Write("Good."), fill(city="slow")]
    first = InLoopAgent(project, models=[ScriptedModel(steps)], store=before)
    voice = Voice(first)
    await voice.ready("c1")
    for words in ("hi", "Kiel"):
        voice.hear(words)
        await voice.wait_ended()
    voice.hear("slow")
    await asyncio.sleep(2)
    await after.append(await before.load("c1"))  # the process is killed here
    second = InLoopAgent(project, models=[ScriptedModel([Write("Yes?")])], store=after)
    again = Voice(second)
    await again.ready("c1")
    again.hear("hello")
    await again.wait_ended()
    await second.aclose()
    await first.aclose()
    written = [e.fact for e in await after.load("c1") if isinstance(e.fact, MemorySet)]
    assert [(fact.value, fact.writer) for fact in written if fact.name == "city"] == [
        ('"Kiel"', "model"),
        ('"slow"', "model"),
        ('"Kiel"', "rollback"),
    ]


# ------------------------------------------------------------------ what is taken back


@in_project(
    {
        **FILES,
        "skills/a/tools.py": f"""{IMPORTS}
@tool(description="Find")
async def find(context: ToolContext = None) -> ToolResult:
    await asyncio.sleep(0.5)
    context.memory.set("city", "Bonn")
    return ToolResult("Bonn")


@tool(description="x")
async def run_after_setting_city(context: ToolContext = None) -> ToolResult:
    await asyncio.sleep(1)
    return ToolResult({{"error": "no such city"}})
""",
    }
)
async def test_a_refusal_leaves_what_a_tool_beside_it_has_written(project: Project) -> None:
    """R51, R58: only the refused value goes."""
    steps = [start("a"), Write("?"), [Ask("find"), fill(city="X")], Write("Bonn, then.")]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        await hear(call, "X, or look it up")
        assert memory(call, "a.city") == "Bonn"


@in_project(
    {
        "skills/a/skill.md": skill("\nTalk.\n"),
        "skills/a/memory.yml": """
        schema:
          public:
            pin: {type: text, llm_settable: true, immutable: true, initial_value: "0000"}
        """,
        "skills/a/tools.py": f"""{IMPORTS}
@tool(description="x")
async def run_after_setting_pin(context: ToolContext = None) -> ToolResult:
    return ToolResult({{"error": "bad"}} if context.memory.get("pin") == "bad" else None)
""",
    }
)
async def test_a_refused_first_value_leaves_an_immutable_field_open(project: Project) -> None:
    """R51, D9: it was never set, whatever it reads as; the next value is its first."""
    steps = [start("a"), Write("?"), fill(pin="bad"), Write("Again?"), fill(pin="good")]
    async with connected(
        [*steps, Write("Good."), fill(pin="x"), Write("No.")], project=project
    ) as c:
        await hear(c, "hi")
        await hear(c, "bad")
        assert memory(c, "a.pin") is None
        await hear(c, "good")
        assert memory(c, "a.pin") == "good"
        await hear(c, "x")
        assert memory(c, "a.pin") == "good"


@in_project(
    {
        "skills/a/skill.md": blocks_only(
            """
            - id: where
              collect: city
              utterance: utter_ask
              ask_before_filling: true
            - id: use
              execute_tool: use
              parameters: {city: session.a.city}
            """
        ),
        "skills/a/memory.yml": "schema: {public: {city: {type: text}}}\n",
        "skills/a/tools.py": f"""{IMPORTS}{NOTES}
@tool(description="Use")
async def use(city: str) -> ToolResult:
    note("used", city)
    return ToolResult(city)


@tool(description="x")
async def run_after_setting_city(context: ToolContext = None) -> ToolResult:
    wrong = context.memory.get("city") == "Atlantis"
    return ToolResult({{"error": "no such city" if wrong else None}})
""",
        "responses.yml": "responses: {utter_ask: [Where to?]}\n",
    }
)
async def test_a_question_that_must_be_asked_has_no_answer_in_a_refused_value(
    project: Project,
) -> None:
    """R51: the value from before is no answer to it either; it is asked again."""
    steps = [start("a"), fill(city="Atlantis"), Write("There is none."), fill(city="Bonn")]
    setup = (("a", "city", "Kiel"),)
    async with connected([*steps, Write("So?")], project=project, setup=setup) as call:
        assert await hear(call, "go") == ["Where to?"]
        assert await hear(call, "Atlantis") == ["There is none.", "Where to?"]
        assert at_step(call) == "where"
        assert of("used") == []
        await hear(call, "Bonn")
        assert of("used") == ["Bonn"]
        assert ran(call).count("use") == 1
        assert [f.value for f in facts(call, MemorySet) if f.name == "city"][-1] == '"Bonn"'


HOOKED = {
    "skills/a/skill.md": skill("\nTalk.\n"),
    "skills/a/memory.yml": "schema: {public: {city: {type: text, llm_settable: true}}}\n",
    "skills/a/tools.py": f"""{IMPORTS}
@tool(description="Check")
async def run_after_setting_city(context: ToolContext) -> ToolResult:
    bad = context.memory.get("city") != "Kiel"
    return ToolResult(llm_response={{"error": "No such city."}} if bad else None)
""",
}


@in_project(HOOKED)
async def test_what_a_hook_refuses_is_no_mistake_of_the_models(project: Project) -> None:
    """R51: it may try what the caller says until it fits, and no apology ends the turn."""
    steps = [start("a"), fill(city="Oz"), fill(city="Ys"), fill(city="Kiel"), Write("Kiel it is.")]
    async with connected(steps, project=project) as call:
        assert await hear(call, "the town by the sea") == ["Kiel it is."]
        assert memory(call, "a.city") == "Kiel"
