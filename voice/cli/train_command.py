"""``bargein train``: checks a project and packs it into one file that ``serve`` runs.

Owns the command and its progress. What is in the file is ``runtime.project.pack``.
"""

from pathlib import Path
from typing import Annotated

import typer

from voice.cli.checking import EXIT_UNUSABLE, check_project, counted, exit_code, own_output, show

__all__ = ["train"]


def train(
    project: Annotated[
        Path, typer.Argument(help="The agent project's folder (it holds agent.yml).")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Default: <folder>.bargein in this folder."
        ),
    ] = None,
) -> None:
    """Check a project and its scenarios, index its reference files, pack project and index.

    `bargein serve FILE` runs it anywhere, with the index as it was made here. Nothing of the
    environment goes into the file: variables are filled in where it runs. Scenarios stay behind.

    Exit codes: 0 packed, 1 something is to be mended first, 2 no such project, or the file can't
    be written.
    """
    from rich.console import Console

    with own_output() as stream:
        err = Console(stderr=True, highlight=False, soft_wrap=True)
        with err.status("checking the project and indexing its references"):
            checked = check_project(project)
        loaded, problems = checked.project, checked.problems
        show(err, problems, checked.warnings)
        if problems or loaded is None:
            err.print(f"not packed: {counted(len(problems), 'problem')}", style="bold red")
            raise typer.Exit(exit_code(problems))
        file = out or Path(f"{project.resolve().name}.bargein")
        from runtime.errors import ProjectError
        from runtime.project.pack import pack

        index = loaded.index.to_bytes() if loaded.index is not None else None
        try:
            with err.status(f"packing {file}"):
                pack(loaded.root, file, index)
        except ProjectError as error:
            show(err, error.problems, ())
            raise typer.Exit(exit_code(error.problems)) from None
        except OSError as error:
            err.print(
                f"bargein train: can't write {file}: {error.strerror}", style="red", markup=False
            )
            raise typer.Exit(EXIT_UNUSABLE) from None
        console = Console(file=stream, highlight=False, soft_wrap=True)
        size_kb = file.stat().st_size / 1000
        console.print(f"packed into {file} ({size_kb:.0f} kB)", markup=False)
        console.print(f"Next:  bargein serve {file}", markup=False)
