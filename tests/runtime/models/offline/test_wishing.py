"""What the caller wants, where nothing is being asked."""

import pytest

from runtime.models.offline.plan import MadeCall
from runtime.models.offline.routing import route
from runtime.models.situation import FlowOption
from tests.runtime.models.offline.scenes import FLOWS, REPLACE, STATUS, called, decide

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
