"""Place N calls to a websocket server and print what the callers measured, as one JSON line.

    python -m bench.load --url ws://127.0.0.1:8765/ws --calls 10 --seconds 40 --server-pid PID

Owns the run: ramp, warm-up, window, the server's CPU and memory, and the sums. If ``send_lag_ms``
p99 is not well under 20 ms, the run measured this machine and not the server.
"""

import argparse
import asyncio
import json
import os
from pathlib import Path
from typing import Any, Final

import psutil

from bench.caller import FRAME_S, Caller, Tally
from bench.sounds import line_noise, read_utterance

_CLIPS: Final = Path(__file__).resolve().parent.parent / "audio_fixtures" / "bench"
_SUBTICKS: Final = 4
"""The ticker wakes this often a frame, so that callers are not all served in one burst."""


def _spread(values: list[float]) -> dict[str, float | int]:
    if not values:
        return {"n": 0}
    ordered = sorted(values)

    def at(part: float) -> float:
        return round(ordered[min(len(ordered) - 1, int(part * len(ordered)))], 1)

    return {
        "n": len(ordered),
        "p50": at(0.5),
        "p95": at(0.95),
        "p99": at(0.99),
        "max": round(ordered[-1], 1),
    }


def _processes(pid: int) -> list[psutil.Process]:
    try:
        parent = psutil.Process(pid)
        return [parent, *parent.children(recursive=True)]
    except psutil.Error:
        return []


def _cpu_s(processes: list[psutil.Process]) -> float:
    total = 0.0
    for process in processes:
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        total += times.user + times.system
    return total


def _rss(processes: list[psutil.Process]) -> int:
    total = 0
    for process in processes:
        try:
            total += process.memory_info().rss
        except psutil.Error:
            continue
    return total


async def _meter(tally: Tally, calls: int, pid: int | None, rss_before: int) -> dict[str, Any]:
    """Measure the server's and our own CPU over the window."""
    loop = asyncio.get_running_loop()
    await asyncio.sleep(tally.window[0] - loop.time())
    me = [psutil.Process()]
    server = _processes(pid) if pid else []
    before = (loop.time(), _cpu_s(server), _cpu_s(me), psutil.cpu_times())
    peak = 0
    while loop.time() < tally.window[1] - 0.5:
        await asyncio.sleep(0.5)
        peak = max(peak, _rss(server))
    wall = loop.time() - before[0]
    used, own = _cpu_s(server) - before[1], _cpu_s(me) - before[2]
    now = psutil.cpu_times()
    busy = sum(
        getattr(now, kind) - getattr(before[3], kind) for kind in ("user", "system", "softirq")
    )
    return {
        "cores": round(used / wall, 3),
        "cpu_s_per_call_min": round(used / (calls * wall / 60), 3),
        "rss_mb": round(peak / 1e6, 1),
        "rss_mb_per_call": round((peak - rss_before) / 1e6 / calls, 2),
        "client_cores": round(own / wall, 3),
        "other_cores": round((busy - used - own) / wall, 3),
        "loadavg1": round(os.getloadavg()[0], 2),
    }


async def _tick(callers: list[Caller]) -> None:
    """Send everyone's due frames; each caller gets its own phase of the 20 ms."""
    loop = asyncio.get_running_loop()
    due = loop.time()
    while True:
        for caller in callers:
            caller.tick()
        due = max(due + FRAME_S / _SUBTICKS, loop.time())
        await asyncio.sleep(due - loop.time())


def _summary(tally: Tally, options: argparse.Namespace, server: dict[str, Any]) -> dict[str, Any]:
    late = [gap for gap in tally.gap if gap > 60]
    return {
        "label": options.label,
        "calls": options.calls,
        "seconds": options.seconds,
        "turns": tally.turns,
        "no_answer": tally.no_answer,
        "errors": len(tally.errors),
        "error_sample": tally.errors[:2],
        "response_ms": _spread(tally.response + tally.response_after_barge),
        "response_after_barge_ms": _spread(tally.response_after_barge),
        "barge": {
            "n": tally.barges,
            "no_clear": tally.barges_without_clear,
            "too_late": tally.barges_too_late,
            "heard_stop_ms": _spread(tally.heard_stop),
            "clear_ms": _spread(tally.clear),
            "stragglers": tally.stragglers,
        },
        "media": {
            "gap_ms": _spread(tally.gap),
            "gaps_over_60ms_pct": round(100 * len(late) / max(1, len(tally.gap)), 3),
            "underruns": len(tally.underrun),
            "buffered_ms": _spread(tally.buffered),
        },
        "server": server,
        "send_lag_ms": _spread(tally.send_lag),
    }


async def run(options: argparse.Namespace) -> dict[str, Any]:
    """Place the calls and sum up."""
    loop = asyncio.get_running_loop()
    ramp = options.ramp if options.ramp is not None else 0.1 * options.calls
    tally = Tally()
    begin = loop.time() + ramp + options.warmup
    tally.window = (begin, begin + options.seconds)
    noise = line_noise(options.noise_dbfs)
    turn, barge = read_utterance(options.wav), read_utterance(options.barge_wav)
    callers = [
        Caller(
            number,
            tally,
            turn,
            barge,
            noise,
            url=options.url,
            barge_in_at_s=options.barge_in_at,
            answer_timeout_s=8.0,
        )
        for number in range(options.calls)
    ]
    rss_before = _rss(_processes(options.server_pid)) if options.server_pid else 0
    async with asyncio.TaskGroup() as group:
        meter = group.create_task(_meter(tally, options.calls, options.server_pid, rss_before))
        ticker = group.create_task(_tick(callers))
        step = ramp / max(1, options.calls)
        calls = [group.create_task(c.run(n * step)) for n, c in enumerate(callers)]
        await asyncio.wait(calls)
        server = await meter
        ticker.cancel()
    return _summary(tally, options, server)


def options_of(argv: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--url", required=True)
    parser.add_argument("--calls", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=30, help="length of the window")
    parser.add_argument("--warmup", type=float, default=5.0)
    parser.add_argument("--ramp", type=float, help="seconds over which calls open")
    parser.add_argument("--barge-in-at", type=float, default=1.5, help="0 = never interrupt")
    parser.add_argument("--wav", type=Path, default=_CLIPS / "user_turn_8k.wav")
    parser.add_argument("--barge-wav", type=Path, default=_CLIPS / "bargein_8k.wav")
    parser.add_argument("--noise-dbfs", type=float, default=-65.0)
    parser.add_argument("--server-pid", type=int)
    parser.add_argument("--label", default="")
    parser.add_argument("--out", type=Path, help="append the JSON line here too")
    return parser.parse_args(argv)


def main() -> None:
    """Run once and print."""
    options = options_of()
    line = json.dumps(asyncio.run(run(options)))
    print(line, flush=True)
    if options.out:
        with options.out.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


if __name__ == "__main__":
    main()
