"""Where reference files are cut."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.knowledge.chunking import Chunk, chunk_markdown


def _texts(markdown: str, size: int = 1000, overlap: int = 0) -> list[str]:
    return [chunk.text for chunk in chunk_markdown(markdown, "a.md", size, overlap)]


def test_each_section_is_a_chunk_that_knows_its_headings_and_place():
    markdown = (
        "Intro.\n\n# Fees\n\nAbout fees.\n\n## Late fee\n\nTen euros.\n\nHours\n=====\n\nAll day.\n"
    )
    assert chunk_markdown(markdown, "references/a.md") == (
        Chunk("Intro.", "references/a.md", (), 0, 1),
        Chunk("About fees.", "references/a.md", ("Fees",), 1, 5),
        Chunk("Ten euros.", "references/a.md", ("Fees", "Late fee"), 2, 9),
        Chunk("All day.", "references/a.md", ("Hours",), 3, 14),
    )


def test_a_heading_loses_its_markup():
    (chunk,) = chunk_markdown("# **Fees** for [`cards`](x.md) {#fees}\n\nTen.", "a.md")
    assert chunk.heading == "Fees for cards"


def test_a_heading_with_nothing_below_is_kept_as_a_text():
    """What is said only in a heading can be found as well."""
    first, second = chunk_markdown("# Hours\n\n## Closed on Sundays\n\n## Today\n\nOpen.", "a.md")
    assert (first.text, first.headings) == ("Closed on Sundays", ("Hours",))
    assert (second.text, second.headings) == ("Open.", ("Hours", "Today"))


def test_a_title_above_sections_is_no_chunk_of_its_own():
    assert _texts("# Title\n\n## Part\n\nText.") == ["Text."]


def test_front_matter_and_comments_are_left_out_and_lines_stay_right():
    markdown = "---\ntitle: x\n---\n<!-- to do\nlater -->\nOne <!-- hidden --> two.\n"
    (chunk,) = chunk_markdown(markdown, "a.md")
    assert (chunk.text, chunk.line) == ("One two.", 6)


def test_a_comment_in_code_is_code():
    (text,) = _texts("```html\n<!-- shown -->\n```\n")
    assert "<!-- shown -->" in text


def test_a_hash_in_code_is_no_heading():
    (chunk,) = chunk_markdown("```\n# comment\n```\n", "a.md")
    assert chunk.headings == ()


def test_text_is_nfc_with_plain_line_ends_and_no_control_characters():
    assert _texts("Cafe\u0301\r\n\r\nA\x00B\x0c\ufeff\r") == ["Café\n\nAB"]


def test_paragraphs_stay_together_while_they_fit():
    assert _texts("one one\n\ntwo two\n\nthree", size=16) == ["one one\n\ntwo two", "three"]


def test_a_long_paragraph_is_cut_between_sentences_then_words_then_letters():
    assert _texts("First one. Second is here. Third.", size=20) == [
        "First one.",
        "Second is here.",
        "Third.",
    ]
    assert _texts("alpha beta gamma delta", size=11) == ["alpha beta", "gamma delta"]
    assert _texts("abcdefghij kl", size=4) == ["abcd", "efgh", "ij", "kl"]


def test_a_long_list_is_cut_between_its_lines():
    assert _texts("- one two\n- three\n- four", size=18) == ["- one two\n- three", "- four"]


def test_a_wrapped_paragraph_is_one_line_and_a_table_keeps_its_lines():
    assert _texts("One\ntwo\n- - -\nthree") == ["One two\n\nthree"]
    table = "| day | hours |\n|-----|-------|\n| Mon | nine |"
    assert _texts(table) == [table]
    assert _texts("day | hours\n--- | :---:\nMon | nine") == [
        "day | hours\n--- | :---:\nMon | nine"
    ]


def test_a_chunk_begins_with_the_whole_words_the_one_before_ended_with():
    first, second = _texts("One two three four five. Six seven.", size=24, overlap=12)
    assert (first, second) == ("One two three four five.", "four five. Six seven.")


def test_nothing_overlaps_across_a_heading():
    assert _texts("# A\n\nOne two.\n\n# B\n\nThree.", overlap=10) == ["One two.", "Three."]


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (10, 10), (10, -1), (10, 11)])
def test_an_overlap_that_leaves_no_room_is_refused(size: int, overlap: int):
    with pytest.raises(ValueError, match="chunk_overlap"):
        chunk_markdown("x", "a.md", size, overlap)


@pytest.mark.parametrize("markdown", ["", "\n\n", "---\na: 1\n---\n", "<!-- x -->", "***\n"])
def test_a_file_that_says_nothing_has_no_chunks(markdown: str):
    assert _texts(markdown) == []


_MARKDOWN = st.lists(
    st.one_of(
        st.sampled_from(
            ["# ", "## ", "\n\n", "\n", " ", ". ", "- ", "> ", "```", "<!--", "-->", "|a|", "---"]
        ),
        st.text(max_size=12),
    ),
    max_size=40,
).map("".join)


@given(_MARKDOWN, st.integers(1, 60), st.integers(0, 59))
def test_no_chunk_is_empty_or_too_long_or_out_of_order(markdown: str, size: int, overlap: int):
    chunks = chunk_markdown(markdown, "a.md", size, overlap % size)
    assert [chunk.position for chunk in chunks] == list(range(len(chunks)))
    for chunk in chunks:
        assert 0 < len(chunk.text) <= size and chunk.text.strip()
        assert unicodedata.is_normalized("NFC", chunk.text)


@given(st.lists(st.from_regex(r"\A[a-z]{1,8}[.]?\Z"), min_size=1, max_size=60), st.integers(9, 50))
def test_no_word_is_lost_or_cut_that_fits(words: list[str], size: int):
    assert " ".join(_texts(" ".join(words), size)).split() == words
