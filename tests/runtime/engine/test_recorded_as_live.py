"""What authors' code hands over and no store or watcher should see as it came.

Texts that can't be stored, subclasses of ``str``, personal values: what is live, what is rebuilt
from the store and what watchers are shown is decided here.
"""

import asyncio
from pathlib import Path

from runtime.agent import Happened
from runtime.conversation.events import Event, ResponseGiven
from runtime.conversation.state import fold
from runtime.models.scripted_model import Call as Ask
from runtime.models.scripted_model import Say as Write
from runtime.models.scripted_model import ScriptedModel
from runtime.plane import InLoopAgent
from runtime.project.model import Project
from runtime.store.codec import decode, encode_fact, kind_of
from runtime.store.memory_store import MemoryStore
from runtime.store.sqlite_store import SqliteStore
from tests.fakes.tool_notes import of
from tests.fakes.voice_side import Voice
from tests.fakes.written_projects import skill, written_project
from tests.runtime.engine.helpers import Call, connected
from tests.runtime.engine.worlds import (
    IMPORTS,
    NOTES,
    QUIET_END,
    blocks_only,
    events,
    facts,
    fill,
    hear,
    in_project,
    memory,
    nothing,
    start,
)


def stored(event: Event) -> Event:
    """The event as it comes back from a file."""
    kind, body = kind_of(event.fact), encode_fact(event.fact)
    return decode(event.conversation, event.sequence, event.at_ms, event.turn, kind, body)


# ------------------------------------------------------------------ texts that can't be stored


@in_project(
    {
        "skills/a/skill.md": skill("\nTalk.\n"),
        "skills/a/memory.yml": "schema: {public: {name: {type: text}}}\n",
        "skills/a/tools.py": f"""{IMPORTS}
@tool(description="x")
async def look(context: ToolContext = None) -> ToolResult:
    context.memory.set("name", "a" + chr(0xD800) + "b")
    return ToolResult("ok")
""",
    }
)
async def test_a_value_that_no_utf8_holds_is_live_as_it_will_be_read_back(
    project: Project,
) -> None:
    """K15: the state rebuilt from the store is the one the call went on with."""
    steps = [start("a"), Ask("look"), Write("Done.")]
    async with connected(steps, project=project) as call:
        await hear(call, "go")
        rebuilt = fold([stored(event) for event in events(call)])
        assert memory(call, "a.name") == "a?b"
        assert rebuilt.memory[("a", "name")] == "a?b"


# ------------------------------------------------------------------ subclasses of str

PLACES = {
    "skills/default_completed/skill.md": QUIET_END,
    "skills/a/skill.md": blocks_only("- {id: where, collect: city, utterance: utter_ask}"),
    "skills/a/memory.yml": "schema: {public: {city: {type: text}}}\n",
    "responses.yml": """
    responses:
      utter_ask:
        - text: Where?
          buttons: {source: places}
    """,
    "skills/a/tools.py": f"""{IMPORTS}
from enum import Enum


class Markup(str):
    def __str__(self) -> str:
        return "<b>"


class City(str, Enum):
    KIEL = "Kiel"


@tool(description="x")
async def places(context: ToolContext = None) -> ToolResult:
    context.set_buttons([
        Button(title=Markup("Kiel"), value=City.KIEL, ref=Markup("session.a.city"))
    ])
    return ToolResult()
""",
}


@in_project(PLACES)
async def test_the_parts_of_a_button_are_plain_texts(project: Project) -> None:
    """R33: whatever kind of text the author has, its letters count, and they can be stored."""
    async with connected([start("a"), nothing(), Write("So?")], project=project) as call:
        assert await hear(call, "go") == ["Where? Kiel."]
        (given,) = [fact for fact in facts(call, ResponseGiven) if fact.buttons]
        (button,) = given.buttons
        parts = (button.title, button.payload, button.ref)
        assert parts == ("Kiel", "Kiel", "session.a.city")
        assert [type(part) for part in parts] == [str, str, str]
        encode_fact(given)
        call.voice.hear("Kiel", kind="tap")
        await call.voice.wait_ended()
        assert memory(call, "a.city") == "Kiel"


def test_an_event_that_can_not_be_stored_holds_up_nothing(tmp_path: Path) -> None:
    """It is left out and told; the rest of its conversation and all others are kept."""

    class Text(str):
        """What no codec knows."""

    async def main() -> None:
        store = SqliteStore(tmp_path / "x.db")
        steps = [start("a"), nothing()]
        first = MemoryStore()
        async with connected(steps, project=project, store=first) as call:
            await hear(call, "go")
            made = events(call)
        odd = [
            Event("c1", each.sequence, each.at_ms, each.turn, ResponseGiven(Text("x"), 1, ()))
            if isinstance(each.fact, ResponseGiven)
            else each
            for each in made
        ]
        other = Event("c2", 1, 0, 0, made[0].fact)
        await store.append([*odd, other])
        kept = await store.load("c1")
        assert [each.sequence for each in kept] == [
            each.sequence for each in made if not isinstance(each.fact, ResponseGiven)
        ]
        assert len(await store.load("c2")) == 1
        await store.aclose()

    project = written_project(tmp_path / "project", PLACES)
    asyncio.run(main())


# ------------------------------------------------------------------ personal values

PERSONAL = {
    "skills/a/skill.md": skill("\nTalk.\n"),
    "skills/a/memory.yml": """
    schema:
      public:
        card: {type: text, llm_settable: true, pii: true}
        amount: {type: int, llm_settable: true, pii: true}
    """,
    "skills/a/tools.py": f"""{IMPORTS}{NOTES}
@tool(description="x")
async def look(card: int, context: ToolContext = None) -> ToolResult:
    note("card", card)
    return ToolResult({{
        "card": context.memory.get("card"),
        "line": "Card 4711, paid",
        "amounts": [context.memory.get("amount"), 7],
    }})
""",
}


def shown(call: Call) -> str:
    """All that watchers were told."""
    return str([(message.event, message.fields) for message in call.voice.of(Happened)])


@in_project(PERSONAL)
async def test_personal_values_are_hidden_from_watchers_in_arguments_and_results(
    project: Project,
) -> None:
    """As numbers, as texts and inside longer texts; the tool and the model have them."""
    values = fill(card="4711", amount=98765)
    steps = [start("a"), Write("?"), [values, Ask("look", {"card": 4711})], Write("Ok.")]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        await hear(call, "card 4711, amount 98765")
        assert of("card") == [4711]
        assert "4711" not in shown(call)
        assert "98765" not in shown(call)
        settled = next(e for e in call.voice.happened("tool_settled") if e["tool"] == "look")
        assert "[set], paid" in str(settled["text"])
        assert "7" in str(settled["text"])
        assert "4711" in str(call.prompt()), "the model reads what the tool returned"


@in_project(PERSONAL)
async def test_personal_values_of_an_earlier_turn_are_hidden_too(project: Project) -> None:
    """By what memory holds now, not by what this reply has written."""
    look = Ask("look", {"card": 4711})
    steps = [start("a"), Write("?"), fill(card="4711"), Write("Yes."), look, Write("Ok.")]
    async with connected(steps, project=project) as call:
        for words in ("hi", "it is 4711", "look it up"):
            await hear(call, words)
        started = next(e for e in call.voice.happened("tool_started") if e["tool"] == "look")
        assert started["text"] == '{"card": "[set]"}'
        assert "4711" not in shown(call)


def test_an_agent_with_an_odd_button_still_stores_its_conversation(tmp_path: Path) -> None:
    """R33: live, through the write-behind store, beside another call."""

    async def main() -> None:
        path = tmp_path / "x.db"
        model = ScriptedModel([start("a"), nothing(), Write("Hello.")])
        agent = InLoopAgent(project, models=[model], store=SqliteStore(path))
        voice, other = Voice(agent, ms_per_char=1), Voice(agent, call=2, ms_per_char=1)
        await voice.ready("c1")
        voice.hear("go")
        await voice.wait_ended()
        await other.ready("c2")
        other.hear("hi")
        await other.wait_ended()
        await agent.aclose()
        store = SqliteStore(path)
        kept = await store.load("c1")
        assert [event.sequence for event in kept] == list(range(1, len(kept) + 1))
        assert any(isinstance(e.fact, ResponseGiven) and e.fact.buttons for e in kept)
        assert len(await store.load("c2")) > 3
        await store.aclose()

    project = written_project(tmp_path / "project", PLACES)
    asyncio.run(main())
