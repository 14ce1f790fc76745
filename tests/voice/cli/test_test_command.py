"""``bargein test``: scenarios of a small project, from the file to the exit code."""

import json
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from voice.cli.test_command import test as command
from voice.cli.writing import ready_file

_ROOT = Path(__file__).parents[3]
_CLIPS = _ROOT / "audio_fixtures" / "clips"

_FILES = {
    "agent.yml": "agent:\n  persona: You are a card desk.\norchestrator:\n  model_group: main\n",
    "integrations.yml": """
model_groups:
  - id: main
    models:
      - {provider: scripted, steps: [{say: "All right."}], repeat_last: true}
channels:
  voice: {enabled: true, silence_timeout: 7}
""",
    "responses.yml": 'responses:\n  utter_session_start: ["Card desk, what can I do for you?"]\n',
    "skills/cards/skill.md": "---\nname: Cards\ndescription: Replaces cards.\n---\nReplace them.\n",
    "memory.yml": "wish: {type: text, description: What for.}\n",
    "skills/cards/memory.yml": """
schema:
  public:
    reason: {type: text, description: Why., llm_settable: true}
    pin: {type: text, description: Secret., llm_settable: true, pii: true}
""",
    "skills/cards/tools.py": """
import asyncio
import time

from runtime import ToolContext, ToolResult, tool


@tool(description="Order a card.")
async def order(shipping: str, context: ToolContext = None) -> ToolResult:
    print("ordering")
    await asyncio.sleep(0.5)
    context.memory.set("reason", context.memory.get("project.wish") or "lost")
    context.memory.set("pin", "4711")
    return ToolResult("ordered")


@tool(description="Block.")
async def block(seconds: float, context: ToolContext = None) -> ToolResult:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
    return ToolResult("done")
""",
}

_ORDER = """
name: ordered once although the caller talks over the answer
metadata: {caller_phone: "+15550100"}
model:
  provider: scripted
  steps:
    - {call: {name: activate, arguments: {flow_id: cards}}}
    - {call: {name: order, arguments: {shipping: standard}}}
    - {say: "Your card is shipped standard and arrives in five working days, as it always does."}
    - {say: "It is free."}
caller:
  - {say: "I lost my card"}
  - {say: "no, wait, what does it cost?", as: over, at: {after: agent_starts, ms: 2200}}
  - {hang_up: true}
expect:
  - tool_executed: {tool_name: order, times: 1, arguments: {shipping: standard}}
  - heard: {text_matches: "shipped standard"}
  - not_heard: working days
  - heard: free
  - interrupted: {within_ms: 250, during: shipped standard, times: 1}
  - interrupted_at: {say: shipped, heard_matches: "^your card is"}
  - memory_was_set: [{name: cards.reason, value: lost}, {name: cards.pin, value: "4711"}]
  - hung_up: {by: caller}
  - skill_started: cards
  - sequencing: [{skill_started: cards}, {tool_executed: order}, {interrupted: }, {heard: free}]
"""

_START = "{call: {name: activate, arguments: {flow_id: cards}}}"

app = typer.Typer(rich_markup_mode="rich")
app.command()(command)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "desk"
    for name, text in _FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    (root / "scenarios").mkdir()
    return root


def add(project: Path, name: str, text: str) -> Path:
    path = project / "scenarios" / f"{name}.yml"
    path.write_text(text, encoding="utf-8")
    return path


def run(*arguments: str | Path) -> tuple[int, str]:
    words = [str(argument) for argument in arguments]
    result = CliRunner().invoke(app, words, env={"COLUMNS": "200", "TERM": "dumb"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, " ".join(result.output.split())


def says(*steps: str, caller: str, expect: str = "[]", more: str = "") -> str:
    """A scenario whose model says these lines."""
    model = json.dumps({"steps": [{"say": step} for step in steps]})
    return f"name: n\nmodel: {model}\ncaller: {caller}\nexpect: {expect}\n{more}"


def test_a_scenario_that_comes_out_as_expected_passes(project: Path, tmp_path: Path) -> None:
    add(project, "order", _ORDER)
    junit, out = tmp_path / "new" / "junit.xml", tmp_path / "out"
    code, text = run(project, "--junit", junit, "--out", out)
    assert code == 0, text
    assert "✓ ordered once although the caller talks over the answer" in text
    assert "1 passed" in text and "× real time" in text
    suite = ET.fromstring(junit.read_bytes())[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("name")) == ("1", "0", "desk")
    assert suite[0].get("classname") == "scenarios/order.yml"
    names = sorted(path.name for path in (out / "scenarios-order").iterdir())
    assert names == ["call.wav", "events.jsonl", "report.html"]


def test_the_call_begins_with_what_was_set_up(project: Path) -> None:
    text = _ORDER.replace("model:", "setup: {memory: {project.wish: stolen}}\nmodel:")
    add(project, "order", text.replace("value: lost", "value: stolen"))
    code, text = run(project)
    assert code == 0, text


def test_a_failure_is_explained_with_what_was_seen_and_the_call_around_it(
    project: Path, tmp_path: Path
) -> None:
    text = _ORDER.replace("times: 1, arguments: {shipping: standard}", "times: 2")
    add(project, "order", text.replace("heard: free", "heard: expensive"))
    junit = tmp_path / "junit.xml"
    code, text = run(project, "--junit", junit)
    assert code == 1
    assert "✗ ordered once" in text and "1 of 1 failed" in text
    assert "tool_executed order 2 times" in text
    assert 'calls of order: order({"shipping": "standard"}) at' in text
    assert "scenarios/order.yml:16:5" in text
    assert "tool_started" in text and "turn_started" in text
    failure = ET.fromstring(junit.read_bytes())[0][0][0]
    assert failure.tag == "failure" and "heard 'expensive'" in (failure.text or "")


def test_the_same_scenario_gives_the_same_bytes(project: Path, tmp_path: Path) -> None:
    add(project, "order", _ORDER)
    for name in ("one", "two"):
        assert run(project, "--out", tmp_path / name)[0] == 0
    for name in ("call.wav", "events.jsonl", "report.html"):
        first, second = (tmp_path / run / "scenarios-order" / name for run in ("one", "two"))
        assert first.read_bytes() == second.read_bytes(), name


def test_json_is_the_only_output_even_when_tools_print(project: Path) -> None:
    add(project, "order", _ORDER)
    result = CliRunner().invoke(app, [str(project), "--json"])
    found = json.loads(result.stdout)
    assert (found["passed"], found["failed"]) == (1, 0)
    assert found["scenarios"][0]["file"] == "scenarios/order.yml"
    assert "ordering" not in result.stdout


def test_scenarios_are_chosen_by_file_and_by_name(project: Path) -> None:
    quick = says(caller="[{say: hi, at: 0.5}]", more="stay: 1\n").replace('{"steps": []}', "")
    one = add(project, "one", quick.replace("name: n", "name: first thing"))
    add(project, "two", quick.replace("name: n", "name: second thing"))
    code, text = run(project, one)
    assert code == 0 and "first thing" in text and "second" not in text
    code, text = run(project, "-k", "SECOND")
    assert code == 0 and "second thing" in text and "first" not in text


def test_a_scenario_that_never_ends_is_bounded_and_says_what_it_waited_for(project: Path) -> None:
    caller = "[{say: hi}, {say: more, as: more, at: {after: tool_starts, tool: order}}]"
    add(project, "waits", says("Hello.", caller=caller, more="limit: 6 s\n"))
    code, text = run(project)
    assert code == 1
    assert "the call was not over after 0.1 min; nothing was open" in text
    assert "'more' at tool_starts:order (there was no tool_starts:order)" in text


def test_a_tool_that_never_comes_back_is_ended_and_named(project: Path) -> None:
    step = "{call: {name: block, arguments: {seconds: 60}}}"
    add(
        project, "blocks", f"name: n\nmodel: {{steps: [{_START}, {step}]}}\ncaller: [{{say: hi}}]\n"
    )
    add(project, "order", _ORDER)
    code, text = run(project, "--wall-seconds", "1")
    assert code == 1 and "1 of 2 failed" in text
    assert "it took more than 1 s of real time, and was in skills/cards/tools.py:" in text


def test_a_tool_that_holds_the_loop_is_a_warning(project: Path) -> None:
    step = "{call: {name: block, arguments: {seconds: 0.3}}}"
    steps = f"[{_START}, {step}, {{say: Done.}}]"
    add(project, "holds", f"name: n\nmodel: {{steps: {steps}}}\ncaller: [{{say: hi}}]\n")
    code, text = run(project)
    assert code == 0
    assert "warning: skills/cards/tools.py:" in text and "held the call up for" in text


def test_typing_tapping_and_keys_reach_the_agent(project: Path) -> None:
    (project / "responses.yml").write_text(
        "responses:\n  utter_session_start:\n    - text: Which?\n      buttons:\n"
        "        - {title: That order, payload: 'order:42'}\n",
        encoding="utf-8",
    )
    caller = "[{tap: 'order:42'}, {type: hello}, {keys: '1'}]"
    expect = "[{sequencing: [{heard: one.}, {heard: two.}, {heard: three.}]}]"
    add(project, "given", says("one.", "two.", "three.", caller=caller, expect=expect))
    code, text = run(project)
    assert code == 0, text


def test_a_noise_interrupts_nobody(project: Path) -> None:
    shutil.copy(_CLIPS / "ns_burp.wav", project / "scenarios" / "cough.wav")
    line = "I can tell you a lot about that, and it takes quite some time to say it all."
    noise = "{noise: cough.wav, at: agent_starts+1s}"
    expect = f"[{{not_interrupted: }}, {{heard: '{line}'}}]"
    add(project, "noise", says(line, caller=f"[{{say: hi}}, {noise}]", expect=expect))
    code, text = run(project)
    assert code == 0, text


@pytest.mark.audio
def test_a_recording_is_heard_by_the_embedded_engine(project: Path) -> None:
    shutil.copy(_CLIPS / "en_brooklyn_bridge.wav", project / "scenarios" / "question.wav")
    add(project, "audio", says("Old.", caller="[{audio: question.wav}]", expect="[{heard: Old}]"))
    code, text = run(project)
    assert code == 0, text


def test_a_recording_whose_words_are_written_down_is_understood_so(project: Path) -> None:
    shutil.copy(_CLIPS / "en_brooklyn_bridge.wav", project / "scenarios" / "question.wav")
    caller = "[{audio: question.wav, words: 'How old is it?'}, {say: thanks}]"
    add(project, "audio", says("Old.", "Sure.", caller=caller, expect="[{heard: Sure}]"))
    code, text = run(project)
    assert code == 0, text


def test_a_script_that_is_too_short_is_told(project: Path) -> None:
    add(project, "short", says("One.", caller="[{say: hi}, {say: and then}]"))
    code, text = run(project)
    assert code == 1
    assert "the model's script is long enough it has 1 steps and was asked 2 times" in text


def test_a_line_without_a_moment_comes_although_the_agent_stays_silent(project: Path) -> None:
    (project / "responses.yml").write_text(
        'responses:\n  utter_hangup_goodbye: ["Goodbye."]\n', encoding="utf-8"
    )
    add(project, "silent", says("Hello.", caller="[{say: hi}]", expect="[{heard: Hello}]"))
    code, text = run(project)
    assert code == 0, text


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("name: n\nexpect: [{herd: x}]", "did you mean 'heard'?"),
        ("name: n\nsetup: {memory: {cards.reson: x}}", "did you mean 'cards.reason'?"),
        ("name: n\ncaller: [{noise: x.wav}]", "there is no file 'x.wav'"),
    ],
)
def test_a_scenario_that_cannot_be_used_is_refused_with_its_mend(
    project: Path, text: str, mend: str
) -> None:
    add(project, "bad", text)
    code, output = run(project)
    assert code == 2
    assert mend in output and "scenarios/bad.yml:" in output


def test_nothing_to_run_is_refused(project: Path, tmp_path: Path) -> None:
    code, text = run(project)
    assert code == 2 and "there are no scenarios" in text
    add(project, "order", _ORDER)
    code, text = run(project, "-k", "nothing")
    assert code == 2 and "no scenario has 'nothing' in its name" in text
    code, text = run(tmp_path / "nowhere")
    assert code == 2 and "there is no such folder" in text


def test_a_name_that_nothing_has_ends_the_run_before_it_begins(project: Path) -> None:
    caller = "[{say: hi}]"
    add(project, "typo", says("Hello.", caller=caller, expect="[{tool_not_executed: ordr}]"))
    code, text = run(project)
    assert code == 2
    assert "scenarios/typo.yml:4:30: the project has no tool 'ordr' (did you mean 'order'?)" in text


@pytest.mark.parametrize("option", ["text_matches", "heard_matches"])
def test_a_pattern_that_never_ends_is_ended_and_named(project: Path, option: str) -> None:
    never = "(.*)*(.*)*(.*)*zzz$"
    kind = "heard" if option == "text_matches" else "interrupted_at"
    line = "This is a line that is long enough for a pattern that tries every way to cut it."
    caller = "[{say: hi}, {say: no wait, at: {after: agent_starts, ms: 3500}}]"
    expect = f"[{{heard: This}}, {{{kind}: {{{option}: '{never}'}}}}]"
    add(project, "never", says(line, "Yes.", caller=caller, expect=expect))
    code, text = run(project, "--wall-seconds", "2")
    assert code == 1
    assert f"{kind}" in text and "the comparison must come to its end" in text
    assert "it took more than 2 s of real time; a pattern with a repeat inside" in text
    assert "(scenarios/never.yml:4:" in text


def test_what_modules_print_at_import_is_no_output(project: Path) -> None:
    """Past Python and at exit too: the command as a process of its own."""
    noisy = (
        "import atexit, os\nprint('loaded')\nos.write(1, b'past')\natexit.register(print, 'bye')\n"
    )
    tools = project / "skills" / "cards" / "tools.py"
    tools.write_text(noisy + tools.read_text(encoding="utf-8"), encoding="utf-8")
    add(project, "order", _ORDER)
    words = [sys.executable, "-m", "voice.cli.main", "test", str(project), "--json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["passed"] == 1
    assert all(word in done.stderr for word in ("loaded", "past", "ordering", "bye"))


@pytest.mark.parametrize(
    ("option", "name", "said"),
    [
        ("--out", "taken", "taken: it is a file; choose another folder with --out"),
        ("--out", "taken/below", "Not a directory; choose another folder with --out"),
        ("--junit", "scenarios", "scenarios: it is a folder; name another file with --junit"),
        ("--junit", "taken/results.xml", "name another file with --junit"),
    ],
)
def test_a_place_that_cannot_be_written_is_found_before_the_run(
    project: Path, option: str, name: str, said: str
) -> None:
    add(project, "order", _ORDER)
    (project / "taken").write_text("", encoding="utf-8")
    code, text = run(project, option, project / name)
    assert code == 2 and said in text, text
    assert "ordered once" not in text


def test_looking_whether_a_file_can_be_written_leaves_it_as_it_is(project: Path) -> None:
    add(project, "order", "name: n\nexpect: [{herd: x}]")
    old, new = project / "old.xml", project / "new.xml"
    old.write_text("kept", encoding="utf-8")
    ready_file(old, "--junit")
    ready_file(new, "--junit")
    assert old.read_text(encoding="utf-8") == "kept" and not new.exists()


def test_a_voice_that_is_not_there_is_one_clear_error(project: Path) -> None:
    path = project / "integrations.yml"
    voice = "voice: {enabled: true, tts: {name: local, voice: haert}"
    path.write_text(
        path.read_text(encoding="utf-8").replace("voice: {enabled: true", voice[:-1] + "}"),
        encoding="utf-8",
    )
    add(project, "order", _ORDER)
    code, text = run(project, "--tts", "project")
    assert code == 2
    assert text == (
        "bargein test: the project can't be tested: integrations.yml: 'channels.voice.tts.voice' "
        "can't be 'haert': the embedded engine has no such voice on this machine (did you mean "
        "'heart'?) [unknown_value]"
    )
    assert run(project)[0] == 0  # tones need no voice


def test_the_call_happens_on_the_day_that_is_written(project: Path) -> None:
    tools = project / "skills" / "cards" / "tools.py"
    today = '    context.memory.set("reason", context.now.strftime("%A %H:%M"))\n'
    text = tools.read_text(encoding="utf-8").replace(
        '    context.memory.set("reason"', today + '    context.memory.set("pin"'
    )
    tools.write_text(text, encoding="utf-8")
    for name, when, wanted in (
        ("default", "", "Monday 10:00"),
        ("date", "date: 2026-03-03\n", "Tuesday 10:00"),
        ("moment", "starts_at: 2026-03-04T09:30\n", "Wednesday 09:30"),
    ):
        steps = f"[{_START}, {{call: {{name: order, arguments: {{shipping: x}}}}}}, {{say: Done.}}]"
        expect = f"[{{memory_was_set: [{{name: cards.reason, value: '{wanted}'}}]}}]"
        add(
            project,
            name,
            f"name: {name}\n{when}model: {{steps: {steps}}}\ncaller: [{{say: hi}}]\n"
            f"expect: {expect}\n",
        )
    code, text = run(project)
    assert code == 0, text


def test_the_help_teaches() -> None:
    code, text = run("--help")
    assert code == 0
    for words in ("--junit", "Exit codes", "scenarios/*.yml", "bargein test my-agent -k"):
        assert words in text
