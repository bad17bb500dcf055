"""`drumbeat schedule prune`: removes schedules that code no longer declares."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType

from drumbeat.cli.command import make_command
from drumbeat.cli.commands.schedule.view import schedule_table
from drumbeat.cli.exit_codes import Exit, Problem
from drumbeat.cli.options.option import REASON, switch
from drumbeat.cli.output.tables import below, note
from drumbeat.cli.session.session import Session
from drumbeat.fleet.fleet import Fleet
from drumbeat.model.page import LARGEST_PAGE, PageRequest
from drumbeat.model.schedules.schedule import Origin
from drumbeat.model.text import counted
from drumbeat.wire.schedule import ScheduleView


@make_command(
    "prune",
    switch("--apply applies", "Remove them; without it they are only listed."),
    switch("--unknown-tasks", "Also those of tasks that the app does not know."),
    REASON,
    uses="schedules.list schedules.remove tasks",
)
def prune(session: Session, *, applies: bool, unknown_tasks: bool) -> None:
    """List the schedules that code no longer declares, and remove them with --apply.

    Needs --app or --server, whose code decides. Schedules that a person created or edited stay. So
    do those of tasks that the app does not know, since another app may declare them, unless
    --unknown-tasks is given. The ledger of a removed schedule stays.

    Example:
      drumbeat --app shop.jobs:app schedule prune
      drumbeat --app shop.jobs:app schedule prune --apply
    """

    async def ask(fleet: Fleet) -> tuple[list[ScheduleView], list[ScheduleView]]:
        tasks = {name for task in await fleet.tasks() for name in task.names}
        if not tasks:
            raise Problem(
                "no code says which schedules it declares: name an app that has tasks, with --app "
                "or --server",
                Exit.USAGE,
            )
        schedules = await _all(fleet)
        gone = [each for each in schedules if each.undeclared]
        unknown = [
            each for each in schedules if each.origin is Origin.CODE and each.task not in tasks
        ]
        chosen, kept = (gone + unknown, []) if unknown_tasks else (gone, unknown)
        if applies:
            for each in chosen:
                await fleet.schedules.remove(each.name, session.reason)
        return chosen, kept

    chosen, kept = session.ask(ask)
    data = {
        "schedules": [each.name for each in chosen],
        "unknown_tasks": [each.name for each in kept],
        "removed": applies,
    }
    session.output.show(data, _listed(session, chosen, applies=applies))
    if kept:
        session.output.say(
            f"Not removed: {', '.join(each.name for each in kept)}. The app does not know their "
            f"tasks, so another app or a newer release may declare them; --unknown-tasks includes "
            f"them."
        )


async def _all(fleet: Fleet) -> list[ScheduleView]:
    schedules: list[ScheduleView] = []
    page: PageRequest | None = PageRequest(LARGEST_PAGE)
    while page is not None:
        found = await fleet.schedules.list(page)
        schedules += found.items
        page = None if found.next is None else PageRequest(LARGEST_PAGE, found.next)
    return schedules


def _listed(session: Session, chosen: Sequence[ScheduleView], *, applies: bool) -> RenderableType:
    if not chosen:
        return note("There is nothing to remove.")
    done = "removed" if applies else "would be removed; --apply removes them"
    table = schedule_table(session.output.moments, chosen)
    return below(table, note(f"{counted(len(chosen), 'schedule')} {done}"))
