"""Agent projects on disk for live tests: an agent that does what it is told, in words."""

from pathlib import Path
from textwrap import dedent

import yaml

LONG = " ".join(
    f"This is sentence number {n} of a rather long answer." for n in "one two three four".split()
)

_AGENT = """\
agent:
  id: obedient
  persona: You do what you are told.
orchestrator: {model_group: main}
tool_timeout: 10 s
"""

_SKILL = """\
---
name: Desk
description: Everything.
---
Do what you are told.
"""

TOOLS = """
import asyncio, json, os, time
from runtime import ToolContext, ToolResult, tool


def note(**fields):
    with open(os.environ["BARGEIN_TEST_NOTES"], "a", encoding="utf-8") as file:
        file.write(json.dumps(fields) + "\\n")


@tool(description="Places an order, slowly.", on_interrupt="finish")
async def order(item: str, context: ToolContext) -> ToolResult:
    note(tool="order", item=item, key=context.idempotency_key, pid=os.getpid())
    await asyncio.sleep(1.5)
    return ToolResult({"ordered": item})


@tool(description="Writes a fact down for good.")
async def commit(fact: str, context: ToolContext) -> ToolResult:
    async with context.committing():
        note(tool="commit", fact=fact, key=context.idempotency_key)
    return ToolResult({"written": fact})


@tool(description="Waits.")
async def wait(seconds: float, context: ToolContext) -> ToolResult:
    note(tool="wait", phase="begun")
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        note(tool="wait", phase="cancelled", cancelled=context.is_cancelled)
        raise
    return ToolResult({"waited": seconds})


@tool(description="Blocks its loop.")
async def block(seconds: float, context: ToolContext) -> ToolResult:
    note(tool="block", phase="before", cancelled=context.is_cancelled)
    time.sleep(seconds)
    note(tool="block", phase="after", cancelled=context.is_cancelled)
    return ToolResult({"blocked": seconds})


@tool(description="Burns Python.")
async def burn(seconds: float, context: ToolContext) -> ToolResult:
    note(tool="burn", phase="before")
    until = time.perf_counter() + seconds
    count = 0
    while time.perf_counter() < until:
        count += 1
    note(tool="burn", phase="after")
    return ToolResult({"counted": count})
"""


_START = """---
name: Begin the conversation
description: Takes up the desk at once.
---

:::ordered_block id=start
steps:
  - link: desk
:::
"""


def write_project(
    folder: Path,
    *,
    texts: tuple[str, ...] = ("stop that please",),
    stt: dict[str, object] | None = None,
    tts: dict[str, object] | None = None,
    model: dict[str, object] | None = None,
    channel: dict[str, object] | None = None,
    greeting: str = "Hello.",
    agent: str = "",
) -> Path:
    """Write a project whose engines are scripted; ``texts`` are dealt to stretches of voice."""
    channel = {
        "asr": stt or {"name": "scripted", "texts": list(texts)},
        "tts": tts or {"name": "scripted", "ms_per_char": 40},
        "silence_timeout": 0,
        "turn_taking": {"min_silence": 0.3, "max_silence": 0.5},
        **(channel or {}),
    }
    model = model or {"provider": "tests.live.authored:Obedient"}
    integrations = {
        "model_groups": [{"id": "main", "models": [model]}],
        "channels": {"voice": channel},
    }
    skill = folder / "skills" / "desk"
    skill.mkdir(parents=True, exist_ok=True)
    (folder / "agent.yml").write_text(_AGENT + dedent(agent))
    (folder / "integrations.yml").write_text(yaml.safe_dump(integrations))
    responses = {"utter_session_start": [greeting]} if greeting else {}
    (folder / "responses.yml").write_text(yaml.safe_dump({"responses": responses}))
    (skill / "skill.md").write_text(_SKILL)
    (skill / "tools.py").write_text(TOOLS)
    start = folder / "skills" / "default_session_start"
    start.mkdir(exist_ok=True)
    (start / "skill.md").write_text(_START)
    return folder
