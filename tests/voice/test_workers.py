"""Where local engines compute."""

import asyncio
import threading

import pytest

from runtime.errors import ProviderError
from voice.replay.virtual_loop import run_virtual
from voice.workers import ThreadWorker, VirtualWorker


def boom() -> int:
    raise ValueError("broken")


def test_a_thread_answers_on_the_loop_in_order_and_carries_exceptions() -> None:
    async def main() -> list[object]:
        worker = ThreadWorker("test")
        answers: list[object] = []
        threads: set[int] = set()
        finished = asyncio.Event()

        def done(result: int | Exception) -> None:
            threads.add(threading.get_ident())
            answers.append(result)
            if len(answers) == 3:
                finished.set()

        worker.submit(lambda: 1, done)
        worker.submit(boom, done)
        worker.submit(lambda: 3, done)
        assert answers == []
        async with asyncio.timeout(5):
            await finished.wait()
        assert threads == {threading.get_ident()}
        await worker.aclose()
        await worker.aclose()
        return answers

    first, second, third = asyncio.run(main())
    assert (first, third) == (1, 3)
    assert isinstance(second, ValueError)


def test_a_full_queue_answers_with_a_retryable_error() -> None:
    async def main() -> list[object]:
        worker = ThreadWorker("test", most_waiting=1)
        gate = threading.Event()
        running = threading.Event()
        answers: list[object] = []

        def wait() -> str:
            running.set()
            gate.wait(5)
            return "slow"

        worker.submit(wait, answers.append)
        await asyncio.to_thread(running.wait, 5)
        worker.submit(lambda: "waits", answers.append)
        worker.submit(lambda: "too many", answers.append)
        await asyncio.sleep(0)
        gate.set()
        await worker.aclose()
        return answers

    (refused,) = asyncio.run(main())
    assert isinstance(refused, ProviderError)
    assert refused.retryable


def test_nothing_is_answered_after_close() -> None:
    async def main() -> list[object]:
        worker = ThreadWorker("test")
        gate = threading.Event()
        running = threading.Event()
        answers: list[object] = []

        def wait() -> str:
            running.set()
            gate.wait(5)
            return "late"

        worker.submit(wait, answers.append)
        await asyncio.to_thread(running.wait, 5)
        closing = asyncio.create_task(worker.aclose())
        await asyncio.sleep(0)
        gate.set()
        await closing
        worker.submit(lambda: "never", answers.append)
        await asyncio.sleep(0)
        return answers

    assert asyncio.run(main()) == []


def test_the_virtual_worker_answers_after_its_latency_never_inside_submit() -> None:
    async def main() -> list[tuple[float, object]]:
        loop = asyncio.get_running_loop()
        worker = VirtualWorker(0.08)
        answers: list[tuple[float, object]] = []
        worker.submit(lambda: "text", lambda result: answers.append((loop.time(), result)))
        worker.submit(boom, lambda result: answers.append((loop.time(), type(result))))
        assert answers == []
        await asyncio.sleep(0.1)
        worker.submit(lambda: "late", lambda result: answers.append((loop.time(), result)))
        await worker.aclose()
        worker.submit(lambda: "later", lambda result: answers.append((loop.time(), result)))
        await asyncio.sleep(0.2)
        return answers

    answers = run_virtual(main())
    assert [what for _, what in answers] == ["text", ValueError]
    assert [at for at, _ in answers] == pytest.approx([0.08, 0.08])
