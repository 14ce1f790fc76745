"""Random conversations on a whole project: at every point the log folds to the live state.

The agent that is called has blocks, gates, a confirmation, hooks, buttons and a skill of prose; its
model does whatever its tools allow, by chance. The caller speaks, interrupts, keys, taps, stays
silent, goes on after having been taken for done, hangs up and calls again.
"""

import asyncio
import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime.agent import Json
from runtime.conversation.events import Event
from runtime.conversation.prompt_history import history_messages
from runtime.conversation.state import fold
from runtime.engine.record import ConversationRecord
from runtime.models.ports import ChatRequest, ToolSpec
from runtime.models.scripted_model import Call as Ask
from runtime.models.scripted_model import Fail, Part, ScriptedModel, Wait
from runtime.models.scripted_model import Say as Write
from runtime.plane import InLoopAgent
from runtime.project.model import Project
from runtime.store.codec import decode, encode_fact, kind_of
from runtime.store.memory_store import MemoryStore
from tests.fakes.voice_side import Voice
from tests.fakes.written_projects import skill, written_project
from tests.runtime.conversation.test_history import (
    _check_well_formed,  # pyright: ignore[reportPrivateUsage]  # one check, two test modules
)
from tests.runtime.engine.worlds import IMPORTS, block_of, blocks_only
from voice.replay.virtual_loop import run_virtual

TOOLS = f"""{IMPORTS}
@tool(description="x")
async def look(n: int = 1, context: ToolContext = None) -> ToolResult:
    await context.send("One moment.")
    await asyncio.sleep(0.4)
    context.memory.set("seen", n)
    return ToolResult({{"n": n}})


@tool(description="x", on_interrupt="finish")
async def keep(context: ToolContext = None) -> ToolResult:
    await asyncio.sleep(1.5)
    return ToolResult()


@tool(description="x")
async def pay(amount: int = 1, context: ToolContext = None) -> ToolResult:
    await asyncio.sleep(0.2)
    async with context.committing():
        await asyncio.sleep(0.6)
        context.memory.set("paid", True)
    return ToolResult("paid")


@tool(description="x")
async def choices(context: ToolContext = None) -> ToolResult:
    await asyncio.sleep(0.1)
    context.set_buttons([Button("Blue", "blue", ref="session.a.colour"), Button("Other", "o")])
    return ToolResult()


@tool(description="x")
async def run_after_setting_colour(context: ToolContext = None) -> ToolResult:
    await asyncio.sleep(0.2)
    if context.memory.get("colour") == "red":
        return ToolResult(llm_response={{"error": "not red"}})
    context.memory.set("project.taste", "good")
    return ToolResult()
"""
FRONT = """
tool_constraints:
  - pay:
      requires: session.a.seen > 0
      requires_confirmation: {enabled: true, utter_for_confirmation: utter_sure}
      on_success: utter_done
utter:
  - utter_hello: {on: activate}
"""
FILES = {
    "agent.yml": """
    agent: {persona: You are a test.}
    orchestrator:
      model_group: main
      preconditions:
        tasteful: {satisfied_when: session.project.taste == 'good', resolve_with: c}
    """,
    "skills/a/skill.md": blocks_only(
        """
        - {id: colour, collect: colour, utterance: utter_ask_colour}
        - {id: size, collect: size, dtmf: {length: 2}}
        - {id: look, execute_tool: look, parameters: {n: session.a.size}}
        - {id: keep, execute_tool: keep}
        - {id: pay, execute_tool: pay}
        - {id: wait, action: action_listen}
        - {id: chat, instructions: Be kind.}
        """,
        FRONT,
    ),
    "skills/a/memory.yml": """
    schema:
      public:
        colour: {type: categorical, enum_values: [red, blue]}
        size: {type: int, initial_value: null}
        seen: {type: int}
        paid: {type: bool}
    """,
    "skills/a/tools.py": TOOLS,
    "skills/b/skill.md": skill(
        "\nTalk. Use @skill.a or @block.part.\n"
        + block_of("- {id: go, call: deep}\n- {id: say, action: utter_hello}", "part")
        + block_of("- {id: mood, collect: mood, utterance: utter_mood}", "deep"),
        "precondition: tasteful\ncomplete_when: session.b.mood == 'bad'\n",
    ),
    "skills/b/memory.yml": "schema: {public: {mood: {type: text}}}\n",
    "skills/c/skill.md": blocks_only("- {id: t, collect: word, utterance: utter_mood}"),
    "skills/c/memory.yml": "schema: {private: {word: {type: text}}}\n",
    "memory.yml": "taste: {type: text}\n",
    "responses.yml": """
    responses:
      utter_hello: [Hello.]
      utter_done: [Paid.]
      utter_mood: [And the mood?]
      utter_sure: ["Shall I pay, with {size}?"]
      utter_ask_colour:
        - {text: Which colour?, buttons: {source: choices}}
    """,
}

_step = st.tuples(
    st.sampled_from(
        ["hear", "hear", "hear", "interrupt", "keys", "tap", "silence", "reopen", "again", "wait"]
    ),
    st.integers(0, 1500),
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The agent that is called."""
    folder: Path = tmp_path_factory.mktemp("rebuilt")
    return written_project(folder, FILES)


@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(_step, min_size=1, max_size=14), st.lists(st.integers(0, 999), min_size=4))
def test_at_every_point_the_events_fold_to_the_live_state(
    project: Project,
    caplog: pytest.LogCaptureFixture,
    steps: list[tuple[str, int]],
    chance: list[int],
) -> None:
    """R56, R57, B09: nothing decides where a conversation stands but its events."""

    async def main() -> None:
        await _Conversation(project, chance).play(steps)

    run_virtual(main())
    assert [r.getMessage() for r in caplog.records if r.levelno >= logging.ERROR] == []


class _Conversation:
    """One conversation by chance, over one or more calls."""

    def __init__(self, project: Project, chance: Sequence[int]) -> None:
        self._chance = chance
        self._drawn = 0
        model = ScriptedModel([self._answer], repeat_last=True)
        self._agent = InLoopAgent(
            project, models=[model], store=MemoryStore(), new_conversation=lambda _: "c"
        )
        self._calls = 1
        self._voice = Voice(self._agent, ms_per_char=10)

    async def play(self, steps: Sequence[tuple[str, int]]) -> None:
        """Do one thing after the other; look at the log in between."""
        await self._voice.ready()
        for what, ms in steps:
            await self._do(what, ms)
            await asyncio.sleep(ms / 1000)
            self._check()
        await asyncio.sleep(30)
        self._check()
        record = self._record
        await self._agent.aclose()
        _same(record)
        assert [made for made in record.state.open_calls if made.started] == []

    async def _do(self, what: str, ms: int) -> None:
        voice = self._voice
        match what:
            case "interrupt" if voice.turn:
                voice.interrupt()
            case "keys":
                voice.hear(f"{ms % 100:02}", kind="keys")
            case "tap":
                voice.hear(["Blue", "set:session.a.colour=blue", "o"][ms % 3], kind="tap")
            case "silence":
                voice.start("silence", silence_n=1 + ms % 4)
            case "reopen" if voice.turn:
                last = voice.turn
                voice.interrupt("reopened")
                voice.hear("and more", reopens=last)
            case "again":
                voice.close()
                await asyncio.sleep(0)
                self._calls += 1
                self._voice = Voice(self._agent, call=self._calls, ms_per_char=10)
                await asyncio.sleep(12)
                await self._voice.ready("c")
            case "wait":
                await asyncio.sleep(3)
            case _:
                voice.hear("words")

    @property
    def _record(self) -> ConversationRecord:
        return self._agent._conversations["c"].record  # pyright: ignore[reportPrivateUsage]

    def _check(self) -> None:
        _same(self._record)

    # -- a model that does whatever it is offered

    def _next(self) -> int:
        self._drawn += 1
        return self._chance[self._drawn % len(self._chance)] + self._drawn

    def _answer(self, request: ChatRequest) -> list[Part]:
        _check_well_formed(list(request.messages[1:]))
        pick = self._next() % 10
        if pick == 0:
            return [Write("What would you like to do next?", ms_per_word=40)]
        if pick == 1:
            return [Wait(0.3), Fail()]
        parts: list[Part] = [Write("Let me see.")] if pick == 2 else []
        tools = request.tools
        made = (self._call(tools[self._next() % len(tools)]) for _ in range(1 + pick % 2))
        return [*parts, *made]

    def _call(self, spec: ToolSpec) -> Ask:
        properties = cast("dict[str, dict[str, Json]]", spec.parameters.get("properties", {}))
        values = {name: self._value(about) for name, about in properties.items()}
        return Ask(spec.name, values)

    def _value(self, about: dict[str, Json]) -> Json:
        choices = about.get("enum")
        if isinstance(choices, list):
            return choices[self._next() % len(choices)]
        plain: dict[str, Json] = {
            "integer": self._next() % 3,
            "boolean": self._next() % 2 == 0,
            "string": "bad" if self._next() % 4 == 0 else "fine",
        }
        return plain.get(str(about.get("type")), "blue")


def _same(record: ConversationRecord) -> None:
    past = list(record.events)
    read_back = [_through_the_codec(event) for event in past]
    assert read_back == past
    rebuilt = fold(read_back)
    assert rebuilt == record.state
    assert history_messages(rebuilt) == history_messages(record.state)


def _through_the_codec(event: Event) -> Event:
    body = encode_fact(event.fact)
    json.loads(body)
    kind = kind_of(event.fact)
    return decode(event.conversation, event.sequence, event.at_ms, event.turn, kind, body)
