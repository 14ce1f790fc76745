"""A whole project in the older dialect, as its author left it: it loads, and its rules hold."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from runtime.errors import ProjectError
from runtime.models.scripted_model import Call as Ask
from runtime.models.scripted_model import Say as Write
from runtime.project.loader import load
from runtime.project.model import Project
from tests.fakes import tool_notes
from tests.fakes.written_projects import skill, write_project
from tests.runtime.engine.helpers import connected
from tests.runtime.engine.worlds import (
    QUIET_END,
    fill,
    hear,
    in_project,
    memory,
    offered,
    settable,
    start,
    state,
)

IMPORTS = """
import asyncio
from rasa.calm_v2.tools.decorator import ToolContext, tool
from rasa.calm_v2.tools.result import ToolResult
from tests.fakes.tool_notes import note
"""

CARDS = """
@tool(description="Read a value")
async def look(name: str, context: ToolContext = None) -> ToolResult:
    note("read", context.memory.get(name))
    return ToolResult()


@tool(description="Write a value")
async def put(name: str, value: str, context: ToolContext = None) -> ToolResult:
    try:
        context.memory.set(name, value)
    except Exception as error:
        note("refused", (name, type(error).__name__))
        return ToolResult(llm_response="refused")
    note("now", context.memory.get(name))
    return ToolResult()


@tool(description="The skill's own")
async def notify(context: ToolContext = None) -> ToolResult:
    note("notify", "own")
    return ToolResult()
"""

SHARED = """
@tool(description="Everybody's")
async def notify(context: ToolContext = None) -> ToolResult:
    note("notify", "shared")
    return ToolResult()


@tool(description="Check the phone number")
async def run_after_setting_phone(context: ToolContext = None) -> ToolResult:
    note("phone", context.memory.get("phone"))
    if context.memory.get("phone") == "none":
        return ToolResult(llm_response={"error": "That is no number."})
    return ToolResult(llm_response={"error": None})
"""

FILES: Mapping[str, str] = {
    "agent.yml": """
        agent:
          id: bank
          persona: You are the bank's voice.
          language: en
          rules:
            - Never read a card's number aloud.
          voice:
            silence_timeout: 9
    """,
    "integrations.yml": """
        llm:
          provider: scripted
          model: gpt-4o
          api_key: ${BANK_KEY}
    """,
    "memory.yml": """
        phone: {type: text, llm_settable: true}
        tier: {type: text, immutable: true}
        branch: {type: text}
    """,
    "tools/shared.py": dedent(IMPORTS) + SHARED,
    "skills/cards/skill.md": skill(
        "\nHelp with cards.\n",
        """
        requires: session.project.branch != "closed"
        import_tools: [notify]
        access:
          deny_read: [secret_limit, project.tier]
          deny_write: [project.branch]
        """,
    ),
    "skills/cards/memory.yml": """
        schema:
          public:
            card: {type: text, llm_settable: true}
            first: {type: text, immutable: true}
            secret_limit: {type: text, initial_value: high}
    """,
    "skills/cards/tools.py": dedent(IMPORTS) + CARDS,
    "skills/loans/skill.md": skill("\nHelp with loans.\n"),
    "skills/loans/memory.yml": """
        schema:
          public:
            sum: {type: text, initial_value: small}
          private:
            score: {type: text, initial_value: low}
    """,
    "skills/default_completed/skill.md": QUIET_END,
}
ENV = {"BANK_KEY": "k"}

NO_KEY = {**FILES, "integrations.yml": "llm: {provider: scripted, model: gpt-4o}\n"}


def loaded(folder: Path, changes: Mapping[str, str] | None = None) -> Project:
    return load(write_project(folder, {**FILES, **(changes or {})}), ENV)


def test_a_project_in_the_older_dialect_loads_as_it_is(tmp_path: Path) -> None:
    """D1, M1: imports, ``rules`` and ``voice`` inside ``agent``, ``llm`` inline."""
    project = loaded(tmp_path)
    assert (project.dialect, project.id, project.warnings) == ("maestro", "bank", ())
    assert project.rules == ("Never read a card's number aloud.",)
    assert project.settings.silence_timeout_ms == 9000
    (model,) = project.model_group
    assert (model.provider, model.model, model.option("api_key")) == ("scripted", "gpt-4o", "k")


def test_what_a_skill_says_of_itself_arrives(tmp_path: Path) -> None:
    """D1, M2, M3, M4: ``requires``, ``access`` and ``immutable``."""
    project = loaded(tmp_path)
    cards = project.skills["cards"]
    assert cards.requires is not None
    assert cards.access.deny_read == {"cards.secret_limit", "project.tier"}
    assert cards.access.deny_write == {"project.branch"}
    frozen = {f"{f.namespace}.{f.name}" for f in project.memory if f.immutable}
    assert frozen == {"project.tier", "cards.first"}


NEW_AGENT = "agent: {persona: Kind.}\nrules: [Be short.]\norchestrator: {model_group: main}\n"
NEW_MODELS = "model_groups: [{id: main, models: [{provider: scripted, model: m}]}]\n"


@pytest.mark.parametrize(
    "changes",
    [
        {"agent.yml": "agent: {persona: Kind.}\nrules: [Be short.]\n"},
        {
            "agent.yml": NEW_AGENT.replace("Kind.", "Kind., voice: {silence_timeout: 9}"),
            "integrations.yml": NEW_MODELS,
        },
    ],
)
def test_one_mark_of_the_dialect_is_enough(tmp_path: Path, changes: Mapping[str, str]) -> None:
    """D1: whoever has begun to move to the newer form keeps a project that loads."""
    project = loaded(tmp_path, changes)
    assert (project.dialect, project.rules) == ("maestro", ("Be short.",))


def test_the_imports_alone_tell_the_dialect(tmp_path: Path) -> None:
    """D1, M1, M10: everything else is written as today, and the project's fields are as before."""
    changes = {"agent.yml": NEW_AGENT, "integrations.yml": NEW_MODELS}
    project = loaded(tmp_path / "old", changes)
    assert project.dialect == "maestro"
    native = {
        name: text.replace("rasa.calm_v2.tools.decorator", "runtime").replace(
            "rasa.calm_v2.tools.result", "runtime"
        )
        for name, text in FILES.items()
        if name.endswith(".py")
    }
    with pytest.raises(ProjectError, match="not_settable"):
        loaded(tmp_path / "new", {**changes, **native})


def test_two_tiers_of_tools_and_the_skill_s_own_wins(tmp_path: Path) -> None:
    """M9, M10, R12: the import of ``notify`` changes nothing; hooks at the root need none."""
    project = loaded(tmp_path)
    hook = "run_after_setting_phone"
    assert set(project.skills["cards"].tools) == {"look", "put", "notify", hook}
    assert project.skills["cards"].tools["notify"].description == "The skill's own"
    assert set(project.skills["loans"].tools) == {hook}


@in_project(NO_KEY, quiet=False)
async def test_the_model_sets_a_field_of_the_project_and_the_root_s_hook_follows(
    project: Project,
) -> None:
    """M10: in a skill that has no such field and imports no hook; an error takes it back."""
    steps = [start("loans"), fill(phone="0151"), fill(phone="none"), Write("No."), Write("Yes.")]
    async with connected(steps, project=project, strict=False) as call:
        await hear(call, "I want a loan, call me.")
        assert "phone" in settable(call.model.requests[1])
        assert "run_after_setting_phone" not in offered(call)
        assert tool_notes.of("phone") == ["0151", "none"]
        assert memory(call, "project.phone") == "0151"


@in_project(NO_KEY, quiet=False)
async def test_bare_names_are_written_and_those_of_others_are_not(project: Project) -> None:
    """M5, M4, M3, M7: the skill's, then the project's; written again unless ``immutable``."""
    writes = [
        ("card", "blue"),
        ("phone", "1"),
        ("phone", "2"),
        ("tier", "gold"),
        ("tier", "lead"),
        ("first", "a"),
        ("first", "b"),
        ("branch", "north"),
        ("loans.sum", "big"),
        ("sum", "big"),
        ("system.time", "0"),
    ]
    asks = [Ask("put", {"name": name, "value": value}) for name, value in writes]
    steps = [start("cards"), *asks, Write("Done.")]
    async with connected(steps, project=project) as call:
        await hear(call, "Cards, please.")
        assert tool_notes.of("refused") == [
            ("tier", "MemoryWriteError"),
            ("first", "MemoryWriteError"),
            ("branch", "MemoryWriteError"),
            ("loans.sum", "MemoryWriteError"),
            ("sum", "MemoryWriteError"),
            ("system.time", "MemoryWriteError"),
        ]
        assert {f"{namespace}.{name}" for namespace, name in state(call).memory} == {
            "cards.card",
            "project.phone",
            "project.tier",
            "cards.first",
        }
        assert memory(call, "project.phone") == "2"
        assert memory(call, "cards.first") == "a"
    # ``tier`` is written and then not readable for the skill that wrote it.
    assert tool_notes.of("now") == ["blue", "1", "2", None, "a"]


@in_project(NO_KEY, quiet=False)
async def test_what_may_not_be_read_is_nothing(project: Project) -> None:
    """M2, M6: ``get`` with its one argument gives None, and never raises."""
    names = ["loans.sum", "loans.score", "secret_limit", "cards.secret_limit", "tier", "nothing"]
    asks = [Ask("look", {"name": name}) for name in names]
    async with connected([start("cards"), *asks, Write("Done.")], project=project) as call:
        await hear(call, "Cards, please.")
    assert tool_notes.of("read") == ["small", None, None, None, None, None]


@in_project(NO_KEY, quiet=False)
async def test_the_skill_s_own_tool_is_the_one_that_runs(project: Project) -> None:
    """M9, M12: and of the engine's own tools ``listen`` is not among those offered."""
    steps = [start("cards"), Ask("notify", {}), Write("Done.")]
    async with connected(steps, project=project) as call:
        await hear(call, "Tell them.")
        assert tool_notes.of("notify") == ["own"]
        assert "notify" in offered(call)
        assert "listen" not in offered(call)
