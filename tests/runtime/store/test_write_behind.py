"""Writing behind the conversation's back."""

import asyncio
from collections.abc import Sequence

import pytest

from runtime.conversation.events import CallEnded, Event
from runtime.store.memory_store import MemoryStore
from runtime.store.ports import StoreError
from runtime.store.write_behind import MOST_WAITING, WriteBehind
from tests.runtime.engine.helpers import in_virtual_time


def event(number: int) -> Event:
    return Event("c", number, number, 0, CallEnded("caller"))


class FlakyStore(MemoryStore):
    """Takes ``delay_s`` to write, and fails the first ``failures`` times."""

    def __init__(self, delay_s: float = 0.0, failures: int = 0) -> None:
        super().__init__()
        self.delay_s = delay_s
        self.failures = failures
        self.batches: list[tuple[float, list[int]]] = []

    async def append(self, events: Sequence[Event]) -> None:
        await asyncio.sleep(self.delay_s)
        if self.failures > 0:
            self.failures -= 1
            raise StoreError("disk full")
        self.batches.append((asyncio.get_running_loop().time(), [e.sequence for e in events]))
        await super().append(events)


@in_virtual_time
async def test_events_are_written_in_order_within_a_tenth_of_a_second() -> None:
    store = FlakyStore()
    journal = WriteBehind(store)
    journal.start()
    for number in range(1, 8):
        journal.add(event(number))
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.1)
    assert [n for _, batch in store.batches for n in batch] == list(range(1, 8))
    for at, batch in store.batches:
        assert at - (batch[0] - 1) * 0.02 <= 0.1
    await journal.aclose()


@in_virtual_time
async def test_a_flush_waits_for_what_was_taken_and_hurries() -> None:
    store = FlakyStore(delay_s=0.02)
    journal = WriteBehind(store)
    journal.start()
    assert await journal.flush(1)
    journal.add(event(1))
    assert await journal.flush(1)
    assert asyncio.get_running_loop().time() == pytest.approx(0.02)
    await journal.aclose()


@in_virtual_time
async def test_a_slow_store_holds_a_flush_up_to_its_bound_only() -> None:
    journal = WriteBehind(FlakyStore(delay_s=5))
    journal.start()
    journal.add(event(1))
    assert not await journal.flush(1)
    assert asyncio.get_running_loop().time() == pytest.approx(1)
    await journal.aclose()


@in_virtual_time
async def test_a_failing_store_is_tried_again_and_nothing_is_lost_or_reordered() -> None:
    store = FlakyStore(failures=3)
    journal = WriteBehind(store)
    journal.start()
    for number in range(1, 4):
        journal.add(event(number))
        await asyncio.sleep(0.3)
    assert await journal.flush(30)
    assert [e.sequence for e in await store.load("c")] == [1, 2, 3]
    assert journal.lost == 0
    await journal.aclose()


@in_virtual_time
async def test_a_store_that_never_works_costs_memory_up_to_a_bound() -> None:
    journal = WriteBehind(FlakyStore(failures=10**9))
    journal.start()
    for number in range(MOST_WAITING + 5):
        journal.add(event(number + 1))
    assert journal.lost == 5
    await journal.aclose(timeout=1)
    assert asyncio.get_running_loop().time() < 5


@in_virtual_time
async def test_closing_writes_what_waits_and_is_idempotent() -> None:
    store = FlakyStore()
    journal = WriteBehind(store)
    journal.start()
    journal.start()
    journal.add(event(1))
    await journal.aclose()
    await journal.aclose()
    assert len(await store.load("c")) == 1


@in_virtual_time
async def test_loading_comes_after_what_waits_to_be_written() -> None:
    journal = WriteBehind(FlakyStore(delay_s=0.1))
    journal.start()
    journal.add(event(1))
    assert [e.sequence for e in await journal.load("c", 1)] == [1]
    await journal.aclose()


@in_virtual_time
async def test_what_a_failing_store_has_not_taken_yet_is_loaded_all_the_same() -> None:
    """Otherwise the conversation would go on from an old number, and its log be torn."""
    store = FlakyStore()
    await store.append([event(1)])
    store.failures = 10**9
    journal = WriteBehind(store)
    journal.start()
    journal.add(event(2))
    journal.add(Event("other", 1, 0, 0, CallEnded("lost")))
    journal.add(event(3))
    assert [e.sequence for e in await journal.load("c", 1)] == [1, 2, 3]
    await journal.aclose(timeout=0.1)
