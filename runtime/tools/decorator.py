"""``@tool``: marks an author's function as a tool and derives what the model sees of it.

Owns the checks at definition; what a project's files define is collected by ``loading``.
"""

import functools
import inspect
import math
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from runtime.errors import Place, ToolDefinitionError, ToolError
from runtime.tools.context import ToolContext
from runtime.tools.definition import OnInterrupt, ToolDef, ToolFunction
from runtime.tools.result import ToolResult
from runtime.tools.schema import Signature, SignatureError, read_signature
from runtime.tools.values import read_values

__all__ = [
    "HOOK_PREFIX",
    "Definitions",
    "MisdefinedToolError",
    "ToolContext",
    "ToolResult",
    "collecting",
    "definition_of",
    "tool",
]

F = TypeVar("F", bound=Callable[..., Any])

HOOK_PREFIX = "run_after_setting_"
"""What the name of a hook begins with; the memory entry's name follows."""

_MARK = "__bargein_tool__"


class MisdefinedToolError(ToolDefinitionError):
    """A ``@tool`` that is not well formed, in parts."""

    def __init__(self, place: Place, name: str, what: str, mend: str) -> None:
        """Say where, which function, what is wrong and what to write instead."""
        super().__init__(f"{place}: {name}: {what}; {mend}")
        self.place = place
        self.name = name
        self.what = what
        self.mend = mend


@dataclass(frozen=True, slots=True)
class Definitions:
    """What ``@tool`` was used on while modules were loaded."""

    made: list[ToolDef] = field(default_factory=list[ToolDef])
    """In order; also those that a later one of the same name took the place of."""
    refused: list[MisdefinedToolError] = field(default_factory=list[MisdefinedToolError])


_collected: ContextVar[Definitions | None] = ContextVar("definitions", default=None)


@contextmanager
def collecting() -> Generator[Definitions, None, None]:
    """Around the loading of a module: note what ``@tool`` refuses instead of raising it.

    So an author sees all that is wrong in a file, not the first of it.
    """
    definitions = Definitions()
    token = _collected.set(definitions)
    try:
        yield definitions
    finally:
        _collected.reset(token)


def tool(
    *args: object,
    description: str | None = None,
    on_interrupt: OnInterrupt = "cancel",
    timeout: float | None = None,
    filler: str | None = None,
    rich_schema: bool = False,
) -> Callable[[F], F]:
    """Make a tool of an ``async def`` that returns ``ToolResult``.

    Args:
        args: None; a bare ``@tool`` or a positional description is refused.
        description: What the model reads; required.
        on_interrupt: ``"cancel"`` raises ``CancelledError`` at the tool's current ``await`` when
            the caller interrupts; ``"finish"`` lets it run to its end.
        timeout: Seconds, > 0; None = the project's ``tool_timeout``.
        filler: What the caller hears while the tool takes long.
        rich_schema: ``dict``, pydantic models and what is made of them keep their own JSON schema,
            and the function gets them as annotated. Without it the model writes a string for them.

    Raises:
        ToolDefinitionError: names file, line and function, and what to write instead.
    """
    definitions = _collected.get()
    if args:
        error = _error(args[0], "@tool needs a description", 'write @tool(description="…")')
        if definitions is None:
            raise error
        definitions.refused.append(error)
        # Bare: stands above the function itself; else a text came in the description's place.
        return cast("Callable[[F], F]", args[0]) if callable(args[0]) else lambda fn: fn

    def decorate(fn: F) -> F:
        try:
            definition = _define(fn, description, on_interrupt, timeout, filler, rich_schema)
        except MisdefinedToolError as error:
            if definitions is None:
                raise
            definitions.refused.append(error)
            return fn
        setattr(fn, _MARK, definition)
        if definitions is not None:
            definitions.made.append(definition)
        return fn

    return decorate


def definition_of(fn: object) -> ToolDef | None:
    """The definition that ``@tool`` left on a function; None for anything else."""
    try:
        found = getattr(fn, _MARK, None)
    except Exception:  # anything may stand in an author's module
        return None
    return found if isinstance(found, ToolDef) else None


def _define(
    fn: Callable[..., Any],
    description: str | None,
    on_interrupt: OnInterrupt,
    timeout: float | None,
    filler: str | None,
    rich: bool,
) -> ToolDef:
    if not isinstance(description, str) or not description.strip():
        raise _error(fn, "@tool needs a description", 'write @tool(description="…")')
    if not inspect.iscoroutinefunction(fn):
        raise _error(fn, "a tool must be async", "write async def")
    if on_interrupt not in ("cancel", "finish"):
        raise _error(fn, "on_interrupt is not known", 'write "cancel" or "finish"')
    if timeout is not None and not _is_seconds(timeout):
        raise _error(fn, "timeout must be a number of seconds over 0", "write e.g. timeout=10")
    if filler is not None and not isinstance(cast("object", filler), str):
        raise _error(fn, "filler must be a text", 'write e.g. filler="One moment."')
    _check_return(fn)
    try:
        signature = read_signature(fn, rich=rich)
    except SignatureError as refusal:
        raise _error(fn, str(refusal), refusal.mend) from None
    return ToolDef(
        name=fn.__name__,
        description=description.strip(),
        parameters=signature.parameters,
        fn=_reading(cast("ToolFunction", fn), signature),
        on_interrupt=on_interrupt,
        timeout_s=timeout,
        filler=None if filler is None else str.__str__(filler),  # not of an author's subclass
        hook_for=_hooked_entry(fn, signature),
        rich_schema=rich,
        takes_context=signature.takes_context,
        defaults=signature.defaults,
        kinds=signature.kinds,
        place=_place(fn),
        needed=signature.needed,
    )


def _is_seconds(value: object) -> bool:
    return isinstance(value, int | float) and value is not True and 0 < value < math.inf


def _hooked_entry(fn: Callable[..., Any], signature: Signature) -> str | None:
    if not fn.__name__.startswith(HOOK_PREFIX):
        return None
    entry = fn.__name__.removeprefix(HOOK_PREFIX)
    if not entry:
        raise _error(fn, "a hook is named after a memory entry", f"write {HOOK_PREFIX}<entry>")
    if signature.parameters["required"]:
        raise _error(
            fn,
            "a hook is called without arguments",
            "take only context, and read the value with context.memory.get",
        )
    return entry


def _reading(fn: ToolFunction, signature: Signature) -> ToolFunction:
    """The function for arguments that are JSON; itself where its own are."""
    kinds = signature.kinds
    if not kinds:
        return fn

    @functools.wraps(fn)
    async def read_and_run(**arguments: Any) -> ToolResult:
        try:
            values = read_values(arguments, kinds)
        except ValueError as reason:
            raise ToolError(str(reason)) from None
        return await fn(**values)

    return read_and_run


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


def _error(fn: object, what: str, mend: str) -> MisdefinedToolError:
    place = _place(fn)
    if place.file == "<unknown>":
        caller = inspect.stack()[2]
        place = Place(caller.filename, caller.lineno)
    name = getattr(fn, "__name__", "<tool>")
    return MisdefinedToolError(place, str(name), what, mend)
