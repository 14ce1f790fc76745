"""``ToolContext``: what an author's tool is given, over a backing that only notes."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from runtime import Button, ToolContext
from runtime.agent import Json
from runtime.tools.context import MemorySlice, ToolBacking, ToolModelContext


class Slice:
    """Memory that holds whatever it is told."""

    def __init__(self) -> None:
        self.values: dict[str, object] = {"zero": 0}

    def get(self, name: str, default: Any = None, /) -> Any:
        value = self.values.get(name)
        return default if value is None else value

    def set(self, name: str, value: Any, /) -> None:
        self.values[name] = value


class Backing:
    """A call: with ``is_source``, one that a response made to get its buttons."""

    is_cancelled = False
    idempotency_key = "0" * 32
    config: Mapping[str, Json] = {"provider": "openai", "models": [{"model": "a"}]}

    def __init__(self, *, is_source: bool = False) -> None:
        self._slice = Slice()
        self._is_source = is_source
        self.buttons: list[Button] = []
        self.sent: list[str] = []

    @property
    def memory(self) -> MemorySlice:
        return self._slice

    @property
    def model(self) -> ToolModelContext:
        return ToolModelContext(self.config, "an index")

    def events(self) -> Sequence[Any]:
        return ("first",)

    async def send(self, text: str) -> None:
        self.sent.append(text)

    def set_buttons(self, buttons: Sequence[Button]) -> None:
        if not self._is_source:
            raise RuntimeError("not a button source")
        self.buttons[:] = buttons

    def hang_up(self) -> None: ...

    def enter_commit(self) -> None: ...

    def leave_commit(self) -> None: ...


def context_over(backing: ToolBacking) -> ToolContext:
    return ToolContext(backing)


def test_buttons_outside_of_a_button_source_raise() -> None:
    """R32"""
    backing = Backing()
    with pytest.raises(RuntimeError):
        context_over(backing).set_buttons([Button("Yes", "yes")])
    assert backing.buttons == []


def test_a_second_list_of_buttons_takes_the_place_of_the_first() -> None:
    """R32, R34: what the tool sends beside them carries none."""
    backing = Backing(is_source=True)
    context = context_over(backing)
    context.set_buttons([Button("Yes", "yes"), Button("No", "no")])
    with pytest.raises(StopIteration):
        context.send("One moment.").send(None)
    context.set_buttons(Button(word, word.lower()) for word in ("Later",))  # type: ignore[arg-type]
    assert backing.buttons == [Button("Later", "later")]
    assert backing.sent == ["One moment."]


@pytest.mark.parametrize(
    "wrong",
    [["Yes"], [{"title": "Yes", "value": "yes"}], [None], [Button("Two", cast("str", 2))], "Yes"],
)
def test_what_is_no_button_is_refused_and_the_earlier_ones_stay(wrong: Any) -> None:
    """R33"""
    backing = Backing(is_source=True)
    context = context_over(backing)
    context.set_buttons([Button("Yes", "yes")])
    with pytest.raises(TypeError, match="Button"):
        context.set_buttons(wrong)
    assert backing.buttons == [Button("Yes", "yes")]


def test_a_button_is_written_by_position_or_by_keyword() -> None:
    """R33: without ``ref`` a tap is plain input."""
    by_keyword = Button(title="Tomorrow", value="tomorrow", ref="session.delivery.window")
    assert by_keyword == Button("Tomorrow", "tomorrow", "session.delivery.window")
    assert Button("Later", "later").ref is None
    assert Button(title="Later", value="later").ref is None


def test_model_settings_can_not_be_written_to_at_any_depth() -> None:
    """R22"""
    backing = Backing()
    before = copy.deepcopy(dict(backing.config))
    model: Any = context_over(backing).model
    assert model.llm_config["models"][0]["model"] == "a"
    assert model.references_index == "an index"
    for write in (
        lambda: setattr(model, "llm_config", {}),
        lambda: setattr(model, "references_index", None),
        lambda: model.llm_config.update(provider="b"),
        lambda: model.llm_config["models"].append({}),
        lambda: model.llm_config["models"][0].pop("model"),
    ):
        with pytest.raises((AttributeError, TypeError)):
            write()
    assert dict(backing.config) == before
    assert ToolModelContext().references_index is None


def test_events_are_a_fresh_list_each_time() -> None:
    """R21"""
    context = context_over(Backing())
    events: list[Any] = context.events
    events.append("mine")
    assert context.events == ["first"]
    assert context.events is not context.events


def test_memory_is_read_with_a_default_by_position_or_keyword() -> None:
    """R25"""
    memory: Any = context_over(Backing()).memory
    assert memory.get("zero", 7) == 0
    assert memory.get("cards", []) == memory.get("cards", default=[]) == []
    assert memory.get("cards") is None
    memory.set("cards", ["c1"])
    memory.set(name="card", value="c1")
    assert (memory.get("cards"), memory.get(name="card")) == (["c1"], "c1")


def test_memory_shows_nothing_of_what_is_behind_it() -> None:
    """R30"""
    public = [name for name in dir(context_over(Backing()).memory) if not name.startswith("_")]
    assert public == ["get", "set"]
