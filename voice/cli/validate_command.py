"""``bargein validate``: everything that is wrong in a project, at once.

Owns the command's options and its help; what it does is ``validating``.
"""

from pathlib import Path
from typing import Annotated

import typer

from voice.cli.validating import carry_out

__all__ = ["validate"]


def validate(
    project: Annotated[
        Path, typer.Argument(help="The agent project's folder (it holds agent.yml).")
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, for tools and editors.")
    ] = False,
) -> None:
    """Check an agent project: every problem with its place and what to write instead.

    Reads all files, scenarios included, and imports the tools, as a call would; nothing is called
    and nothing is connected to. What each code means stands in docs/problems.md and
    docs/scenarios.md.

    Exit codes: 0 clean, 1 something is to be mended, 2 no such project.
    """
    raise typer.Exit(carry_out(project, as_json=as_json))
