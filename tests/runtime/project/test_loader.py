"""A folder becomes a Project, or a list of everything that is wrong with it."""

import dataclasses
from pathlib import Path

import pytest

from runtime.agent import (
    CallSettings,
    FillerSettings,
    InterruptionSettings,
    TurnTakingSettings,
)
from runtime.errors import Place, ProjectError
from runtime.project.loader import load
from runtime.project.model import ChannelSpec, EngineSpec, Greeting, MemoryField, ModelSpec
from tests.runtime.project.projects import WHOLE, problems, project, write

TOOLS = """
from runtime import ToolContext, ToolResult, tool

@tool(description="Look something up", filler="Looking.")
async def look_up(what: str, context: ToolContext = None) -> ToolResult:
    return ToolResult(llm_response={"what": what})
"""


def _codes(root: Path, files: dict[str, str | bytes | None]) -> list[tuple[str, str]]:
    return [(str(p.place), p.code) for p in problems(root, files)]


def test_a_small_project_gets_its_defaults(tmp_path: Path):
    """What the file format promises for every key that is left out."""
    root = tmp_path / "my-agent"
    root.mkdir()
    loaded = project(root, {})
    assert (loaded.id, loaded.persona, loaded.language) == ("my-agent", "You are kind.", "en")
    assert loaded.settings == CallSettings(silence_timeout_ms=30_000)
    assert loaded.tool_timeout_s == 10.0
    assert loaded.channels == ChannelSpec()
    assert loaded.model_group == (
        ModelSpec(
            provider="rules",
            model="",
            options=(("file", "rules.yml"),),
            place=Place("integrations.yml", 4, 9),
        ),
    )
    assert loaded.greetings == ()
    assert len(loaded.check_ins) == 3 and loaded.goodbye and loaded.model_error
    assert (loaded.skill.id, loaded.skill.name, loaded.skill.prose) == (
        "desk",
        "Desk",
        "Be helpful.",
    )
    assert loaded.skill.place == Place("skills/desk/skill.md", 5, 1)


def test_everything_that_is_written_arrives(tmp_path: Path):
    """Every key of this version, in one project."""
    loaded = project(
        tmp_path,
        {
            "agent.yml": """
agent: {id: bank, persona: You are kind., language: de}
rules: [Be short., 007 is a name]
fillers: {enabled: true, after: 2, every: 500 ms, max: 1, phrases: [Moment.]}
tool_timeout: 2.5
orchestrator: {model_group: second}
voice: {silence_timeout: 2 min}
""",
            "integrations.yml": """
model_groups:
  - id: first
    models: [{provider: scripted}]
  - id: second
    models:
      - provider: openai
        model: gpt
        api_base: http://localhost:1/v1
        api_key: ${KEY}
        temperature: 0.2
      - {provider: my.models:Mine, model: x, depth: {a: [1, yes]}}
channels:
  phone:
    asr: {name: scripted, accuracy: 1}
    tts: {name: my.tts, voice: anna, speed: 1.5}
    interruptions:
      {enabled: false, onset_ms: 60, resume_ms: 300, hold_max_ms: 900, min_words: 2,
       backchannels: [ja, genau], interrupt_words: []}
    turn_taking: {min_silence: 0.3, max_silence: 2400 ms}
    silence_timeout: 7
    pause_after_filler: 0
    pause_between_messages: 1.5
    public_url: https://x.example
    auth_token: ${TOKEN:-}
    max_calls: 4
  off: {enabled: false}
""",
            "skills/desk/tools.py": TOOLS,
            "skills/desk/skill.md": (
                "---\nname: Desk\ndescription: Helps.\n---\n\n"
                "Use @tool.look_up.\n\nMail me@tool.x\n"
            ),
        },
        {"KEY": "sk-1"},
    )
    assert loaded.id == "bank"
    assert loaded.rules == ("Be short.", "007 is a name")
    assert loaded.tool_timeout_s == 2.5
    assert loaded.settings == CallSettings(
        language="de",
        fillers=FillerSettings(
            enabled=True, after_ms=2000, every_ms=500, most=1, phrases=("Moment.",)
        ),
        interruptions=dataclasses.replace(
            InterruptionSettings(),
            enabled=False,
            onset_ms=60,
            resume_ms=300,
            hold_max_ms=900,
            min_words=2,
            backchannels=("ja", "genau"),
            interrupt_words=(),
        ),
        turn_taking=dataclasses.replace(
            TurnTakingSettings(), min_silence_ms=300, max_silence_ms=2400, collecting_max_ms=2400
        ),
        pause_after_filler_ms=0,
        pause_between_messages_ms=1500,
        silence_timeout_ms=7000,
    )
    first, second = loaded.model_group
    assert (first.provider, first.model) == ("openai", "gpt")
    assert dict(first.options) == {
        "api_base": "http://localhost:1/v1",
        "api_key": "sk-1",
        "temperature": 0.2,
    }
    assert (second.provider, dict(second.options)) == (
        "my.models:Mine",
        {"depth": {"a": [1, "yes"]}},
    )
    assert "sk-1" not in repr(loaded)
    assert loaded.channels == ChannelSpec(
        name="phone",
        stt=EngineSpec("scripted", (("accuracy", 1),)),
        tts=EngineSpec("my.tts", (("speed", 1.5),)),
        voice="anna",
        public_url="https://x.example",
        auth_token=None,
        max_calls=4,
    )
    assert [tool.name for tool in loaded.tools] == ["look_up"]
    assert loaded.skill.prose == "Use `look_up`.\n\nMail me@tool.x"


def test_a_filler_delay_of_nothing_turns_fillers_off(tmp_path: Path):
    agent = WHOLE["agent.yml"] + "fillers: {after: 0}\n"
    assert project(tmp_path, {"agent.yml": agent}).settings.fillers.enabled is False


def test_greetings_come_in_order_and_only_they_can_be_protected(tmp_path: Path):
    """A recording notice that can't be talked over, then a welcome that can."""
    loaded = project(
        tmp_path,
        {
            "responses.yml": """
responses:
  utter_session_start: Hello.
  utter_session_notice: [{text: This call is recorded., interruptible: false}]
  utter_silence_check_in_2: [Hello?]
  utter_hangup_goodbye: {text: Bye.}
  utter_model_call_error: Sorry.
"""
        },
    )
    assert loaded.greetings == (Greeting("This call is recorded.", False), Greeting("Hello."))
    assert loaded.check_ins[1] == "Hello?" and len(loaded.check_ins) == 3
    assert (loaded.goodbye, loaded.model_error) == ("Bye.", "Sorry.")


def test_memory_of_project_and_skill_is_read_with_its_types(tmp_path: Path):
    """K01, K04, K05, K15: an initial value keeps its characters; names may be of any language."""
    loaded = project(
        tmp_path,
        {
            "memory.yml": "authenticated: {type: bool, initial_value: false}\nphone:\n",
            "skills/desk/memory.yml": """
schema:
  public:
    größe: {type: categorical, enum_values: [yes, no, true, 08], llm_settable: true,
            initial_value: 08, description: The size}
    plan: {type: text, initial_value: 3.10}
    count: {type: int, initial_value: 7}
    rate: {type: float, initial_value: 1e3}
  private:
    pin: {type: text, initial_value: 0012, pii: true}
    list: {type: list, initial_value: [a, 1, 2026-03-01]}
    extra: {type: json, initial_value: {a: 3.10, b: 1.5}}
""",
        },
    )
    found = {f"{f.namespace}.{f.name}": f for f in loaded.memory}
    assert list(found) == [
        "project.authenticated",
        "project.phone",
        "desk.größe",
        "desk.plan",
        "desk.count",
        "desk.rate",
        "desk.pin",
        "desk.list",
        "desk.extra",
    ]
    assert found["desk.größe"] == MemoryField(
        namespace="desk",
        name="größe",
        type="categorical",
        enum_values=("yes", "no", "true", "08"),
        description="The size",
        llm_settable=True,
        initial_value="08",
        place=Place("skills/desk/memory.yml", 4, 5),
    )
    values = {name: f.initial_value for name, f in found.items()}
    assert values["project.authenticated"] is False
    assert values["project.phone"] is None
    assert values["desk.plan"] == "3.10"
    assert values["desk.count"] == 7
    assert values["desk.rate"] == 1000.0
    assert values["desk.pin"] == "0012"
    assert values["desk.list"] == ["a", 1, "2026-03-01"]
    assert values["desk.extra"] == {"a": "3.10", "b": 1.5}
    assert found["desk.pin"].pii and found["desk.pin"].private
    assert not found["desk.plan"].private


def test_every_problem_of_a_project_is_told_at_once(tmp_path: Path):
    """One load, all files, each with its place and what to write instead."""
    found = problems(
        tmp_path,
        {
            "agent.yml": "agent:\n  personna: You are kind.\norchestrator: {model_group: mian}\n",
            "integrations.yml": (
                "model_groups:\n  - id: main\n    models:\n      - provider: opanai\n"
                "channels:\n  voice: {silence_timeout: 1:30, max_calls: 1_000}\n"
            ),
            "skills/desk/skill.md": "---\nname: Desk\ndescription:\n---\nUse @tool.nope.\n",
            "memory.yml": "a: {type: txt}\n",
            "skills/desk/tools.py": "import nowhere_at_all\n",
        },
    )
    assert [(str(p.place), p.code, p.mend) for p in found] == [
        ("agent.yml:2:3", "missing_key", "add 'persona: …'"),
        ("agent.yml:2:3", "unknown_key", "did you mean 'persona'?"),
        ("agent.yml:3:29", "unknown_model_group", "did you mean 'main'?"),
        ("integrations.yml:4:19", "unknown_value", "did you mean 'openai'?"),
        (
            "integrations.yml:6:28",
            "wrong_type",
            "write seconds as a number (7 or 1.2), or '800 ms', '7 s', '2 min'",
        ),
        ("integrations.yml:6:45", "wrong_type", "write 1000"),
        ("memory.yml:1:11", "unknown_value", "did you mean 'text'?"),
        (
            "skills/desk/skill.md:3:13",
            "empty_text",
            "write a text; one that begins with '#' must be in quotes",
        ),
        # no word of @tool.nope: which tools there are is not known until tools.py can be imported
        ("skills/desk/tools.py", "tool_loading", ""),
    ]


def test_a_tool_that_the_prose_names_and_nobody_defines_is_a_problem(tmp_path: Path):
    found = problems(
        tmp_path,
        {"skills/desk/skill.md": "---\nname: Desk\ndescription: All.\n---\nUse @tool.nope.\n"},
    )
    assert [(str(p.place), p.code, p.mend) for p in found] == [
        ("skills/desk/skill.md:5:5", "unknown_tool", "define it in the skill's tools.py")
    ]


def test_the_error_shows_each_line_with_a_caret(tmp_path: Path):
    """K09."""
    write(tmp_path, {"agent.yml": WHOLE["agent.yml"] + "tool_timeout: soon\n"})
    with pytest.raises(ProjectError) as caught:
        load(tmp_path, {})
    assert str(caught.value) == (
        "agent.yml:5:15: 'tool_timeout' must be a duration, this is 'soon' (write seconds as a "
        "number (7 or 1.2), or '800 ms', '7 s', '2 min') [wrong_type]\n"
        "    tool_timeout: soon\n"
        "                  ^"
    )


@pytest.mark.parametrize(
    ("missing", "place"),
    [
        ("agent.yml", "agent.yml"),
        ("integrations.yml", "integrations.yml"),
        ("skills/desk/skill.md", "skills/"),
        ("rules.yml", "integrations.yml:4:9"),
    ],
)
def test_a_missing_file_is_named(tmp_path: Path, missing: str, place: str):
    assert _codes(tmp_path, {missing: None}) == [(place, "missing_file")]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(ProjectError, match="there is no such folder"):
        load(tmp_path / "nowhere", {})


@pytest.mark.parametrize("name", ["../rules.yml", "/etc/hostname"])
def test_a_rules_file_outside_the_project_is_refused(tmp_path: Path, name: str):
    (tmp_path / "rules.yml").write_text("rules: []\n", encoding="utf-8")
    root = tmp_path / "p"
    root.mkdir()
    files = {"integrations.yml": WHOLE["integrations.yml"].replace("rules.yml", name)}
    assert _codes(root, files) == [("integrations.yml:4:9", "missing_file")]


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("agent.yml", "knowledge_answering: {top_k: 4}", 5),
        ("agent.yml", "skill_retrieval: {}", 5),
        ("agent.yml", "conversation: {before_end: [x]}", 5),
        ("agent.yml", "session_config: {session_expiration_time: 60}", 5),
        ("agent.yml", "fillers: {instructions: x}", 5),
        ("integrations.yml", "mcp_servers: []", 6),
        ("integrations.yml", "tool_providers: {}", 6),
        ("integrations.yml", "tracker_store: {}", 6),
        ("integrations.yml", "tracing: {}", 6),
        ("integrations.yml", "channels: {v: {background_audio: x.wav}}", 6),
        ("integrations.yml", "channels: {v: {asr: {name: deepgram}}}", 6),
        ("integrations.yml", "channels: {v: {asr: {language_map: {en: x}}}}", 6),
        ("integrations.yml", "channels: {v: {}, w: {}}", 6),
    ],
)
def test_keys_of_later_versions_are_refused_by_name(
    tmp_path: Path, file: str, text: str, line: int
):
    """Known in the format, without effect here: never ignored silently."""
    (found,) = problems(tmp_path, {file: f"{WHOLE[file]}{text}\n"})
    assert (found.place.file, found.place.line, found.code) == (file, line, "unsupported")
    assert "not supported yet in this version" in found.message


@pytest.mark.parametrize(
    "key",
    [
        "requires: session.desk.x",
        "precondition: login",
        "hidden: true",
        "disabled: true",
        "complete_when: session.desk.x",
        "import_tools: [x]",
        "tool_constraints: []",
        "utter: []",
        "access: {}",
        "routing: {}",
    ],
)
def test_frontmatter_of_later_versions_is_refused_by_name(tmp_path: Path, key: str):
    text = f"---\nname: Desk\ndescription: Helps.\n{key}\n---\nBe helpful.\n"
    assert _codes(tmp_path, {"skills/desk/skill.md": text}) == [
        ("skills/desk/skill.md:4:1", "unsupported")
    ]


@pytest.mark.parametrize(
    ("prose", "place", "code"),
    [
        (":::ordered_block id=x\nsteps: []\n:::", "5:1", "unsupported"),
        ("Hello.\n\n  if: session.desk.x\nMore.", "7:3", "unsupported"),
        ("Go to @block.x now", "5:7", "unsupported"),
        ("Then @skill.other", "5:6", "unsupported"),
        ("It is @memory.desk.x", "5:7", "unsupported"),
        ("Use @tool please", "5:5", "bad_token"),
        ("Read session.desk.x", "5:6", "bad_token"),
        ("", "4:1", "empty_text"),
    ],
)
def test_prose_that_this_version_can_not_follow_is_refused(
    tmp_path: Path, prose: str, place: str, code: str
):
    text = f"---\nname: Desk\ndescription: Helps.\n---\n{prose}\n"
    assert _codes(tmp_path, {"skills/desk/skill.md": text}) == [
        (f"skills/desk/skill.md:{place}", code)
    ]


@pytest.mark.parametrize(
    "name",
    ["tools/x.py", "references/a.md", "sub_agents/a/config.yml", "skills/desk/responses.yml"],
)
def test_parts_of_later_versions_are_refused_by_name(tmp_path: Path, name: str):
    """R12: a shared tool that no skill can import is not just left lying about."""
    (found,) = problems(tmp_path, {name: "x\n"})
    assert found.code == "unsupported"
    assert name.startswith(found.place.file)


def test_a_second_skill_is_refused_by_name(tmp_path: Path):
    assert _codes(tmp_path, {"skills/b/skill.md": WHOLE["skills/desk/skill.md"]}) == [
        ("skills/desk", "unsupported")
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("name: x\n", "1:1"),
        ("", "1:1"),
        ("---\nname: x\n", "1:1"),
        ("\n---\nname: x\n---\n", "1:1"),
    ],
)
def test_a_skill_without_frontmatter_is_told_how_to_begin(tmp_path: Path, text: str, place: str):
    assert _codes(tmp_path, {"skills/desk/skill.md": text}) == [
        (f"skills/desk/skill.md:{place}", "frontmatter")
    ]


def test_an_error_in_frontmatter_has_the_line_of_the_whole_file(tmp_path: Path):
    """K09, with Windows lines and a byte order mark."""
    text = "\ufeff---\r\nname: Desk\r\ndescription: Note: it helps\r\n---\r\nBe helpful.\r\n"
    found = problems(tmp_path, {"skills/desk/skill.md": text})
    assert [(str(p.place), p.code) for p in found] == [
        ("skills/desk/skill.md:1:1", "missing_key"),
        ("skills/desk/skill.md:1:1", "missing_key"),
        ("skills/desk/skill.md:3:18", "yaml_colon"),
    ]
    assert found[2].excerpt.startswith("    description: Note: it helps\n")


@pytest.mark.parametrize(
    ("field", "code"),
    [
        ("a: {type: int, initial_value: '7'}", "wrong_type"),
        ("a: {type: bool, initial_value: yes}", "wrong_type"),
        ("a: {type: categorical}", "missing_key"),
        ("a: {type: categorical, enum_values: [x], initial_value: y}", "wrong_type"),
        ("a: {type: categorical, enum_values: [x, x]}", "duplicate_value"),
        ("a: {enum_values: [x]}", "wrong_type"),
        ("a: {llm_settable: true}", "not_settable"),
        ("a: {initial_value: 1_000}", "ambiguous_number"),
        ("a: {seed: true}", "unsupported"),
        ("a: {immutable: true}", "unsupported"),
        ("a: {tpye: int}", "unknown_key"),
        ("a: text", "wrong_type"),
        ("system: {}", "reserved_name"),
        ("9a: {}", "bad_name"),
        ("a b: {}", "bad_name"),
        ('"a\\u202eb": {}', "bad_name"),
    ],
)
def test_a_memory_field_that_makes_no_sense_is_refused(tmp_path: Path, field: str, code: str):
    """K01, K03, K15."""
    (found,) = problems(tmp_path, {"memory.yml": f"{field}\n"})
    assert (found.place.file, found.place.line, found.code) == ("memory.yml", 1, code)


def test_a_field_can_not_be_public_and_private(tmp_path: Path):
    """K06."""
    text = "schema:\n  public:\n    a: {}\n  private:\n    a: {}\n"
    (found,) = problems(tmp_path, {"skills/desk/memory.yml": text})
    assert found.code == "duplicate_key"
    assert "skills/desk/memory.yml:3:5" in found.message


@pytest.mark.parametrize(
    ("line", "code", "mend"),
    [
        ("utter_session_strat: Hi.", "unknown_key", "did you mean 'utter_session_start'?"),
        ("my_own: Hi.", "unsupported", "take it away"),
        ("utter_precondition_unmet: Hi.", "unsupported", "take it away"),
        ("utter_session_start: [Hi., Hello.]", "unsupported", "keep one"),
        ("utter_session_start: {text: Hi., condition: x}", "unsupported", "take it away"),
        ("utter_session_start: # one", "empty_text", "write a text; one that begins with '#' "),
        ("utter_hangup_goodbye: {text: Bye., interruptible: false}", "unsupported", "take it"),
    ],
)
def test_a_response_that_would_have_no_effect_is_refused(
    tmp_path: Path, line: str, code: str, mend: str
):
    """K09: ``say: # one`` says nothing, and is told so."""
    (found,) = problems(tmp_path, {"responses.yml": f"responses:\n  {line}\n"})
    assert (found.place.line, found.code) == (2, code)
    assert found.mend.startswith(mend)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("channels: {v: {turn_taking: {min_silence: 2, max_silence: 1}}}", "out_of_range"),
        ("channels: {v: {interruptions: {onset_ms: 5}}}", "out_of_range"),
        ("channels: {v: {interruptions: {min_words: '2'}}}", "wrong_type"),
        ("channels: {v: {interruptions: {enabled: yes}}}", "wrong_type"),
        ("channels: {v: {pause_after_filler: -1}}", "out_of_range"),
        ("channels: {v: {asr: local}}", "wrong_type"),
        ("channels: {v: {asr: {name: lokal}}}", "unknown_value"),
        ("channels: {v: {auth_token: abc}}", "literal_secret"),
        ("channels: []", "wrong_type"),
        ("chanels: {}", "unknown_key"),
        ("<<: {a: 1}", "unknown_key"),
    ],
)
def test_a_channel_that_makes_no_sense_is_refused(tmp_path: Path, text: str, code: str):
    file = "integrations.yml"
    (found,) = problems(tmp_path, {file: f"{WHOLE[file]}{text}\n"})
    assert (found.place.file, found.place.line, found.code) == (file, 6, code)


@pytest.mark.parametrize(
    ("model", "codes"),
    [
        ("{provider: openai}", ["missing_key"]),
        ("{provider: openai, model: x, temprature: 1}", ["unknown_key"]),
        ("{provider: openai, model: x, temperature: 3}", ["out_of_range"]),
        ("{provider: openai, model: x, api_key: sk-1}", ["literal_secret"]),
        ("{provider: rules}", ["missing_key"]),
        ("{provider: azure, model: x}", ["unsupported"]),
        ("{model: x}", ["missing_key"]),
    ],
)
def test_a_model_that_can_not_be_built_is_refused(tmp_path: Path, model: str, codes: list[str]):
    text = f"model_groups:\n  - id: main\n    models: [{model}]\n"
    found = problems(tmp_path, {"integrations.yml": text})
    assert [(p.place.line, p.code) for p in found] == [(3, code) for code in codes]


def test_a_model_group_is_written_once_and_has_models(tmp_path: Path):
    """K06: both places are named."""
    text = (
        "model_groups:\n  - {id: main, models: []}\n"
        "  - {id: main, models: [{provider: scripted}]}\n"
    )
    found = problems(tmp_path, {"integrations.yml": text})
    assert [(p.place.line, p.code) for p in found] == [(2, "missing_key"), (3, "duplicate_id")]
    assert "integrations.yml:2:5" in found[1].message


@pytest.mark.parametrize("name", list(WHOLE))
@pytest.mark.parametrize("content", [b"", b"[]", b"a", b"\x00\x01", b"- - -\n", b"\xff\xfea\x00"])
def test_no_file_content_makes_loading_raise_anything_else(
    tmp_path: Path, name: str, content: bytes
):
    """Hostile input: a list of problems, never another error."""
    assert problems(tmp_path, {name: content})


def test_a_tool_module_that_fails_is_named_with_its_cause(tmp_path: Path):
    """R15, R2, R1, R39: import errors and bad definitions stop the load."""
    cases = {
        "import nowhere_at_all\n": "nowhere_at_all",
        "def f(:\n": "SyntaxError",
        TOOLS.replace("async def", "def"): "async",
        TOOLS.replace('description="Look something up", ', ""): "description",
        TOOLS.replace("look_up", "complete_skill"): "built-in",
    }
    for number, (text, words) in enumerate(cases.items()):
        root = tmp_path / str(number)
        root.mkdir()
        (found,) = problems(root, {"skills/desk/tools.py": text})
        assert (found.place.file, found.code) == ("skills/desk/tools.py", "tool_loading")
        assert words in found.message


def test_tools_of_both_places_are_found_and_the_folder_wins(tmp_path: Path):
    """R10, R11, R17: ``tools/*.py`` shadows ``tools.py``; ``lib`` is importable while loading."""
    other = TOOLS.replace("Look something up", "The other").replace(
        "from runtime", "from lib.words import WORD\nfrom runtime"
    )
    loaded = project(
        tmp_path,
        {
            "skills/desk/tools.py": TOOLS,
            "skills/desk/tools/more.py": other,
            "skills/desk/tools/__init__.py": "raise RuntimeError",
            "lib/words.py": "WORD = 1\n",
            "lib/__init__.py": "",
        },
    )
    assert [(tool.name, tool.description) for tool in loaded.tools] == [("look_up", "The other")]
