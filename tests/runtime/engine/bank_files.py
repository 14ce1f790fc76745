"""A bank's desk as files: what the tests of gates, confirmations and prompts talk to.

``desk`` runs from the first turn of each call, so that no model is needed to start it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from runtime.models.ports import ChatRequest
from runtime.project.model import Project
from tests.fakes.written_projects import skill, written_project
from tests.runtime.engine.helpers import Call
from voice.replay.virtual_loop import run_virtual

__all__ = ["START", "TOOLS", "bank", "offered", "on_project", "say", "started", "system", "told"]

Files = Mapping[str, str]

START = skill(
    """
    :::ordered_block id=start
    steps:
      - id: go
        link: desk
    :::
    """,
    "routing: {engine_managed: true}",
)
"""Begins every conversation with the desk."""

TOOLS = '''
    """Tools of a bank's desk."""

    import asyncio

    from runtime import ToolContext, ToolResult, tool


    @tool(description="Pay somebody.")
    async def pay(payee: str, amount: int, *, context: ToolContext) -> ToolResult:
        context.memory.set("receipt", f"R-{amount}")
        return ToolResult({"receipt": f"R-{amount}"})


    @tool(description="Look up the balance.")
    async def balance() -> ToolResult:
        await asyncio.sleep(1)
        return ToolResult({"balance": 120})


    @tool(description="Break.")
    async def broken() -> ToolResult:
        raise RuntimeError("vault 7 is on fire")
'''

MEMORY = """
    schema:
      public:
        payee: {type: text, llm_settable: true, description: Who is paid.}
        amount: {type: int, llm_settable: true, description: How much is paid.}
        verified: {type: bool, llm_settable: true}
      private:
        receipt: {type: text}
"""

RESPONSES = """
    responses:
      utter_ask_pay: ["Shall I pay {amount} euros to {payee}?"]
      utter_denied: [Then I won't pay.]
      utter_paid: ["It is paid, receipt {receipt}."]
      utter_not_paid: [That did not work.]
"""


def bank(body: str, front: str = "", **more: str) -> Files:
    """The desk with this body and frontmatter; ``more`` by path, ``__`` for each slash.

    A keyword ``skills__desk__tools`` stands for ``skills/desk/tools.py``; a text that is empty
    leaves the file out.
    """
    files = {
        "skills/default_session_start/skill.md": START,
        "skills/desk/skill.md": skill(body, front),
        "skills/desk/tools.py": TOOLS,
        "skills/desk/memory.yml": MEMORY,
        "skills/desk/responses.yml": RESPONSES,
    }
    return files | {_path(name): text for name, text in more.items()}


def _path(name: str) -> str:
    stem = name.replace("__", "/")
    kinds = {"tools": "py", "skill": "md", "notes": "md"}
    return f"{stem}.{kinds.get(stem.rsplit('/', 1)[-1], 'yml')}"


def on_project(
    files: Files,
) -> Callable[[Callable[[Project], Awaitable[None]]], Callable[[Path], None]]:
    """Make a plain test of an asynchronous one that is given the loaded project."""

    def decorate(scenario: Callable[[Project], Awaitable[None]]) -> Callable[[Path], None]:
        def test(tmp_path: Path) -> None:
            project = written_project(tmp_path, files)

            async def main() -> None:
                await scenario(project)

            run_virtual(main())

        test.__name__, test.__doc__ = scenario.__name__, scenario.__doc__
        return test

    return decorate


def offered(request: ChatRequest) -> list[str]:
    """Names of the tools that a request offers."""
    return [spec.name for spec in request.tools]


def system(request: ChatRequest) -> str:
    """The system message of a request."""
    return request.messages[0].text


def told(request: ChatRequest) -> list[str]:
    """The results of calls that a request shows, oldest first."""
    return [message.text for message in request.messages if message.role == "tool"]


async def say(call: Call, words: str) -> list[str]:
    """The caller says something once all was heard; what the agent said then."""
    await asyncio.sleep(5)
    before = len(call.voice.texts)
    call.voice.hear(words)
    await call.voice.wait_ended()
    return call.voice.texts[before:]


def started(call: Call) -> list[str]:
    """The authors' tools that ran."""
    return [str(e["tool"]) for e in call.voice.happened("tool_started")]
