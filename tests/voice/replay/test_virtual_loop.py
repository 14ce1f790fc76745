"""The virtual loop: time jumps, order is kept, threads and peers are waited for."""

import asyncio
import random
import threading
from collections.abc import Callable
from time import perf_counter

import pytest

from voice.replay.virtual_loop import StalledError, VirtualLoop, run_virtual


def _loop() -> VirtualLoop:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return loop


def test_an_hour_of_sleep_takes_no_time() -> None:
    async def main() -> float:
        await asyncio.sleep(3600)
        return asyncio.get_running_loop().time()

    begun = perf_counter()
    assert run_virtual(main()) == pytest.approx(3600)
    assert perf_counter() - begun < 0.1


def test_time_starts_at_zero_and_stands_while_work_is_ready() -> None:
    async def main() -> list[float]:
        loop = asyncio.get_running_loop()
        times = [loop.time()]
        for _ in range(100):
            await asyncio.sleep(0)
        times.append(loop.time())
        return times

    assert run_virtual(main()) == [0.0, 0.0]


@pytest.mark.parametrize("at_s", [0.0, 0.02, 7200.0, 90_000.0])
def test_timers_of_one_instant_fire_in_the_order_they_were_armed(at_s: float) -> None:
    async def main() -> list[int]:
        loop = asyncio.get_running_loop()
        fired: list[int] = []
        for number in range(500):
            loop.call_at(at_s, fired.append, number)
        await asyncio.sleep(at_s + 1)
        return fired

    assert run_virtual(main()) == list(range(500))


def test_earlier_timers_fire_first_whenever_they_were_armed() -> None:
    async def main() -> list[float]:
        loop = asyncio.get_running_loop()
        fired: list[float] = []
        times = [n * 0.001 for n in range(300)]
        random.Random(1).shuffle(times)
        for time in times:
            loop.call_at(time, fired.append, time)
        await asyncio.sleep(1)
        return fired

    fired = run_virtual(main())
    assert fired == sorted(fired)
    assert len(fired) == 300


def test_a_cancelled_timer_does_not_fire() -> None:
    async def main() -> list[str]:
        loop = asyncio.get_running_loop()
        fired: list[str] = []
        loop.call_later(1, fired.append, "kept")
        loop.call_later(1, fired.append, "cancelled").cancel()
        await asyncio.sleep(2)
        return fired

    assert run_virtual(main()) == ["kept"]


def test_time_stands_still_while_a_job_is_open() -> None:
    async def main() -> tuple[float, str, list[float]]:
        loop = asyncio.get_running_loop()
        ticks: list[float] = []
        loop.call_later(0.02, lambda: ticks.append(loop.time()))
        let_go = threading.Event()
        threading.Timer(0.15, let_go.set).start()

        def job() -> str:
            let_go.wait()
            return "done"

        result = await asyncio.to_thread(job)
        return loop.time(), result, ticks

    assert run_virtual(main()) == (0.0, "done", [])


def test_the_result_of_a_job_belongs_to_the_moment_it_was_started_in() -> None:
    async def main() -> list[str]:
        loop = asyncio.get_running_loop()
        seen: list[str] = []
        loop.call_later(0.001, seen.append, "timer")
        await loop.run_in_executor(None, seen.append, "job")
        seen.append(f"after the job at {loop.time():g}")
        await asyncio.sleep(0.002)
        return seen

    for _ in range(20):
        assert run_virtual(main()) == ["job", "after the job at 0", "timer"]


def test_time_waits_for_a_thread_whose_awaiting_task_was_cancelled() -> None:
    async def main() -> tuple[float, list[str]]:
        let_go = threading.Event()
        ended: list[str] = []

        def job() -> None:
            let_go.wait()
            ended.append("thread")

        task = asyncio.ensure_future(asyncio.to_thread(job))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        threading.Timer(0.05, let_go.set).start()
        await asyncio.sleep(5)
        return asyncio.get_running_loop().time(), ended

    assert run_virtual(main()) == (5.0, ["thread"])


def test_a_failing_job_raises_where_it_is_awaited_and_time_goes_on() -> None:
    async def main() -> float:
        def job() -> None:
            raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            await asyncio.to_thread(job)
        await asyncio.sleep(1)
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == pytest.approx(1)


def test_a_call_from_another_thread_wakes_a_loop_that_has_nothing_to_do() -> None:
    async def main() -> str:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[str] = loop.create_future()
        threading.Timer(0.05, lambda: loop.call_soon_threadsafe(future.set_result, "woken")).start()
        return await future

    assert run_virtual(main()) == "woken"


def test_sockets_are_polled_before_a_jump() -> None:
    """What a peer in the same loop has sent is read in the moment it was sent."""

    async def main() -> list[float]:
        loop = asyncio.get_running_loop()
        arrivals: list[float] = []

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while data := await reader.read(1):
                writer.write(data)
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(5):
            await asyncio.sleep(0.5)
            writer.write(b"x")
            await reader.read(1)
            arrivals.append(loop.time())
        writer.close()
        await writer.wait_closed()
        server.close()
        await server.wait_closed()
        return arrivals

    assert run_virtual(main()) == pytest.approx([0.5, 1.0, 1.5, 2.0, 2.5])


def test_time_waits_for_a_peer_in_another_thread_inside_outside() -> None:
    async def main() -> float:
        loop = _loop()
        ticks: list[float] = []
        loop.call_later(0.02, lambda: ticks.append(loop.time()))
        future: asyncio.Future[None] = loop.create_future()
        threading.Timer(0.1, lambda: loop.call_soon_threadsafe(future.set_result, None)).start()
        with loop.outside():
            await future
        assert loop.open_outside == 0
        assert ticks == []
        return loop.time()

    assert run_virtual(main()) == 0.0


def test_a_loop_in_which_nothing_can_happen_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voice.replay.virtual_loop._STALL_S", 0.01)

    async def main() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(StalledError, match="no timer is armed"):
        run_virtual(main())


def test_an_exception_of_the_main_coroutine_comes_out() -> None:
    async def main() -> None:
        await asyncio.sleep(1)
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        run_virtual(main())


def test_an_exception_in_a_timer_goes_to_the_loops_handler_and_the_rest_goes_on() -> None:
    async def main() -> tuple[list[object], float]:
        loop = asyncio.get_running_loop()
        seen: list[object] = []
        loop.set_exception_handler(lambda _, context: seen.append(context["exception"]))

        def fail() -> None:
            raise ValueError("in a timer")

        loop.call_later(0.5, fail)
        await asyncio.sleep(1)
        return seen, loop.time()

    seen, now = run_virtual(main())
    assert [str(error) for error in seen] == ["in a timer"]
    assert now == pytest.approx(1)


def test_the_same_program_gives_the_same_timeline() -> None:
    def program() -> list[tuple[float, str]]:
        async def main() -> list[tuple[float, str]]:
            loop = asyncio.get_running_loop()
            log: list[tuple[float, str]] = []
            dice = random.Random(7)

            async def worker(name: str, job: Callable[[], int]) -> None:
                for _ in range(20):
                    await asyncio.sleep(dice.choice([0.01, 0.02, 0.02, 0.03]))
                    await asyncio.to_thread(job)
                    log.append((loop.time(), name))

            async with asyncio.TaskGroup() as group:
                for name in "abc":
                    group.create_task(worker(name, lambda: sum(range(2000))))
            return log

        return run_virtual(main())

    first = program()
    assert len(first) == 60
    assert all(program() == first for _ in range(5))
