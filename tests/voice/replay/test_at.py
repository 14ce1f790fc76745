"""Start times of the caller's lines: reading, and counting from what happened."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.replay.at import ANCHORS, At, AtError, Happenings, parse_at


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4.5s", At(None, 4500)),
        ("0s", At(None, 0)),
        (".5s", At(None, 500)),
        ("250ms", At(None, 250)),
        ("1.5min", At(None, 90_000)),
        ("agent_starts", At("agent_starts")),
        ("agent_starts+1200ms", At("agent_starts", 1200)),
        (" agent-ends + 0.3s ", At("agent_ends", 300)),
        ("TOOL_ENDS", At("tool_ends")),
        ("#2:agent_starts+1s", At("agent_starts", 1000, 2)),
        ("# 3 : say_ends", At("say_ends", 0, 3)),
        ("greeting+1s", At("greeting", 1000)),
    ],
)
def test_an_expression_is_read(text: str, expected: At) -> None:
    assert parse_at(text, ("greeting",)) == expected


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("", "write 4.5s"),
        ("4.5", "Write 4.5s or 4.5ms"),
        ("agent_starts+300", "Write 300s or 300ms"),
        ("agent_start+1s", "did you mean agent_starts?"),
        ("xyzzy+1s", "there are agent_starts"),
        ("+1s", "write agent_starts+1s"),
        ("agent_ends-1s", "use + after an earlier anchor"),
        ("#0:agent_ends", "write #1:agent_ends"),
        ("agent_ends+soon", "is no duration"),
        ("5 parsecs", "is no duration"),
        ("25000min", "more than a day"),
        ("#:agent_ends", "can't be read"),
        ("agent starts", "can't be read"),
        ("agent_starts+", "can't be read"),
    ],
)
def test_a_wrong_expression_names_its_mend(text: str, mend: str) -> None:
    with pytest.raises(AtError, match=mend.replace("?", r"\?").replace("+", r"\+")):
        parse_at(text)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        at = parse_at(text)
    except AtError:
        return
    assert at.offset_ms >= 0


@given(
    st.sampled_from([None, *ANCHORS]),
    st.integers(0, 3_600_000),
    st.one_of(st.none(), st.integers(1, 9)),
)
def test_what_is_written_reads_back(anchor: str | None, offset: int, nth: int | None) -> None:
    at = At(anchor, offset, nth if anchor else None)
    assert parse_at(str(at)) == at


def test_a_time_is_known_at_once() -> None:
    assert Happenings().due_ms(At(None, 4500), 99_000) == 4500


def test_an_anchor_without_a_number_is_the_first_after_the_line_before() -> None:
    happenings = Happenings()
    at = At("agent_starts", 1200)
    assert happenings.due_ms(at, 0) is None
    happenings.note("agent_starts", 500)
    assert happenings.due_ms(at, 0) == 1700
    assert happenings.due_ms(at, 2000) is None
    happenings.note("agent_starts", 3000)
    assert happenings.due_ms(at, 2000) == 4200
    assert happenings.due_ms(at, 0) == 1700


def test_a_numbered_anchor_counts_from_the_connect() -> None:
    happenings = Happenings()
    at = At("tool_starts", 100, 2)
    happenings.note("tool_starts", 1000)
    assert happenings.due_ms(at, 5000) is None
    happenings.note("tool_starts", 4000)
    assert happenings.due_ms(at, 5000) == 4100
