"""Questions in free words, and bytes from anywhere."""

import random
import sqlite3
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import ProjectError
from runtime.knowledge.chunking import Chunk
from runtime.knowledge.index import WEAK_COVERAGE, KnowledgeIndex, Passage

CHUNKS = (
    Chunk("A cancelled booking costs ten euros.", "references/fees.md", ("Fees", "Cancelling"), 0),
    Chunk("Refunds reach your card within five days.", "references/fees.md", ("Fees",), 1),
    Chunk("We are open from nine to five, and closed on Sundays.", "references/hours.md", (), 0),
    Chunk("Dogs are welcome in every room.", "skills/stay/references/pets.md", ("Pets",), 0),
    Chunk("The pool and the gym are open to guests.", "skills/stay/references/pool.md", (), 0),
)


@pytest.fixture(scope="module")
def index() -> KnowledgeIndex:
    return KnowledgeIndex.build(CHUNKS, "en")


def _files(found: tuple[Passage, ...]) -> list[str]:
    return [passage.file.rpartition("/")[2] for passage in found]


def test_a_question_finds_the_passage_with_its_words(index: KnowledgeIndex):
    """R46: what is asked in other forms of the words is found too."""
    best, *_ = index.search("How much is it to cancel my bookings?", 4)
    assert (best.text, best.file, best.heading) == (
        "A cancelled booking costs ten euros.",
        "references/fees.md",
        "Fees > Cancelling",
    )
    assert best.score > 0 and best.coverage == pytest.approx(1.0)


def test_the_best_comes_first_and_no_more_than_asked_for(index: KnowledgeIndex):
    assert _files(index.search("open on sundays", 1)) == ["hours.md"]
    assert _files(index.search("open on sundays", 4)) == ["hours.md", "pool.md"]
    assert index.search("open", 0) == ()
    assert index.search("open", -1) == ()


def test_a_file_without_headings_is_found_by_its_name(index: KnowledgeIndex):
    assert _files(index.search("what are your hours", 4)) == ["hours.md"]


@pytest.mark.parametrize("question", ["", "   ", "?!… — ", "\x00", '""', "()*^"])
def test_an_empty_question_finds_nothing(index: KnowledgeIndex, question: str):
    assert index.search(question, 4) == ()


@pytest.mark.parametrize(
    "question",
    [
        'dogs" OR "a',
        "dogs NOT dogs",
        "body:dogs",
        "heading : dogs",
        "dogs AND zebra",
        "NEAR(dogs zebra, 1)",
        "dogs*",
        "^dogs",
        "{heading body}: dogs",
        "- dogs",
        "dogs'; DROP TABLE chunks; --",
    ],
)
def test_no_operator_in_a_question_means_anything(index: KnowledgeIndex, question: str):
    assert "pets.md" in _files(index.search(question, 4))


def test_words_that_say_nothing_are_left_out_while_others_remain():
    chunks = [Chunk("Who is it?", "who.md"), Chunk("Breakfast at eight.", "breakfast.md")]
    found = KnowledgeIndex.build(chunks, "en").search("when is it breakfast", 4)
    assert _files(found) == ["breakfast.md"]
    assert _files(KnowledgeIndex.build(chunks, "en").search("who is it", 4)) == ["who.md"]


def test_a_passage_with_one_weak_word_of_the_question_is_recognised(index: KnowledgeIndex):
    """So that a caller can be told that nothing was found, rather than something else."""
    question = "is there a parking garage open for electric vans overnight"
    (weak, other) = index.search(question, 4)
    assert max(weak.coverage, other.coverage) < WEAK_COVERAGE
    assert index.search(question, 4, WEAK_COVERAGE) == ()
    assert len(index.search("open on sundays", 4, WEAK_COVERAGE)) == 2


def test_coverage_counts_rare_words_for_more(index: KnowledgeIndex):
    hours, pool = index.search("open on Sundays", 4)
    assert hours.coverage == pytest.approx(1.0) and 0 < pool.coverage < 0.5


def test_accents_make_no_difference_in_english():
    index = KnowledgeIndex.build([Chunk("Our café opens early.", "a.md")], "en-GB")
    assert len(index.search("cafe", 4)) == 1 and len(index.search("CAFE\u0301", 4)) == 1


def test_another_language_has_its_own_stop_words_and_no_english_stems():
    index = KnowledgeIndex.build(
        [Chunk("Die Öffnungszeiten sind lang.", "a.md"), Chunk("Was ist das für ein Zug?", "b.md")],
        "de",
    )
    assert _files(index.search("was sind die öffnungszeiten", 4)) == ["a.md"]
    assert index.search("zugs", 4) == ()


def test_writing_without_spaces_is_searched_by_pairs_of_characters():
    index = KnowledgeIndex.build(
        [
            Chunk("予約のキャンセル料は千円です。", "a.md"),
            Chunk("営業時間は九時からです。", "b.md"),
        ],
        "ja",
    )
    best, *_ = index.search("営業時間を教えて", 4)
    assert (best.file, best.text) == ("b.md", "営業時間は九時からです。")


def test_ties_go_by_file_and_position_whatever_order_chunks_came_in():
    same = [Chunk("Same words.", f"{name}.md", (), at) for name in "ab" for at in (0, 1)]
    random.Random(3).shuffle(same)
    index = KnowledgeIndex.build(same, "en")
    assert [m.id for m in index.match("same", 4)] == [0, 1, 2, 3]
    assert [index.chunks([i])[i].file for i in range(4)] == ["a.md", "a.md", "b.md", "b.md"]


def test_in_many_chunks_a_word_that_most_have_is_not_searched_for():
    chunks = [Chunk(f"A room, number{i}.", f"{i:03}.md") for i in range(200)]
    index = KnowledgeIndex.build([*chunks, Chunk("A room with balcony.", "z.md")], "en")
    assert _files(index.search("room balcony", 4)) == ["z.md"]
    assert len(index.search("room", 4)) == 4


def test_an_index_without_chunks_finds_nothing():
    index = KnowledgeIndex.build([], "en")
    assert len(index) == 0 and index.search("anything", 4) == ()
    assert KnowledgeIndex.from_bytes(index.to_bytes()).search("anything", 4) == ()


def test_an_index_built_in_one_thread_is_searched_in_another():
    made: list[KnowledgeIndex] = []
    thread = threading.Thread(target=lambda: made.append(KnowledgeIndex.build(CHUNKS, "en")))
    thread.start()
    thread.join()
    assert _files(made[0].search("dogs", 4)) == ["pets.md"]


_SEARCHED = KnowledgeIndex.build(CHUNKS, "en")


@given(
    st.one_of(st.text(max_size=200), st.lists(st.sampled_from('open DOGS " * ( NOT : a'.split())))
)
def test_any_question_is_answered(question: str | list[str]):
    found = _SEARCHED.search("".join(question), 4)
    assert all(0 <= passage.coverage <= 1 and passage.score > 0 for passage in found)


# ------------------------------------------------------------------ bytes


def test_bytes_give_the_same_index_back(index: KnowledgeIndex):
    data = index.to_bytes()
    assert data == KnowledgeIndex.build(reversed(CHUNKS), "en").to_bytes()
    again = KnowledgeIndex.from_bytes(data)
    question = "is the pool open on sundays"
    assert again.search(question, 4) == index.search(question, 4) and len(again) == len(CHUNKS)
    assert again.to_bytes() == data


def test_what_is_attached_goes_along(index: KnowledgeIndex):
    mine = KnowledgeIndex.build(CHUNKS, "en")
    mine.attach("notes", b"\x00old")
    mine.attach("notes", b"\x00\xff")
    again = KnowledgeIndex.from_bytes(mine.to_bytes())
    assert again.attached("notes") == b"\x00\xff" and again.attached("other") is None


def _altered(index: KnowledgeIndex, *statements: str) -> bytes:
    database = sqlite3.connect(":memory:")
    database.deserialize(index.to_bytes())
    for statement in statements:
        database.execute(statement)
    database.commit()
    data = database.serialize()
    database.close()
    return data


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE more (a)",
        "CREATE VIEW more AS SELECT load_extension('x')",
        "CREATE TRIGGER t AFTER INSERT ON chunks BEGIN DELETE FROM about; END",
        "DROP TABLE attached",
        "UPDATE about SET value = '2' WHERE name = 'format'",
        "DELETE FROM about",
        "UPDATE chunks SET body = x'ff' WHERE id = 0",
        "UPDATE chunks SET body = cast(x'ff' AS TEXT) WHERE id = 0",
        "UPDATE chunks SET position = 'first' WHERE id = 0",
        "UPDATE chunks SET id = 77 WHERE id = 0",
        "INSERT INTO attached VALUES ('a', 'text')",
        "CREATE VIRTUAL TABLE more USING fts5(a)",
    ],
)
def test_a_database_that_is_no_index_of_ours_is_refused(index: KnowledgeIndex, statement: str):
    with pytest.raises(ProjectError, match="bad_index"):
        KnowledgeIndex.from_bytes(_altered(index, statement))


@pytest.mark.parametrize("data", [b"", b"x", b"SQLite format 3\x00", b"PK\x03\x04" * 50])
def test_bytes_that_are_no_database_are_refused(data: bytes):
    with pytest.raises(ProjectError, match="bad_index"):
        KnowledgeIndex.from_bytes(data)


def test_an_index_cut_short_is_refused(index: KnowledgeIndex):
    data = index.to_bytes()
    for size in range(0, len(data), 997):
        with pytest.raises(ProjectError, match="bad_index"):
            KnowledgeIndex.from_bytes(data[:size])


def test_damage_anywhere_is_refused_or_harmless(index: KnowledgeIndex):
    data = index.to_bytes()
    chance = random.Random(11)
    refused = 0
    for _ in range(300):
        bad = bytearray(data)
        for _ in range(chance.randint(1, 8)):
            bad[chance.randrange(100 if chance.random() < 0.3 else len(bad))] = chance.randrange(
                256
            )
        try:
            KnowledgeIndex.from_bytes(bytes(bad)).search("open on sundays", 4)
        except ProjectError:
            refused += 1
    assert refused > 50
