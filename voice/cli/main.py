"""The command ``bargein``: its sub-commands and what they share.

Owns the tree of sub-commands and its help. Each sub-command is a module of its own; only the one
that was asked for is imported, all of them for ``--help``. What is slow to import (models, server)
they import when they run. A plain ``validate`` goes straight to its work: reading its two words
with typer would take a fifth of the time in which an editor waits for the answer.
"""

import gc
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import typer

__all__ = ["COMMANDS", "app_of", "main", "validation_of", "wanted"]

COMMANDS: Final = {
    "init": "init_command",
    "validate": "validate_command",
    "train": "train_command",
    "talk": "serve_command",
    "serve": "serve_command",
    "test": "test_command",
    "replay": "replay_command",
    "call": "call_command",
}
"""The function of each command and its module, in the order of the help."""

_ABORTED: Final = 130
_HELP: Final = """A voice-agent runtime with barge-in.

Talk to an agent project in the browser ([b]talk[/b]), serve it to phones and apps ([b]serve[/b]),
run its scenarios ([b]test[/b]), replay recorded callers against it faster than real time
([b]replay[/b]), or place a call to any such server ([b]call[/b])."""


def app_of(names: Iterable[str]) -> "typer.Typer":
    """Make the command with these sub-commands."""
    import typer

    app = typer.Typer(
        name="bargein",
        help="\n\n".join(block.replace("\n", " ") for block in _HELP.split("\n\n")),
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_show_locals=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_nothing)  # else one sub-command alone would stand without its name
    for name in names:
        app.command()(getattr(import_module(f"voice.cli.{COMMANDS[name]}"), name))
    return app


def _nothing() -> None:
    pass


def wanted(words: Sequence[str]) -> Iterable[str]:
    """The sub-commands that a command line needs to know of: its own, or all to tell of them."""
    return words[:1] if words and words[0] in COMMANDS else COMMANDS


def validation_of(words: Sequence[str]) -> tuple[Path, bool] | None:
    """The project and ``--json`` of a plain ``validate``; None for any other command line."""
    rest = [word for word in words[1:] if word != "--json"]
    is_plain = words[:1] == ["validate"] and len(rest) == 1 and not rest[0].startswith("-")
    return (Path(rest[0]), "--json" in words) if is_plain and rest[0] else None


def main() -> None:
    """Run the command."""
    words = sys.argv[1:]
    plain = validation_of(words)
    if plain is not None:
        from voice.cli.validating import carry_out

        gc.disable()  # the process ends in half a second, a tenth of which would be spent on it
        project, as_json = plain
        try:
            code = carry_out(project, as_json=as_json)
        except KeyboardInterrupt:
            sys.stderr.write("Aborted.\n")
            code = _ABORTED
        except BrokenPipeError:  # whoever reads it has seen enough
            code = 1
        raise SystemExit(code)
    app_of(wanted(words))()


if __name__ == "__main__":
    main()
