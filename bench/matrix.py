"""Measure a fresh server for each number of calls and append one JSON line a run.

    python -m bench.matrix --calls 1,10,25,50,100
    python -m bench.matrix --label other --ready-path /pid --path /ws --server "CMD --port {port}"

Owns starting, warming and stopping the server; the calls are ``bench.load``, the table is
``bench.table``. Without ``--server`` it measures this project's gateway with the agent of
``bench/agent``: every provider faked at 0 ms, the voice detector real.
"""

import argparse
import os
import shlex
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import Final

import psutil

_HERE: Final = Path(__file__).resolve().parent
OURS: Final = (
    f"{sys.executable} -m voice.cli.main serve {_HERE / 'agent'} --port {{port}} --max-calls 200 "
    "--log-level warning"
)


def _wait_ready(server: subprocess.Popen[bytes], port: int, path: str) -> None:
    for _ in range(240):
        if server.poll() is not None:
            sys.exit("the server ended before it was ready; see bench_server.log")
        try:
            if path:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5):
                    return
            else:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
        except (OSError, urllib.error.URLError):
            sleep(0.25)
    sys.exit("the server was not ready within a minute")


def _wait_quiet(most_cores: float, patience_s: float) -> float:
    """Wait until the rest of the machine is quiet; the load seen last, in cores."""
    waited = 0.0
    while True:
        load = psutil.cpu_percent(3) / 100 * (psutil.cpu_count() or 1)
        waited += 3
        if load <= most_cores or waited >= patience_s:
            return round(load, 2)


@contextmanager
def serving(command: str, port: int, ready_path: str) -> Generator[int]:
    """Run a server until the block is left; its process id, once it is ready."""
    with Path("bench_server.log").open("wb") as log:
        server = subprocess.Popen(shlex.split(command.format(port=port)), stdout=log, stderr=log)
        try:
            _wait_ready(server, port, ready_path)
            yield server.pid
        finally:
            server.send_signal(signal.SIGTERM)
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()


def _measure(options: argparse.Namespace, calls: int) -> None:
    load = _wait_quiet(options.quiet_cores, options.wait_quiet)
    print(f"{options.label}: {calls} calls, {load} cores busy elsewhere", file=sys.stderr)
    with serving(options.server, options.port, options.ready_path) as pid:
        base = [sys.executable, "-m", "bench.load", "--server-pid", str(pid)]
        base += ["--url", f"ws://127.0.0.1:{options.port}{options.path}", *options.rest]
        warm = [*base, "--calls", "1", "--seconds", "4", "--warmup", "1"]
        subprocess.run(warm, stdout=subprocess.DEVNULL, check=False)
        run = [*base, "--calls", str(calls), "--seconds", str(options.seconds)]
        run += ["--label", options.label, "--out", str(options.out)]
        subprocess.run(run, check=True)


def main() -> None:
    """Run the matrix."""
    parser = argparse.ArgumentParser(description="measure a server at several numbers of calls")
    parser.add_argument("--server", default=OURS, help="command; {port} is replaced")
    parser.add_argument("--label", default="bargein")
    parser.add_argument("--path", default="/twilio/stream", help="path of the websocket")
    parser.add_argument("--ready-path", default="/readyz", help="'' = wait for the port")
    parser.add_argument("--calls", default="1,10,25,50,100")
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--out", type=Path, default=Path("bench_results.jsonl"))
    parser.add_argument("--quiet-cores", type=float, default=0.25)
    parser.add_argument("--wait-quiet", type=float, default=60)
    options, rest = parser.parse_known_args()
    options.rest = rest
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    for calls in options.calls.split(","):
        _measure(options, int(calls))


if __name__ == "__main__":
    main()
