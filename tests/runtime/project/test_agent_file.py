"""``agent.yml``: every key, its default, its range, and where a mistake is shown."""

import pytest

from runtime.agent import FillerSettings
from runtime.engine.builtin import BUILTIN
from runtime.errors import Place, Problem
from runtime.project.agent_file import AgentFile, read_agent
from runtime.project.conditions import parse
from runtime.project.model import (
    BuiltinConstraint,
    Dialect,
    FillerGuidance,
    KnowledgeSettings,
    Orchestrator,
    Precondition,
    SkillRetrieval,
)
from runtime.project.orchestrator_file import BUILTIN_NAMES
from tests.runtime.project.reading import places, read_with

SMALL = "agent: {persona: Kind.}\norchestrator: {model_group: main}\n"


def _read(text: str, dialect: Dialect = "mantle") -> tuple[AgentFile, list[Problem]]:
    return read_with(lambda problems: read_agent(text.encode(), {}, problems, "folder", dialect))


def _right(text: str, dialect: Dialect = "mantle") -> AgentFile:
    read, found = _read(text, dialect)
    assert found == []
    return read


def test_every_key_has_the_default_of_the_format():
    read = _right(SMALL)
    assert (read.id, read.persona, read.language, read.rules) == ("folder", "Kind.", "en", ())
    assert read.fillers == FillerSettings()
    assert (read.fillers.after_ms, read.fillers.every_ms, read.fillers.most) == (1200, 6000, 3)
    assert read.filler_guidance == FillerGuidance()
    assert read.tool_timeout_s == 10.0
    assert read.silence_timeout_ms == 30_000
    assert read.orchestrator == Orchestrator()
    assert read.orchestrator.max_prompt_tokens == 8000
    assert read.knowledge == KnowledgeSettings(top_k=4, chunk_size=1000, chunk_overlap=20)
    assert read.embeddings_place is None
    assert read.skill_retrieval is None
    assert read.before_end == {}
    assert read.session_expiration_ms == 3_600_000
    assert read.conditions == ()
    assert not read.is_maestro


def test_everything_that_is_written_arrives():
    """R5: the timeout of tools is the author's."""
    read = _right("""\
agent: {id: bank, persona: You are kind., language: de}
rules: [Be short., 007 is a name]
fillers:
  enabled: true
  after: 2
  every: 500 ms
  max: 1
  phrases: [Moment.]
  instructions: Say what you do.
  reminder: Keep it short.
  examples:
    - {user: Where is it?, ack: Let me look.}
knowledge_answering:
  top_k: 6
  chunking: {chunk_size: 400, chunk_overlap: 0}
  instructions: Only from the files.
  embeddings: small
skill_retrieval: {num_skills: 5, turns_to_embed: 2}
conversation: {before_end: [feedback, survey]}
tool_timeout: 2.5
orchestrator:
  model_group: second
  max_prompt_tokens: 4000
  text_rules: [One.]
  voice_rules: |
    Speak.
  preconditions:
    login:
      satisfied_when: session.project.authenticated == True
      resolve_with: identify
      unmet_utterance: false
  tool_constraints:
    cannot_help: {enabled: false}
    activate: {invoke_when: As soon as you can.}
    cancel_skill: {requires_confirmation: true}
voice: {silence_timeout: 2 min}
session_config: {session_expiration_time: 0.5}
""")
    assert (read.id, read.persona, read.language) == ("bank", "You are kind.", "de")
    assert read.rules == ("Be short.", "007 is a name")
    assert read.fillers == FillerSettings(
        enabled=True, after_ms=2000, every_ms=500, most=1, phrases=("Moment.",)
    )
    assert read.filler_guidance == FillerGuidance(
        "Say what you do.", "Keep it short.", (("Where is it?", "Let me look."),)
    )
    assert read.knowledge == KnowledgeSettings(6, 400, 0, "Only from the files.", "small")
    assert read.embeddings_place == Place("agent.yml", 17, 15)
    assert read.skill_retrieval == SkillRetrieval(5, 2)
    assert list(read.before_end) == ["feedback", "survey"]
    assert read.tool_timeout_s == 2.5
    assert (read.model_group, read.model_group_place) == ("second", Place("agent.yml", 22, 16))
    condition = parse("session.project.authenticated == True")
    assert read.orchestrator == Orchestrator(
        max_prompt_tokens=4000,
        text_rules=("One.",),
        voice_rules=("Speak.",),
        preconditions={"login": Precondition("login", condition, "identify", False)},
        builtin={
            "cannot_help": BuiltinConstraint(enabled=False),
            "activate": BuiltinConstraint(invoke_when="As soon as you can."),
            "cancel_skill": BuiltinConstraint(requires_confirmation=True),
        },
    )
    assert [(c.condition, c.place) for c in read.conditions] == [
        (condition, Place("agent.yml", 29, 23))
    ]
    assert read.silence_timeout_ms == 120_000
    assert read.session_expiration_ms == 30_000


def test_the_builtin_names_are_the_engines():
    assert BUILTIN_NAMES == BUILTIN


@pytest.mark.parametrize(
    ("written", "ms"), [("0", 0), ("60", 3_600_000), ("90 min", 5_400_000), ("45 s", 45_000)]
)
def test_the_session_expires_after_minutes_or_a_duration(written: str, ms: int):
    text = f"{SMALL}session_config: {{session_expiration_time: {written}}}\n"
    assert _right(text).session_expiration_ms == ms


def test_a_filler_delay_of_nothing_turns_fillers_off():
    assert _right(f"{SMALL}fillers: {{after: 0}}\n").fillers.enabled is False


def test_rules_that_are_written_empty_are_none_at_all():
    """An empty list is a wish of its own, a missing key means the packaged rules."""
    read = _right("agent: {persona: K.}\norchestrator: {model_group: m, voice_rules: []}\n")
    assert read.orchestrator.voice_rules == ()
    assert read.orchestrator.text_rules is None


def test_a_small_chunk_needs_no_overlap_of_its_own():
    read = _right(f"{SMALL}knowledge_answering: {{chunking: {{chunk_size: 10}}}}\n")
    assert (read.knowledge.chunk_size, read.knowledge.chunk_overlap) == (10, 9)


@pytest.mark.parametrize(
    ("line", "place", "code"),
    [
        ("knowlege_answering: {}", "3:1", "unknown_key"),
        ("rules: Be short.", "3:8", "wrong_type"),
        ("rules: ['']", "3:9", "empty_text"),
        ("fillers: {after: 1:30}", "3:18", "wrong_type"),
        ("fillers: {max: 101}", "3:16", "out_of_range"),
        ("fillers: {examples: [{user: Hi.}]}", "3:22", "missing_key"),
        ("fillers: {examples: [{user: Hi., ack: Yes., say: x}]}", "3:45", "unknown_key"),
        ("fillers: {phrases: {a: b}}", "3:20", "wrong_type"),
        ("knowledge_answering: {top_k: 0}", "3:30", "out_of_range"),
        ("knowledge_answering: {chunking: {chunk_size: 0}}", "3:46", "out_of_range"),
        ("knowledge_answering: {chunking: {chunk_overlap: -1}}", "3:49", "out_of_range"),
        (
            "knowledge_answering: {chunking: {chunk_size: 50, chunk_overlap: 50}}",
            "3:65",
            "out_of_range",
        ),
        ("knowledge_answering: {chunk_size: 50}", "3:23", "unknown_key"),
        ("skill_retrieval: true", "3:18", "wrong_type"),
        ("skill_retrieval: {num_skills: 0}", "3:31", "out_of_range"),
        ("skill_retrieval: {turns_to_embed: 1_0}", "3:35", "wrong_type"),
        ("conversation: {before_end: [a, b, a]}", "3:35", "duplicate_value"),
        ("conversation: {before_end: a}", "3:28", "wrong_type"),
        ("tool_timeout: 0", "3:15", "out_of_range"),
        ("tool_timeout: -1", "3:15", "out_of_range"),
        ("voice: {silence_timeout: soon}", "3:26", "wrong_type"),
        ("voice: {silence_timout: 7}", "3:9", "unknown_key"),
        ("session_config: {session_expiration_time: -5}", "3:43", "out_of_range"),
        ("session_config: {session_expiration_time: 1:30}", "3:43", "wrong_type"),
        ("session_config: {expiration: 5}", "3:18", "unknown_key"),
    ],
)
def test_a_mistake_is_shown_at_its_place(line: str, place: str, code: str):
    """K03: durations have their forms, numbers no underscores."""
    _, found = _read(f"{SMALL}{line}\n")
    assert places(found) == [(place, code)]


@pytest.mark.parametrize(
    ("line", "place", "code", "mend"),
    [
        ("model_gruop: x", "4:3", "unknown_key", "did you mean 'model_group'?"),
        ("max_prompt_tokens: 0", "4:22", "out_of_range", "write 1 to 10000000"),
        ("text_rules: {a: b}", "4:15", "wrong_type", "put the text in quotes"),
        (
            "tool_constraints: {actvate: {enabled: false}}",
            "4:22",
            "unknown_tool",
            "did you mean 'activate'?",
        ),
        ("tool_constraints: {look_up: {}}", "4:22", "unknown_tool", "write 'activate'"),
        ("tool_constraints: {listen: {enabled: no}}", "4:40", "wrong_type", "write true or false"),
        ("tool_constraints: {listen: {enable: true}}", "4:31", "unknown_key", "did you mean"),
        (
            "tool_constraints: {listen: {requires_confirmation: true}}",
            "4:31",
            "misplaced_key",
            "take it away",
        ),
        (
            "preconditions: {login: {resolve_with: x}}",
            "4:26",
            "missing_key",
            "add 'satisfied_when: session.project.…'",
        ),
        (
            "preconditions: {login: {satisfied_when: session.project.a}}",
            "4:26",
            "missing_key",
            "add 'resolve_with: …'",
        ),
        (
            "preconditions: {login: {satisfied_when: session.a.b, resolve: x, resolve_with: y}}",
            "4:56",
            "unknown_key",
            "did you mean 'resolve_with'?",
        ),
    ],
)
def test_a_mistake_below_orchestrator_is_shown_at_its_place(
    line: str, place: str, code: str, mend: str
):
    """K01: ``no`` is a text, where true or false is wanted it is refused."""
    _, found = _read(f"agent: {{persona: K.}}\norchestrator:\n  model_group: main\n  {line}\n")
    assert places(found) == [(place, code)]
    assert found[0].mend.startswith(mend)


@pytest.mark.parametrize(
    ("written", "place"),
    [
        ('""', "6:24"),
        ('"  "', "6:24"),
        ("", "6:22"),
        ("[]", "6:23"),
        ("session.project.a = 1", "6:41"),
        ('"session.project.a && true"', "6:42"),
        ("{a: b}", "6:23"),
    ],
)
def test_a_precondition_that_is_no_condition_is_refused(written: str, place: str):
    """K10, K11: a blank one is as wrong as a broken one."""
    text = (
        "agent: {persona: K.}\norchestrator:\n  model_group: main\n  preconditions:\n    login:\n"
        f"      satisfied_when: {written}\n      resolve_with: identify\n"
    )
    read, found = _read(text)
    assert places(found) == [(place, "bad_condition")]
    # It stays known to the skills that name it, and never holds.
    assert not read.orchestrator.preconditions["login"].satisfied_when.holds(lambda _, __: True)
    assert read.conditions == ()


def test_what_must_be_there_is_asked_for():
    _, found = _read("agent: {id: x}\norchestrator: {}\n")
    assert places(found) == [("1:8", "missing_key"), ("2:15", "missing_key")]
    _, found = _read("")
    assert [p.code for p in found] == ["missing_key", "missing_key"]


# ------------------------------------------------------------------ the older form


def test_a_maestro_project_keeps_rules_and_voice_inside_agent():
    """D1: it loads without edits, and says that it is one."""
    read = _right("agent:\n  persona: K.\n  rules: [Be short.]\n  voice: {silence_timeout: 7}\n")
    assert read.is_maestro
    assert read.rules == ("Be short.",)
    assert read.silence_timeout_ms == 7000
    assert read.model_group == "default"


def test_a_project_known_as_maestro_needs_no_model_group():
    """D1: its one model is the group ``default``."""
    assert _right("agent: {persona: K.}\n", "maestro").model_group == "default"
    assert _right(SMALL, "maestro").model_group == "main"


def test_rules_in_both_places_are_one_too_many():
    _, found = _read("agent: {persona: K., rules: [a]}\nrules: [b]\n")
    assert places(found) == [("1:22", "duplicate_key")]
    assert "agent.yml:2:1" in found[0].message


def test_typos_inside_agent_stay_mistakes():
    _, found = _read(SMALL.replace("persona: Kind.", "persona: Kind., rule: x"))
    assert places(found) == [("1:25", "unknown_key")]
    assert found[0].mend == "did you mean 'rules'?"


@pytest.mark.parametrize("written", ["1 h", "-1", "soon", "'5'", "[60]", "999999"])
def test_how_long_a_session_lives_is_told_in_minutes(written: str):
    """K03: a plain number is minutes here, and seconds elsewhere."""
    text = SMALL + f"session_config: {{session_expiration_time: {written}}}\n"
    _, (problem,) = _read(text)
    assert problem.code in ("wrong_type", "out_of_range")
    assert problem.mend == (
        "write minutes as a plain number from 0 (never) to 527040, or a duration: "
        "'90 min', '3600 s'"
    )


@pytest.mark.parametrize(
    ("written", "mend"),
    [
        ("rules: be nice", "write 'rules:', and below it '- be nice'"),
        ("conversation: {before_end: x}", "write 'before_end:', and below it '- x'"),
        ("conversation: x", "write 'conversation: {before_end: x}'"),
        ("fillers: false", "write 'fillers: {enabled: false}'"),
        ("voice: 7", "write 'voice: {silence_timeout: 7}'"),
        ("session_config: 30", "write 'session_config: {session_expiration_time: 30}'"),
    ],
)
def test_a_value_in_the_place_of_a_block_or_list_gets_the_form_to_write(written: str, mend: str):
    _, (problem,) = _read(SMALL + written)
    assert (problem.code, problem.mend) == ("wrong_type", mend)
