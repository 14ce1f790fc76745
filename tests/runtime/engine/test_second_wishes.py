"""A second wish while the first waits behind its precondition: one resolver serves both.

How a single skill waits, and how topics are parked and offered again, is ``test_stack``.
"""

from runtime.conversation.events import SkillStarted
from runtime.models.scripted_model import Call as Ask
from runtime.models.scripted_model import Say as Write
from runtime.project.model import Project
from tests.fakes.written_projects import skill
from tests.runtime.engine.helpers import connected
from tests.runtime.engine.worlds import (
    IMPORTS,
    blocks_only,
    ended_skills,
    facts,
    fill,
    flows,
    hear,
    in_project,
    memory,
    nothing,
    ran,
    skills,
    start,
)


def named(text: str, name: str) -> str:
    """A written skill under another name."""
    return text.replace("Test skill", name)


def tool_file(name: str) -> str:
    """A file with one tool that does nothing."""
    return f"""{IMPORTS}
@tool(description="Do it")
async def {name}(context: ToolContext = None) -> ToolResult:
    return ToolResult("done")
"""


LIBRARY = {
    "agent.yml": """
    agent:
      persona: You are a test.
    orchestrator:
      model_group: main
      preconditions:
        known: {satisfied_when: session.project.reader, resolve_with: login}
    """,
    "memory.yml": "reader: {type: text}\n",
    "skills/renew/skill.md": named(
        blocks_only("- {id: do_it, execute_tool: renew}", "precondition: known"), "Renew a book"
    ),
    "skills/renew/tools.py": tool_file("renew"),
    "skills/reserve/skill.md": named(
        blocks_only("- {id: do_it, execute_tool: reserve}", "precondition: known"),
        "Reserve a book",
    ),
    "skills/reserve/tools.py": tool_file("reserve"),
    "skills/hours/skill.md": named(
        blocks_only("- {id: say, action: utter_hours}"), "Opening hours"
    ),
    "skills/talk/skill.md": named(skill("\nTalk.\n"), "Talk"),
    "skills/login/skill.md": named(
        blocks_only(
            """
            - id: ask
              collect: number
              utterance: utter_ask
            - id: keep
              set_memory: {project.reader: known}
            """,
            "hidden: true",
        ),
        "Find the reader",
    ),
    "skills/login/memory.yml": "schema: {public: {number: {type: text}}}\n",
    "responses.yml": """
    responses:
      utter_ask: [Your number?]
      utter_hours: [We open at nine.]
    """,
}


@in_project(LIBRARY)
async def test_a_wish_that_waits_is_not_begun_a_second_time(project: Project) -> None:
    """R40: it goes on by itself; "renew" said twice renews once."""
    steps = [start("renew"), nothing(), start("renew"), nothing(), fill(number="7"), Write("So?")]
    async with connected(steps, project=project) as call:
        assert await hear(call, "renew my book") == ["Your number?"]
        assert await hear(call, "I want to renew") == ["Your number?"]
        assert "renew" not in flows(call.model.requests[2])
        assert skills(call) == ["renew", "login"]
        assert await hear(call, "7") == ["So?"]
        assert ran(call) == ["renew"]


@in_project(LIBRARY)
async def test_a_second_wish_with_the_same_precondition_waits_for_the_resolver_under_way(
    project: Project,
) -> None:
    """Section 5, precondition: below the resolver, which is asked once; then both are done."""
    steps = [start("renew"), nothing(), start("reserve"), fill(number="7"), Write("So?")]
    async with connected(steps, project=project) as call:
        await hear(call, "renew my book")
        assert await hear(call, "and reserve another") == ["Your number?"]
        assert skills(call) == ["renew", "reserve", "login"]
        login = next(f.frame for f in facts(call, SkillStarted) if f.skill == "login")
        second = next(f for f in facts(call, SkillStarted) if f.skill == "reserve")
        assert second.below == login
        assert [f.skill for f in facts(call, SkillStarted)].count("login") == 1
        await hear(call, "7")
        assert flows(call.model.requests[3]) == ["hours", "talk"], "both go on by themselves"
        assert sorted(ran(call)) == ["renew", "reserve"]
        assert memory(call, "project.reader") == "known"
        assert skills(call) == []


@in_project(LIBRARY)
async def test_the_offer_to_go_back_names_the_wish_and_not_what_it_waits_for(
    project: Project,
) -> None:
    """Section 5, parking: nobody asked for the hidden skill."""
    steps = [start("renew"), nothing(), start("hours"), nothing(), fill(continue_it=True)]
    steps += [nothing(), fill(number="7"), Write("So?")]
    async with connected(steps, project=project) as call:
        await hear(call, "renew my book")
        heard = await hear(call, "when do you open?")
        assert heard[0] == "We open at nine."
        assert heard[1:] == ["Shall we go back to renew a book?"]
        assert await hear(call, "yes") == ["Your number?"]
        await hear(call, "7")
        assert ran(call) == ["renew"]


@in_project(LIBRARY)
async def test_no_to_the_offer_drops_the_wish_with_what_it_waits_for(project: Project) -> None:
    """Section 5, parking: no second offer comes for the rest of the chain."""
    steps = [start("renew"), nothing(), start("hours"), nothing(), fill(continue_it=False)]
    async with connected([*steps, Write("Fine.")], project=project) as call:
        await hear(call, "renew my book")
        await hear(call, "when do you open?")
        assert await hear(call, "no") == ["Fine."]
        assert ended_skills(call)[-2:] == [("login", "dropped"), ("renew", "dropped")]
        assert skills(call) == []
        assert ran(call) == []


@in_project(LIBRARY)
async def test_a_second_wish_in_answer_to_the_offer_takes_up_the_resolver(
    project: Project,
) -> None:
    """Section 5, parking: nobody is asked whether to "go back" to what they have just asked for."""
    steps = [start("renew"), nothing(), start("hours"), nothing(), start("reserve"), nothing()]
    async with connected(steps, project=project, strict=False) as call:
        await hear(call, "renew my book")
        await hear(call, "when do you open?")
        assert await hear(call, "reserve one instead") == ["Your number?"]


@in_project(LIBRARY)
async def test_a_second_wish_in_the_middle_of_another_topic_asks_for_itself(
    project: Project,
) -> None:
    """Section 5, precondition: what it brought about serves the first as well, unasked."""
    steps = [start("renew"), nothing(), start("talk"), Write("Yes?"), start("reserve"), nothing()]
    steps += [fill(number="7"), nothing(), fill(continue_it=False), nothing()]
    async with connected(steps, project=project, strict=False) as call:
        await hear(call, "renew my book")
        await hear(call, "let us talk")
        assert await hear(call, "reserve one") == ["Your number?"]
        assert await hear(call, "7") == ["Shall we go back to talk?"]
        assert ran(call) == ["reserve"]
        await hear(call, "no")
        assert ran(call) == ["reserve", "renew"]


@in_project(LIBRARY)
async def test_cancelling_while_two_wishes_wait_abandons_the_resolver(project: Project) -> None:
    """R42: none of them is left waiting for a skill that has gone."""
    steps = [start("renew"), nothing(), start("reserve"), Ask("cancel_skill")]
    async with connected(steps, project=project) as call:
        await hear(call, "renew my book")
        await hear(call, "and reserve another")
        await hear(call, "never mind")
        assert ran(call) == []
        assert skills(call) == []


# ------------------------------------------------------------------ beside a write


@in_project(
    {
        "skills/a/skill.md": skill("\nTalk.\n"),
        "skills/a/memory.yml": "schema: {public: {country: {type: text, llm_settable: true}}}\n",
        "skills/b/skill.md": skill("\nOnly there.\n", 'requires: session.a.country == "DE"'),
    }
)
async def test_a_skill_is_not_begun_on_a_value_that_the_same_reply_changes(
    project: Project,
) -> None:
    """R40: ``requires`` is read after the writes, in whatever order they were written."""
    for reply in (
        [fill(country="CH"), start("b")],
        [start("b"), fill(country="CH")],
    ):
        steps = [start("a"), Write("Where?"), reply, Write("Not there.")]
        async with connected(steps, project=project, setup=(("a", "country", "DE"),)) as call:
            await hear(call, "hi")
            assert await hear(call, "in Switzerland") == ["Not there."]
            assert "b" in flows(call.model.requests[2]), "it held when the model was asked"
            assert memory(call, "a.country") == "CH"
            assert skills(call) == ["a"]


@in_project(LIBRARY)
async def test_never_mind_drops_all_that_one_resolver_was_to_serve(project: Project) -> None:
    """Section 5, precondition: no apology for a wish that the caller has let go."""
    steps = [start("renew"), nothing(), start("reserve"), Ask("cancel_skill")]
    async with connected([*steps, Write("Well?")], project=project) as call:
        await hear(call, "renew my book")
        await hear(call, "and reserve one")
        assert await hear(call, "never mind") == ["All right, we'll leave that."]
        assert skills(call) == []
        assert await hear(call, "hm") == ["Well?"]
