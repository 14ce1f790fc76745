"""Memory writes read from a tool module's text."""

import textwrap

import pytest

from runtime.errors import Place
from runtime.project.written_keys import MemoryUse, WrittenKey, memory_use


def use_of(text: str) -> MemoryUse:
    return memory_use(textwrap.dedent(text).encode(), "tools.py")


def keys(text: str) -> list[tuple[str, str]]:
    return [(write.key, write.function) for write in use_of(text).writes]


def misuses(text: str) -> list[str]:
    return [misuse.what for misuse in use_of(text).misuses]


def test_a_literal_write_is_found_with_its_place_and_function() -> None:
    """R31"""
    found = use_of(
        """
        @tool(description="x")
        async def save(context: ToolContext = None) -> ToolResult:
            context.memory.set("order_id", 7)
        """
    )
    assert found.writes == (WrittenKey("order_id", Place("tools.py", 4, 24), "save"),)
    assert found.misuses == ()


@pytest.mark.parametrize(
    "body",
    [
        'context.memory.set("key", 1)',
        'context.memory.set(name="key", value=1)',
        'context.memory.set("k" "ey", value)',
        'memory = context.memory\n    memory.set("key", 1)',
        'm = memory = context.memory\n    m.set("key", 1)',
        'm: MemorySlice = context.memory\n    m.set("key", 1)',
        'm, n = context.memory, 1\n    m.set("key", n)',
        '(m := context.memory).set("key", 1)',
        'ctx = context\n    ctx.memory.set("key", 1)',
        'ctx = context or make()\n    ctx.memory.set("key", 1)',
        'save = context.memory.set\n    save("key", 1)',
        'getattr(context, "memory").set("key", 1)',
        '[context.memory.set("key", n) for n in (1, 2)]',
        'for n in (1, 2):\n        m and m.set("key", n)\n        m = context.memory',
        'then(lambda: context.memory.set("key", 1))',
        'if a:\n        with b:\n            try:\n                context.memory.set("key", 1)\n'
        "            finally:\n                pass",
    ],
)
def test_every_spelling_of_a_write_counts(body: str) -> None:
    """R31"""
    assert keys(f"async def save(context=None):\n    {body}\n") == [("key", "save")]


@pytest.mark.parametrize(
    "function",
    [
        "def helper(context):\n    context.memory.set('key', 1)",
        "def helper(memory):\n    memory.set('key', 1)",
        "def helper(memory: 'MemorySlice | None'):\n    memory.set('key', 1)",
        "def helper(anything: Optional[ToolContext]):\n    anything.memory.set('key', 1)",
        "def helper(anything: runtime.ToolContext):\n    anything.memory.set('key', 1)",
        "def helper(ctx):\n    ctx.memory.set('key', 1)",
        "def helper(*, context: Any):\n    context.memory.set('key', 1)",
    ],
)
def test_helpers_that_are_given_context_or_memory_count(function: str) -> None:
    """R31"""
    assert keys(function) == [("key", "helper")]


@pytest.mark.parametrize(
    "body",
    [
        'context.memory.set(f"{name}_id", 1)',
        "context.memory.set(name, 1)",
        'context.memory.get("key")',
        'cache.set("key", 1)',
        'other.memory.set("key", 1)',
        'memory = {}\n    memory.set("key", 1)',
        'context = ssl.create()\n    # is no longer the parameter\n    seen.add("key")',
    ],
)
def test_what_is_no_literal_write_to_memory_is_left_alone(body: str) -> None:
    assert keys(f"async def save(context=None):\n    {body}\n") == []


def test_a_parameter_that_says_it_is_something_else_is_believed() -> None:
    text = """
        def size(memory: dict[str, int], context: ssl.SSLContext) -> None:
            memory.set("key", 1)
            memory.clear()
            context._inner()
        """
    assert use_of(text) == MemoryUse(calls={"size": frozenset()})


def test_functions_inside_functions_and_methods_are_named_by_their_path() -> None:
    text = """
        async def order(context=None):
            async def step():
                context.memory.set("inner", 1)
            await step()

        class Desk:
            def __init__(self, context):
                self.memory = context.memory

            def close(self):
                self.memory.set("closed", True)
        """
    assert keys(text) == [("inner", "order.step"), ("closed", "Desk.close")]


def test_a_tool_answers_for_the_helpers_that_it_reaches_and_for_no_other() -> None:
    """R31: a shared file may hold tools that a skill does not import."""
    found = use_of(
        """
        async def one(context=None):
            _first(context)

        async def two(context=None):
            context.memory.set("of_two", 1)

        def _first(context):
            context.memory.set("of_first", 1)
            return _second(context) or _first(context)

        def _second(context):
            context.memory.clear()
        """
    )
    assert [w.key for w in found.of("one").writes] == ["of_first"]
    assert [m.what for m in found.of("one").misuses] == ["memory.clear"]
    assert [w.key for w in found.of("two").writes] == ["of_two"]
    assert found.of("two").misuses == ()
    assert found.of("nobody").writes == ()


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("context.memory.manager.wipe()", "memory.manager"),
        ("context.memory._host", "memory._host"),
        ("context.memory.clear()", "memory.clear"),
        ('context.memory.delete("key")', "memory.delete"),
        ('del context.memory["key"]', "memory[…]"),
        ('context.memory["key"] = 1', "memory[…]"),
        ('m = context.memory\n    m.clear("key")', "memory.clear"),
        ('getattr(context.memory, "_host")', "memory._host"),
        ("vars(context.memory)", "memory.__dict__"),
        ("context._backing.memory", "context._backing"),
    ],
)
def test_what_is_behind_memory_is_not_for_tools(body: str, what: str) -> None:
    """R30"""
    found = use_of(f"async def wipe(context=None):\n    {body}\n")
    assert [m.what for m in found.misuses] == [what]
    assert {m.function for m in found.misuses} == {"wipe"}
    assert found.misuses[0].place.line in (2, 3)


def test_clearing_by_setting_none_is_the_way() -> None:
    """R30"""
    assert misuses("async def wipe(context=None):\n    context.memory.set('key', None)\n") == []


@pytest.mark.parametrize(
    "source",
    [b"def broken(:", b"\x00", b"\xff\xfe", b"x = " + b"(" * 5000, b"", b"-" * 50_000 + b"1"],
)
def test_a_source_that_is_no_python_says_nothing(source: bytes) -> None:
    assert memory_use(source, "tools.py") == MemoryUse()
