"""Skills in prose: what the planner does of them, and what it says of itself."""

from dataclasses import replace

import pytest

from runtime.errors import Place
from runtime.models.offline.abilities import can_run
from runtime.models.offline.plan import MadeCall
from runtime.models.situation import FlowOption
from runtime.project.conditions import Condition, parse
from runtime.project.skill_model import (
    Block,
    BlockToken,
    Branch,
    CallStep,
    CollectStep,
    InstructStep,
    Paragraph,
    Skill,
    Step,
    ToolToken,
)
from tests.runtime.models.offline.scenes import NAME, SHIPPING, called, decide

BLOCK = FlowOption("cards.order", "order", "", is_reference=True)
PROSE = {"in_prose": True, "skill": "Cards", "flows": (BLOCK,)}
STARTED = MadeCall("activate", {"flow_id": "cards"})
CAN_NOT = "I'm sorry, I can't do that without a language model."


def test_the_only_reference_is_started_and_its_end_ends_the_skill():
    """Not started twice: when the block is done, so is what the planner can do."""
    begun = decide("I need a card", made=(STARTED,), **PROSE)
    assert called(begun) == [("activate", {"flow_id": "cards.order"})]
    both = (STARTED, MadeCall("activate", {"flow_id": "cards.order"}))
    ended = decide("I need a card", made=both, **PROSE)
    assert called(ended) == [("complete_skill", {})]
    ended = decide("express", made=(), has_returned=True, **PROSE)
    assert called(ended) == [("complete_skill", {})]
    resolved = (MadeCall("set_fields", {"number": "1234"}),)
    begun = decide("1234", made=resolved, **PROSE)
    assert called(begun) == [("activate", {"flow_id": "cards.order"})], "its own was not run yet"


def test_prose_that_can_not_be_followed_is_told_honestly():
    """No tool is called in the hope that it is the right one."""
    two = {**PROSE, "flows": (BLOCK, replace(BLOCK, id="cards.other"))}
    assert decide("I need a card", made=(STARTED,), **two).text == CAN_NOT
    assert decide("what now", in_prose=True, skill="Cards").text == CAN_NOT


def test_fields_that_are_clearly_given_are_set():
    """In instructions that wait for them."""
    decided = decide("by express", in_prose=True, skill="Cards", settable=(NAME, SHIPPING))
    assert called(decided) == [("set_fields", {"shipping": "express"})]


def condition() -> Condition:
    return parse("session.a.b == 1")


def skill(*steps: Step, prose: tuple[Paragraph, ...] = ()) -> Skill:
    blocks = (Block("main", steps),) if steps else ()
    return Skill(id="a", name="A", description="", prose=prose, blocks=blocks)


NEXT = (Branch("END"),)
HERE = Place("skill.md")


def test_what_can_be_run():
    """Blocks, and prose that only names one."""
    collect = CollectStep(id="ask", next=NEXT, place=HERE, namespace="a", field="b")
    waits = InstructStep(
        id="talk", next=NEXT, place=HERE, instructions=("Ask.",), complete_when=condition()
    )
    names_one = Paragraph(("Run ", BlockToken("main"), " at once."))
    assert can_run(skill(collect, waits)) is None
    assert can_run(skill(collect, prose=(names_one,))) is None


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (
            skill(InstructStep(id="talk", next=NEXT, place=HERE, instructions=("Ask.",))),
            "step 'talk' has instructions and no complete_when",
        ),
        (
            skill(CallStep(id="go", next=NEXT, place=HERE, kind="sub_agent", target="bot")),
            "step 'go' calls the sub agent 'bot'",
        ),
        (skill(prose=(Paragraph(("Use ", ToolToken("pay"))),)), "its prose calls tools"),
        (
            skill(prose=(Paragraph(("Help the caller.",)),)),
            "its prose needs a language model; write it as an ordered block",
        ),
    ],
)
def test_what_can_not_be_run_is_said_with_its_reason(given: Skill, reason: str):
    """For whoever checks a project that has only this model."""
    assert can_run(given) == reason
