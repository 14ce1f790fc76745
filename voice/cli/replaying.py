"""What ``bargein replay`` does: reads, replays behind a progress bar, prints, writes.

Owns the reading of what was asked for and the exit code. The options are ``replay_command``; how a
call is composed is ``virtual_call``; what happens in it is ``voice.replay``.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from runtime.engine.prompt_text import KeptPrompt, prompt_text
from runtime.errors import AgentError, ProjectError
from voice.audio.files import read_sound, write_wav
from voice.audio.format import PHONE, WIDE
from voice.cli.checking import read_project
from voice.cli.logs import set_up
from voice.cli.virtual_call import AgentOptions, EngineChoice, EngineName, replay_project
from voice.cli.writing import ready_folder
from voice.replay import timeline_text
from voice.replay.at import parse_at
from voice.replay.events_file import write_events
from voice.replay.far_end import Conditions, Echo
from voice.replay.link import Network
from voice.replay.measures import Measures, measure
from voice.replay.report import render_report
from voice.replay.runner import Channel, ReplayOptions, ReplayResult
from voice.replay.script import CallerLine, HangUp, Keys, Speech, Typed
from voice.replay.starts import WALL_START, parse_start
from voice.replay.timeline import Timeline, build_timeline

_FAILED: Final = 1
_UNUSABLE: Final = 2
_KEYS: Final = frozenset("0123456789*#ABCD")
_WIDEST: Final = 160
"""Characters of the printed picture, however wide the terminal is."""


class _Unusable(AgentError):
    """Input that can't be used: what is wrong and what to do instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One replay as it was asked for."""

    project: Path
    sounds: tuple[Path, ...]
    starts: tuple[str, ...] = ()
    press: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()
    hang_up: str | None = None
    out: Path | None = None
    seconds: float = 120.0
    channel: Channel = "twilio"
    caller_channel: int | None = None
    """Which channel of a recording is the caller; None = it has one."""
    stt: EngineName = "project"
    words: tuple[str, ...] = ()
    tts: EngineName = "project"
    echo_db: float | None = None
    echo_delay_ms: float = 60.0
    delay_ms: float = 0.0
    jitter_ms: float = 0.0
    seed: int = 0
    date: str | None = None
    """When the call happens; None = the default."""
    prompts: bool = False
    quiet: bool = False

    @property
    def options(self) -> ReplayOptions:
        """How the call is made.

        Raises:
            StartError: ``date`` is none.
        """
        network = Network(delay_ms=self.delay_ms, jitter_ms=self.jitter_ms, seed=self.seed)
        echo = None if self.echo_db is None else Echo(self.echo_db, self.echo_delay_ms)
        return ReplayOptions(
            channel=self.channel,
            conditions=Conditions(network=network, echo=echo, most_ms=self.seconds * 1000),
            wall_start=WALL_START if self.date is None else parse_start(self.date),
        )


def carry_out(request: Request) -> int:
    """Do it all; return the exit code: 0 it went well, 1 the call failed, 2 unusable input."""
    console = Console()
    set_up("warning")
    try:
        if request.out is not None:
            ready_folder(request.out, "--out")
        lines = _lines(request, console)
        kept: list[KeptPrompt] = []
        result, took_s = _run(request, lines, kept)
        timeline = build_timeline(result.events, result.recording)
        figures = measure(timeline)
        _print(console, request, result, timeline, figures)
        if request.out is not None:
            _write(request.out, request, result, timeline, figures)
            names = "report.html, call.wav, events.jsonl"
            if request.prompts:
                _write_text(request.out / "prompts.md", prompt_text(kept))
                names += ", prompts.md"
            console.print(f"[grey50]written to[/] {request.out}: {names}")
        elif request.prompts:
            console.print(Text(prompt_text(kept)))
    except ProjectError as error:
        return _refuse(f"the project can't be used:\n{error}")
    except AgentError as error:
        return _refuse(str(error))
    speed = result.duration_ms / 1000 / max(took_s, 1e-9)
    console.print(f"[grey50]replayed in {took_s:.1f} s, {speed:.0f} × real time[/]")
    for line in result.recording.unstarted:
        console.print(Text(f"never came: {line.name or 'hang-up'} at {line.at}", "yellow"))
    if result.failures:
        console.print(Text(f"the call failed: {', '.join(result.failures)}", "red"))
        return _FAILED
    return 0


def _refuse(message: str) -> int:
    console = Console(stderr=True, soft_wrap=True)
    console.print(Text.assemble(("bargein replay: ", "red"), message))
    return _UNUSABLE


def _lines(request: Request, console: Console) -> tuple[CallerLine, ...]:
    rate_hz = PHONE.rate_hz if request.channel == "twilio" else WIDE.rate_hz
    hang_up = request.hang_up
    return (
        *_speech(request, rate_hz, console),
        *_acts(request.press, "press"),
        *_acts(request.typed, "type"),
        *((CallerLine(HangUp(), parse_at(hang_up)),) if hang_up is not None else ()),
    )


def _speech(request: Request, rate_hz: int, console: Console) -> tuple[CallerLine, ...]:
    """Pair each sound with its start."""
    sounds, starts = request.sounds, request.starts
    if len(starts) > len(sounds):
        raise _Unusable(
            f"{len(starts)} start times for {len(sounds)} sounds: add --then FILE for each --at"
        )
    if len(starts) == len(sounds) - 1:
        starts = ("0s", *starts)
    defaults = ["0s", *["agent_ends+500ms"] * (len(sounds) - 1)]
    written = [*starts, *defaults[len(starts) :]]
    lines: list[CallerLine] = []
    for path, start in zip(sounds, written, strict=True):
        names = tuple(line.name for line in lines)
        sound = read_sound(path, rate_hz, request.caller_channel)
        for warning in sound.warnings:
            console.print(Text(f"{path.name}: {warning}", "yellow"))
        speech = Speech(np.ascontiguousarray(sound.samples), rate_hz)
        lines.append(CallerLine(speech, parse_at(start, names), path.stem))
    return tuple(lines)


def _acts(written: tuple[str, ...], option: Literal["press", "type"]) -> tuple[CallerLine, ...]:
    """Read ``WHAT@WHEN``."""
    lines: list[CallerLine] = []
    for entry in written:
        what, sign, when = entry.rpartition("@")
        if not sign or not what:
            raise _Unusable(f"--{option} '{entry}' has no time: write --{option} '{entry}@4.5s'")
        if option == "press" and not _KEYS.issuperset(what.upper()):
            raise _Unusable(f"--press '{entry}': keys are 0-9, *, # and A-D")
        doing = Keys(what.upper()) if option == "press" else Typed(what)
        lines.append(CallerLine(doing, parse_at(when), what))
    return tuple(lines)


def _run(
    request: Request, lines: tuple[CallerLine, ...], kept: list[KeptPrompt]
) -> tuple[ReplayResult, float]:
    """Load the project and replay the call, behind a progress bar; also say how long it took."""
    if request.stt == "scripted" and not request.words:
        raise _Unusable("--stt scripted needs the caller's words: add --words TEXT")
    options = request.options
    project = read_project(request.project)
    choice = EngineChoice(stt=request.stt, tts=request.tts, words=request.words)
    agent = AgentOptions(keep_prompts=lambda t, r, asked: kept.append(KeptPrompt(t, r, asked)))
    guess = max((_length_ms(line) for line in lines), default=0.0) + options.conditions.linger_ms
    columns = (
        TextColumn("replaying"),
        BarColumn(),
        TextColumn("{task.completed:.0f} s of call"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("replay", total=guess / 1000)

        def progress(now_ms: float) -> None:
            total = max(guess, now_ms + options.conditions.linger_ms) / 1000
            bar.update(task, completed=now_ms / 1000, total=total)

        begun = time.perf_counter()
        result = replay_project(
            project, lines, engines=choice, options=options, progress=progress, agent=agent
        )
        took_s = time.perf_counter() - begun
    return result, took_s


def _length_ms(line: CallerLine) -> float:
    start = line.at.offset_ms
    return start + (line.what.duration_ms if isinstance(line.what, Speech) else 0.0)


def _print(
    console: Console,
    request: Request,
    result: ReplayResult,
    timeline: Timeline,
    figures: Measures,
) -> None:
    if not request.quiet:
        width = min(console.width, _WIDEST)
        console.print(timeline_text.picture(timeline, result.recording, width))
        console.print()
        console.print(timeline_text.decisions(timeline))
        console.print()
    console.print(timeline_text.summary(figures, timeline))


def _write(
    out: Path, request: Request, result: ReplayResult, timeline: Timeline, figures: Measures
) -> None:
    recording = result.recording
    sounds = ", ".join(sound.name for sound in request.sounds)
    title = f"{request.project.resolve().name} ← {sounds}"
    page = render_report(title, timeline, figures, recording, facts=_facts(request))
    both = np.stack([recording.microphone, recording.heard], axis=1)
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_wav(out / "call.wav", both, recording.rate_hz)
        write_events(out / "events.jsonl", result.events)
        # half of a surrogate pair in somebody's words can't be UTF-8
        (out / "report.html").write_bytes(page.encode("utf-8", "replace"))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise _Unusable(
            f"can't write to {out}: {reason}; choose another folder with --out"
        ) from None


def _write_text(path: Path, text: str) -> None:
    try:
        path.write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise _Unusable(f"can't write to {path}: {error.strerror}") from None


def _facts(request: Request) -> tuple[tuple[str, str], ...]:
    named = {"project": "the project's own"}
    facts = [
        ("channel", request.channel),
        ("STT", named.get(request.stt, request.stt)),
        ("TTS", named.get(request.tts, request.tts)),
    ]
    if request.delay_ms or request.jitter_ms:
        jitter = f" + 0–{request.jitter_ms:g}" if request.jitter_ms else ""
        facts.append(("network", f"{request.delay_ms:g}{jitter} ms each way"))
    if request.echo_db is not None:
        facts.append(("echo", f"{request.echo_db:g} dB down, {request.echo_delay_ms:g} ms late"))
    return tuple(facts)
