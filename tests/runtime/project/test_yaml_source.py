"""Author YAML: what is kept, what is refused, and in which words."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.agent import Json
from runtime.errors import Place, Problem
from runtime.project.problems import Problems
from runtime.project.yaml_nodes import Mapping, Node, Scalar, as_json
from runtime.project.yaml_source import MAX_BYTES, read_yaml

FILE = "agent.yml"
_SENTENCE_BREAKS = ("token", "scanning", "block mapping", "context", "flow sequence")


def _read(text: str | bytes, env: dict[str, str] | None = None) -> tuple[Node | None, Problems]:
    problems = Problems()
    data = text if isinstance(text, bytes) else text.encode()
    return read_yaml(data, FILE, problems, {} if env is None else env), problems


def _json(text: str, env: dict[str, str] | None = None) -> Json:
    node, problems = _read(text, env)
    assert node is not None and problems.found == []
    return as_json(node)


def _only(text: str | bytes, env: dict[str, str] | None = None) -> Problem:
    _, problems = _read(text, env)
    (problem,) = problems.found
    return problem


def test_yes_no_on_and_off_stay_text_as_values_and_as_keys():
    """K01, K02: the 1.2 core schema has no such booleans; keys are always text."""
    assert _json("v: [yes, no, on, off, y, n, NO]\non: {silence: 8}\nno: end\ntrue: 1\n1: a") == {
        "v": ["yes", "no", "on", "off", "y", "n", "NO"],
        "on": {"silence": 8},
        "no": "end",
        "true": 1,
        "1": "a",
    }


@pytest.mark.parametrize(
    "text",
    [
        "9:30",
        "12:30:45",
        "+4940123456",
        "01067",
        "0012",
        "08",
        "0x1F",
        "0o17",
        "2026-03-01",
        "2026-03-01T10:00:00Z",
        "3.10",
        "1.0.0",
        ".inf",
        ".nan",
        ".",
        "e5",
        "1_000",
        "yes",
    ],
)
def test_a_text_that_only_looks_like_something_else_loses_no_character(text: str):
    """K03, K04, K05."""
    assert _json(f"a: {text}\n") == {"a": text}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("7", 7),
        ("-7", -7),
        ("0", 0),
        ("2.5", 2.5),
        ("-0.25", -0.25),
        (".5", ".5"),
        ("1e3", 1000.0),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ('"7"', "7"),
        ("'true'", "true"),
        ('""', ""),
        ("!!str 7", "7"),
    ],
)
def test_plain_numbers_booleans_and_nothing_are_read_as_such(written: str, value: Json):
    """K03: exponents are numbers; quotes make a text of anything."""
    assert _json(f"a: {written}\n") == {"a": value}


def test_every_value_knows_its_line_and_column():
    node, _ = _read("a:\n  - b: x\n    größe: y\n")
    assert isinstance(node, Mapping)
    places: dict[str, Place] = {}

    def walk(at: Node) -> None:
        match at:
            case Scalar():
                places[at.text] = at.place
            case Mapping(entries=entries):
                for entry in entries:
                    places[entry.key] = entry.place
                    walk(entry.value)
            case _:
                for item in at.items:
                    walk(item)

    walk(node)
    assert places == {
        "a": Place(FILE, 1, 1),
        "b": Place(FILE, 2, 5),
        "x": Place(FILE, 2, 8),
        "größe": Place(FILE, 3, 5),
        "y": Place(FILE, 3, 12),
    }


@pytest.mark.parametrize(
    ("text", "line", "first"),
    [
        ("tools: 1\nname: x\ntools: 2\n", 3, "agent.yml:1:1"),
        ('a: 1\n"a": 2\n', 2, "agent.yml:1:1"),
        ("m:\n  n: {b: 1, c: 2, b: 3}\n", 2, "agent.yml:2:7"),
        ("Zoe\u0308: 1\nZoë: 2\n", 2, "agent.yml:1:1"),
    ],
)
def test_a_key_written_twice_is_refused_with_both_places(text: str, line: int, first: str):
    """K06, K15: also in other quotes, in nested maps and in another Unicode form."""
    problem = _only(text)
    assert problem.code == "duplicate_key"
    assert problem.place.line == line
    assert f"first at {first}" in problem.message


def test_text_is_kept_in_one_unicode_form():
    """K15."""
    assert _json("name: Zoe\u0308\n") == {"name": "Zoë"}
    assert _json("n: ${N}\n", {"N": "Zoe\u0308"}) == {"n": "Zoë"}


def test_ordinary_anchors_for_shared_prompts_work():
    """K07."""
    assert _json("a: &p be kind\nb: *p\nc: &m {x: 1}\nd: [*m, *m]\n") == {
        "a": "be kind",
        "b": "be kind",
        "c": {"x": 1},
        "d": [{"x": 1}, {"x": 1}],
    }


def _bomb(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (_bomb(9), "alias_expansion"),
        ("a: &a [*a]\n", "yaml_cycle"),
        ("a: &a {b: *a}\n", "yaml_cycle"),
        ("[" * 100_000, "too_deep"),
        ("{a: " * 100_000, "too_deep"),
        ("".join(f"{' ' * n}a:\n" for n in range(60)), "too_deep"),
        (b"a: " + b"x" * MAX_BYTES, "file_too_large"),
        ("a: 1\n---\nb: 2\n", "yaml_document"),
        ("a: !!python/object:os.system {}\n", "yaml_tag"),
        ("a: *nowhere\n", "yaml_alias"),
        ("? [a]\n: b\n", "yaml_key"),
        ("{a: {{b}}}\n", "yaml_key"),
    ],
)
def test_hostile_files_are_refused_before_use(text: str | bytes, code: str):
    """K07: bytes, depth, what aliases expand to, cycles, tags."""
    node, problems = _read(text)
    assert node is None
    assert [problem.code for problem in problems.found] == [code]


@pytest.mark.parametrize(
    ("text", "place", "words", "mend"),
    [
        ("a:\n\tb: 1\n", (2, 1), "a tab", "indent with spaces"),
        ("\ta: 1\n", (1, 1), "a tab", "indent with spaces"),
        ("prompt: Note: call back\n", (1, 13), "second ': '", "quotes because of ': '"),
        ("a: 1\n b: 2\n", (2, 3), "a key can't stand here", "same indentation"),
        ("say: %name\n", (1, 6), "can't begin with '%'", "in quotes"),
        ("say: @home\n", (1, 6), "can't begin with '@'", "in quotes"),
        ("say: `x`\n", (1, 6), "can't begin with '`'", "in quotes"),
        ("say: !important\n", (1, 6), "can't begin with '!'", "in quotes"),
        ("say: *bold*\n", (1, 6), "can't begin with '*'", "in quotes"),
        ("say: *bold\n", (1, 6), "refers to an anchor", "in quotes"),
        ('a: 1\nsay: "abc\nb: 2\n', (2, 6), "never closed", 'another "'),
        ("say: 'it's'\n", (1, 10), "neither a key", "quotes of the other kind"),
        ('say: "a\\qb"\n', (1, 8), "backslash", "single quotes"),
        ("x: [1, 2\ny: 3\n", (1, 4), "'[' is not closed", "close it with ']'"),
        ("x: {a: ${B}}\n", (1, 4), "must be in quotes", '"${NAME}"'),
        ("a: 1\nb 2\nc: 3\n", (2, 1), "neither 'key: value'", "add the colon"),
        ("- a\nb: 1\n", (2, 1), "mixed", "indent"),
        ("a: > x\n", (1, 6), "must begin on the next line", "move it down"),
        ("a: - b\n", (1, 4), "middle of a line", "line of its own"),
        ("a: ? b\n", (1, 4), "'? '", "in quotes"),
        ("a: ]\n", (1, 4), "can't begin with ']'", "in quotes"),
        ("a: x\x07y\n", (1, 5), "invisible control character", "delete it"),
    ],
)
def test_mistakes_are_told_in_the_authors_words(
    text: str, place: tuple[int, int], words: str, mend: str
):
    """K09: line, column, caret, and what to write instead."""
    problem = _only(text)
    assert (problem.place.line, problem.place.column) == place
    assert words in problem.message
    assert mend in problem.mend
    assert not any(jargon in problem.message for jargon in _SENTENCE_BREAKS)
    line = text.splitlines()[place[0] - 1]
    shown, caret = problem.excerpt.split("\n")
    assert shown == f"    {line}"
    assert len(caret) == 4 + place[1] and caret.endswith("^")


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"\xef\xbb\xbfa: 1\n", {"a": 1}),
        (b"a: 1\r\nb: |\r\n  x\r\n  y\r\n", {"a": 1, "b": "x\ny\n"}),
        (b"a:\t1\n", {"a": 1}),
        (b"a:\t\n  b: 1\n", {"a": {"b": 1}}),
    ],
)
def test_a_byte_order_mark_windows_lines_and_trailing_tabs_are_fine(data: bytes, value: Json):
    """K09."""
    node, problems = _read(data)
    assert node is not None and problems.found == []
    assert as_json(node) == value


def test_a_tab_after_the_key_does_not_move_the_places():
    """K09: a caret under the right character."""
    problem = _only("a:\t@x\n")
    assert problem.excerpt == "    a:\t@x\n      \t^"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_refused_with_a_hint(encoding: str):
    """K09."""
    problem = _only("a: 1\n".encode(encoding))
    assert (problem.code, problem.mend) == ("encoding", "save it as UTF-8")


def test_a_file_in_another_encoding_is_refused_where_it_breaks():
    """K09."""
    problem = _only(b"a: 1\nname: Zo" + b"\xeb\n")
    assert problem.place == Place(FILE, 2, 9)
    assert problem.mend == "save it as UTF-8"


def test_variables_are_filled_from_the_environment():
    env = {"PORT": "8080", "NAME": "a: [b", "EMPTY": ""}
    text = (
        "port: ${PORT}\nquoted: '${PORT}'\nname: x ${NAME}\n"
        "d: ${NOPE:-4}\ne: ${NOPE:-}\nf: ${EMPTY:-x}\nliteral: $${PORT}\nprice: $5\n"
    )
    assert _json(text, env) == {
        "port": 8080,
        "quoted": "8080",
        "name": "x a: [b",
        "d": 4,
        "e": None,
        "f": None,
        "literal": "${PORT}",
        "price": "$5",
    }


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("a: ${NOPE}\n", "unset_variable", "NOPE is not set"),
        ("a: ${}\n", "bad_variable", "no proper name"),
        ("a: ${1X}\n", "bad_variable", "no proper name"),
        ("a: ${UNCLOSED\n", "bad_variable", "no proper name"),
    ],
)
def test_a_variable_that_is_not_there_is_named(text: str, code: str, words: str):
    problem = _only(text)
    assert problem.code == code
    assert words in problem.message
    assert problem.place == Place(FILE, 1, 4)


def test_files_without_variables_keep_the_characters():
    problems = Problems()
    node = read_yaml(b"a: ${X}\napi_key: text\n", FILE, problems, None)
    assert node is not None and problems.found == []
    assert as_json(node) == {"a": "${X}", "api_key": "text"}


@pytest.mark.parametrize("key", ["api_key", "token", "client_secret", "password", "auth_token"])
def test_a_secret_in_the_file_is_refused_and_never_shown(key: str):
    problem = _only(f"a:\n  {key}: sk-hunter2\n")
    assert problem.code == "literal_secret"
    assert problem.place == Place(FILE, 2, len(key) + 5)
    assert f"${{{key.upper()}}}" in problem.mend
    assert "hunter2" not in str(problem) + problem.excerpt


@pytest.mark.parametrize("value", ["${K}", '"${K}"', "${NOPE:-}", "", "~"])
def test_a_secret_from_the_environment_is_fine(value: str):
    _, problems = _read(f"api_key: {value}\n", {"K": "sk"})
    assert problems.found == []


@pytest.mark.parametrize("value", ["${NOPE:-sk-hunter2}", "sk-${K}", "${K}x"])
def test_a_secret_may_not_be_half_in_the_file(value: str):
    problem = _only(f"api_key: {value}\n", {"K": "1"})
    assert problem.code == "literal_secret"
    assert "hunter2" not in str(problem) + problem.excerpt


# Next-line and the Unicode separators end a line in this parser, so that JSON may hold them raw and
# YAML may not.
_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x85\u2028\u2029"), max_size=20)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner),
    max_leaves=20,
)


@given(_JSON)
def test_what_json_says_is_read_as_json_says_it(value: Json):
    """YAML 1.2 reads JSON; quoted texts and numbers come out as they went in, in NFC."""
    text = json.dumps(value, ensure_ascii=False)
    node, problems = _read(text)
    if problems.found:
        # Two keys that are one in NFC, and characters that only an escape may write.
        assert {p.code for p in problems.found} <= {"duplicate_key", "control_character"}
        return
    assert node is not None or value is None
    assert node is None or as_json(node) == json.loads(unicodedata.normalize("NFC", text))


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_no_bytes_make_the_reader_raise(data: bytes):
    """Hostile input ends in problems, each with a place in the file."""
    node, problems = _read(data)
    for problem in problems.found:
        assert problem.place.file == FILE
        assert problem.message
    if node is not None:
        json.dumps(as_json(node))
