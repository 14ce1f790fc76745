"""What the parser complains about, at the character that an author has to change."""

import pytest

from runtime.errors import Problem
from runtime.project.problems import Problems
from runtime.project.yaml_source import parse


def told(text: str, first_line: int = 1) -> list[Problem]:
    problems = Problems()
    assert parse(text, "f.yml", problems, {"K": "v"}, first_line) is None
    return problems.found


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("rules: [\n", "1:8", "this '[' is never closed"),
        ("a: 1\nrules: [a,\n", "2:8", "this '[' is never closed"),
        ("rules: [a, [b],\n", "1:8", "this '[' is never closed"),
        ("a: {b: [1, 2], c:\n", "1:4", "this '{' is never closed"),
        ("say: what [is\nrules: {\n", "2:8", "this '{' is never closed"),
        ("say: '[ ['\nrules: [\n", "2:8", "this '[' is never closed"),
        ("# [ [\nrules: [\n", "2:8", "this '[' is never closed"),
        ("- [\n", "1:3", "this '[' is never closed"),
        ("rules: [#a]\n", "1:8", "'#' begins a comment, so that this '[' is not closed"),
        ("rules: [a, #b]\n", "1:8", "'#' begins a comment, so that this '[' is not closed"),
        ("rules: [a, #b]\nx: 1\n", "1:8", "'#' begins a comment, so that this '[' is not closed"),
        ("k: {on: #}\n", "1:4", "'#' begins a comment, so that this '{' is not closed"),
        ("k: {on: #}\nx: 1\n", "1:4", "'#' begins a comment, so that this '{' is not closed"),
        ("k: {on: '#', off: #}\n", "1:4", "'#' begins a comment, so that this '{' is not closed"),
        ("rules: [a]]\n", "1:11", "this ']' closes nothing"),
        ("a: 1\n}\n", "2:1", "this '}' closes nothing"),
    ],
)
def test_a_bracket_that_is_open_or_closes_nothing_is_told_at_the_bracket(
    text: str, place: str, message: str
):
    """K02: the end of the file is not where the mistake is."""
    (problem,) = told(text)
    assert (problem.code, str(problem.place)) == ("yaml_bracket", f"f.yml:{place}")
    assert problem.message == message
    assert "in quotes" in problem.mend
    assert ("'#'" in problem.mend) == ("#" in problem.message)


def test_a_bracket_of_a_block_is_told_in_the_line_of_the_file():
    (problem,) = told("steps:\n  - collect: a\n    dtmf: {finish_on_key: #}\n", 8)
    assert str(problem.place) == "f.yml:10:11"


@pytest.mark.parametrize(
    ("text", "line", "mark"),
    [
        ("a: 1\n...\nb: 2\n", 2, "..."),
        ("a: 1\n%YAML 1.1\n", 2, "%"),
        ("a: 1\n%YAML 1.1\n# more\nb: 2\n", 2, "%"),
    ],
)
def test_a_line_that_ends_the_document_is_told_by_what_it_is(text: str, line: int, mark: str):
    (problem,) = told(text)
    assert (problem.code, str(problem.place)) == ("yaml_document", f"f.yml:{line}:1")
    assert problem.mend == f"take the '{mark}' line away"


def test_an_escape_that_is_no_character_is_one_that_does_not_exist():
    (problem,) = told('a: "\\ud800"\n')
    assert problem.code == "yaml_escape"


@pytest.mark.parametrize(
    "text", ["a: [{api_key: ${K}}]\n", "a:\n  {x: 1,\n   api_key: ${K},\n   y: 2}\n"]
)
def test_a_variable_without_quotes_in_braces_is_no_secret_in_the_file(text: str):
    """One mistake, one problem."""
    assert [problem.code for problem in told(text)] == ["yaml_variable_in_braces"]


@pytest.mark.parametrize("escape", ["\\0", "\\a", "\\e", "\\x7f", "\\u009f", "\\ufffe"])
@pytest.mark.parametrize("text", ['a: ["x{}"]\n', '"x{}": a\n', 'a: "${{E}}"\nb: "{}"\n'])
def test_an_escape_brings_in_no_character_that_the_file_may_not_hold(escape: str, text: str):
    """As it would be refused raw: no caller can hear it, and no log should hold it."""
    problems = Problems()
    parse(text.format(escape), "f.yml", problems, {"E": "fine"})
    (problem,) = problems.found
    assert problem.code == "control_character"
    assert "U+00" in problem.message or "U+FFFE" in problem.message
    assert problem.place.column and problem.mend


def test_a_variable_brings_in_none_either_and_usual_escapes_are_fine():
    problems = Problems()
    parse('a: "${E}"\n', "f.yml", problems, {"E": "\x1b[2J"})
    assert [(str(p.place), p.code) for p in problems.found] == [("f.yml:1:4", "control_character")]
    assert "\x1b" not in str(problems.found[0])
    fine = Problems()
    parse('a: "\\n \\t \\u00e9 \\N \\x85"\n', "f.yml", fine, {})
    assert fine.found == []
