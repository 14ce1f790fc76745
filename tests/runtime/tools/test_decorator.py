"""``@tool``: what it refuses, and the schema it derives."""

from enum import StrEnum
from typing import Any, List, Optional  # noqa: UP035

import pytest

from runtime import Button, ToolContext, ToolResult, tool
from runtime.errors import ToolDefinitionError
from runtime.tools.arguments import ArgumentsRefused, parse_call
from runtime.tools.decorator import definition_of
from runtime.tools.definition import ToolDef


def define(fn: object) -> ToolDef:
    found = definition_of(fn)
    assert found is not None
    return found


def test_a_bare_tool_is_refused_with_file_line_and_name() -> None:
    """R1, D7"""
    with pytest.raises(ToolDefinitionError) as caught:

        @tool
        async def nameless() -> ToolResult:
            return ToolResult()

    assert "test_decorator.py:" in str(caught.value)
    assert "nameless" in str(caught.value)
    assert '@tool(description="…")' in str(caught.value)


@pytest.mark.parametrize("description", [None, "", "  "])
def test_a_tool_without_description_is_refused(description: str | None) -> None:
    """R1, D7"""
    with pytest.raises(ToolDefinitionError, match="described"):

        @tool(description=description)
        async def described() -> ToolResult:
            return ToolResult()


def test_a_positional_description_is_refused() -> None:
    """R1: keyword only."""
    with pytest.raises(ToolDefinitionError, match=r"test_decorator\.py:\d+: "):
        tool("Look it up")


def test_a_plain_function_is_refused() -> None:
    """R2, D7"""
    with pytest.raises(ToolDefinitionError, match=r"test_decorator\.py:\d+: plain: .*async def"):

        @tool(description="x")
        def plain() -> ToolResult:
            return ToolResult()


def test_another_return_type_is_refused() -> None:
    """R3"""
    with pytest.raises(ToolDefinitionError, match="ToolResult"):

        @tool(description="x")
        async def wrong() -> dict[str, Any]:
            return {}


@pytest.mark.parametrize(
    "options",
    [
        {"on_interrupt": "maybe"},
        {"timeout": 0},
        {"timeout": -1},
        {"timeout": 1e999},
        {"timeout": "10"},
        {"timeout": True},
        {"filler": 3},
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ToolDefinitionError):

        @tool(description="x", **options)
        async def fine() -> ToolResult:
            return ToolResult()


def test_parameters_that_no_model_can_fill_are_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="args"):

        @tool(description="x")
        async def spread(*args: str) -> ToolResult:
            return ToolResult()


def test_the_schema_follows_the_type_table() -> None:
    """R4, R7, R8, R9"""

    class Odd:
        pass

    @tool(description="  All kinds. ", on_interrupt="finish", timeout=3, filler="Wait.")
    async def kinds(
        text: str,
        count: int,
        share: float,
        sure: bool,
        names: list[str],
        things: list,  # type: ignore[type-arg]
        maybe: int | None,
        perhaps: Optional[str],  # noqa: UP045
        odd: Odd,
        mixed: int | str,
        limit: int = 5,
        context: ToolContext = None,  # type: ignore[assignment]
    ) -> ToolResult:
        return ToolResult()

    found = define(kinds)
    assert found.name == "kinds"
    assert found.description == "All kinds."
    assert (found.on_interrupt, found.timeout_s, found.filler) == ("finish", 3, "Wait.")
    assert found.place.file.endswith("test_decorator.py")
    assert found.parameters == {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "count": {"type": "integer"},
            "share": {"type": "number"},
            "sure": {"type": "boolean"},
            "names": {"type": "array", "items": {"type": "string"}},
            "things": {"type": "array"},
            "maybe": {"type": "integer"},
            "perhaps": {"type": "string"},
            "odd": {"type": "string"},
            "mixed": {"type": "string"},
            "limit": {"type": "integer"},
        },
        "required": [
            "text",
            "count",
            "share",
            "sure",
            "names",
            "things",
            "maybe",
            "perhaps",
            "odd",
            "mixed",
        ],
        "additionalProperties": False,
    }
    assert dict(found.defaults) == {"limit": 5}


def test_an_annotation_that_can_not_be_read_is_anything_else() -> None:
    """R8"""

    @tool(description="x")
    async def later(count: int, what: "NotThere") -> "ToolResult":  # type: ignore[name-defined]  # noqa: F821
        return ToolResult()

    properties = define(later).parameters["properties"]
    assert properties == {"count": {"type": "integer"}, "what": {"type": "string"}}


def test_the_function_stays_callable_and_the_names_are_importable() -> None:
    """R3"""

    @tool(description="x")
    async def echo(text: str) -> ToolResult:
        return ToolResult(text)

    coroutine = echo("hi")
    with pytest.raises(StopIteration) as stop:
        coroutine.send(None)
    assert stop.value.value == ToolResult("hi")
    assert Button("Yes", "yes").ref is None
    assert definition_of(define) is None


def test_a_filler_of_a_type_of_the_author_is_a_plain_string() -> None:
    """It crosses to a process that does not know the type."""

    class Line(StrEnum):
        WAIT = "One moment."

    @tool(description="x", filler=Line.WAIT)
    async def look() -> ToolResult:
        return ToolResult()

    filler = define(look).filler
    assert (filler, type(filler)) == ("One moment.", str)


def test_only_a_list_of_texts_has_items() -> None:
    """R8: the table names ``list[str]`` and ``list``; other lists are anything else."""

    @tool(description="x")
    async def lists(
        texts: list[str],
        older: List[str],  # noqa: UP006
        bare: List,  # type: ignore[type-arg]  # noqa: UP006
        numbers: list[int],
        things: dict[str, str],
        maybe: list[str] | None = None,
    ) -> ToolResult:
        return ToolResult()

    of_texts = {"type": "array", "items": {"type": "string"}}
    assert define(lists).parameters["properties"] == {
        "texts": of_texts,
        "older": of_texts,
        "bare": {"type": "array"},
        "numbers": {"type": "string"},
        "things": {"type": "string"},
        "maybe": of_texts,
    }


def test_one_annotation_that_can_not_be_read_spoils_no_other() -> None:
    """R8: as under ``from __future__ import annotations`` with a name of a type checker's."""
    names: dict[str, Any] = {"tool": tool, "ToolResult": ToolResult}
    text = (
        "from __future__ import annotations\n"
        "@tool(description='x')\n"
        "async def look(count: int, share: float | None, odd: NotThere) -> ToolResult: ...\n"
    )
    exec(text, names)
    assert define(names["look"]).parameters["properties"] == {
        "count": {"type": "integer"},
        "share": {"type": "number"},
        "odd": {"type": "string"},
    }


def test_a_context_that_can_not_be_given_by_keyword_is_refused() -> None:
    """R4"""
    with pytest.raises(ToolDefinitionError, match="context"):

        @tool(description="x")
        async def look(context: ToolContext, /) -> ToolResult:
            return ToolResult()


def test_a_hook_knows_the_entry_that_it_is_for() -> None:
    """R50"""

    @tool(description="x")
    async def run_after_setting_card_label(context: ToolContext) -> ToolResult:
        return ToolResult()

    @tool(description="x")
    async def run_after(context: ToolContext) -> ToolResult:
        return ToolResult()

    assert define(run_after_setting_card_label).hook_for == "card_label"
    assert define(run_after).hook_for is None


def test_a_hook_that_could_never_be_called_is_refused() -> None:
    """R50: it is named after an entry, and nobody fills arguments."""
    with pytest.raises(ToolDefinitionError, match="memory entry"):

        @tool(description="x")
        async def run_after_setting_(context: ToolContext) -> ToolResult:
            return ToolResult()

    with pytest.raises(ToolDefinitionError, match="without arguments"):

        @tool(description="x")
        async def run_after_setting_label(value: str, context: ToolContext) -> ToolResult:
            return ToolResult()


def test_a_parameter_without_an_annotation_is_not_required_and_not_done_without():
    """R7: required is what is annotated and has no default; the call names what it lacks."""

    @tool(description="x")
    async def look(what, how: str, *, context: ToolContext) -> ToolResult:  # type: ignore[no-untyped-def]  # that is the point
        return ToolResult(what)

    definition = define(look)
    assert definition.parameters["required"] == ["how"]
    properties = definition.parameters["properties"]
    assert isinstance(properties, dict) and list(properties) == ["what", "how"]
    with pytest.raises(ArgumentsRefused, match="missing: what"):
        parse_call('{"how": "b"}', definition)
    assert parse_call('{"how": "b", "what": "a"}', definition).values["what"] == "a"
