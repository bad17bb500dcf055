"""`drumbeat overview`: what needs attention, and the fleet in a few numbers."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from drumbeat.cli.command import make_command
from drumbeat.cli.output.tables import facts, table
from drumbeat.cli.session.session import Session
from drumbeat.rules.human_time import Moments
from drumbeat.wire.overview import OverviewView


@make_command("overview", uses="overview.get")
def command(session: Session) -> None:
    """Show what needs attention, and how many schedules, jobs and nodes stand how.

    Example:
      drumbeat overview
    """
    found = session.ask(lambda fleet: fleet.overview.get())
    session.output.show(found, _overview(session.output.moments, found))


def _overview(moments: Moments, found: OverviewView) -> RenderableType:
    rows = (
        (each.kind.replace("_", " "), each.subject, moments.distance(each.since), each.message)
        for each in found.attention
    )
    attention = table(
        ("attention", "subject", "?since", "+message"), rows, "Nothing needs attention."
    )
    return Group(attention, Text(), _numbers(found))


def _numbers(found: OverviewView) -> RenderableType:
    schedules, nodes, leader = found.schedules, found.nodes, found.election.leader
    return facts(
        (
            ("leader", None if leader is None else leader.partition(":")[0]),
            ("nodes", f"{nodes.alive} alive, {nodes.busy} of {nodes.slots} slots busy"),
            (
                "schedules",
                (
                    f"{schedules.total}: {schedules.paused} paused, "
                    f"{schedules.failing} failing, {schedules.overdue} overdue"
                ),
            ),
            (
                "jobs",
                ", ".join(
                    f"{count:,} {status}"
                    for status, count in found.jobs.items()
                    if not status.final
                ),
            ),
        )
    )
