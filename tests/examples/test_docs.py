"""The projects that ``docs/projects.md`` and the README write down are projects that load."""

import re
from pathlib import Path

from runtime.project.loader import load

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "projects.md"
README = ROOT / "README.md"
_FILE = re.compile(r"^```\w+ file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_files_of_the_author_s_guide_are_a_project_without_a_warning(tmp_path: Path) -> None:
    """What an author copies from the guide works."""
    files = _FILE.findall(GUIDE.read_text(encoding="utf-8"))
    assert {"agent.yml", "integrations.yml", "skills/renew/skill.md"} <= {name for name, _ in files}
    for name, text in files:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    project = load(tmp_path, {})
    assert project.warnings == ()
    assert {"renew", "identify"} <= set(project.skills)


def test_the_skill_and_the_tool_that_the_readme_shows_are_a_project(tmp_path: Path) -> None:
    """The first lines that an author reads are right as well."""
    text = README.read_text(encoding="utf-8")
    shown = dict(re.findall(r"^```(markdown|python|yaml)\n(.*?)^```$", text, re.M | re.S))
    skill = "skills/renew"
    files = {
        "agent.yml": "agent: {persona: You help.}\norchestrator: {model_group: main}\n",
        "integrations.yml": shown["yaml"],
        f"{skill}/skill.md": shown["markdown"],
        f"{skill}/tools.py": shown["python"],
        f"{skill}/memory.yml": "schema: {public: {title: {type: text}}}\n",
        f"{skill}/responses.yml": (
            "responses: {utter_ask_title: [Which book?], utter_done: [It is done.]}\n"
        ),
    }
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    project = load(tmp_path, {"OPENAI_API_KEY": "from the environment"})
    assert project.warnings == ()
    assert list(project.skills["renew"].tools) == ["extend_loan"]
