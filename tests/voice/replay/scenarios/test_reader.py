"""Scenario files: what is read, and how everything wrong is told at once."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from runtime.errors import ProjectError
from runtime.project.problems import Problems
from voice.replay.at import At
from voice.replay.scenarios.caller_reader import DEFAULT_AT
from voice.replay.scenarios.model import (
    HangsUp,
    Heard,
    Interrupted,
    MemoryWas,
    Presses,
    Says,
    Scenario,
    Seed,
    Sequence,
    Sounds,
    Taps,
    ToolExecuted,
    Types,
)
from voice.replay.scenarios.reader import find_files, read_scenario, read_scenarios

if TYPE_CHECKING:
    from runtime.project.model import MemoryField


class _Field:
    def __init__(self, namespace: str, name: str, type: str, values: tuple[str, ...] = ()) -> None:
        self.namespace, self.name, self.type, self.enum_values = namespace, name, type, values


MEMORY = cast(
    "tuple[MemoryField, ...]",
    (
        _Field("project", "authenticated", "bool"),
        _Field("cards", "reason", "categorical", ("lost", "stolen")),
        _Field("cards", "tries", "int"),
        _Field("cards", "pin", "text"),
        _Field("cards", "items", "list"),
        _Field("cards", "amount", "float"),
    ),
)


def read(text: str, folder: Path = Path()) -> tuple[Scenario, list[str]]:
    problems = Problems()
    scenario = read_scenario(text.encode(), "s.yml", folder, MEMORY, problems, {})
    return scenario, [str(problem) for problem in problems.found]


def good(text: str, folder: Path = Path()) -> Scenario:
    scenario, problems = read(text, folder)
    assert problems == []
    return scenario


def caller(*lines: str, folder: Path = Path()) -> Scenario:
    return good("name: n\ncaller:\n" + "".join(f"  - {line}\n" for line in lines), folder)


def test_a_whole_scenario_is_read(tmp_path: Path) -> None:
    """The form of the contract, key by key."""
    (tmp_path / "cough.wav").write_bytes(b"")
    scenario = good(
        """
name: order placed once
language: en
metadata: {caller_phone: "+15550100", tries: 007}
setup: {memory: {project.authenticated: true, cards.pin: 0042}}
model: {provider: scripted, steps: [{say: Hello}, {call: order}]}
stay: 5 s
limit: 2 min
caller:
  - {say: "I lost my card"}
  - {say: "no, wait", as: no, at: {after: agent_starts, ms: 1200}, level_db: -6}
  - {keys: "4711#", at: {after: agent_ends, ms: 300}}
  - {noise: cough.wav, at: 4.5}
  - {hang_up: true, at: no+1s}
expect:
  - tool_executed: {tool_name: order, times: 1, arguments: {shipping: standard}}
  - memory_was_set: [{name: cards.reason, value: lost}]
  - heard: {text_matches: "shipped standard"}
  - interrupted: {within_ms: 200, during: utter_ask_confirmation}
  - sequencing: [{tool_executed: order}, {skill_completed: cards}]
""",
        tmp_path,
    )
    assert scenario.metadata == (("caller_phone", "+15550100"), ("tries", "007"))
    assert scenario.seeds == (
        Seed("project", "authenticated", True),
        Seed("cards", "pin", "0042"),
    )
    assert scenario.model is not None and len(scenario.model.steps) == 2
    assert (scenario.stay_ms, scenario.limit_ms, scenario.channel) == (5000, 120_000, "twilio")
    assert [act.what for act in scenario.caller] == [
        Says("I lost my card"),
        Says("no, wait", -6.0),
        Presses("4711#"),
        Sounds(tmp_path / "cough.wav", None, False),
        HangsUp(),
    ]
    assert [act.at for act in scenario.caller] == [
        DEFAULT_AT,
        At("agent_starts", 1200.0),
        At("agent_ends", 300.0),
        At(None, 4500.0),
        At("no", 1000.0, 1),
    ]
    tool, memory, heard, interrupted, sequence = scenario.expect
    assert isinstance(tool, ToolExecuted)
    assert (tool.tool, tool.times, tool.arguments) == ("order", 1, {"shipping": "standard"})
    assert isinstance(memory, MemoryWas) and memory.values[0].value == "lost"
    assert isinstance(heard, Heard) and heard.rule.matches is not None
    assert isinstance(interrupted, Interrupted) and interrupted.within_ms == 200
    assert isinstance(sequence, Sequence) and len(sequence.steps) == 2
    assert not scenario.needs_ears


@pytest.mark.parametrize(
    ("written", "at"),
    [
        ("4.5", At(None, 4500.0)),
        ('"4.5s"', At(None, 4500.0)),
        ('"agent_starts+1200ms"', At("agent_starts", 1200.0)),
        ('"#2:tool_ends"', At("tool_ends", 0.0, 2)),
        ("{after: tool_starts, tool: order, ms: 5}", At("tool_starts:order", 5.0)),
        ("{after: agent_starts, nth: 3}", At("agent_starts", 0.0, 3)),
    ],
)
def test_a_moment_can_be_written_in_three_ways(written: str, at: At) -> None:
    assert caller(f"{{say: hi, at: {written}}}").caller[0].at == at


def test_typing_and_tapping_makes_it_a_web_call() -> None:
    scenario = caller("{type: hello}", "{tap: 'order:42'}")
    assert scenario.channel == "web"
    assert [act.what for act in scenario.caller] == [Types("hello"), Taps("order:42")]
    _, problems = read("name: n\nchannel: twilio\ncaller: [{type: hello}]")
    assert "nobody types or taps on a phone line" in problems[0]


def test_a_recording_without_words_needs_real_ears(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(b"")
    assert caller("{audio: a.wav}", folder=tmp_path).needs_ears
    assert not caller("{audio: a.wav, words: hello}", folder=tmp_path).needs_ears
    _, problems = read("name: n\ncaller: [{audio: a.wav}, {say: hello}]", tmp_path)
    assert "'say' has no real voice" in problems[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("caller: []", "s.yml:1:1: 'name' is missing"),
        ("name: n\nexpects: []", "did you mean 'expect'?"),
        ("name: n\ncaller: [{sya: hi}]", "this line does nothing"),
        ("name: n\ncaller: [{say: hi, keys: '1'}]", "this one does say and keys"),
        ("name: n\ncaller: [{keys: 12x}]", "keys are 0-9"),
        ("name: n\ncaller: [{noise: no.wav}]", "there is no file 'no.wav'"),
        ("name: n\ncaller: [{hang_up: later}]", "'hang_up' can only be true"),
        ("name: n\ncaller: [{say: hi, at: agent_start}]", "did you mean agent_starts?"),
        ("name: n\ncaller: [{say: hi, at: {after: agent_end}}]", "did you mean 'agent_ends'?"),
        ("name: n\ncaller: [{say: hi, at: {after: agent_ends, tool: x}}]", "is about no tool"),
        ("name: n\ncaller: [{say: hi, at: -1}]", "must lie after the connect"),
        ("name: n\ncaller: [{say: a, as: x}, {say: b, as: x}]", "another line is called 'x'"),
        ("name: n\ncaller: [{say: a, as: tool_ends}]", "can't be called 'tool_ends'"),
        ("name: n\nexpect: [{herd: x}]", "did you mean 'heard'?"),
        ("name: n\nexpect: [{heard: {}}]", "'heard.text' is missing"),
        ("name: n\nexpect: [{heard: {text_matches: '('}}]", "is no regular expression"),
        ("name: n\nexpect: [{heard: {text: a}, hung_up: b}]", "a block with one key"),
        ("name: n\nexpect: [{hung_up: cat}]", "can't be 'cat'"),
        ("name: n\nexpect: [{memory_was_set: reason}]", "'reason' names no field"),
        ("name: n\nexpect: [{tool_executed: {tool_name: a, time: 1}}]", "did you mean 'times'?"),
        ("name: n\nexpect: [{sequencing: []}]", "is a list of other expectations"),
        ("name: n\nexpect: [{sequencing: [{tool_not_executed: a}]}]", "is no moment"),
        ("name: n\nexpect: [{sequencing: [{bot_did_not_utter: a}]}]", "is no moment"),
        ("name: n\nsetup: {memory: {cards.reson: lost}}", "did you mean 'cards.reason'?"),
        ("name: n\nsetup: {memory: {cards.reason: found}}", "must be one of lost, stolen"),
        ("name: n\nsetup: {memory: {cards.tries: many}}", "'cards.tries' must be a int"),
        ("name: n\nsetup: {memory: {project.authenticated: 'yes'}}", "must be true or false"),
        ("name: n\nmodel: {provider: scripted}", "'model.steps' is missing"),
        ("name: n\nmodel: {steps: [{sing: la}]}", "the step can't be read"),
        ("name: n\nmetadata: {a: [1]}", "'metadata.a' must be a text"),
        ("- 1", "the file must be a block of keys"),
    ],
)
def test_what_is_wrong_is_told_with_its_place_and_mend(text: str, said: str) -> None:
    _, problems = read(text)
    assert len(problems) >= 1 and said in "\n".join(problems)
    assert all(problem.startswith("s.yml:") for problem in problems)


def test_all_problems_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "scenarios"
    (folder / "deep").mkdir(parents=True)
    (folder / "b.yml").write_text("name: same\ncaler: []\n", encoding="utf-8")
    (folder / "deep" / "a.yml").write_text("name: same\nexpect: [{x: 1}]\n", encoding="utf-8")
    files = find_files(tmp_path)
    assert [path.name for path in files] == ["b.yml", "a.yml"]
    with pytest.raises(ProjectError) as refused:
        read_scenarios((*files, tmp_path / "none.yml"), tmp_path, MEMORY, {})
    found = [(p.place.file, p.code) for p in refused.value.problems]
    assert found == [
        ("none.yml", "unreadable"),
        ("scenarios/b.yml", "unknown_key"),
        ("scenarios/deep/a.yml", "duplicate_name"),
        ("scenarios/deep/a.yml", "unknown_key"),
    ]


@pytest.mark.parametrize("junk", [b"\xff\xfe", b"[", b"name: [", b"\x00", b"name: n\ncaller: 7"])
def test_hostile_files_are_refused_and_never_raise(junk: bytes) -> None:
    problems = Problems()
    read_scenario(junk, "s.yml", Path(), (), problems, {})
    assert problems.found


def test_the_level_is_only_for_sounds() -> None:
    _, problems = read("name: n\ncaller: [{keys: '1', level_db: 3}]")
    assert "unknown key 'caller[1].level_db'" in problems[0]


def test_an_env_variable_is_filled_in() -> None:
    problems = Problems()
    text = b"name: n\nmetadata: {phone: '${PHONE}'}"
    env: dict[str, Any] = {"PHONE": "+1555"}
    scenario = read_scenario(text, "s.yml", Path(), (), problems, env)
    assert scenario.metadata == (("phone", "+1555"),) and not problems.found
