"""The same server in the test's own loop, where a test must see tasks or wants no second process.

Real sockets, real gateway, real calls; the agent plane runs in this loop.
"""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from runtime.models.factory import build_models
from runtime.plane import InLoopAgent
from runtime.project.loader import load
from runtime.tasks import cancel_and_settle
from tests.live.server import NOTES
from voice.call.driver import Call
from voice.call.ports import Outbound
from voice.cli.engines import build_engines
from voice.gateway.admission import Gateway
from voice.gateway.app import build_app, gateway_of
from voice.gateway.config import GatewayConfig
from voice.gateway.metrics import Metrics
from voice.gateway.server import serve
from voice.speaking.pacer import Ticker
from voice.wire.events import WireProtocol


@dataclass(frozen=True, slots=True)
class InProcess:
    """A gateway that listens."""

    port: int
    gateway: Gateway
    notes: Path

    def ws(self, path: str = "/v1/call") -> str:
        return f"ws://127.0.0.1:{self.port}{path}"


@asynccontextmanager
async def serving_here(project: Path) -> AsyncGenerator[InProcess, None]:
    """Serve ``project`` until the block is left; everything is gone afterwards."""
    notes = project / "notes.jsonl"
    os.environ[NOTES] = str(notes)
    loaded = load(project, os.environ)
    agent = InLoopAgent(loaded, models=build_models(loaded))
    engines = build_engines(loaded.channels, "live")
    metrics, ticker = Metrics(), Ticker()
    if engines.detector is not None:
        ticker.every(engines.detector.run)

    def make_call(call_id: int, protocol: WireProtocol, out: Outbound, channel: str) -> Call:
        return Call(
            call_id,
            protocol=protocol,
            out=out,
            engines=engines,
            agent=agent,
            ticker=ticker,
            channel=channel,
            wall_start=1_767_607_200.0,
            on_event=metrics.call_event,
        )

    config = GatewayConfig(port=0, drain_s=0, max_calls=100)
    app = build_app(config, make_call, metrics)
    stop = asyncio.Event()
    listening: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    ticking = asyncio.create_task(ticker.run(), name="ticker")
    serving = asyncio.create_task(
        serve(app, config, lambda _, port: listening.set_result(port), stop=stop), name="serve"
    )
    try:
        yield InProcess(await listening, gateway_of(app), notes)
    finally:
        stop.set()
        await serving
        await cancel_and_settle(ticking, grace=1.0)
        await agent.aclose()
        await engines.stt.aclose()
        await engines.tts.aclose()
        del os.environ[NOTES]
