"""The command ``bargein``: its sub-commands and what they share.

Owns the tree of sub-commands and its help. Each sub-command is a module of its own, imported here;
what is slow to import (models, server) they import when they run, so ``--help`` answers at once.
"""

import typer

from voice.cli.call_command import call
from voice.cli.init_command import init
from voice.cli.replay_command import replay
from voice.cli.serve_command import serve, talk
from voice.cli.test_command import test
from voice.cli.train_command import train
from voice.cli.validate_command import validate

app = typer.Typer(
    name="bargein",
    help=(
        "A voice-agent runtime with barge-in.\n\n"
        "Talk to an agent project in the browser ([b]talk[/b]), serve it to phones and apps "
        "([b]serve[/b]), run its scenarios ([b]test[/b]), replay recorded callers against it "
        "faster than real time ([b]replay[/b]), or place a call to any such server ([b]call[/b])."
    ),
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(init)
app.command()(validate)
app.command()(train)
app.command()(talk)
app.command()(serve)
app.command()(test)
app.command()(replay)
app.command()(call)


def main() -> None:
    """Run the command."""
    app()


if __name__ == "__main__":
    main()
