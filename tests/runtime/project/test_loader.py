"""A folder becomes a Project, or a list of everything that is wrong with it."""

from pathlib import Path

import pytest

from runtime.agent import CallSettings
from runtime.errors import ProjectError
from runtime.project.loader import load, load_channels
from runtime.project.model import ChannelSpec
from runtime.project.pack import pack
from tests.runtime.project.projects import WHOLE, problems, project, write

TOOLS = """
from runtime import ToolContext, ToolResult, tool

@tool(description="Look something up", filler="Looking.")
async def look_up(what: str, context: ToolContext = None) -> ToolResult:
    return ToolResult(llm_response={"what": what})
"""


def _codes(root: Path, files: dict[str, str | bytes | None]) -> list[tuple[str, str]]:
    return [(str(p.place), p.code) for p in problems(root, files)]


def test_a_small_project_gets_its_defaults(tmp_path: Path):
    """What the file format promises for every key that is left out."""
    root = tmp_path / "my-agent"
    root.mkdir()
    loaded = project(root, {})
    assert (loaded.id, loaded.persona, loaded.language) == ("my-agent", "You are kind.", "en")
    assert loaded.settings == CallSettings(silence_timeout_ms=30_000)
    assert (loaded.tool_timeout_s, loaded.settings.expiration_ms) == (10.0, 3_600_000)
    assert loaded.channels == ChannelSpec()
    assert [spec.provider for spec in loaded.model_group] == ["scripted"]
    assert (loaded.dialect, loaded.index, loaded.warnings) == ("mantle", None, ())
    assert loaded.skills["desk"].name == "Desk"
    assert not loaded.skills["desk"].packaged


def test_packaged_skills_and_wording_lie_under_every_project(tmp_path: Path):
    """Section 9.3: each can be replaced by a folder or a response of its name."""
    plain = project(tmp_path / "a", {})
    packaged = [skill.id for skill in plain.skills.values() if skill.packaged]
    assert {"default_session_start", "default_silence_timeout_hangup"} <= set(packaged)
    assert all(plain.skills[skill_id].engine_managed for skill_id in packaged)
    assert "utter_model_call_error" in plain.responses
    own = project(
        tmp_path / "b",
        {
            "skills/default_session_start/skill.md": WHOLE["skills/desk/skill.md"],
            "responses.yml": "responses: {utter_model_call_error: Mine.}\n",
        },
    )
    start = own.skills["default_session_start"]
    assert (start.packaged, start.engine_managed, start.name) == (False, True, "Desk")
    assert own.responses["utter_model_call_error"].variants[0].parts == ("Mine.",)


def test_wording_of_a_skill_is_overridden_by_the_projects(tmp_path: Path):
    """Section 9.4: later wins: packaged, skills, project."""
    loaded = project(
        tmp_path,
        {
            "skills/desk/responses.yml": "responses: {utter_a: Skill., utter_b: Skill.}\n",
            "responses.yml": "responses: {utter_a: Project.}\n",
        },
    )
    words = [loaded.responses[name].variants[0].parts for name in ("utter_a", "utter_b")]
    assert words == [("Project.",), ("Skill.",)]


def test_references_of_project_and_skills_become_one_index(tmp_path: Path):
    loaded = project(
        tmp_path,
        {
            "references/hours.md": "# Hours\n\nWe open at nine.\n",
            "skills/desk/references/deep/way.md": "# Way\n\nTake the bus.\n",
        },
    )
    assert loaded.index is not None
    found = [loaded.index.search(words, 1)[0].file for words in ("when open nine", "which bus")]
    assert found == ["references/hours.md", "skills/desk/references/deep/way.md"]


@pytest.mark.parametrize(
    ("group", "code"),
    [
        ("{provider: offline}", "unknown_value"),
        ("{provider: openai, model: m}", None),
        ("{provider: azure, model: m, api_base: 'https://x', api_key: '${KEY:-}'}", None),
    ],
)
def test_embeddings_need_a_model_that_makes_them(tmp_path: Path, group: str, code: str | None):
    models = f"  - id: small\n    models: [{group}]\n"
    files: dict[str, str | bytes | None] = {
        "agent.yml": WHOLE["agent.yml"] + "knowledge_answering: {embeddings: small}\n",
        "integrations.yml": WHOLE["integrations.yml"] + models,
    }
    found = _codes(tmp_path, files) if code else project(tmp_path, files).knowledge.embeddings
    assert found == ([("agent.yml:5:35", code)] if code else "small")


def test_what_a_collect_step_fills_may_be_set_by_the_model(tmp_path: Path):
    """Section 6: settable anyway."""
    block = ":::ordered_block id=a\nsteps:\n  - collect: size\n:::\n"
    loaded = project(
        tmp_path,
        {
            "skills/desk/skill.md": f"---\nname: D\ndescription: E.\n---\n{block}",
            "skills/desk/memory.yml": "schema: {public: {size: {}, colour: {}}}\n",
        },
    )
    fields = {f.name: f.collected for f in loaded.memory if f.namespace == "desk"}
    assert fields == {"size": True, "colour": False}


def test_no_author_code_runs_where_only_the_channels_are_read(tmp_path: Path):
    write(
        tmp_path,
        {
            "integrations.yml": WHOLE["integrations.yml"] + "channels: {phone: {max_calls: 3}}\n",
            "skills/desk/tools.py": "raise RuntimeError\n",
        },
    )
    channels = load_channels(tmp_path, {})
    assert (channels.name, channels.max_calls) == ("phone", 3)


def test_a_file_that_can_not_be_read_causes_no_other_problem(tmp_path: Path):
    """Nothing that failed earlier is complained about again."""
    skill = """---
name: Desk
description: Helps.
requires: session.desk.size
tool_constraints: [{look_up: {on_success: utter_done}}]
---
Use @tool.look_up and @memory.desk.size.
"""
    broken: dict[str, tuple[str, str]] = {
        "skills/desk/memory.yml": ("schema: {a: [b\n", "yaml_bracket"),
        "skills/desk/responses.yml": ("responses: {a: [b\n", "yaml_bracket"),
        "skills/desk/tools.py": ("import nowhere_at_all\n", "tool_loading"),
    }
    right = {
        "skills/desk/skill.md": skill,
        "skills/desk/memory.yml": "schema: {public: {size: {}}}\n",
        "skills/desk/responses.yml": "responses: {utter_done: Done.}\n",
        "skills/desk/tools.py": TOOLS,
    }
    assert problems(tmp_path / "right", {**right}) == []
    for number, (name, (text, code)) in enumerate(broken.items()):
        found = problems(tmp_path / str(number), {**right, name: text})
        assert [(p.place.file, p.code) for p in found] == [(name, code)]


@pytest.mark.parametrize("name", ["agent.yml", "integrations.yml"])
def test_a_required_file_with_a_syntax_error_says_only_that(tmp_path: Path, name: str):
    """K09."""
    found = problems(tmp_path, {name: WHOLE[name] + "a: [b\n"})
    assert [(p.place.file, p.code) for p in found] == [(name, "yaml_bracket")]


def test_a_file_over_the_limit_or_an_alias_bomb_is_refused(tmp_path: Path):
    """K07."""
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)
    )
    assert [c for _, c in _codes(tmp_path / "a", {"memory.yml": bomb})] == ["alias_expansion"]
    big = b"# " + b"x" * (5 << 20)
    assert [c for _, c in _codes(tmp_path / "b", {"memory.yml": big})] == ["file_too_large"]


def test_a_key_that_is_written_twice_is_told_with_both_places(tmp_path: Path):
    """K06."""
    (found,) = problems(tmp_path, {"memory.yml": "a: {}\nb: {}\n'a': {}\n"})
    assert (str(found.place), found.code) == ("memory.yml:3:1", "duplicate_key")
    assert "memory.yml:1:1" in found.message


def test_a_tool_module_that_fails_is_named_with_its_cause(tmp_path: Path):
    """R15, M8, R2, R1, R39: import errors and bad definitions stop the load."""
    cases = {
        "import nowhere_at_all\n": "nowhere_at_all",
        "def f(:\n": "SyntaxError",
        TOOLS.replace("async def", "def"): "async",
        TOOLS.replace('description="Look something up", ', ""): "description",
        TOOLS.replace("look_up", "complete_skill"): "built-in",
    }
    for number, (text, words) in enumerate(cases.items()):
        (found,) = problems(tmp_path / str(number), {"skills/desk/tools.py": text})
        assert (found.place.file, found.code) == ("skills/desk/tools.py", "tool_loading")
        assert found.place.line > 0
        assert words in found.message
        assert str(tmp_path) not in found.message


def test_tools_of_both_places_are_found_and_the_folder_wins(tmp_path: Path):
    """R10, R11, R17, M8: ``tools/*.py`` shadows ``tools.py``; ``__init__.py`` is skipped."""
    other = TOOLS.replace("Look something up", "The other").replace(
        "from runtime", "from lib.words import WORD\nfrom runtime"
    )
    loaded = project(
        tmp_path,
        {
            "skills/desk/tools.py": TOOLS,
            "skills/desk/tools/more.py": other,
            "skills/desk/tools/__init__.py": "raise RuntimeError",
            "lib/words.py": "WORD = 1\n",
            "lib/__init__.py": "",
        },
    )
    tools = loaded.skills["desk"].tools
    assert {name: tool.description for name, tool in tools.items()} == {"look_up": "The other"}
    assert tools["look_up"].place.file == "skills/desk/tools/more.py"


def test_the_error_shows_each_line_with_a_caret(tmp_path: Path):
    """K09."""
    write(tmp_path, {"agent.yml": WHOLE["agent.yml"] + "tool_timeout: soon\n"})
    with pytest.raises(ProjectError) as caught:
        load(tmp_path, {})
    assert str(caught.value) == (
        "agent.yml:5:15: 'tool_timeout' must be a duration, this is 'soon' (write seconds as a "
        "number (7 or 1.2), or '800 ms', '7 s', '2 min') [wrong_type]\n"
        "    tool_timeout: soon\n"
        "                  ^"
    )


@pytest.mark.parametrize(
    ("missing", "place"),
    [
        ("agent.yml", "agent.yml"),
        ("integrations.yml", "integrations.yml"),
        ("skills/desk/skill.md", "skills/"),
    ],
)
def test_a_missing_file_is_named(tmp_path: Path, missing: str, place: str):
    assert _codes(tmp_path, {missing: None}) == [(place, "missing_file")]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(ProjectError, match="there is no such folder"):
        load(tmp_path / "nowhere", {})


@pytest.mark.parametrize("name", list(WHOLE))
@pytest.mark.parametrize("content", [b"", b"[]", b"a", b"\x00\x01", b"- - -\n", b"\xff\xfea\x00"])
def test_no_file_content_makes_loading_raise_anything_else(
    tmp_path: Path, name: str, content: bytes
):
    """Hostile input: a list of problems, never another error."""
    assert problems(tmp_path, {name: content})


def test_a_packed_project_is_loaded_with_its_index(tmp_path: Path):
    """What ``bargein train`` writes is what ``serve`` runs."""
    root = write(tmp_path / "shop", {"references/hours.md": "# Hours\n\nWe open at nine.\n"})
    index = load(root, {}).index
    assert index is not None
    pack(root, tmp_path / "shop.bargein", index.to_bytes())
    loaded = load(tmp_path / "shop.bargein", {})
    assert (loaded.id, list(loaded.skills)[0]) == ("shop", "desk")
    assert loaded.index is not None
    assert loaded.index.to_bytes() == index.to_bytes()
    assert not loaded.root.is_relative_to(root)


def test_a_file_that_is_no_packed_project_is_told(tmp_path: Path):
    (tmp_path / "x.txt").write_text("x", encoding="utf-8")
    with pytest.raises(ProjectError, match="neither a project's folder nor a packed project"):
        load(tmp_path / "x.txt", {})


def _warned(root: Path, files: dict[str, str | bytes | None]) -> tuple[str, ...]:
    try:
        return project(root, files).warnings
    except ProjectError as error:
        return error.warnings


def test_warnings_are_told_beside_errors_as_far_as_they_hold(tmp_path: Path):
    """What may only follow from an error in its file is left out."""
    block = ":::ordered_block id={}\nsteps:\n  - action: hangup\n:::\n"
    skill = WHOLE["skills/desk/skill.md"]
    files: dict[str, str | bytes | None] = {
        "response.yml": "",
        "agent.yml": WHOLE["agent.yml"] + "lnguage: en\n",
        "skills/other/skill.md": skill + "\n" + block.format("unused"),
        "skills/desk/skill.md": skill + "\n@blok.used\n\n" + block.format("used"),
    }
    assert _warned(tmp_path, files) == (
        "response.yml: nothing reads this file (did you mean 'responses.yml'?)",
        "skills/other/skill.md:7:1: nothing leads to the block 'unused'",
    )


def test_a_response_whose_name_is_nearly_one_of_the_engines_gets_a_warning(tmp_path: Path):
    """It would never be said, and the packaged line in its place."""
    step = ":::ordered_block id=a\nsteps:\n  - action: utter_hangup_godbye\n:::\n"
    skill = WHOLE["skills/desk/skill.md"]
    responses = "responses: {utter_hangup_godbye: Bye., utter_ask_day: Which day?}\n"
    files: dict[str, str | bytes | None] = {"responses.yml": responses}
    (warning,) = _warned(tmp_path / "a", files)
    assert warning == (
        "responses.yml:1:13: nothing says 'utter_hangup_godbye' "
        "(did you mean 'utter_hangup_goodbye', which the engine says?)"
    )
    own = {"skills/desk/skill.md": skill + "\n@block.a\n\n" + step}
    assert _warned(tmp_path / "b", {**files, **own}) == ()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("default_complete", "did you mean 'default_completed'?"),
        ("defualt_completed", "did you mean 'default_completed'?"),
        ("default_foo", "these are 'default_completed', "),
    ],
)
def test_a_folder_that_looks_like_a_packaged_skill_gets_a_warning(
    tmp_path: Path, name: str, said: str
):
    """The packaged skill stays in force, and nothing starts this one by itself."""
    files: dict[str, str | bytes | None] = {
        f"skills/{name}/skill.md": WHOLE["skills/desk/skill.md"]
    }
    (warning,) = _warned(tmp_path, files)
    assert warning.startswith(f"skills/{name}: no packaged skill is called '{name}' ({said}")
    assert (
        _warned(tmp_path / "b", {"skills/completed/skill.md": WHOLE["skills/desk/skill.md"]}) == ()
    )


def test_a_tool_that_is_only_imported_is_told_not_to_be_one(tmp_path: Path):
    """R10: tools are what a tools file defines."""
    files: dict[str, str | bytes | None] = {
        "lib/common.py": TOOLS,
        "skills/desk/tools.py": "import asyncio\nfrom lib.common import look_up\n",
    }
    (warning,) = _warned(tmp_path, files)
    assert warning.startswith("skills/desk/tools.py:2: 'look_up' of lib/common.py:4 is imported")
    assert "define it here" in warning and "import_tools: [look_up]" in warning
