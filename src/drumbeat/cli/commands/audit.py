"""`drumbeat audit`: who changed what, and why."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from rich.console import RenderableType

from drumbeat.cli.command import make_command
from drumbeat.cli.options.limit import limit_option, show_list
from drumbeat.cli.options.option import text
from drumbeat.cli.output.tables import table
from drumbeat.cli.session.session import Session
from drumbeat.model.fleet.audit import AuditFilter
from drumbeat.rules.human_time import Moments
from drumbeat.wire.audit import AuditView

LONGEST = 60
"""Characters of the details that a line of the table shows."""


@make_command(
    "audit",
    text("--actor", "NAME", "Only changes by this actor."),
    text("--action", "NAME", "Only this action, such as queue.pause."),
    text("--target", "NAME", "Only changes of this target."),
    text("--since", "TIME", "Only changes since then, such as -2h."),
    text("--until", "TIME", "Only changes before then."),
    limit_option(),
    uses="audit.list",
)
def command(
    session: Session, /, since: str | None, until: str | None, limit: int, **fields: str | None
) -> None:
    """Show the changes that people and programs made, the newest first.

    Example:
      drumbeat audit --since -1d
      drumbeat audit --action schedule.pause -o json
    """
    moments = session.output.moments
    wanted = AuditFilter(
        since=moments.read(since) if since else None,
        until=moments.read(until) if until else None,
        **fields,
    )
    show_list(session, limit, lambda fleet, page: fleet.audit.list(wanted, page), _log)


def _log(moments: Moments, entries: Sequence[AuditView]) -> RenderableType:
    rows = (
        (
            moments.show(entry.at),
            entry.actor,
            entry.action,
            entry.target,
            _words(entry.details),
            entry.outcome,
            entry.reason or None,
        )
        for entry in entries
    )
    at = f"at ({moments.zone_name})"
    return table(
        (at, "actor", "action", "target", "?details", "outcome", "+reason"),
        rows,
        "There are no such changes.",
    )


def _words(details: Mapping[str, object]) -> str:
    """The details in short, such as `scope=admin`; `-o json` has all of them."""
    words = (
        f"{name}={value if isinstance(value, str) else json.dumps(value, separators=(',', ':'))}"
        for name, value in details.items()
    )
    line = " ".join(words)
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 3]}..."
