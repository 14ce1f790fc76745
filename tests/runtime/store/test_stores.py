"""The contract of stores, over each of them."""

import asyncio
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from runtime.conversation.events import (
    CallEnded,
    CallStarted,
    Event,
    Fact,
    LateOutcome,
    MemorySet,
    MessageDropped,
    MessageHeard,
    MessageWritten,
    ModelCalled,
    ToolAsked,
    ToolSettled,
    ToolStarted,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
)
from runtime.store.memory_store import MemoryStore
from runtime.store.ports import EventStore, StoreError
from runtime.store.sqlite_store import SqliteStore

FACTS: list[Fact] = [
    CallStarted("phone", "en", 1.5, (("caller_phone", "+15550100"),)),
    TurnStarted("input", "speech", "größer 👍", True, 0, 3),
    MessageWritten(1, "reply", "Hello", 1, False, 7),
    MessageHeard(1, "cut", 3),
    MessageDropped(7, "late", "interrupted"),
    ToolAsked(7, "abc", "book", "{}", 1),
    ToolStarted(7, "book", '{"n":1}', "0" * 32, True),
    ToolSettled(7, "timed_out", '{"status":"timed_out"}', True),
    LateOutcome(7, "ok", "1"),
    MemorySet("desk", "name", '"Nora"', "tool", 7),
    ModelCalled("first", 1, "ok", None, 12),
    TurnInterrupted("words", "no"),
    TurnFinished("interrupted"),
    CallEnded("caller"),
]
EVENTS = [Event("c1", i + 1, i * 10, 1, fact) for i, fact in enumerate(FACTS)]


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> EventStore:
    return MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "d" / "log.db")


def test_what_was_appended_is_loaded_in_order(store: EventStore) -> None:
    async def main() -> None:
        await store.append(EVENTS[:5])
        await store.append(EVENTS[5:])
        await store.append([Event("c2", 1, 0, 0, CallEnded("lost"))])
        assert await store.load("c1") == EVENTS
        assert await store.load("c3") == []
        await store.aclose()
        await store.aclose()

    asyncio.run(main())


def test_a_repeated_append_changes_nothing(store: EventStore) -> None:
    async def main() -> None:
        await store.append(EVENTS)
        await store.append([Event("c1", 2, 99, 9, CallEnded("lost")), EVENTS[0]])
        await store.append([])
        assert await store.load("c1") == EVENTS
        await store.aclose()

    asyncio.run(main())


def test_sqlite_keeps_events_over_restarts(tmp_path: Path) -> None:
    async def write() -> None:
        store = SqliteStore(tmp_path / "log.db")
        await store.append(EVENTS)
        await store.aclose()

    async def read() -> list[Event]:
        store = SqliteStore(tmp_path / "log.db")
        try:
            return await store.load("c1")
        finally:
            await store.aclose()

    asyncio.run(write())
    assert asyncio.run(read()) == EVENTS


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("update about set version = 99", "version 99"),
        ("update events set kind = 'nonsense'", "unknown kind"),
        ("update events set body = '{\"say\": true'", "can't be read"),
        ("drop table events", None),
    ],
)
def test_a_file_that_is_not_ours_is_refused_by_name(
    tmp_path: Path, statement: str, told: str | None
) -> None:
    path = tmp_path / "log.db"

    async def write() -> None:
        store = SqliteStore(path)
        await store.append(EVENTS[:1])
        await store.aclose()

    async def read() -> list[Event]:
        store = SqliteStore(path)
        try:
            return await store.load("c1")
        finally:
            await store.aclose()

    asyncio.run(write())
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()
    if told is None:
        assert asyncio.run(read()) == []
    else:
        with pytest.raises(StoreError, match=told):
            asyncio.run(read())


def test_a_file_that_is_no_database_is_a_store_error(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    path.write_text("this is not a database " * 100, encoding="utf-8")

    async def main() -> None:
        store = SqliteStore(path)
        with pytest.raises(StoreError):
            await store.append(EVENTS)
        await store.aclose()

    asyncio.run(main())


def test_text_that_no_utf8_holds_is_stored_with_a_replacement(tmp_path: Path) -> None:
    async def main() -> None:
        store = SqliteStore(tmp_path / "log.db")
        await store.append([Event("c", 1, 0, 1, TurnStarted("input", "text", "a\ud800b"))])
        (event,) = await store.load("c")
        assert isinstance(event.fact, TurnStarted)
        assert event.fact.text == "a?b"
        await store.aclose()

    asyncio.run(main())


def test_a_sqlite_file_is_opened_once_by_whoever_comes_first(tmp_path: Path) -> None:
    """N05: two conversations are loaded at the same time; no connection is left over."""
    before = set(threading.enumerate())

    async def main() -> None:
        store = SqliteStore(tmp_path / "log.db")
        loads = [asyncio.ensure_future(store.load(f"c{n}")) for n in range(5)]
        await asyncio.wait(loads)
        assert [load.result() for load in loads] == [[]] * 5
        await store.aclose()

    asyncio.run(main())
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
        assert not thread.is_alive()


def test_two_processes_may_open_a_new_file_at_the_same_time(tmp_path: Path) -> None:
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from runtime.store.sqlite_store import SqliteStore\n"
        "async def main():\n"
        "    store = SqliteStore(Path(sys.argv[1]))\n"
        "    print('ready', flush=True); sys.stdin.readline()\n"
        "    assert await store.load('c') == []\n"
        "    await store.aclose()\n"
        "asyncio.run(main())\n"
    )
    for n in range(3):
        children = [
            subprocess.Popen(
                [sys.executable, "-c", script, str(tmp_path / f"{n}.db")],
                cwd=Path(__file__).parents[3],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
            )
            for _ in range(3)
        ]
        for child in children:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
        for child in children:
            assert child.stdin is not None
            child.stdin.write("\n")
            child.stdin.flush()
        for child in children:
            _, errors = child.communicate(timeout=30)
            assert child.returncode == 0, errors
