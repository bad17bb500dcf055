"""`drumbeat doctor`: is everything in order?"""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from drumbeat.cli.checks import Check, machine_checks, store_checks
from drumbeat.cli.command import Command
from drumbeat.cli.exits import Problem
from drumbeat.cli.session import Session
from drumbeat.model.errors import DrumbeatError
from drumbeat.model.wording import counted


@click.command("doctor", cls=Command)
@click.pass_obj
def command(session: Session) -> None:
    """Check this machine, the store and the fleet; exit with 1 if something is wrong.

    With --app it also says which tasks wait that the app does not know.

    \b
    Example:
      drumbeat doctor
      drumbeat --app shop.jobs:app doctor -o json
    """
    with session.output.working("Looking"):
        checks = [*machine_checks(), *_of_the_store(session)]
    data = [{"check": each.name, "ok": each.sound, "seen": each.seen} for each in checks]
    session.output.show(data, lambda: _lines(checks))
    faulty = sum(not each.sound for each in checks)
    if faulty:
        raise Problem(f"{counted(faulty, 'check')} found fault")


def _of_the_store(session: Session) -> list[Check]:
    try:
        return session.ask(lambda app: store_checks(app, session.output), of_the_store=False)
    except (DrumbeatError, Problem) as error:
        return [Check("store", sound=False, seen=str(error))]


def _lines(checks: Sequence[Check]) -> RenderableType:
    made = Table(box=None, padding=(0, 2, 0, 0), show_header=False, pad_edge=False)
    made.add_column(no_wrap=True)
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for each in checks:
        mark = Text("✓", style="green") if each.sound else Text("✗", style="bold red")
        made.add_row(mark, Text(each.name, style="bold"), Text(each.seen))
    return made
