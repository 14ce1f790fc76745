"""``bargein serve`` and ``bargein talk``: a gateway for one agent project.

Owns the composition of a live process: settings from the command line, the project's channel and
the environment; engines, agent plane, ticker and gateway, started in the order in which they are
needed and ended in reverse.
"""

import asyncio
import os
import signal
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console

from runtime.errors import AgentError, ProjectError
from voice.cli.checking import EXIT_UNUSABLE, exit_code
from voice.cli.logs import set_up

if TYPE_CHECKING:
    from runtime.agent import AgentPlane
    from voice.call.driver import Call
    from voice.call.ports import Engines, Outbound
    from voice.gateway.config import GatewayConfig
    from voice.wire.events import WireProtocol

_out = Console()
_err = Console(stderr=True)

ProjectPath = Annotated[
    Path,
    typer.Argument(help="The agent project's folder (it holds agent.yml).", show_default=False),
]
Port = Annotated[int, typer.Option(help="Port to listen on; 0 = any free one.", min=0, max=65535)]
LogLevel = Annotated[
    Literal["debug", "info", "warning", "error"],
    typer.Option(help="The least that is logged, to stderr."),
]
MaxCalls = Annotated[
    int | None,
    typer.Option(
        help="Calls at once; more are refused with a sentence or a 503. Default: the project's "
        "own, else 2 a core with the embedded speech-to-text (it shares the cores with the "
        "sound) and 100 a core with a hosted one.",
        min=1,
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """What the command line says."""

    project: Path
    host: str
    port: int
    max_calls: int | None
    public_url: str | None
    drain_s: float
    store: Path | None
    is_talk: bool


def talk(
    project: ProjectPath,
    port: Port = 8080,
    log_level: LogLevel = "warning",
) -> None:
    """Talk to an agent in your browser: prints a URL, open it and start the call.

    Needs no key and no network: speech is recognized and spoken by embedded models. Only this
    machine can connect. Stop with Ctrl-C.
    """
    set_up(log_level)
    options = ServeOptions(
        project=project,
        host="127.0.0.1",
        port=port,
        max_calls=None,
        public_url=None,
        drain_s=1.0,
        store=None,
        is_talk=True,
    )
    _run(options)


def serve(
    project: ProjectPath,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Port = 8080,
    max_calls: MaxCalls = None,
    public_url: Annotated[
        str | None,
        typer.Option(
            help="How the outside reaches this server (https://…); telephony signatures are "
            "checked against it.",
            show_default=False,
        ),
    ] = None,
    drain_seconds: Annotated[
        float, typer.Option(help="How long open calls may go on after SIGTERM.", min=0)
    ] = 30.0,
    store: Annotated[
        Path | None,
        typer.Option(
            help="SQLite file of conversations. Default: bargein.sqlite in the project's folder.",
            show_default=False,
        ),
    ] = None,
    log_level: LogLevel = "info",
) -> None:
    """Serve an agent project to phones (/twilio), browsers and apps (/v1/call, the page at /).

    Any address but loopback needs a token: set BARGEIN_AUTH_TOKEN for apps and browsers, and
    TWILIO_AUTH_TOKEN for Twilio's signatures (or both in the project's channel). /healthz, /readyz
    and /metrics are for your orchestrator. The first SIGTERM drains, the second ends at once.

    Exit codes: 0 stopped by a signal, 1 the project can't be run, 2 it can't be served like this
    (no such project, an address in use, a token missing).
    """
    set_up(log_level)
    options = ServeOptions(
        project=project,
        host=host,
        port=port,
        max_calls=max_calls,
        public_url=public_url,
        drain_s=drain_seconds,
        store=store,
        is_talk=False,
    )
    _run(options)


def _run(options: ServeOptions) -> None:
    try:
        _run_loop(options)
    except ProjectError as error:
        _err.print("[bold red]The project can't be run:[/]")
        _err.print(str(error), markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(exit_code(error.problems)) from None
    except (AgentError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        _err.print(f"bargein: {reason}", style="red", markup=False, soft_wrap=True)
        raise typer.Exit(EXIT_UNUSABLE) from None


def _run_loop(options: ServeOptions) -> None:
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        # Until the server has its own handlers, Ctrl-C during start-up ends the process as usual.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        runner.run(_serve(options))


async def _serve(options: ServeOptions) -> None:
    from runtime.process import ChildAgent
    from runtime.project.loader import load_channels
    from voice.cli.engines import build_engines, preload, suggested_max_calls
    from voice.gateway.config import GatewayConfig

    home = options.project if options.project.is_dir() else options.project.parent
    store = options.store or home / "bargein.sqlite"
    try:
        channel = load_channels(options.project, os.environ)
    except ProjectError as error:
        if exit_code(error.problems) == EXIT_UNUSABLE:
            raise
        # The agent process reads all of the project, and so names every problem there is.
        agent = ChildAgent(options.project, store_path=store)
        await agent.start()
        await agent.aclose()
        raise
    max_calls = options.max_calls or suggested_max_calls(channel, os.cpu_count() or 1)
    config = GatewayConfig(
        host=options.host,
        port=options.port,
        public_url=options.public_url or channel.public_url,
        auth_token=os.environ.get("BARGEIN_AUTH_TOKEN") or channel.auth_token,
        twilio_auth_token=os.environ.get("TWILIO_AUTH_TOKEN"),
        max_calls=max_calls,
        drain_s=options.drain_s,
    )
    config.check()
    agent = ChildAgent(options.project, store_path=store)
    try:
        with _err.status("Starting the agent and loading the speech models …"):
            await agent.start()
            engines = build_engines(channel, "live")
            await preload(engines)
        try:
            await _serve_calls(options, config, engines, agent)
        finally:
            await engines.stt.aclose()
            await engines.tts.aclose()
    finally:
        await agent.aclose()


async def _serve_calls(
    options: ServeOptions, config: "GatewayConfig", engines: "Engines", agent: "AgentPlane"
) -> None:
    """Run ticker and gateway until a signal has drained the server."""
    from runtime.tasks import cancel_and_settle
    from voice.call.driver import Call
    from voice.gateway.app import build_app
    from voice.gateway.metrics import Metrics
    from voice.gateway.server import serve as serve_app
    from voice.speaking.pacer import Ticker

    metrics = Metrics()
    ticker = Ticker()
    if engines.detector is not None:
        ticker.every(engines.detector.run)

    def make_call(call_id: int, protocol: "WireProtocol", out: "Outbound", channel: str) -> "Call":
        return Call(
            call_id,
            protocol=protocol,
            out=out,
            engines=engines,
            agent=agent,
            ticker=ticker,
            channel=channel,
            wall_start=datetime.now(tz=UTC).timestamp(),
            on_event=metrics.call_event,
        )

    def listening(host: str, port: int) -> None:
        where = f"[{host}]" if ":" in host else host
        if options.is_talk:
            _out.print(f"Open [bold]http://{where}:{port}/[/] in your browser and start the call.")
            _out.print("Talk over the agent whenever you like. Ctrl-C stops.", style="dim")
        else:
            _out.print(f"Listening on http://{where}:{port} (at most {config.max_calls} calls).")

    ticking = asyncio.create_task(ticker.run(), name="ticker")
    try:
        await serve_app(build_app(config, make_call, metrics), config, listening)
    finally:
        await cancel_and_settle(ticking, grace=1.0)
