"""Calls printed as text are not spoken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.models.call_text import CallTextFilter

CALL = '{"name": "lookup", "arguments": {"id": 7}}'


def _spoken(pieces: list[str]) -> tuple[str, int]:
    calls = CallTextFilter()
    text = "".join(calls.push(piece) for piece in pieces) + calls.flush()
    return text, calls.removed


CASES = [
    (f"Sure. ```json\n{CALL}\n``` One second.", "Sure. One second.", 1),
    (f"Sure.\n```\n[{CALL}, {CALL}]\n```", "Sure.\n", 1),
    ("```tool_code\nprint(lookup(7))\n```Done.", "Done.", 1),
    ('<function=lookup>{"id": 7}</function>', "", 1),
    ("Yes <tool_call>\nlookup\n</tool_call> no", "Yes no", 1),
    ("Hm. <|python_tag|>lookup.call(id=7)", "Hm. ", 1),
    ("Hm. [TOOL_CALLS][{}]", "Hm. ", 1),
    (f"{CALL}", "", 1),
    (f"One {CALL} two", "One two", 1),
    ('Cut ```json\n{"name": "lookup", "argu', "Cut ", 1),
    ("Two: <tool_call>a</tool_call> <tool_call>b</tool_call> end", "Two: end", 2),
    # Not calls: they go on as they are, how they are spoken is decided elsewhere.
    ('Say ```json\n{"a": 1}\n``` now', 'Say ```json\n{"a": 1}\n``` now', 0),
    ("Use ```python\nx = 1\n``` now", "Use ```python\nx = 1\n``` now", 0),
    ('A {"name": "Zoe"} b', 'A {"name": "Zoe"} b', 0),
    ("a < b, {x} and `c`", "a < b, {x} and `c`", 0),
    ("ends with `", "ends with `", 0),
    ("ends with {", "ends with {", 0),
]


@pytest.mark.parametrize(("text", "spoken", "removed"), CASES)
def test_calls_are_taken_out_and_everything_else_stays(text: str, spoken: str, removed: int):
    """C15."""
    assert _spoken([text]) == (spoken, removed)


@given(st.sampled_from(CASES), st.lists(st.integers(0, 80), max_size=8))
def test_it_does_not_matter_how_the_text_is_cut(case: tuple[str, str, int], cuts: list[int]):
    """C15: models stream a few characters at a time."""
    text, spoken, removed = case
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[a:b] for a, b in zip(edges, edges[1:], strict=False)]
    assert _spoken(pieces) == (spoken, removed)


@given(st.text(st.characters(exclude_characters="`<[{")), st.integers(1, 5))
def test_ordinary_text_passes_at_once_and_unchanged(text: str, size: int):
    calls = CallTextFilter()
    for at in range(0, len(text), size):
        assert calls.push(text[at : at + size]) == text[at : at + size]
    assert calls.flush() == ""


def test_a_block_that_never_ends_is_not_held_for_ever():
    calls = CallTextFilter()
    text = "```" + "x" * 9000
    assert calls.push(text) == text
