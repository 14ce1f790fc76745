"""What a message may show: lines and values as they are written, never what a variable holds."""

from pathlib import Path
from typing import IO, Any

import pytest

from runtime.errors import Place, ProjectError
from runtime.project.loader import load
from runtime.project.problems import Problems, nearest
from tests.runtime.project.projects import WHOLE, problems, write

AGENT = "agent: {persona: x}\norchestrator: {model_group: main}\n"
SKILL = "---\nname: Desk\ndescription: Helps.\n---\n"
STEP = SKILL + ":::ordered_block id=a\nsteps:\n  - collect: ${S}\n:::\n"


@pytest.mark.parametrize("secret", ["sk-verysecret", "hunter", "hunter two", "s3"])
@pytest.mark.parametrize(
    ("files", "place"),
    [
        ({"agent.yml": AGENT.replace("main", '"${S}"')}, "agent.yml:2:29"),
        ({"agent.yml": AGENT + 'conversation: {before_end: ["${S}"]}\n'}, "agent.yml:3:29"),
        ({"agent.yml": AGENT + 'knowledge_answering: {embeddings: "${S}"}\n'}, "agent.yml:3:35"),
        (
            {
                "agent.yml": "agent: {persona: x}\norchestrator:\n  model_group: main\n"
                "  preconditions:\n    p:\n      satisfied_when: True\n      resolve_with: ${S}\n"
            },
            "agent.yml:7:21",
        ),
        (
            {"integrations.yml": WHOLE["integrations.yml"].replace("scripted", "${S}")},
            "integrations.yml:4:19",
        ),
        (
            {
                "integrations.yml": WHOLE["integrations.yml"]
                + "channels:\n  voice:\n    tts:\n      name: ${S}\n"
            },
            "integrations.yml:8:13",
        ),
        ({"skills/desk/skill.md": STEP}, "skills/desk/skill.md:7:14"),
        (
            {"skills/desk/skill.md": SKILL.replace("Helps.", "x\nprecondition: ${S}") + "Hi.\n"},
            "skills/desk/skill.md:4:15",
        ),
        (
            {"skills/desk/skill.md": SKILL.replace("Helps.", "x\nrequires: ${S} == 1") + "Hi.\n"},
            "skills/desk/skill.md:4:",
        ),
    ],
)
def test_no_message_shows_what_a_variable_holds(
    tmp_path: Path, files: dict[str, str | bytes | None], place: str, secret: str
):
    """The value may be a secret; its place is told, and how it is written."""
    found = problems(tmp_path, files, {"S": secret})
    assert found and all(str(p.place).startswith(place) for p in found)
    for problem in found:
        assert secret not in f"{problem}{problem.excerpt}"
        assert "'${S}'" in problem.message or problem.code == "bad_condition"


def test_a_value_is_not_shown_in_other_lines_either():
    """A name that a variable fills is written the same way where it is suggested."""
    found = Problems()
    found.know_value(Place("a.yml", 3, 5), "KEY", "sk-verysecret")
    found.know_value(Place("a.yml", 3, 5), "WORD", "offline")
    found.add(Place("b.yml", 1, 1), "x", "no 'sk-verysecreT'", "did you mean 'sk-verysecret'?")
    found.add(Place("b.yml", 1, 1), "x", "there is no 'offlin'", "write 'offline'")
    found.add(Place("a.yml"), "x", "'sk-verysecret' and 'offline' are no words")
    assert [(p.message, p.mend) for p in found.found] == [
        ("no 'sk-verysecreT'", "did you mean '${KEY}'?"),
        ("there is no 'offlin'", "write 'offline'"),
        ("'${KEY}' and '${WORD}' are no words", ""),
    ]


def test_an_unset_variable_is_one_problem(tmp_path: Path):
    """What follows from its missing value is not told beside it."""
    agent = (
        AGENT
        + 'rules: ["${X}"]\nfillers: {phrases: ["${X}"], after: "${X}", examples: "${X}"}\n'
        + 'conversation: {before_end: ["${X}"]}\ntool_timeout: "${X}"\nvoice: "${X}"\n'
    )
    skill = SKILL.replace("Helps.", 'Helps.\nrequires: "${X}"') + "Hi.\n"
    found = problems(tmp_path, {"agent.yml": agent, "skills/desk/skill.md": skill})
    assert [p.code for p in found] == ["unset_variable"] * 8


def test_a_file_that_can_not_be_read_misses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Its keys are not known; each file is one problem."""
    files = ("agent.yml", "integrations.yml", "memory.yml", "responses.yml", "skills/desk/skill.md")
    root = write(tmp_path, {"memory.yml": "", "responses.yml": ""})
    opened = Path.open

    def refuse(path: Path, mode: str) -> IO[Any]:
        if path.relative_to(root).as_posix() in files:
            raise PermissionError(13, "Permission denied")
        return opened(path, mode)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ProjectError) as caught:
        load(root, {})
    found = caught.value.problems
    assert [(p.place.file, p.code) for p in found] == [(name, "unreadable") for name in files]
    assert all(p.mend for p in found)


def test_what_was_meant_can_be_asked_for_more_strictly():
    assert nearest("ask_day", ["say_day"]) == "say_day"
    assert nearest("ask_day", ["say_day"], cutoff=0.9) is None
