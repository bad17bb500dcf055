"""Commands that take the global options before and after their name."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

import click

from drumbeat.cli.exits import Exit, Problem
from drumbeat.cli.output import Form
from drumbeat.cli.session import Session

STORE, NAMESPACE, OUTPUT, APP, DEBUG = "store", "namespace", "output", "app", "debug"
SERVER, TOKEN_FILE = "server", "token_file"
GLOBAL = (STORE, NAMESPACE, APP, SERVER, TOKEN_FILE, OUTPUT, DEBUG)
HERE = frozenset({"demo", "dev", "run", "scheduler", "worker", "api", "db", "bench"})
"""The commands that work on this machine and on a store, and not on a server."""


def global_options(*, hidden: bool) -> list[click.Option]:
    """The options that every command takes."""
    return [
        click.Option(
            ["--store", STORE], metavar="URL", help="Where the truth is kept.", hidden=hidden
        ),
        click.Option(
            ["--namespace", NAMESPACE],
            metavar="NAME",
            help="Which of the apps that share the store.",
            hidden=hidden,
        ),
        click.Option(
            ["--app", APP],
            metavar="MODULE:NAME",
            help="The app whose settings and tasks to use.",
            hidden=hidden,
        ),
        click.Option(
            ["--server", SERVER],
            metavar="URL",
            help="Ask this server in place of a store; the token is in DRUMBEAT_TOKEN.",
            hidden=hidden,
        ),
        click.Option(
            ["--token-file", TOKEN_FILE],
            metavar="FILE",
            help="The file that has the token for the server; - is standard input.",
            hidden=hidden,
        ),
        click.Option(
            ["-o", "--output", OUTPUT],
            type=click.Choice([form.value for form in Form]),
            help="Tables for people, or JSON for programs.",
        ),
        click.Option(
            ["--debug", DEBUG],
            is_flag=True,
            default=None,
            help="Show the traceback of an error.",
            hidden=hidden,
        ),
    ]


class _Global(click.Command):
    """Takes the global options; those given last count."""

    root = False

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its own, then the global ones, then the help."""
        own = super().get_params(ctx)
        taken = {parameter.name for parameter in own}
        added = global_options(hidden=not self.root)
        return [*own[:-1], *(each for each in added if each.name not in taken), *own[-1:]]

    def invoke(self, ctx: click.Context) -> Any:
        """Note the global options, then run."""
        session = ctx.ensure_object(Session)
        taken = {parameter.name for parameter in self.params}
        for name in GLOBAL:
            if name not in taken:
                _take(session, name, ctx.params.pop(name, None))
        if session.server is not None:
            _refuse_what_works_here(ctx)
        return super().invoke(ctx)


def _take(session: Session, name: str, value: Any) -> None:
    if value is None:
        return
    match name:
        case "app":
            session.app_path = value
        case "server":
            session.server = value
        case "token_file":
            session.token_file = value
        case "output":
            session.output.form = Form(value)
        case "debug":
            session.debug = value
        case _:
            session.settings[name] = value


def _refuse_what_works_here(ctx: click.Context) -> None:
    """Say which commands cannot be asked of a server."""
    named = ctx
    while named.parent is not None and named.parent.parent is not None:
        named = named.parent
    if named.parent is not None and named.info_name in HERE:
        raise Problem(
            f"`drumbeat {named.info_name}` works on this machine and not on a server: "
            f"leave --server out",
            Exit.USAGE,
        )


class Command(_Global):
    """A command."""


class Group(_Global, click.Group):
    """A noun whose commands are its verbs. An unknown one is answered with those that are near."""

    command_class = Command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant, or the sentence about it."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            raise click.UsageError(unknown(name, self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)


Group.group_class = Group


def unknown(name: str, known: Sequence[str]) -> str:
    """The sentence about a command that does not exist."""
    near = difflib.get_close_matches(name, known, 1)
    guess = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    return f"no command is named {name!r}; {guess}"
