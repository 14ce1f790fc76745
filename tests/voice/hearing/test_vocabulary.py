"""Token ids to text and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import ProviderError
from voice.hearing.vocabulary import END, START, Vocabulary


def entry(piece: bytes) -> bytes:
    size = len(piece)
    if size < 128:
        return bytes([size]) + piece
    return bytes([128 + size % 128, size // 128]) + piece


MARK = "\u2581".encode()
PIECES = [b"<unk>", b"<s>", b"</s>", *(bytes([byte]) for byte in range(256))]
LEARNT = [b"ay", MARK + b"o", b"k", MARK + b"ok", MARK + b"okay", b"x" * 200, b".", MARK, b"o"]
VOCABULARY = Vocabulary(b"".join(map(entry, PIECES + LEARNT)))


def test_pieces_are_merged_in_the_order_they_were_learnt() -> None:
    tokens = VOCABULARY.tokens("okay")
    assert VOCABULARY.text(tokens) == "okay"
    # "ay" and " o" come before " ok": k stays alone until " o" meets it, then " ok" meets "ay"
    assert tokens == (263,)


def test_entries_of_128_bytes_and_more_have_a_length_of_two_bytes() -> None:
    assert VOCABULARY.text((264,)) == "x" * 200
    assert len(VOCABULARY) == len(PIECES) + len(LEARNT)


def test_special_and_unknown_ids_leave_nothing_in_the_text() -> None:
    assert VOCABULARY.text((START, 263, END, 0, 99_999, -5)) == "okay"


def test_broken_utf8_leaves_nothing_in_the_text() -> None:
    assert VOCABULARY.text((3 + 0xE2, 3 + 0x99, 263)) == "okay"


@given(st.text(st.characters(exclude_characters="\u2581", exclude_categories=("Cs",)), max_size=20))
def test_any_text_survives_as_bytes_where_no_piece_fits(text: str) -> None:
    back = VOCABULARY.text(VOCABULARY.tokens(text))
    assert back == text.strip() or back == text.replace(" ", " ").strip()


@pytest.mark.parametrize("data", [b"", b"\x05ab", b"\x80", entry(b"<unk>")])
def test_a_file_that_is_no_vocabulary_is_refused(data: bytes) -> None:
    with pytest.raises(ProviderError):
        Vocabulary(data)
