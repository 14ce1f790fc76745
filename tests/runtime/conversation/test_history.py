"""The fold, and the conversation as a model reads it."""

from runtime.conversation.events import (
    CallEnded,
    CallStarted,
    Event,
    Fact,
    LateOutcome,
    MemorySet,
    MessageHeard,
    MessageWritten,
    ToolAsked,
    ToolSettled,
    ToolStarted,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
)
from runtime.conversation.prompt_history import history_messages
from runtime.conversation.state import MOST_ITEMS, ConversationState, fold
from runtime.models.ports import ChatMessage


def state_of(*facts: tuple[int, Fact]) -> ConversationState:
    return fold(Event("c", i + 1, i, turn, fact) for i, (turn, fact) in enumerate(facts))


def read(*facts: tuple[int, Fact]) -> list[tuple[str, str]]:
    return [(m.role, m.text) for m in history_messages(state_of(*facts))]


USER = TurnStarted("input", "speech", "when")


def said(say: int, text: str, kind: str = "reply", *, round: int = 1) -> MessageWritten:
    return MessageWritten(say, kind, text, round)  # type: ignore[arg-type]


def test_a_message_nobody_heard_is_not_in_the_history() -> None:
    """B01, B02"""
    assert read(
        (1, USER),
        (1, said(1, "Which day suits you?")),
        (1, MessageHeard(1, "dropped", 0)),
        (1, TurnInterrupted("words")),
    ) == [("user", "when")]


def test_an_interrupted_message_without_a_settlement_is_not_in_the_history() -> None:
    """B01, B04"""
    assert read((1, USER), (1, said(1, "Which day?")), (1, TurnInterrupted("words"))) == [
        ("user", "when")
    ]


def test_a_message_is_cut_where_it_was_heard_and_marked() -> None:
    """B03, B04, B05"""
    assert read(
        (1, USER),
        (1, said(1, "Your options are A, B and C.")),
        (1, MessageHeard(1, "cut", 19)),
        (1, TurnInterrupted("text")),
        (2, TurnStarted("input", "text", "the second one")),
    ) == [
        ("user", "when"),
        ("assistant", "Your options are A, [interrupted]"),
        ("user", "the second one"),
    ]


def test_canned_lines_follow_the_same_rule() -> None:
    """B05"""
    assert read(
        (1, TurnStarted("opened")),
        (1, said(1, "We are open Monday to Friday from nine to five.", "line", round=0)),
        (1, MessageHeard(1, "cut", 28)),
        (1, TurnInterrupted("words")),
    ) == [("assistant", "We are open Monday to Friday [interrupted]")]


def test_what_was_heard_whole_is_not_marked() -> None:
    """B06"""
    heard = [
        (1, USER),
        (1, said(1, "Monday. ")),
        (1, MessageHeard(1, "cut", 7)),
        (1, TurnInterrupted("words")),
    ]
    assert read(*heard) == [("user", "when"), ("assistant", "Monday.")]


def test_the_first_settlement_of_a_message_counts() -> None:
    state = state_of(
        (1, said(1, "Monday.")), (1, MessageHeard(1, "cut", 3)), (1, MessageHeard(1, "heard", 7))
    )
    message = state.message(1)
    assert message is not None
    assert (message.outcome, message.heard_chars) == ("cut", 3)


def test_a_position_beyond_the_text_is_its_end() -> None:
    """B03"""
    state = state_of(
        (1, said(1, "Hi")), (1, MessageHeard(1, "cut", 99)), (1, MessageHeard(9, "cut", 1))
    )
    message = state.message(1)
    assert message is not None
    assert message.heard_chars == 2


def test_a_protected_message_counts_whole_while_it_is_being_spoken() -> None:
    written = MessageWritten(1, "line", "This call is recorded.", 0, interruptible=False)
    assert read((1, TurnStarted("opened")), (1, written), (1, TurnInterrupted("words"))) == [
        ("assistant", "This call is recorded.")
    ]


CALL = ToolAsked(1, "abc", "book", '{"people": 2}', 1)
RUNS = ToolStarted(1, "book", '{"people":2}', "k", finish=True)


def test_a_running_call_is_shown_with_a_result() -> None:
    """C04"""
    messages = history_messages(state_of((1, USER), (1, CALL), (1, RUNS)))
    assert [m.role for m in messages] == ["user", "assistant", "tool"]
    assert messages[1].calls[0].id == messages[2].call_id
    assert messages[1].text == ""
    assert messages[2].text == "still_running"


def test_a_result_outlives_the_interruption_of_the_sentence_that_told_it() -> None:
    """C01"""
    assert read(
        (1, USER),
        (1, said(1, "Booking.", "beside_tool")),
        (1, CALL),
        (1, RUNS),
        (1, ToolSettled(1, "ok", '"T-901"')),
        (1, said(2, "Your table is T-901.", round=2)),
        (1, MessageHeard(1, "heard", 8)),
        (1, MessageHeard(2, "dropped", 0)),
        (1, TurnInterrupted("words")),
        (2, TurnStarted("input", "speech", "and a high chair")),
    ) == [
        ("user", "when"),
        ("assistant", "Booking."),
        ("tool", '"T-901"'),
        ("user", "and a high chair"),
    ]


def test_results_follow_their_calls_in_the_order_asked_whatever_came_between() -> None:
    """C05: a tool's own message comes after the results."""
    messages = history_messages(
        state_of(
            (1, USER),
            (1, ToolAsked(1, "", "a", "{}", 1)),
            (1, ToolAsked(2, "", "b", "{}", 1)),
            (1, ToolSettled(2, "failed", "F")),
            (1, MessageWritten(1, "line", "Nearly there.", 0, call_id=1)),
            (1, ToolSettled(1, "ok", "A")),
        )
    )
    assert [(m.role, m.text) for m in messages] == [
        ("user", "when"),
        ("assistant", ""),
        ("tool", "A"),
        ("tool", "F"),
        ("assistant", "Nearly there."),
    ]
    assert [c.name for c in messages[1].calls] == ["a", "b"]


def test_a_late_outcome_is_news_beside_the_one_result() -> None:
    """C08"""
    state = state_of(
        (1, USER),
        (1, CALL),
        (1, RUNS),
        (1, ToolSettled(1, "timed_out", "T")),
        (1, ToolSettled(1, "ok", "second")),
        (1, LateOutcome(1, "ok", '"T-901"')),
    )
    texts = [(m.role, m.text) for m in history_messages(state)]
    assert texts[-2:] == [("tool", "T"), ("system", 'Late news of call_1 (book): ok: "T-901"')]
    assert state.settled_ok == {}


def test_a_reopened_turn_takes_the_place_of_the_one_before() -> None:
    """B09: the words once; the model's writes undone, an author's kept."""
    state = state_of(
        (1, MemorySet("desk", "name", '"old"', "tool")),
        (1, TurnStarted("input", "speech", "I'm Nora")),
        (1, ToolAsked(1, "", "set_fields", "{}", 1)),
        (1, MemorySet("desk", "name", '"Nora"', "model", 1)),
        (1, MemorySet("desk", "city", '"?"', "model", 1)),
        (1, MemorySet("desk", "seen", "true", "tool", 2)),
        (1, ToolSettled(1, "ok", "{}")),
        (1, said(1, "Hello Nora")),
        (1, MessageHeard(1, "dropped", 0)),
        (1, TurnInterrupted("reopened")),
        (2, TurnStarted("input", "speech", "I'm Nora Feld from Kiel", reopens=1)),
    )
    assert [(m.role, m.text) for m in history_messages(state)] == [
        ("user", "I'm Nora Feld from Kiel")
    ]
    assert state.memory == {("desk", "name"): "old", ("desk", "seen"): True}


def test_an_author_s_tool_that_ran_in_a_reopened_turn_stays() -> None:
    texts = read(
        (1, USER),
        (1, CALL),
        (1, RUNS),
        (1, ToolSettled(1, "ok", "A")),
        (2, TurnStarted("input", "speech", "when please", reopens=1)),
    )
    assert texts == [("assistant", ""), ("tool", "A"), ("user", "when please")]


def test_keys_and_uncertain_words_are_marked() -> None:
    assert read(
        (1, TurnStarted("input", "keys", "4711")),
        (2, TurnStarted("input", "speech", "cancel order", uncertain=True)),
    ) == [
        ("user", "[keys] 4711"),
        ("user", "cancel order [part of this was lost on the line]"),
    ]


def test_a_preview_leaves_the_state_as_it_is() -> None:
    state = state_of(
        (1, USER), (1, MemorySet("desk", "a", "1", "model")), (1, TurnFinished("done"))
    )
    before = state_of(
        (1, USER), (1, MemorySet("desk", "a", "1", "model")), (1, TurnFinished("done"))
    )
    preview = state.preview(TurnStarted("input", "speech", "more", reopens=1), 2)
    assert state == before
    assert [(m.role, m.text) for m in history_messages(preview)] == [("user", "more")]
    assert preview.memory == {}


def test_the_oldest_turns_fall_out_of_the_prompt_but_never_an_open_call() -> None:
    facts: list[tuple[int, Fact]] = [(1, USER), (1, CALL), (1, RUNS)]
    long = "x" * 500
    facts += [(n, TurnStarted("input", "speech", f"question {n} {long}")) for n in range(2, 200)]
    messages = history_messages(state_of(*facts))
    assert sum(len(m.text) for m in messages) < 33_000
    assert messages[1].calls[0].name == "book"
    assert messages[-1].text.startswith("question 199")


def test_the_history_is_bounded_over_a_long_call() -> None:
    """N06: an open call is kept, whatever its age."""
    facts: list[tuple[int, Fact]] = [(1, CALL), (1, RUNS), (1, TurnInterrupted("words"))]
    for turn in range(2, 3000):
        facts.append((turn, USER))
        facts.append((turn, TurnInterrupted("words")))
    state = state_of(*facts)
    assert len(state.history) <= MOST_ITEMS + 1
    assert [c.call_id for c in state.open_calls] == [1]
    assert len(state.interrupted) <= MOST_ITEMS + 1


def test_a_second_call_of_a_conversation_goes_on_after_the_first() -> None:
    started = CallStarted("phone", "en", 0.0)
    state = state_of((0, started), (1, USER), (0, CallEnded("caller")), (0, started))
    assert not state.ended
    assert state.turn == 1


def test_every_request_is_well_formed_after_any_single_fact() -> None:
    """C04: no call without a result, no empty assistant message."""
    facts = [(1, USER), (1, CALL), (1, RUNS), (1, said(1, "x"))]
    for count in range(1, len(facts) + 1):
        _check_well_formed(history_messages(state_of(*facts[:count])))


def _check_well_formed(messages: list[ChatMessage]) -> None:
    waiting: list[str] = []
    for message in messages:
        if message.role == "tool":
            assert waiting.pop(0) == message.call_id
        else:
            assert not waiting, "a call's result comes right after it"
            assert message.text or message.calls
            waiting = [call.id for call in message.calls]
    assert not waiting


def test_what_an_author_s_tool_wrote_over_the_model_stands_when_the_turn_is_reopened() -> None:
    """B09"""
    state = state_of(
        (1, TurnStarted("input", "speech", "I'm Nora")),
        (1, MemorySet("desk", "name", '"nora"', "model", 1)),
        (1, MemorySet("desk", "name", '"Nora"', "tool", 2)),
        (1, MemorySet("desk", "name", '"NORA"', "model", 3)),
        (2, TurnStarted("input", "speech", "I'm Nora Feld", reopens=1)),
    )
    assert state.memory == {("desk", "name"): "Nora"}
