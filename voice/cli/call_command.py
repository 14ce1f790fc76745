"""``bargein call``: place a call to a server, with a recorded caller, in real time.

Owns the command's options, its progress, what it prints and the files it writes. The call itself is
``placed_call``; the same caller in virtual time, without a server, is ``bargein replay``.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from runtime.errors import AgentError
from voice.cli.options import CallerChannel, MostSeconds, ThenSounds
from voice.cli.writing import ready_folder

if TYPE_CHECKING:
    from voice.cli.placed_call import CallOptions, CallRecord, Dialect
    from voice.replay.script import CallerLine

_FAILED: Final = 1
_UNUSABLE: Final = 2
_WIDEST: Final = 160


class _Unusable(AgentError):
    """Options that can't be used together: says which."""


_Url = Annotated[
    str,
    typer.Argument(
        help="Where the server listens: ws://127.0.0.1:8080/v1/call, or "
        "wss://…/twilio/stream and any other server of Twilio Media Streams.",
        show_default=False,
    ),
]
_Caller = Annotated[
    Path, typer.Argument(help="The caller's sound: WAV, FLAC, any rate.", show_default=False)
]
_At = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TIME",
        help="When each --then sound starts, as in replay: 4.5s, agent_starts+1200ms, "
        "agent_ends+300ms. Default: agent_ends+500ms.",
    ),
]
_Twilio = Annotated[bool, typer.Option("--twilio", help="Speak Twilio Media Streams.")]
_V1 = Annotated[bool, typer.Option("--v1", help="Speak bargein.v1.")]
_DelayMs = Annotated[float, typer.Option(min=0, max=5000, help="Network delay to add, each way.")]
_LingerSeconds = Annotated[
    float,
    typer.Option(
        min=0.5, max=600, help="The caller hangs up when all was quiet for so long at the end."
    ),
]
_Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Write heard.wav and events.jsonl here."),
]
_Token = Annotated[
    str | None,
    typer.Option(
        envvar="BARGEIN_AUTH_TOKEN", show_default=False, help="The server's token, if any."
    ),
]


def call(
    url: _Url,
    caller: _Caller,
    then: ThenSounds = None,
    at: _At = None,
    twilio: _Twilio = False,
    v1: _V1 = False,
    delay_ms: _DelayMs = 0.0,
    seconds: MostSeconds = 120.0,
    linger_seconds: _LingerSeconds = 6.0,
    caller_channel: CallerChannel = None,
    out: _Out = None,
    token: _Token = None,
) -> None:
    """Place a call to a server, with a recorded caller, in real time.

    The caller's sound is sent as a phone or a browser would send it; a simulated player plays what
    comes back, answers marks and obeys clears. Which of the two protocols is spoken is seen from
    the path (/v1/call is ours) unless you say it.

    With --out you get heard.wav (left the caller, right the agent as it was heard) and
    events.jsonl. Exit codes: 0 the agent was heard, 1 it never was, 2 no call came about.
    """
    from voice.cli.placed_call import CallOptions
    from voice.replay.far_end import Conditions
    from voice.replay.link import Network

    console = Console()
    try:
        if out is not None:
            ready_folder(out, "--out")
        dialect = _dialect(twilio, v1)
        conditions = Conditions(
            network=Network(delay_ms=delay_ms),
            linger_ms=linger_seconds * 1000,
            most_ms=seconds * 1000,
        )
        options = CallOptions(
            url=url, lines=(), dialect=dialect, conditions=conditions, token=token or None
        )
        record = _place(
            options, _lines([caller, *(then or [])], at or [], options.spoken, caller_channel)
        )
        if out is not None:
            _write(out, record)
    except AgentError as error:
        message = Text.assemble(("bargein call: ", "red"), str(error))
        Console(stderr=True, soft_wrap=True).print(message)
        raise typer.Exit(_UNUSABLE) from None
    _print(console, record)
    if out is not None:
        console.print(f"[grey50]written to[/] {out}/heard.wav, events.jsonl", soft_wrap=True)
    if not record.sound_messages:
        console.print("[red]the agent was never heard[/]")
        raise typer.Exit(_FAILED)


def _dialect(twilio: bool, v1: bool) -> "Dialect | None":
    if twilio and v1:
        raise _Unusable("--twilio and --v1 exclude each other: give one, or none")
    if twilio:
        return "twilio"
    return "v1" if v1 else None


def _lines(
    sounds: Sequence[Path], starts: Sequence[str], dialect: "Dialect", channel: int | None
) -> "tuple[CallerLine, ...]":
    """Read the caller's sounds, the first from the connect on."""
    from voice.audio.files import read_sound
    from voice.cli.placed_call import line_format
    from voice.replay.at import parse_at
    from voice.replay.script import CallerLine, Speech

    if len(starts) > len(sounds) - 1:
        raise _Unusable(f"{len(starts)} start times for {len(sounds) - 1} --then sounds")
    written = ["0s", *starts, *["agent_ends+500ms"] * (len(sounds) - 1 - len(starts))]
    rate_hz = line_format(dialect).rate_hz
    lines: list[CallerLine] = []
    for path, start in zip(sounds, written, strict=True):
        names = tuple(line.name for line in lines)
        speech = Speech(read_sound(path, rate_hz, channel).samples, rate_hz)
        lines.append(CallerLine(speech, parse_at(start, names), path.stem))
    return tuple(lines)


def _place(options: "CallOptions", lines: "tuple[CallerLine, ...]") -> "CallRecord":
    """Place the call behind a bar that shows the time of the call."""
    from dataclasses import replace

    from voice.cli.placed_call import place_call

    columns = (TextColumn("calling"), BarColumn(), TextColumn("{task.completed:.0f} s of call"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("call", total=None)

        def progress(now_ms: float) -> None:
            bar.update(task, completed=now_ms / 1000)

        return asyncio.run(place_call(replace(options, lines=lines), progress))


def _print(console: Console, record: "CallRecord") -> None:
    from voice.replay import timeline_text
    from voice.replay.timeline import build_timeline

    timeline = build_timeline(record.events, record.recording)
    console.print(timeline_text.picture(timeline, record.recording, min(console.width, _WIDEST)))
    if timeline.decisions:
        console.print()
        console.print(timeline_text.decisions(timeline))
    console.print()
    starts = [event.t_ms for event in record.events if event.event == "first_sound"]
    heard = f"first sound after {starts[0]} ms" if starts else "no sound"
    ended = f"{record.close_code} {record.close_reason}".strip()
    console.print(
        f"{record.duration_ms / 1000:.1f} s of call · {heard} · {record.sound_messages} sound "
        f"messages · {record.clears} clears · hung up by the {record.recording.ended_by} · "
        f"closed with {ended}",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
    for line in record.recording.unstarted:
        console.print(f"[yellow]never came: {line.name or 'a line'} at {line.at}[/]")


def _write(out: Path, record: "CallRecord") -> None:
    import numpy as np

    from voice.audio.files import write_wav
    from voice.replay.events_file import write_events

    recording = record.recording
    both = np.stack([recording.microphone, recording.heard], axis=1)
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_wav(out / "heard.wav", both, recording.rate_hz)
        write_events(out / "events.jsonl", record.events)
    except OSError as error:
        raise _Unusable(
            f"can't write to {out}: {error.strerror}; choose another folder with --out"
        ) from None
