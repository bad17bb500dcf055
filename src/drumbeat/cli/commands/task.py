"""`drumbeat task`: the tasks that an app knows."""

from __future__ import annotations

import click
from rich.console import RenderableType

from drumbeat.cli.command import Group, operations
from drumbeat.cli.output.json_view import as_json
from drumbeat.cli.output.tables import note, table
from drumbeat.cli.session.session import Session
from drumbeat.wire.task import ParameterView, TaskView


@click.group("task", cls=Group)
def command() -> None:
    """List the tasks that the app or the server knows.

    \b
    Example:
      drumbeat --app shop.jobs:app task list
    """


@command.command("list")
@operations("tasks")
@click.pass_obj
def list_tasks(session: Session) -> None:
    """List the tasks by name, with their parameters.

    \b
    Example:
      drumbeat --app shop.jobs:app task list
    """
    target = session.target()
    found = session.run(target, lambda fleet: fleet.tasks())
    session.output.show(as_json(found), lambda: _tasks([*found]))


def _tasks(tasks: list[TaskView]) -> RenderableType:
    if not tasks:
        return note("No task is known here; --app or --server names an app that has tasks.")
    rows = (
        (task.name, task.queue, ", ".join(map(_parameter, task.parameters)), task.description)
        for task in tasks
    )
    return table(("task", "queue", "?parameters", "+description"), rows)


def _parameter(parameter: ParameterView) -> str:
    return parameter.name if parameter.required else f"[{parameter.name}]"
