"""`drumbeat schedule`: look at schedules. `schedule_changes` has the verbs that change them."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click
from rich.console import RenderableType
from rich.text import Text

from drumbeat.cli.asked import Asked
from drumbeat.cli.command import Group
from drumbeat.cli.pages import first
from drumbeat.cli.schedule_changes import CHANGES, next_tick
from drumbeat.cli.session import Session
from drumbeat.cli.shapes import job_shape, parsed, schedule_shape, tick_shape
from drumbeat.cli.tables import below, facts, note, table
from drumbeat.model.explanation import Explanation
from drumbeat.model.plan import TickRecord
from drumbeat.model.schedule import StoredSchedule
from drumbeat.rules.moments import Moments, short
from drumbeat.rules.previewing import Preview
from drumbeat.rules.previewing import preview as previewed
from drumbeat.wire.redaction import redacted

LAST = 5
"""Ticks of the ledger that are shown beside a schedule."""


@click.group("schedule", cls=Group)
def command() -> None:
    """Look at schedules, change them, and ask why one did not run.

    \b
    Example:
      drumbeat schedule explain nightly-backup
    """


for change in CHANGES:
    command.add_command(change)


@command.command("list")
@click.option("--prefix", default="", metavar="TEXT", help="Only names that begin with it.")
@click.option("--limit", type=click.IntRange(1), default=100, show_default=True, help="How many.")
@click.pass_obj
def list_schedules(session: Session, prefix: str, limit: int) -> None:
    """List schedules by name, with their next tick.

    \b
    Example:
      drumbeat schedule list --prefix billing-
    """
    found, more = session.ask(
        lambda app: first(limit, lambda page: app.schedules.list(page, prefix))
    )
    moments = _moments(session)
    data = [schedule_shape(stored, session.secrets) for stored in found]
    session.output.show(data, lambda: _schedules(moments, found))
    if more:
        session.output.say(f"There are more; --limit shows more than {limit}.")


@command.command()
@click.argument("name")
@click.pass_obj
def show(session: Session, name: str) -> None:
    """Show the schedule NAME and its last ticks.

    \b
    Example:
      drumbeat schedule show nightly-backup
    """

    async def ask(app: Asked) -> tuple[StoredSchedule, list[TickRecord]]:
        stored = await app.schedules.get(name)
        ticks, _ = await first(LAST, lambda page: app.schedules.ticks(name, page))
        return stored, ticks

    stored, ticks = session.ask(ask)
    data = {
        **schedule_shape(stored, session.secrets),
        "ticks": [tick_shape(tick) for tick in ticks],
    }
    session.output.show(data, lambda: _schedule(session, stored, ticks))


@command.command()
@click.argument("name")
@click.option(
    "--count", type=click.IntRange(1, 1000), default=10, show_default=True, help="How many."
)
@click.pass_obj
def preview(session: Session, name: str, count: int) -> None:
    """Show the next ticks of the schedule NAME.

    Those that will fire as things stand: without what was skipped or a calendar excludes. What a
    change of the clock moves, drops or doubles is noted.

    \b
    Example:
      drumbeat schedule preview nightly-backup --count 20
    """

    async def ask(app: Asked) -> Preview:
        stored, ticks = await app.schedules.get(name), await app.schedules.preview(name, count)
        return previewed(stored.schedule.trigger, ticks, await app.now())

    coming = session.ask(ask)
    moments = _moments(session)
    data = {
        "name": name,
        "next": [tick.at for tick in coming.ticks],
        "tz": coming.tz,
        "ticks": [
            {"at": tick.at, "local": tick.local.isoformat(), "note": tick.note}
            for tick in coming.ticks
        ],
    }
    session.output.show(data, lambda: _coming(coming, moments))


def _coming(coming: Preview, moments: Moments) -> RenderableType:
    if not coming.ticks:
        return note("No tick is to come.")
    noted = any(tick.note for tick in coming.ticks)
    titles = (f"ticks ({moments.zone_name})", ">away", *(["+note"] if noted else []))
    rows = (
        (moments.show(tick.at), moments.distance(tick.at), *([tick.note or None] if noted else []))
        for tick in coming.ticks
    )
    return table(titles, rows)


@command.command()
@click.argument("name")
@click.option(
    "--ticks",
    "count",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    help="How many of its last ticks.",
)
@click.pass_obj
def explain(session: Session, name: str, count: int) -> None:
    """Say why the schedule NAME did or did not run.

    Tells what became of its last ticks, what is to come, and what may keep it from running.

    \b
    Example:
      drumbeat schedule explain nightly-backup
    """
    told = session.ask(lambda app: app.explain(name, count, session.output.zone))
    data = {
        "name": name,
        "explanation": told.sentences,
        "paused": told.paused,
        "next": told.next,
        "previous_job": told.previous and job_shape(told.previous, session.secrets),
        "ticks": [
            {**tick_shape(each.tick), "explanation": each.explanation} for each in told.ticks
        ],
    }
    session.output.show(data, lambda: _explanation(told, _moments(session)))


def _moments(session: Session) -> Moments:
    return Moments(session.output.now, session.output.zone)


def _state(stored: StoredSchedule) -> str:
    if stored.paused:
        return "paused"
    return "active" if stored.next_tick is not None else "ended"


def _away(stored: StoredSchedule, moments: Moments) -> str:
    if stored.next_tick in stored.skips:
        return "skipped"
    return moments.distance(None if stored.paused else stored.next_tick)


def _schedules(moments: Moments, found: Sequence[StoredSchedule]) -> RenderableType:
    if not found:
        return note("There are no schedules.")
    rows = (
        (
            stored.name,
            _state(stored),
            moments.show(None if stored.paused else stored.next_tick),
            _away(stored, moments),
            stored.runs,
            stored.schedule.trigger.describe(),
        )
        for stored in found
    )
    columns = ("schedule", "state", f"?next tick ({moments.zone_name})", ">next", "?>runs", "when")
    return table(columns, rows)


def _schedule(
    session: Session, stored: StoredSchedule, ticks: Sequence[TickRecord]
) -> RenderableType:
    moments = _moments(session)
    arguments = redacted(stored.schedule.job.arguments, session.secrets(stored.schedule.task))
    schedule, policies = stored.schedule, stored.schedule.policies
    limits = [
        f"from {moments.show(policies.start_at)}" if policies.start_at else "",
        f"until {moments.show(policies.end_at)}" if policies.end_at else "",
        f"at most {policies.max_runs} runs" if policies.max_runs else "",
        f"jitter {short(policies.jitter)}" if policies.jitter else "",
    ]
    reason = f", {stored.pause_reason}" if stored.pause_reason else ""
    summary = facts(
        (
            ("schedule", stored.name),
            ("", schedule.description or None),
            ("when", schedule.trigger.describe()),
            ("task", f"{schedule.task}, queue {schedule.job.queue}, on the {policies.run_on}"),
            ("arguments", json.dumps(parsed(arguments), ensure_ascii=False)),
            ("state", f"{_state(stored)}{reason}"),
            ("next tick", next_tick(stored, moments)),
            ("skipped by hand", ", ".join(map(moments.stamped, sorted(stored.skips))) or None),
            ("runs", stored.runs),
            ("last job", stored.last_job),
            ("missed ticks", f"{policies.misfire}, within {short(policies.window)}"),
            ("overlap", policies.overlap),
            ("limits", ", ".join(filter(None, limits)) or None),
            ("defined by", f"{stored.origin}, version {stored.version}"),
            ("changed", moments.stamped(stored.updated_at)),
        )
    )
    return below(summary, _ledger(moments, ticks)) if ticks else summary


def _ledger(moments: Moments, ticks: Sequence[TickRecord]) -> RenderableType:
    rows = (
        (
            moments.show(tick.tick_at),
            tick.outcome,
            tick.reason or f"job {tick.job_id}",
            tick.count if tick.count > 1 else None,
            short(tick.lateness) if not tick.backfilled else "backfilled",
        )
        for tick in ticks
    )
    return table((f"tick ({moments.zone_name})", "outcome", "", ">ticks", ">late"), rows)


def _explanation(told: Explanation, moments: Moments) -> RenderableType:
    parts: list[RenderableType] = [Text("\n".join(told.sentences))]
    if told.ticks:
        rows = ((moments.show(each.tick.tick_at), each.explanation) for each in told.ticks)
        parts.append(table((f"last ticks ({moments.zone_name})", "+"), rows))
    if told.next:
        rows = ((moments.show(tick), moments.distance(tick)) for tick in told.next)
        parts.append(table((f"next ticks ({moments.zone_name})", ""), rows))
    return below(*parts)
