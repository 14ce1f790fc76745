"""Who is decoded next."""

import asyncio
from collections.abc import Callable

from voice.hearing.decode_queue import DecodeQueue, Job
from voice.replay.virtual_loop import run_virtual
from voice.workers import VirtualWorker


class Callers:
    """Asks for named jobs and keeps the order in which they were answered."""

    def __init__(self, latency_s: float = 0.1) -> None:
        self.queue: DecodeQueue[str] = DecodeQueue(VirtualWorker(latency_s))
        self.answered: list[str] = []

    def ask(self, owner: str, what: str, *, final: bool) -> bool:
        def run() -> str:
            return f"{owner}:{what}"

        def done(result: str | Exception) -> None:
            self.answered.append(str(result))

        now_s = asyncio.get_running_loop().time()
        job: Job[str] = Job(owner, final, run, done, now_s)
        return self.queue.ask(job)


def play(script: Callable[[Callers], None], *, latency_s: float = 0.1) -> list[str]:
    async def main() -> list[str]:
        callers = Callers(latency_s)
        script(callers)
        await asyncio.sleep(5)
        return callers.answered

    return run_virtual(main())


def test_finals_go_before_partials_whoever_asked_first() -> None:
    def script(callers: Callers) -> None:
        callers.ask("a", "runs", final=False)
        callers.ask("b", "partial", final=False)
        callers.ask("c", "final", final=True)

    assert play(script) == ["a:runs", "c:final", "b:partial"]


def test_only_the_newest_partial_of_a_call_is_decoded() -> None:
    def script(callers: Callers) -> None:
        callers.ask("a", "runs", final=False)
        callers.ask("b", "old", final=False)
        callers.ask("c", "other", final=False)
        callers.ask("b", "new", final=False)

    assert play(script) == ["a:runs", "b:new", "c:other"]


def test_a_final_takes_the_place_of_its_calls_partial_and_finals_keep_their_order() -> None:
    def script(callers: Callers) -> None:
        callers.ask("a", "runs", final=False)
        callers.ask("b", "partial", final=False)
        callers.ask("b", "first", final=True)
        callers.ask("a", "second", final=True)
        callers.ask("b", "third", final=True)

    assert play(script) == ["a:runs", "b:first", "a:second", "b:third"]


def test_partials_are_refused_while_the_worker_lags_and_taken_again_later() -> None:
    async def main() -> None:
        callers = Callers(latency_s=0.2)
        for name in "abc":
            assert callers.ask(name, "final", final=True)
        await asyncio.sleep(0.35)
        assert not callers.ask("d", "partial", final=False)
        assert callers.queue.refused_partials == 1
        assert callers.ask("d", "final", final=True)
        await asyncio.sleep(2)
        assert callers.ask("d", "partial", final=False)
        await asyncio.sleep(1)
        assert callers.answered[-2:] == ["d:final", "d:partial"]

    run_virtual(main())


def test_a_call_that_is_dropped_hears_of_none_of_its_jobs_and_others_go_on() -> None:
    async def main() -> list[str]:
        callers = Callers()
        gone = "a"
        callers.ask(gone, "runs", final=True)
        callers.ask(gone, "waits", final=True)
        callers.ask("b", "final", final=True)
        callers.queue.drop(gone)
        await asyncio.sleep(1)
        return callers.answered

    assert run_virtual(main()) == ["b:final"]


def test_more_finals_than_can_wait_are_refused() -> None:
    def script(callers: Callers) -> None:
        taken = [callers.ask("a", str(n), final=True) for n in range(300)]
        assert taken.count(True) == 257

    play(script, latency_s=0.001)


def test_the_time_of_the_last_decode_is_that_of_the_loop() -> None:
    async def main() -> float:
        callers = Callers(latency_s=0.08)
        callers.ask("a", "job", final=False)
        await asyncio.sleep(1)
        return callers.queue.last_decode_s

    assert abs(run_virtual(main()) - 0.08) < 1e-6
