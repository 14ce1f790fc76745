"""The ticker, in virtual time."""

import asyncio
import logging

import pytest

from voice.replay.virtual_loop import VirtualLoop, run_virtual
from voice.speaking.pacer import Ticker


async def ticking(ticker: Ticker, seconds: float) -> None:
    task = asyncio.ensure_future(ticker.run())
    await asyncio.sleep(seconds)
    task.cancel()
    await asyncio.wait({task})


def test_each_member_is_called_once_a_period_and_they_are_spread() -> None:
    """A11: an even cadence, whatever else happens."""

    async def main() -> None:
        ticker = Ticker()
        calls: list[list[float]] = [[] for _ in range(4)]
        for own in calls:
            ticker.add(own.append)
        await ticking(ticker, 1.0)
        for own in calls:
            steps = [round(b - a, 6) for a, b in zip(own, own[1:], strict=False)]
            assert set(steps) == {20.0}
            assert len(own) in (49, 50, 51)
        assert len({round(own[0] % 20, 6) for own in calls}) == 4

    run_virtual(main())


def test_members_are_balanced_over_the_phases() -> None:
    async def main() -> None:
        ticker = Ticker()
        handles = [ticker.add(lambda _: None) for _ in range(8)]
        assert sorted(h.phase for h in handles) == [0, 0, 1, 1, 2, 2, 3, 3]
        ticker.remove(handles[2])
        assert ticker.add(lambda _: None).phase == handles[2].phase

    run_virtual(main())


def test_a_run_member_is_called_each_sub_tick() -> None:
    async def main() -> None:
        ticker = Ticker()
        times: list[float] = []
        loop = asyncio.get_running_loop()
        handle = ticker.every(lambda: times.append(loop.time()))
        await ticking(ticker, 0.1)
        assert len(times) in (20, 21)
        ticker.remove(handle)
        await ticking(ticker, 0.1)
        assert len(times) in (20, 21)

    run_virtual(main())


def test_after_a_stall_each_member_is_called_once_and_the_grid_goes_on() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        ticker = Ticker()
        calls: list[float] = []
        others: list[float] = []
        ticker.add(calls.append)
        ticker.add(others.append)
        loop.call_later(0.205, loop.advance, 1.0)
        await ticking(ticker, 1.5)
        for own in (calls, others):
            stalled = [t for t in own if 1204 <= t < 1224]
            assert len(stalled) in (1, 2)
        assert ticker.skipped > 150
        steps = {round(b - a, 6) for a, b in zip(calls, calls[1:], strict=False) if a > 1230}
        assert steps == {20.0}

    run_virtual(main())


def test_a_member_that_raises_is_removed_and_the_others_go_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        ticker = Ticker(phases=1)
        calls: list[float] = []

        def bad(_: float) -> None:
            raise ValueError("secret")

        ticker.add(bad)
        ticker.add(calls.append)
        await ticking(ticker, 0.2)
        assert len(calls) >= 10

    with caplog.at_level(logging.ERROR):
        run_virtual(main())
    assert len(caplog.records) == 1
    assert "secret" not in caplog.records[0].getMessage()


def test_a_member_removed_within_a_sub_tick_is_not_called_in_it() -> None:
    async def main() -> None:
        ticker = Ticker(phases=1)
        calls: list[float] = []
        ticker.add(lambda _: ticker.remove(second))
        second = ticker.add(calls.append)
        await ticking(ticker, 0.1)
        assert calls == []
        ticker.remove(second)

    run_virtual(main())


def test_it_sleeps_while_there_is_nobody() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        ticker = Ticker()
        task = asyncio.ensure_future(ticker.run())
        await asyncio.sleep(3600)
        calls: list[float] = []
        handle = ticker.add(calls.append)
        await asyncio.sleep(0.1)
        assert calls[0] == pytest.approx(3_600_000, abs=1)
        ticker.remove(handle)
        count = len(calls)
        await asyncio.sleep(10)
        assert len(calls) == count
        ticker.add(calls.append)
        await asyncio.sleep(0.1)
        assert len(calls) > count
        assert loop.time() > 3610
        task.cancel()
        await asyncio.wait({task})

    run_virtual(main())


def test_a_failing_run_for_all_members_is_tried_again_and_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """N03: without the shared detector every call would be deaf for ever."""

    async def main() -> None:
        ticker = Ticker(phases=1)
        ran: list[bool] = []

        def run() -> None:
            ran.append(len(ran) > 3)
            if not ran[-1]:
                raise ValueError("secret")

        ticker.every(run)
        await ticking(ticker, 0.2)
        assert ran.count(True) >= 5

    with caplog.at_level(logging.ERROR):
        run_virtual(main())
    assert len(caplog.records) == 1
