"""Nothing outside of a project is read, and what has the name of a file is one."""

import os
from pathlib import Path

import pytest

from runtime.errors import ProjectError
from runtime.project.loader import load, load_channels
from tests.runtime.project.projects import problems, write

SECRET = "responses: {utter_hello: 'hunter2 {nope'}\n"
OUTSIDE = {
    "skill.md": "---\nname: Other\ndescription: Other.\n---\nhunter2 @tool.nope\n",
    "responses.yml": SECRET,
    "memory.yml": "hunter2: {type: nope}\n",
    "tools.py": "raise SystemExit('hunter2')\n",
}


def refused(root: Path) -> list[tuple[str, str]]:
    with pytest.raises(ProjectError) as caught:
        load(root, {})
    assert "hunter2" not in str(caught.value)
    assert all(problem.mend for problem in caught.value.problems)
    return [(problem.place.file, problem.code) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("link", "to"),
    [
        ("skills/other", "."),
        ("lib", "."),
        ("lib/deep/more.py", "tools.py"),
        ("tools", "."),
        ("tools/more.py", "tools.py"),
        ("memory.yml", "memory.yml"),
        ("responses.yml", "responses.yml"),
        ("skills/desk/skill.md", "skill.md"),
        ("skills/desk/memory.yml", "memory.yml"),
        ("skills/desk/responses.yml", "responses.yml"),
        ("skills/desk/tools.py", "tools.py"),
        ("skills/desk/tools/more.py", "tools.py"),
    ],
)
def test_a_link_that_leads_out_is_refused_as_when_packing_and_not_read(
    tmp_path: Path, link: str, to: str
):
    """No line of a foreign file is shown, and none of its code is run."""
    for name, text in OUTSIDE.items():
        write(tmp_path / "out", {"agent.yml": None, "integrations.yml": None, name: text})
    root = write(tmp_path / "agent", {"lib/deep/a.py": "", "tools/a.py": ""})
    path = root / link
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        path.rename(root / "was")
    path.unlink(missing_ok=True)
    path.symlink_to(tmp_path / "out" / to)
    assert refused(root) == [(link, "leaves_project")]
    with pytest.raises(ProjectError):
        load_channels(root, {})


def test_a_link_to_a_hidden_file_is_refused(tmp_path: Path):
    """A visible name for ``.env`` would show what is in it."""
    root = write(tmp_path, {".env": SECRET})
    (root / "responses.yml").symlink_to(".env")
    assert refused(root) == [("responses.yml", "leaves_project")]


def test_links_within_a_project_are_followed(tmp_path: Path):
    """Also a project that is reached by a link itself."""
    root = write(tmp_path / "agent", {"lib/wording.yml": "responses: {utter_hello: Hello.}\n"})
    (root / "responses.yml").symlink_to("lib/wording.yml")
    (root / "lib" / "round").symlink_to("..")
    (tmp_path / "link").symlink_to("agent")
    assert "utter_hello" in load(tmp_path / "link", {}).responses


@pytest.mark.parametrize(
    "name",
    ["agent.yml", "memory.yml", "responses.yml", "skills/desk/skill.md", "skills/desk/memory.yml",
     "skills/desk/responses.yml", "skills/desk/tools.py", "skills/desk/tools/more.py",
     "tools/more.py"],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["a folder", "a link that leads to nothing", "a device or pipe"])
def test_what_has_the_name_of_a_file_must_be_one(tmp_path: Path, name: str, kind: str):
    root = write(tmp_path, {"tools/a.py": "", "skills/desk/tools/a.py": ""})
    path = root / name
    path.unlink(missing_ok=True)
    match kind:
        case "a folder":
            path.mkdir()
        case "a device or pipe":
            os.mkfifo(path)
        case _:
            path.symlink_to("nowhere.yml")
    (problem,) = problems(root, dict.fromkeys(("agent.yml", "skills/desk/skill.md")))
    assert (problem.place.file, problem.code) == (name, "unreadable")
    assert problem.message == f"this must be a file, and it is {kind}"
    assert problem.mend


@pytest.mark.parametrize(
    "name", ["tools", "references", "lib", "skills/desk/tools", "skills/desk/references"]
)
def test_what_has_the_name_of_a_folder_must_be_one(tmp_path: Path, name: str):
    (problem,) = problems(tmp_path, {name: "x"})
    assert (problem.place.file, problem.code) == (name, "unreadable")
    assert problem.message == "this must be a folder, and it is a file"
