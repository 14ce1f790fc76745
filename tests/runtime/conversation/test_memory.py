"""Reading and writing memory by name."""

from typing import Any

import pytest

from runtime.conversation.events import Event, MemorySet
from runtime.conversation.memory import MemorySchema, accepts, read, writable
from runtime.conversation.state import ConversationState
from runtime.errors import MemoryWriteError, ProjectMemoryAlreadySetError
from runtime.project.model import MemoryField

SCHEMA = MemorySchema(
    [
        MemoryField(namespace="project", name="authenticated", type="bool"),
        MemoryField(namespace="project", name="name", initial_value="from project"),
        MemoryField(namespace="desk", name="name", type="text"),
        MemoryField(namespace="desk", name="count", type="int", initial_value=0),
        MemoryField(namespace="desk", name="cards", type="list"),
        MemoryField(namespace="desk", name="kind", type="categorical", enum_values=("a", "b")),
        MemoryField(namespace="desk", name="private", private=True, initial_value=1),
        MemoryField(namespace="billing", name="due", initial_value=5),
        MemoryField(namespace="billing", name="secret", private=True, initial_value=6),
    ]
)


class Memory:
    def __init__(self) -> None:
        self.state = ConversationState()

    def get(self, name: Any, default: Any = None) -> Any:
        return read(SCHEMA, self.state, name, "desk", default)

    def set(self, name: Any, value: Any) -> None:
        field, text = writable(SCHEMA, self.state, name, value, "desk")
        fact = MemorySet(field.namespace, field.name, text, "tool")
        self.state.apply(Event("c", self.state.sequence + 1, 0, 1, fact))


def test_a_bare_name_is_the_skill_s_then_the_project_s() -> None:
    """R23"""
    memory = Memory()
    memory.set("project.authenticated", True)
    assert memory.get("authenticated") is True
    assert memory.get("name") is None, "the skill declares it too, and there it is unset"
    memory.set("name", "Nora")
    assert memory.get("name") == "Nora"
    assert memory.get("project.name") == "from project"


def test_a_qualified_name_reads_public_fields_of_others_and_nothing_private() -> None:
    """R24"""
    memory = Memory()
    assert memory.get("billing.due") == 5
    assert memory.get("billing.secret") is None
    assert memory.get("desk.private") == 1
    assert memory.get("session.desk.count") is None
    assert memory.get("system.time") is None


@pytest.mark.parametrize("name", ["nothing", "billing.nothing", "", ".", "a.b.c", None, 3, []])
def test_get_returns_the_default_and_never_raises(name: Any) -> None:
    """R25"""
    assert Memory().get(name, "default") == "default"


@pytest.mark.parametrize("value", [0, False, "", []])
def test_falsy_values_win_over_the_default(value: Any) -> None:
    """R25"""
    memory = Memory()
    name = {int: "count", bool: "project.authenticated", str: "name", list: "cards"}[type(value)]
    memory.set(name, value)
    assert memory.get(name, "default") == value


def test_values_are_copies() -> None:
    memory = Memory()
    cards = ["a"]
    memory.set("cards", cards)
    cards.append("b")
    memory.get("cards").append("c")
    assert memory.get("cards") == ["a"]


@pytest.mark.parametrize(
    "name",
    ["nothing", "desk.nothing", "billing.due", "system.time", "session.desk.name", "other.x", 3],
)
def test_undeclared_foreign_and_reserved_names_are_not_written(name: Any) -> None:
    """R27"""
    with pytest.raises(MemoryWriteError):
        Memory().set(name, 1)


def test_a_qualified_write_does_not_fall_through() -> None:
    """R26"""
    memory = Memory()
    with pytest.raises(MemoryWriteError):
        memory.set("desk.authenticated", True)
    memory.set("authenticated", True)
    assert memory.get("project.authenticated") is True


def test_a_project_field_is_set_once() -> None:
    """R28"""
    memory = Memory()
    memory.set("project.name", "first")
    for value in ("first", "second", None):
        with pytest.raises(ProjectMemoryAlreadySetError):
            memory.set("project.name", value)
    assert memory.get("project.name") == "first"


def test_none_clears_a_field_of_the_skill() -> None:
    """R30"""
    memory = Memory()
    memory.set("count", 3)
    memory.set("count", None)
    assert memory.get("count", "unset") == "unset"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("count", "3"),
        ("count", True),
        ("count", 1.5),
        ("kind", "c"),
        ("cards", "a"),
        ("cards", [object()]),
        ("cards", [float("nan")]),
        ("cards", [{1: 2}]),
        ("name", 3),
        ("project.authenticated", 1),
        ("project.authenticated", {1, 2}),
    ],
)
def test_a_value_that_does_not_fit_is_refused_without_naming_it(name: str, value: Any) -> None:
    with pytest.raises(MemoryWriteError, match="takes"):
        Memory().set(name, value)


def test_a_cycle_is_no_json() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(MemoryWriteError):
        Memory().set("cards", loop)


def test_an_int_is_a_float_and_anything_is_any() -> None:
    assert accepts(MemoryField(namespace="d", name="f", type="float"), 1)
    assert accepts(MemoryField(namespace="d", name="f", type="json"), {"a": [1]})
    assert not accepts(MemoryField(namespace="d", name="f", type="bool"), 0)
