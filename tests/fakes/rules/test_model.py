"""The rules model: the same words, the same answer; everything else is read from the messages."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from runtime.errors import ProjectError
from runtime.models.ports import (
    CallAsked,
    ChatMessage,
    ChatRequest,
    Finished,
    ModelEvent,
    RequestedCall,
    TextDelta,
    ToolSpec,
)
from runtime.tasks import closing_stream
from tests.fakes.rules.model import RulesModel, from_file
from voice.replay.virtual_loop import run_virtual

BOOK = r"""
similarity: 80
rules:
  - when: [when are you open, opening hours]
    say: We open at nine and close at five.
  - when: ['/\btable for (?P<people>\d+)(?: at (?P<time>\w+))?/']
    say: I'll look.
    call: {tool: find, arguments: {people: "{people}", time: "{time}", fixed: true}}
  - when: ['/^yes\b/']
    needs: find
    call: {tool: book, arguments: {slot: "{find.slots.0.id}"}}
  - when: ['/^yes\b/', '/\bwhat have you got\b/']
    say: ["Good.", "Fine."]
    interrupted: Go on.
  - when: ['/\bwhich one\b/']
    say: It is {find.slots.0.id}.
after:
  - tool: find
    result: {free: false}
    say: Nothing free.
  - tool: find
    say: I have {slots.0.id} for {price}, {early}, {notes}.
  - {tool: find, outcome: timed_out, say: Too slow.}
  - {tool: find, outcome: failed, call: {tool: find, arguments: {people: 1}}}
  - {tool: book, say: "Booked {{it}}."}
otherwise: {say: Pardon me?, interrupted: I'll stop.}
"""
INTEGER = {"type": "object", "properties": {"people": {"type": "integer"}}, "required": ["people"]}
TOOLS = (
    ToolSpec("find", "", INTEGER),  # type: ignore[arg-type]
    ToolSpec("book", "", {"type": "object", "properties": {}, "required": ["slot"]}),
)
FOUND = '{"slots": [{"id": "s1"}], "price": 12.0, "early": true, "notes": ["a", 2]}'


def _model(tmp_path: Path, text: str = BOOK) -> RulesModel:
    path = tmp_path / "rules.yml"
    path.write_text(text, encoding="utf-8")
    return from_file(path, "rules.yml", ["find", "book"])


def _user(text: str) -> ChatMessage:
    return ChatMessage("user", text)


def _called(tool: str, result: str, number: int = 1) -> list[ChatMessage]:
    call = RequestedCall(f"call_{number}", tool, "{}")
    return [ChatMessage("assistant", "", (call,)), ChatMessage("tool", result, call_id=call.id)]


def _ask(
    model: RulesModel, *messages: ChatMessage, tools: Sequence[ToolSpec] = TOOLS
) -> tuple[str, RequestedCall | None]:
    async def main() -> list[ModelEvent]:
        request = ChatRequest((ChatMessage("system", "x"), *messages), tuple(tools))
        async with closing_stream(model.stream(request)) as stream:
            return [event async for event in stream]

    events = run_virtual(main())
    calls = [event.call for event in events if isinstance(event, CallAsked)]
    assert events[-1] == Finished("calls" if calls else "stop")
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    return text, calls[0] if calls else None


def test_words_are_streamed_one_by_one(tmp_path: Path):
    async def main() -> list[ModelEvent]:
        stream = _model(tmp_path).stream(ChatRequest((_user("opening hours"),)))
        return [event async for event in stream]

    events = run_virtual(main())
    assert events[:3] == [TextDelta("We"), TextDelta(" open"), TextDelta(" at")]


@pytest.mark.parametrize(
    "said", ["When are you open?", "when are you opened", "Opening hours!", "hours opening"]
)
def test_words_like_an_example_get_its_answer(tmp_path: Path, said: str):
    """A recogniser's spelling, case and punctuation do not matter."""
    assert _ask(_model(tmp_path), _user(said)) == ("We open at nine and close at five.", None)


def test_what_matches_nothing_gets_the_fallback(tmp_path: Path):
    assert _ask(_model(tmp_path), _user("isolated tornadoes")) == ("Pardon me?", None)
    assert _ask(_model(tmp_path), _user("x" * 5000)) == ("Pardon me?", None)


def test_without_words_of_the_caller_nothing_is_said(tmp_path: Path):
    assert _ask(_model(tmp_path)) == ("", None)
    assert _ask(_model(tmp_path), _user("  ")) == ("", None)


def test_named_groups_fill_arguments_in_the_type_of_the_schema(tmp_path: Path):
    """A group that did not take part leaves its argument out."""
    text, call = _ask(_model(tmp_path), _user("a table for 4 please"))
    assert text == "I'll look."
    assert call == RequestedCall("rules_1", "find", '{"fixed": true, "people": 4}')
    _, call = _ask(_model(tmp_path), _user("a table for 4 at noon"))
    assert call is not None
    assert call.arguments == '{"fixed": true, "people": 4, "time": "noon"}'


@pytest.mark.parametrize(
    ("kind", "said", "value"),
    [
        ("integer", "four", '"four"'),
        ("number", "2.5", "2.5"),
        ("number", "many", '"many"'),
        ("boolean", "yes", "true"),
        ("boolean", "no", "false"),
        ("boolean", "maybe", '"maybe"'),
        ("string", "007", '"007"'),
    ],
)
def test_words_that_are_no_value_of_the_type_stay_words(
    tmp_path: Path, kind: str, said: str, value: str
):
    """K04: the engine refuses them with a reason, better than a guess here."""
    text = (
        "rules:\n  - when: ['/^say (?P<x>.+)$/']\n    call: {tool: find, arguments: {x: '{x}'}}\n"
        "after: [{tool: find, say: Done.}]\n"
    )
    tool = ToolSpec("find", "", {"type": "object", "properties": {"x": {"type": kind}}})
    _, call = _ask(_model(tmp_path, text), _user(f"say {said}"), tools=[tool])
    assert call is not None
    assert call.arguments == f'{{"x": {value}}}'


def test_a_tool_that_is_not_offered_is_not_called(tmp_path: Path):
    """C14: what the engine withholds does not exist."""
    assert _ask(_model(tmp_path), _user("table for 4"), tools=()) == ("Pardon me?", None)


def test_a_result_is_told_with_its_fields(tmp_path: Path):
    """Whole numbers without a point, true as yes, lists joined."""
    text, call = _ask(_model(tmp_path), _user("x"), *_called("find", FOUND))
    assert (text, call) == ("I have s1 for 12, yes, a, 2.", None)


def test_the_first_entry_whose_values_fit_speaks_for_a_result(tmp_path: Path):
    text, _ = _ask(_model(tmp_path), _user("x"), *_called("find", '{"free": false}'))
    assert text == "Nothing free."


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ('{"status": "timed_out", "reason": "x"}', "Too slow."),
        ("still_running", "I'm still working on that."),
        (
            '{"status": "unknown", "reason": "x"}',
            "I'm sorry, I can't tell whether that went through.",
        ),
        ('{"status": "cancelled", "reason": "x"}', "I stopped that."),
        ('{"status": "failed", "reason": "x", "more": 1}', "That is done."),
        ('{"price": 3}', "That is done."),
        ("not json at all", "That is done."),
        ("[1, 2]", "That is done."),
    ],
)
def test_every_outcome_is_answered(tmp_path: Path, result: str, text: str):
    """Own words where the file has some, packaged ones where it has not."""
    assert _ask(_model(tmp_path), _user("x"), *_called("find", result)) == (text, None)


def test_a_failure_may_lead_to_another_call(tmp_path: Path):
    _, call = _ask(_model(tmp_path), _user("x"), *_called("find", '{"error": "no"}'))
    assert call == RequestedCall("rules_2", "find", '{"people": 1}')


def test_two_results_of_one_reply_are_both_told(tmp_path: Path):
    calls = (RequestedCall("a", "find", "{}"), RequestedCall("b", "book", "{}"))
    messages = [
        ChatMessage("assistant", "", calls),
        ChatMessage("tool", '{"free": false}', call_id="a"),
        ChatMessage("tool", "null", call_id="b"),
    ]
    assert _ask(_model(tmp_path), _user("x"), *messages) == ("Nothing free. Booked {it}.", None)


def test_a_message_that_the_tool_sent_does_not_hide_its_result(tmp_path: Path):
    """Else the look-up would be made again and again."""
    sent = ChatMessage("assistant", "I'm comparing.")
    messages = [_user("table for 2"), *_called("find", '{"free": false}'), sent]
    assert _ask(_model(tmp_path), *messages) == ("Nothing free.", None)


def test_yes_books_only_while_the_offer_is_the_latest_thing_that_worked(tmp_path: Path):
    model = _model(tmp_path)
    offer = [_user("table for 2"), *_called("find", FOUND), ChatMessage("assistant", "I have s1.")]
    assert _ask(model, _user("yes"))[1] is None
    _, call = _ask(model, *offer, _user("yes please"))
    assert call == RequestedCall("rules_2", "book", '{"slot": "s1"}')
    booked = [*offer, _user("yes"), *_called("book", "{}", 2), ChatMessage("assistant", "Booked.")]
    assert _ask(model, *booked, _user("yes"))[1] is None
    failed = [*offer, _user("more"), *_called("find", '{"error": "x"}', 2)]
    assert _ask(model, *failed, _user("yes"))[1] is not None


def test_a_rule_whose_values_are_missing_is_passed_over(tmp_path: Path):
    """A result without the field that the call needs, and a text about nothing."""
    model = _model(tmp_path)
    empty = [_user("table for 2"), *_called("find", "{}"), ChatMessage("assistant", "Done.")]
    assert _ask(model, *empty, _user("yes")) == ("Fine.", None)
    assert _ask(model, _user("which one")) == ("Pardon me?", None)


def test_variants_take_turns(tmp_path: Path):
    model = _model(tmp_path)
    first = [_user("what have you got"), ChatMessage("assistant", "Good.")]
    assert _ask(model, first[0])[0] == "Good."
    assert _ask(model, *first, _user("what have you got"))[0] == "Fine."


def test_a_message_that_was_cut_off_is_known(tmp_path: Path):
    """The rule's own words for it, and the fallback's."""
    model = _model(tmp_path)
    cut = [_user("opening hours"), ChatMessage("assistant", "We open at [interrupted]")]
    assert _ask(model, *cut, _user("what have you got"))[0] == "Go on."
    assert _ask(model, *cut, _user("tornadoes"))[0] == "I'll stop."
    whole = [_user("opening hours"), ChatMessage("assistant", "We open at nine.")]
    assert _ask(model, *whole, _user("tornadoes"))[0] == "Pardon me?"


@pytest.mark.parametrize("said", ["Repeat that", "Say that again?", "Pardon?"])
def test_repeat_says_the_last_message_again_whole_if_it_was_cut(tmp_path: Path, said: str):
    model = _model(tmp_path)
    cut = ChatMessage("assistant", "We open at [interrupted]")
    assert _ask(model, _user("x"), cut, _user(said))[0] == "We open at nine and close at five."
    whole = ChatMessage("assistant", "Hello there.")
    assert _ask(model, whole, _user(said))[0] == "Hello there."
    other = ChatMessage("assistant", "Something else [interrupted]")
    assert _ask(model, other, _user(said))[0] == "Something else"
    assert _ask(model, _user(said))[0] == "Pardon me?"


def test_a_cut_offer_is_repeated_with_its_values(tmp_path: Path):
    model = _model(tmp_path)
    cut = [*_called("find", FOUND), ChatMessage("assistant", "I have s1 for [interrupted]")]
    assert _ask(model, _user("x"), *cut, _user("repeat that"))[0] == "I have s1 for 12, yes, a, 2."


BAD = [
    ("rules:\n  - say: Hi.\n", [(2, "missing_key")]),
    ("rules:\n  - when: [hi]\n", [(2, "missing_key")]),
    ("rules:\n  - {when: ['/(/'], say: Hi.}\n", [(2, "bad_pattern")]),
    ("rules:\n  - {when: [''], say: Hi.}\n", [(2, "empty_text")]),
    ("rules:\n  - {when: [[a]], say: Hi.}\n", [(2, "empty_text")]),
    ("rules:\n  - {when: [hi], say: 'Hi {you}.'}\n", [(2, "bad_placeholder")]),
    ("rules:\n  - {when: [hi], say: 'Hi {}.'}\n", [(2, "bad_placeholder")]),
    ("rules:\n  - {when: [hi], say: 'Hi }.'}\n", [(2, "bad_placeholder")]),
    ("rules:\n  - {when: [hi], say: 'Hi {nope.x}.'}\n", [(2, "bad_placeholder")]),
    ("rules:\n  - {when: [hi], say: ''}\n", [(2, "wrong_type")]),
    ("rules:\n  - {when: [hi], say: }\n", [(2, "empty_text")]),
    ("rules:\n  - {when: [hi], say: {a: b}}\n", [(2, "wrong_type")]),
    ("rules:\n  - {when: [hi], sya: Hi.}\n", [(2, "missing_key"), (2, "unknown_key")]),
    ("rules:\n  - {when: [hi], needs: fnd, say: Hi.}\n", [(2, "unknown_tool")]),
    ("rules:\n  - {when: [hi], call: {tool: fnd}}\n", [(2, "unknown_tool")]),
    ("rules:\n  - {when: [hi], call: {tool: find}}\n", [(2, "no_answer")]),
    ("rules: []\nafter:\n  - {tool: find, outcome: okay, say: Hi.}\n", [(3, "unknown_value")]),
    ("rules: []\nafter:\n  - {tool: find}\n", [(3, "missing_key")]),
    ("rules: []\nsimilarity: 10\n", [(2, "out_of_range")]),
    ("similarity: 80\n", [(1, "missing_key")]),
    ("rules: []\nrules: []\n", [(2, "duplicate_key")]),
]


@pytest.mark.parametrize(("text", "expected"), BAD)
def test_a_mistake_in_the_file_is_told_with_its_place(
    tmp_path: Path, text: str, expected: list[tuple[int, str]]
):
    with pytest.raises(ProjectError) as caught:
        _model(tmp_path, text)
    assert [(p.place.line, p.code) for p in caught.value.problems] == sorted(expected)
