"""Arguments: parsed once, strictly, and brought to one form."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, model_validator

from runtime import ToolResult, tool
from runtime.tools.arguments import (
    ArgumentsRefused,
    canonical_json,
    parse_arguments,
    parse_call,
)
from runtime.tools.decorator import definition_of

ID: dict[str, Any] = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "note": {"type": "string"}},
    "required": ["id"],
    "additionalProperties": False,
}


def refused(raw: str) -> str:
    with pytest.raises(ArgumentsRefused) as caught:
        parse_arguments(raw, ID)
    return str(caught.value)


@pytest.mark.parametrize(
    "raw",
    [
        "[]",
        "null",
        '"x"',
        '{"a":1}{"a":2}',
        '{"id": 7,}',
        '{"id":"7<|end|>"}',
        '{"id": NaN}',
        '{"id": Infinity}',
        '{"id": 1e999}',
        '{"id": 7, "note": "' + "x" * 2_000_000 + '"}',
        '{"id": 7, "extra": 1}',
        '{"id": 7, "id": 8}',
        '{"id": true}',
        '{"date": "2026-0',
        "",
        "{}",
        '"\\"{\\\\\\"id\\\\\\": 7}\\""',
        '{"id": 7, "note": "\\ud800"}',
        "[" * 100_0,
        '{"id": 7.5}',
        "{'id': 7}",
        '{"id": 7} extra',
    ],
)
def test_what_is_not_one_fitting_object_is_refused_with_a_short_reason(raw: str) -> None:
    """C11, C13"""
    reason = refused(raw)
    assert 0 < len(reason) < 200


def test_reasons_say_what_to_do_and_never_repeat_the_value() -> None:
    """C13"""
    assert refused('{"note": "secret"}') == "missing: id"
    assert refused('{"id": "secret"}') == "id: must be of type integer"
    assert refused('{"id": 1, "x": "secret"}') == "only these arguments exist: id, note"


def test_an_object_encoded_twice_is_unwrapped_once() -> None:
    """C12"""
    parsed = parse_arguments('"{\\"id\\": 7}"', ID)
    assert (parsed.values, parsed.unwrapped) == ({"id": 7}, True)
    assert not parse_arguments('{"id": 7}', ID).unwrapped


def test_values_that_mean_the_same_come_out_equal() -> None:
    """C09: key order, whole floats and declared defaults make no difference."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "item": {"type": "string"},
            "qty": {"type": "integer"},
            "price": {"type": "number"},
        },
        "required": ["item"],
        "additionalProperties": False,
    }
    defaults = {"qty": 1, "price": 2.0, "callback": object()}
    texts = [
        '{"item":"lamp","qty":1}',
        '{"qty":1.0,"item":"lamp"}',
        '{"item":"lamp"}',
        '{"item":"lamp","price":2}',
    ]
    forms = {canonical_json(parse_arguments(text, schema, defaults).values) for text in texts}
    assert forms == {'{"item":"lamp","price":2.0,"qty":1}'}


def test_no_arguments_may_be_written_as_nothing() -> None:
    assert parse_arguments(" ", {"type": "object"}).values == {}


@given(st.text())
def test_whatever_is_written_is_parsed_or_refused(raw: str) -> None:
    """C13"""
    try:
        parsed = parse_arguments(raw, {})
    except ArgumentsRefused:
        return
    assert isinstance(parsed.values, dict)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), _json, max_size=4))
def test_objects_survive_unchanged(value: dict[str, Any]) -> None:
    raw = json.dumps(value)
    try:
        parsed = parse_arguments(raw, {})
    except ArgumentsRefused:
        assert "Infinity" in raw or "\\ud" in raw
        return
    assert parsed.values == value


def test_what_was_parsed_once_can_be_parsed_again() -> None:
    """R8: ``T | None = None`` has no type for ``null``; a held call's arguments hold it."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "note": {"type": "string"}},
        "required": ["id"],
        "additionalProperties": False,
    }
    once = parse_arguments('{"id": 7}', schema, {"note": None}).values
    assert once == {"id": 7, "note": None}
    assert parse_arguments(canonical_json(once), schema, {"note": None}).values == once
    with pytest.raises(ArgumentsRefused, match="note"):
        parse_arguments('{"id": 7, "note": null}', schema, {"note": "none"})
    with pytest.raises(ArgumentsRefused, match="id"):
        parse_arguments('{"id": null}', schema, {"note": None})


def test_a_fault_deep_inside_names_what_is_known_there() -> None:
    inner = {"type": "object", "properties": {"city": {}}, "additionalProperties": False}
    schema: dict[str, Any] = {"type": "object", "properties": {"to": inner}}
    with pytest.raises(ArgumentsRefused, match="only these arguments exist: city"):
        parse_arguments('{"to": {"town": "x"}}', schema)


def test_a_call_is_refused_for_what_only_the_annotation_can_tell() -> None:
    """C13: before a confirmation or a run; the reason names the argument and not the value."""

    class Range(BaseModel):
        first: int
        last: int

        @model_validator(mode="after")
        def ordered(self) -> "Range":
            if self.first > self.last:
                raise ValueError("first must not be after last")
            return self

    @tool(description="x", rich_schema=True)
    async def book(nights: Range) -> ToolResult:
        return ToolResult()

    definition = definition_of(book)
    assert definition is not None
    good = parse_call('{"nights": {"first": 1, "last": 3}}', definition)
    assert good.values == {"nights": {"first": 1, "last": 3}}
    with pytest.raises(ArgumentsRefused, match="nights: .*first must not be after last") as caught:
        parse_call('{"nights": {"first": 4711, "last": 3}}', definition)
    assert "4711" not in str(caught.value)
