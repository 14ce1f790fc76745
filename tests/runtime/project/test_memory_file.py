"""``memory.yml`` of project and skill: attributes, names, initial values."""

import pytest

from runtime.errors import Place, Problem
from runtime.project.conditions import parse
from runtime.project.memory_file import read_project_memory, read_skill_memory
from runtime.project.model import Dialect, MemoryField
from runtime.project.problems import Problems
from tests.runtime.project.reading import places, read_with


def _project(
    text: str, dialect: Dialect = "mantle"
) -> tuple[tuple[MemoryField, ...], list[Problem]]:
    return read_with(
        lambda problems: read_project_memory(text.encode(), "memory.yml", {}, problems, dialect)
    )


def _skill(text: str) -> tuple[tuple[MemoryField, ...], list[Problem]]:
    return read_with(
        lambda problems: read_skill_memory(text.encode(), "m.yml", "desk", {}, problems)
    )


def test_every_attribute_has_the_default_of_the_format():
    (field,), found = _project("phone:\n")
    assert found == []
    assert field == MemoryField(
        namespace="project",
        name="phone",
        type="any",
        enum_values=(),
        description=None,
        llm_settable=False,
        initial_value=None,
        pii=False,
        anonymization="mask",
        seed=False,
        immutable=False,
        private=False,
        place=Place("memory.yml", 1, 1),
    )


def test_every_attribute_arrives():
    """M4, D9: ``immutable`` is one of them; D8: a field that the model can't set is described."""
    fields, found = _project(
        "phone: {type: text, seed: true, pii: true, anonymization: mask, immutable: true,\n"
        "        description: The caller's number}\n"
    )
    assert found == []
    assert fields == (
        MemoryField(
            namespace="project",
            name="phone",
            type="text",
            description="The caller's number",
            pii=True,
            seed=True,
            immutable=True,
            place=Place("memory.yml", 1, 1),
        ),
    )


def test_a_skill_has_public_and_private_fields_that_the_model_may_set():
    fields, found = _skill(
        "schema:\n  public: {card: {llm_settable: true}}\n  private: {note: {immutable: true}}\n"
    )
    assert found == []
    assert [(f.namespace, f.name, f.private, f.llm_settable, f.immutable) for f in fields] == [
        ("desk", "card", False, True, False),
        ("desk", "note", True, False, True),
    ]


def test_an_initial_value_keeps_its_characters():
    """K01, K04, K05: what looks like a number, a date or a switch stays what was written."""
    fields, found = _skill("""\
schema:
  public:
    answer: {type: text, initial_value: no}
    phone: {type: text, initial_value: +4940123456}
    postcode: {type: text, initial_value: 01067}
    pin: {type: text, initial_value: 0012}
    plan: {type: text, initial_value: 3.10}
    birthday: {type: text, initial_value: 1990-05-04}
    size: {type: categorical, enum_values: [yes, no, 08], initial_value: 08}
    free: {initial_value: 2026-03-01}
    free_number: {initial_value: 3.10}
    count: {type: int, initial_value: -7}
    rate: {type: float, initial_value: 1e3}
    on: {type: bool, initial_value: true}
    list: {type: list, initial_value: [a, 1, yes]}
    json: {type: json, initial_value: {no: 3.10, b: 1.5}}
""")
    assert found == []
    assert {f.name: f.initial_value for f in fields} == {
        "answer": "no",
        "phone": "+4940123456",
        "postcode": "01067",
        "pin": "0012",
        "plan": "3.10",
        "birthday": "1990-05-04",
        "size": "08",
        "free": "2026-03-01",
        "free_number": "3.10",
        "count": -7,
        "rate": 1000.0,
        "on": True,
        "list": ["a", 1, "yes"],
        "json": {"no": "3.10", "b": 1.5},
    }


def test_names_and_texts_are_brought_to_one_form():
    """K15: a name or value written with combining marks is the same as one without."""
    fields, found = _project("gro\u0308\u00dfe: {type: text, initial_value: Zoe\u0308}\n")
    assert found == []
    assert [(f.name, f.initial_value) for f in fields] == [("gr\u00f6\u00dfe", "Zo\u00eb")]


def test_the_same_name_in_two_forms_is_the_same_key():
    """K15, K06."""
    _, found = _project("gro\u0308\u00dfe:\ngr\u00f6\u00dfe:\n")
    assert places(found) == [("2:1", "duplicate_key")]


@pytest.mark.parametrize(
    ("line", "column", "code"),
    [
        ("system: {}", 1, "reserved_name"),
        ("session: {}", 1, "reserved_name"),
        ("9a: {}", 1, "bad_name"),
        ("a b: {}", 1, "bad_name"),
        ("a.b: {}", 1, "bad_name"),
        ("'': {}", 1, "bad_name"),
        (f"{'a' * 101}: {{}}", 1, "bad_name"),
        ('"a\\u202eb": {}', 1, "bad_name"),
        ("a: text", 4, "wrong_type"),
        ("a: {tpye: int}", 5, "unknown_key"),
        ("a: {type: txt}", 11, "unknown_value"),
        ("a: {type: int, initial_value: '7'}", 31, "wrong_type"),
        ("a: {type: int, initial_value: 007}", 31, "wrong_type"),
        ("a: {type: bool, initial_value: yes}", 32, "wrong_type"),
        ("a: {type: text, initial_value: [b]}", 32, "wrong_type"),
        ("a: {type: list, initial_value: b}", 32, "wrong_type"),
        ("a: {initial_value: 1_000}", 20, "ambiguous_number"),
        ("a: {type: categorical}", 4, "missing_key"),
        ("a: {type: categorical, enum_values: []}", 24, "missing_key"),
        ("a: {type: categorical, enum_values: [x], initial_value: y}", 57, "wrong_type"),
        ("a: {type: categorical, enum_values: [x, x]}", 24, "duplicate_value"),
        ("a: {enum_values: [x]}", 5, "wrong_type"),
        ("a: {pii: yes}", 10, "wrong_type"),
        ("a: {immutable: 1}", 16, "wrong_type"),
        ("a: {pii: true, anonymization: redact}", 31, "unsupported"),
        ("a: {pii: true, anonymization: hash}", 31, "unsupported"),
        ("a: {pii: true, anonymization: maks}", 31, "unknown_value"),
        ("a: {anonymization: mask}", 5, "no_effect"),
        ("a: {llm_settable: true}", 5, "not_settable"),
    ],
)
def test_a_mistake_is_shown_at_its_place(line: str, column: int, code: str):
    """K01, K03, K15."""
    _, found = _project(f"{line}\n")
    assert places(found) == [(f"1:{column}", code)]


@pytest.mark.parametrize("name", ["from", "None", "\ufb01eld", "project"])
def test_a_name_that_means_something_elsewhere_is_a_name(name: str):
    """Conditions can name them all."""
    (field,), found = _project(f"{name}: {{type: text}}\n")
    assert found == []
    assert parse(f"session.project.{name} == 'x'").references == (("project", field.name),)


def test_only_a_maestro_project_lets_the_model_set_its_fields():
    """M10: only there."""
    text = "a: {llm_settable: true}\n"
    (field,), found = _project(text, "maestro")
    assert found == [] and field.llm_settable
    (field,), found = _project(text)
    assert [p.code for p in found] == ["not_settable"] and not field.llm_settable
    _, found = _project("a: {llm_settable: false}\n")
    assert found == []


def test_what_the_channel_knows_goes_to_project_memory_only():
    fields, found = _skill("schema:\n  public:\n    a: {seed: true}\n")
    assert places(found) == [("3:9", "misplaced_key")]
    assert not fields[0].seed


@pytest.mark.parametrize(
    ("text", "place", "code"),
    [
        ("schema:\n  public: {a: {}}\n  private: {a: {}}\n", "3:13", "duplicate_key"),
        ("public: {a: {}}\n", "1:1", "unknown_key"),
        ("schema: {publik: {a: {}}}\n", "1:10", "unknown_key"),
        ("schema: [a]\n", "1:9", "wrong_type"),
        ("schema: {public: {system: {}}}\n", "1:19", "reserved_name"),
    ],
)
def test_a_mistake_in_a_skills_schema_is_shown(text: str, place: str, code: str):
    """K06."""
    _, found = _skill(text)
    assert places(found) == [(place, code)]


@pytest.mark.parametrize("data", [b"", b"[]", b"a", b"\x00\x01", b"- - -\n", b"\xff\xfea\x00"])
def test_no_content_raises(data: bytes):
    fields, found = read_with(lambda p: read_project_memory(data, "memory.yml", {}, p))
    assert fields == ()
    assert bool(found) is bool(data)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("enum", "categorical"),
        ("string", "text"),
        ("str", "text"),
        ("String", "text"),
        ("integer", "int"),
        ("boolean", "bool"),
        ("number", "float"),
        ("array", "list"),
        ("object", "json"),
    ],
)
def test_types_by_the_names_of_other_languages_get_ours(word: str, meant: str):
    problems = Problems()
    read_project_memory(f"a: {{type: {word}}}\n".encode(), "memory.yml", {}, problems)
    (problem,) = problems.found
    assert (problem.code, problem.mend) == ("unknown_value", f"did you mean '{meant}'?")
