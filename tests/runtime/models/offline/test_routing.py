"""Which flow is meant, in long sentences and short ones."""

import pytest

from runtime.models.offline.routing import CLEAR, route
from runtime.models.situation import FlowOption

BOOK = FlowOption(
    "book",
    "Book an appointment",
    "The caller wants to see a dentist, make an appointment, or has a toothache.",
    (
        "I'd like to book an appointment",
        "can I see a dentist",
        "I need a filling",
        "my tooth hurts",
    ),
)
DROP = FlowOption(
    "drop",
    "Cancel an appointment",
    "The caller wants to cancel an appointment they have.",
    ("I want to cancel my appointment", "I can't come to my appointment"),
)
DESK = FlowOption(
    "desk", "Speak to the reception", "", ("can I speak to someone", "I want a human")
)
FLOWS = (BOOK, DROP, DESK)


@pytest.mark.parametrize(
    ("said", "flow"),
    [
        ("I'd like an appointment with doctor chen for a filling next tuesday", BOOK),
        ("I have a terrible toothache since yesterday evening and need to see somebody", BOOK),
        ("I'd like to book an appointment for my son on the third of march at ten", BOOK),
        ("I need to cancel my appointment on thursday because I have to work", DROP),
        ("I can't make it to my appointment tomorrow", DROP),
    ],
)
def test_who_tells_more_wants_the_same(said: str, flow: FlowOption):
    """Names, days and times tell nothing of what is wanted, and dilute nothing."""
    verdict = route(said, FLOWS, "en")
    assert verdict.best == flow and verdict.score >= CLEAR and not verdict.rivals


@pytest.mark.parametrize(
    "said", ["cancel my booking", "please delete my appointment", "get rid of the filling"]
)
def test_what_is_to_be_undone_is_never_begun(said: str):
    """Only a flow that speaks of undoing can be meant."""
    assert route(said, (BOOK, DESK), "en").best is None
    assert route(said, FLOWS, "en").best in (DROP, None)
    may = FlowOption("all", "Appointments", "Book, change or cancel an appointment or a booking.")
    assert route("cancel my booking", (may,), "en").best == may


def test_something_that_was_cancelled_is_not_to_be_undone():
    """A fact about the world."""
    verdict = route("my appointment was cancelled, I'd like to book a new one", (BOOK, DESK), "en")
    assert verdict.best == BOOK


@pytest.mark.parametrize(
    "said", ["what's the weather like tomorrow", "can you order me a pizza", "on the third of may"]
)
def test_what_has_nothing_of_a_flow_is_none(said: str):
    """However little it says."""
    assert route(said, FLOWS, "en").best is None


@pytest.mark.parametrize(
    "said", ["I don't want to cancel my appointment", "I do not want to book an appointment"]
)
def test_what_is_denied_is_not_clearly_wanted(said: str):
    """Nothing is begun by it unasked."""
    assert route(said, FLOWS, "en").score < CLEAR


def test_an_example_that_denies_is_meant_by_the_same_denial():
    """ "My card didn't come" is how some ask for a new one."""
    flow = FlowOption("replace", "Replace a card", "", ("my card did not come",))
    assert route("my card did not come", (flow, *FLOWS), "en").best == flow
    assert route("my card did not come", (flow, *FLOWS), "en").score >= CLEAR
