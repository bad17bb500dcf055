"""`drumbeat completion`: what makes a shell complete these commands."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from drumbeat.cli.command import make_command
from drumbeat.cli.session.session import Session

VARIABLE = "_DRUMBEAT_COMPLETE"


SHELL = click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="SHELL")


@make_command("completion", SHELL)
def command(_: Session, shell: str) -> None:
    """Print the lines that make SHELL complete the commands of drumbeat.

    SHELL is bash, zsh or fish.

    Example:
      drumbeat completion bash >> ~/.bashrc
      drumbeat completion zsh >> ~/.zshrc
      drumbeat completion fish > ~/.config/fish/completions/drumbeat.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None, "click knows these shells"
    completion = kind(click.get_current_context().find_root().command, {}, "drumbeat", VARIABLE)
    click.echo(completion.source_template % completion.source_vars())
