"""Finds the passages of reference files that answer a question, by their words (BM25).

Owns the index, in memory, on SQLite's full-text search, its bytes and their checking. What a word
is belongs to ``query_words``; finding by meaning as well is ``hybrid``; where chunks come from is
``chunking``. A question is a caller's words: it is never part of SQL, of a log or of an error.
"""

import math
import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Self, TypeAlias

from runtime.errors import InternalError, Place, Problem, ProjectError
from runtime.knowledge.chunking import Chunk
from runtime.knowledge.query_words import content_words, spaced

__all__ = ["MAX_CHUNKS", "WEAK_COVERAGE", "KnowledgeIndex", "Match", "Passage"]

MAX_CHUNKS = 1_000_000
WEAK_COVERAGE = 0.3
"""A passage with less of the question in it most likely answers another one."""

_FORMAT = "1"
_MAX_BYTES = 1 << 30
_HEADER = b"SQLite format 3\x00"
_PLACE = Place("knowledge index")

_HEADING_WEIGHT = 2.0
"""A word in a heading counts as much as two in the text."""

_MANY = 100
"""Chunks from which on words that most of them have are not searched for."""

_MOST_VALUES = 500
"""Of one query; how many SQLite takes depends on how it was built."""

_TABLES = (
    "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE chunks (id INTEGER PRIMARY KEY, file TEXT NOT NULL, heading TEXT NOT NULL,"
    " position INTEGER NOT NULL, body TEXT NOT NULL)",
    "CREATE TABLE attached (name TEXT PRIMARY KEY, data BLOB NOT NULL)",
)
_WORDS = (
    "CREATE VIRTUAL TABLE temp.words USING fts5(heading, body, content='', columnsize=1,"
    " tokenize='{tokenizer}')"
)
_BEST = (
    f"SELECT rowid, bm25(words, {_HEADING_WEIGHT}, 1.0) AS score FROM words WHERE words MATCH ?"
    " ORDER BY score, rowid LIMIT ?"
)
_COUNT = "SELECT count(*) FROM words WHERE words MATCH ?"

_Row: TypeAlias = tuple[int, str, str, int, str]
"""Id, file, heading, position, text."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk that was found."""

    text: str
    file: str
    heading: str
    """The headings above it, joined by `` > ``; empty above the first."""
    score: float
    """More is better; compares passages of one search only."""
    coverage: float = 1.0
    """0..1: how much of the question's words is in it, rare words counting for more."""


@dataclass(frozen=True, slots=True)
class Match:
    """A chunk that was found, by its id: ids count from 0 in the order of file and position."""

    id: int
    score: float
    coverage: float


class KnowledgeIndex:
    """The chunks of one project, ready to be searched from any thread."""

    def __init__(self, database: sqlite3.Connection, language: str, size: int) -> None:
        """Use ``build`` or ``from_bytes``; the database belongs to the index from here on."""
        self._database = database
        self._language = language
        self._size = size
        self._lock = threading.Lock()

    @classmethod
    def build(cls, chunks: Iterable[Chunk], language: str) -> Self:
        """Index chunks; ``language`` (``en``, ``de-AT``) chooses stems and stop words.

        The same chunks give the same bytes, in whatever order they come.
        """
        ordered = sorted(chunks, key=lambda chunk: (chunk.file, chunk.position))
        rows = ((i, c.file, c.heading, c.position, c.text) for i, c in enumerate(ordered))
        return cls._filled(rows, language, len(ordered))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what ``to_bytes`` wrote.

        Raises:
            ProjectError: the bytes are no index, a damaged one, or one of another version.
        """
        if len(data) > _MAX_BYTES:
            refuse(_PLACE, "bad_index", "the index is larger than 1 GiB")
        if not data.startswith(_HEADER):
            refuse(_PLACE, "bad_index", "this is no index")
        if len(data) != _promised_size(data):
            refuse(_PLACE, "bad_index", "the index is damaged")
        foreign = _connect()
        try:
            foreign.deserialize(data)
            language, rows, attached = _checked(foreign)
        except (sqlite3.Error, UnicodeError, OverflowError, MemoryError):
            refuse(_PLACE, "bad_index", "the index is damaged")
        finally:
            foreign.close()
        index = cls._filled(rows, language, len(rows))
        for name, blob in attached:
            index.attach(name, blob)
        return index

    @classmethod
    def _filled(cls, rows: Iterable[_Row], language: str, size: int) -> Self:
        database = _connect()
        with database:
            for table in _TABLES:
                database.execute(table)
            # Words stand beside what is stored: they are made again faster than checked.
            database.execute(_WORDS.format(tokenizer=_tokenizer(language)))
            database.executemany(
                "INSERT INTO about VALUES (?, ?)", (("format", _FORMAT), ("language", language))
            )
            for chunk, file, heading, position, body in rows:
                database.execute(
                    "INSERT INTO chunks VALUES (?, ?, ?, ?, ?)",
                    (chunk, file, heading, position, body),
                )
                # A file's name says what it is about where its author wrote no heading.
                database.execute(
                    "INSERT INTO words (rowid, heading, body) VALUES (?, ?, ?)",
                    (chunk, spaced(f"{heading} {_stem(file)}"), spaced(body)),
                )
        with database:
            database.execute("INSERT INTO words (words) VALUES ('optimize')")
        return cls(database, language, size)

    def __len__(self) -> int:
        """How many chunks there are."""
        return self._size

    def search(self, query: str, top_k: int, min_coverage: float = 0.0) -> tuple[Passage, ...]:
        """The best passages for a question in free words, best first.

        Args:
            query: The question; an empty one finds nothing.
            top_k: Most passages.
            min_coverage: Passages that hold less of the question than this (0..1) are left out;
                ``WEAK_COVERAGE`` is a good choice.

        Raises:
            InternalError: the index can't be read.
        """
        best = [m for m in self.match(query, top_k) if m.coverage >= min_coverage]
        chunks = self.chunks([match.id for match in best])
        return tuple(
            Passage(c.text, c.file, c.heading, m.score, m.coverage)
            for m in best
            if (c := chunks.get(m.id)) is not None
        )

    def match(self, query: str, limit: int, others: Sequence[int] = ()) -> tuple[Match, ...]:
        """The best chunks by words, best first; then ``others`` as they come, with score 0.

        Raises:
            InternalError: the index can't be read.
        """
        weights = self._weights(query)
        rows: list[tuple[int, float]] = []
        if limit > 0 and weights:
            anyone = " OR ".join(self._telling(weights))
            rows = self._read(_BEST, (anyone, min(limit, self._size)))
        found = {chunk for chunk, _ in rows}
        rows += [(chunk, 0.0) for chunk in others if chunk not in found]
        covered = self._coverage(weights, [chunk for chunk, _ in rows])
        return tuple(Match(chunk, -score, covered[chunk]) for chunk, score in rows)

    def chunks(self, ids: Sequence[int]) -> Mapping[int, Chunk]:
        """The chunks of these ids, without their lines.

        Raises:
            InternalError: the index can't be read.
        """
        found: dict[int, Chunk] = {}
        for begin in range(0, len(ids), _MOST_VALUES):
            part = ids[begin : begin + _MOST_VALUES]
            marks = ", ".join("?" * len(part))
            sql = f"SELECT id, file, heading, position, body FROM chunks WHERE id IN ({marks})"
            for chunk, file, heading, position, body in self._read(sql, part):
                found[chunk] = Chunk(body, file, (heading,) if heading else (), position)
        return found

    def attach(self, name: str, data: bytes) -> None:
        """Keep bytes of another owner with the index, in place of older ones of this name."""
        with self._lock, self._database:
            self._database.execute("INSERT OR REPLACE INTO attached VALUES (?, ?)", (name, data))

    def attached(self, name: str) -> bytes | None:
        """What was kept under this name; not checked in any way.

        Raises:
            InternalError: the index can't be read.
        """
        rows = self._read("SELECT data FROM attached WHERE name = ?", (name,))
        return rows[0][0] if rows and isinstance(rows[0][0], bytes) else None

    def to_bytes(self) -> bytes:
        """The whole index, for ``from_bytes``."""
        with self._lock:
            return self._database.serialize()

    def close(self) -> None:
        """Free the memory; the index can't be used any more."""
        with self._lock:
            self._database.close()

    def _weights(self, query: str) -> dict[str, float]:
        """The question's words, quoted so that no operator leaks, and how rare each is."""
        weights: dict[str, float] = {}
        for word in content_words(query, self._language):
            ((count,),) = self._read(_COUNT, (f'"{word}"',))
            # BM25's own weight with one added, so that a word found everywhere counts a little.
            weights[f'"{word}"'] = math.log1p((self._size - count + 0.5) / (count + 0.5))
        return weights

    def _telling(self, weights: Mapping[str, float]) -> list[str]:
        """Words worth searching for: in many chunks, one found in most of them ranks none."""
        if self._size < _MANY:
            return list(weights)
        unknown = math.log1p((self._size + 0.5) / 0.5)
        rare = [term for term, weight in weights.items() if math.log(2) < weight < unknown]
        return rare or list(weights)

    def _coverage(self, weights: Mapping[str, float], ids: Sequence[int]) -> dict[int, float]:
        """The share of the question, weighed by how rare its words are, in each chunk."""
        found = dict.fromkeys(ids, 0.0)
        marks = ", ".join("?" * len(ids))
        for term, weight in weights.items():
            sql = f"SELECT rowid FROM words WHERE words MATCH ? AND rowid IN ({marks})"
            for (chunk,) in self._read(sql, (term, *ids)):
                found[chunk] += weight
        total = sum(weights.values())
        return {chunk: min(1.0, part / total) if total else 0.0 for chunk, part in found.items()}

    def _read(self, sql: str, values: Sequence[object]) -> list[Any]:
        try:
            with self._lock:
                return self._database.execute(sql, values).fetchall()
        except (sqlite3.Error, UnicodeError):
            # SQLite's own words may repeat the question.
            raise InternalError("the knowledge index can't be read") from None


def refuse(place: Place, code: str, message: str) -> NoReturn:
    """Raise what is wrong with an index as a problem of its project."""
    mend = "make it again from the project's folder"
    raise ProjectError([Problem(place, code, message, mend)])


def _stem(file: str) -> str:
    name = file.rpartition("/")[2].rpartition(".")[0]
    return " ".join(name.replace("_", " ").replace("-", " ").split())


# ------------------------------------------------------------------ the database


def _connect() -> sqlite3.Connection:
    # Built in a worker thread, used on the loop's: our own lock keeps them apart.
    database = sqlite3.connect(":memory:", check_same_thread=False)
    # What SQLite asks for before a database from elsewhere is opened.
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA cell_size_check = ON")
    database.execute("PRAGMA temp_store = MEMORY")
    return database


def _promised_size(data: bytes) -> int:
    """The bytes a database has by its own head: one that was cut short may open all the same."""
    page = int.from_bytes(data[16:18], "big")
    return (65_536 if page == 1 else page) * int.from_bytes(data[28:32], "big")


def _tokenizer(language: str) -> str:
    is_english = language.lower().replace("_", "-").partition("-")[0] == "en"
    return "porter unicode61 remove_diacritics 2" if is_english else "unicode61"


def _schema(database: sqlite3.Connection) -> list[str]:
    rows = database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL LIMIT 100")
    return sorted(str(sql) for (sql,) in rows)


def _checked(database: sqlite3.Connection) -> tuple[str, list[_Row], list[tuple[str, bytes]]]:
    """What is in a database from elsewhere: its language, its chunks, and what is attached.

    Nothing but the schema is read before the schema is known to be ours.
    """
    if _schema(database) != sorted(_TABLES):
        refuse(_PLACE, "bad_index", "this is no index of this version")
    if database.execute("PRAGMA quick_check(1)").fetchall() != [("ok",)]:
        refuse(_PLACE, "bad_index", "the index is damaged")
    about = dict(database.execute("SELECT name, value FROM about LIMIT 10").fetchall())
    language = about.get("language")
    if about.get("format") != _FORMAT or not isinstance(language, str):
        refuse(_PLACE, "bad_index", "this is no index of this version")
    query = "SELECT id, file, heading, position, body FROM chunks ORDER BY id LIMIT ?"
    rows = database.execute(query, (MAX_CHUNKS + 1,)).fetchall()
    attached = database.execute("SELECT name, data FROM attached LIMIT 100").fetchall()
    if (
        len(rows) > MAX_CHUNKS
        or any(row[0] != i or not _is_chunk(row) for i, row in enumerate(rows))
        or not all(isinstance(n, str) and isinstance(data, bytes) for n, data in attached)
    ):
        refuse(_PLACE, "bad_index", "the index is damaged")
    return language, rows, attached


def _is_chunk(row: tuple[object, ...]) -> bool:
    _, file, heading, position, body = row
    return isinstance(position, int) and all(isinstance(t, str) for t in (file, heading, body))
