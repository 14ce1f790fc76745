"""The four helpers, and the facts of asyncio they rely on."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from runtime.tasks import cancel_and_settle, closing_stream, finish_before_leaving, run_bounded
from tests.runtime.engine.helpers import in_virtual_time


async def stubborn(seconds: float) -> str:
    """Swallow every cancellation until the time is over."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while (left := end - loop.time()) > 0:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(left)
    return "late"


def now() -> float:
    return asyncio.get_running_loop().time()


# -- facts


@in_virtual_time
async def test_fact_a_task_cancelled_before_its_first_step_never_runs() -> None:
    ran: list[int] = []

    async def body() -> None:
        ran.append(1)

    task = asyncio.get_running_loop().create_task(body())
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    assert ran == []


@in_virtual_time
async def test_fact_a_done_callback_runs_before_whoever_waits_for_the_task() -> None:
    order: list[str] = []

    async def body() -> None:
        await asyncio.sleep(1)

    task = asyncio.get_running_loop().create_task(body())
    task.add_done_callback(lambda _: order.append("callback"))
    await asyncio.wait({task})
    order.append("waiter")
    assert order == ["callback", "waiter"]


@in_virtual_time
async def test_fact_a_cancellation_accepted_from_outside_is_always_raised_inside() -> None:
    """Also when what the task waits for is resolved in the same tick: the result is gone."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[str] = loop.create_future()
    seen: list[str] = []

    async def body() -> None:
        try:
            seen.append(await future)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    task = loop.create_task(body())
    await asyncio.sleep(0)
    future.set_result("value")
    assert task.cancel() is True
    await asyncio.wait({task})
    assert seen == ["cancelled"]


@in_virtual_time
async def test_fact_a_cleanup_that_raises_replaces_the_cancellation() -> None:
    async def body() -> None:
        try:
            await asyncio.sleep(5)
        finally:
            raise ValueError

    task = asyncio.get_running_loop().create_task(body())
    await asyncio.sleep(0)
    assert await cancel_and_settle(task) == set()
    assert not task.cancelled()
    assert isinstance(task.exception(), ValueError)


# -- cancel_and_settle


@in_virtual_time
async def test_cancelled_tasks_may_clean_up_within_the_grace() -> None:
    cleaned: list[float] = []

    async def body() -> None:
        try:
            await asyncio.sleep(50)
        finally:
            await asyncio.sleep(0.5)
            cleaned.append(now())

    tasks = [asyncio.get_running_loop().create_task(body()) for _ in range(2)]
    await asyncio.sleep(0)
    assert await cancel_and_settle(*tasks, grace=1) == set()
    assert cleaned == [0.5, 0.5]
    assert await cancel_and_settle(*tasks) == set(), "again: nothing to do"


@in_virtual_time
async def test_a_task_that_does_not_end_is_returned_when_the_grace_is_over() -> None:
    task = asyncio.get_running_loop().create_task(stubborn(5))
    await asyncio.sleep(0)
    assert await cancel_and_settle(task, grace=1) == {task}
    assert now() == pytest.approx(1)
    await asyncio.wait({task})


@in_virtual_time
async def test_a_task_may_name_itself_among_those_to_be_cancelled() -> None:
    """N02"""
    me = asyncio.current_task()
    assert me is not None
    assert await cancel_and_settle(me) == set()
    assert me.cancelling() == 0


# -- run_bounded


@in_virtual_time
async def test_a_result_in_time_is_returned_and_an_error_raised() -> None:
    async def fails() -> None:
        raise ValueError

    assert await run_bounded(asyncio.sleep(1, "done"), 2) == "done"
    with pytest.raises(ValueError):
        await run_bounded(fails(), 2)


@in_virtual_time
async def test_a_stubborn_coroutine_is_bounded_all_the_same() -> None:
    with pytest.raises(TimeoutError):
        await run_bounded(stubborn(9), 2, grace=0.5)
    assert now() == pytest.approx(2.5)
    await asyncio.sleep(10)


@in_virtual_time
async def test_what_returns_after_the_deadline_is_judged_by_the_clock() -> None:
    async def swallows() -> str:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(9)
        return "late"

    with pytest.raises(TimeoutError):
        await run_bounded(swallows(), 2)


@in_virtual_time
async def test_cancelling_the_caller_cancels_the_coroutine_and_waits_for_its_cleanup() -> None:
    cleaned: list[float] = []

    async def body() -> None:
        try:
            await asyncio.sleep(50)
        finally:
            await asyncio.sleep(0.5)
            cleaned.append(now())

    task = asyncio.get_running_loop().create_task(run_bounded(body(), 60))
    await asyncio.sleep(1)
    await cancel_and_settle(task, grace=2)
    assert task.cancelled()
    assert cleaned == [1.5]


# -- closing_stream


@in_virtual_time
async def test_a_stream_is_closed_where_the_block_is_left() -> None:
    closed: list[str] = []

    async def numbers() -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            closed.append("closed")

    async with closing_stream(numbers()) as stream:
        async for _ in stream:
            break
    assert closed == ["closed"]


@in_virtual_time
async def test_a_stream_that_does_not_close_holds_nobody_up() -> None:
    async def numbers() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            await asyncio.sleep(50)

    async with closing_stream(numbers(), grace=1) as stream:
        async for _ in stream:
            break
    assert now() == pytest.approx(1)


@in_virtual_time
async def test_what_can_not_be_closed_is_left_alone() -> None:
    class Plain:
        def __aiter__(self) -> "Plain":
            return self

        async def __anext__(self) -> int:
            raise StopAsyncIteration

    async with closing_stream(Plain()) as stream:
        assert [n async for n in stream] == []


# -- finish_before_leaving


@in_virtual_time
async def test_work_is_finished_although_the_caller_is_cancelled() -> None:
    done: list[float] = []

    async def work() -> str:
        await asyncio.sleep(1)
        done.append(now())
        return "done"

    async def caller() -> None:
        await finish_before_leaving(work(), 5)

    task = asyncio.get_running_loop().create_task(caller())
    await asyncio.sleep(0.5)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    assert done == [1]
    assert await finish_before_leaving(work(), 5) == "done"


@in_virtual_time
async def test_work_that_takes_too_long_is_left_behind() -> None:
    with pytest.raises(TimeoutError):
        await finish_before_leaving(stubborn(9), 2)
    assert now() == pytest.approx(2)
    await asyncio.sleep(10)


@in_virtual_time
async def test_an_error_of_unfinished_work_is_kept_when_the_caller_leaves() -> None:
    async def work() -> None:
        await asyncio.sleep(1)
        raise ValueError

    async def caller() -> None:
        await finish_before_leaving(work(), 5)

    task = asyncio.get_running_loop().create_task(caller())
    await asyncio.sleep(0.5)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
