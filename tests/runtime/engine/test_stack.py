"""The stack of skills: what runs after what, what is offered again, what ends."""

from runtime.agent import HangUp, Say
from runtime.models.scripted_model import Call as Ask
from runtime.models.scripted_model import Say as Write
from runtime.project.model import Project
from tests.fakes.written_projects import skill
from tests.runtime.engine.helpers import connected
from tests.runtime.engine.worlds import (
    IMPORTS,
    blocks_only,
    ended_skills,
    fill,
    flows,
    hear,
    in_project,
    memory,
    nothing,
    offered,
    ran,
    skills,
    start,
    state,
)

ORDER = """
- id: size
  collect: size
  utterance: utter_ask_size
- id: placed
  action: utter_placed
"""
HOURS = "- {id: say, action: utter_hours}"
FILES = {
    "skills/order/skill.md": blocks_only(ORDER),
    "skills/order/memory.yml": "schema: {public: {size: {type: text}}}\n",
    "skills/hours/skill.md": blocks_only(HOURS),
    "skills/talk/skill.md": skill("\nTalk. For the times use @skill.hours.\n"),
    "responses.yml": """
    responses:
      utter_ask_size: [Which size?]
      utter_placed: ["Ordered, {session.order.size}."]
      utter_hours: [We open at nine.]
    """,
}


@in_project(FILES)
async def test_a_topic_the_caller_changed_is_offered_again_and_yes_resumes(
    project: Project,
) -> None:
    """Section 5, parking: digression, ``default_continue_interrupted``, yes."""
    steps = [
        start("order"),
        nothing(),
        start("hours"),
        nothing(),  # the words that changed the topic do not answer the offer
        fill(continue_it=True),
        nothing(),
        fill(size="M"),
    ]
    async with connected(steps, project=project) as call:
        assert await hear(call, "an order") == ["Which size?"]
        said = await hear(call, "when do you open?")
        assert said[0] == "We open at nine."
        assert "Shall we go back to" in said[1]
        assert skills(call) == ["order", "default_continue_interrupted"]
        assert await hear(call, "yes") == ["Which size?"]
        assert skills(call) == ["order"]
        assert await hear(call, "M") == ["Ordered, M."]


@in_project(FILES)
async def test_no_drops_what_was_parked(project: Project) -> None:
    """Section 5, parking: "no" drops it."""
    steps = [
        start("order"),
        nothing(),
        start("hours"),
        nothing(),
        fill(continue_it=False),
        Write("Fine. What else?"),
    ]
    async with connected(steps, project=project) as call:
        await hear(call, "an order")
        await hear(call, "when do you open?")
        assert await hear(call, "no") == ["Fine. What else?"]
        assert ended_skills(call)[-1] == ("order", "dropped")
        assert skills(call) == []


@in_project(FILES)
async def test_the_offer_can_be_answered_by_naming_what_was_parked(project: Project) -> None:
    """Section 5, parking: what is parked can be started by its name: it goes on."""
    steps = [start("order"), nothing(), start("hours"), nothing(), start("order"), nothing()]
    async with connected(steps, project=project) as call:
        await hear(call, "an order")
        await hear(call, "when do you open?")
        assert await hear(call, "back to my order") == ["Which size?"]
        assert skills(call) == ["order"]


@in_project(FILES)
async def test_a_delegated_skill_gives_back_by_itself(project: Project) -> None:
    """Section 5, parking: ``@skill`` = delegation, resumes without a question."""
    steps = [start("talk"), Write("Hello."), start("hours"), Write("Anything more?")]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        assert await hear(call, "and the times?") == ["We open at nine.", "Anything more?"]
        assert skills(call) == ["talk"]
        assert ended_skills(call) == [("hours", "completed")]
        started = [e["cause"] for e in call.voice.happened("skill_started")]
        assert started[-2:] == ["activated", "delegated"]


@in_project(FILES)
async def test_activate_names_what_can_be_started_now(project: Project) -> None:
    """R40, R42: the enum is rebuilt; ``cancel_skill`` comes with an active skill."""
    steps = [start("order"), nothing(), Ask("cancel_skill"), Write("So?")]
    async with connected(steps, project=project) as call:
        await hear(call, "an order")
        assert flows(call.model.requests[0]) == ["hours", "order", "talk"]
        assert flows(call.model.requests[1]) == ["hours", "talk"]
        assert "cancel_skill" not in offered(call, 0)
        assert "cancel_skill" in offered(call, 1)
        assert await hear(call, "forget it") == ["All right, we'll leave that."]
        assert ended_skills(call) == [("order", "cancelled")]
        await hear(call, "hm")
        assert "order" in flows(call.model.requests[-1])


@in_project(FILES)
async def test_cancelling_a_digression_offers_what_was_parked(project: Project) -> None:
    """R42: only the active skill is abandoned; the one the caller had left is offered again."""
    steps = [start("talk"), Write("Hi."), start("order"), nothing(), Ask("cancel_skill"), nothing()]
    async with connected(steps, project=project) as call:
        await hear(call, "hi")
        await hear(call, "an order")
        said = await hear(call, "forget the order")
        assert ended_skills(call) == [("order", "cancelled")]
        assert said[-1].startswith("Shall we go back to")


# ------------------------------------------------------------------ preconditions

GUARDED = {
    "agent.yml": """
    agent:
      persona: You are a test.
    orchestrator:
      model_group: main
      preconditions:
        known:
          satisfied_when: session.project.ok == True
          resolve_with: login
    """,
    "memory.yml": "ok: {type: bool}\n",
    "skills/vault/skill.md": blocks_only("- {id: open, action: utter_open}", "precondition: known"),
    "skills/login/skill.md": blocks_only(
        """
        - id: ask
          collect: word
          utterance: utter_ask_word
        - id: check
          execute_tool: check
          parameters: {word: session.login.word}
        """,
        "hidden: true",
    ),
    "skills/login/memory.yml": "schema: {private: {word: {type: text}}}\n",
    "skills/login/tools.py": f"""{IMPORTS}
@tool(description="x")
async def check(word: str, context: ToolContext = None) -> ToolResult:
    if word == "sesame":
        context.memory.set("project.ok", True)
    return ToolResult()
""",
    "responses.yml": """
    responses:
      utter_open: [The vault is open.]
      utter_ask_word: [The word?]
    """,
}


@in_project(GUARDED)
async def test_a_skill_waits_behind_its_precondition(project: Project) -> None:
    """Section 5, precondition: parked, the resolver runs, then it continues."""
    steps = [start("vault"), nothing(), fill(word="sesame"), start("vault")]
    async with connected(steps, project=project, strict=False) as call:
        assert await hear(call, "the vault") == ["The word?"]
        assert skills(call) == ["vault", "login"]
        assert flows(call.model.requests[0]) == ["vault"]
        assert (await hear(call, "sesame"))[-1] == "The vault is open."
        assert skills(call) == []
        # It holds now: the second time nobody asks.
        assert await hear(call, "the vault again") == ["The vault is open."]


@in_project(GUARDED)
async def test_an_unmet_precondition_drops_the_skill_and_says_so(project: Project) -> None:
    """Section 5, precondition: dropped when the resolver did not bring it about."""
    steps = [start("vault"), nothing(), fill(word="please")]
    async with connected(steps, project=project) as call:
        await hear(call, "the vault")
        assert await hear(call, "please") == ["I'm sorry, I can't do that without it."]
        assert ended_skills(call) == [("login", "completed"), ("vault", "dropped")]


@in_project(GUARDED)
async def test_cancelling_the_resolver_abandons_what_waits_for_it(project: Project) -> None:
    """R42: abandoning the question abandons the wish behind it."""
    steps = [start("vault"), nothing(), Ask("cancel_skill")]
    async with connected(steps, project=project) as call:
        await hear(call, "the vault")
        await hear(call, "never mind")
        assert ended_skills(call) == [("login", "cancelled"), ("vault", "cancelled")]


# ------------------------------------------------------------------ completion and utter rules


@in_project(
    {
        "skills/quiz/skill.md": skill(
            "\nAsk for the colour.\n", "complete_when: session.quiz.colour == 'red'\n"
        ),
        "skills/quiz/memory.yml": (
            "schema: {public: {colour: {type: text, llm_settable: true}}}\n"
        ),
    }
)
async def test_complete_when_ends_a_prose_skill_as_soon_as_it_holds(project: Project) -> None:
    """Section 5, ``complete_when``: the condition alone completes the skill."""
    steps = [start("quiz"), Write("Which?"), fill(colour="blue"), Write("No."), fill(colour="red")]
    async with connected([*steps, Write("Right!")], project=project) as call:
        await hear(call, "quiz me")
        await hear(call, "blue")
        assert skills(call) == ["quiz"]
        assert await hear(call, "red") == ["Right!"]
        assert ended_skills(call) == [("quiz", "completed")]


@in_project(
    {
        "skills/quiz/skill.md": skill("\nAsk.\n"),
    },
    quiet=False,
)
async def test_a_skill_that_the_model_completes_is_wrapped_up(project: Project) -> None:
    """R41, section 9.3: ``complete_skill`` in prose, then ``default_completed``."""
    steps = [start("quiz"), Write("Well?"), Ask("complete_skill")]
    async with connected(steps, project=project) as call:
        await hear(call, "quiz me")
        assert await hear(call, "enough") == ["Is there anything else I can help you with?"]
        assert ended_skills(call)[0] == ("quiz", "completed")


@in_project(
    {
        "skills/quiz/skill.md": skill(
            "\nAsk for the colour.\n",
            """
            utter:
              - utter_hello: {on: activate}
              - utter_warm: {when: session.quiz.colour == 'red'}
            """,
        ),
        "skills/quiz/memory.yml": (
            "schema: {public: {colour: {type: text, llm_settable: true}}}\n"
        ),
        "responses.yml": "responses: {utter_hello: [A quiz!], utter_warm: [Warm!]}\n",
    }
)
async def test_utter_rules_are_said_once_a_start(project: Project) -> None:
    """Section 5, ``utter``: on activate, and the first time ``when`` becomes true."""
    steps = [
        start("quiz"),
        Write("Which colour?"),
        fill(colour="red"),
        Write("And now?"),
        fill(colour="red"),
        Write("Still?"),
    ]
    async with connected(steps, project=project) as call:
        assert await hear(call, "quiz") == ["A quiz!", "Which colour?"]
        assert await hear(call, "red") == ["Warm!", "And now?"]
        assert await hear(call, "red") == ["Still?"]


# ------------------------------------------------------------------ the engine's own skills


@in_project(
    {
        "skills/default_session_start/skill.md": blocks_only(
            "- {id: hello, action: utter_hello}", "routing: {engine_managed: true}"
        ),
        "skills/order/skill.md": blocks_only("- {id: a, action: utter_hello}"),
        "responses.yml": "responses: {utter_hello: [Hello from the start.]}\n",
    }
)
async def test_the_session_starts_once(project: Project) -> None:
    """Section 9.3: ``default_session_start`` runs with the first turn, and only then."""
    async with connected([Write("Yes?")], project=project) as call:
        call.voice.start("opened")
        await call.voice.wait_ended()
        assert call.voice.texts == ["Hello from the start."]
        assert await hear(call, "hi") == ["Yes?"]


@in_project(FILES)
async def test_silence_is_asked_about_three_times_and_then_the_call_ends(
    project: Project,
) -> None:
    """Section 1 D5: three check-ins, goodbye, hang-up; what was being done stays where it is."""
    async with connected([start("order"), nothing(), fill(size="S")], project=project) as call:
        await hear(call, "an order")
        before = state(call).dialogue.frames
        for n in (1, 2, 3):
            call.voice.start("silence", silence_n=n)
            await call.voice.wait_ended()
            assert state(call).dialogue.frames == before
        assert [m.kind for m in call.voice.of(Say)][-3:] == ["check_in"] * 3
        assert len(set(call.voice.texts)) == 4
        assert call.voice.of(HangUp) == []
        assert await hear(call, "sorry, S") == ["Ordered, S."]
        call.voice.start("silence", silence_n=4)
        await call.voice.wait_ended()
        assert call.voice.texts[-1] == "I'll end the call now. Goodbye."
        assert len(call.voice.of(HangUp)) == 1


@in_project(FILES)
async def test_what_nothing_can_do_is_declined(project: Project) -> None:
    """R47: without an index ``cannot_help`` is on offer at once; the engine says it."""
    steps = [Ask("cannot_help", {"in_domain": True}), Ask("cannot_help", {"in_domain": False})]
    async with connected(steps, project=project) as call:
        inside = await hear(call, "refund me")
        outside = await hear(call, "what's the weather")
        assert inside[0].startswith("I'm sorry, I can't do that for you here.")
        assert outside[0].startswith("I'm sorry, I can't help with that.")
        assert skills(call) == []


@in_project(FILES)
async def test_what_can_not_be_done_in_the_middle_of_something_leaves_it_open(
    project: Project,
) -> None:
    """R47: the active skill goes on after it."""
    steps = [start("order"), nothing(), Ask("cannot_help", {"in_domain": False}), nothing()]
    async with connected(steps, project=project, strict=False) as call:
        await hear(call, "an order")
        said = await hear(call, "what's the weather")
        assert said[0].startswith("I'm sorry, I can't help with that.")
        assert said[1:] == ["Which size?"]
        assert skills(call) == ["order"]


@in_project(
    {
        **FILES,
        "skills/order/skill.md": blocks_only(ORDER, "requires: session.project.member == True"),
        "skills/member/skill.md": blocks_only("- {id: join, set_memory: {project.member: true}}"),
        "memory.yml": "member: {type: bool}\n",
    }
)
async def test_a_skill_is_offered_while_its_condition_holds(project: Project) -> None:
    """Section 5, ``requires``: offered for routing only while it holds; checked again."""
    steps = [start("order"), start("member"), Write("Welcome."), start("order"), nothing()]
    async with connected(steps, project=project) as call:
        await hear(call, "an order")
        assert "order" not in flows(call.model.requests[0])
        assert memory(call, "project.member") is True
        await hear(call, "now the order")
        assert "order" in flows(call.model.requests[3])
        assert skills(call) == ["order"]
        assert ran(call) == []
