"""Hooks: what runs after a value was written, what it may refuse, what it must not start."""

import asyncio

from runtime.conversation.events import MemorySet
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
    system,
)

MEMORY = """
schema:
  public:
    city: {type: text, llm_settable: true}
    code: {type: text, llm_settable: true, initial_value: none}
    size: {type: int, initial_value: 3, llm_settable: true}
"""
HOOKS = f"""{IMPORTS}{NOTES}
@tool(description="x")
async def run_after_setting_city(context: ToolContext = None) -> ToolResult:
    city = context.memory.get("city")
    note("city", city)
    if city == "slow":
        await asyncio.sleep(5)
    if city == "broken":
        raise ValueError("x")
    if city == "nowhere":
        context.memory.set("code", "tried")
        return ToolResult(llm_response={{"error": "There is no such city.", "ignored": 1}})
    context.memory.set("code", city.upper())
    context.memory.set("project.country", "Germany")
    return ToolResult(llm_response={{"error": None, "secret": 99}})


@tool(description="x")
async def run_after_setting_code(context: ToolContext = None) -> ToolResult:
    note("code", context.memory.get("code"))
    return ToolResult()


@tool(description="x")
async def run_after_setting_size(context: ToolContext = None) -> ToolResult:
    return ToolResult(llm_response={{"error": "too big"}})


@tool(description="Move there")
async def move(context: ToolContext = None) -> ToolResult:
    context.memory.set("city", "Bonn")
    return ToolResult("moved")
"""
FILES = {
    "skills/a/skill.md": skill("\nAsk for the city.\n"),
    "skills/a/memory.yml": MEMORY,
    "skills/a/tools.py": HOOKS,
    "memory.yml": "country: {type: text}\n",
}


def result_of(call: Call, tool: str) -> str:
    """What the model read as the latest result of a tool."""
    return str([e["text"] for e in call.voice.happened("tool_settled") if e["tool"] == tool][-1])


@in_project(FILES)
async def test_a_hook_runs_after_the_model_has_set_its_field(project: Project) -> None:
    """R50, R53: never offered; runs after ``set_fields``; may write project memory."""
    steps = [start("a"), Write("Which?"), fill(city="Kiel"), Write("Good.")]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        assert {n for n in offered(call) if n.startswith("run_after")} == set()
        assert await hear(call, "Kiel") == ["Good."]
        assert of("city") == ["Kiel"]
        assert memory(call, "a.code") == "KIEL"
        assert memory(call, "project.country") == "Germany"


@in_project(FILES)
async def test_a_hook_runs_after_a_correction_and_skips_a_set_project_field(
    project: Project,
) -> None:
    """R50, R29: after ``correct``; a project field that is set already is left as it is."""
    steps = [
        start("a"),
        Write("Which?"),
        fill(city="Kiel"),
        Write("Good."),
        Ask("correct", {"memory_key": "city", "value": "Bonn"}),
        Write("Bonn then."),
    ]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        await hear(call, "Kiel")
        assert await hear(call, "no, Bonn") == ["Bonn then."]
        assert of("city") == ["Kiel", "Bonn"]
        assert memory(call, "a.code") == "BONN"
        assert memory(call, "project.country") == "Germany"


@in_project(FILES)
async def test_an_error_takes_the_write_back_and_the_model_is_told(project: Project) -> None:
    """R51: non-null ``error`` rolls back; what the hook itself wrote stays."""
    steps = [
        start("a"),
        Write("Which?"),
        fill(city="Kiel"),
        Write("Good."),
        fill(city="nowhere"),
        Write("Which one, then?"),
    ]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        await hear(call, "Kiel")
        assert await hear(call, "nowhere") == ["Which one, then?"]
        assert memory(call, "a.city") == "Kiel"
        assert memory(call, "a.code") == "tried"
        assert "There is no such city." in result_of(call, "set_fields")
        assert call.roles()[-1] == "tool"
        assert "There is no such city." in call.prompt()[-1][1]
        assert [f.writer for f in facts(call, MemorySet) if f.name == "city"] == [
            "model",
            "model",
            "rollback",
        ]


@in_project(FILES)
async def test_a_null_error_is_a_success_and_the_answer_is_not_read(project: Project) -> None:
    """R51, R36: ``{"error": None}`` is a success; the model reads nothing of a hook's answer."""
    steps = [start("a"), Write("Which?"), fill(city="Kiel"), Write("Good.")]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        await hear(call, "Kiel")
        assert memory(call, "a.city") == "Kiel"
        assert "99" not in "".join(text for _, text in call.prompt())
        assert "run_after" not in system(call) + str(call.prompt())


@in_project(FILES)
async def test_the_first_value_is_taken_back_to_none(project: Project) -> None:
    """R51: what was unset is unset again; a field's initial value is there again."""
    steps = [start("a"), Write("Which?"), fill(size=9), Write("What?"), Write("Three.")]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        await hear(call, "nine")
        await hear(call, "so what is it?")
        assert "a.size: 3" in system(call)


@in_project(FILES)
async def test_a_hook_that_fails_takes_the_write_back(project: Project) -> None:
    """R51: a value that could not be checked is not kept."""
    steps = [start("a"), Write("Which?"), fill(city="broken"), Write("What?")]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        await hear(call, "broken")
        assert memory(call, "a.city") is None


@in_project(FILES)
async def test_writes_of_a_hook_or_a_tool_start_no_hooks(project: Project) -> None:
    """R52, R50: only top-level writes do."""
    steps = [
        start("a"),
        Write("Which?"),
        fill(city="Kiel"),
        Write("Good."),
        Ask("move"),
        Write("Moved."),
    ]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        await hear(call, "Kiel")
        await hear(call, "move me")
        assert memory(call, "a.city") == "Bonn"
        assert of("code") == []
        assert ran(call) == ["run_after_setting_city", "move"]


@in_project(FILES)
async def test_each_field_of_a_batch_has_its_hook(project: Project) -> None:
    """R43, R50: one call of ``set_fields``, one hook for each field of it that has one."""
    steps = [start("a"), Write("Which?"), fill(city="Kiel", code="X"), Write("Good.")]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        await hear(call, "Kiel, X")
        assert of("city") == ["Kiel"]
        assert len(of("code")) == 1


@in_project(FILES)
async def test_a_hook_that_is_interrupted_leaves_no_unchecked_value(project: Project) -> None:
    """R51, R54: an interruption in the middle of a hook takes the write back."""
    steps = [start("a"), Write("Which?"), fill(city="slow"), Write("Yes?")]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        call.voice.hear("slow")
        await asyncio.sleep(1)
        assert memory(call, "a.city") == "slow"
        call.voice.interrupt()
        assert await hear(call, "wait") == ["Yes?"]
        assert memory(call, "a.city") is None


@in_project(
    {
        **FILES,
        "skills/a/skill.md": blocks_only(
            """
            - id: where
              collect: city
              utterance: utter_ask_city
            - id: done
              action: utter_done
            """
        ),
        "responses.yml": "responses: {utter_ask_city: [Where?], utter_done: [Done.]}\n",
    }
)
async def test_a_refused_value_leaves_the_question_open(project: Project) -> None:
    """R51: the collect is asked again after the model's word about it."""
    steps = [
        start("a"),
        nothing(),
        fill(city="nowhere"),
        Write("I don't know that place."),
        fill(city="Kiel"),
    ]
    async with connected(steps, project=project) as call:
        assert await hear(call, "hi") == ["Where?"]
        assert await hear(call, "nowhere") == ["I don't know that place.", "Where?"]
        assert at_step(call) == "where"
        assert await hear(call, "Kiel") == ["Done."]
