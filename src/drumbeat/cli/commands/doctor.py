"""`drumbeat doctor`: checks of this machine, the store and the fleet."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from drumbeat.cli.checks.fleet import (
    app_task_checks,
    fleet_checks,
    leader_check,
    server_check,
    server_task_checks,
    store_checks,
)
from drumbeat.cli.checks.machine import Check, machine_checks
from drumbeat.cli.command import make_command
from drumbeat.cli.exit_codes import Problem
from drumbeat.cli.session.session import Session
from drumbeat.cli.session.target import NOT_VISIBLE, LocalTarget, RemoteTarget, Target
from drumbeat.fleet.fleet import Fleet
from drumbeat.model.errors import DrumbeatError
from drumbeat.model.text import counted


@make_command("doctor", uses="health now")
def command(session: Session) -> None:
    """Check this machine, the store and the fleet; exit with 1 if something is wrong.

    With --app it also lists tasks of waiting jobs that the app does not know.

    Example:
      drumbeat doctor
      drumbeat --app shop.jobs:app doctor -o json
    """
    with session.output.working("Checking"):
        checks = [*machine_checks(), *_of_fleet(session)]
    data = [{"check": each.name, "ok": each.ok, "seen": each.found} for each in checks]
    session.output.show(data, _lines(checks))
    failed = sum(not each.ok for each in checks)
    if failed:
        raise Problem(f"{counted(failed, 'check')} failed")


def _of_fleet(session: Session) -> list[Check]:
    try:
        target = session.target()
        try:
            target.check_store()
        except Problem:
            return _of_election(session, target)
        return session.run(target.open_existing(), lambda fleet: _checks(fleet, target, session))
    except (DrumbeatError, Problem) as error:
        return [Check("store", ok=False, found=str(error))]


def _of_election(session: Session, target: Target) -> list[Check]:
    """The store is in memory, so that at most the leader can be seen."""
    store = Check("store", ok=True, found=NOT_VISIBLE)
    try:
        target.check_election()
    except Problem:
        return [store]
    return [store, session.run(target.open_existing(), leader_check)]


async def _checks(fleet: Fleet, target: Target, session: Session) -> list[Check]:
    match target:
        case LocalTarget():
            before = await store_checks(target.app)
            after = await app_task_checks(target.app)
        case RemoteTarget():
            before = [await server_check(fleet, target.url)]
            after = await server_task_checks(fleet)
        case _:
            before = after = []
    return [*before, *await fleet_checks(fleet, session.output), *after]


def _lines(checks: Sequence[Check]) -> RenderableType:
    made = Table(box=None, padding=(0, 2, 0, 0), show_header=False, pad_edge=False)
    made.add_column(no_wrap=True)
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for each in checks:
        mark = Text("✓", style="green") if each.ok else Text("✗", style="bold red")
        made.add_row(mark, Text(each.name, style="bold"), Text(each.found))
    return made
