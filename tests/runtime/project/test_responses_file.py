"""``responses.yml``: variants, values in texts, conditions, buttons; what fits the memory."""

from collections.abc import Collection, Mapping

import pytest

from runtime.conversation.memory import MemorySchema
from runtime.errors import Place, Problem
from runtime.packaged import FOLDER
from runtime.project.conditions import parse
from runtime.project.memory_file import read_skill_memory
from runtime.project.model import MemoryField
from runtime.project.placed_conditions import FieldView
from runtime.project.problems import Problems
from runtime.project.response_checks import SAID_BY_ENGINE, check_responses, response_remarks
from runtime.project.response_model import (
    ButtonSource,
    Response,
    StaticButton,
    ValuePart,
    Variant,
)
from runtime.project.responses_file import read_responses
from tests.runtime.project.reading import places, read_with

MEMORY = (
    MemoryField(namespace="project", name="phone", type="text"),
    MemoryField(namespace="project", name="premium", type="bool"),
    MemoryField(namespace="cards", name="card", type="categorical", enum_values=("blue", "gold")),
    MemoryField(namespace="cards", name="count", type="int"),
    MemoryField(namespace="cards", name="note", type="text", private=True),
    MemoryField(namespace="desk", name="day", type="text"),
)


def _read(
    text: str, env: Mapping[str, str] | None = None
) -> tuple[dict[str, Response], list[Problem]]:
    return read_with(
        lambda problems: read_responses(text.encode(), "responses.yml", env or {}, problems)
    )


def _one(written: str) -> Variant:
    """The only variant of a response that is right."""
    read, found = _read(f"responses:\n  utter_x: {written}\n")
    assert found == []
    (variant,) = read["utter_x"].variants
    return variant


def _check(
    written: str, skill: str | None = "cards", deny_read: Collection[str] = ()
) -> list[Problem]:
    """What is wrong with a response that is well formed."""
    read, found = _read(f"responses:\n  utter_x: {written}\n")
    assert found == []
    problems = Problems()
    check_responses(read, FieldView(MEMORY, skill, deny_read), problems)
    return problems.found


# ------------------------------------------------------------------ variants


@pytest.mark.parametrize("written", ["Hello.", "[Hello.]", "{text: Hello.}", "[{text: Hello.}]"])
def test_a_text_is_a_response_however_it_is_written(written: str):
    variant = _one(written)
    assert variant == Variant(parts=("Hello.",), place=variant.place)
    assert variant.interruptible and not variant.rephrase


def test_every_key_of_a_variant_arrives():
    read, found = _read("""\
responses:
  utter_ask_card:
    - text: "Which card, {session.project.phone}?"
      condition: session.project.premium == True
      buttons:
        - {title: Blue, payload: "set:session.cards.card=blue"}
        - title: Another one
      metadata: {rephrase: true}
      interruptible: false
    - Which card?
""")
    assert found == []
    assert read == {
        "utter_ask_card": Response(
            name="utter_ask_card",
            variants=(
                Variant(
                    parts=("Which card, ", ValuePart("project", "phone"), "?"),
                    condition=parse("session.project.premium == True"),
                    buttons=(
                        StaticButton("Blue", "set:session.cards.card=blue"),
                        StaticButton("Another one", "Another one"),
                    ),
                    rephrase=True,
                    interruptible=False,
                    place=Place("responses.yml", 3, 7),
                ),
                Variant(parts=("Which card?",), place=Place("responses.yml", 10, 7)),
            ),
            place=Place("responses.yml", 2, 3),
        )
    }


def test_buttons_may_come_from_a_tool():
    variant = _one("{text: Which?, buttons: {source: cards_on_file}}")
    assert variant.buttons == ButtonSource("cards_on_file", Place("responses.yml", 2, 45))


def test_words_that_look_like_something_else_stay_words():
    """K01, K03, K05."""
    for written in ("no", "9:30", "2026-03-01", "3.10", "+49 40 1234", "0012"):
        assert _one(f"[{written}]").parts == (written,)


def test_a_text_is_brought_to_one_form():
    """K15."""
    assert _one("Zoe\u0308").parts == ("Zo\u00eb",)


# ------------------------------------------------------------------ values in texts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("{day}", (ValuePart("", "day"),)),
        ("a {session.desk.day}", ("a ", ValuePart("desk", "day"))),
        ("{a}{b} c", (ValuePart("", "a"), ValuePart("", "b"), " c")),
        ("one {{ two }} three", ("one { two } three",)),
        ("{{day}}", ("{day}",)),
        ("{{{day}}}", ("{", ValuePart("", "day"), "}")),
        ("{gr\u00f6\u00dfe}", (ValuePart("", "gr\u00f6\u00dfe"),)),
        ("no value", ("no value",)),
    ],
)
def test_values_are_told_from_words(text: str, parts: tuple[object, ...]):
    assert _one(f'"{text}"').parts == parts


@pytest.mark.parametrize(
    ("text", "column", "mend"),
    [
        ("a {b", 15, "write {field} or"),
        ("a b}", 16, "write {field} or"),
        ("{}", 13, "write {field} or"),
        ("{ day }", 13, "write {day}"),
        ("{desk.day}", 13, "write {session.desk.day}"),
        ("{session.desk}", 13, "write {field} or"),
        ("{session.a.b.c}", 13, "write {field} or"),
        ("{a-b}", 13, "write {field} or"),
        ("{9}", 13, "write {field} or"),
        ("{{{ day}}}", 15, "write {day}"),
    ],
)
def test_a_value_that_is_not_well_formed_is_shown(text: str, column: int, mend: str):
    _, found = _read(f'responses:\n  utter_x: "{text}"\n')
    assert places(found) == [(f"2:{column}", "bad_placeholder")]
    assert found[0].mend.startswith(mend)


def test_a_value_in_a_text_of_several_lines_is_shown_where_the_text_begins():
    _, found = _read("responses:\n  utter_x: |\n    One.\n    Two {.\n")
    assert places(found) == [("2:12", "bad_placeholder")]


# ------------------------------------------------------------------ mistakes of shape


@pytest.mark.parametrize(
    ("written", "place", "code"),
    [
        ("# one", "2:11", "empty_text"),
        ("''", "2:12", "empty_text"),
        ("[]", "2:3", "missing_key"),
        ("{day}", "2:12", "wrong_type"),
        ("['a', {session.project.phone}]", "2:18", "wrong_type"),
        ("[[a]]", "2:13", "wrong_type"),
        ("{txt: Hi.}", "2:12", "missing_key"),
        ("[Hi., Hello.]", "2:18", "second_default"),
        ("{text: Hi., conditon: x}", "2:24", "unknown_key"),
        ("{text: Hi., metadata: {rephrase: yes}}", "2:45", "wrong_type"),
        ("{text: Hi., interruptible: no}", "2:39", "wrong_type"),
        ("{text: Hi., buttons: Yes}", "2:33", "wrong_type"),
        ("{text: Hi., buttons: [Yes]}", "2:34", "wrong_type"),
        ("{text: Hi., buttons: [{payload: x}]}", "2:34", "missing_key"),
        ("{text: Hi., buttons: [{title: a}, {title: A}]}", "2:46", "duplicate_value"),
        ("{text: Hi., buttons: {tool: x}}", "2:33", "missing_key"),
        ("{text: Hi., buttons: [{title: a, value: b}]}", "2:45", "unknown_key"),
        ('{text: Hi., buttons: [{title: a, payload: "set:card=x"}]}', "2:54", "bad_payload"),
        (
            '{text: Hi., buttons: [{title: a, payload: "set:session.a.b"}]}',
            "2:54",
            "bad_payload",
        ),
        (
            '{text: Hi., buttons: [{title: a, payload: "set:session.a.b="}]}',
            "2:54",
            "bad_payload",
        ),
    ],
)
def test_a_mistake_is_shown_at_its_place(written: str, place: str, code: str):
    """K01, K09: ``say: # one`` says nothing, and is told so."""
    _, found = _read(f"responses:\n  utter_x: {written}\n")
    assert places(found)[0] == (place, code)


@pytest.mark.parametrize("written", ['""', '"  "', "", "[]", '"session.a.b = 1"', "not", "'{{x}}'"])
def test_a_variant_whose_condition_is_none_is_no_default(written: str):
    """K10, K11: what can't be decided never holds; the same answer as everywhere."""
    read, found = _read(
        f"responses:\n  utter_x:\n    - text: One.\n      condition: {written}\n    - Two.\n"
    )
    assert {p.code for p in found if p.place.line == 4} == {"bad_condition"}
    condition = read["utter_x"].variants[0].condition
    assert condition is not None and not condition.holds(lambda _, __: True)


def test_a_second_default_names_the_first():
    """Conditioned variants in their order, then the one default, wherever it stands."""
    text = """\
responses:
  utter_x:
    - One.
    - {text: Two., condition: session.project.premium}
    - Three.
"""
    read, found = _read(text)
    assert places(found) == [("5:7", "second_default")]
    assert "responses.yml:3:7" in found[0].message
    assert [v.condition is None for v in read["utter_x"].variants] == [True, False, True]


@pytest.mark.parametrize(
    ("text", "place", "code"),
    [
        ("utter_x: Hi.\n", "1:1", "unknown_key"),
        ("responses: [a]\n", "1:12", "wrong_type"),
        ("responses: {a b: Hi.}\n", "1:13", "bad_name"),
        ("responses:\n  a: Hi.\n  a: Ho.\n", "3:3", "duplicate_key"),
    ],
)
def test_the_file_has_one_key_and_names_below_it(text: str, place: str, code: str):
    """K06."""
    _, found = _read(text)
    assert places(found) == [(place, code)]


@pytest.mark.parametrize("data", [b"", b"[]", b"a", b"\x00\x01", b"- - -\n", b"\xff\xfea\x00"])
def test_no_content_raises(data: bytes):
    read, found = read_with(lambda p: read_responses(data, "responses.yml", {}, p))
    assert read == {}
    assert bool(found) is bool(data)


# ------------------------------------------------------------------ what fits the memory


@pytest.mark.parametrize(
    ("written", "skill"),
    [
        ("'{card} {phone} {note}'", "cards"),
        ("'{session.cards.note} {session.desk.day} {session.project.phone}'", "cards"),
        ("{text: a, condition: session.system.silence_n > 1}", "cards"),
        ("'{session.cards.note} {card} {day}'", None),
        ("{text: a, buttons: [{title: b, payload: 'set:session.cards.card=gold'}]}", "cards"),
        ("{text: a, buttons: [{title: b, payload: 'set:session.cards.count=4'}]}", "cards"),
        ("{text: a, buttons: [{title: b, payload: 'set:session.project.premium=yes'}]}", "cards"),
        ("{text: a, buttons: [{title: b, payload: 'set:session.desk.day=a=b'}]}", None),
        ("{text: a, buttons: [{title: b, payload: /help}]}", "cards"),
    ],
)
def test_what_the_skill_may_know_and_write_is_fine(written: str, skill: str | None):
    """R24, C16: its own fields, others' public ones, the project's; the project's file all."""
    assert _check(written, skill) == []


@pytest.mark.parametrize(
    ("written", "skill", "place", "code", "mend"),
    [
        ("'Hi {phnoe}'", "cards", "2:16", "unknown_field", "did you mean '{phone}'?"),
        ("'{day}'", "cards", "2:13", "unknown_field", "declare it in memory.yml"),
        ("'{dya}'", None, "2:13", "unknown_field", "did you mean '{day}'?"),
        (
            "'{session.cards.crad}'",
            "cards",
            "2:13",
            "unknown_field",
            "did you mean 'session.cards.card'?",
        ),
        (
            "'{session.card.card}'",
            "cards",
            "2:13",
            "unknown_field",
            "did you mean 'session.cards.card'?",
        ),
        ("'{session.cards.note}'", "desk", "2:13", "not_readable", "declare the field under"),
        ("'{session.system.silence_n}'", "desk", "2:13", "unknown_field", "name a memory"),
        (
            "{text: a, condition: session.cards.crad == 'gold'}",
            "cards",
            "2:33",
            "unknown_field",
            "did you mean 'session.cards.card'?",
        ),
        (
            "{text: a, condition: session.cards.count == 1 or session.cards.coun == 2}",
            "cards",
            "2:61",
            "unknown_field",
            "did you mean 'session.cards.count'?",
        ),
        (
            "{text: a, condition: session.system.nope}",
            "cards",
            "2:33",
            "unknown_field",
            "known there: 'channel' or 'silence_n'",
        ),
        (
            "{text: a, condition: session.cards.count == '4'}",
            "cards",
            "2:56",
            "bad_condition",
            "compare it with a number",
        ),
        (
            "{text: a, buttons: [{title: b, payload: 'set:session.cards.card=green'}]}",
            "cards",
            "2:52",
            "wrong_type",
            "change the value",
        ),
        (
            "{text: a, buttons: [{title: b, payload: 'set:session.cards.count=many'}]}",
            "cards",
            "2:52",
            "wrong_type",
            "change the value",
        ),
        (
            "{text: a, buttons: [{title: b, payload: 'set:session.desk.day=x'}]}",
            "cards",
            "2:52",
            "not_writable",
            "write a field of 'cards'",
        ),
        (
            "{text: a, buttons: [{title: b, payload: 'set:session.system.silence_n=1'}]}",
            "cards",
            "2:52",
            "not_writable",
            "name a field",
        ),
        (
            "{text: a, buttons: [{title: b, payload: 'set:session.cards.crad=blue'}]}",
            None,
            "2:52",
            "unknown_field",
            "did you mean 'session.cards.card'?",
        ),
    ],
)
def test_what_does_not_fit_the_memory_is_shown(
    written: str, skill: str | None, place: str, code: str, mend: str
):
    """K12: a comparison of a text with a number is an error before it runs."""
    found = _check(written, skill)
    assert places(found) == [(place, code)]
    assert found[0].mend.startswith(mend)


def test_what_access_denies_can_not_be_said():
    """M2, D9."""
    found = _check("'{session.desk.day}'", "cards", ["desk.day"])
    assert places(found) == [("2:13", "not_readable")]
    assert "access.deny_read" in found[0].mend


def test_what_is_worth_a_look_is_no_error():
    read, found = _read("""\
responses:
  utter_quiet: {text: a, condition: session.project.premium}
  utter_twice:
    - {text: a, condition: session.project.premium}
    - {text: b, condition: session.project.premium}
    - c
  utter_session_strat: Hi.
  utter_silence_check_in_4: Hm.
  utter_hangup_goodbye: Bye.
""")
    assert found == []
    lines = [line.partition(": ") for line in response_remarks(read.values())]
    assert [place for place, _, _ in lines] == ["responses.yml:2:3", "responses.yml:5:7"]
    used = {"utter_quiet", "utter_twice", "utter_silence_check_in_4"}
    (last,) = list(response_remarks(read.values(), used))[2:]
    assert last.startswith("responses.yml:7:3: nothing says 'utter_session_strat'")
    assert "'utter_session_start'" in last


# ------------------------------------------------------------------ packaged


def _packaged() -> tuple[dict[str, Response], tuple[MemoryField, ...]]:
    problems = Problems()
    responses = read_responses((FOLDER / "responses.yml").read_bytes(), "r.yml", {}, problems)
    memory: tuple[MemoryField, ...] = ()
    for folder in sorted((FOLDER / "skills").iterdir()):
        if (folder / "memory.yml").is_file():
            data = (folder / "memory.yml").read_bytes()
            memory += read_skill_memory(data, "m.yml", folder.name, {}, problems)
    for folder in sorted((FOLDER / "skills").iterdir()):
        if (folder / "responses.yml").is_file():
            data = (folder / "responses.yml").read_bytes()
            own = read_responses(data, f"{folder.name}.yml", {}, problems)
            check_responses(own, FieldView(memory, folder.name), problems)
            assert not set(own) & set(responses)
            responses |= own
    assert problems.found == []
    return responses, memory


def test_the_packaged_responses_are_right_and_whole():
    """Every line that the engine says by itself has a wording, but for the author's greetings."""
    responses, _ = _packaged()
    assert SAID_BY_ENGINE - set(responses) == {"utter_session_notice", "utter_session_start"}
    assert list(response_remarks(responses.values())) == []
    for response in responses.values():
        for variant in response.variants:
            text = "".join(part for part in variant.parts if isinstance(part, str))
            assert len(text) < 90 and text.strip()[-1] in ".?"


def test_the_packaged_fields_are_those_that_the_engine_fills():
    _, memory = _packaged()
    schema = MemorySchema(memory)
    for namespace, name, kind in (
        ("default_continue_interrupted", "interrupted_name", "text"),
        ("default_continue_interrupted", "continue_it", "bool"),
        ("default_unsupported_request_handler", "in_domain", "bool"),
        ("default_customer_satisfaction", "rating", "categorical"),
    ):
        field = schema.field(namespace, name)
        assert field is not None and field.type == kind


def test_the_packaged_skills_are_those_of_the_format():
    assert {path.name for path in (FOLDER / "skills").iterdir() if path.is_dir()} == {
        "default_session_start",
        "default_completed",
        "default_continue_interrupted",
        "default_customer_satisfaction",
        "default_unsupported_request_handler",
        "default_silence_timeout",
        "default_silence_timeout_hangup",
    }
