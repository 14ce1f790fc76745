"""Annotations beyond the type table: choices, and what ``rich_schema=True`` keeps."""

import datetime
from enum import Enum, IntEnum, StrEnum
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from runtime import ToolContext, ToolResult, tool
from runtime.agent import Json
from runtime.errors import ToolError
from runtime.testing import ToolHarness, ToolReport
from runtime.tools.arguments import ArgumentsRefused
from runtime.tools.decorator import definition_of
from voice.replay.virtual_loop import run_virtual


class Speed(StrEnum):
    STANDARD = "standard"
    EXPRESS = "express"


class Floor(IntEnum):
    GROUND = 0
    FIRST = 1


class Address(BaseModel):
    street: str
    floor: int = Field(default=0, ge=0, le=60)


class Order(BaseModel):
    item: str
    to: Address


def schema_of(fn: object) -> dict[str, Json]:
    found = definition_of(fn)
    assert found is not None
    return found.parameters


def run(fn: object, arguments: dict[str, Json]) -> ToolReport:
    async def main() -> ToolReport:
        return await ToolHarness().run(fn, arguments)

    return run_virtual(main())


def test_choices_stay_strings_and_name_what_may_be_written() -> None:
    """R8: a ``Literal`` or ``Enum`` is a string as the table says, with its ``enum``."""

    @tool(description="x")
    async def ship(
        how: Literal["standard", "express"],
        speed: Speed,
        floor: Floor,
        maybe: Speed | None = None,
        context: ToolContext | None = None,
    ) -> ToolResult:
        return ToolResult()

    assert schema_of(ship)["properties"] == {
        "how": {"type": "string", "enum": ["standard", "express"]},
        "speed": {"type": "string", "enum": ["standard", "express"]},
        "floor": {"type": "string", "enum": ["GROUND", "FIRST"]},
        "maybe": {"type": "string", "enum": ["standard", "express"]},
    }


def test_the_function_gets_what_its_annotation_promises() -> None:
    """R8: members of the enum and values of the literal, not the words for them."""
    got: list[object] = []

    @tool(description="x")
    async def ship(
        speed: Speed, floor: Floor, days: Literal[1, 2], gift: Speed | None = None
    ) -> ToolResult:
        got.extend([speed, floor, days, gift])
        return ToolResult()

    assert run(ship, {"speed": "express", "floor": "FIRST", "days": "2"}).outcome == "ok"
    assert got == [Speed.EXPRESS, Floor.FIRST, 2, None]
    assert [type(value) for value in got] == [Speed, Floor, int, type(None)]


def test_a_default_that_is_left_out_is_the_same_call_as_one_that_is_written() -> None:
    """Two calls that mean the same have the same key, so that neither is run twice."""
    got: list[Speed] = []

    @tool(description="x")
    async def ship(speed: Speed = Speed.STANDARD) -> ToolResult:
        got.append(speed)
        raise RuntimeError  # not fulfilled: the wish stays the same one

    async def main() -> list[str]:
        harness = ToolHarness()
        reports = [await harness.run(ship, given) for given in ({}, {"speed": "standard"})]
        reports.append(await harness.run(ship, {"speed": "express"}))
        return [report.idempotency_key for report in reports]

    keys = run_virtual(main())
    assert keys[0] == keys[1] != keys[2]
    assert got == [Speed.STANDARD, Speed.STANDARD, Speed.EXPRESS]


def test_a_word_that_is_no_choice_runs_nothing() -> None:
    """C13: the reason names the choices and not the word."""
    ran: list[str] = []

    @tool(description="x")
    async def ship(how: Literal["standard", "express"]) -> ToolResult:
        ran.append(how)
        return ToolResult()

    with pytest.raises(ArgumentsRefused) as refused:
        run(ship, {"how": "by dragon"})
    assert "standard" in str(refused.value)
    assert "dragon" not in str(refused.value)
    assert ran == []


def test_choices_that_can_not_be_told_apart_are_plain_strings() -> None:
    """R8: anything else is a string."""

    class Empty(Enum):
        pass

    @tool(description="x")
    async def odd(same: Literal[1, "1"], none: Empty) -> ToolResult:
        return ToolResult()

    assert schema_of(odd)["properties"] == {"same": {"type": "string"}, "none": {"type": "string"}}


def test_without_rich_schema_models_and_maps_are_strings() -> None:
    """R8: the string fallback, and the function gets the text."""
    got: list[object] = []

    @tool(description="x")
    async def place(
        order: Order, extra: dict[str, int], at: datetime.date, many: list[int]
    ) -> ToolResult:
        got.append(order)
        return ToolResult()

    properties = schema_of(place)["properties"]
    assert properties == {name: {"type": "string"} for name in ("order", "extra", "at", "many")}
    assert run(place, {"order": "a lamp", "extra": "", "at": "", "many": ""}).outcome == "ok"
    assert got == ["a lamp"]


def test_rich_schema_keeps_the_schemas_of_models_maps_and_lists() -> None:
    """R8, R9: what is outside of the table has its own schema, what they share is there once."""

    @tool(description="x", rich_schema=True)
    async def place(
        order: Order,
        addresses: list[Address],
        extra: dict[str, int],
        at: datetime.date,
        name: str,
        speed: Speed,
    ) -> ToolResult:
        return ToolResult()

    schema: Any = schema_of(place)
    found = schema["properties"]
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["order", "addresses", "extra", "at", "name", "speed"]
    assert found["order"] == {"$ref": "#/$defs/Order"}
    assert found["addresses"] == {"type": "array", "items": {"$ref": "#/$defs/Address"}}
    assert found["extra"] == {"type": "object", "additionalProperties": {"type": "integer"}}
    assert found["at"] == {"type": "string", "format": "date"}
    assert found["name"] == {"type": "string"}
    assert found["speed"] == {"type": "string", "enum": ["standard", "express"]}
    assert set(schema["$defs"]) == {"Order", "Address"}
    assert schema["$defs"]["Address"]["properties"]["floor"]["maximum"] == 60


def test_a_rich_tool_gets_models_and_its_result_is_recorded() -> None:
    got: list[object] = []

    @tool(description="x", rich_schema=True)
    async def place(
        order: Order, extra: dict[str, int], at: datetime.date, to: Address | None = None
    ) -> ToolResult:
        got.extend([order, extra, at, to])
        return ToolResult({"floor": order.to.floor})

    arguments: dict[str, Json] = {
        "order": {"item": "lamp", "to": {"street": "Hafenweg", "floor": 3}},
        "extra": {"bulbs": 2},
        "at": "2026-03-01",
    }
    report = run(place, arguments)
    assert (report.outcome, report.result) == ("ok", {"floor": 3})
    order = Order(item="lamp", to=Address(street="Hafenweg", floor=3))
    assert got == [order, {"bulbs": 2}, datetime.date(2026, 3, 1), None]


@pytest.mark.parametrize(
    "order",
    [
        {"item": "lamp"},
        {"item": "lamp", "to": {"street": "Hafenweg", "floor": 61}},
        {"item": 3, "to": {"street": "Hafenweg"}},
        [],
        "lamp",
    ],
)
def test_what_is_no_such_model_runs_nothing(order: Json) -> None:
    """C13: checked before the function is called, and the value is not repeated."""
    ran: list[Order] = []

    @tool(description="x", rich_schema=True)
    async def place(order: Order) -> ToolResult:
        ran.append(order)
        return ToolResult()

    with pytest.raises(ArgumentsRefused) as refused:
        run(place, {"order": order})
    assert "Hafenweg" not in str(refused.value)
    assert ran == []


def test_what_only_a_validator_can_tell_is_a_failure_with_its_place() -> None:
    """The text of an author's validator may hold what the caller said: it is not told."""
    ran: list[object] = []

    class Card(BaseModel):
        number: int

        def model_post_init(self, context: Any, /) -> None:
            raise RuntimeError(f"no such card: {self.number}")

    @tool(description="x", rich_schema=True)
    async def lock(card: Card) -> ToolResult:
        ran.append(card)
        return ToolResult()

    definition = definition_of(lock)
    assert definition is not None
    with pytest.raises(ToolError, match="card") as caught:
        run_virtual(definition.fn(card={"number": 4711}))
    assert "4711" not in str(caught.value)
    assert ran == []
