"""`drumbeat cron`: what a cron expression means, and when it runs next."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import click
from rich.console import RenderableType
from rich.text import Text

from drumbeat.cli.command import Command
from drumbeat.cli.output.tables import below, note, table
from drumbeat.cli.session.session import Session
from drumbeat.model.time.zones import DstGap, DstRepeat, zone
from drumbeat.model.triggers import Cron, cron
from drumbeat.model.triggers.trigger import Trigger
from drumbeat.rules.human_time import Moments
from drumbeat.rules.schedules.clock_changes import ClockChange, clock_changes
from drumbeat.rules.schedules.preview import next_ticks, zone_of

AHEAD = timedelta(days=365)


@click.command("cron", cls=Command)
@click.argument("expression")
@click.option("--tz", metavar="ZONE", help="The time zone, such as Europe/Paris. [default: UTC]")
@click.option(
    "--count", type=click.IntRange(1, 1000), default=5, show_default=True, help="How many runs."
)
@click.option("--after", metavar="TIME", default="now", help="Count from then. [default: now]")
@click.option("--name", metavar="SCHEDULE", help="The schedule that H and ~ are spread by.")
@click.option(
    "--dst-gap",
    type=click.Choice([each.value for each in DstGap]),
    default=DstGap.RUN_AFTER.value,
    show_default=True,
    help="A time that the clocks skip.",
)
@click.option(
    "--dst-repeat",
    type=click.Choice([each.value for each in DstRepeat]),
    default=DstRepeat.FIRST.value,
    show_default=True,
    help="A time that comes twice.",
)
@click.pass_obj
def command(
    session: Session,
    expression: str,
    tz: str | None,
    count: int,
    after: str,
    name: str | None,
    dst_gap: str,
    dst_repeat: str,
) -> None:
    """Say what a cron EXPRESSION means, when it runs next, and what clock changes do to it.

    The runs are shown in the zone of the expression.

    \b
    Example:
      drumbeat cron "30 2 * * *" --tz Europe/Paris
      drumbeat cron "0 9 * * mon-fri" --count 10 -o json
    """
    trigger = cron(expression, tz=tz, dst_gap=dst_gap, dst_repeat=dst_repeat)
    if name is not None:
        trigger = trigger.bound(name)
    start = session.output.moments.read(after)
    trigger = trigger.anchored(start)
    runs = next_ticks(trigger, start, count)
    changes = clock_changes(trigger, start, start + AHEAD) if isinstance(trigger, Cron) else []
    data = {
        "expression": expression,
        "tz": zone_of(trigger),
        "means": trigger.describe(),
        "next": runs,
        "clock_changes": [
            {"at": change.at, "change": change.title, "effect": change.effect} for change in changes
        ],
    }
    moments = Moments(session.output.now, zone(zone_of(trigger)).info)
    session.output.show(data, lambda: _answer(trigger, runs, changes, moments))


def _answer(
    trigger: Trigger, runs: Sequence[datetime], changes: Sequence[ClockChange], moments: Moments
) -> RenderableType:
    rows = (
        (f"{moments.local(run):%a %Y-%m-%d %H:%M:%S %Z}", moments.distance(run)) for run in runs
    )
    parts: list[RenderableType] = [Text(trigger.describe(), style="bold")]
    parts.append(table(("next runs", ""), rows) if runs else note("It never runs again."))
    if changes:
        told = ((change.title, change.effect) for change in changes)
        parts.append(table(("clock changes within a year", "+"), told))
    elif isinstance(trigger, Cron):
        parts.append(note("No clock change within a year touches it."))
    return below(*parts)
