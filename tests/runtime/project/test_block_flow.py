"""Skills that hand over to each other, or wait for each other, without ever asking the caller."""

from pathlib import Path

import pytest

from tests.runtime.project.projects import WHOLE, problems

FRONT = "---\nname: Any\ndescription: Any.\n{keys}---\n"
AGENT = WHOLE["agent.yml"] + "  preconditions:\n"
FOUND = "    {name}: {{satisfied_when: session.project.known, resolve_with: {by}}}\n"
MEMORY = "known: {type: bool}\n"


def skill(*steps: str, keys: str = "", more: str = "") -> str:
    lines = "".join(f"  - {step}\n" for step in steps)
    block = f":::ordered_block id=main\nsteps:\n{lines}:::\n"
    return FRONT.format(keys=keys) + block + more


def circles(root: Path, **skills: str) -> list[str]:
    """Where circles are told, in a project of these skills; nothing else may be wrong."""
    files: dict[str, str | bytes | None] = {
        f"skills/{name}/skill.md": text for name, text in skills.items()
    }
    tool = "from runtime import ToolResult, tool\n@tool(description='x')\n"
    tool += "async def look() -> ToolResult: ...\n"
    files |= {f"skills/{name}/tools.py": tool for name in skills}
    files |= {"memory.yml": MEMORY, "responses.yml": "responses: {utter_hello: Hello.}\n"}
    found = problems(root, files)
    assert {p.code for p in found} <= {"endless_circle"}
    assert all(p.mend for p in found)
    return [f"{p.place.file.split('/')[1]}:{p.place.line}" for p in found]


@pytest.mark.parametrize("way", ["link", "call"])
def test_skills_that_hand_over_to_each_other_for_ever_are_refused(tmp_path: Path, way: str):
    """K06: the circle is told once, at the first skill's step."""
    assert circles(tmp_path / "two", a=skill(f"{way}: b"), b=skill(f"{way}: a")) == ["a:7"]
    assert circles(tmp_path / "one", a=skill(f"{way}: a")) == ["a:7"]
    three = {"a": skill(f"{way}: b"), "b": skill("noop: true", f"{way}: c"), "c": skill("link: a")}
    assert circles(tmp_path / "three", **three) == ["a:7"]


def test_a_circle_of_skills_is_found_behind_what_does_not_wait(tmp_path: Path):
    """K06: responses, writes, tools and blocks that are called don't wait for the caller."""
    again = skill(
        "action: utter_hello",
        "set_memory: {known: true}",
        "execute_tool: look",
        "call: inner",
        "link: b",
        more=":::ordered_block id=inner\nsteps:\n  - noop: true\n:::\n",
    )
    assert circles(tmp_path, a=again, b=skill("link: a")) == ["a:11"]


@pytest.mark.parametrize(
    "step",
    ["collect: known", "instructions: Talk.", "action: action_listen", "action: hangup"],
)
def test_a_circle_of_skills_in_which_somebody_is_asked_is_fine(tmp_path: Path, step: str):
    assert circles(tmp_path / "a", a=skill("link: b"), b=skill(step, "link: a")) == []
    assert circles(tmp_path / "b", a=skill(step, "call: a")) == []


def test_prose_and_a_tool_that_is_confirmed_let_the_caller_speak(tmp_path: Path):
    """The model talks to the caller; the engine asks before it runs a tool that is confirmed."""
    prose = FRONT.format(keys="") + "Talk, then @skill.a.\n"
    assert circles(tmp_path / "a", a=skill("link: b"), b=prose) == []
    keys = "tool_constraints: [{look: {requires_confirmation: {enabled: true}}}]\n"
    asks = skill("execute_tool: look", "link: a", keys=keys)
    assert circles(tmp_path / "b", a=asks) == []
    inner = "link: main"
    asks = skill("execute_tool: look", inner, keys=keys)
    assert circles(tmp_path / "c", a=asks) == []


def test_a_called_skill_that_comes_back_makes_no_circle_by_itself(tmp_path: Path):
    assert circles(tmp_path, a=skill("call: b", "call: b"), b=skill("noop: true")) == []


def test_a_skill_in_which_something_is_wrong_says_nothing_of_circles(tmp_path: Path):
    """The step that is wrong may be the one that waits."""
    files: dict[str, str | bytes | None] = {
        "skills/a/skill.md": skill("link: b"),
        "skills/b/skill.md": skill("colect: known", "link: a"),
        "memory.yml": MEMORY,
    }
    assert [p.code for p in problems(tmp_path, files)] == ["unknown_key"]


def test_branches_that_all_lead_back_are_a_circle(tmp_path: Path):
    """K06: no condition leads out."""
    loop = skill(
        "id: x\n    noop: true\n    next: [{if: session.project.known, then: x}, {else: x}]"
    )
    assert circles(tmp_path / "a", a=loop) == ["a:7"]
    loop = skill(
        "id: x\n    noop: true\n    next: [{if: session.project.known, then: y}, {else: z}]",
        "id: y\n    noop: true\n    next: x",
        "id: z\n    noop: true\n    next: x",
    )
    assert circles(tmp_path / "b", a=loop) == ["a:7"]
    out = loop.replace("id: z\n    noop: true\n    next: x", "id: z\n    noop: true\n    next: END")
    assert circles(tmp_path / "c", a=out) == []


# ------------------------------------------------------------------ preconditions


def waiting(root: Path, bound: dict[str, str], **skills: str) -> list[tuple[str, str]]:
    files: dict[str, str | bytes | None] = {
        f"skills/{name}/skill.md": text for name, text in skills.items()
    }
    named = "".join(FOUND.format(name=name, by=by) for name, by in bound.items())
    found = problems(root, {**files, "agent.yml": AGENT + named, "memory.yml": MEMORY})
    assert all(p.mend and p.place.column for p in found)
    return [(str(p.place).partition(":")[2].partition(":")[0], p.code) for p in found]


def test_what_resolves_a_precondition_does_not_wait_for_it(tmp_path: Path):
    """Neither by its own ``precondition`` nor by that of what resolves that."""
    ask = "collect: known"
    needs = {name: skill(ask, keys=f"precondition: {name}\n") for name in ("p", "q")}
    assert waiting(tmp_path / "a", {"p": "a"}, a=needs["p"]) == [("6", "endless_circle")]
    both = waiting(tmp_path / "b", {"p": "a", "q": "b"}, a=needs["q"], b=needs["p"])
    assert both == [("6", "endless_circle"), ("7", "endless_circle")]
    assert waiting(tmp_path / "c", {"p": "a", "q": "b"}, a=needs["q"], b=skill(ask)) == []
    # Told where the circle is, and not at what only leads into it.
    into = waiting(tmp_path / "d", {"p": "a", "q": "b"}, a=needs["q"], b=needs["q"])
    assert into == [("7", "endless_circle")]


def test_a_resolver_that_is_no_skill_is_told_at_its_name(tmp_path: Path):
    assert waiting(tmp_path, {"p": "nobody"}) == [("6", "unknown_skill")]
