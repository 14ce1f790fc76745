"""What the caller wants, where nothing is being asked."""

from dataclasses import replace
from typing import Any

import pytest

from runtime.models.offline.plan import MadeCall, Opening, Plan
from runtime.models.offline.planner import plan
from runtime.models.offline.routing import route
from runtime.models.offline.wishing import wished_words
from runtime.models.situation import FlowOption
from tests.runtime.models.offline.scenes import (
    FLOWS,
    NUMBER,
    REPLACE,
    STATUS,
    called,
    decide,
    scene,
)

SEARCHED = (MadeCall("search_knowledge", {"query": "q"}),)
SHIPPING = (
    "Sending a card > How long it takes\nStandard post takes five working days. Express takes two.",
    "Sending a new card > What it costs\n- **Standard** post is free.\n- Express costs 12 euros.",
)


@pytest.mark.parametrize(
    ("said", "flow"),
    [
        ("I lost my card", "card_replace"),
        ("uh hi, my wallet was stolen yesterday and my card was in it", "card_replace"),
        ("could you replace a damaged card", "card_replace"),
        ("where is my new card", "card_status"),
        ("what about my order", "card_status"),
        ("put me through to someone", "hand_over"),
    ],
)
def test_a_clear_wish_starts_its_flow(said: str, flow: str):
    """By examples, name and description, in other words too."""
    decided = decide(said, flows=FLOWS, has_knowledge=True)
    assert called(decided) == [("activate", {"flow_id": flow})] and not decided.text


def test_flows_that_fit_alike_are_asked_between_and_the_answer_is_understood():
    """By place or by words; the question is known again by the line before."""
    decided = decide("card", flows=FLOWS)
    assert decided.text == ("Which do you mean: replace a card or how an order is coming along?")
    for said, flow in (
        ("the first one", "card_replace"),
        ("the second", "card_status"),
        ("replace it", "card_replace"),
        ("how my order is coming along", "card_status"),
    ):
        chosen = decide(said, flows=FLOWS, last_line=decided.text)
        assert called(chosen) == [("activate", {"flow_id": flow})]


def test_a_flow_that_may_be_meant_is_suggested_and_a_yes_starts_it():
    """A no asks what else."""
    decided = decide("stolen stuff", flows=(REPLACE,))
    assert decided.text == "Do you mean this: replace a card?" and not decided.calls
    yes = decide("yes", flows=(REPLACE, STATUS), last_line=decided.text)
    assert called(yes) == [("activate", {"flow_id": "card_replace"})]
    assert decide("no", flows=(REPLACE,), last_line=decided.text).text == "What can I do for you?"


@pytest.mark.parametrize(
    "said", ["how much is express?", "when do you open", "do you ship to Graz", "tell me a joke"]
)
def test_a_question_is_looked_up_where_no_flow_is_clearly_meant(said: str):
    """And so is what fits no flow."""
    decided = decide(said, flows=FLOWS, has_knowledge=True)
    assert called(decided) == [("search_knowledge", {"query": said})]


def test_what_nobody_offers_is_declined():
    """Without reference files at once, with them after the search."""
    assert called(decide("sing me a song", flows=FLOWS)) == [("cannot_help", {"in_domain": False})]
    after = decide("sing me a song", has_knowledge=True, passages=(), made=SEARCHED, flows=FLOWS)
    assert called(after) == [("cannot_help", {"in_domain": False})]
    declined = (*SEARCHED, MadeCall("cannot_help", {"in_domain": False}))
    assert decide("sing me a song", passages=(), made=declined).calls == ()


def test_nothing_in_particular_is_asked_about():
    """Fillers are no wish."""
    assert decide("um so", flows=FLOWS, has_knowledge=True).text == (
        "Sorry, I didn't catch that. What can I do for you?"
    )


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (
            "how long does shipping take?",
            "Standard post takes five working days. Express takes two.",
        ),
        ("how much is express?", "Express costs 12 euros."),
        ("is standard post free?", "Standard post is free."),
    ],
)
def test_the_best_sentence_of_what_was_found_is_said(asked: str, answer: str):
    """Over all passages, without markup."""
    decided = decide(asked, flows=FLOWS, has_knowledge=True, passages=SHIPPING, made=SEARCHED)
    assert decided.text == answer and not decided.calls


def test_found_passages_about_something_else_are_no_answer():
    """One word in common does not make an answer."""
    decided = decide(
        "does the weather in Graz allow a new roof garden", passages=SHIPPING, made=SEARCHED
    )
    assert called(decided) == [("cannot_help", {"in_domain": False})]


def test_a_round_after_a_call_has_nothing_to_say():
    """The engine speaks its questions and results; a note of the engine's gets an answer."""
    made = (MadeCall("activate", {"flow_id": "card_replace"}),)
    assert decide("I lost my card", made=made, skill="Cards").text == ""
    assert decide("I lost my card", made=made, skill="Cards", is_nudged=True).text == "All right."


def test_a_turn_without_words_is_not_answered():
    """Nobody spoke."""
    quiet = decide("", flows=FLOWS, has_knowledge=True, last_line="Anything else?")
    assert quiet.text == "" and quiet.calls == ()


def test_scores_are_a_matter_of_rare_words():
    """A word that every flow has tells none of them; references are not asked for by callers."""
    names = ["printer", "kettle", "bicycle", "laptop"]
    flows = [FlowOption(n, f"Mend a {n}", f"Everything about a broken {n}.") for n in names]
    assert route("my kettle is broken", flows, "en").best == flows[1]
    assert len(route("it is broken", flows, "en").rivals) == 4
    block = FlowOption("a.b", "kettle", "", is_reference=True)
    assert route("kettle", [block], "en").best is None
    assert route("what is it", flows, "en").best is None


def again(said: str, **given: Any) -> Plan:
    """Decide where nothing could be made of the words before, either."""
    return plan(replace(scene(said, **given), has_failed=True))


CAN_DO = "I can help with this: replace a card, how an order is coming along, or talk to a person."


def test_the_second_time_that_nothing_is_understood_what_can_be_done_is_told():
    """A person among it, if one can be had; the answer to it is understood."""
    for given in ({}, {"has_knowledge": True, "passages": (), "made": SEARCHED}):
        assert again("xyzzy plugh", flows=FLOWS, **given).text == (
            f"I'm sorry, I still don't follow. {CAN_DO}"
        )
    many = tuple(FlowOption(f"f{n}", f"Do thing {n}", "") for n in range(6))
    assert "talk to a person" in again("xyzzy", flows=(*many, FLOWS[2])).text
    assert "thing 2" in again("xyzzy", flows=(*many, FLOWS[2])).text
    chosen = decide("the last one", flows=FLOWS, last_line=CAN_DO)
    assert called(chosen) == [("activate", {"flow_id": "hand_over"})]
    alone = "I can help with this: replace a card."
    assert called(decide("the first one", flows=(REPLACE,), last_line=alone)) == [
        ("activate", {"flow_id": "card_replace"})
    ]
    other = decide("do you sell stamps", flows=FLOWS, last_line=CAN_DO, has_knowledge=True)
    assert called(other) == [("search_knowledge", {"query": "do you sell stamps"})]
    assert called(again("xyzzy")) == [("cannot_help", {"in_domain": False})]


@pytest.mark.parametrize("said", ["cancel my order", "can you cancel that order", "delete my card"])
def test_what_is_to_be_undone_begins_nothing_else(said: str):
    """It belongs to this business, and is not offered; a line about the order is no answer."""
    assert called(decide(said, flows=FLOWS)) == [("cannot_help", {"in_domain": True})]
    told = ("Your order\nThe order is sent with the card by post.",)
    found = decide(said, flows=FLOWS, has_knowledge=True, passages=told, made=SEARCHED)
    assert called(found) == [("cannot_help", {"in_domain": True})]
    how = ("Orders\nTo cancel an order, call the bank. A card is sent at night.",)
    asked = decide("how do I cancel an order", has_knowledge=True, passages=how, made=SEARCHED)
    assert asked.text.startswith("To cancel an order")


@pytest.mark.parametrize("said", ["nine", "4 2 1", "twenty two", "the", "um nine"])
def test_a_number_alone_is_not_looked_up(said: str):
    """A page with the same number in it is no answer to anything."""
    decided = decide(said, flows=FLOWS, has_knowledge=True)
    assert called(decided) == [] and decided.text.startswith("Sorry, I didn't catch that.")
    keyed = decide("5", kind="keys", flows=FLOWS, has_knowledge=True)
    assert called(keyed) == [] and keyed.text.startswith("Sorry, I didn't catch that.")


def test_what_a_thing_costs_is_looked_up_and_not_begun():
    """Though the flow for it has the same words."""
    flow = FlowOption("book", "Book an appointment", "", ("I need a filling", "I need a check-up"))
    for said in ("how much is a filling", "how long does a check-up take"):
        decided = decide(said, flows=(flow,), has_knowledge=True)
        assert [name for name, _ in called(decided)] == ["search_knowledge"]


def test_a_question_of_fact_is_looked_up_first():
    """ "Can I", "do I": torn between two flows it is no wish yet."""
    for said in ("do I get a new card with my photo", "can I use my card abroad"):
        decided = decide(said, flows=FLOWS, has_knowledge=True)
        assert called(decided) == [("search_knowledge", {"query": said})]


def test_what_comes_after_a_yes_is_what_is_wanted():
    """In the middle of a question, too: of "yes, and where is my new card", the card."""
    said = "yes, and also where is my new card"
    busy = {"collecting": NUMBER, "question": "Which number?", "flows": FLOWS}
    assert called(decide(said, **busy, has_knowledge=True)) == [
        ("activate", {"flow_id": "card_status"})
    ]


def test_what_is_being_done_already_is_not_looked_up():
    """The question on the table is what it needs: it is put again."""
    one = scene(
        "yes, and also where is my order",
        collecting=NUMBER,
        question="Which number?",
        has_knowledge=True,
        flows=(REPLACE,),
    )
    decided = plan(replace(one, opening=Opening("where is my order please")))
    assert decided.text == "All right." and not decided.calls


def test_a_denial_is_no_answer_before_a_wish():
    """Of "I don't want to replace a card" the rest alone would be the wish."""
    for said in ("I don't want to replace a card", "I do not want to replace a card"):
        assert wished_words(scene(said)) == said
    assert wished_words(scene("no, replace a card")) == "replace a card"


def test_what_is_only_denied_is_not_suggested():
    """Who says what they don't want is asked what they do want."""
    decided = decide("I don't want to talk to a person", flows=FLOWS)
    assert decided.text == "All right. What can I do for you?" and not decided.calls
