"""`drumbeat import crontab`: schedules from a crontab.

A crontab names shell commands, and Drumbeat runs no shell: each line becomes a schedule for a task
of its own, named by the comment above the line or by what it runs. `--python` prints the
declarations of those tasks, to be pasted into an app.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import RenderableType

from drumbeat.cli.command import Group
from drumbeat.cli.exit_codes import Exit, Problem
from drumbeat.cli.importing.crontab import Crontab, Line, read_crontab
from drumbeat.cli.importing.declaration import declarations
from drumbeat.cli.options.option import REASON, switch, text
from drumbeat.cli.output.tables import below, note, table
from drumbeat.cli.output.zone_name import zone_name
from drumbeat.cli.session.session import Session
from drumbeat.fleet.fleet import Fleet
from drumbeat.model.errors import UnknownSchedule
from drumbeat.model.text import counted
from drumbeat.wire.new_schedule import NewScheduleView
from drumbeat.wire.requests import request

UTC = frozenset({"UTC", "Etc/UTC"})
"""The zone of times that name none, by its usual names."""


@click.group("import", cls=Group)
def import_from() -> None:
    """Bring schedules over from a crontab.

    Example:
      drumbeat import crontab /etc/crontab --system
    """


@import_from.verb(
    "crontab",
    click.argument(
        "file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
    ),
    text(
        "--tz", "ZONE", "The zone of its times, if it names none. [default: that of this machine]"
    ),
    switch("--system", "Each line names a user, as in /etc/crontab."),
    switch("--python declares", "Print declarations to paste into an app."),
    switch("--run-shell", "With --python: run commands that need a shell by /bin/sh -c."),
    switch("--apply applies", "Create the schedules in the store."),
    REASON,
    uses="schedules.create",
)
def crontab(
    session: Session,
    file: Path,
    tz: str | None,
    *,
    system: bool,
    declares: bool,
    run_shell: bool,
    applies: bool,
) -> None:
    """Show which schedules a crontab would become.

    Nothing is changed without --apply. Drumbeat runs no shell commands: each line becomes a
    schedule for a task that is named by the comment above it, or else by what it runs; --python
    prints those tasks. A command that needs a shell becomes a task that is still to be written, or
    with --run-shell one that calls /bin/sh. The FILE - is standard input.

    Example:
      crontab -l | drumbeat import crontab - --tz Europe/Paris
      drumbeat import crontab jobs.cron --python > jobs.py
      drumbeat import crontab jobs.cron --apply
    """
    if run_shell and not declares:
        raise Problem("--run-shell is about the code that --python prints: add it", Exit.USAGE)
    zone = tz or zone_name(session.output.zone)
    with click.open_file(str(file), encoding="utf-8") as opened:
        found = read_crontab(opened.read(), None if zone in UTC else zone, has_user=system)
    if tz is None and any(line.tz == zone for line in found.lines):
        session.output.say(f"Times are read in {zone}, the zone of this machine; --tz changes it.")
    if applies:
        session.ask_or_create(lambda fleet: _create(fleet, found.lines, session.reason))
    if declares:
        click.echo(declarations(found.lines, run_shell=run_shell))
    else:
        data = {
            "schedules": [_shape(line) for line in found.lines],
            "refused": [{"line": number, "why": why} for number, why in found.refused],
            "applied": applies,
        }
        session.output.show(data, _table(found))
    if applies:
        session.output.say(f"{counted(len(found.lines), 'schedule')} created.")
    elif not declares:
        session.output.say("Nothing was changed; --apply creates them, --python prints the tasks.")
    if found.refused:
        raise Problem(
            "\n".join(f"line {number}: {why}" for number, why in found.refused), Exit.USAGE
        )


async def _create(fleet: Fleet, lines: Sequence[Line], reason: str) -> None:
    for line in lines:
        if await _exists(fleet, line.name):
            raise Problem(
                f"there is a schedule {line.name!r} already; nothing was created", Exit.CONFLICT
            )
    for line in lines:
        fields = {
            "name": line.name,
            "when": line.trigger.to_json(),
            "task": line.name,
            "description": line.command,
        }
        await fleet.schedules.create(request(NewScheduleView, fields), reason)


async def _exists(fleet: Fleet, name: str) -> bool:
    try:
        await fleet.schedules.get(name)
    except UnknownSchedule:
        return False
    return True


def _shape(line: Line) -> dict[str, object]:
    return {
        "line": line.number,
        "name": line.name,
        "task": line.name,
        "trigger": line.trigger.to_json(),
        "when": line.trigger.describe(),
        "command": line.command,
    }


def _table(found: Crontab) -> RenderableType:
    rows = ((line.name, line.number, line.trigger.describe(), line.command) for line in found.lines)
    made = table(("schedule and task", ">line", "?when", "command"), rows)
    return below(made, *(note(sentence) for sentence in found.notes))
