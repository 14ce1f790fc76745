"""Ordered blocks: every kind of step, where each goes next, and who is asked when."""

from runtime.agent import HangUp, Listen, Transfer
from runtime.models.scripted_model import Say as Write
from runtime.project.model import Project
from tests.fakes.tool_notes import of
from tests.fakes.written_projects import skill
from tests.runtime.engine.helpers import connected
from tests.runtime.engine.worlds import (
    IMPORTS,
    NOTES,
    at_step,
    block_of,
    blocks_only,
    ended_skills,
    fill,
    hear,
    in_project,
    memory,
    nothing,
    offered,
    ran,
    skills,
    start,
    state,
    system,
)

RESPONSES = """
responses:
  utter_ask_name: [What is your name?]
  utter_ask_age: [How old are you?]
  utter_young: [You are young.]
  utter_old: [You are old.]
  utter_done: ["Done, {name}."]
  utter_one: [One.]
  utter_two: [Two.]
"""
MEMORY = """
schema:
  public:
    name: {type: text}
    age: {type: int}
    note: {type: text}
    flag: {type: bool}
    anything: {type: any}
"""


def project_of(steps: str, **more: str) -> dict[str, str]:
    """One skill ``a`` of one block."""
    return {
        "skills/a/skill.md": blocks_only(steps),
        "skills/a/memory.yml": MEMORY,
        "responses.yml": RESPONSES,
        **more,
    }


ASKING = """
- id: who
  collect: name
  utterance: utter_ask_name
- id: age
  collect: age
  utterance: utter_ask_age
  next:
    - if: session.a.age < 30
      then: young
    - else: old
- id: young
  action: utter_young
  next: END
- id: old
  action: utter_old
  next: finally
- id: finally
  action: utter_done
- id: END
"""


@in_project(project_of(ASKING))
async def test_a_block_asks_for_one_entry_after_the_other_and_branches(project: Project) -> None:
    """R41, R48, section 5: collect, next with if and else, a plain next, END; a skill of blocks
    offers no ``complete_skill``, a guided collect no ``listen``."""
    steps = [start("a"), nothing(), fill(name="Ada"), fill(age=41)]
    async with connected(steps, project=project) as call:
        assert await hear(call, "hello") == ["What is your name?"]
        assert at_step(call) == "who"
        assert not offered(call) & {"complete_skill", "listen"}
        assert await hear(call, "Ada") == ["How old are you?"]
        assert await hear(call, "41") == ["You are old.", "Done, Ada."]
        assert ended_skills(call) == [("a", "completed")]
        assert skills(call) == []


@in_project(project_of(ASKING))
async def test_a_branch_that_ends_the_block_leaves_out_the_rest(project: Project) -> None:
    """Section 5: ``next: END`` in the middle."""
    steps = [start("a"), fill(name="Ada", age=12)]
    async with connected(steps, project=project) as call:
        assert await hear(call, "I'm Ada and I'm 12") == ["You are young."]
        assert ended_skills(call) == [("a", "completed")]


@in_project(project_of(ASKING))
async def test_a_known_entry_is_not_asked_for(project: Project) -> None:
    """Section 5: a collect is skipped when its entry is known already."""
    steps = [start("a"), fill(age=50), fill(name="Ada")]
    async with connected(steps, project=project) as call:
        assert await hear(call, "hi, I'm 50") == ["What is your name?"]
        assert await hear(call, "Ada") == ["You are old.", "Done, Ada."]


@in_project(project_of(ASKING))
async def test_a_question_that_was_not_answered_is_put_again(project: Project) -> None:
    """Section 9.1: the model answers what was said, the engine asks again."""
    steps = [start("a"), nothing(), Write("It's for the letter."), fill(name="Ada")]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        said = await hear(call, "why do you ask?")
        assert said == ["It's for the letter.", "What is your name?"]
        assert await hear(call, "Ada") == ["How old are you?"]


@in_project(
    project_of(
        """
        - id: who
          collect: name
          description: the caller's first name
        - id: done
          action: utter_done
        """
    )
)
async def test_without_an_utterance_the_model_asks(project: Project) -> None:
    """Section 5: a collect without wording is asked by the model, which is told about it."""
    steps = [start("a"), Write("And you are?"), fill(name="Ada")]
    async with connected(steps, project=project) as call:
        assert await hear(call, "hi") == ["And you are?"]
        assert "the caller's first name" in system(call)
        assert await hear(call, "Ada") == ["Done, Ada."]


@in_project(
    project_of(
        """
        - id: known
          set_memory: {name: Ada}
        - id: who
          collect: name
          utterance: utter_ask_name
          ask_before_filling: true
        - id: done
          action: utter_done
        """
    )
)
async def test_ask_before_filling_asks_although_the_entry_is_known(project: Project) -> None:
    """Section 5: ``ask_before_filling``: an old value does not answer the question."""
    steps = [start("a"), fill(name="Bo")]
    async with connected(steps, project=project) as call:
        assert await hear(call, "hi, it's Ada") == ["What is your name?"]
        assert memory(call, "a.name") == "Ada"
        assert await hear(call, "Bo") == ["Done, Bo."]


@in_project(
    project_of(
        """
        - id: ask
          instructions: Find out whether they like it.
          complete_when: session.a.flag == True
        - id: done
          action: utter_one
        """,
        **{
            "skills/a/memory.yml": "schema: {public: {flag: {type: bool, llm_settable: true}}}\n",
            "responses.yml": "responses: {utter_one: [One.]}\n",
        },
    )
)
async def test_the_model_converses_in_a_step_until_it_is_complete(project: Project) -> None:
    """Section 5: instructions with ``complete_when``."""
    steps = [start("a"), Write("Do you like it?"), Write("Do you?"), fill(flag=True)]
    async with connected(steps, project=project) as call:
        assert await hear(call, "hi") == ["Do you like it?"]
        assert await hear(call, "hm") == ["Do you?"]
        assert "Find out whether they like it." in system(call)
        assert await hear(call, "yes") == ["One."]


@in_project(
    project_of(
        """
        - id: chat
          instructions: Say something kind.
        - id: done
          action: utter_one
        - id: rest
          collect: name
          utterance: utter_ask_name
        """
    )
)
async def test_instructions_without_an_end_are_done_with_one_reply(project: Project) -> None:
    """Section 5: an instructions step of one reply."""
    steps = [start("a"), Write("You are great.")]
    async with connected(steps, project=project) as call:
        assert await hear(call, "hi") == ["You are great.", "One.", "What is your name?"]


@in_project(
    project_of(
        """
        - id: chat
          instructions: Offer them the newsletter.
          complete_when: session.a.flag == True
          optional: true
        - id: done
          action: utter_one
        """
    )
)
async def test_an_optional_step_lets_the_caller_pass(project: Project) -> None:
    """Section 5: ``optional``: done at the latest with the caller's next words."""
    steps = [start("a"), Write("Do you want our newsletter?"), Write("Fine.")]
    async with connected(steps, project=project) as call:
        assert await hear(call, "hi") == ["Do you want our newsletter?"]
        assert await hear(call, "no") == ["Fine.", "One."]


@in_project(
    project_of(
        """
        - id: one
          action: utter_one
        - id: wait
          action: action_listen
        - id: two
          action: utter_two
        """
    )
)
async def test_action_listen_waits_for_the_caller(project: Project) -> None:
    """R49: a wait step of its own: the block goes on with the caller's next words."""
    async with connected([start("a"), nothing()], project=project, strict=False) as call:
        assert await hear(call, "hi") == ["One."]
        assert at_step(call) == "wait"
        assert await hear(call, "go on") == ["Two."]


@in_project(
    project_of(
        """
        - id: one
          action: utter_one
        - id: over
          action: transfer
          to: second line
        - id: two
          action: utter_two
        """
    )
)
async def test_transfer_hands_the_call_over(project: Project) -> None:
    """Section 5: ``action: transfer`` ends the agent's part after what was said."""
    async with connected([start("a")], project=project) as call:
        assert await hear(call, "hi") == ["One."]
        assert [m.target for m in call.voice.of(Transfer)] == ["second line"]
        assert call.voice.of(Listen) == []


@in_project(
    project_of(
        """
        - id: one
          action: utter_one
        - id: over
          action: hangup
        - id: two
          action: utter_two
        """
    )
)
async def test_hangup_ends_the_call(project: Project) -> None:
    """Section 5: ``action: hangup``."""
    async with connected([start("a")], project=project) as call:
        assert await hear(call, "hi") == ["One."]
        assert len(call.voice.of(HangUp)) == 1


@in_project(
    project_of(
        """
        - id: write
          set_memory:
            note: first
            project.city: Kiel
        - id: again
          set_memory:
            note: second
            project.city: Bonn
        - id: done
          action: utter_one
        """,
        **{"memory.yml": "city: {type: text}\n"},
    )
)
async def test_set_memory_leaves_a_project_field_that_is_set(project: Project) -> None:
    """R29: literal writes; an already-set project field is skipped, and the block goes on."""
    async with connected([start("a")], project=project) as call:
        assert await hear(call, "hi") == ["One."]
        assert memory(call, "a.note") == "second"
        assert memory(call, "project.city") == "Kiel"


@in_project(
    project_of(
        """
        - id: again
          noop: true
          next:
            - if: session.a.flag
              then: out
            - else: once_more
        - id: once_more
          set_memory: {note: x}
          next: again
        - id: out
          action: utter_one
        """
    )
)
async def test_a_circle_of_steps_ends_in_the_spoken_way_out(project: Project) -> None:
    """Section 9.1: nothing goes round for ever."""
    async with connected([start("a")], project=project) as call:
        (said,) = await hear(call, "hi")
        assert said.startswith("I'm sorry")
        assert call.voice.happened("turn_ended")[-1]["outcome"] == "failed"


NESTED = skill(
    block_of(
        """
        - id: one
          action: utter_one
        - id: inner
          call: part
        - id: after
          action: utter_done
        - id: other
          call: b
        - id: last
          link: tail
        - id: never
          action: utter_young
        """
    )
    + block_of(
        """
        - id: ask
          collect: name
          utterance: utter_ask_name
        """,
        "part",
    )
    + block_of("- {id: bye, action: utter_old}", "tail")
)


@in_project(
    {
        "skills/a/skill.md": NESTED,
        "skills/a/memory.yml": MEMORY,
        "skills/b/skill.md": blocks_only("- {id: two, action: utter_two}", "hidden: true"),
        "responses.yml": RESPONSES,
    }
)
async def test_call_comes_back_and_link_does_not(project: Project) -> None:
    """Section 5: call of a block and of a skill, link to a block."""
    async with connected([start("a"), nothing(), fill(name="Ada")], project=project) as call:
        assert await hear(call, "hi") == ["One.", "What is your name?"]
        said = await hear(call, "Ada")
        assert said == ["Done, Ada.", "Two.", "You are old."]
        assert ended_skills(call) == [("b", "completed"), ("a", "completed")]


@in_project(
    {
        "skills/a/skill.md": blocks_only("- {id: go, link: b}\n- {id: never, action: utter_one}"),
        "skills/b/skill.md": blocks_only("- {id: two, action: utter_two}"),
        "responses.yml": "responses: {utter_one: [One.], utter_two: [Two.]}\n",
    }
)
async def test_link_to_a_skill_hands_over(project: Project) -> None:
    """Section 5: link to a skill takes this one's place."""
    async with connected([start("a")], project=project) as call:
        assert await hear(call, "hi") == ["Two."]
        assert ended_skills(call) == [("a", "linked"), ("b", "completed")]


TOOL = f"""{IMPORTS}{NOTES}
@tool(description="x")
async def look(name: str, kind: str = "plain", context: ToolContext = None) -> ToolResult:
    note("look", (name, kind))
    context.memory.set("flag", name == "Ada")
    return ToolResult(llm_response={{"secret": 1}})
"""


@in_project(
    project_of(
        """
        - id: who
          collect: name
          utterance: utter_ask_name
        - id: look
          execute_tool: look
          parameters:
            name: session.a.name
            kind: session.a.note
          next:
            - if: session.a.flag
              then: yes_it_is
            - else: no_it_is_not
        - id: yes_it_is
          action: utter_one
          next: END
        - id: no_it_is_not
          action: utter_two
        """,
        **{"skills/a/tools.py": TOOL},
    )
)
async def test_the_engine_calls_a_tool_and_branches_on_what_it_wrote(project: Project) -> None:
    """R36, section 5: references resolve from memory, an unset one is left out."""
    async with connected([start("a"), fill(name="Ada")], project=project) as call:
        assert await hear(call, "I'm Ada") == ["One."]
        assert of("look") == [("Ada", "plain")]
        assert ran(call) == ["look"]
        assert "secret" not in str(call.model.requests[-1])


@in_project(
    project_of(
        """
        - id: loose
          set_memory: {anything: 5}
        - id: look
          execute_tool: look
          parameters: {name: session.a.anything}
        - id: after
          action: utter_two
        """,
        **{"skills/a/tools.py": TOOL},
    )
)
async def test_arguments_that_do_not_fit_are_not_sent_and_the_block_goes_on(
    project: Project,
) -> None:
    """Section 8.1: a step's arguments are checked against the schema as the model's are."""
    async with connected([start("a")], project=project) as call:
        assert await hear(call, "hi") == ["Two."]
        assert of("look") == []


@in_project(
    {
        "skills/a/skill.md": skill(
            "\nTalk about fish. If they want one, go to @block.sale.\n"
            + block_of("- {id: name, collect: name, utterance: utter_ask_name}", "sale")
        ),
        "skills/a/memory.yml": MEMORY,
        "responses.yml": RESPONSES,
    }
)
async def test_a_hybrid_skill_goes_back_to_its_prose(project: Project) -> None:
    """R41, section 5: ``@block`` from prose and back; ``complete_skill`` only in the prose."""
    steps = [
        start("a"),
        Write("We have cod."),
        start("a.sale"),
        fill(name="Ada"),
        Write("Sold. Anything else about fish?"),
    ]
    async with connected(steps, project=project) as call:
        assert await hear(call, "fish") == ["We have cod."]
        assert "complete_skill" in offered(call)
        assert await hear(call, "one, please") == ["What is your name?"]
        assert await hear(call, "Ada") == ["Sold. Anything else about fish?"]
        assert "complete_skill" not in offered(call, -2)
        assert "cancel_skill" in offered(call, -2)
        assert "complete_skill" in offered(call)
        assert skills(call) == ["a"]
        assert state(call).dialogue.frames[0].place is None
