"""Running calls of tools: cancelling, committing, timing out, settling once."""

import asyncio
import contextlib
import json
from typing import Any

import pytest

from runtime import Button, ToolContext, ToolResult, tool
from runtime.agent import Json
from runtime.conversation.events import MemorySet, ToolOutcome, ToolSettled
from runtime.errors import MemoryWriteError, ToolDefinitionError, ToolError
from runtime.testing import ToolHarness, ToolReport
from runtime.tools.runner import idempotency_key
from voice.replay.virtual_loop import run_virtual


def run(
    fn: object,
    arguments: dict[str, Json] | None = None,
    *,
    harness: ToolHarness | None = None,
    interrupt_after_s: float | None = None,
) -> ToolReport:
    async def main() -> ToolReport:
        used = harness or ToolHarness()
        report = await used.run(fn, arguments, interrupt_after_s=interrupt_after_s)
        await used.settle()
        return report

    return run_virtual(main())


def outcomes(harness: ToolHarness) -> list[ToolOutcome]:
    return [fact.outcome for fact in harness.facts if isinstance(fact, ToolSettled)]


def test_a_value_returned_is_ok_and_reaches_the_model_as_json() -> None:
    """R35, R56, C12"""

    @tool(description="x")
    async def look(id: int) -> ToolResult:
        return ToolResult({"status": "ok", "note": f"Größe {id} → 8"})

    report = run(look, {"id": 7})
    assert (report.outcome, report.result) == ("ok", {"status": "ok", "note": "Größe 7 → 8"})


@pytest.mark.parametrize("value", [None, ToolResult()])
def test_nothing_to_tell_is_ok(value: object) -> None:
    """R35"""

    @tool(description="x")
    async def quiet() -> ToolResult:
        return value  # type: ignore[return-value]

    assert run(quiet).outcome == "ok"


@pytest.mark.parametrize(
    "value", [{"x": 1}, ToolResult(object()), ToolResult(float("nan")), ToolResult("\ud800")]
)
def test_an_answer_that_can_not_be_read_fails(value: object) -> None:
    @tool(description="x")
    async def odd() -> ToolResult:
        return value  # type: ignore[return-value]

    assert run(odd).outcome == "failed"


def test_an_error_settles_failed_and_its_text_stays_inside(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """C07"""

    @tool(description="x")
    async def pay() -> ToolResult:
        raise RuntimeError("card service 502 secret")

    report = run(pay)
    assert report.outcome == "failed"
    assert "secret" not in str(report.result)
    assert "secret" not in caplog.text
    assert "RuntimeError" in str(caplog.records[0].__dict__)


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt()])
def test_a_tool_can_not_end_the_process(error: BaseException) -> None:
    @tool(description="x")
    async def leave() -> ToolResult:
        raise error

    assert run(leave).outcome == "failed"


def test_a_tool_error_is_told_to_the_model() -> None:
    """C07"""

    @tool(description="x")
    async def refuse() -> ToolResult:
        raise ToolError("the shop is closed")

    assert run(refuse).result == {"status": "failed", "reason": "the shop is closed"}


def test_an_interruption_is_raised_at_the_await() -> None:
    """R54, R57: no value, one outcome."""
    seen: list[object] = []

    @tool(description="x")
    async def slow(*, context: ToolContext) -> ToolResult:
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            seen.append(context.is_cancelled)
            raise
        return ToolResult("done")

    assert run(slow, interrupt_after_s=1).outcome == "cancelled"
    assert seen == [True]


def test_memory_written_before_a_cancellation_is_kept() -> None:
    """R58"""
    harness = ToolHarness(memory={"step": None})

    @tool(description="x")
    async def slow(*, context: ToolContext) -> ToolResult:
        context.memory.set("step", 1)
        await asyncio.sleep(5)
        context.memory.set("step", 2)
        return ToolResult()

    assert run(slow, harness=harness, interrupt_after_s=1).outcome == "cancelled"
    assert harness.memory_value("step") == 1


def test_cleanup_may_take_a_second_and_what_it_returns_is_discarded() -> None:
    """R60: also when the handler swallows the cancellation."""

    @tool(description="x")
    async def stubborn() -> ToolResult:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(5)
        await asyncio.sleep(0.8)
        return ToolResult("too late")

    report = run(stubborn, interrupt_after_s=1)
    assert report.outcome == "cancelled"
    assert "too late" not in str(report.result)


def test_a_cleanup_that_raises_settles_failed() -> None:
    @tool(description="x")
    async def broken() -> ToolResult:
        try:
            await asyncio.sleep(5)
        finally:
            raise ValueError("cleanup")

    assert run(broken, interrupt_after_s=1).outcome == "failed"


def test_a_tool_that_does_not_stop_is_unknown_and_its_end_is_news() -> None:
    """C08: exactly one settlement."""
    harness = ToolHarness(timeout_s=60)

    @tool(description="x")
    async def deaf() -> ToolResult:
        end = asyncio.get_running_loop().time() + 4
        while (left := end - asyncio.get_running_loop().time()) > 0:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(left)
        return ToolResult("after all")

    async def main() -> None:
        loop = asyncio.get_running_loop()
        report = await harness.run(deaf, interrupt_after_s=1)
        assert report.outcome == "unknown"
        assert 1.9 < loop.time() < 2.1
        await asyncio.sleep(5)

    run_virtual(main())
    assert outcomes(harness) == ["unknown"]
    assert [(late.outcome, late.result) for late in harness.late] == [("ok", '"after all"')]


def test_a_timeout_settles_at_once_and_a_late_value_is_news() -> None:
    """C08, R5: progress after the settlement is ignored."""
    harness = ToolHarness(timeout_s=2)
    cancelled: list[bool] = []

    @tool(description="x")
    async def slow(*, context: ToolContext) -> ToolResult:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(2.5)
        cancelled.append(context.is_cancelled)
        with contextlib.suppress(asyncio.CancelledError):
            await context.send("still there")
        await asyncio.sleep(0.5)
        return ToolResult("late")

    async def main() -> None:
        report = await harness.run(slow)
        assert asyncio.get_running_loop().time() == pytest.approx(2)
        assert report.outcome == "timed_out"
        await asyncio.sleep(5)

    run_virtual(main())
    assert outcomes(harness) == ["timed_out"]
    assert cancelled == [True]
    assert harness.sent == []
    assert [late.outcome for late in harness.late] == ["ok"]


def test_the_decorator_s_timeout_wins_over_the_project_s() -> None:
    """R5"""

    @tool(description="x", timeout=1)
    async def slow() -> ToolResult:
        await asyncio.sleep(5)
        return ToolResult()

    async def main() -> float:
        assert (await ToolHarness(timeout_s=60).run(slow)).outcome == "timed_out"
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == pytest.approx(1)


def test_a_commit_section_holds_the_cancellation_back_and_a_return_is_recorded() -> None:
    """A payment sent is a payment known."""
    harness = ToolHarness()
    paid: list[float] = []

    @tool(description="x")
    async def pay(*, context: ToolContext) -> ToolResult:
        async with context.committing():
            await asyncio.sleep(3)
            paid.append(asyncio.get_running_loop().time())
        return ToolResult("paid")

    report = run(pay, harness=harness, interrupt_after_s=1)
    assert (report.outcome, report.result, report.committed) == ("ok", "paid", True)
    assert paid == [pytest.approx(3)]


def test_after_a_commit_section_the_cancellation_comes_at_the_next_await() -> None:
    """The effect stands, so the call is not called cancelled."""
    reached: list[str] = []

    @tool(description="x")
    async def pay(*, context: ToolContext) -> ToolResult:
        async with context.committing():
            await asyncio.sleep(3)
        reached.append("left")
        await asyncio.sleep(3)
        reached.append("after")
        return ToolResult("paid")

    report = run(pay, interrupt_after_s=1)
    assert report.outcome == "unknown"
    assert reached == ["left"]


def test_a_commit_section_is_not_begun_after_an_interruption() -> None:
    """The blocking line before it made the tool miss the request."""
    harness = ToolHarness()
    begun: list[str] = []

    @tool(description="x")
    async def pay(*, context: ToolContext) -> ToolResult:
        harness.interrupt_only_flag()  # as if the floor committed while this tool held the loop
        async with context.committing():
            begun.append("commit")
        return ToolResult("paid")

    assert run(pay, harness=harness).outcome == "cancelled"
    assert begun == []


def test_a_timeout_inside_a_commit_section_is_unknown() -> None:
    @tool(description="x", timeout=2)
    async def pay(*, context: ToolContext) -> ToolResult:
        async with context.committing():
            await asyncio.sleep(30)
        return ToolResult("paid")

    assert run(pay).outcome == "unknown"


def test_a_finish_tool_runs_on_and_only_its_messages_are_dropped() -> None:
    """C10"""

    @tool(description="x", on_interrupt="finish")
    async def order(*, context: ToolContext) -> ToolResult:
        await context.send("first")
        await asyncio.sleep(3)
        await context.send("second")
        async with context.committing():
            await asyncio.sleep(1)
        return ToolResult("ordered")

    report = run(order, interrupt_after_s=1)
    assert (report.outcome, report.result) == ("ok", "ordered")
    assert (report.sent, report.dropped) == (("first",), ("second",))


def test_an_early_return_after_looking_is_recorded() -> None:
    """R59, R55, C17: a tool that never awaits runs to its end and its return counts."""
    harness = ToolHarness()

    @tool(description="x")
    async def transfer(*, context: ToolContext) -> ToolResult:
        harness.interrupt_only_flag()
        if context.is_cancelled:
            return ToolResult({"ok": False, "reason": "cancelled"})
        return ToolResult({"ok": True})

    report = run(transfer, harness=harness)
    assert (report.outcome, report.result) == ("ok", {"ok": False, "reason": "cancelled"})


def test_a_call_that_blocked_past_its_time_is_judged_by_the_clock() -> None:
    """C17: the loop could not fire the timer; the value is news."""
    harness = ToolHarness(timeout_s=1)

    @tool(description="x")
    async def block() -> ToolResult:
        loop: Any = asyncio.get_running_loop()
        loop.advance(5)  # what a blocking call does to the clock
        return ToolResult("done")

    assert run(block, harness=harness).outcome == "timed_out"
    assert [late.result for late in harness.late] == ['"done"']


def test_a_turn_that_is_interrupted_starts_no_call() -> None:
    """C03: the call is settled although it never ran."""
    ran: list[int] = []

    @tool(description="x")
    async def lookup(id: int) -> ToolResult:
        ran.append(id)
        return ToolResult()

    async def main() -> None:
        harness = ToolHarness()
        task = asyncio.get_running_loop().create_task(harness.run(lookup, {"id": 7}))
        await asyncio.sleep(0)  # the call's task exists and has not had its first step
        harness.interrupt()
        assert (await task).outcome == "cancelled"
        harness.interrupt_next()
        assert (await harness.run(lookup, {"id": 8})).outcome == "cancelled"
        await harness.settle()

    run_virtual(main())
    assert ran == []


def test_equal_running_calls_are_refused_and_others_run() -> None:
    """C09"""
    runs: list[str] = []

    @tool(description="x", on_interrupt="finish")
    async def order(item: str, qty: int = 1) -> ToolResult:
        runs.append(item)
        await asyncio.sleep(6)
        return ToolResult("ordered")

    async def main() -> None:
        harness = ToolHarness()
        loop = asyncio.get_running_loop()
        first = loop.create_task(harness.run(order, {"item": "lamp", "qty": 1}))
        await asyncio.sleep(2)
        again = await harness.run(order, {"qty": 1, "item": "lamp"})
        assert (again.outcome, again.result) == ("failed", "still_running")
        by_default = await harness.run(order, {"item": "lamp"})
        assert by_default.result == "still_running"
        other = await harness.run(order, {"item": "desk"})
        assert other.outcome == "ok"
        assert (await first).outcome == "ok"

    run_virtual(main())
    assert runs == ["lamp", "desk"]


def test_the_same_wish_keeps_its_key_until_it_is_fulfilled() -> None:
    """Cancelled, failed, timed out: the same key; after an ok, a second wish has another one."""
    modes = iter(["slow", "fail", "hang", "work", "work"])

    @tool(description="x", timeout=3)
    async def order(item: str) -> ToolResult:
        match next(modes):
            case "slow" | "hang":
                await asyncio.sleep(10)
            case "fail":
                raise RuntimeError
            case _:
                pass
        return ToolResult()

    async def main() -> None:
        harness = ToolHarness()
        reports = [await harness.run(order, {"item": "lamp"}, interrupt_after_s=1)]
        for _ in range(4):
            reports.append(await harness.run(order, {"item": "lamp"}))  # noqa: PERF401
        assert [r.outcome for r in reports] == ["cancelled", "failed", "timed_out", "ok", "ok"]
        keys = [r.idempotency_key for r in reports]
        assert len(set(keys[:4])) == 1
        assert keys[4] != keys[0]
        assert len(keys[0]) == 32

    run_virtual(main())


def test_keys_differ_by_conversation_tool_arguments_and_count() -> None:
    keys = {
        idempotency_key(c, t, a, n)
        for c in "ab"
        for t in "xy"
        for a in ("{}", '{"a":1}')
        for n in (0, 1)
    }
    assert len(keys) == 16


def test_contexts_are_one_per_call_and_events_a_fresh_list() -> None:
    """R18, R21, R22, R32"""
    contexts: list[ToolContext] = []

    @tool(description="x")
    async def look(*, context: ToolContext) -> ToolResult:
        contexts.append(context)
        events = context.events
        count = len(events)
        events.clear()
        assert len(context.events) == count > 0
        assert context.model.references_index is None
        with pytest.raises(RuntimeError):
            context.set_buttons([Button("a", "b")])
        return ToolResult()

    async def main() -> None:
        harness = ToolHarness()
        assert (await harness.run(look)).outcome == "ok"
        assert (await harness.run(look)).outcome == "ok"

    run_virtual(main())
    assert contexts[0] is not contexts[1]


def test_writes_go_through_at_once_and_refused_ones_raise_in_the_tool() -> None:
    """R26, R27"""
    harness = ToolHarness(memory={"name": None})

    @tool(description="x")
    async def save(*, context: ToolContext) -> ToolResult:
        context.memory.set("name", "Nora")
        assert context.memory.get("name") == "Nora"
        with pytest.raises(MemoryWriteError):
            context.memory.set("undeclared", 1)
        return ToolResult()

    assert run(save, harness=harness).outcome == "ok"
    assert [f.value for f in harness.facts if isinstance(f, MemorySet)] == ['"Nora"']


def test_one_cancelled_call_does_not_stop_later_ones() -> None:
    """C16"""

    @tool(description="x")
    async def slow() -> ToolResult:
        await asyncio.sleep(5)
        return ToolResult()

    @tool(description="x")
    async def quick() -> ToolResult:
        return ToolResult("quick")

    async def main() -> None:
        harness = ToolHarness()
        before = len(asyncio.all_tasks())
        assert (await harness.run(slow, interrupt_after_s=1)).outcome == "cancelled"
        assert (await harness.run(quick)).outcome == "ok"
        assert len(asyncio.all_tasks()) == before

    run_virtual(main())


def test_the_harness_refuses_what_is_no_tool() -> None:
    async def main() -> None:
        with pytest.raises(ToolDefinitionError):
            await ToolHarness().run(run)

    run_virtual(main())


def test_the_log_of_a_failure_names_the_authors_line_and_no_value(
    caplog: pytest.LogCaptureFixture,
):
    """What the caller said may be in the message; a refusal of ours speaks of names alone."""

    @tool(description="x")
    async def writes(*, context: ToolContext) -> ToolResult:
        context.memory.set("nowhere", "my secret words")
        return ToolResult()

    @tool(description="x")
    async def breaks(*, context: ToolContext) -> ToolResult:
        json.loads("my secret words")
        return ToolResult()

    assert [run(fn).outcome for fn in (writes, breaks)] == ["failed", "failed"]
    first, second = (record for record in caplog.records if record.message == "a tool failed")
    for record in (first, second):
        assert vars(record)["where"].startswith(f"{__file__}:")
        assert "secret" not in str(vars(record))
    assert vars(first)["reason"] == "nowhere is not declared in memory.yml"
    assert "reason" not in vars(second)
