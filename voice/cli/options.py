"""Options that several sub-commands share.

Owns their types and help, so that one option reads the same wherever it stands. What only one
command takes is beside that command.
"""

from pathlib import Path
from typing import Annotated

import typer

ThenSounds = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="Another sound of the caller; may be repeated."),
]
MostSeconds = Annotated[
    float, typer.Option(min=1, max=7200, help="The caller hangs up here at the latest.")
]
CallerChannel = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=63,
        show_default=False,
        help="The recording's channel with the caller, from 0.",
    ),
]
