"""A server in a process of its own, as an operator starts it: ``bargein serve`` on loopback."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
NOTES = "BARGEIN_TEST_NOTES"
"""Names the file in which the tools of a test project write what they saw."""

_LISTENING = re.compile(r"Listening on http://\S*?:(\d+)")
_START_S = 20.0


async def until(condition: Callable[[], bool], what: str, seconds: float = 8.0) -> None:
    """Wait until ``condition`` holds; fail with ``what`` when it does not in time."""
    loop = asyncio.get_running_loop()
    due = loop.time() + seconds
    while not condition():
        assert loop.time() < due, f"not within {seconds} s: {what}"
        await asyncio.sleep(0.02)


class Server:
    """A running ``bargein serve``."""

    def __init__(self, project: Path, *arguments: str, env: dict[str, str] | None = None) -> None:
        self.folder = project
        self.notes = project / "notes.jsonl"
        self.store = project / "bargein.sqlite"
        self._out, self._err = project / "stdout.txt", project / "stderr.txt"
        self.port = 0
        command = [sys.executable, "-m", "voice.cli.main", "serve", str(project), "--port", "0"]
        kept = {k: v for k, v in os.environ.items() if not k.endswith("AUTH_TOKEN")}
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [*command, *arguments],
                cwd=ROOT,
                env={**kept, NOTES: str(self.notes), "COLUMNS": "200", **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )

    @property
    def written(self) -> str:
        """All it wrote so far, to both streams."""
        return self._out.read_text("utf-8") + self._err.read_text("utf-8")

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def has_started(self) -> bool:
        """Whether it listens; fails when it ended instead."""
        found = _LISTENING.search(self._out.read_text("utf-8"))
        if found is None:
            assert self.is_running, f"the server ended at its start:\n{self.written}"
            return False
        self.port = int(found[1])
        return True

    def ws(self, path: str = "/v1/call") -> str:
        return f"ws://127.0.0.1:{self.port}{path}"

    async def get(self, path: str) -> str:
        def fetch() -> str:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
                return answer.read().decode()

        return await asyncio.to_thread(fetch)

    async def metric(self, name: str, labels: str = "") -> float:
        """One number of /metrics; ``labels`` as it is written there, 0 = not there yet."""
        for line in (await self.get("/metrics")).splitlines():
            if line.startswith(f"bargein_{name}{labels} "):
                return float(line.rsplit(" ", 1)[1])
        return 0.0

    async def until_empty(self) -> None:
        """Wait until no call is open."""
        for _ in range(200):
            if await self.metric("calls_open") == 0:
                return
            await asyncio.sleep(0.05)
        raise AssertionError("calls stayed open")

    @property
    def agent_pid(self) -> int:
        """The child process that runs the agent."""
        children = psutil.Process(self.process.pid).children()
        return next(c.pid for c in children if "spawn_main" in " ".join(c.cmdline()))

    @property
    def footprint(self) -> dict[str, int]:
        """What calls may leave behind: descriptors, threads, processes."""
        process = psutil.Process(self.process.pid)
        agent = psutil.Process(self.agent_pid)
        return {
            "fds": process.num_fds(),
            "threads": process.num_threads(),
            "children": len(process.children(recursive=True)),
            "agent fds": agent.num_fds(),
            "agent threads": agent.num_threads(),
        }

    @property
    def rss_mb(self) -> float:
        """Resident memory of server and agent."""
        pids = (self.process.pid, self.agent_pid)
        return sum(psutil.Process(pid).memory_info().rss for pid in pids) / 1e6

    def signal(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)

    async def ended(self, seconds: float = 15.0) -> int:
        """Wait for its end; the exit code."""
        await until(lambda: not self.is_running, "the server ends", seconds)
        return self.process.returncode

    def kill(self) -> None:
        """End it and its agent, whatever state they are in."""
        if not self.is_running:
            return
        children = psutil.Process(self.process.pid).children(recursive=True)
        self.process.kill()
        self.process.wait(10)
        for child in children:
            with suppress(psutil.NoSuchProcess):
                child.kill()


@asynccontextmanager
async def serving(
    project: Path, *arguments: str, env: dict[str, str] | None = None
) -> AsyncGenerator[Server, None]:
    """Serve ``project`` on any free port until the block is left."""
    server = Server(project, *arguments, env=env)
    try:
        await until(server.has_started, "the server listens", _START_S)
        yield server
        assert server.is_running, f"the server ended by itself:\n{server.written[-3000:]}"
        assert "Traceback" not in server.written, server.written[-3000:]
    finally:
        server.kill()


def started(project: Path, *arguments: str, env: dict[str, str] | None = None) -> Server:
    """Start a server that several tests share; its owner calls ``kill``."""
    server = Server(project, *arguments, env=env)
    due = time.monotonic() + _START_S
    while not server.has_started():
        if time.monotonic() > due:
            server.kill()
            raise AssertionError(f"the server did not start:\n{server.written}")
        time.sleep(0.02)  # no loop runs in a fixture
    return server
