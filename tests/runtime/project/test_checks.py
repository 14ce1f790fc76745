"""Names that must meet across the files of a project."""

from pathlib import Path

import pytest

from tests.fakes.written_projects import skill, written_project
from tests.runtime.project.projects import WHOLE, problems, project

HEAD = "from runtime import ToolContext, ToolResult, tool\n"


def _tool(name: str, description: str = "It.") -> str:
    return (
        f'\n@tool(description="{description}")\n'
        f"async def {name}(context: ToolContext) -> ToolResult:\n    return ToolResult()\n"
    )


def _skill(*keys: str) -> str:
    return "\n".join(["---", "name: Desk", "description: Helps.", *keys, "---", "Help.\n"])


def _codes(root: Path, files: dict[str, str | bytes | None]) -> list[tuple[str, str]]:
    return [(str(p.place), p.code) for p in problems(root, files)]


def test_a_shared_tool_reaches_only_the_skills_that_import_it(tmp_path: Path):
    """R12: no declaration, no tool."""
    loaded = project(
        tmp_path,
        {
            "tools/any.py": HEAD + _tool("notify") + _tool("other"),
            "skills/desk/skill.md": _skill("import_tools: [notify]"),
            "skills/b/skill.md": _skill(),
        },
    )
    assert list(loaded.skills["desk"].tools) == ["notify"]
    assert list(loaded.skills["b"].tools) == []


def test_a_skills_own_tool_beats_a_shared_one_of_its_name(tmp_path: Path):
    """R14, M9: the first match wins."""
    loaded = project(
        tmp_path,
        {
            "tools/any.py": HEAD + _tool("notify", "Shared."),
            "skills/desk/tools.py": HEAD + _tool("notify", "Own."),
            "skills/desk/skill.md": _skill("import_tools: [notify]"),
        },
    )
    assert loaded.skills["desk"].tools["notify"].description == "Own."


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("mcp/crm:find", "unsupported"),
        ("mcp/crm:notify", "tool_collision"),
        ("mcp/cmr:find", "unknown_server"),
        ("provider/slack:post", "unknown_provider"),
        ("nope", "unknown_tool"),
    ],
)
def test_what_can_not_be_imported_is_told_at_its_entry(tmp_path: Path, entry: str, code: str):
    """R14: servers must be declared; a bare name that collides fails the load."""
    found = _codes(
        tmp_path,
        {
            "integrations.yml": WHOLE["integrations.yml"]
            + "mcp_servers: [{name: crm, url: http://127.0.0.1:9/mcp}]\n",
            "skills/desk/tools.py": HEAD + _tool("notify"),
            "skills/desk/skill.md": _skill("import_tools:", f"  - {entry}"),
        },
    )
    assert ("skills/desk/skill.md:5:5", code) in found
    assert {place.partition(":")[0] for place, _ in found} <= {
        "skills/desk/skill.md",
        "integrations.yml",  # servers themselves are not supported yet
    }


@pytest.mark.parametrize(
    ("hook", "codes"),
    [
        ("run_after_setting_size", []),
        ("run_after_setting_phone", ["hook_on_project_field"]),
        ("run_after_setting_nope", ["unknown_hook_field"]),
    ],
)
@pytest.mark.parametrize("shared", [False, True])
def test_a_hook_is_named_after_a_field_of_the_skill(
    tmp_path: Path, hook: str, codes: list[str], shared: bool
):
    """R53: shared or the skill's own; the model never sets project memory."""
    file = "tools/hooks.py" if shared else "skills/desk/tools.py"
    imports = [f"import_tools: [{hook}]"] if shared else []
    found = _codes(
        tmp_path,
        {
            "memory.yml": "phone: {type: text}\n",
            "skills/desk/memory.yml": "schema: {public: {size: {llm_settable: true}}}\n",
            "skills/desk/skill.md": _skill(*imports),
            file: HEAD + _tool(hook),
        },
    )
    assert found == [(f"{file}:3", code) for code in codes]


MAESTRO = {
    "agent.yml": (
        "agent:\n  persona: You are kind.\n  rules: [Be short.]\n"
        "orchestrator: {model_group: main}\n"
    ),
    "memory.yml": "phone: {type: text, llm_settable: true}\n",
    "tools/hooks.py": HEAD + _tool("run_after_setting_phone"),
}


def test_in_a_maestro_project_hooks_at_the_root_serve_every_skill(tmp_path: Path):
    """M10: without import; project fields may be set by the model."""
    loaded = project(tmp_path, {**MAESTRO, "skills/b/skill.md": _skill()})
    assert loaded.dialect == "maestro"
    own = [skill for skill in loaded.skills.values() if not skill.packaged]
    assert [list(skill.tools) for skill in own] == [["run_after_setting_phone"]] * 2
    assert [f.llm_settable for f in loaded.memory if f.namespace == "project"] == [True]


def test_the_same_is_wrong_in_a_mantle_project(tmp_path: Path):
    found = _codes(tmp_path, {**MAESTRO, "agent.yml": WHOLE["agent.yml"]})
    assert found == [
        ("memory.yml:1:21", "not_settable"),
        ("tools/hooks.py:3", "hook_on_project_field"),
    ]


def test_a_source_of_buttons_is_a_tool_and_the_engines_own(tmp_path: Path):
    """It is attached, and marked."""
    loaded = project(
        tmp_path,
        {
            "skills/desk/tools.py": HEAD + _tool("dates") + _tool("book"),
            "skills/desk/responses.yml": (
                "responses:\n  utter_a:\n    - {text: When?, buttons: {source: dates}}\n"
            ),
        },
    )
    assert loaded.skills["desk"].button_sources == {"dates"}


def test_two_skills_with_a_response_of_one_name_are_told(tmp_path: Path):
    wording = "responses: {utter_a: A.}\n"
    files: dict[str, str | bytes | None] = {
        "skills/b/skill.md": _skill(),
        "skills/b/responses.yml": wording,
        "skills/desk/responses.yml": wording,
    }
    assert _codes(tmp_path / "x", files) == [
        ("skills/desk/responses.yml:1:13", "duplicate_response")
    ]
    assert problems(tmp_path / "y", {**files, "responses.yml": wording}) == []


def test_sub_agents_are_refused_by_name(tmp_path: Path):
    assert _codes(tmp_path, {"sub_agents/helper/config.yml": "x"}) == [
        ("sub_agents/helper", "unsupported")
    ]


def test_a_step_that_nothing_leads_to_is_worth_a_word(tmp_path: Path):
    """No error: the project runs."""
    block = (
        ":::ordered_block id=a\nsteps:\n  - {id: one, noop: true, next: END}\n"
        "  - {id: two, noop: true}\n:::\n"
    )
    loaded = project(tmp_path, {"skills/desk/skill.md": _skill().replace("Help.\n", block)})
    assert loaded.warnings == ("skills/desk/skill.md:8:5: nothing leads to the step 'two'",)


def test_what_the_offline_planner_can_not_run_is_said(tmp_path: Path) -> None:
    """Free prose needs a language model; a block does not. Nothing is said for another model."""
    prose = skill("Talk the caller through everything they may want to know about their card.")
    block = skill("\n:::ordered_block id=b\nsteps:\n  - action: action_listen\n:::\n")
    files = {"skills/chat/skill.md": prose, "skills/wait/skill.md": block}
    offline = "model_groups:\n  - id: main\n    models:\n      - {provider: offline}\n"
    warned = written_project(tmp_path / "a", {**files, "integrations.yml": offline}).warnings
    assert [w for w in warned if "'chat'" in w and "offline" in w] != []
    assert not any("'wait'" in w for w in warned)
    assert written_project(tmp_path / "b", files).warnings == ()


@pytest.mark.parametrize(
    ("step", "is_told"),
    [
        ("collect: project.phone", True),
        ("collect: project.phone\n    dtmf: {length: 4}", False),
        ("collect: project.phone\n    utterance: utter_phone", False),
        ("collect: size", False),
    ],
)
def test_a_question_that_no_answer_can_fill_is_remarked_on(
    tmp_path: Path, step: str, is_told: bool
):
    """D10: the model never sets project memory; keys and buttons do."""
    block = f":::ordered_block id=a\nsteps:\n  - {step}\n:::\n"
    button = '{title: A, payload: "set:session.project.phone=1"}'
    loaded = project(
        tmp_path,
        {
            "memory.yml": "phone: {type: text}\n",
            "skills/desk/skill.md": f"---\nname: D\ndescription: E.\n---\n{block}",
            "skills/desk/memory.yml": "schema: {public: {size: {}}}\n",
            "responses.yml": (
                f"responses: {{utter_phone: [{{text: Which?, buttons: [{button}]}}]}}\n"
            ),
        },
    )
    assert any("nothing the caller says" in warning for warning in loaded.warnings) is is_told
