"""Typed reading: each wrong shape is told with its place, its path and what is wanted."""

from pathlib import Path

import pytest

from runtime.errors import Place, ProjectError
from runtime.project.fields import Fields
from runtime.project.loader import load_channels
from runtime.project.problems import Problems
from runtime.project.yaml_nodes import Sequence
from runtime.project.yaml_source import read_yaml
from tests.runtime.project.projects import WHOLE, problems, write


def _fields(text: str) -> tuple[Fields, Problems]:
    found = Problems()
    return Fields(read_yaml(text.encode(), "f.yml", found, {}), found, "", Place("f.yml")), found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("texts: one", "'texts' must be a list, this is 'one'"),
        ("texts: {a: 1}", "'texts' must be a list, this is a block of keys"),
        ("texts: [[a]]", "'texts' must be a text, this is a list"),
        ("text: [a]", "'text' must be a text, this is a list"),
        ("secret: [a]", "'secret' must be a text, this is a list"),
        ("section: x", "'section' must be a block of keys, this is 'x'"),
        ("number: soon", "'number' must be a number, this is 'soon'"),
        ("number: 1_000.5", "'number' must be a number, this is '1_000.5'"),
        ("number: 11", "'number' can't be '11'"),
        ("whole: 2.5", "'whole' must be a whole number, this is '2.5'"),
        ("flag: on", "'flag' must be true or false, this is 'on'"),
        ("seconds: 1:30", "'seconds' must be a duration, this is '1:30'"),
        ("seconds: 7 hours", "'seconds' must be a duration, this is '7 hours'"),
        ("json: {a: [1_000]}", "'1_000' is not a number in YAML"),
        (f"number: {'x' * 60}", f"'number' must be a number, this is '{'x' * 40}…'"),
    ],
)
def test_a_value_of_the_wrong_kind_is_told_in_plain_words(text: str, message: str):
    """K01, K03."""
    fields, found = _fields(text)
    assert fields.texts("texts") in ((), ("one",))
    assert fields.text("text") is None
    assert fields.secret("secret") is None
    fields.section("section").done()
    assert fields.number("number", least=0, most=10) is None
    assert fields.whole("whole", 3) == 3
    assert fields.flag("flag", True) is True
    assert fields.seconds_ms("seconds", 5) == 5
    fields.json("json")
    fields.done()
    assert [problem.message for problem in found.found] == [message]


@pytest.mark.parametrize(
    ("written", "ms"),
    [("7", 7000), ("1.2", 1200), ("0", 0), ("800 ms", 800), ("800ms", 800), ("2 min", 120_000)],
)
def test_durations_are_seconds_or_carry_their_unit(written: str, ms: int):
    """K03."""
    fields, found = _fields(f"a: {written}")
    assert (fields.seconds_ms("a", 5), found.found) == (ms, [])


def test_a_variable_of_the_wrong_kind_is_shown_by_name_and_not_by_value():
    """What the environment holds may be a secret."""
    found = Problems()
    node = read_yaml(b"a: ${SECRET_NUMBER}", "f.yml", found, {"SECRET_NUMBER": "hunter2"})
    Fields(node, found, "", Place("f.yml")).whole("a", 1)
    (problem,) = found.found
    assert "${SECRET_NUMBER}" in problem.message
    assert "hunter2" not in str(problem) + problem.excerpt


def test_an_alias_can_be_a_key_if_it_is_a_text():
    fields, found = _fields("x: &k name\n*k : 1\n")
    assert fields.whole("name", 0) == 1
    _, broken = _fields("x: &k [name]\n*k : 1\n")
    assert found.found == []
    assert [problem.code for problem in broken.found] == ["yaml_key"]


def test_a_tool_that_may_take_no_time_is_refused(tmp_path: Path):
    """R5: the timeout of tools is over 0."""
    agent = WHOLE["agent.yml"] + "tool_timeout: 0\n"
    (problem,) = problems(tmp_path, {"agent.yml": agent})
    assert (str(problem.place), problem.code) == ("agent.yml:5:15", "out_of_range")


def test_the_channel_is_read_without_importing_author_code(tmp_path: Path):
    """The process that speaks runs none."""
    channels = "channels: {phone: {tts: {voice: anna}, max_calls: 3}}\n"
    files = {
        "integrations.yml": WHOLE["integrations.yml"] + channels,
        "agent.yml": "broken: [",
        "skills/desk/tools.py": "raise SystemExit",
    }
    channel = load_channels(write(tmp_path, files), {})
    assert (channel.name, channel.voice, channel.max_calls) == ("phone", "anna", 3)
    write(tmp_path, {"integrations.yml": "channels: []\n"})
    with pytest.raises(ProjectError) as caught:
        load_channels(tmp_path, {})
    assert {p.place.file for p in caught.value.problems} == {"integrations.yml"}


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("texts: be nice", "write 'texts:', and below it '- be nice'"),
        ("texts: ''", "begin each entry below 'texts:' with '- '"),
        ("texts: {a: 1}", "begin each entry below 'texts:' with '- '"),
        ("short: local", "write 'short: {name: local}'"),
        ("short: false", "write 'short: {name: false}'"),
        ("short: 'a: b'", "write keys in the lines below it, further in, as in 'name: …'"),
        ("short: [a]", "write keys without '- ' before them, as in 'name: …'"),
        ("section: x", "write keys in the lines below it, further in"),
        ("section: [a]", "write keys without '- ' before them"),
        ("secret: [a]", "write a text; in quotes if '{' or '[' is part of it"),
        ("whole: 1.5", "write a whole number from 1 to 9"),
        ("whole: x", "write a whole number from 1 to 9"),
        ("whole: '5'", "write the number without quotes"),
        ("whole: '0'", "write the number without quotes"),
        ("whole: 1_0", "write 10"),
        ("number: warm", "write a number from 0 to 2"),
        ("number: '1.5'", "write the number without quotes"),
        ("choice: enum", "did you mean 'categorical'?"),
        ("choice: Enum", "did you mean 'categorical'?"),
    ],
)
def test_every_wrong_shape_says_what_to_write_instead(text: str, mend: str):
    """K01, K03: never nothing, and never what would be wrong again."""
    fields, found = _fields(text)
    fields.texts("texts")
    fields.secret("secret")
    fields.section("section").done()
    fields.section("short", "name").done()
    fields.whole("whole", 3, least=1, most=9)
    fields.number("number", least=0, most=2)
    fields.choice("choice", ("text", "categorical"), "text", {"enum": "categorical"})
    fields.done()
    assert [problem.mend for problem in found.found] == [mend]


def test_what_stands_in_the_place_of_a_block_misses_no_key():
    """One mistake, one problem; an entry of a list is called that."""
    node = read_yaml(b"[x]", "f.yml", Problems(), {})
    assert isinstance(node, Sequence)
    found = Problems()
    fields = Fields(node.items[0], found, "groups", node.place, "id", is_item=True)
    assert fields.required_text("id") == ""
    fields.problem(node.place, "missing_key", "'models' is missing", "add it")
    (problem,) = found.found
    assert problem.message == "an entry of 'groups' must be a block of keys, this is 'x'"
    assert problem.mend == "write '- {id: x}'"


@pytest.mark.parametrize("text", ["- a\n", "hello\n"])
def test_a_file_of_another_shape_misses_nothing_at_any_depth(text: str):
    """One mistake, one problem."""
    fields, found = _fields(text)
    fields.required_text("name")
    fields.section("inner").section("deeper").required_text("name")
    (problem,) = found.found
    assert problem.message.startswith("the file must be a block of keys")
    assert problem.mend == "begin each line with a key, as in 'key: value'"
