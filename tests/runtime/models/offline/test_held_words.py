"""What counts as a yes to a held call, what as a no, and what as neither."""

from dataclasses import replace

import pytest

from runtime.models.situation import PendingQuestion
from tests.runtime.models.offline.scenes import FLOWS, HELD, SHIPPING, YEAR, called, decide

DROPPED = PendingQuestion(
    "delete_appointment", "Shall I cancel the appointment on Monday?", True, "{}"
)
RESOLVE = "resolve_tool_confirmation"
SENT = replace(SHIPPING, value="standard")


def names(said: str, held: PendingQuestion = HELD) -> list[str]:
    decided = decide(said, pending=held, skill="x", flows=FLOWS, correctable=(SENT, YEAR))
    return [name for name, _ in called(decided)]


@pytest.mark.parametrize("held", [HELD, DROPPED])
@pytest.mark.parametrize(
    "said",
    ["yes I do want that", "yes that is what I want", "yes, that's what I want please",
     "yes I want that", "yes do", "yes I want to", "yes I'd love to"],
)  # fmt: skip
def test_a_yes_may_say_that_it_is_one(said: str, held: PendingQuestion):
    """M01: in words that the question has not."""
    decided = decide(said, pending=held, skill="x", flows=FLOWS)
    assert called(decided) == [(RESOLVE, {"confirmed": True})]


@pytest.mark.parametrize("said", ["yes please do that", "ok", "okay", "right", "uh huh yes"])
def test_words_that_agree_are_a_yes(said: str):
    """M01: also short ones, and one after a sound."""
    assert called(decide(said, pending=HELD, skill="x")) == [(RESOLVE, {"confirmed": True})]


@pytest.mark.parametrize(
    "said",
    ["yes again", "mhm", "uh huh", "mhm mhm", "ok let me see", "okay, let's see", "ok let me think",
     "yes he can", "yes we were"],
)  # fmt: skip
def test_who_only_listens_or_thinks_agrees_to_nothing(said: str):
    """M01: the question is put again."""
    assert names(said) == []


@pytest.mark.parametrize(
    "said",
    ["don't go ahead", "please don't go ahead", "do not go ahead", "no don't go ahead"],
)
def test_what_is_not_to_go_ahead_is_denied(said: str):
    """M01: the words of a yes are in it."""
    assert called(decide(said, pending=HELD, skill="x")) == [(RESOLVE, {"confirmed": False})]


@pytest.mark.parametrize(
    "said",
    ["keep it", "keep it please", "I want to keep it", "keep the appointment", "let's keep it"],
)
def test_what_is_kept_is_not_undone(said: str):
    """M01: an answer where it was asked whether to cancel it, and none elsewhere."""
    assert called(decide(said, pending=DROPPED, skill="x")) == [(RESOLVE, {"confirmed": False})]
    assert names(said) == []


@pytest.mark.parametrize("said", ["cancel it please", "please cancel it"])
def test_who_asks_with_a_please_for_what_is_asked_about_agrees(said: str):
    """M01: to "shall I cancel it?" it is a yes, to "shall I order it?" a no."""
    agreed = decide(said, pending=DROPPED, skill="x", flows=FLOWS)
    assert called(agreed) == [(RESOLVE, {"confirmed": True})]
    refused = decide(said, pending=HELD, skill="x", flows=FLOWS)
    assert called(refused) == [(RESOLVE, {"confirmed": False})]


def test_a_plain_no_counts_before_the_question_was_heard_to_its_end():
    """M02: where it can be given; a yes waits."""
    from runtime.models.offline.planner import plan
    from tests.runtime.models.offline.scenes import scene

    open_scene = scene("no", pending=HELD, skill="x")
    early = replace(HELD, may_answer=False)
    for said, expected in (("no", [(RESOLVE, {"confirmed": False})]), ("yes", [])):
        situation = replace(open_scene.situation, said=said, pending=early)
        assert called(plan(replace(open_scene, situation=situation))) == expected


@pytest.mark.parametrize("has_knowledge", [True, False])
@pytest.mark.parametrize(
    "said", ["what was the time again", "who is it with", "what time was it", "when is it again"]
)
def test_what_the_question_has_told_is_told_by_it_again(said: str, has_knowledge: bool):
    """It holds the answer: nothing is looked up, and nobody says that they don't know."""
    decided = decide(said, pending=HELD, skill="x", has_knowledge=has_knowledge)
    assert decided.calls == () and not decided.text
    price = decide("how much is it again", pending=HELD, skill="x", has_knowledge=True)
    assert [name for name, _ in called(price)] == ["search_knowledge"]


@pytest.mark.parametrize("said", ["please delete it", "remove it please", "can you cancel it"])
def test_what_may_mean_the_undoing_that_is_asked_about_decides_nothing(said: str):
    """M01: neither a no, nor the end of what is being done."""
    decided = decide(said, pending=DROPPED, skill="x", flows=FLOWS)
    assert decided.calls == () and decided.text == "Sorry, I need a clear yes or no."


@pytest.mark.parametrize(
    "said", ["please cancel it", "can you cancel it please", "cancel it please"]
)
def test_an_undoing_asked_for_too_early_ends_nothing(said: str):
    """M02: the question is put again."""
    decided = decide(said, pending=replace(DROPPED, may_answer=False), skill="x", flows=FLOWS)
    assert decided.calls == () and not decided.text


@pytest.mark.parametrize(
    "said", ["leave it at three", "leave it as it is at three", "just leave it on monday"]
)
def test_who_leaves_a_value_as_it_is_refuses_nothing(said: str):
    """M01: "leave it" alone does."""
    decided = decide(said, pending=HELD, skill="x")
    assert decided.calls == ()
    assert called(decide("leave it", pending=HELD, skill="x")) == [(RESOLVE, {"confirmed": False})]


@pytest.mark.parametrize(
    "said", ["when do you open again", "where do I go again", "what does it cost again"]
)
def test_what_the_question_has_not_told_is_looked_up(said: str):
    """M04: the call stays held."""
    decided = decide(said, pending=HELD, skill="x", has_knowledge=True)
    assert [name for name, _ in called(decided)] == ["search_knowledge"]
