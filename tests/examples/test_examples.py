"""The projects in ``examples/``: each validates without a warning, and travel_desk works."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from runtime.agent import Listen
from runtime.models.scripted_model import Call as Ask
from runtime.models.scripted_model import Say as Write
from runtime.project.loader import load
from runtime.project.model import Project
from tests.runtime.engine.helpers import Call, connected
from tests.runtime.engine.worlds import (
    ended_skills,
    fill,
    flows,
    hear,
    memory,
    nothing,
    offered,
    ran,
    skills,
    start,
    system,
)
from voice.replay.virtual_loop import run_virtual

EXAMPLES = Path(__file__).parents[2] / "examples"
PROJECTS = sorted(folder for folder in EXAMPLES.iterdir() if (folder / "agent.yml").is_file())
RESOLVE = "resolve_tool_confirmation"


def test_there_are_examples() -> None:
    """An agent of blocks that needs no key, and one of prose for a large model."""
    assert {"card_desk", "travel_desk"} <= {folder.name for folder in PROJECTS}


@pytest.mark.parametrize("folder", PROJECTS, ids=lambda folder: folder.name)
def test_an_example_validates_with_no_variable_set_and_no_warning(folder: Path) -> None:
    """What an author begins from must not itself be told off."""
    assert load(folder, {}).warnings == ()


def on_the_travel_desk(
    scenario: Callable[[Project], Awaitable[None]],
) -> Callable[[], None]:
    """Make a plain test of an asynchronous one that takes the loaded example."""

    def test() -> None:
        async def main() -> None:
            await scenario(load(EXAMPLES / "travel_desk", {}))

        run_virtual(main())

    test.__name__, test.__doc__ = scenario.__name__, scenario.__doc__
    return test


TO_THE_CONFIRMATION = [
    start("book_trip"),
    Write("Have you travelled with us before?"),
    start("find_traveller"),  # @skill.find_traveller
    nothing(),
    fill(traveller_number="4711"),
    Write("Where would you like to go?"),
    fill(destination="Bergen"),
    Ask("find_trains", {"destination": "Bergen"}),
    Write("There is one at 8:10 for 64 euros and one at 14:10 for 48."),
    Ask("choose_train", {"train_id": "NL-14"}),
    start("book_trip.payment"),  # @block.payment
    fill(fare="flexible"),
]


async def _up_to_the_confirmation(call: Call) -> list[str]:
    await hear(call, "I'd like a train")
    await hear(call, "yes, I have")
    await hear(call, "4711")
    await hear(call, "to Bergen")
    await hear(call, "the later one")
    return await hear(call, "the flexible one")


@on_the_travel_desk
async def test_the_travel_desk_books_a_trip_through_delegation_gate_and_confirmation(
    project: Project,
) -> None:
    """Delegation and back, a paragraph that appears, a gate that opens, a held call: C1, C2, C5."""
    steps = [*TO_THE_CONFIRMATION, Ask(RESOLVE, {"confirmed": True}), Write("Anything else?")]
    async with connected(steps, project=project) as call:
        await hear(call, "I'd like a train")
        assert skills(call) == ["book_trip"]
        assert "has a railcard" not in system(call)
        assert "book_seat" not in offered(call)
        assert "choose_train" not in offered(call)

        assert await hear(call, "yes, I have") == [
            "What is your traveller number? It has four digits. You can say it or key it in."
        ]
        assert skills(call) == ["book_trip", "find_traveller"]

        said = await hear(call, "4711")
        assert said == ["Welcome back, Ines.", "Where would you like to go?"]
        assert skills(call) == ["book_trip"]
        assert '"Ines" has a railcard' in system(call)

        await hear(call, "to Bergen")
        assert "choose_train" in offered(call)
        assert "is chosen; it leaves at" not in system(call)

        said = await hear(call, "the later one")
        assert said[-1].startswith("Would you like the saver ticket")
        assert "book_seat" not in ran(call)

        said = await hear(call, "the flexible one")
        assert said == ["I book the flexible ticket to Bergen for 39 euros. Is that right?"]
        assert call.voice.of(Listen)[-1].expect.kind == "yes_no"
        assert "book_seat" not in ran(call)

        said = await hear(call, "yes please")
        assert ran(call).count("book_seat") == 1
        number = memory(call, "book_trip.booking_number")
        assert said[0] == f"Your seat is booked. The number is {number}."


@on_the_travel_desk
async def test_no_leaves_the_travel_desk_with_nothing_booked(project: Project) -> None:
    """C6, C7"""
    steps = [*TO_THE_CONFIRMATION, Ask(RESOLVE, {"confirmed": False}), Write("Anything else?")]
    async with connected(steps, project=project) as call:
        await _up_to_the_confirmation(call)
        said = await hear(call, "no")
        assert said[0] == "All right, I haven't booked anything."
        assert "book_seat" not in ran(call)
        assert memory(call, "book_trip.booking_number") is None


@on_the_travel_desk
async def test_the_hidden_skill_is_offered_within_the_booking_only(project: Project) -> None:
    """A hidden skill is off the menu; the prose that names it can start it."""
    steps = [Write("Where to?"), *TO_THE_CONFIRMATION[:2]]
    async with connected(steps, project=project) as call:
        await hear(call, "hello")
        assert "find_traveller" not in flows(call.model.requests[0])
        await hear(call, "a train please")
        assert "find_traveller" in flows(call.model.requests[-1])
        assert ended_skills(call) == []
