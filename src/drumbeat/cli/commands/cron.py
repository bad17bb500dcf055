"""`drumbeat cron`: what a cron expression means, and when it runs next."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import click
from rich.console import RenderableType
from rich.text import Text

from drumbeat.cli.command import make_command
from drumbeat.cli.options.option import choice, text, whole
from drumbeat.cli.output.tables import below, note, table
from drumbeat.cli.session.session import Session
from drumbeat.model.time.zones import DstGap, DstRepeat, zone
from drumbeat.model.triggers import Cron, cron
from drumbeat.model.triggers.trigger import Trigger
from drumbeat.rules.human_time import Moments
from drumbeat.rules.schedules.clock_changes import ClockChange, clock_changes
from drumbeat.rules.schedules.preview import next_ticks, zone_of

AHEAD = timedelta(days=365)


@make_command(
    "cron",
    click.argument("expression"),
    text("--tz", "ZONE", "The time zone, such as Europe/Paris. [default: the app's, or UTC]"),
    whole("--count", "How many runs.", most=1000, default=5),
    text("--after", "TIME", "Count from this time.", default="now"),
    text("--name", "SCHEDULE", "The schedule that H and ~ are spread by."),
    choice("--dst-gap", DstGap, "A time that the clocks skip.", default="run_after"),
    choice("--dst-repeat", DstRepeat, "A time that comes twice.", default="first"),
)
def command(
    session: Session,
    /,
    expression: str,
    tz: str | None,
    count: int,
    after: str,
    name: str | None,
    **policies: str,
) -> None:
    """Say what a cron EXPRESSION means, when it runs next, and what clock changes do to it.

    The runs are shown in the zone of the expression.

    Example:
      drumbeat cron "30 2 * * *" --tz Europe/Paris
      drumbeat cron "0 9 * * mon-fri" --count 10 -o json
    """
    trigger = cron(expression, tz=tz).with_dst(policies.get("dst_gap"), policies.get("dst_repeat"))
    trigger = trigger.in_zone(session.default_zone())
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
    session.output.show(data, _answer(trigger, runs, changes, moments))


def _answer(
    trigger: Trigger, runs: Sequence[datetime], changes: Sequence[ClockChange], moments: Moments
) -> RenderableType:
    rows = (
        (f"{moments.local(run):%a %Y-%m-%d %H:%M:%S %Z}", moments.distance(run)) for run in runs
    )
    parts: list[RenderableType] = [Text(trigger.describe(), style="bold")]
    parts.append(table(("next runs", ""), rows) if runs else note("It never runs again."))
    if changes:
        rows_of_changes = ((change.title, change.effect) for change in changes)
        parts.append(table(("clock changes within a year", "+"), rows_of_changes))
    elif isinstance(trigger, Cron):
        parts.append(note("No clock change within a year touches it."))
    return below(*parts)
