"""`drumbeat schedule`: list, show, preview and explain schedules, and change them."""

from __future__ import annotations

import click

from drumbeat.cli.command import Group
from drumbeat.cli.commands.schedule.changes import CHANGES
from drumbeat.cli.commands.schedule.definition import create, edit
from drumbeat.cli.commands.schedule.prune import prune
from drumbeat.cli.commands.schedule.view import (
    explanation_text,
    preview_table,
    schedule_facts,
    schedule_table,
)
from drumbeat.cli.options.limit import first, limit_option, show_list
from drumbeat.cli.options.option import NAME, text, whole
from drumbeat.cli.output.json_view import as_json
from drumbeat.cli.output.zone_name import zone_name
from drumbeat.cli.session.session import Session
from drumbeat.fleet.fleet import Fleet
from drumbeat.wire.schedule import ScheduleView
from drumbeat.wire.tick import TickView

LAST = 5
"""Ticks of the ledger that are shown with a schedule."""


@click.group("schedule", cls=Group)
def command() -> None:
    """List, show, change and explain schedules.

    Example:
      drumbeat schedule explain nightly-backup
    """


for change in (create, edit, *CHANGES, prune):
    command.add_command(change)


@command.verb(
    "list",
    text("--prefix", "TEXT", "Only names that begin with it.", default=""),
    text("--tag", "TAG", "Only schedules with this tag."),
    limit_option(100),
    uses="schedules.list",
)
def list_schedules(session: Session, prefix: str, tag: str | None, limit: int) -> None:
    """List schedules by name, with their next tick.

    Example:
      drumbeat schedule list --prefix billing-
      drumbeat schedule list --tag billing
    """
    show_list(
        session, limit, lambda fleet, page: fleet.schedules.list(page, prefix, tag), schedule_table
    )


@command.verb("show", NAME, uses="schedules.get schedules.ticks")
def show(session: Session, name: str) -> None:
    """Show the schedule NAME and its last ticks.

    Example:
      drumbeat schedule show nightly-backup
    """

    async def ask(fleet: Fleet) -> tuple[ScheduleView, list[TickView]]:
        schedule = await fleet.schedules.get(name)
        ticks, _ = await first(LAST, lambda page: fleet.schedules.ticks(name, page))
        return schedule, ticks

    schedule, ticks = session.ask(ask)
    data = {**as_json(schedule), "ticks": ticks}
    session.output.show(data, schedule_facts(session.output.moments, schedule, ticks))


@command.verb(
    "preview",
    NAME,
    whole("--count", "How many to show.", most=1000, default=10),
    uses="schedules.preview",
)
def preview(session: Session, name: str, count: int) -> None:
    """Show the next ticks of the schedule NAME.

    Lists the ticks that will fire as things stand, without those that are skipped or that a
    calendar excludes. Notes say which ticks a clock change moves, drops or repeats.

    Example:
      drumbeat schedule preview nightly-backup --count 20
    """
    found = session.ask(lambda fleet: fleet.schedules.preview(name, count))
    session.output.show(found, preview_table(session.output.moments, found))


@command.verb(
    "explain",
    NAME,
    whole("--ticks count", "How many of its last ticks.", most=1000, default=10),
    uses="schedules.explain",
)
def explain(session: Session, name: str, count: int) -> None:
    """Explain why the schedule NAME did or did not run.

    Shows what happened to its last ticks, which ticks come next, and what may keep it from running.

    Example:
      drumbeat schedule explain nightly-backup
    """
    zone = zone_name(session.output.zone)
    found = session.ask(lambda fleet: fleet.schedules.explain(name, count, zone))
    session.output.show(found, explanation_text(session.output.moments, found))
