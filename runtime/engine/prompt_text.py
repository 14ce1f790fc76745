"""A request to the model as a person reads it: for ``bargein replay --prompts`` and for tests.

Owns the form of that text and nothing of what a request holds.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from runtime.models.ports import ChatMessage, ChatRequest, ToolSpec

__all__ = ["KeptPrompt", "prompt_text"]


@dataclass(frozen=True, slots=True)
class KeptPrompt:
    """One request as it was made."""

    turn: int
    round: int
    request: ChatRequest


def prompt_text(kept: Iterable[KeptPrompt]) -> str:
    """Write requests one after another, as markdown."""
    return "\n".join(_one(each) for each in kept)


def _one(kept: KeptPrompt) -> str:
    lines = [f"## Turn {kept.turn}, round {kept.round}", ""]
    lines += [_message(message) for message in kept.request.messages]
    lines += ["### tools", *(_tool(tool) for tool in kept.request.tools), ""]
    return "\n".join(lines)


def _message(message: ChatMessage) -> str:
    title = message.role if not message.call_id else f"{message.role} {message.call_id}"
    calls = [f"→ {call.name}({call.arguments}) [{call.id}]" for call in message.calls]
    body = "\n".join([*([message.text] if message.text else []), *calls])
    return f"### {title}\n{body}\n"


def _tool(tool: ToolSpec) -> str:
    properties = tool.parameters.get("properties")
    shown = json.dumps(properties, ensure_ascii=False, sort_keys=True)
    return f"- {tool.name} {shown}"
