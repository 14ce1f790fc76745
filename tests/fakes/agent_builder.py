"""Agents for tests of the agent process: built inside the child, by name."""

import asyncio
import json
import logging
import os
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from runtime import ToolContext, ToolResult, tool
from runtime.errors import Place, Problem, ProjectError
from runtime.models.ports import ChatRequest
from runtime.models.scripted_model import Call, Part, Say, ScriptedModel
from runtime.process_child import AgentParts
from runtime.store.sqlite_store import SqliteStore
from tests.fakes.projects import make_project

_NOTES = "BARGEIN_TEST_NOTES"


def _note(**fields: object) -> None:
    """Write a line where the test can read it, whatever becomes of this process."""
    with Path(os.environ[_NOTES]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(fields) + "\n")


@tool(description="Places an order, slowly.", on_interrupt="finish", timeout=20)
async def order(item: str, *, context: ToolContext) -> ToolResult:
    """Note the wish's key, then take a while."""
    _note(tool="order", item=item, key=context.idempotency_key, pid=os.getpid())
    await asyncio.sleep(1)
    return ToolResult({"ordered": item})


@tool(description="Blocks its loop.")
async def block(seconds: float, *, context: ToolContext) -> ToolResult:
    """Sleep as no asynchronous function should, then look whether it still may go on."""
    _note(tool="block", phase="before", cancelled=context.is_cancelled)
    time.sleep(seconds)  # noqa: ASYNC251  # the very thing under test
    _note(tool="block", phase="line", cancelled=context.is_cancelled)
    return ToolResult({"blocked": seconds})


@tool(description="Speaks and logs in words of the author's own types.")
async def enums(*, context: ToolContext) -> ToolResult:
    """Send a member of a string enum, which no other process can import, and log two."""
    module = _author_module()
    logging.getLogger("author").warning("spoke", extra={"tone": module.Tone.HELLO, "n": module.N.A})
    await context.send(module.Tone.HELLO)
    return ToolResult("spoken")


def _author_module() -> Any:
    module = ModuleType("only_in_the_child")
    sys.modules[module.__name__] = module
    text = (
        "from enum import Enum, IntEnum\n"
        "class Tone(str, Enum):\n    HELLO = 'Hello there.'\n"
        "class N(IntEnum):\n    A = 3\n"
    )
    exec(text, module.__dict__)
    return module


def _answer(request: ChatRequest) -> Part:
    """``call <tool> <json>`` makes the call; anything else, and every result, is read back."""
    last = request.messages[-1]
    if last.role == "user" and last.text.startswith("call "):
        _, name, arguments = last.text.split(" ", 2)
        return Call(name, arguments)
    return Say(f"I read: {last.text}")


def build(store: Path, notes: Path) -> AgentParts:
    """An agent that does what it is told."""
    os.environ[_NOTES] = str(notes)
    project = make_project(order, block, enums)
    return AgentParts(project, [ScriptedModel([_answer], repeat_last=True)], SqliteStore(store))


def build_nothing(store: Path, notes: Path) -> AgentParts:
    """A project that can't be loaded."""
    raise ProjectError([Problem(Place("agent.yml", 3, 1), "missing", "persona is missing")])


def build_and_die(store: Path, notes: Path) -> AgentParts:
    """An agent that takes its process with it."""
    os._exit(7)


def build_for_ever(store: Path, notes: Path) -> AgentParts:
    """A project whose files never end."""
    os.environ[_NOTES] = str(notes)
    _note(pid=os.getpid())
    time.sleep(600)
    raise AssertionError


def _be_a_parent(folder: str, build: str) -> None:
    """Start an agent process, say its number, and die without a word to it."""
    from runtime.process import ChildAgent

    async def main() -> None:
        path = Path(folder)
        agent = ChildAgent(
            path,
            store_path=path / "log.db",
            build=f"tests.fakes.agent_builder:{build}",
            arguments={"store": path / "log.db", "notes": path / "notes"},
        )
        starting = asyncio.ensure_future(agent.start())
        while not (starting.done() or (path / "notes").exists()):  # noqa: ASYNC110  # a file
            await asyncio.sleep(0.02)
        sys.stdout.write(f"{agent.pid}\n")
        sys.stdout.flush()
        os._exit(9)

    asyncio.run(main())


if __name__ == "__main__":
    _be_a_parent(sys.argv[1], sys.argv[2])
