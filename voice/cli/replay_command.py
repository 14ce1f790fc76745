"""``bargein replay``: a recorded caller against a project, faster than real time.

Owns the command's options and its help, so that ``--help`` answers at once; what it does is
``replaying``.
"""

from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from voice.cli.options import CallerChannel, MostSeconds, ThenSounds
from voice.replay.at import ANCHORS

_ANCHOR_LIST: Final = ", ".join(f"[b]{name}[/b]" for name in ANCHORS)
_HELP: Final = f"""Replay a recorded caller against an agent project, in virtual time.

The caller's sound goes into the code that serves live calls: the agent hears it, takes turns, is
interrupted and answers, many times faster than real time, and the same way every time. Printed are
the timeline and the figures; with [b]--out[/b] you also get [b]report.html[/b] (the call as a
picture), [b]call.wav[/b] (left the caller, right what was heard) and [b]events.jsonl[/b].

[b]When a sound starts:[/b] a time from the connect ([b]4.5s[/b]), or an anchor and what comes on
top ([b]agent_starts+1200ms[/b]). Without a number an anchor is the first one after the sound
before; [b]#2:agent_ends+300ms[/b] is the second of the call. Anchors: {_ANCHOR_LIST}.

[b]A caller who talks over the answer, 1.2 s after it began[/b] (agent_starts is the next sound
after silence, say_starts the next message):

    bargein replay my-agent question.wav --then no-wait.wav --at say_starts+1200ms --out out

[b]The same on a slow line, with a loudspeaker:[/b]

    bargein replay my-agent question.wav --delay-ms 100 --echo-db 22 --out out

[b]Exit codes:[/b] 0 it went well, 1 the call failed, 2 the input can't be used.
"""


_Project = Annotated[Path, typer.Argument(help="Folder of the agent project.")]
_Caller = Annotated[Path, typer.Argument(help="The caller's sound: WAV, FLAC, any rate.")]
_At = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TIME",
        help="When a sound starts. Once for each sound, in order; with one fewer, the first "
        "starts at 0s. Default: 0s, then agent_ends+500ms.",
    ),
]
_Press = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEYS@TIME", help='Keys and when, as "4711#@agent_ends+1s"; may be repeated.'
    ),
]
_Type = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="TEXT@TIME",
        help='Typed text and when, "yes@agent_ends+1s" (web only).',
    ),
]
_HangUp = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="When the caller hangs up; default: when all is quiet."),
]
_Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Write report.html, call.wav and events.jsonl here."),
]
_Channel = Annotated[
    Literal["twilio", "web"],
    typer.Option(help="A phone line (mu-law, 8 kHz), or a browser (16 kHz)."),
]
_Stt = Annotated[
    Literal["project", "local", "scripted"],
    typer.Option(help="What hears the words: the project's own, the embedded one, --words."),
]
_Words = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT",
        help="For --stt scripted: the words of each stretch of speech, in order.",
    ),
]
_Tts = Annotated[
    Literal["project", "local", "scripted"],
    typer.Option(help="What speaks: the project's own, the embedded voice, or quick tones."),
]
_EchoDb = Annotated[
    float | None,
    typer.Option(min=0, max=90, help="The agent comes back into the microphone, so much down."),
]
_EchoDelayMs = Annotated[float, typer.Option(min=0, max=1000, help="How late the echo comes.")]
_DelayMs = Annotated[float, typer.Option(min=0, max=5000, help="Network delay, each way.")]
_JitterMs = Annotated[
    float, typer.Option(min=0, max=5000, help="More delay, from 0 to this, each way.")
]
_Seed = Annotated[int, typer.Option(min=0, help="Other jitter, same everything else.")]
_Date = Annotated[
    str | None,
    typer.Option(
        metavar="DATE",
        show_default=False,
        help="When the call happens, for the agent: 2026-03-02 (10:00 UTC) or 2026-03-02T09:30. "
        "Default: 2026-01-05, the same each time.",
    ),
]
_Prompts = Annotated[
    bool,
    typer.Option(
        "--prompts",
        help="Show what the model was asked and offered, each round; with --out in prompts.md.",
    ),
]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the figures only.")]


def replay(
    project: _Project,
    caller: _Caller,
    at: _At = None,
    then: ThenSounds = None,
    press: _Press = None,
    type_: _Type = None,
    hang_up: _HangUp = None,
    out: _Out = None,
    seconds: MostSeconds = 120.0,
    channel: _Channel = "twilio",
    caller_channel: CallerChannel = None,
    stt: _Stt = "project",
    words: _Words = None,
    tts: _Tts = "project",
    echo_db: _EchoDb = None,
    echo_delay_ms: _EchoDelayMs = 60.0,
    delay_ms: _DelayMs = 0.0,
    jitter_ms: _JitterMs = 0.0,
    seed: _Seed = 0,
    date: _Date = None,
    prompts: _Prompts = False,
    quiet: _Quiet = False,
) -> None:
    """Replay a recorded caller against an agent project, in virtual time."""
    from voice.cli.replaying import Request, carry_out  # slow to import

    request = Request(
        project=project,
        sounds=(caller, *(then or ())),
        starts=tuple(at or ()),
        press=tuple(press or ()),
        typed=tuple(type_ or ()),
        hang_up=hang_up,
        out=out,
        seconds=seconds,
        channel=channel,
        caller_channel=caller_channel,
        stt=stt,
        words=tuple(words or ()),
        tts=tts,
        echo_db=echo_db,
        echo_delay_ms=echo_delay_ms,
        delay_ms=delay_ms,
        jitter_ms=jitter_ms,
        seed=seed,
        date=date,
        prompts=prompts,
        quiet=quiet,
    )
    code = carry_out(request)
    if code:
        raise typer.Exit(code)


replay.__doc__ = "\n\n".join(
    # the help keeps line breaks, and breaks lines by itself
    block if block.startswith("    ") else block.replace("\n", " ")
    for block in _HELP.split("\n\n")
)
