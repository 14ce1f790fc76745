"""The limits that hold for every client protocol."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.wire.events import BadMessage
from voice.wire.json_guard import (
    MOST_CHARS,
    MOST_DEPTH,
    decode_base64,
    encode_object,
    quote,
    read_object,
    whole_number,
)

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def _code(message: str) -> str:
    read = read_object(message)
    return read.code if isinstance(read, BadMessage) else ""


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("", "not_json"),
        (" ", "not_json"),
        ("hello", "not_json"),
        ('{"a":', "not_json"),
        ('{"a":1} x', "not_json"),
        ('{"a":NaN}', "not_json"),
        ('{"a":Infinity}', "not_json"),
        ('{"a":1e999}', "not_json"),
        ('{"a":' + "9" * 5000 + "}", "not_json"),
        ('{"a":"\ud800"}', "not_json"),
        ("null", "not_object"),
        ("[]", "not_object"),
        ('"text"', "not_object"),
        ("7", "not_object"),
        ('{"a":"' + "x" * MOST_CHARS + '"}', "too_large"),
        ('{"a":' + "[" * 100_000 + "]" * 100_000 + "}", "too_deep"),
        ('{"a":' + "[" * 2000 + "]" * 2000 + "}", "too_deep"),
        ('{"a":' + "[" * MOST_DEPTH + "]" * MOST_DEPTH + "}", "too_deep"),
        ('{"a":[' + ",".join(["[]"] * 20_000) + "]}", "too_deep"),
    ],
)
def test_what_is_no_usable_object_has_one_stable_code(message: str, code: str) -> None:
    """H02, H13: empty text, wrong kinds, size and depth, before anything is believed."""
    assert _code(message) == code


@pytest.mark.parametrize(
    "message",
    [
        "{}",
        '{"a":{"b":[1,2,{"c":null}]}}',
        '{"a":' + "[" * (MOST_DEPTH - 1) + "]" * (MOST_DEPTH - 1) + "}",
        '{"a":[' + ",".join(["[]"] * 200) + "]}",
        json.dumps({"text": "[{" * 200}),
    ],
)
def test_an_object_within_the_limits_is_read_as_it_is(message: str) -> None:
    assert read_object(message) == json.loads(message)


@given(st.text())
def test_no_text_raises(message: str) -> None:
    """H02: whatever comes, it is an object or a refusal."""
    assert isinstance(read_object(message), dict | BadMessage)


@given(_JSON)
def test_whatever_json_can_hold_is_answered(value: object) -> None:
    read = read_object(json.dumps(value))
    assert isinstance(read, dict | BadMessage)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (8000, 8000),
        ("8000", 8000),
        (8000.0, 8000),
        (8000.5, None),
        ("8e3", None),
        ("-1", None),
        ("", None),
        ("８０００", None),
        ("9" * 400, None),
        (True, None),
        (None, None),
        ([], None),
        (math.inf, None),
    ],
)
def test_whole_numbers_come_as_numbers_or_as_text(value: object, number: int | None) -> None:
    """H11: platforms write the same number in three ways."""
    assert whole_number(value) == number


@pytest.mark.parametrize("text", ["", "AAAA", "//7+/v8="])
def test_base64_is_decoded(text: str) -> None:
    assert decode_base64(text) is not None


@pytest.mark.parametrize("text", ["A", "AAA", "A===", "AA A", "AAAA\n", "*", "ü", None, 5, b"AAAA"])
def test_what_is_not_exactly_base64_is_refused(text: object) -> None:
    assert decode_base64(text) is None


@given(st.dictionaries(st.text(), _JSON | st.binary() | st.sets(st.integers())))
def test_any_fields_are_written_as_json(fields: dict[str, object]) -> None:
    assert isinstance(json.loads(encode_object(fields)), dict)


@given(st.text(alphabet=st.characters()))
def test_any_text_is_quoted_as_one_json_string(text: str) -> None:
    assert isinstance(json.loads(quote(text)), str)


def test_text_without_a_unicode_form_is_written_with_a_substitute() -> None:
    assert json.loads(encode_object({"a": ["\ud800", {"b": "x\udfff"}]})) == {
        "a": ["?", {"b": "x?"}]
    }
