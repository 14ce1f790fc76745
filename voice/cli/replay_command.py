"""``bargein replay``: a recorded caller against a project, faster than real time.

Owns reading what was asked for, the progress bar, what is printed and written, and the exit code.
How a call is composed is ``virtual_call``; what happens in it is ``voice.replay``.
"""

import os
import time
from pathlib import Path
from typing import Annotated, Final, Literal, NoReturn

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from runtime.errors import AgentError, ProjectError
from runtime.project.loader import load
from voice.audio.files import read_sound, write_wav
from voice.audio.format import PHONE, WIDE
from voice.cli.virtual_call import EngineChoice, replay_project
from voice.replay.at import ANCHORS, parse_at
from voice.replay.events_file import write_events
from voice.replay.far_end import Conditions, Echo
from voice.replay.link import Network
from voice.replay.measures import Measures, measure
from voice.replay.runner import ReplayOptions, ReplayResult
from voice.replay.script import CallerLine, HangUp, Keys, Speech, Typed
from voice.replay.timeline import Timeline, build_timeline

_FAILED: Final = 1
_UNUSABLE: Final = 2

_ANCHOR_LIST: Final = ", ".join(f"[b]{name}[/b]" for name in ANCHORS)
_HELP: Final = f"""Replay a recorded caller against an agent project, in virtual time.

The caller's sound goes into the code that serves live calls: the agent hears it, takes turns, is
interrupted and answers, many times faster than real time, and the same way every time. Printed are
the timeline and the figures; with [b]--out[/b] you also get [b]report.html[/b] (the call as a
picture), [b]call.wav[/b] (left the caller, right what was heard) and [b]events.jsonl[/b].

[b]When a sound starts:[/b] a time from the connect ([b]4.5s[/b]), or an anchor and what comes on
top ([b]agent_starts+1200ms[/b]). Without a number an anchor is the first one after the sound
before; [b]#2:agent_ends+300ms[/b] is the second of the call. Anchors: {_ANCHOR_LIST}.

[b]A caller who talks over the answer, 1.2 s after it began:[/b]

    bargein replay my-agent question.wav --then no-wait.wav --at agent_starts+1200ms --out out

[b]The same on a slow line, with a loudspeaker:[/b]

    bargein replay my-agent question.wav --delay-ms 100 --echo-db 22 --out out

[b]Exit codes:[/b] 0 it went well, 1 the call failed, 2 the input can't be used.
"""


class _Unusable(AgentError):
    """Input that can't be used: what is wrong and what to do instead."""


def replay(
    project: Annotated[Path, typer.Argument(help="Folder of the agent project.")],
    caller: Annotated[Path, typer.Argument(help="The caller's sound: WAV, FLAC, any rate.")],
    at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TIME",
            help="When a sound starts. Once for each sound, in order; with one fewer, the first "
            "starts at 0s. Default: 0s, then agent_ends+500ms.",
        ),
    ] = None,
    then: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Another sound of the caller; may be repeated."),
    ] = None,
    press: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEYS@TIME", help='Keys and when, as "4711#@agent_ends+1s"; may be repeated.'
        ),
    ] = None,
    type_: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            metavar="TEXT@TIME",
            help='Typed text and when, "yes@agent_ends+1s" (web only).',
        ),
    ] = None,
    hang_up: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="When the caller hangs up; default: when all is quiet."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write report.html, call.wav and events.jsonl here."),
    ] = None,
    seconds: Annotated[
        float, typer.Option(min=1, max=7200, help="The caller hangs up here at the latest.")
    ] = 120.0,
    channel: Annotated[
        Literal["twilio", "web"],
        typer.Option(help="A phone line (mu-law, 8 kHz), or a browser (16 kHz)."),
    ] = "twilio",
    stt: Annotated[
        Literal["project", "local", "scripted"],
        typer.Option(help="What hears the words: the project's own, the embedded one, --words."),
    ] = "project",
    words: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="For --stt scripted: the words of each stretch of speech, in order.",
        ),
    ] = None,
    tts: Annotated[
        Literal["project", "local", "scripted"],
        typer.Option(help="What speaks: the project's own, the embedded voice, or quick tones."),
    ] = "project",
    echo_db: Annotated[
        float | None,
        typer.Option(min=0, max=90, help="The agent comes back into the microphone, so much down."),
    ] = None,
    echo_delay_ms: Annotated[
        float, typer.Option(min=0, max=1000, help="How late the echo comes.")
    ] = 60.0,
    delay_ms: Annotated[
        float, typer.Option(min=0, max=5000, help="Network delay, each way.")
    ] = 0.0,
    jitter_ms: Annotated[
        float, typer.Option(min=0, max=5000, help="More delay, from 0 to this, each way.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(min=0, help="Other jitter, same everything else.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the figures only.")] = False,
) -> None:
    """Replay a recorded caller against an agent project, in virtual time."""
    console = Console()
    sounds = [caller, *(then or [])]
    try:
        rate_hz = PHONE.rate_hz if channel == "twilio" else WIDE.rate_hz
        lines = (
            *_speech(sounds, at or [], rate_hz, console),
            *(_acts(press or [], "press")),
            *(_acts(type_ or [], "type")),
            *((CallerLine(HangUp(), parse_at(hang_up)),) if hang_up else ()),
        )
        options = ReplayOptions(
            channel=channel,
            conditions=Conditions(
                network=Network(delay_ms=delay_ms, jitter_ms=jitter_ms, seed=seed),
                echo=None if echo_db is None else Echo(echo_db, echo_delay_ms),
                most_ms=seconds * 1000,
            ),
        )
        choice = EngineChoice(stt=stt, tts=tts, words=tuple(words or ()))
        result, took_s = _run(project, lines, options, choice)
    except ProjectError as error:
        _refuse(f"the project can't be used:\n{error}")
    except AgentError as error:
        _refuse(str(error))
    timeline = build_timeline(result.events, result.recording)
    figures = measure(timeline)
    _print(console, result, timeline, figures, quiet=quiet)
    if out is not None:
        facts = _facts(options, stt, tts)
        title = f"{project.resolve().name} ← {', '.join(sound.name for sound in sounds)}"
        _write(out, title, facts, result, timeline, figures)
        console.print(f"[grey50]written to[/] {out}/report.html, call.wav, events.jsonl")
    speed = result.duration_ms / 1000 / max(took_s, 1e-9)
    console.print(f"[grey50]replayed in {took_s:.1f} s, {speed:.0f} × real time[/]")
    for line in result.recording.unstarted:
        console.print(f"[yellow]never came: {line.name or 'a line'} at {line.at}[/]")
    if result.failures:
        console.print(f"[red]the call failed: {', '.join(result.failures)}[/]")
        raise typer.Exit(_FAILED)


replay.__doc__ = "\n\n".join(
    # the help keeps line breaks, and breaks lines by itself
    block if block.startswith("    ") else block.replace("\n", " ")
    for block in _HELP.split("\n\n")
)


def _refuse(message: str) -> NoReturn:
    console = Console(stderr=True, soft_wrap=True)
    console.print(Text.assemble(("bargein replay: ", "red"), message))
    raise typer.Exit(_UNUSABLE)


def _speech(
    sounds: list[Path], starts: list[str], rate_hz: int, console: Console
) -> tuple[CallerLine, ...]:
    """Pair each sound with its start."""
    if len(starts) > len(sounds):
        raise _Unusable(
            f"{len(starts)} start times for {len(sounds)} sounds: add --then FILE for each --at"
        )
    if len(starts) == len(sounds) - 1:
        starts = ["0s", *starts]
    defaults = ["0s", *["agent_ends+500ms"] * (len(sounds) - 1)]
    written = [*starts, *defaults[len(starts) :]]
    lines: list[CallerLine] = []
    for path, start in zip(sounds, written, strict=True):
        names = tuple(line.name for line in lines)
        sound = read_sound(path, rate_hz)
        for warning in sound.warnings:
            console.print(f"[yellow]{path.name}: {warning}[/]")
        speech = Speech(np.ascontiguousarray(sound.samples), rate_hz)
        lines.append(CallerLine(speech, parse_at(start, names), path.stem))
    return tuple(lines)


def _acts(written: list[str], option: Literal["press", "type"]) -> tuple[CallerLine, ...]:
    """Read ``WHAT@WHEN``."""
    lines: list[CallerLine] = []
    for entry in written:
        what, sign, when = entry.rpartition("@")
        if not sign or not what:
            raise _Unusable(f"--{option} '{entry}' has no time: write --{option} '{entry}@4.5s'")
        if option == "press" and not set(what.upper()) <= set("0123456789*#ABCD"):
            raise _Unusable(f"--press '{entry}': keys are 0-9, *, # and A-D")
        doing = Keys(what.upper()) if option == "press" else Typed(what)
        lines.append(CallerLine(doing, parse_at(when), what))
    return tuple(lines)


def _run(
    path: Path,
    lines: tuple[CallerLine, ...],
    options: ReplayOptions,
    choice: EngineChoice,
) -> tuple[ReplayResult, float]:
    """Load the project and replay the call, behind a progress bar."""
    if choice.stt == "scripted" and not choice.words:
        raise _Unusable("--stt scripted needs the caller's words: add --words TEXT")
    project = load(path, os.environ)
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
        result = replay_project(project, lines, engines=choice, options=options, progress=progress)
        took_s = time.perf_counter() - begun
    return result, took_s


def _length_ms(line: CallerLine) -> float:
    start = line.at.offset_ms
    return start + (line.what.duration_ms if isinstance(line.what, Speech) else 0.0)


def _print(
    console: Console, result: ReplayResult, timeline: Timeline, figures: Measures, *, quiet: bool
) -> None:
    from voice.replay import timeline_text

    if not quiet:
        width = min(console.width, 160)
        console.print(timeline_text.picture(timeline, result.recording, width))
        console.print()
        console.print(timeline_text.decisions(timeline))
        console.print()
    console.print(timeline_text.summary(figures, timeline))


def _write(
    out: Path,
    title: str,
    facts: tuple[tuple[str, str], ...],
    result: ReplayResult,
    timeline: Timeline,
    figures: Measures,
) -> None:
    from voice.replay.report import render_report

    try:
        out.mkdir(parents=True, exist_ok=True)
        recording = result.recording
        both = np.stack([recording.microphone, recording.heard], axis=1)
        write_wav(out / "call.wav", both, recording.rate_hz)
        write_events(out / "events.jsonl", result.events)
        page = render_report(title, timeline, figures, recording, facts=facts)
        (out / "report.html").write_text(page, encoding="utf-8", newline="\n")
    except OSError as error:
        _refuse(f"can't write to {out}: {error.strerror}; choose another folder with --out")


def _facts(options: ReplayOptions, stt: str, tts: str) -> tuple[tuple[str, str], ...]:
    network, echo = options.conditions.network, options.conditions.echo
    facts = [("channel", options.channel), ("STT", stt), ("TTS", tts)]
    if network.delay_ms or network.jitter_ms:
        jitter = f" + 0–{network.jitter_ms:g}" if network.jitter_ms else ""
        facts.append(("network", f"{network.delay_ms:g}{jitter} ms each way"))
    if echo is not None:
        facts.append(("echo", f"{echo.down_db:g} dB down, {echo.delay_ms:g} ms late"))
    return tuple(facts)
