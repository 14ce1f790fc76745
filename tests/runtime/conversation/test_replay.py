"""A conversation is its events: rebuilt from them it is the same, whatever happened."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from runtime.conversation.events import (
    CallEnded,
    CallStarted,
    Event,
    Fact,
    LateOutcome,
    MemorySet,
    MessageDropped,
    MessageHeard,
    MessageWritten,
    ModelCalled,
    ToolAsked,
    ToolSettled,
    ToolStarted,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
)
from runtime.conversation.prompt_history import history_messages
from runtime.conversation.state import fold
from runtime.engine.record import ConversationRecord
from runtime.store.codec import decode, encode_fact, kind_of
from tests.runtime.conversation.test_history import _check_well_formed

_text = st.text(st.characters(codec="utf-8"), max_size=12)
_small = st.integers(0, 6)
_outcome = st.sampled_from(["ok", "failed", "timed_out", "cancelled", "unknown"])
_value = st.sampled_from(['"a"', "1", "null", "[1,2]", '{"k":true}'])

_facts: st.SearchStrategy[Fact] = st.one_of(
    st.builds(CallStarted, _text, _text, st.floats(0, 1e9), st.just((("a", "b"),))),
    st.builds(CallEnded, st.sampled_from(["caller", "lost"])),
    st.builds(
        TurnStarted,
        st.sampled_from(["input", "opened", "silence"]),
        st.none() | st.sampled_from(["speech", "keys"]),
        _text,
        st.booleans(),
        _small,
        st.none() | _small,
    ),
    st.builds(TurnInterrupted, _text, _text),
    st.builds(TurnFinished, st.sampled_from(["done", "failed"])),
    st.builds(
        MessageWritten,
        _small,
        st.sampled_from(["reply", "line", "beside_tool"]),
        _text,
        _small,
        st.booleans(),
        st.none() | _small,
    ),
    st.builds(MessageHeard, _small, st.sampled_from(["heard", "cut", "dropped", "failed"]), _small),
    st.builds(MessageDropped, _small, _text, _text),
    st.builds(ToolAsked, _small, _text, _text, st.just("{}"), _small),
    st.builds(ToolStarted, _small, _text, st.just("{}"), _text, st.booleans()),
    st.builds(ToolSettled, _small, _outcome, _text, st.booleans()),
    st.builds(LateOutcome, _small, _outcome, _text),
    st.builds(
        MemorySet,
        st.sampled_from(["project", "desk"]),
        st.sampled_from(["a", "b"]),
        _value,
        st.sampled_from(["tool", "model"]),
        st.none() | _small,
    ),
    st.builds(ModelCalled, _text, _small, st.just("ok"), st.none() | _small, _small),
)


@given(st.lists(st.tuples(_small, _facts), max_size=40))
def test_a_state_rebuilt_from_stored_events_equals_the_live_one(
    happened: list[tuple[int, Any]],
) -> None:
    kept: list[Event] = []
    live = ConversationRecord("c", (), kept.append)
    for at_ms, (turn, fact) in enumerate(happened):
        live.append(turn, at_ms, fact)
    rows = [
        (e.conversation, e.sequence, e.at_ms, e.turn, kind_of(e.fact), encode_fact(e.fact))
        for e in kept
    ]
    read_back = [decode(*row) for row in rows]
    assert read_back == kept
    assert fold(read_back) == live.state
    assert history_messages(fold(read_back)) == history_messages(live.state)


@given(st.lists(st.tuples(_small, _facts), max_size=40))
def test_every_history_is_well_formed(happened: list[tuple[int, Any]]) -> None:
    """C04: whatever the order of events, no request has a call without its result."""
    live = ConversationRecord("c", (), lambda _: None)
    asked: set[int] = set()
    for turn, fact in happened:
        if isinstance(fact, ToolAsked):
            if fact.call_id in asked:
                continue  # calls are numbered once
            asked.add(fact.call_id)
        live.append(turn, 0, fact)
    _check_well_formed(history_messages(live.state))
