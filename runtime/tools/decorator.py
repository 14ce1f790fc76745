"""``@tool``: marks an author's function as a tool and derives what the model sees of it.

Owns the checks at definition; what a project's files define is collected by ``loading``.
"""

import inspect
import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

from runtime.errors import Place, ToolDefinitionError
from runtime.tools.context import ToolContext
from runtime.tools.definition import OnInterrupt, ToolDef, ToolFunction
from runtime.tools.result import ToolResult
from runtime.tools.schema import CONTEXT_PARAMETER, parameter_defaults, parameters_schema

__all__ = ["ToolContext", "ToolResult", "definition_of", "tool"]

F = TypeVar("F", bound=Callable[..., Any])

_MARK = "__bargein_tool__"


def tool(
    *args: object,
    description: str | None = None,
    on_interrupt: OnInterrupt = "cancel",
    timeout: float | None = None,
    filler: str | None = None,
) -> Callable[[F], F]:
    """Make a tool of an ``async def`` that returns ``ToolResult``.

    Args:
        args: None; a bare ``@tool`` or a positional description is refused.
        description: What the model reads; required.
        on_interrupt: ``"cancel"`` raises ``CancelledError`` at the tool's current ``await`` when
            the caller interrupts; ``"finish"`` lets it run to its end.
        timeout: Seconds, > 0; None = the project's ``tool_timeout``.
        filler: What the caller hears while the tool takes long.

    Raises:
        ToolDefinitionError: names file, line and function, and what to write instead.
    """
    if args:
        raise _error(args[0], "@tool needs a description", 'write @tool(description="…")')

    def decorate(fn: F) -> F:
        definition = _define(fn, description, on_interrupt, timeout, filler)
        setattr(fn, _MARK, definition)
        return fn

    return decorate


def definition_of(fn: object) -> ToolDef | None:
    """The definition that ``@tool`` left on a function; None for anything else."""
    found = getattr(fn, _MARK, None)
    return found if isinstance(found, ToolDef) else None


def _define(
    fn: Callable[..., Any],
    description: str | None,
    on_interrupt: OnInterrupt,
    timeout: float | None,
    filler: str | None,
) -> ToolDef:
    if not isinstance(description, str) or not description.strip():
        raise _error(fn, "@tool needs a description", 'write @tool(description="…")')
    if not inspect.iscoroutinefunction(fn):
        raise _error(fn, "a tool must be async", "write async def")
    if on_interrupt not in ("cancel", "finish"):
        raise _error(fn, "on_interrupt is not known", 'write "cancel" or "finish"')
    if timeout is not None and not (0 < timeout < math.inf):
        raise _error(fn, "timeout must be a number of seconds over 0", "write e.g. timeout=10")
    _check_return(fn)
    try:
        parameters = parameters_schema(fn)
    except TypeError as refusal:
        raise _error(fn, str(refusal), "give each argument a name of its own") from None
    return ToolDef(
        name=fn.__name__,
        description=description.strip(),
        parameters=parameters,
        fn=cast("ToolFunction", fn),
        on_interrupt=on_interrupt,
        timeout_s=timeout,
        filler=None if filler is None else str.__str__(filler),  # not of an author's subclass
        takes_context=CONTEXT_PARAMETER in inspect.signature(fn).parameters,
        defaults=parameter_defaults(fn),
        place=_place(fn),
    )


def _check_return(fn: Callable[..., Any]) -> None:
    declared = fn.__annotations__.get("return", ToolResult)
    if isinstance(declared, str):
        fine = declared.strip("\"'").rsplit(".", 1)[-1] == "ToolResult"
    else:
        fine = declared is ToolResult
    if not fine:
        raise _error(fn, "a tool must return ToolResult", "annotate it with -> ToolResult")


def _place(fn: object) -> Place:
    code = getattr(inspect.unwrap(fn) if callable(fn) else fn, "__code__", None)
    if code is None:
        return Place("<unknown>")
    return Place(code.co_filename, code.co_firstlineno)


def _error(fn: object, what: str, mend: str) -> ToolDefinitionError:
    place = _place(fn)
    if place.file == "<unknown>":
        caller = inspect.stack()[2]
        place = Place(caller.filename, caller.lineno)
    name = getattr(fn, "__name__", "<tool>")
    return ToolDefinitionError(f"{place}: {name}: {what}; {mend}")
