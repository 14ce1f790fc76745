"""Make a table of the JSON lines that ``bench.load`` wrote: ``python -m bench.table FILE...``."""

import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table


def _both(spread: dict[str, Any], *parts: str) -> str:
    return " / ".join(f"{spread[part]:.0f}" if part in spread else "–" for part in parts)


def main() -> None:
    """Print one row a run."""
    table = Table(title="calls measured from the caller's side (ms unless named)")
    for name in (
        "label",
        "N",
        "turns",
        "no answer",
        "response p50/p95",
        "stop heard p50/p95",
        "gaps > 60 ms %",
        "gap p99/max",
        "CPU s a call-min",
        "RSS MB a call",
        "send lag p99",
        "errors",
    ):
        table.add_column(name, justify="left" if name == "label" else "right")
    for file in sys.argv[1:]:
        for line in Path(file).read_text(encoding="utf-8").splitlines():
            run: dict[str, Any] = json.loads(line)
            table.add_row(
                run["label"],
                str(run["calls"]),
                str(run["turns"]),
                str(run["no_answer"]),
                _both(run["response_ms"], "p50", "p95"),
                _both(run["barge"]["heard_stop_ms"], "p50", "p95"),
                str(run["media"]["gaps_over_60ms_pct"]),
                _both(run["media"]["gap_ms"], "p99", "max"),
                str(run["server"].get("cpu_s_per_call_min", "–")),
                str(run["server"].get("rss_mb_per_call", "–")),
                _both(run["send_lag_ms"], "p99"),
                str(run["errors"]),
            )
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
