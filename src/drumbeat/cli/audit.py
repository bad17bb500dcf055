"""`drumbeat audit`: who changed what, and why."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import click
from rich.console import RenderableType

from drumbeat.cli.command import Command
from drumbeat.cli.pages import first
from drumbeat.cli.session import Session
from drumbeat.cli.shapes import audit_shape
from drumbeat.cli.tables import note, table
from drumbeat.model.audit import AuditEntry, AuditFilter
from drumbeat.rules.moments import Moments

LONGEST = 60
"""Characters of what was asked for that a line shows."""


@click.command("audit", cls=Command)
@click.option("--actor", metavar="NAME", help="Only what they asked for.")
@click.option("--action", metavar="NAME", help="Only this, such as queue.pause.")
@click.option("--target", metavar="NAME", help="Only changes of this.")
@click.option("--since", metavar="TIME", help="Only since then, such as -2h.")
@click.option("--until", metavar="TIME", help="Only before then.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="How many.")
@click.pass_obj
def command(
    session: Session, /, since: str | None, until: str | None, limit: int, **fields: str | None
) -> None:
    """Show the changes that people and programs asked for, the newest first.

    \b
    Example:
      drumbeat audit --since -1d
      drumbeat audit --action schedule.pause -o json
    """
    moments = Moments(session.output.now, session.output.zone)
    wanted = AuditFilter(
        since=moments.read(since) if since else None,
        until=moments.read(until) if until else None,
        **fields,
    )
    entries, more = session.ask(lambda app: first(limit, lambda page: app.audit.list(wanted, page)))
    session.output.show([audit_shape(entry) for entry in entries], lambda: _log(moments, entries))
    if more:
        session.output.say(f"There are more; --limit shows more than {limit}.")


def _log(moments: Moments, entries: Sequence[AuditEntry]) -> RenderableType:
    if not entries:
        return note("No such change was asked for.")
    rows = (
        (
            moments.show(entry.at),
            entry.note.actor,
            entry.note.action,
            entry.note.target,
            _words(entry.note.details),
            entry.outcome,
            entry.note.reason or None,
        )
        for entry in entries
    )
    return table(
        (f"at ({moments.zone_name})", "who", "what", "of", "?with", "outcome", "+why"), rows
    )


def _words(details: Mapping[str, object]) -> str:
    """Such as `scope=admin`; JSON has all of it."""
    words = (
        f"{name}={value if isinstance(value, str) else json.dumps(value, separators=(',', ':'))}"
        for name, value in details.items()
    )
    text = " ".join(words)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
