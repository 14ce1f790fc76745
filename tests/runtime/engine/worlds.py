"""Whole projects as files for tests of the engine, and what is asked about a call of theirs."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeVar

from runtime.agent import Json
from runtime.conversation.events import Event, Fact
from runtime.conversation.state import ConversationState
from runtime.engine.record import ConversationRecord
from runtime.models.ports import ChatRequest
from runtime.models.scripted_model import Call as Ask
from runtime.models.scripted_model import Say as Write
from runtime.project.model import Project
from tests.fakes import tool_notes
from tests.fakes.written_projects import skill, written_project
from tests.runtime.engine.helpers import Call
from voice.replay.virtual_loop import run_virtual

F = TypeVar("F", bound=Fact)

IMPORTS = "import asyncio\nfrom runtime import Button, ToolContext, ToolResult, tool\n"
NOTES = "from tests.fakes.tool_notes import note\n"

QUIET_END = "---\nname: Done\ndescription: Says nothing.\ndisabled: true\n---\nNothing.\n"
"""In the place of ``default_completed``: nothing is asked when a skill is done."""


def in_project(
    files: Mapping[str, str], *, quiet: bool = True
) -> Callable[[Callable[[Project], Awaitable[None]]], Callable[[Path], None]]:
    """Make a plain test of an asynchronous one that takes a project, written from ``files``.

    With ``quiet`` nothing more is said when a skill is done.
    """
    more = {"skills/default_completed/skill.md": QUIET_END} if quiet else {}

    def wrap(scenario: Callable[[Project], Awaitable[None]]) -> Callable[[Path], None]:
        def test(tmp_path: Path) -> None:
            tool_notes.clear()
            project = written_project(tmp_path, {**more, **files})

            async def main() -> None:
                await scenario(project)

            run_virtual(main())

        test.__name__, test.__doc__ = scenario.__name__, scenario.__doc__
        return test

    return wrap


def blocks_only(steps: str, front: str = "", block: str = "main") -> str:
    """A skill that is one ordered block."""
    return skill(block_of(steps, block), front)


def block_of(steps: str, block: str = "main") -> str:
    """One ordered block."""
    return f"\n:::ordered_block id={block}\nsteps:\n{indented(steps)}\n:::\n"


def indented(text: str) -> str:
    """The lines of a block's steps, two spaces in."""
    lines = text.strip("\n").splitlines()
    least = min((len(x) - len(x.lstrip()) for x in lines if x.strip()), default=0)
    return "\n".join(f"  {line[least:]}" for line in lines)


def start(flow: str) -> Ask:
    """The model starts a skill or a block."""
    return Ask("activate", {"flow_id": flow})


def fill(**values: Json) -> Ask:
    """The model records what the caller gave."""
    return Ask("set_fields", values)


def nothing() -> Write:
    """The model has nothing to say: the engine has a line of its own."""
    return Write("")


async def hear(call: Call, text: str) -> list[str]:
    """Say something to the agent; return what it said in that turn, once all was heard."""
    before = len(call.voice.texts)
    call.voice.hear(text)
    await call.voice.wait_ended()
    return call.voice.texts[before:]


def state(call: Call) -> ConversationState:
    """The live state of the conversation."""
    return _record(call).state


def memory(call: Call, name: str) -> Json:
    """A field as it was written, None if it never was."""
    namespace, _, field = name.partition(".")
    return state(call).memory.get((namespace, field))


def skills(call: Call) -> list[str]:
    """The stack of skills, the active one last."""
    return [frame.skill for frame in state(call).dialogue.frames]


def at_step(call: Call) -> str | None:
    """The step that the active skill is at."""
    top = state(call).dialogue.top
    return top.place.step if top is not None and top.place is not None else None


def offered(call: Call, request: int = -1) -> set[str]:
    """Names of the tools that a request offered."""
    return {tool.name for tool in call.model.requests[request].tools}


def flows(request: ChatRequest) -> list[str]:
    """What a request's ``activate`` may name."""
    found = next((t for t in request.tools if t.name == "activate"), None)
    if found is None:
        return []
    properties = found.parameters["properties"]
    assert isinstance(properties, dict)
    flow = properties["flow_id"]
    assert isinstance(flow, dict)
    return [str(name) for name in _list(flow["enum"])]


def settable(request: ChatRequest) -> list[str]:
    """The fields that a request's ``set_fields`` takes."""
    found = next((t for t in request.tools if t.name == "set_fields"), None)
    properties = found.parameters["properties"] if found is not None else {}
    assert isinstance(properties, dict)
    return list(properties)


def system(call: Call, request: int = -1) -> str:
    """The system message of a request."""
    return call.model.requests[request].messages[0].text


def ended_skills(call: Call) -> list[tuple[str, str]]:
    """(skill, how) of every skill that left the stack, but for the start of the session."""
    return [
        (str(e["skill"]), str(e["how"]))
        for e in call.voice.happened("skill_ended")
        if e["skill"] != "default_session_start"
    ]


def ran(call: Call) -> list[str]:
    """Names of the authors' tools that were started, in order."""
    return [str(e["tool"]) for e in call.voice.happened("tool_started")]


def keys_of(call: Call, tool: str) -> list[str]:
    """The idempotency keys of a tool's runs."""
    return [
        str(e["idempotency_key"]) for e in call.voice.happened("tool_started") if e["tool"] == tool
    ]


def events(call: Call) -> list[Event]:
    """Everything that was recorded so far."""
    return list(_record(call).events)


def facts(call: Call, kind: type[F]) -> list[F]:
    """The recorded facts of one kind."""
    return [event.fact for event in events(call) if isinstance(event.fact, kind)]


def _record(call: Call) -> ConversationRecord:
    (held,) = call.agent._conversations.values()  # pyright: ignore[reportPrivateUsage]
    return held.record


def _list(value: Json) -> list[Json]:
    assert isinstance(value, list)
    return value
