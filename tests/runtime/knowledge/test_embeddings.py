"""The real SDK against a server of ours over a real socket; search by words and meaning."""

import asyncio
import json
import logging
from collections.abc import Sequence

import numpy as np
import pytest

from runtime.errors import ProjectError, ProviderError
from runtime.knowledge.chunking import Chunk
from runtime.knowledge.embeddings import Embedder, EmbeddingWaits, OpenAIEmbedder
from runtime.knowledge.hybrid import HybridIndex, HybridSettings
from runtime.knowledge.index import WEAK_COVERAGE, KnowledgeIndex
from runtime.models.openai_client import Endpoint
from tests.fakes.embeddings_server import Answer, FakeEmbeddings, vector
from voice.replay.virtual_loop import run_virtual

KEY = "sk-very-secret"
CHUNKS = (
    Chunk("Your refund takes five days.", "fees.md", ("Fees",), 0),
    Chunk("We are open all day.", "hours.md", (), 0),
    Chunk("A dog may stay.", "pets.md", (), 0),
)


def _embed(server: FakeEmbeddings, texts: Sequence[str], **waits: float) -> list[list[float]]:
    async def main() -> list[list[float]]:
        embedder = OpenAIEmbedder("fake", Endpoint(server.base, KEY), waits=EmbeddingWaits(**waits))
        try:
            async with asyncio.timeout(10):
                return await embedder.embed(texts)
        finally:
            await embedder.aclose()

    return asyncio.run(main())


def _failure(answer: Answer, **waits: float) -> ProviderError:
    with FakeEmbeddings([answer]) as server, pytest.raises(ProviderError) as caught:
        _embed(server, ["private words"], **waits)
    assert KEY not in str(caught.value) and "private" not in str(caught.value)
    return caught.value


def test_texts_become_vectors_in_their_order():
    with FakeEmbeddings([Answer(is_reversed=True)]) as server:
        assert _embed(server, ["a dog", "refund", "x"]) == [[0, 0, 1], [1, 0, 0], [0, 0, 0]]
    (request,) = server.requests
    assert request == {
        "model": "fake",
        "input": ["a dog", "refund", "x"],
        "encoding_format": "float",
    }
    assert server.keys == [f"Bearer {KEY}"]


def test_many_texts_go_in_several_requests():
    with FakeEmbeddings() as server:
        assert len(_embed(server, ["dog"] * 130)) == 130
    assert [len(request["input"]) for request in server.requests] == [64, 64, 2]


def test_no_text_is_no_request():
    with FakeEmbeddings() as server:
        assert _embed(server, []) == []
    assert server.requests == []


def test_a_text_that_no_request_can_carry_is_mended():
    with FakeEmbeddings() as server:
        _embed(server, ["", "\ud800dog"])
    assert server.requests[0]["input"] == [" ", "?dog"]


@pytest.mark.parametrize(
    ("status", "again"), [(400, False), (401, False), (429, True), (500, True), (503, True)]
)
def test_a_refusal_says_whether_to_try_again(status: int, again: bool):
    error = _failure(Answer(status=status, body='{"error": {"message": "private words"}}'))
    assert error.retryable is again and f"HTTP {status}" in str(error)


def test_a_server_that_never_answers_is_given_up():
    error = _failure(Answer(stall=True), answer_s=0.2)
    assert error.retryable and "in time" in str(error)


@pytest.mark.parametrize(
    "body",
    [
        "no json",
        "{}",
        "[]",
        "null",
        '{"data": null}',
        '{"data": []}',
        '{"data": [{"index": 0, "embedding": []}]}',
        '{"data": [{"index": 0, "embedding": "AAAA"}]}',
        '{"data": [{"index": 0, "embedding": ["a"]}]}',
        '{"data": [{"index": 0, "embedding": [NaN]}]}',
        '{"data": [{"index": 0, "embedding": [1e39]}]}',
        '{"data": [{"index": 7, "embedding": [1.0]}]}',
        '{"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]}',
        '{"data": ["x"]}',
    ],
)
def test_an_answer_that_makes_no_sense_is_a_failure_of_the_provider(body: str):
    assert "embedding model" in str(_failure(Answer(body=body)))


def test_a_server_that_is_not_there_is_a_failure_to_try_again():
    with FakeEmbeddings() as server:
        pass
    with pytest.raises(ProviderError, match="connection") as caught:
        asyncio.run(OpenAIEmbedder("fake", Endpoint(server_base(server))).embed(["x"]))
    assert caught.value.retryable


def server_base(server: FakeEmbeddings) -> str:
    # Its socket is closed: the port of another one that nobody listens on.
    import socket

    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{other.getsockname()[1]}/v1"


# ------------------------------------------------------------------ by words and meaning


class _Topics(Embedder):
    """The fake server's vectors, without the server."""

    def __init__(self, name: str = "topics", fails: bool = False, hangs: bool = False) -> None:
        self._name = name
        self.fails = fails
        self.hangs = hangs
        self.asked: list[str] = []

    @property
    def name(self) -> str:
        return self._name

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked += texts
        if self.fails:
            raise ProviderError("down", retryable=True)
        if self.hangs:
            await asyncio.Event().wait()
        return [vector(text) for text in texts]

    async def aclose(self) -> None:
        pass


def _words() -> KnowledgeIndex:
    return KnowledgeIndex.build(CHUNKS, "en")


def test_a_passage_is_found_by_meaning_alone():
    async def main() -> None:
        index = await HybridIndex.build(_words(), _Topics())
        (found,) = await index.search("when is my money reimbursed", 4, WEAK_COVERAGE)
        assert (found.file, found.heading) == ("fees.md", "Fees")
        assert found.coverage == 0.0 and found.score > 0

    run_virtual(main())


def test_a_passage_found_both_ways_comes_first():
    async def main() -> None:
        index = await HybridIndex.build(_words(), _Topics())
        found = await index.search("is the pet animal with the dog open", 4)
        assert [passage.file for passage in found] == ["pets.md", "hours.md"]
        assert found[0].score == pytest.approx(1.0)
        assert await index.search("open dog", 1) == (await index.search("open dog", 4))[:1]
        assert await index.search(" ", 4) == await index.search("dog", 0) == ()

    run_virtual(main())


@pytest.mark.parametrize("trouble", ["fails", "hangs"])
def test_words_alone_answer_when_the_embedder_does_not(
    trouble: str, caplog: pytest.LogCaptureFixture
):
    async def main() -> None:
        embedder = _Topics()
        words = _words()
        index = await HybridIndex.build(words, embedder, HybridSettings(query_wait_s=1.5))
        setattr(embedder, trouble, True)
        began = asyncio.get_running_loop().time()
        found = await index.search("refund for zanzibar", 4)
        assert asyncio.get_running_loop().time() - began <= 1.51
        assert found == words.search("refund for zanzibar", 4) and len(found) == 1

    with caplog.at_level(logging.DEBUG):
        run_virtual(main())
    assert "words alone answer" in caplog.text
    assert "zanzibar" not in "".join(json.dumps(r.__dict__, default=str) for r in caplog.records)


def test_a_query_vector_of_another_length_leaves_it_to_the_words():
    class Longer(_Topics):
        async def embed(self, texts: Sequence[str]) -> list[list[float]]:
            return [[1.0] * 5 for _ in texts]

    async def main() -> None:
        made = np.array([vector(chunk.text) for chunk in CHUNKS], dtype=np.float32)
        index = HybridIndex(_words(), made, Longer())
        assert [passage.file for passage in await index.search("dog", 4)] == ["pets.md"]

    run_virtual(main())


def test_vectors_are_kept_with_the_index_and_embedded_once():
    async def main() -> None:
        first = await HybridIndex.build(_words(), _Topics())
        words = KnowledgeIndex.from_bytes(first.to_bytes())
        embedder = _Topics()
        again = HybridIndex.stored(words, embedder)
        assert again is not None and len(again) == 3
        assert await again.search("money", 4) == await first.search("money", 4) != ()
        assert embedder.asked == ["money"]
        assert HybridIndex.stored(words, _Topics("another model")) is None
        assert HybridIndex.stored(_words(), _Topics()) is None

    run_virtual(main())


@pytest.mark.parametrize(
    ("about", "data"),
    [
        (b"{}", b""),
        (b"\xff", b""),
        (b'{"model": "topics", "dimensions": 3}', b"\x00" * 35),
        (b'{"model": "topics", "dimensions": -3}', b""),
        (b'{"model": "topics", "dimensions": 1}', b"\x00\x00\xc0\x7f" * 3),
    ],
)
def test_damaged_vectors_are_refused(about: bytes, data: bytes):
    words = _words()
    words.attach("vectors.about", about)
    words.attach("vectors", data)
    with pytest.raises(ProjectError, match="bad_index"):
        HybridIndex.stored(words, _Topics())


def test_an_index_without_chunks_needs_no_embedder():
    async def main() -> None:
        index = await HybridIndex.build(KnowledgeIndex.build([], "en"), _Topics(hangs=False))
        assert await index.search("anything", 4) == ()

    run_virtual(main())


def test_a_whole_search_over_the_real_sdk():
    async def main(base: str) -> list[str]:
        embedder = OpenAIEmbedder("fake", Endpoint(base))
        try:
            index = await HybridIndex.build(_words(), embedder, HybridSettings(query_wait_s=10))
            return [passage.file for passage in await index.search("reimbursed", 4)]
        finally:
            await embedder.aclose()

    with FakeEmbeddings() as server:
        assert asyncio.run(main(server.base)) == ["fees.md"]
    assert server.requests[0]["input"][0] == "Fees\nYour refund takes five days."
