"""Memory as an author's tool sees it in a call: what it reads, what it may write, what stays."""

import json
from dataclasses import replace

from runtime.agent import CallReady, Happened, Json, OpenCall
from runtime.conversation.events import MemorySet
from runtime.models.scripted_model import Call as Ask
from runtime.models.scripted_model import Say as Write
from runtime.project.model import Project
from tests.fakes.tool_notes import notes
from tests.fakes.voice_side import Voice
from tests.fakes.written_projects import skill
from tests.runtime.engine.helpers import connected
from tests.runtime.engine.worlds import (
    IMPORTS,
    NOTES,
    blocks_only,
    ended_skills,
    facts,
    fill,
    hear,
    in_project,
    memory,
    nothing,
    settable,
    start,
    system,
)

PROBE = f"""{IMPORTS}{NOTES}
@tool(description="Reads")
async def look(name: str, context: ToolContext = None) -> ToolResult:
    note("read", (context.memory.get(name), context.memory.get(name, "default")))
    return ToolResult()


@tool(description="Writes")
async def put(name: str, text: str, context: ToolContext = None) -> ToolResult:
    import json
    try:
        context.memory.set(name, json.loads(text))
    except Exception as error:
        note("refused", type(error).__name__)
        return ToolResult("refused")
    note("now", context.memory.get(name))
    return ToolResult("written")
"""
FILES = {
    "skills/a/skill.md": skill("\nHelp.\n"),
    "skills/a/memory.yml": """
    schema:
      public:
        word: {type: text}
        both: {type: text}
        count: {type: int}
        sure: {type: bool}
        once: {type: text, immutable: true}
        start: {type: int, initial_value: 7}
      private:
        own: {type: text}
    """,
    "skills/a/tools.py": PROBE,
    "skills/b/skill.md": skill("\nOther.\n"),
    "skills/b/memory.yml": """
    schema:
      public:
        open: {type: text, initial_value: seen}
      private:
        hidden: {type: text, initial_value: unseen}
    """,
    "memory.yml": """
    both: {type: text}
    city: {type: text}
    plan: {type: text, seed: true}
    age: {type: int, seed: true}
    secret: {type: text, seed: true, pii: true}
    """,
}


def get(name: str) -> Ask:
    """The tool of skill ``a`` reads."""
    return Ask("look", {"name": name})


def put(name: str, value: Json) -> Ask:
    """The tool of skill ``a`` writes."""
    return Ask("put", {"name": name, "text": json.dumps(value)})


async def outcomes(project: Project, *asked: Ask) -> list[object]:
    """What came of each call, in a conversation of its own: what was read, or how a write ended.

    A read gives (without a default, with one); a write gives the value as it is read back, or the
    name of the error.
    """
    found: list[object] = []
    steps = [start("a"), Write("Yes?"), *(step for ask in asked for step in (ask, Write("Ok.")))]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        for _ in asked:
            before = len(notes)
            await hear(call, "go on")
            (made,) = notes[before:]
            found.append(made.value)
    return found


@in_project(FILES)
async def test_a_bare_name_is_the_skill_s_then_the_project_s(project: Project) -> None:
    """R23, R26, M5: read and written in this order."""
    assert await outcomes(
        project,
        put("both", "mine"),
        put("project.both", "ours"),
        get("both"),
        get("project.both"),
        get("a.both"),
        put("city", "Kiel"),
        get("project.city"),
    ) == ["mine", "ours", ("mine", "mine"), ("ours", "ours"), ("mine", "mine"), "Kiel",
          ("Kiel", "Kiel")]  # fmt: skip


@in_project(FILES)
async def test_what_can_be_read_of_other_skills(project: Project) -> None:
    """R24, R25: public fields by their qualified name; no private one, no ``session.``."""
    nothing_there = (None, "default")
    assert await outcomes(
        project,
        get("b.open"),
        get("open"),
        get("b.hidden"),
        get("session.b.open"),
        get("nobody.knows"),
        get("system.time"),
        get(""),
        get("..."),
        get("start"),
    ) == [("seen", "seen"), *[nothing_there] * 7, (7, 7)]


@in_project(FILES)
async def test_falsy_values_are_values_and_none_is_none(project: Project) -> None:
    """R25, R30: a stored 0, False or "" wins over the default; ``None`` clears."""
    assert await outcomes(
        project,
        put("count", 0),
        get("count"),
        put("sure", False),
        get("sure"),
        put("word", ""),
        get("word"),
        put("word", None),
        get("word"),
    ) == [0, (0, 0), False, (False, False), "", ("", ""), None, (None, "default")]


@in_project(FILES)
async def test_what_must_not_be_written(project: Project) -> None:
    """R26, R27, R28, M4: each raises in the tool, and nothing is written."""
    assert await outcomes(
        project,
        put("undeclared", 1),
        put("a.city", "no fall-through"),
        put("b.open", "x"),
        put("open", "x"),
        put("system.time", "x"),
        put("session.a.word", "x"),
        put("count", "many"),
        put("once", "first"),
        put("once", "second"),
        put("project.city", "Kiel"),
        put("project.city", "Bonn"),
        put("city", "Bonn"),
    ) == [
        *["MemoryWriteError"] * 7,
        "first",
        "MemoryWriteError",
        "Kiel",
        *["ProjectMemoryAlreadySetError"] * 2,
    ]


@in_project(FILES)
async def test_in_a_maestro_project_project_fields_may_be_written_again(project: Project) -> None:
    """D10, M5, M6: unless immutable; ``get`` needs no default."""
    older = replace(project, dialect="maestro")
    assert await outcomes(
        older, put("city", "Kiel"), put("city", "Bonn"), get("city"), put("b.open", "x")
    ) == ["Kiel", "Bonn", ("Bonn", "Bonn"), "MemoryWriteError"]


@in_project(FILES)
async def test_a_write_is_seen_and_recorded_at_once(project: Project) -> None:
    """R26, M7: one event the moment it is written, with its value, by the tool."""
    steps = [start("a"), Write("Yes?"), put("word", "x"), Write("Ok.")]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        await hear(call, "go on")
        written = [f for f in facts(call, MemorySet) if f.writer == "tool"]
        assert [(f.namespace, f.name, f.value) for f in written] == [("a", "word", '"x"')]
        order = [e["name"] for e in call.voice.happened("memory_set")]
        assert order == ["a.word"]
        names = [m.event for _, m in call.voice.messages if isinstance(m, Happened)]
        assert names.index("memory_set") < names.index("tool_settled", names.index("tool_started"))


@in_project(
    {
        **FILES,
        "skills/a/skill.md": skill(
            "\nHelp.\n", "access: {deny_read: [b.open, project.city], deny_write: [word]}\n"
        ),
    }
)
async def test_access_takes_entries_out(project: Project) -> None:
    """M2, M3, section 6: ``deny_read`` reads as unset, ``deny_write`` raises."""
    assert await outcomes(
        project, put("city", "Kiel"), get("city"), get("b.open"), put("word", "x"), get("word")
    ) == [None, (None, "default"), (None, "default"), "MemoryWriteError", (None, "default")]


@in_project(FILES)
async def test_the_channel_s_data_seeds_the_fields_that_ask_for_it(project: Project) -> None:
    """Section 6, ``seed``: copied once; of the wrong type = unset; the rest is not taken."""
    async with connected([Write("Hello.")], project=project) as call:
        other = Voice(call.agent, call=2)
        known = (("plan", "gold"), ("age", "old"), ("city", "Kiel"), ("secret", "4711"))
        opening = OpenCall(2, None, "test", "en", known, 1_700_000_000.0, other.slot)
        call.agent.send(opening)
        await other.wait_for(CallReady)
        other.hear("hi")
        await other.wait_ended()
        text = system(call)
        assert 'project.plan: "gold"' in text
        assert "project.age" not in text and "project.city" not in text
        assert "project.secret: [set]" in text and "4711" not in text


@in_project(FILES)
async def test_values_survive_the_end_of_a_skill(project: Project) -> None:
    """Section 6: completion and the switch to another skill keep them, public ones readable."""
    steps = [
        start("b"),
        Write("B."),
        start("a"),
        Write("Yes?"),
        put("word", "kept"),
        Write("Ok."),
        Ask("complete_skill"),
        Write("Back."),
    ]
    async with connected(steps, project=project, strict=False) as call:
        for words in ("b", "a", "write", "done"):
            await hear(call, words)
        assert ("a", "completed") in ended_skills(call)
        assert memory(call, "a.word") == "kept"


@in_project(
    {
        "skills/a/skill.md": blocks_only(
            """
            - id: word
              collect: word
              utterance: utter_ask
            - id: done
              action: utter_done
            """
        ),
        "skills/a/memory.yml": """
        schema: {public: {word: {type: text}, start: {type: int, initial_value: 7}}}
        """,
        "memory.yml": "city: {type: text}\n",
        "responses.yml": "responses: {utter_ask: ['Word?'], utter_done: ['Done, {word}.']}\n",
    }
)
async def test_a_skill_that_starts_again_begins_with_its_fields_unset(project: Project) -> None:
    """Section 6, ``initial_value``: a skill's fields return to it when it starts anew."""
    steps = [start("a"), fill(word="one"), start("a"), nothing(), fill(word="two")]
    async with connected(steps, project=project) as call:
        assert await hear(call, "one") == ["Done, one."]
        assert memory(call, "a.word") == "one"
        assert await hear(call, "again") == ["Word?"]
        assert memory(call, "a.word") is None
        assert await hear(call, "two") == ["Done, two."]


@in_project(FILES)
async def test_the_model_sets_no_field_that_is_not_for_it(project: Project) -> None:
    """R43, section 6: ``llm_settable`` false and not collected: not on offer, and refused."""
    steps = [start("a"), Write("Yes?"), Ask("set_fields", {"word": "x"}), Write("Well.")]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        assert settable(call.model.requests[-1]) == []
        await hear(call, "x")
        assert memory(call, "a.word") is None
