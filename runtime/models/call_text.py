"""Takes tool calls that a model printed as text out of what would be spoken.

Owns the recognising of such blocks in a stream; real calls come as calls, and these are never run.
Other code and markup stays: how text is spoken is the voice plane's.
"""

import json
import re
from typing import cast

_OPENERS = ("```", "<function=", "<tool_call>", "<|python_tag|>", "[TOOL_CALLS]", "{")
_CLOSERS = {"```": "```", "<function=": "</function>", "<tool_call>": "</tool_call>"}
_MAX_HELD = 8000
_FENCE_INFO = re.compile(r"```\s*(tool_code|tool_call|function_call|json)?\s*", re.IGNORECASE)


class CallTextFilter:
    """Text in piece by piece, the part to speak out; one per reply."""

    def __init__(self) -> None:
        """Start with nothing held."""
        self.removed = 0
        """Blocks taken out so far."""
        self._held = ""
        self._closing_gap = False
        self._ends_in_space = True

    def push(self, text: str) -> str:
        """Take more text; return what is certain to be speech."""
        self._held += text
        return "".join(self._settled(at_end=False))

    def flush(self) -> str:
        """The reply is over: return what was held and is no call."""
        return "".join(self._settled(at_end=True))

    def _settled(self, *, at_end: bool) -> list[str]:
        out: list[str] = []
        while self._held:
            start, opener = _first_opener(self._held)
            if opener is None:
                keep = 0 if at_end else _partial_opener(self._held)
                out.append(self._release(len(self._held) - keep))
                break
            out.append(self._release(start))
            end = _block_end(self._held, opener)
            if end is None and not at_end and len(self._held) < _MAX_HELD:
                break
            block = self._held[: len(self._held) if end is None else end]
            if _is_call(block, opener):
                self._held = self._held[len(block) :]
                self.removed += 1
                self._closing_gap = True
            else:
                out.append(self._release(len(block)))
        return out

    def _release(self, count: int) -> str:
        text, self._held = self._held[:count], self._held[count:]
        if self._closing_gap and text:
            # One space is left where the block stood between two.
            text = text.lstrip() if self._ends_in_space else text
            self._closing_gap = not text
        if text:
            self._ends_in_space = text[-1].isspace()
        return text


def _first_opener(text: str) -> tuple[int, str | None]:
    found = [(at, opener) for opener in _OPENERS if (at := text.find(opener)) >= 0]
    return min(found) if found else (len(text), None)


def _partial_opener(text: str) -> int:
    """How many characters at the end may be the beginning of an opener."""
    longest = max(len(opener) for opener in _OPENERS) - 1
    for size in range(min(longest, len(text)), 0, -1):
        if any(opener.startswith(text[-size:]) for opener in _OPENERS):
            return size
    return 0


def _block_end(text: str, opener: str) -> int | None:
    if opener == "{":
        return _balanced_end(text)
    closer = _CLOSERS.get(opener)
    if closer is None:
        return None  # the rest of the reply
    at = text.find(closer, len(opener))
    return None if at < 0 else at + len(closer)


def _balanced_end(text: str) -> int | None:
    depth, in_string, escaped = 0, False, False
    for index, char in enumerate(text):
        if escaped:
            escaped = False
        elif in_string:
            escaped = char == "\\"
            in_string = char != '"'
        elif char == '"':
            in_string = True
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth <= 0:
                return index + 1
    return None


def _is_call(block: str, opener: str) -> bool:
    match opener:
        case "```":
            info = _FENCE_INFO.match(block)
            word = info.group(1) if info else None
            if word is not None and word.lower() != "json":
                return True
            body = block[info.end() if info else 3 :].removesuffix("```").strip()
            return _is_call_json(body)
        case "{":
            return _is_call_json(block)
        case _:
            return True


def _is_call_json(text: str) -> bool:
    try:
        value = cast(object, json.loads(text))
    except ValueError:
        # Cut off before its end: the beginning of the shape is enough.
        return re.match(r'[\[\s]*\{\s*"(name|function|tool)"\s*:', text) is not None
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    return bool(items) and all(_is_call_object(item) for item in items)


def _is_call_object(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    keys = set(cast("dict[str, object]", value))
    return bool(keys & {"name", "function", "tool"}) and bool(
        keys & {"arguments", "parameters", "args", "function"}
    )
