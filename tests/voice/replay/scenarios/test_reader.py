"""Scenario files: what is read, and how everything wrong is told at once."""

import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from runtime.agent import Json
from runtime.errors import ProjectError
from runtime.project.problems import Problems
from voice.audio.files import write_wav
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
from voice.replay.scenarios.names import Names
from voice.replay.scenarios.reader import find_files, read_scenario, read_scenarios

if TYPE_CHECKING:
    from runtime.project.model import MemoryField


class _Field:
    def __init__(self, namespace: str, name: str, type: str, values: tuple[str, ...] = ()) -> None:
        self.namespace, self.name, self.type, self.enum_values = namespace, name, type, values


_FIELDS = cast(
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


_ORDER: dict[str, Json] = {
    "properties": {
        "shipping": {"type": "string", "enum": ["standard", "express"]},
        "number": {"type": "string"},
        "amount": {"type": "number"},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    }
}
NAMES = Names(
    tools={"order": (_ORDER,), "look_up": ({"properties": {}},)},
    skills=("cards", "default_completed"),
    responses=("utter_ask_confirmation", "utter_done"),
    memory={f"{field.namespace}.{field.name}": field for field in _FIELDS},
)


def read(text: str, folder: Path = Path()) -> tuple[Scenario, list[str]]:
    problems = Problems()
    scenario = read_scenario(text.encode(), "s.yml", folder, NAMES, problems, {})
    return scenario, [str(problem) for problem in problems.found]


def good(text: str, folder: Path = Path()) -> Scenario:
    scenario, problems = read(text, folder)
    assert problems == []
    return scenario


def caller(*lines: str, folder: Path = Path()) -> Scenario:
    return good("name: n\ncaller:\n" + "".join(f"  - {line}\n" for line in lines), folder)


def _sound(path: Path) -> None:
    write_wav(path, np.zeros(800, np.int16), 8000)


def test_a_whole_scenario_is_read(tmp_path: Path) -> None:
    """The form of the contract, key by key."""
    _sound(tmp_path / "cough.wav")
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
    _sound(tmp_path / "a.wav")
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
        ("name: n\nexpect: [{tool_executed: {tool_name: order, time: 1}}]", "mean 'times'?"),
        ("name: n\nexpect: [{sequencing: []}]", "is a list of other expectations"),
        ("name: n\nexpect: [{sequencing: [{tool_not_executed: order}]}]", "is no moment"),
        ("name: n\nexpect: [{sequencing: [{bot_did_not_utter: a}]}]", "is no moment"),
        ("name: n\nsetup: {memory: {cards.reson: lost}}", "did you mean 'cards.reason'?"),
        ("name: n\nsetup: {memory: {cards.reason: found}}", "must be one of lost, stolen"),
        ("name: n\nsetup: {memory: {cards.tries: many}}", "'cards.tries' must be a int"),
        ("name: n\nsetup: {memory: {project.authenticated: 'yes'}}", "must be true or false"),
        ("name: n\nmodel: {provider: scripted}", "'model.steps' is missing"),
        ("name: n\nmodel: {steps: [{sing: la}]}", "the step can't be read"),
        ("name: n\nmodel: {steps: [{call: {nam: x}}]}", "has name and arguments, not nam"),
        ("name: n\nmodel: {steps: [{call: }]}", "'call' is the name of a tool"),
        ("name: n\nmodel: {steps: [{call: {name: order, arguments: [1]}}]}", "a block of keys"),
        ("name: n\nmodel: {steps: [{call: ordr}]}", "did you mean 'order'?"),
        ("name: n\nmodel: {steps: [{call: {name: actvate}}]}", "did you mean 'activate'?"),
        ("name: n\nmodel: {steps: [{wait: -1}]}", "'wait' is a number from 0 to"),
        ("name: n\nmodel: {steps: [{wait: soon}]}", "'wait' is a number from 0 to"),
        ("name: n\nmodel: {steps: [{say: }]}", "'say' is a text"),
        ("name: n\nmodel: {steps: [{say: a, ms_per_word: -5}]}", "'ms_per_word' is a number"),
        ("name: n\nmodel: {steps: [{fail: x, say: y}]}", "a step that fails does nothing else"),
        ("name: n\nmodel: {steps: [{ms_per_word: 5}]}", "a step has wait, say, call or fail"),
        ("name: n\nlanguage: 5", "'5' is no language"),
        ("name: n\nlimit: 0", "'limit' is so short that no call can happen"),
        ("name: n\ndate: 2026-13-01", "'2026-13-01' is no date: write it as 2026-03-02"),
        ("name: n\ndate: 2026-03-02T09:30", "is no date"),
        ("name: n\nstarts_at: tomorrow at noon", "is no moment: write it as 2026-03-02T09:30"),
        ("name: n\nstarts_at: 0001-01-01T00:00", "is too far away"),
        ("name: n\ndate: 2026-03-02\nstarts_at: 2026-03-02T09:30", "keep one of them"),
        ("name: n\nexpect: [{heard: {text: a, at_least: 3, at_most: 1}}]", "is less than"),
        ("name: n\nexpect: [{sequencing: [{not_heard: a}]}]", "is no moment"),
        ("name: n\nexpect: [{sequencing: [{interrupted: {times: 0}}]}]", "is no moment"),
        (
            "name: n\nexpect: [{sequencing: [{tool_executed: {tool_name: order, times: 0}}]}]",
            "no m",
        ),
        ("name: n\nmetadata: {a: [1]}", "'metadata.a' must be a text"),
        ("- 1", "the file must be a block of keys"),
    ],
)
def test_what_is_wrong_is_told_with_its_place_and_mend(text: str, said: str) -> None:
    _, problems = read(text)
    assert len(problems) >= 1 and said in "\n".join(problems)
    assert all(problem.startswith("s.yml:") for problem in problems)


@pytest.mark.parametrize(
    ("expectation", "said"),
    [
        ("tool_not_executed: ordr", "1:40: the project has no tool 'ordr' (did you mean 'order'?)"),
        ("tool_executed: {tool_name: xx, times: 0}", "no tool 'xx' (write 'look_up' or 'order')"),
        ("tool_not_executed: activate", "'activate' is the runtime's own and no tool"),
        ("tool_executed: complete", "'complete' is the runtime's own and no tool"),
        ("tool_not_executed: {tool_name: order, arguments: {shiping: x}}", "mean 'shipping'?"),
        (
            "tool_not_executed: {tool_name: order, arguments: {shipping: air}}",
            "'shipping' of order can't be 'air' (write 'standard'",
        ),
        ("tool_executed: {tool_name: order, arguments: {amount: much}}", "its type is number"),
        ("tool_executed: {tool_name: order, arguments: [1]}", "must be a block of keys"),
        ("memory_was_not_set: [cards.reson]", "did you mean 'cards.reason'?"),
        ("memory_was_set: {name: cards.reson}", "did you mean 'cards.reason'?"),
        ("memory_was_not_set: [{name: cards.reason, value: found}]", "one of lost, stolen"),
        ("memory_was_set: [{name: cards.tries, value: many}]", "'cards.tries' must be a int"),
        ("bot_did_not_utter: {response: utter_don}", "did you mean 'utter_done'?"),
        ("bot_uttered: {response: utter_don, text: x}", "did you mean 'utter_done'?"),
        ("interrupted_at: {response: utter_don, heard_matches: x}", "mean 'utter_done'?"),
        ("not_interrupted: {during: utter_nope}", "no response or tool 'utter_nope'"),
        ("interrupted: {during: look_it_up}", "did you mean 'look_up'?"),
        ("skill_started: card", "no skill 'card' (did you mean 'cards'?)"),
        ("skill_completed: {skill: card}", "did you mean 'cards'?"),
        ("skill_cancelled: card", "did you mean 'cards'?"),
        ("confirmation_asked: {tool: ordr}", "did you mean 'order'?"),
        ("confirmation_answered: ordr", "did you mean 'order'?"),
        ("sequencing: [{heard: a}, {tool_executed: ordr}]", "did you mean 'order'?"),
    ],
)
def test_a_name_that_nothing_has_is_refused_since_it_could_never_come(
    expectation: str, said: str
) -> None:
    """What must not happen would hold for ever, and what must happen never."""
    _, problems = read(f"{{name: n, expect: [{{{expectation}}}]}}")
    assert len(problems) == 1 and said in problems[0], problems


@pytest.mark.parametrize(
    "expectation",
    [
        "tool_not_executed: {tool_name: order, arguments: {note: 5, shipping: express}}",
        "interrupted: {during: shipped standard}",
        "interrupted: {during: utter_done, times: 0}",
        "not_interrupted: {during: order}",
        "not_interrupted: {during: hello}",
        "skill_completed: default_completed",
        "memory_was_not_set: [{name: cards.pin, value: }]",
    ],
)
def test_names_that_the_project_has_are_taken(expectation: str) -> None:
    good(f"{{name: n, expect: [{{{expectation}}}]}}")


def test_values_are_compared_in_the_type_that_they_have_in_the_call() -> None:
    """An amount of 3.10 is 3.1, and a number that is a text stays one."""
    scenario = good(
        "name: n\nexpect:\n"
        "  - memory_was_set: [{name: cards.pin, value: 4711}, {name: cards.amount, value: 3.10}]\n"
        "  - tool_executed: {tool_name: order, arguments: {number: 12, amount: 3.10}}\n"
    )
    memory, tool = scenario.expect
    assert isinstance(memory, MemoryWas) and isinstance(tool, ToolExecuted)
    assert [value.value for value in memory.values] == ["4711", 3.1]
    assert tool.arguments == {"number": "12", "amount": 3.1}


def test_a_moment_of_a_tool_names_one_that_there_is() -> None:
    _, problems = read("name: n\ncaller: [{say: hi, at: {after: tool_starts, tool: ordr}}]")
    assert problems == [
        "s.yml:2:51: the project has no tool 'ordr' (did you mean 'order'?) [unknown_tool]"
    ]


def test_without_the_project_names_are_not_looked_at() -> None:
    problems = Problems()
    text = b"name: n\nexpect: [{tool_not_executed: x}, {skill_started: y}, {herd: z}]"
    read_scenario(text, "s.yml", Path(), None, problems, {})
    assert [problem.code for problem in problems.found] == ["unknown_key"]


@pytest.mark.parametrize("data", [b"", b"some words, no sound", b"RIFF\x00\x00\x00\x00WAVE"])
@pytest.mark.parametrize("key", ["audio", "noise"])
def test_a_file_that_is_no_sound_is_refused_before_the_call(
    tmp_path: Path, key: str, data: bytes
) -> None:
    (tmp_path / "a.wav").write_bytes(data)
    _, problems = read(f"name: n\ncaller: [{{{key}: a.wav}}]", tmp_path)
    assert len(problems) == 1 and "s.yml:2:18: 'a.wav' can't be played: " in problems[0]
    assert str(tmp_path) not in problems[0] and "[bad_sound]" in problems[0]


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("", "2026-01-05T10:00:00+00:00"),
        ("date: 2026-03-02", "2026-03-02T10:00:00+00:00"),
        ("starts_at: 2026-03-02T09:30", "2026-03-02T09:30:00+00:00"),
        ('starts_at: "2026-03-02 23:59:30"', "2026-03-02T23:59:30+00:00"),
        ("starts_at: 2026-03-02T00:30+01:00", "2026-03-01T23:30:00+00:00"),
        ("starts_at: 2026-03-02", "2026-03-02T10:00:00+00:00"),
    ],
)
def test_a_call_happens_on_the_day_that_is_written(written: str, moment: str) -> None:
    start = good(f"name: n\n{written}").wall_start
    assert datetime.fromtimestamp(start, UTC).isoformat() == moment


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    """A pipe would be waited for."""
    (tmp_path / "scenarios" / "folder.yml").mkdir(parents=True)
    os.mkfifo(tmp_path / "scenarios" / "pipe.yml")
    with pytest.raises(ProjectError) as refused:
        read_scenarios(find_files(tmp_path), tmp_path, NAMES, {})
    assert [problem.code for problem in refused.value.problems] == ["unreadable", "unreadable"]


def test_every_code_stands_in_the_documents() -> None:
    """An author who looks a code up finds what it means."""
    root = Path(__file__).parents[4]
    source = "".join(
        path.read_text(encoding="utf-8") for path in (root / "voice/replay/scenarios").glob("*.py")
    )
    calls = re.findall(
        r'(?:\.add|\.problem|_unknown)\(\s*(?:[\w.\[\]]+(?:\(\w+\))?,\s*)?"([a-z_]+)"', source
    )
    documents = [root / "docs/problems.md", root / "docs/scenarios.md"]
    cells = re.findall(
        r"^\| (`[^|]+`) \|",
        "\n".join(document.read_text(encoding="utf-8") for document in documents),
        re.MULTILINE,
    )
    rows = re.findall(r"`([a-z0-9_]+)`", "".join(cells))
    assert len(calls) > 20
    assert sorted(set(calls) - set(rows)) == []


def test_all_problems_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "scenarios"
    (folder / "deep").mkdir(parents=True)
    (folder / "b.yml").write_text("name: same\ncaler: []\n", encoding="utf-8")
    (folder / "deep" / "a.yml").write_text("name: same\nexpect: [{x: 1}]\n", encoding="utf-8")
    files = find_files(tmp_path)
    assert [path.name for path in files] == ["b.yml", "a.yml"]
    with pytest.raises(ProjectError) as refused:
        read_scenarios((*files, tmp_path / "none.yml"), tmp_path, NAMES, {})
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
    read_scenario(junk, "s.yml", Path(), None, problems, {})
    assert problems.found


def test_the_level_is_only_for_sounds() -> None:
    _, problems = read("name: n\ncaller: [{keys: '1', level_db: 3}]")
    assert "unknown key 'caller[1].level_db'" in problems[0]


def test_an_env_variable_is_filled_in() -> None:
    problems = Problems()
    text = b"name: n\nmetadata: {phone: '${PHONE}'}"
    env: dict[str, Any] = {"PHONE": "+1555"}
    scenario = read_scenario(text, "s.yml", Path(), None, problems, env)
    assert scenario.metadata == (("phone", "+1555"),) and not problems.found
