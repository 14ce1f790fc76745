"""The engine of one call, put together."""

from dataclasses import dataclass

from runtime.engine.builtin_calls import BuiltinCalls
from runtime.engine.calls import Calls
from runtime.engine.desk import Desk
from runtime.engine.responses import Responses
from runtime.engine.stack import Stack
from runtime.engine.steps import Steps
from runtime.engine.writes import Writes

__all__ = ["EngineParts", "build_parts"]


@dataclass(frozen=True, slots=True)
class EngineParts:
    """What turns act through."""

    desk: Desk
    stack: Stack
    responses: Responses
    writes: Writes
    steps: Steps
    calls: Calls


def build_parts(desk: Desk) -> EngineParts:
    """Put the engine of a call together around its desk."""
    stack, responses, writes = Stack(desk), Responses(desk), Writes(desk)
    steps = Steps(desk, stack, responses, writes)
    own = BuiltinCalls(desk, stack, steps, responses, writes)
    calls = Calls(desk, stack, steps, responses, own)
    return EngineParts(desk, stack, responses, writes, steps, calls)
