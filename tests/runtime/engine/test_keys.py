"""Keyed digits as the agent takes them: written before any model call, checked, in their type."""

from runtime.agent import Listen
from runtime.conversation.events import MemorySet
from runtime.models.scripted_model import Say as Write
from runtime.project.model import Project
from tests.fakes.tool_notes import of
from tests.fakes.written_projects import skill
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
    start,
)

FILES = {
    "skills/a/skill.md": blocks_only(
        """
        - id: pin
          collect: pin
          utterance: utter_ask_pin
          dtmf: {length: 4}
        - id: count
          collect: count
          utterance: utter_ask_count
          dtmf: {finish_on_key: "#"}
        - id: words
          collect: word
          utterance: utter_ask_word
        - id: done
          action: utter_done
        """
    ),
    "skills/a/memory.yml": """
    schema:
      private:
        pin: {type: text}
        count: {type: int}
        word: {type: text}
    """,
    "skills/a/tools.py": f"""{IMPORTS}{NOTES}
@tool(description="x")
async def run_after_setting_pin(context: ToolContext = None) -> ToolResult:
    note("pin", context.memory.get("pin"))
    if context.memory.get("pin") == "0000":
        return ToolResult(llm_response={{"error": "That number is not known."}})
    return ToolResult()
""",
    "skills/talk/skill.md": skill("\nTalk.\n"),
    "responses.yml": """
    responses:
      utter_ask_pin: [Your PIN?]
      utter_ask_count: [How many?]
      utter_ask_word: [The word?]
      utter_done: ["Done, {count}."]
    """,
}


async def key(call: Call, digits: str) -> list[str]:
    """Key something in; return what was said then."""
    before = len(call.voice.texts)
    call.voice.hear(digits, kind="keys")
    await call.voice.wait_ended()
    return call.voice.texts[before:]


@in_project(FILES)
async def test_keyed_digits_are_written_before_any_model_call(project: Project) -> None:
    """G01: they are an answer by themselves; no word and no model is needed."""
    async with connected([start("a"), nothing()], project=project) as call:
        assert await hear(call, "hi") == ["Your PIN?"]
        listen = call.voice.of(Listen)[-1]
        assert listen.keys is not None
        assert (listen.keys.length, listen.keys.finish) == (4, None)
        assert await key(call, "1234") == ["How many?"]
        assert len(call.model.requests) == 2
        assert [(f.name, f.writer) for f in facts(call, MemorySet)] == [("pin", "keys")]
        keys = call.voice.of(Listen)[-1].keys
        assert keys is not None and keys.finish == "#"


@in_project(FILES)
async def test_leading_zeros_survive_in_a_text(project: Project) -> None:
    """G04: keys are text: 0123 stays 0123, and the hook sees it so."""
    async with connected([start("a"), nothing()], project=project) as call:
        await hear(call, "hi")
        await key(call, "0123")
        assert memory(call, "a.pin") == "0123"
        assert of("pin") == ["0123"]


@in_project(FILES)
async def test_digits_become_the_field_s_type_and_the_finish_key_is_not_stored(
    project: Project,
) -> None:
    """G01, section 5: coerced to int; ``#`` only ends the input."""
    async with connected([start("a"), nothing()], project=project) as call:
        await hear(call, "hi")
        await key(call, "1234")
        assert await key(call, "007#") == ["The word?"]
        assert memory(call, "a.count") == 7


@in_project(FILES)
async def test_a_refused_number_is_told_to_the_model_and_asked_again(project: Project) -> None:
    """R51, section 5: the hook's refusal rolls the keyed value back."""
    steps = [start("a"), nothing(), Write("I don't know that one.")]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        assert await key(call, "0000") == ["I don't know that one.", "Your PIN?"]
        assert memory(call, "a.pin") is None
        assert at_step(call) == "pin"
        assert "That number is not known." in call.model.requests[-1].messages[-1].text


@in_project(FILES)
async def test_a_number_that_does_not_fit_the_field_is_refused(project: Project) -> None:
    """G04: ``*`` is no digit of an int; nothing is guessed."""
    steps = [start("a"), nothing(), Write("Only digits, please.")]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        await key(call, "1234")
        assert await key(call, "1*2#") == ["Only digits, please.", "How many?"]
        assert memory(call, "a.count") is None


@in_project(FILES)
async def test_keys_that_nobody_waits_for_are_the_model_s_to_read(project: Project) -> None:
    """G01: never lost: where no step takes keys they are input like words."""
    steps = [start("talk"), Write("Yes?"), Write("You keyed 5.")]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        assert await key(call, "5") == ["You keyed 5."]
        assert call.prompt()[-1][0] == "user" and "5" in call.prompt()[-1][1]


@in_project(FILES)
async def test_a_key_that_stopped_the_question_is_the_answer_s_first(project: Project) -> None:
    """G02: the turn of the question was interrupted, the step is where it was: digits count."""
    async with connected([start("a"), nothing()], project=project) as call:
        call.voice.hear("hi")
        await call.voice.wait_event("response_given")
        call.voice.interrupt("key")
        assert await key(call, "1234") == ["How many?"]
        assert memory(call, "a.pin") == "1234"


@in_project(
    {
        **FILES,
        "skills/a/skill.md": blocks_only(
            """
            - id: pin
              collect: pin
              utterance: utter_ask_pin
              dtmf: {length: 4}
            """
        ),
    }
)
async def test_a_keyed_last_answer_is_answered(project: Project) -> None:
    """G01: where the block ends in silence, the model has the last word."""
    async with connected([start("a"), nothing(), Write("Thank you.")], project=project) as call:
        await hear(call, "hi")
        assert await key(call, "1234") == ["Thank you."]
