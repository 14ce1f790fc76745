"""Sentences out of a stream of tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.speaking.chunks import HARD_LIMIT, SentenceChunker


def chunked(*tokens: str) -> list[str]:
    chunker = SentenceChunker()
    chunks = [c for token in tokens for c in chunker.push(token)] + chunker.flush()
    text = "".join(tokens)
    assert "".join(c.text for c in chunks) == text
    for chunk in chunks:
        assert text[chunk.offset : chunk.offset + len(chunk.text)] == chunk.text
    return [c.text for c in chunks]


def test_dots_inside_amounts_and_titles_end_nothing() -> None:
    """L05"""
    assert chunked("It costs $29", ".95 at Dr", ". Klein. Next", ".") == [
        "It costs $29.95 at Dr. Klein. ",
        "Next.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "It is $29.95 today",
        "Ask Dr. Klein or Mrs. Ode",
        "Bring fruit, e.g. Apples, i.e. Something sweet",
        "Version 3.10 is out",
        "Look at www.a.b or https://x.y/z.html?a=1. or so",
        "The U.S. Navy and J. K. Rowling",
        "It is No. 5 of ten",
        "about 3 p.m. today",
        "1. Go to the door",
        "Well... maybe not",
    ],
)
def test_these_are_one_sentence(text: str) -> None:
    """L05: also when every character is a token."""
    assert chunked(text) == [text]
    assert chunked(*text) == [text]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Hello. How are you?", ["Hello. ", "How are you?"]),
        ('He said "Stop!" Then he left.', ['He said "Stop!" ', "Then he left."]),
        ("So do I. You too?", ["So do I. ", "You too?"]),
        ("We close at 8 p.m. Come soon.", ["We close at 8 p.m. ", "Come soon."]),
        ("Room 204. Thanks.", ["Room 204. ", "Thanks."]),
        ("**Bold end.** Next one.", ["**Bold end.** ", "Next one."]),
        ("Really?! Yes… Maybe.", ["Really?! ", "Yes… ", "Maybe."]),
        ("Ça va ? Oui !", ["Ça va ? ", "Oui !"]),
        ("« Ça va ? » Oui.", ["« Ça va ? » ", "Oui."]),
        ("您好。订单已发货！还有什么可以帮您？", ["您好。", "订单已发货！", "还有什么可以帮您？"]),
        ("「行きます。」はい。", ["「行きます。」", "はい。"]),
        ("यह ठीक है। धन्यवाद।", ["यह ठीक है। ", "धन्यवाद।"]),
        ("كيف حالك؟ بخير.", ["كيف حالك؟ ", "بخير."]),
        ("- Mon: 9-5\n- Tue: closed", ["- Mon: 9-5\n", "- Tue: closed"]),
        ("## Hours\n\nNine to five.", ["## Hours\n\n", "Nine to five."]),
        ("\n\nHello. You.", ["\n\nHello. ", "You."]),
    ],
)
def test_these_are_several(text: str, parts: list[str]) -> None:
    """L05, L07, L03: the same words whether the text comes at once or in characters."""
    assert chunked(text) == parts
    marks = " \n」"
    assert [p.strip(marks) for p in chunked(*text)] == [p.strip(marks) for p in parts]


def test_a_stop_of_a_script_without_spaces_ends_at_once() -> None:
    """L07: no waiting for the next token."""
    chunker = SentenceChunker()
    assert [c.text for c in chunker.push("您好。")] == ["您好。"]


def test_thai_without_stops_comes_in_the_end_or_at_a_space() -> None:
    """L07"""
    text = "สวัสดีครับ ยินดีต้อนรับ"
    assert chunked(text) == [text]
    long = text * 30
    assert max(len(part) for part in chunked(long)) <= HARD_LIMIT


def test_the_first_sentence_waits_for_one_token_at_most() -> None:
    """L05"""
    chunker = SentenceChunker()
    assert chunker.push("All is well.") == []
    assert [c.text for c in chunker.push(" And")] == ["All is well. "]


def test_code_and_tool_calls_written_as_text_are_chunks_of_their_own() -> None:
    """C15: also when split over tokens in any way."""
    text = 'Sure. ```json\n{"name":"lookup"}\n``` One <tool_call>{"a": 1}</tool_call> second.'
    for tokens in ([text], list(text)):
        chunker = SentenceChunker()
        chunks = [c for token in tokens for c in chunker.push(token)] + chunker.flush()
        assert "".join(c.text for c in chunks) == text
        spoken = "".join(c.text for c in chunks if c.spoken)
        assert spoken.split() == ["Sure.", "One", "second."]


def test_code_that_is_never_closed_is_not_spoken() -> None:
    """C15: and never grows the buffer."""
    chunker = SentenceChunker()
    chunks = chunker.push("Sure. <function=lookup>")
    for _ in range(5000):
        chunks += chunker.push('{"id": 7}')
    assert len(chunker._buffer) < 2 * HARD_LIMIT
    chunks += chunker.flush()
    assert "".join(c.text for c in chunks if c.spoken) == "Sure. "


def test_text_without_any_stop_is_cut_at_a_clause_or_a_space() -> None:
    words = "and so it goes on without an end " * 40
    assert all(len(p) <= HARD_LIMIT for p in chunked(words))
    assert all(p.endswith(" ") for p in chunked(words)[:-1])
    clauses = "it goes on and on, " * 40
    assert all(p.endswith(", ") for p in chunked(clauses)[:-1])
    assert all(len(p) <= HARD_LIMIT for p in chunked("x" * 5000))


TOKENS = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.sampled_from(
            [". ", "! ", "? ", "。", "\n", "Dr. ", "$5.50", "```", "``", "`", "<function", "</",
             "</function>", "~~~", "e.g. ", " ", "A", "word ", "…", '"', "**"]
        ),
    ),
    max_size=40,
)  # fmt: skip


@given(TOKENS)
def test_the_chunks_joined_are_the_text(tokens: list[str]) -> None:
    """L05: whatever comes, nothing is lost, added or moved."""
    chunked(*tokens)


@given(TOKENS)
def test_how_text_is_split_into_tokens_does_not_matter_for_what_is_spoken(
    tokens: list[str],
) -> None:
    """L03: marks split over tokens."""

    def spoken(parts: list[str]) -> str:
        chunker = SentenceChunker()
        chunks = [c for part in parts for c in chunker.push(part)] + chunker.flush()
        return "".join(c.text for c in chunks if c.spoken).replace(" ", "").replace("\n", "")

    text = "".join(tokens)
    if len(text) < 200:
        assert "".join(spoken([text]).split()) == "".join(spoken(list(text)).split())


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("I will book it.", True),
        ("I will book it. ", True),
        ('She said "yes."', True),
        ("It costs $29.", False),  # the cents may follow
        ("It costs $29. ", True),
        ("You should see Dr.", False),
        ("Let me", False),
        ("```json\n{} .", False),
        ("", False),
    ],
)
def test_a_pause_gives_what_reads_like_a_whole_sentence(text: str, given: bool) -> None:
    """L05, F06: a model that calls a tool writes no next word."""
    chunker = SentenceChunker()
    before = chunker.push(text)
    assert [chunk.text for chunk in chunker.pause()] == ([text] if given else [])
    after = [*chunker.push("Next one."), *chunker.flush()]
    assert "".join(chunk.text for chunk in [*before, *after]) == (
        "Next one." if given else text + "Next one."
    )
