"""A chat model that plays a script: for tests, replays and authors' own tests.

Owns the steps and their checking: each request takes the next step, one request too many is an
error, and so are steps left over (``assert_finished``). Delays pass on the event loop's clock.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from runtime.agent import Json
from runtime.errors import ProviderError
from runtime.models.ports import (
    CallAsked,
    CallCutOff,
    ChatModel,
    ChatRequest,
    Finished,
    ModelEvent,
    RequestedCall,
    TextDelta,
)

__all__ = ["Call", "Cut", "Fail", "Say", "ScriptedModel", "Step", "Wait", "parse_steps"]


@dataclass(frozen=True, slots=True)
class Say:
    """Write text, word by word."""

    text: str
    ms_per_word: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """Ask for a call; ``arguments`` is an object, or raw text to be sent as it is."""

    tool: str
    arguments: Mapping[str, Json] | str = "{}"


@dataclass(frozen=True, slots=True)
class Cut:
    """Ask for a call whose arguments are cut off."""

    tool: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Let time pass; None = for ever, until the stream is closed."""

    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Fail:
    """Fail as a provider does."""

    message: str = "scripted failure"


_STEP_KEYS = frozenset({"wait", "say", "call", "fail", "ms_per_word"})
_MOST_WAIT_S = 86_400
_MOST_MS_PER_WORD = 60_000

Part: TypeAlias = Say | Call | Cut | Wait | Fail
Step: TypeAlias = "Part | Sequence[Part] | Callable[[ChatRequest], Part | Sequence[Part]]"
"""What answers one request: parts in order, or a function of the request."""


class ScriptedModel(ChatModel):
    """Plays its steps, one a request."""

    def __init__(self, steps: Sequence[Step], *, repeat_last: bool = False) -> None:
        """Play ``steps``; with ``repeat_last`` the last one answers every further request too."""
        self._steps = list(steps)
        self._repeat_last = repeat_last
        self._calls = 0
        self.requests: list[ChatRequest] = []
        """Every request so far."""
        self.closed = 0
        """Streams that were closed before their end."""
        self.unexpected = 0
        """Requests beyond the script."""

    async def stream(self, request: ChatRequest) -> AsyncIterator[ModelEvent]:
        """Answer with the next step."""
        self.requests.append(request)
        parts = self._next(request)
        whole = False
        try:
            reason = "stop"
            for part in parts:
                async for event in self._play(part):
                    if isinstance(event, CallAsked):
                        reason = "calls"
                    yield event
            whole = True
            yield Finished("calls" if reason == "calls" else "stop")
        finally:
            if not whole:
                self.closed += 1

    async def aclose(self) -> None:
        """Nothing to release."""

    def assert_finished(self) -> None:
        """Check that the script was played to its end and no further.

        Raises:
            AssertionError: steps are left, or requests came beyond the script.
        """
        if self.unexpected:
            raise AssertionError(f"{self.unexpected} requests beyond the script")
        used = len(self.requests)
        if used < len(self._steps):
            raise AssertionError(f"{len(self._steps) - used} steps were not asked for")

    def _next(self, request: ChatRequest) -> Sequence[Part]:
        index = len(self.requests) - 1
        if index >= len(self._steps):
            if not (self._repeat_last and self._steps):
                self.unexpected += 1
                raise ProviderError("the script has no more steps")
            index = len(self._steps) - 1
        step = self._steps[index]
        if callable(step):
            step = step(request)
        return step if isinstance(step, Sequence) else (step,)

    async def _play(self, part: Part) -> AsyncIterator[ModelEvent]:
        match part:
            case Say(text, ms_per_word):
                for number, piece in enumerate(_pieces(text)):
                    if ms_per_word and number:
                        await asyncio.sleep(ms_per_word / 1000)
                    yield TextDelta(piece)
            case Call(tool, arguments):
                self._calls += 1
                raw = arguments if isinstance(arguments, str) else json.dumps(dict(arguments))
                yield CallAsked(RequestedCall(f"scripted_{self._calls}", tool, raw))
            case Cut(tool):
                yield CallCutOff(tool)
            case Wait(seconds) if seconds is not None:
                await asyncio.sleep(seconds)
            case Wait():
                await asyncio.Event().wait()
            case Fail(message):
                raise ProviderError(message)


def parse_steps(written: Sequence[Mapping[str, Json]]) -> list[Step]:
    """Read steps as a project's files write them.

    Each is a map with one or more of ``wait`` (seconds), ``say`` (text) and ``call`` (the tool's
    name, or ``{name, arguments}``), done in this order; or ``{fail: message}``.

    Raises:
        ValueError: a step has none of these, a key of no meaning, or a value that can't be.
    """
    return [_parse_step(step) for step in written]


def _parse_step(step: Mapping[str, Json]) -> list[Part]:
    unknown = set(step) - _STEP_KEYS
    if unknown or not set(step) - {"ms_per_word"}:
        raise ValueError(f"a step has wait, say, call or fail, not {sorted(step)}")
    if "fail" in step and len(step) > 1:
        raise ValueError("a step that fails does nothing else")
    if "ms_per_word" in step and "say" not in step:
        raise ValueError("'ms_per_word' goes with 'say'")
    parts: list[Part] = []
    if "wait" in step:
        parts.append(Wait(_number(step, "wait", _MOST_WAIT_S)))
    if "say" in step:
        pace = int(_number(step, "ms_per_word", _MOST_MS_PER_WORD)) if "ms_per_word" in step else 0
        parts.append(Say(_text(step, "say"), pace))
    if "call" in step:
        parts.append(_parse_call(step["call"]))
    if "fail" in step:
        parts.append(Fail(_text(step, "fail")))
    return parts


def _parse_call(call: Json) -> Call:
    if isinstance(call, str):
        if not call.strip():
            raise ValueError("'call' names no tool")
        return Call(call)
    if not isinstance(call, dict):
        raise ValueError("'call' is the name of a tool, or has name and arguments")
    unknown = sorted(set(call) - {"name", "arguments"})
    if unknown:
        raise ValueError(f"'call' has name and arguments, not {', '.join(unknown)}")
    name, arguments = call.get("name"), call.get("arguments", {})
    if not isinstance(name, str) or not name.strip():
        raise ValueError("'call' has no name")
    if arguments is None:
        return Call(name)
    if not isinstance(arguments, dict | str):
        raise ValueError("the arguments of 'call' are a block of keys, or a text sent as it is")
    return Call(name, arguments)


def _number(step: Mapping[str, Json], key: str, most: int) -> float:
    value = step[key]
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most:
        return value
    raise ValueError(f"'{key}' is a number from 0 to {most}")


def _text(step: Mapping[str, Json], key: str) -> str:
    value = step[key]
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"'{key}' is a text")
    return str(value)


def _pieces(text: str) -> list[str]:
    """The text word by word, each with the space before it."""
    words = text.split(" ")
    return [words[0], *(f" {word}" for word in words[1:])]
