"""Skills, blocks and preconditions that go round in a circle: one line ends it, the caller is free.

Loading refuses the circles that can be read from the files; those that only values close can't be,
and a project that was not loaded from files may hold any.
"""

from collections.abc import Mapping
from dataclasses import replace

from runtime.agent import TurnEnded
from runtime.engine.steps import MOST_VISITS
from runtime.models.scripted_model import Say as Write
from runtime.project.model import Project
from runtime.project.skill_model import CallStep, LinkStep, Skill
from tests.fakes.written_projects import skill
from tests.runtime.engine.helpers import Call, connected
from tests.runtime.engine.worlds import (
    IMPORTS,
    blocks_only,
    ended_skills,
    hear,
    in_project,
    ran,
    skills,
    start,
    state,
)

APOLOGY = "I'm sorry, I can't answer that just now. Could you say it again?"
UNMET = "I'm sorry, I can't do that without it."
MOST_FRAMES = 12


def leading_to(project: Project, targets: Mapping[str, str]) -> Project:
    """The project with the only step of some skills leading to another skill (by skill)."""
    changed = {name: _leading_to(project.skills[name], other) for name, other in targets.items()}
    return replace(project, skills={**project.skills, **changed})


def _leading_to(one: Skill, target: str) -> Skill:
    (block,) = one.blocks
    (step,) = block.steps
    assert isinstance(step, CallStep | LinkStep)
    return replace(one, blocks=(replace(block, steps=(replace(step, target=target),)),))


async def ends_in_one_line(project: Project, *, at_most: int = 0) -> None:
    """The circle that ``a`` begins ends with its turn, and the next turn is the caller's own."""
    async with connected([start("a"), Write("How can I help?")], project=project) as call:
        assert await hear(call, "go") == [APOLOGY]
        assert len(skills(call)) <= at_most
        assert await hear(call, "hello?") == ["How can I help?"]
        assert outcomes(call) == ["failed", "done"]


def outcomes(call: Call) -> list[str]:
    """How the turns ended."""
    return [ended.outcome for ended in call.voice.of(TurnEnded)]


# ------------------------------------------------------------------ blocks

FLAG = "schema: {public: {n: {type: int, initial_value: 1}}}\n"


@in_project(
    {
        "skills/a/skill.md": blocks_only(
            """
            - id: x
              noop: true
              next: y
            - id: y
              noop: true
              next:
                - if: session.a.n == 1
                  then: x
                - else: END
            """
        ),
        "skills/a/memory.yml": FLAG,
    }
)
async def test_steps_that_a_value_keeps_in_a_circle_end_the_skill(project: Project) -> None:
    """Section 5: one line, and the skill that goes round is left."""
    await ends_in_one_line(project)


@in_project(
    {
        "skills/a/skill.md": blocks_only(
            """
            - id: x
              set_memory: {n: 1}
            - id: y
              noop: true
              next:
                - if: session.a.n == 1
                  then: x
                - else: END
            """
        ),
        "skills/a/memory.yml": FLAG,
    }
)
async def test_a_circle_that_writes_memory_ends_too(project: Project) -> None:
    """Section 5: what it writes is no way out."""
    await ends_in_one_line(project)


# ------------------------------------------------------------------ skills

HARMLESS = blocks_only("- {id: say, action: utter_said}")
CALLING = {
    "skills/a/skill.md": blocks_only("- {id: x, call: other}"),
    "skills/b/skill.md": blocks_only("- {id: x, call: other}"),
    "skills/other/skill.md": HARMLESS,
    "responses.yml": "responses: {utter_said: [Said.]}\n",
}


@in_project(CALLING)
async def test_a_skill_that_calls_itself_comes_back_from_the_deepest(project: Project) -> None:
    """Section 5: at a depth no more is started, and each goes on after its call."""
    circle = leading_to(project, {"a": "a"})
    async with connected([start("a"), Write("So?"), Write("Yes?")], project=circle) as call:
        assert await hear(call, "go") == ["So?"]
        assert len(call.voice.happened("skill_started")) <= MOST_FRAMES + 1
        assert skills(call) == []
        assert await hear(call, "hello?") == ["Yes?"]


@in_project(CALLING)
async def test_skills_that_call_each_other_come_back_from_the_deepest(project: Project) -> None:
    """Section 5: the same, through another skill."""
    circle = leading_to(project, {"a": "b", "b": "a"})
    async with connected([start("a"), Write("So?"), Write("Yes?")], project=circle) as call:
        assert await hear(call, "go") == ["So?"]
        assert skills(call) == []
        assert await hear(call, "hello?") == ["Yes?"]
        assert outcomes(call) == ["done", "done"]


@in_project(
    {
        **CALLING,
        "skills/a/skill.md": blocks_only("- {id: x, link: other}"),
        "skills/b/skill.md": blocks_only("- {id: x, link: other}"),
    }
)
async def test_skills_that_link_each_other_end_in_one_line(project: Project) -> None:
    """Section 5: a link leaves nothing on the stack; the moves of a turn are counted instead."""
    await ends_in_one_line(leading_to(project, {"a": "b", "b": "a"}))


# ------------------------------------------------------------------ preconditions

GUARDS = {
    "agent.yml": """
    agent:
      persona: You are a test.
    orchestrator:
      model_group: main
      preconditions:
        p1: {satisfied_when: session.project.x, resolve_with: r1}
        p2: {satisfied_when: session.project.y, resolve_with: r2}
    """,
    "memory.yml": "x: {type: text}\ny: {type: text}\n",
    "skills/a/skill.md": skill("\nTalk.\n", "precondition: p1"),
    "skills/r1/skill.md": skill("\nTalk.\n", "precondition: p2"),
    "skills/r2/skill.md": skill("\nTalk.\n"),
}


@in_project(GUARDS)
async def test_preconditions_that_resolve_each_other_free_the_caller(project: Project) -> None:
    """Section 5, precondition: the whole chain is let go, and the next turn is the caller's."""
    waiting = replace(project.skills["r2"], precondition="p1")
    circle = replace(project, skills={**project.skills, "r2": waiting})
    async with connected([start("a"), Write("Yes?")], project=circle) as call:
        assert set(await hear(call, "go")) == {UNMET}
        assert skills(call) == []
        assert state(call).open_calls == []
        assert await hear(call, "hello?") == ["Yes?"]


@in_project({**GUARDS, "skills/r2/skill.md": blocks_only("- {id: end, noop: true}")})
async def test_a_chain_of_preconditions_that_fails_is_told_once(project: Project) -> None:
    """Section 5, precondition: the caller has one wish, and hears once that it can't be done."""
    async with connected([start("a")], project=project) as call:
        assert await hear(call, "go") == [UNMET]


@in_project(
    {
        **GUARDS,
        "skills/a/skill.md": blocks_only(
            """
            - id: check
              call: b
            - id: pay
              execute_tool: pay
            """
        ),
        "skills/a/tools.py": f"""{IMPORTS}
@tool(description="Pay")
async def pay(context: ToolContext = None) -> ToolResult:
    return ToolResult("R-1")
""",
        "skills/b/skill.md": blocks_only("- {id: say, action: utter_b}", "precondition: p1"),
        "skills/r1/skill.md": blocks_only("- {id: say, action: utter_r}"),
        "responses.yml": "responses: {utter_b: [B done.], utter_r: [Sorry.]}\n",
    }
)
async def test_a_called_skill_that_could_not_start_ends_the_block_that_called_it(
    project: Project,
) -> None:
    """Section 5, precondition: what follows the call does not run as if it had been done."""
    async with connected([start("a")], project=project) as call:
        assert await hear(call, "go") == ["Sorry.", UNMET]
        assert ran(call) == []
        assert ended_skills(call) == [("r1", "completed"), ("b", "dropped"), ("a", "dropped")]
        assert skills(call) == []


@in_project(
    {
        "skills/a/skill.md": blocks_only(
            """
            - id: look
              execute_tool: look
              next:
                - {if: session.a.found, then: END}
                - {else: tell}
            - {id: tell, action: utter_again, next: look}
            """
        ),
        "skills/a/memory.yml": "schema: {public: {found: {type: bool}}}\n",
        "skills/a/tools.py": f"""{IMPORTS}
@tool(description="Look")
async def look(context: ToolContext = None) -> ToolResult:
    return ToolResult("no")
""",
        "responses.yml": "responses: {utter_again: [Once more.]}\n",
    }
)
async def test_a_block_that_tries_for_ever_is_stopped_before_it_tires_the_caller(
    project: Project,
) -> None:
    """Section 9.1: a value that never comes closes the circle, which no check of files can see."""
    async with connected([start("a"), Write("How can I help?")], project=project) as call:
        said = await hear(call, "go")
        assert said == [*MOST_VISITS * ["Once more."], APOLOGY]
        assert len(ran(call)) == MOST_VISITS
        assert skills(call) == []
        assert await hear(call, "hello?") == ["How can I help?"]
