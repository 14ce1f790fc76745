"""A store in one SQLite file.

Owns the tables and their version. Write-ahead logging, so that a reader never holds a writer up;
``synchronous=NORMAL``, so that a crash of the process loses nothing and a power cut at most the
last moments. SQLAlchemy's core is used, so that another database is another URL.
"""

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    event,
    select,
)
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.schema import CreateTable

from runtime.conversation.events import Event
from runtime.store.codec import decode, encode_fact, kind_of
from runtime.store.ports import EventStore, StoreError

__all__ = ["SCHEMA_VERSION", "SqliteStore"]

_logger = logging.getLogger(__name__)

SCHEMA_VERSION = 1

_metadata = MetaData()

_events = Table(
    "events",
    _metadata,
    Column("conversation", String, nullable=False),
    Column("sequence", Integer, nullable=False),
    Column("at_ms", Integer, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("kind", String, nullable=False),
    Column("body", LargeBinary, nullable=False),
    PrimaryKeyConstraint("conversation", "sequence"),
)
_about = Table("about", _metadata, Column("version", Integer, primary_key=True))


class SqliteStore(EventStore):
    """Events in a file; opened by the first use, on the loop that uses it."""

    def __init__(self, path: Path) -> None:
        """Keep events at ``path``; its folder is made if it is missing."""
        self._path = path
        self._engine: AsyncEngine | None = None
        self._opening = asyncio.Lock()

    async def append(self, events: Sequence[Event]) -> None:
        """Write events in one transaction; those that are there already are left as they are.

        Raises:
            StoreError: the file can't be written.
        """
        rows = [row for each in events if (row := _row(each)) is not None]
        if not rows:
            return
        try:
            engine = await self._open()
            async with engine.begin() as connection:
                await connection.execute(sqlite_insert(_events).on_conflict_do_nothing(), rows)
        except SQLAlchemyError as error:
            raise StoreError(f"{self._path.name} can't be written") from error

    async def load(self, conversation: str) -> list[Event]:
        """All events of a conversation in the order of their numbers.

        Raises:
            StoreError: the file can't be read, or holds a row that is not an event.
        """
        query = (
            select(_events)
            .where(_events.c.conversation == conversation)
            .order_by(_events.c.sequence)
        )
        try:
            engine = await self._open()
            async with engine.connect() as connection:
                rows = (await connection.execute(query)).all()
        except SQLAlchemyError as error:
            raise StoreError(f"{self._path.name} can't be read") from error
        return [decode(*row) for row in rows]

    async def aclose(self) -> None:
        """Close the file; idempotent."""
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.dispose()

    async def _open(self) -> AsyncEngine:
        async with self._opening:  # whoever comes second takes the engine of the first
            if self._engine is None:
                self._engine = await self._connect()
            return self._engine

    async def _connect(self) -> AsyncEngine:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"the folder of {self._path.name} can't be made") from error
        engine = create_async_engine(f"sqlite+aiosqlite:///{self._path}", connect_args=_CONNECT)
        event.listen(engine.sync_engine, "connect", _prepare)
        try:
            await self._prepare_tables(engine)
        except BaseException:
            await engine.dispose()
            raise
        return engine

    async def _prepare_tables(self, engine: AsyncEngine) -> None:
        """Make or check the tables; patient with other processes that open the same new file.

        Turning a new file to write-ahead logging needs it alone, and SQLite refuses that at once
        instead of waiting its busy timeout: so the waiting is ours.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + _BUSY_SECONDS
        while True:
            try:
                async with engine.begin() as connection:
                    await self._check_version(connection)
                return
            except OperationalError as error:
                if "locked" not in str(error.orig) or loop.time() > until:
                    raise
            await asyncio.sleep(_RETRY_SECONDS)

    async def _check_version(self, connection: AsyncConnection) -> None:
        for table in _metadata.sorted_tables:  # another process may be at it in this moment
            await connection.execute(CreateTable(table, if_not_exists=True))
        version = (await connection.execute(select(_about.c.version))).scalar()
        if version is None:
            first = sqlite_insert(_about).values(version=SCHEMA_VERSION)
            await connection.execute(first.on_conflict_do_nothing())
        elif version != SCHEMA_VERSION:
            raise StoreError(
                f"{self._path.name} has version {version} of the tables; this one reads "
                f"{SCHEMA_VERSION}"
            )


_BUSY_SECONDS = 5
"""How long to wait for another writer of the same file."""

_RETRY_SECONDS = 0.05

_CONNECT = {"timeout": _BUSY_SECONDS}


def _prepare(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.close()


def _row(each: Event) -> dict[str, object] | None:
    """The event as a row; None for one that can't be written, which must not hold up the rest."""
    try:
        body = encode_fact(each.fact)
    except Exception as error:
        _logger.error(
            "an event can't be stored",
            extra={"kind": kind_of(each.fact), "error": type(error).__name__},
        )
        return None
    return {
        "conversation": each.conversation,
        "sequence": each.sequence,
        "at_ms": each.at_ms,
        "turn": each.turn,
        "kind": kind_of(each.fact),
        "body": body,
    }
