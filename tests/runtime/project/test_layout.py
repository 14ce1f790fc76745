"""A folder is looked at before any file is opened: what it holds, and what nothing reads."""

from pathlib import Path

import pytest

from runtime.project.layout import SkillFolder, find_layout
from runtime.project.problems import Problems
from tests.runtime.project.projects import write


def _found(root: Path) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    problems = Problems()
    layout = find_layout(root, problems)
    return (
        [(str(p.place), p.code) for p in problems.found],
        layout.warnings if layout else (),
    )


def test_skills_stand_one_level_deep_in_the_order_of_their_ids(tmp_path: Path):
    """Section 2 of the format: the folder's name is the skill's id."""
    skill = "---\nname: X\ndescription: Y.\n---\nZ.\n"
    write(
        tmp_path,
        {
            "skills/b/skill.md": skill,
            "skills/a/skill.md": skill,
            "skills/a/memory.yml": "",
            "skills/a/deep/skill.md": skill,
            "skills/.hidden/skill.md": skill,
            "responses.yml": "",
        },
    )
    problems = Problems()
    layout = find_layout(tmp_path, problems)
    assert layout is not None and problems.found == []
    assert layout.skills == (
        SkillFolder("a", "skills/a", has_memory=True, has_responses=False),
        SkillFolder("b", "skills/b", has_memory=False, has_responses=False),
        SkillFolder("desk", "skills/desk", has_memory=False, has_responses=False),
    )
    assert (layout.has_memory, layout.has_responses) == (False, True)
    assert layout.warnings == (
        "skills/a/deep: skills stand one level deep; nothing reads this one",
    )


@pytest.mark.parametrize(
    ("name", "code", "mend"),
    [
        ("project", "reserved_name", "rename the folder"),
        ("system", "reserved_name", "rename the folder"),
        ("session", "reserved_name", "rename the folder"),
        ("card-replace", "bad_name", "rename the folder, for example to 'card_replace'"),
        ("2fa", "bad_name", "rename the folder"),
    ],
)
def test_a_skill_id_is_a_name_that_conditions_can_write(
    tmp_path: Path, name: str, code: str, mend: str
):
    write(tmp_path, {f"skills/{name}/skill.md": "x"})
    problems = Problems()
    find_layout(tmp_path, problems)
    assert [(p.place.file, p.code, p.mend) for p in problems.found] == [
        (f"skills/{name}", code, mend)
    ]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("skills/desk/skills.md", "(did you mean 'skill.md'?)"),
        ("skills/desk/tool.py", "(did you mean 'tools.py'?)"),
        ("skills/desk/response.yml", "(did you mean 'responses.yml'?)"),
        ("skills/desk/tools.yaml", "nothing reads this file"),
        ("response.yml", "(did you mean 'responses.yml'?)"),
        ("memory.yaml", "'memory.yml' is what is read"),
        ("agent.yaml", "ignored, since 'agent.yml' is what is read"),
        ("reference/hours.md", "(did you mean 'references/'?)"),
        ("skills/note.md", "a skill is a folder"),
        ("skills/other/skills.md", "(rename 'skills.md'?)"),
    ],
)
def test_what_looks_as_if_it_were_read_and_is_not_gets_a_warning(
    tmp_path: Path, name: str, said: str
):
    write(tmp_path, {name: "x"})
    problems, warnings = _found(tmp_path)
    assert problems == []
    (warning,) = warnings
    assert said in warning


@pytest.mark.parametrize(
    "name",
    ["README.md", "skills/desk/README.md", ".env", "bargein.sqlite", "lib/a.yml",
     "scenarios/any.yml", "references/deep/er.md", "tools/any.py", "LICENSE"],
)  # fmt: skip
def test_what_nobody_would_expect_to_be_read_gets_none(tmp_path: Path, name: str):
    write(tmp_path, {name: "x"})
    assert _found(tmp_path) == ([], ())


def test_a_yaml_suffix_of_a_required_file_is_told_as_the_mend(tmp_path: Path):
    write(tmp_path, {"agent.yml": None, "agent.yaml": "x"})
    problems = Problems()
    assert find_layout(tmp_path, problems) is None
    assert [(str(p.place), p.code, p.mend) for p in problems.found] == [
        ("agent.yml", "missing_file", "rename 'agent.yaml'")
    ]
