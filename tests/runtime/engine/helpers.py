"""One agent with one caller, for tests of turns."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from runtime.agent import Json
from runtime.models.ports import ChatModel
from runtime.models.scripted_model import ScriptedModel, Step
from runtime.plane import InLoopAgent
from runtime.project.model import Project
from runtime.store.memory_store import MemoryStore
from runtime.store.ports import EventStore
from runtime.tools.result import ToolResult
from tests.fakes.projects import make_project
from tests.fakes.voice_side import Voice
from voice.replay.virtual_loop import run_virtual

Tool = Callable[..., Awaitable[ToolResult]]


@dataclass
class Call:
    voice: Voice
    model: ScriptedModel
    agent: InLoopAgent
    store: EventStore

    def roles(self, request: int = -1) -> list[str]:
        return [m.role for m in self.model.requests[request].messages]

    def prompt(self, request: int = -1) -> list[tuple[str, str]]:
        """The messages of a request but for the system message."""
        return [(m.role, m.text) for m in self.model.requests[request].messages[1:]]


@asynccontextmanager
async def connected(
    steps: Sequence[Step],
    *tools: Tool,
    project: Project | None = None,
    store: EventStore | None = None,
    others: Sequence[ChatModel] = (),
    strict: bool = True,
    setup: tuple[tuple[str, str, Json], ...] = (),
    **options: Any,
) -> AsyncGenerator[Call, None]:
    """A call that is open; at the end everything must have settled and the script be used up."""
    model = ScriptedModel(steps)
    kept = store or MemoryStore()
    agent = InLoopAgent(
        project or make_project(*tools, **options),
        models=[model, *others],
        store=kept,
        new_conversation=lambda opening: f"c{opening.call}",
        setup=setup,
    )
    voice = Voice(agent)
    await voice.ready()
    yield Call(voice, model, agent, kept)
    await agent.aclose()
    if strict:
        model.assert_finished()


def in_virtual_time(scenario: Callable[[], Awaitable[None]]) -> Callable[[], None]:
    """Make a plain test of an asynchronous one."""

    def test() -> None:
        async def main() -> None:
            await scenario()

        run_virtual(main())

    test.__name__, test.__doc__ = scenario.__name__, scenario.__doc__
    return test
