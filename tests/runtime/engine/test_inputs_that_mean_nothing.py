"""Taps, keys and words that give no value: nothing is written, nothing is confirmed, nobody waits.

What a tap and a key do mean is ``test_buttons`` and ``test_keys``.
"""

from pathlib import Path

import pytest

from runtime.agent import InputKind, Listen
from runtime.conversation.events import MemorySet
from runtime.models.scripted_model import Say as Write
from runtime.project.model import Project
from tests.fakes.tool_notes import of
from tests.runtime.engine.bank_files import bank, on_project, say
from tests.runtime.engine.confirmed_payments import (
    CONFIRMED,
    KNOWN,
    NOTHING,
    PAY,
    PROSE,
    QUESTION,
    YES,
    runs,
)
from tests.runtime.engine.helpers import Call, connected
from tests.runtime.engine.worlds import (
    IMPORTS,
    NOTES,
    at_step,
    blocks_only,
    facts,
    hear,
    in_project,
    memory,
    nothing,
    ran,
    start,
    state,
)

SKIPPED = "I'm sorry, that choice is no longer open."


async def given(call: Call, text: str, kind: InputKind) -> list[str]:
    """Key or tap something; what was said then."""
    before = len(call.voice.texts)
    call.voice.hear(text, kind=kind)
    await call.voice.wait_ended()
    return call.voice.texts[before:]


# ------------------------------------------------------------------ taps


@on_project(PROSE)
async def test_a_tap_on_no_button_confirms_nothing_and_ends_the_turn(project: Project) -> None:
    """R33, M02: one that is late is not the answer to another question, nor the model's to read."""
    async with connected([PAY, YES, NOTHING], project=project, setup=KNOWN, strict=False) as call:
        await say(call, "pay my rent")
        assert state(call).buttons == ()
        assert await given(call, "Yes", "tap") == [SKIPPED]
        assert len(call.model.requests) == 1
        assert runs(call) == []
        assert [f for f in facts(call, MemorySet) if f.writer == "tap"] == []


# ------------------------------------------------------------------ keys

CARD = {
    "skills/a/skill.md": blocks_only(
        """
        - id: card
          collect: card
          utterance: utter_card
          dtmf: {finish_on_key: "#"}
        - id: pin
          collect: pin
          utterance: utter_pin
          dtmf: {length: 4}
        """
    ),
    "skills/a/memory.yml": "schema: {public: {card: {type: text}, pin: {type: text}}}\n",
    "responses.yml": "responses: {utter_card: [Your card?], utter_pin: [Your PIN?]}\n",
}


@pytest.mark.parametrize(("keys", "replies"), [("#", 1), ("", 0)])
def test_the_finishing_key_alone_is_no_value(tmp_path: Path, keys: str, replies: int) -> None:
    """G01: an empty text is not written; the question comes again."""

    @in_project(CARD)
    async def scenario(project: Project) -> None:
        steps = [start("a"), nothing(), *[nothing()] * replies]
        async with connected(steps, project=project) as call:
            await hear(call, "hi")
            assert await given(call, keys, "keys") == ["Your card?"]
            assert memory(call, "a.card") is None
            assert at_step(call) == "card"

    scenario(tmp_path)


@in_project(CARD)
async def test_too_few_keys_for_the_length_are_no_value(project: Project) -> None:
    """G01: a pause among the keys ends the input, and half a number is not kept."""
    steps = [start("a"), nothing(), Write("That was short."), Write("Thanks.")]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        assert await given(call, "77#", "keys") == ["Your PIN?"]
        assert await given(call, "12", "keys") == ["That was short.", "Your PIN?"]
        assert memory(call, "a.pin") is None
        assert "2 digits were keyed, and 4 are needed" in call.model.requests[-1].messages[-1].text
        assert await given(call, "0012", "keys") == ["Thanks."]
        assert memory(call, "a.pin") == "0012"


@on_project(
    bank(
        """
        :::ordered_block id=main
        steps:
          - id: only
            collect: payee
            utterance: utter_denied
            ask_before_filling: true
            dtmf: {length: 1}
        :::
        """,
        CONFIRMED,
    )
)
async def test_keys_at_a_yes_or_no_question_are_not_the_value_of_the_step_below(
    project: Project,
) -> None:
    """G01, M02: no rule for keys is given out, and nothing of the held call changes."""
    steps = [PAY, NOTHING, YES, NOTHING]
    async with connected(steps, project=project, setup=KNOWN, strict=False) as call:
        call.voice.start("opened")
        await call.voice.wait_ended()
        assert (await say(call, "pay my rent"))[-1] == QUESTION
        listen = call.voice.of(Listen)[-1]
        assert (listen.expect.kind, listen.keys) == ("yes_no", None)
        assert (await given(call, "1", "keys"))[-1] == QUESTION
        assert memory(call, "desk.payee") == "Haus Nord"
        assert [f for f in facts(call, MemorySet) if f.writer == "keys"] == []
        await say(call, "yes")
        assert runs(call) == ['{"amount":240,"payee":"Haus Nord"}']


# ------------------------------------------------------------------ buttons that are not there

PLACES = {
    "skills/a/skill.md": blocks_only(
        "- {id: where, collect: city, utterance: utter_ask}",
        "tool_constraints: [{places: {requires: session.a.known}}]",
    ),
    "skills/a/memory.yml": (
        "schema: {public: {city: {type: text}, known: {type: bool, initial_value: false}}}\n"
    ),
    "skills/a/tools.py": f"""{IMPORTS}{NOTES}
@tool(description="x")
async def places(context: ToolContext = None) -> ToolResult:
    note("asked")
    context.set_buttons([Button(title="Kiel", value="Kiel", ref="session.a.city")])
    return ToolResult()
""",
    "responses.yml": """
    responses:
      utter_ask:
        - text: Where?
          buttons: {source: places}
    """,
}


@in_project(PLACES)
async def test_a_source_of_buttons_behind_a_shut_gate_gives_none(project: Project) -> None:
    """C12: the engine's own call passes the same gate as any other."""
    async with connected([start("a"), nothing()], project=project) as call:
        assert await hear(call, "hi") == ["Where?"]
        assert of("asked") == []
        assert ran(call) == []
        assert state(call).buttons == ()


@in_project(PLACES)
async def test_a_source_of_buttons_behind_an_open_gate_gives_them(project: Project) -> None:
    """C12: the gate opens with the value it reads."""
    setup = (("a", "known", True),)
    async with connected([start("a"), nothing()], project=project, setup=setup) as call:
        assert await hear(call, "hi") == ["Where? Kiel."]
        assert len(of("asked")) == 1


# ------------------------------------------------------------------ words without an answer


@in_project(
    {
        "skills/a/skill.md": blocks_only("- {id: where, collect: city, utterance: utter_ask}"),
        "skills/a/memory.yml": ("schema: {public: {city: {type: text}, known: {type: bool}}}\n"),
        "responses.yml": """
        responses:
          utter_ask:
            - text: "Where?"
              condition: session.a.known
        """,
    }
)
async def test_a_question_of_which_no_wording_holds_leaves_no_silence(project: Project) -> None:
    """A model that says nothing either is asked once more, then answered for."""
    steps = [start("a"), nothing(), nothing(), Write("Where to?")]
    async with connected(steps, project=project) as call:
        (line,) = await hear(call, "go")
        assert line.startswith("I'm sorry")
        assert await hear(call, "hello?") == ["Where to?"]
        assert at_step(call) == "where"
