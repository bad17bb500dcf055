"""`drumbeat events`: what happens in the fleet, as it happens."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import aclosing

import click

from drumbeat.cli.command import make_command
from drumbeat.cli.options.option import choice, switch, text, whole
from drumbeat.cli.output.json_view import as_json
from drumbeat.cli.output.output import Form
from drumbeat.cli.session.session import Session
from drumbeat.fleet.fleet import Fleet
from drumbeat.model.visible_text import visible, visible_json
from drumbeat.wire.audit import AuditView
from drumbeat.wire.election import ElectionView
from drumbeat.wire.event import RESET, EventKind, FleetEvent, ScheduleToldView
from drumbeat.wire.job import JobView
from drumbeat.wire.node import NodeView
from drumbeat.wire.queue import QueueView
from drumbeat.wire.tick import TickView


@make_command(
    "events",
    choice("--kind kinds", EventKind, "Only events of this kind; may be repeated.", multiple=True),
    text("--after", "ID", "Begin after the event of this id.", default=""),
    whole("--count", "End after this many events."),
    switch("--follow", "Print events until Ctrl-C, as it does without it.", expose_value=False),
    uses="events.follow",
)
def command(session: Session, kinds: Sequence[str], after: str, count: int | None) -> None:
    """Print events as they happen, one line for each, until Ctrl-C.

    With -o json each line is a JSON object.

    Example:
      drumbeat events --kind job --kind leader
    """
    wanted = [EventKind(kind) for kind in kinds]

    async def ask(fleet: Fleet) -> None:
        seen = 0
        async with aclosing(fleet.events.follow(wanted, after)) as events:
            async for event in events:
                _print(session, event)
                seen += 1
                if seen == count:
                    return

    session.ask(ask)


def _print(session: Session, event: FleetEvent) -> None:
    if session.output.form is Form.JSON:
        data = {"id": event.id, "kind": event.kind, "about": as_json(event.about)}
        click.echo(visible_json(json.dumps(data, ensure_ascii=False)))
    else:
        click.echo(visible(f"{event.kind:9}{_words(event)}"))


def _words(event: FleetEvent) -> str:
    match event.about:
        case JobView() as job:
            return f"job {job.id} of {job.task} is {job.status}"
        case TickView() as tick:
            return f"{tick.schedule} {tick.outcome} its tick of {tick.tick_at.isoformat()}"
        case ScheduleToldView() as told:
            return f"{told.schedule}: {told.change}"
        case ElectionView() as election:
            return f"{election.leader or 'nobody'} leads {election.name}"
        case NodeView() as node:
            return f"{node.id} is {'alive' if node.alive else 'gone'}"
        case QueueView() as queue:
            counts = ", ".join(f"{count} {name}" for name, count in queue.counts.items() if count)
            return f"{queue.name}: {counts or 'empty'}"
        case AuditView() as entry:
            return f"{entry.actor}: {entry.action} {entry.target}"
        case None:
            return "events were missed" if event.kind == RESET else ""
