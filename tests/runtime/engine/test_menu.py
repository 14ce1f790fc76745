"""A shorter menu where a project has more skills than the model should read at once."""

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.engine.menu import narrowed
from runtime.models.scripted_model import Call as Ask
from runtime.models.scripted_model import Say as Write
from runtime.project.model import Project
from tests.fakes.written_projects import skill
from tests.runtime.engine.helpers import Call, connected
from tests.runtime.engine.worlds import in_project

AGENT = """
    agent: {{persona: You are a test.}}
    orchestrator: {{model_group: main}}
    conversation: {{before_end: [goodbye]}}
    {0}
"""


def named(name: str, description: str, more: str = "") -> str:
    """A skill of prose."""
    return f"---\nname: {name}\ndescription: {description}\n{more}---\nHelp.\n"


SKILLS = {
    "skills/alpha/skill.md": named("Alpha", "Says nothing that anybody asks for."),
    "skills/card/skill.md": named("Replace a card", "A bank card is lost, stolen or broken."),
    "skills/goodbye/skill.md": named("Survey", "Asks how it was."),
    "skills/hours/skill.md": named("Opening hours", "When the branches are open."),
    "skills/loan/skill.md": named(
        "Loan", "Borrow for a house.", "routing: {examples: [mortgage]}\n"
    ),
    "skills/zeta/skill.md": named("Zeta", "The last of all."),
}
NARROW = {**SKILLS, "agent.yml": AGENT.format("skill_retrieval: {num_skills: 2}")}
LONGER = {
    **SKILLS,
    "agent.yml": AGENT.format("skill_retrieval: {num_skills: 1, turns_to_embed: 2}"),
}
WIDE = {**SKILLS, "agent.yml": AGENT.format("skill_retrieval: {num_skills: 20}")}


def _offered(call: Call, request: int) -> list[str]:
    tools = call.model.requests[request].tools
    parameters = next(tool.parameters for tool in tools if tool.name == "activate")
    return cast("dict[str, Any]", parameters)["properties"]["flow_id"]["enum"]


@in_project(NARROW)
async def test_the_menu_is_what_fits_the_callers_words_best(project: Project) -> None:
    """Section 3, ``skill_retrieval``: beside it what comes before the end is always offered."""
    async with connected([[Write("Yes?")], [Write("Yes?")]], project=project) as call:
        voice = call.voice
        voice.hear("my card was stolen")
        await voice.wait_ended()
        voice.hear("I need a mortgage")
        await voice.wait_ended()
        assert _offered(call, 0) == ["alpha", "card", "goodbye"]
        assert _offered(call, 1) == ["alpha", "goodbye", "loan"]
        system = call.model.requests[1].messages[0].text
        assert "Borrow for a house" in system and "bank card" not in system


@in_project(LONGER)
async def test_the_menu_may_look_further_back(project: Project) -> None:
    """``turns_to_embed``: the caller's last messages count together."""
    script = [[Write("Yes?")], [Write("Yes?")], [Write("Yes?")]]
    async with connected(script, project=project) as call:
        for words in ("my card was stolen", "yes", "yes please"):
            call.voice.hear(words)
            await call.voice.wait_ended()
        assert [_offered(call, i) for i in range(3)] == [
            ["card", "goodbye"],
            ["card", "goodbye"],
            ["alpha", "goodbye"],
        ]


@in_project(WIDE)
async def test_few_skills_are_all_offered(project: Project) -> None:
    async with connected([[Write("Yes?")]], project=project) as call:
        call.voice.hear("my card was stolen")
        await call.voice.wait_ended()
        assert len(_offered(call, 0)) == len(SKILLS)


@in_project({**NARROW, "skills/hours/skill.md": skill("See @skill.zeta for that.\n")})
async def test_what_the_prose_names_and_what_is_parked_is_on_every_menu(project: Project) -> None:
    script = [[Ask("activate", {"flow_id": "hours"})], [Write("See?")], [Write("Yes?")]]
    async with connected(script, project=project) as call:
        call.voice.hear("what the test is about")
        await call.voice.wait_ended()
        call.voice.hear("my card was stolen")
        await call.voice.wait_ended()
        assert "zeta" in _offered(call, 2) and "card" in _offered(call, 2)


@given(
    flows=st.lists(st.sampled_from("abcdefgh"), unique=True),
    ranked=st.lists(st.sampled_from("abcdefgh"), unique=True),
    kept=st.frozensets(st.sampled_from("abcdefghij"), max_size=3),
    most=st.integers(1, 8),
)
def test_a_menu_is_part_of_the_flows_and_never_longer_than_asked(
    flows: list[str], ranked: list[str], kept: frozenset[str], most: int
):
    offered = narrowed(flows, (most, ranked), kept)
    free = offered - kept
    assert offered <= set(flows) and kept.intersection(flows) <= offered
    assert len(free) == min(most, len(set(flows) - kept))
    left_out = set(flows) - offered
    places = {name: ranked.index(name) if name in ranked else 99 for name in flows}
    assert all(places[a] <= places[b] for a in free for b in left_out)


@pytest.mark.parametrize("flows", [[], ["a", "b"]])
def test_without_a_menu_everything_is_offered(flows: list[str]):
    assert narrowed(flows, None, set()) == set(flows)
