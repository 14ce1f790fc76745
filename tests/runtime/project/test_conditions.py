"""Conditions: what they mean, what is no condition, and that nothing opens by an error."""

import itertools
from collections.abc import Callable

import pytest

from runtime.agent import Json
from runtime.project.condition_grammar import MAX_DEPTH, MAX_LENGTH
from runtime.project.conditions import (
    ConditionError,
    FieldKind,
    check_types,
    parse,
    parse_reference,
)

MEMORY: dict[str, Json] = {
    "n": 0,
    "one": 1,
    "m": "10",
    "k": "9",
    "flag": False,
    "yes": True,
    "name": "",
    "word": "blue",
    "half": 0.5,
    "list": ["a"],
    "none_in": [],
    "object": {"a": 1},
}


def read(namespace: str, name: str) -> Json:
    """The memory of the cases: ``s.<name>``, and ``miss`` is declared and unset."""
    if namespace == "system":
        return {"silence_n": 2, "channel": "voice"}[name]
    if namespace != "s" or (name != "miss" and name not in MEMORY):
        raise KeyError(name)
    return MEMORY.get(name)


def holds(text: str) -> bool:
    """The answer to a condition in which ``s.`` is short for ``session.s.``."""
    return parse(text.replace("s.", "session.s.")).holds(read)


# The written truth table: K12 with its values, then each kind against each.
TRUTH = {
    "s.n": False,
    "not s.n": True,
    "s.one": True,
    "s.n == 0": True,
    "s.n == None": False,
    "s.n != None": True,
    "s.half < 1": True,
    "s.half == 0.5": True,
    "s.n > -1": True,
    "s.n == -0": True,
    "s.one == 1.0": True,
    "s.m": True,
    "s.m > s.k": False,  # two texts: by their characters
    "s.m < s.k": True,
    "s.m > 9": False,
    "s.m <= 9": False,
    "not s.m > 9": False,  # can't be decided, so a 'not' does not open it
    "s.m == 10": False,
    "s.m != 10": True,
    "s.m == '10'": True,
    's.m == "10"': True,
    "s.name": False,
    "s.name == ''": True,
    "s.name == None": False,
    "s.miss": False,
    "not s.miss": True,
    "s.miss == ''": False,
    "s.miss == None": True,
    "s.miss != None": False,
    "s.miss == 0": False,
    "s.miss == False": False,
    "s.miss < 1": False,
    "s.miss >= s.miss": False,
    "not s.miss < 1": False,
    "s.flag": False,
    "not s.flag": True,
    "s.flag == False": True,
    "s.flag == 'false'": False,
    "s.flag == 0": False,
    "s.yes == 1": False,
    "s.yes != 1": True,
    "s.yes == True": True,
    "s.yes > s.flag": False,
    "s.yes == 'True'": False,
    "s.word == 'blue'": True,
    "s.word == 'Blue'": False,
    "'a' < s.word < 'c'": True,
    "0 <= s.half <= 1": True,
    "0 <= s.half <= 0.1": False,
    "s.one == s.one == 1": True,
    "s.list": True,
    "s.none_in": False,
    "s.list == s.list": True,
    "s.list > s.none_in": False,
    "s.object": True,
    "s.object == s.object": True,
    "s.word == s.list": False,
    "s.gone": False,
    "not s.gone": False,
    "s.gone == None": False,
    "s.one or s.gone": True,
    "s.gone or s.one": False,
    "s.n and s.gone": False,
    "True": True,
    "False": False,
    "None": False,
    "'False'": True,
}


@pytest.mark.parametrize(("text", "expected"), TRUTH.items())
def test_truth_table(text: str, expected: bool):
    """K10, K12, C13: set, unset, empty, and each kind against another."""
    assert holds(text) is expected


def test_engine_values_are_readable():
    assert parse("session.system.silence_n == 2").holds(read)
    assert parse("session.system.channel == 'voice'").holds(read)


# ------------------------------------------------------------------ precedence

Pair = tuple[str, Callable[[bool, bool], bool]]
AND: Pair = ("and", lambda a, b: a and b)
OR: Pair = ("or", lambda a, b: a or b)
EQ: Pair = ("==", lambda a, b: a == b)
NE: Pair = ("!=", lambda a, b: a != b)
BINDING = {"or": 1, "and": 2, "==": 4, "!=": 4}


@pytest.mark.parametrize(
    ("first", "second"), list(itertools.product((AND, OR), repeat=2)), ids=lambda p: p[0]
)
@pytest.mark.parametrize("nots", list(itertools.product((False, True), repeat=3)))
def test_two_operators_with_every_not(first: Pair, second: Pair, nots: tuple[bool, ...]):
    """K13: ``not`` before ``and`` before ``or``, the same from left to right, on all values."""
    for values in itertools.product((False, True), repeat=3):
        terms = [f"{'not ' if n else ''}{v}" for n, v in zip(nots, values, strict=True)]
        a, b, c = (v is not n for n, v in zip(nots, values, strict=True))
        (op1, f1), (op2, f2) = first, second
        right_first = BINDING[op2] > BINDING[op1]
        expected = f1(a, f2(b, c)) if right_first else f2(f1(a, b), c)
        text = f"{terms[0]} {op1} {terms[1]} {op2} {terms[2]}"
        assert parse(text).holds(read) is expected, text


@pytest.mark.parametrize("logic", (AND, OR), ids=lambda p: p[0])
@pytest.mark.parametrize("comparing", (EQ, NE), ids=lambda p: p[0])
def test_comparisons_bind_tighter_than_logic_and_not(logic: Pair, comparing: Pair):
    """K13."""
    (word, combine), (sign, compare) = logic, comparing
    for a, b, c in itertools.product((False, True), repeat=3):
        assert parse(f"{a} {word} {b} {sign} {c}").holds(read) is combine(a, compare(b, c))
        assert parse(f"{a} {sign} {b} {word} {c}").holds(read) is combine(compare(a, b), c)
        assert parse(f"not {a} {sign} {b}").holds(read) is not compare(a, b)
        assert parse(f"({a} {word} {b}) {sign} {c}").holds(read) is compare(combine(a, b), c)


@pytest.mark.parametrize(
    ("first", "second"), list(itertools.product(("==", "!=", "<", "<=", ">", ">="), repeat=2))
)
def test_chains_hold_when_each_link_holds(first: str, second: str):
    """K13: ``a < b <= c`` is ``a < b and b <= c``."""
    for a, b, c in itertools.product((-1, 0, 1), repeat=3):
        chained = parse(f"{a} {first} {b} {second} {c}").holds(read)
        apart = parse(f"{a} {first} {b} and {b} {second} {c}").holds(read)
        assert chained is apart


# ------------------------------------------------------------------ what is refused

REFUSED = {
    # text: (column, a word of the message, a word of the mend)
    "": (1, "empty", "take the key away"),
    "   ": (1, "empty", "take the key away"),
    "s.a = b": (13, "'='", "'=='"),
    "s.a = s.b =": (13, "'='", "'=='"),
    "'x=y' = s.a": (7, "'='", "'=='"),
    "s.a === 1": (13, "'==='", "'=='"),
    "s.a <> 1": (13, "'<>'", "'!='"),
    "s.a && s.b": (13, "'&&'", "'and'"),
    "s.a || s.b": (13, "'||'", "'or'"),
    "!s.a": (1, "'!'", "'not'"),
    "s.a AND s.b": (13, "small", "small"),
    "and s.ready": (1, "not a condition", "session."),
    "not": (3, "at the end", "session."),
    "s.a >": (13, "at the end", "session."),
    "f(]": (3, "not a condition", "session."),
    "(s.a": (1, "not a condition", "session."),
    "s.a == 'x": (16, "quote", "close"),
    "{{amount}} >= {{limit}}": (1, "{{", "session."),
    "apple > banana": (1, "'apple'", "quotes"),
    "s.a == true": (16, "'true'", "True"),
    "s.a == false": (16, "'false'", "False"),
    "s.a == null": (16, "'null'", "None"),
    "s.a == none": (16, "'none'", "None"),
    "s.a not in s.b": (20, "'in'", "'or'"),
    "s.a in 'x'": (16, "'in'", "'or'"),
    "s.a is None": (16, "'is'", "'=='"),
    "s.a is not None": (20, "'is'", "'!='"),
    "count(s.list) > 0": (1, "called", "tool"),
    "s.name.lower() == 'x'": (1, "called", "tool"),
    "s.a + 1 > 2": (1, "calculated", "tool"),
    "-s.a < 0": (1, "calculated", "tool"),
    "-True": (1, "minus", "session."),
    "s.a.b == 1": (1, "reaches", "only"),
    "session.a == 1": (1, "'session.a'", "session."),
    "memory.d.a": (1, "'memory.d.a'", "session."),
    "s.list[0]": (1, "not part", "session."),
    "'x'.s.a": (1, "'x'", "session."),
    "(s.a, s.b)": (1, "not part", "session."),
    "[1] == 1": (1, "not part", "session."),
    "{'a': 1}": (1, "not part", "session."),
    "(x := 1)": (2, "not part", "session."),
    "lambda: 1": (1, "not part", "session."),
    "s.a if s.b else s.c": (1, "not part", "session."),
    "f'{s.a}'": (1, "not part", "session."),
    "1j": (1, "no value", "number"),
    "b'x' == 'x'": (1, "no value", "number"),
    "1e999 > 1": (1, "no value", "number"),
    "...": (1, "no value", "number"),
    "s.a == 1\ns.b == 1": (1, "one line", "one line"),
    "s.a; s.b": (12, "not a condition", "session."),
    "s.a # remark": (13, "remarks", "away"),
    "s.größe = 1": (17, "'='", "'=='"),
    "s.größe == true": (20, "'true'", "True"),
    "  s.a = 1": (15, "'='", "'=='"),
}


@pytest.mark.parametrize(("text", "expected"), REFUSED.items())
def test_what_is_no_condition_is_refused_at_its_place(text: str, expected: tuple[int, str, str]):
    """K10, K11, K13: nothing is mended silently, and each says what to write."""
    column, message, mend = expected
    with pytest.raises(ConditionError) as caught:
        parse(text.replace("s.", "session.s."))
    error = caught.value
    assert error.column == column, (error.column, error.message)
    assert message in error.message
    assert mend in error.mend


@pytest.mark.parametrize("value", [None, [], ["session.s.a"], {}, True, 1])
def test_what_is_no_text_is_no_condition(value: object):
    """K11."""
    with pytest.raises(ConditionError):
        parse(value)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("(" * 200 + "True" + ")" * 200, "brackets"),
        ("(" * (MAX_DEPTH + 1) + "True" + ")" * (MAX_DEPTH + 1), "brackets"),
        ("not " * 400 + "True", "nesting"),
        ("-" * 1000 + "1", "calculated"),
        ("True == " + "9" * MAX_LENGTH, "characters"),
        ("[" * 200, "brackets"),
        ("session.s.a\x00", "not a condition|at the end"),
    ],
)
def test_limits(text: str, word: str):
    """K13: 200 nested brackets and their like are refused in words, whatever the stack."""
    with pytest.raises(ConditionError, match=word):
        parse(text)


def test_brackets_within_the_limit_and_in_texts_are_fine():
    assert parse("(" * MAX_DEPTH + "True" + ")" * MAX_DEPTH).holds(read)
    assert parse(f"'{'(' * 200}' == '{'(' * 200}'").holds(read)


def test_names_may_be_words_of_python_and_any_language():
    """K15: a skill called ``return`` is nobody's mistake; NFD is read as NFC."""
    condition = parse("session.return.class == 'gro\u0308sse' and session.a.größe")
    assert condition.references == (("return", "class"), ("a", "größe"))
    assert condition.holds(lambda _, name: "grösse" if name == "class" else 1)


# ------------------------------------------------------------------ the record


def test_a_condition_knows_its_fields_and_equals_its_like():
    condition = parse(" session.b.y == 1 or session.a.x and session.b.y ")
    assert condition.text == "session.b.y == 1 or session.a.x and session.b.y"
    assert condition.references == (("b", "y"), ("a", "x"))
    assert condition == parse(condition.text)
    assert len({condition, parse(condition.text), parse("True")}) == 2
    with pytest.raises(AttributeError):
        condition.text = "True"  # pyright: ignore[reportAttributeAccessIssue] frozen


def test_a_reader_that_fails_never_opens_a_gate():
    """K10, C13."""

    def broken(namespace: str, name: str) -> Json:
        raise RuntimeError("the store is gone")

    for text in ("session.a.b", "not session.a.b", "session.a.b == None", "session.a.b != 1"):
        assert not parse(text).holds(broken)


def test_explain_says_what_is_unset_and_shows_no_value():
    """K10: an unset value is traced."""
    explained = parse("session.s.word == 'red' or session.s.miss > session.s.gone").explain(read)
    assert "does not hold" in explained
    assert "unset: session.s.miss, session.s.gone" in explained
    assert "blue" not in explained
    assert parse("session.s.yes").explain(read) == "session.s.yes: holds"


def test_references_as_values():
    assert parse_reference("session.project.phone") == ("project", "phone")
    for text in ("session.phone", "session.a.b.c", "session.a.b == 1", "a.b.c", "session.a.1"):
        assert parse_reference(text) is None


# ------------------------------------------------------------------ types

KINDS = {
    "text": FieldKind("text"),
    "flag": FieldKind("bool"),
    "n": FieldKind("int"),
    "f": FieldKind("float"),
    "list": FieldKind("list"),
    "any": FieldKind("any"),
    "card": FieldKind("categorical", ("blue", "gold")),
    "metal": FieldKind("categorical", ("gold", "iron")),
    "pet": FieldKind("categorical", ("cat",)),
}


def wrong(text: str) -> list[tuple[int, str]]:
    """(column, message) of each comparison that can never work."""
    condition = parse(text.replace("s.", "session.s."))
    return [(e.column, e.message) for e in check_types(condition, lambda _, n: KINDS.get(n))]


@pytest.mark.parametrize(
    "text",
    [
        "s.text == 'x'",
        "s.text < 'x'",
        "s.n == 1.5",
        "s.n < s.f",
        "s.flag == True",
        "s.any == 1 and s.any == 'x'",
        "s.unknown == 1",
        "s.card == 'gold'",
        "s.card == s.metal",
        "s.card < 'c'",
        "s.list == None",
        "s.n == None",
        "(s.n or s.text) == 1",
    ],
)
def test_comparisons_that_can_work(text: str):
    assert wrong(text) == []


@pytest.mark.parametrize(
    ("text", "column", "word"),
    [
        ("s.text == 5", 19, "a number"),
        ("s.n == '5'", 16, "a text"),
        ("5 == s.text", 1, "a number"),
        ("s.text > s.n", 18, "a number"),
        ("s.flag == 'false'", 19, "True or False"),
        ("s.flag == 1", 19, "True or False"),
        ("s.flag < True", 1, "order"),
        ("s.n < None", 15, "order"),
        ("s.list > s.list", 1, "order"),
        ("s.card == 'blu'", 19, "enum_values"),
        ("'blu' != s.card", 1, "enum_values"),
        ("s.card == 1", 19, "a number"),
        ("s.card == s.pet", 19, "in common"),
        ("s.flag and not (s.n == 1 or s.card == 'x')", 63, "enum_values"),
        ("0 < s.n < 'x'", 19, "a text"),
    ],
)
def test_comparisons_that_never_work(text: str, column: int, word: str):
    """K12: text with number is found when the types are declared."""
    found = wrong(text)
    assert len(found) == 1
    assert found[0][0] == column, found
    assert word in found[0][1]
