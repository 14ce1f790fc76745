"""Measure what a careless tool costs everyone else: one blocks its loop, one burns Python.

    python -m bench.careless_tools --calls 50

Owns the run: the gateway with the agent of ``bench/agent``, N callers who listen to long answers,
and one more who has the agent call a tool that sleeps 3 s without awaiting, or one that burns
Python for 3 s, over and over. Printed for each: the gaps between sound messages that the N callers
saw, and for comparison without any tool. Frames leave up to 200 ms before they are due, so a gap is
heard only beyond that ("played dry").
"""

import argparse
import asyncio
import json
import sys
from typing import Any, Final

import websockets
from rich.console import Console
from rich.table import Table

from bench.load import options_of, run
from bench.matrix import OURS, serving

_AGAIN_S: Final = 4.0
_KINDS: Final = {"none": None, "blocks 3 s": "sleep please", "burns 3 s": "the tool please"}


async def _nuisance(url: str, text: str) -> None:
    """Call the agent and have it run the tool again and again."""
    async with websockets.connect(url, compression=None, max_size=None) as socket:
        start = {"type": "start", "format": {"encoding": "ulaw", "rate_hz": 8000}}
        await socket.send(json.dumps(start))

        async def ask() -> None:
            while True:
                await socket.send(json.dumps({"type": "text", "text": text}))
                await asyncio.sleep(_AGAIN_S)

        async with asyncio.TaskGroup() as group:
            group.create_task(ask())
            async for _ in socket:
                pass


async def _measure(port: int, calls: int, seconds: float, text: str | None) -> dict[str, Any]:
    load = ["--url", f"ws://127.0.0.1:{port}/twilio/stream", "--calls", str(calls)]
    load += ["--seconds", str(seconds), "--barge-in-at", "0"]
    nuisance: asyncio.Task[None] | None = None
    if text is not None:
        nuisance = asyncio.create_task(_nuisance(f"ws://127.0.0.1:{port}/v1/call", text))
    try:
        return await run(options_of(load))
    finally:
        if nuisance is not None:
            nuisance.cancel()
            await asyncio.wait({nuisance})


def main() -> None:
    """Measure all three and print a table."""
    parser = argparse.ArgumentParser(description="what a careless tool costs other calls")
    parser.add_argument("--calls", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--port", type=int, default=8765)
    options = parser.parse_args()
    table = Table(title=f"gaps between sound messages of {options.calls} other calls, ms")
    for name in ("tool", "messages", "p50", "p99", "max", "played dry", "own lag p99/max"):
        table.add_column(name, justify="left" if name == "tool" else "right")
    with serving(OURS, options.port, "/readyz"):
        for kind, text in _KINDS.items():
            print(f"measuring: {kind}", file=sys.stderr)
            found = asyncio.run(_measure(options.port, options.calls, options.seconds, text))
            gaps, lag = found["media"]["gap_ms"], found["send_lag_ms"]
            table.add_row(
                kind,
                str(gaps["n"]),
                str(gaps["p50"]),
                str(gaps["p99"]),
                str(gaps["max"]),
                str(found["media"]["underruns"]),
                f"{lag['p99']} / {lag['max']}",
            )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
