"""`drumbeat completion`: what makes a shell complete these commands."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from drumbeat.cli.command import Command

VARIABLE = "_DRUMBEAT_COMPLETE"


@click.command("completion", cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="SHELL")
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the lines that make SHELL complete the commands of drumbeat.

    SHELL is bash, zsh or fish.

    \b
    Example:
      drumbeat completion bash >> ~/.bashrc
      drumbeat completion zsh >> ~/.zshrc
      drumbeat completion fish > ~/.config/fish/completions/drumbeat.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None, "click knows these shells"
    completion = kind(ctx.find_root().command, {}, "drumbeat", VARIABLE)
    click.echo(completion.source_template % completion.source_vars())
