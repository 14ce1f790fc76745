"""Expectations against calls put together by hand: what meets them, and what is said if not."""

from pathlib import Path

import pytest

from runtime.project.problems import Problems
from tests.voice.replay.made_call import event, made_events
from voice.call.events import CallEvent
from voice.replay.measures import Interruption
from voice.replay.scenarios.checks import Failure, check
from voice.replay.scenarios.evidence import gather
from voice.replay.scenarios.reader import read_scenario

STOP = Interruption(5200.0, 60.0, 90.0, 705.0, 0.0)
"""The measured interruption of the made call: silent 90 ms after the caller began."""


def order() -> tuple[CallEvent, ...]:
    """A made call with a confirmed order, skills, a response and memory."""
    return (
        event(0, "call_started", channel="twilio"),
        event(10, "skill_started", skill="cards", cause="routed"),
        event(20, "memory_set", name="cards.reason", text='"lost"', writer="model"),
        event(30, "memory_set", name="cards.tries", text="2", writer="tool"),
        event(40, "memory_set", name="cards.pin", text="[set]", writer="tool"),
        event(100, "agent_said", say=1, text="Ship it standard?", state="written"),
        event(100, "response_given", response="utter_ask_confirmation", say=1),
        event(110, "confirmation_asked", tool="order", question=1, text="Ship it standard?"),
        event(900, "say_settled", say=1, turn=1, outcome="heard", heard_chars=17),
        event(1500, "confirmation_answered", tool="order", confirmed=True),
        event(1600, "tool_started", call_id=1, tool="order", text='{"a": {"b": 1, "c": 2}}'),
        event(1700, "tool_settled", call_id=1, tool="order", outcome="ok", text="{}"),
        event(1800, "tool_started", call_id=2, tool="look", text="{}"),
        event(1900, "tool_settled", call_id=2, tool="look", outcome="unknown", text=""),
        event(2500, "late_outcome", call_id=2, tool="look", outcome="ok", text="{}"),
        event(2600, "skill_ended", skill="cards", how="completed"),
        event(2700, "transfer", target="+15550100"),
        event(2800, "problem", code="model_failed", detail="first"),
        event(2900, "call_ended", cause="agent"),
    )


def failures(
    expect: str, events: tuple[CallEvent, ...] | None = None, **options: object
) -> tuple[Failure, ...]:
    problems = Problems()
    text = f"name: n\nexpect:\n  - {expect}\n".encode()
    scenario = read_scenario(text, "s.yml", Path(), None, problems, {})
    assert [str(problem) for problem in problems.found] == []
    values = options.get("values", ())
    assert isinstance(values, tuple)
    evidence = gather(events or made_events(), (STOP,), values)  # pyright: ignore[reportUnknownArgumentType] # from options
    return check(scenario.expect, evidence)


@pytest.mark.parametrize(
    "expect",
    [
        "tool_executed: look_up_order",
        "tool_executed: {tool_name: look_up_order, times: 1, arguments: {}}",
        "tool_executed: {tool_name: book, times: 0}",
        "tool_not_executed: book",
        "heard: front desk",
        "heard: {text_matches: '^your ORDER number .* Tuesday'}",
        "heard: {text: one moment}",
        "heard: {text: in two days, at_most: 0}",
        "not_heard: {text: rental car}",
        "bot_uttered: rental car",
        "bot_did_not_utter: {text: refund}",
        "interrupted:",
        "interrupted: {within_ms: 200, during: rental car, times: 1}",
        "not_interrupted: {during: Front desk}",
        "interrupted_at: {say: rental car, heard_matches: 'come in today'}",
        "hung_up: {by: caller}",
        "memory_was_not_set: a.b",
        "sequencing: [{heard: Front desk}, {interrupted: }, {tool_executed: look_up_order}, "
        "{heard: Tuesday}, {hung_up: caller}]",
    ],
)
def test_what_happened_meets_its_expectation(expect: str) -> None:
    assert failures(expect) == ()


@pytest.mark.parametrize(
    "expect",
    [
        "skill_started: cards",
        "skill_completed: {skill: cards}",
        "memory_was_set: [{name: cards.reason, value: lost}, {name: cards.tries, value: 2.0}]",
        "memory_was_set: cards.pin",
        "memory_was_not_set: [{name: cards.reason, value: stolen}]",
        "bot_uttered: {response: utter_ask_confirmation, text: standard}",
        "confirmation_asked: order",
        "confirmation_answered: {tool: order, confirmed: true}",
        "tool_executed: {tool_name: order, arguments: {a: {b: 1}}}",
        "tool_executed: look",
        "transferred: '+15550100'",
        "transferred: {}",
        "hung_up: agent",
        "problem: model_failed",
        "sequencing: [{skill_started: cards}, {confirmation_asked: order}, "
        "{confirmation_answered: order}, {tool_executed: order}, {skill_completed: cards}]",
    ],
)
def test_the_events_of_the_engine_are_matched(expect: str) -> None:
    assert failures(expect, order()) == ()


@pytest.mark.parametrize(
    ("expect", "what", "seen"),
    [
        (
            "tool_executed: {tool_name: look_up_order, times: 2}",
            "tool_executed look_up_order 2 times",
            "1 times; calls of look_up_order: look_up_order({}) at 7.400 s: ok",
        ),
        (
            "tool_executed: book",
            "tool_executed book",
            "book was never called; called: look_up_order({}) at 7.400 s: ok",
        ),
        (
            "tool_executed: {tool_name: look_up_order, outcome: failed}",
            "tool_executed look_up_order (failed)",
            "look_up_order({}) at 7.400 s: ok",
        ),
        ("tool_not_executed: look_up_order", "tool_not_executed look_up_order", "at 7.400 s: ok"),
        ("heard: refund", "heard 'refund'", "“Front desk.” at 0.470 s"),
        ("not_heard: Front desk", "not_heard 'Front desk'", "“Front desk.” at 0.470 s"),
        ("heard: {text: e, at_most: 1}", "heard 'e' at most 1 times", "4 times; heard:"),
        ("bot_did_not_utter: rental", "bot_did_not_utter 'rental'", "(cut) at 5.905 s"),
        (
            "interrupted: {within_ms: 50}",
            "interrupted within 50 ms",
            "the agent was silent 90 ms after the caller began",
        ),
        ("interrupted: {during: Front desk}", "interrupted during", "it cut “You could come in"),
        ("not_interrupted: {}", "not_interrupted", "at 5.905 s"),
        (
            "interrupted_at: {say: rental, heard_matches: rental}",
            "interrupted_at 'rental' heard /rental/",
            "“You could come in today, with a little bi” (cut)",
        ),
        ("interrupted_at: {say: x1, heard_matches: a}", "interrupted_at 'x1'", "no such message"),
        ("hung_up: agent", "hung_up by agent", "call_ended (cause caller) at 15.990 s"),
        ("skill_completed: cards", "skill_completed cards", "no skill was started or ended"),
        ("transferred: {to: x}", "transferred to x", "the call was not transferred"),
        ("memory_was_set: a.b", "memory_was_set a.b", "a.b was never set; nothing was"),
        (
            "sequencing: [{tool_executed: look_up_order}, {heard: Front desk}]",
            "sequencing, step 2: heard 'Front desk'",
            "it came at 0.470 s, not after 'tool_executed look_up_order' at 10.400 s",
        ),
        (
            "sequencing: [{heard: Front desk}, {heard: refund}]",
            "sequencing, step 2: heard 'refund'",
            "heard: “Front desk.”",
        ),
    ],
)
def test_what_was_seen_instead_is_said_with_times(expect: str, what: str, seen: str) -> None:
    (failure,) = failures(expect)
    assert failure.what.startswith(what)
    assert seen in failure.seen
    assert failure.place.startswith("s.yml:3")


def test_the_same_moment_is_not_used_twice_in_a_sequence() -> None:
    assert failures("sequencing: [{heard: Tuesday}, {heard: Tuesday}]")[0].what.endswith("Tuesday'")


def test_a_personal_value_is_compared_where_it_is_known_and_never_shown_where_not() -> None:
    expect = 'memory_was_set: [{name: cards.pin, value: "4711"}]'
    (failure,) = failures(expect, order())
    assert "a value that is not told at 0.040 s" in failure.seen
    values = (("cards.reason", "lost"), ("cards.tries", 2), ("cards.pin", "4711"))
    assert failures(expect, order(), values=values) == ()


def test_true_is_no_one_and_007_is_a_text() -> None:
    events = (
        event(1, "memory_set", name="a.flag", text="true"),
        event(2, "memory_set", name="a.number", text="7"),
    )
    assert failures("memory_was_set: [{name: a.flag, value: 1}]", events)
    assert failures("memory_was_set: [{name: a.number, value: 007}]", events)
    assert not failures("memory_was_set: [{name: a.number, value: 7}]", events)


def test_an_interruption_that_both_sides_tell_of_is_one() -> None:
    events = (
        event(100, "interrupted", turn=1, reason="words", evidence="x"),
        event(100, "interrupted", turn=1, cause="words", heard=[]),
        event(200, "interrupted", turn=2, reason="reopened", evidence="x"),
    )
    assert failures("interrupted: {times: 1}", events) == ()


def test_the_words_of_a_reopened_turn_are_no_interruption() -> None:
    events = (event(200, "interrupted", turn=2, reason="reopened", evidence="x"),)
    (failure,) = failures("interrupted: {}", events)
    assert failure.seen == "nobody interrupted the agent"


def test_what_the_set_up_wrote_was_not_set_in_the_call() -> None:
    events = (
        event(0, "memory_set", name="a.b", text="1", writer="seed"),
        event(9, "memory_set", name="a.b", text="[set]", writer="tool"),
    )
    values = (("a.b", 1), ("a.b", 2))
    assert failures("memory_was_not_set: [{name: a.b, value: 1}]", events, values=values) == ()
    assert failures("memory_was_set: [{name: a.b, value: 2}]", events, values=values) == ()
