"""Commands and groups: each takes the global options before and after its name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import click

from drumbeat.cli.exit_codes import Exit, Problem
from drumbeat.cli.output.output import Form
from drumbeat.cli.session.session import Session

Callback: TypeAlias = Callable[..., Any]
Part: TypeAlias = Callable[[Callback], Callback]
"""An argument or an option of a command, or several: a decorator of its callback."""

STORE, NAMESPACE = "store", "namespace"
GLOBAL = (STORE, NAMESPACE, "app", "server", "token_file", "output", "debug")
LOCAL_ONLY = frozenset(
    {"demo", "dev", "run", "scheduler", "worker", "api", "db", "bench", "healthcheck"}
)
"""The commands that work on this machine, and not on a server."""
_EXAMPLE = re.compile(r"^( *)(?=Example:$)", re.MULTILINE)


def global_options(*, hidden: bool) -> list[click.Option]:
    """The options that every command takes; `-o` is the only one that every help shows."""
    texts = (
        ("--store", "URL", "The store of the fleet."),
        ("--namespace", "NAME", "The namespace of the app in the store."),
        ("--app", "MODULE:NAME", "The app whose settings and tasks to use."),
        ("--server", "URL", "Use this server instead of a store; the token is in DRUMBEAT_TOKEN."),
        ("--token-file", "FILE", "The file with the token for the server; - is standard input."),
    )
    return [
        *(
            click.Option([flag], metavar=shape, help=text, hidden=hidden)
            for flag, shape, text in texts
        ),
        click.Option(
            ["-o", "--output"],
            type=click.Choice([form.value for form in Form]),
            help="Tables for people, or JSON for programs.",
        ),
        click.Option(
            ["--debug"],
            is_flag=True,
            default=None,
            help="Show the traceback of an error.",
            hidden=hidden,
        ),
    ]


class _Global(click.Command):
    """Takes the global options; those given last count."""

    root = False
    operations: tuple[str, ...] = ()
    """The operations of `Fleet` that the command uses, such as `schedules.pause`."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        if self.help:  # click keeps the lines of a paragraph that begins with \b
            self.help = _EXAMPLE.sub("\\1\b\n\\1", self.help)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its own, then the global ones, then the help."""
        own = super().get_params(ctx)
        taken = {parameter.name for parameter in own}
        added = global_options(hidden=not self.root)
        return [*own[:-1], *(each for each in added if each.name not in taken), *own[-1:]]

    def invoke(self, ctx: click.Context) -> Any:
        session = ctx.ensure_object(Session)
        taken = {parameter.name for parameter in self.params}
        for name in GLOBAL:
            if name not in taken:
                _take(session, name, ctx.params.pop(name, None))
        if session.server is not None:
            _refuse_local_command(ctx)
        return super().invoke(ctx)


def _take(session: Session, name: str, value: Any) -> None:
    if value is None:
        return
    match name:
        case "app":
            session.app_path = value
        case "output":
            session.output.form = Form(value)
        case "server" | "token_file" | "debug":
            setattr(session, name, value)
        case _:
            session.settings[name] = value


def _refuse_local_command(ctx: click.Context) -> None:
    """Refuse --server for commands that work on this machine only."""
    named = ctx
    while named.parent is not None and named.parent.parent is not None:
        named = named.parent
    if named.parent is not None and named.info_name in LOCAL_ONLY:
        raise Problem(
            f"`drumbeat {named.info_name}` works on this machine and not on a server: "
            f"leave --server out",
            Exit.USAGE,
        )


class Command(_Global):
    """A command."""


def together(*parts: Part) -> Part:
    """Several arguments and options as one; the help shows them in this order."""

    def decorate(callback: Callback) -> Callback:
        for part in reversed(parts):
            callback = part(callback)
        return callback

    return decorate


def make_command(name: str, *parts: Part, uses: str = "") -> Callable[[Callback], Command]:
    """Make a command from a function of the session and of these arguments and options.

    `uses` names the operations of `Fleet` that it calls, separated by blanks.
    """

    def decorate(function: Callback) -> Command:
        callback = together(*parts)(click.pass_obj(function))
        made = click.command(name, cls=Command)(callback)
        made.operations = tuple(uses.split())
        return made

    return decorate


class Group(_Global, click.Group):
    """A noun whose commands are its verbs. For an unknown verb it suggests a similar one."""

    command_class = Command

    def verb(self, name: str, *parts: Part, uses: str = "") -> Callable[[Callback], Command]:
        """Add a command, as `make_command` makes it."""

        def decorate(function: Callback) -> Command:
            made = make_command(name, *parts, uses=uses)(function)
            self.add_command(made)
            return made

        return decorate

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            raise click.UsageError(unknown(name, self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)


Group.group_class = Group


def unknown(name: str, known: Sequence[str]) -> str:
    """The error for a command that does not exist."""
    near = difflib.get_close_matches(name, known, 1)
    guess = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    return f"no command is named {name!r}; {guess}"
