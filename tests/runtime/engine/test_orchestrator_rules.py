"""What ``orchestrator`` and ``conversation`` say about the engine's own tools and skills."""

from runtime.models.scripted_model import Call as Ask
from runtime.models.scripted_model import Say as Write
from runtime.project.model import Project
from tests.fakes.written_projects import skill
from tests.runtime.engine.helpers import connected
from tests.runtime.engine.worlds import in_project

AGENT = """
agent:
  persona: You are a test.
orchestrator:
  model_group: main
  tool_constraints:
    cancel_skill:
      requires_confirmation: true
    cannot_help:
      enabled: false
    activate:
      invoke_when: As soon as the caller says the word.
conversation:
  before_end: [default_customer_satisfaction]
"""
MEMORY = """
schema:
  public:
    pin: {type: text, pii: true, llm_settable: true}
"""
TOOLS = """
from runtime import ToolContext, ToolResult, tool


@tool(description="Check it")
async def check(pin: str, context: ToolContext = None) -> ToolResult:
    return ToolResult()
"""
FILES = {
    "agent.yml": AGENT,
    "skills/order/skill.md": skill(
        "Take the order.",
        """
        tool_constraints:
          - check:
              requires_confirmation: {enabled: true}
        """,
    ),
    "skills/order/memory.yml": MEMORY,
    "skills/order/tools.py": TOOLS,
}
START = Ask("activate", {"flow_id": "order"})


@in_project(FILES)
async def test_cancelling_a_skill_waits_for_the_callers_yes(project: Project) -> None:
    """R42, C6: with ``requires_confirmation`` on ``cancel_skill``."""
    steps = [
        START,
        Write("What will it be?"),
        Ask("cancel_skill"),
        Write("Shall I stop this order?"),
        Ask("resolve_tool_confirmation", {"confirmed": True}),
    ]
    async with connected(steps, project=project) as call:
        for said in ("order", "stop", "yes"):
            call.voice.hear(said)
            await call.voice.wait_ended()
            ended = [e["how"] for e in call.voice.happened("skill_ended") if e["skill"] == "order"]
            assert ended == (["cancelled"] if said == "yes" else [])


@in_project(FILES)
async def test_what_the_author_says_of_the_engines_tools_holds(project: Project) -> None:
    """R40, R47: switched off, and offered in the author's words; a skill for the end too."""
    async with connected([Write("Hello.")], project=project) as call:
        call.voice.hear("hello")
        await call.voice.wait_ended()
        tools = {t.name: t for t in call.model.requests[0].tools}
        assert "cannot_help" not in tools
        assert tools["activate"].description == "As soon as the caller says the word."
        assert "default_customer_satisfaction" in str(tools["activate"].parameters)
        assert "default_customer_satisfaction" in call.model.requests[0].messages[0].text


@in_project(FILES)
async def test_a_personal_value_in_held_arguments_is_not_shown(project: Project) -> None:
    """C5: neither in the prompt's account of the held call nor in what watchers are told."""
    steps = [
        START,
        [Ask("set_fields", {"pin": "4711"}), Ask("check", {"pin": "4711"})],
        Write("May I check it?"),
        Ask("resolve_tool_confirmation", {"confirmed": True}),
        Write("Checked."),
    ]
    async with connected(steps, project=project) as call:
        call.voice.hear("four seven one one")
        await call.voice.wait_ended()
        assert "4711" not in call.model.requests[2].messages[0].text
        call.voice.hear("yes")
        await call.voice.wait_ended()
        (started,) = call.voice.happened("tool_started")
        assert started["text"] == '{"pin": "[set]"}'
