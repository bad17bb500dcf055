"""`drumbeat task`: the tasks that an app knows."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.console import RenderableType

from drumbeat.cli.command import Group
from drumbeat.cli.output.tables import table
from drumbeat.cli.session.session import Session
from drumbeat.wire.task import ParameterView, TaskView


@click.group("task", cls=Group)
def command() -> None:
    """List the tasks that the app or the server knows.

    Example:
      drumbeat --app shop.jobs:app task list
    """


@command.verb("list", uses="tasks")
def list_tasks(session: Session) -> None:
    """List the tasks by name, with their parameters.

    Example:
      drumbeat --app shop.jobs:app task list
    """
    found = session.ask_code(lambda fleet: fleet.tasks())
    session.output.show(found, _tasks(found))


def _tasks(tasks: Sequence[TaskView]) -> RenderableType:
    rows = (
        (
            task.name,
            ", ".join(task.aliases),
            task.queue,
            ", ".join(map(_parameter, task.parameters)),
            task.description,
        )
        for task in tasks
    )
    return table(
        ("task", "?aliases", "queue", "?parameters", "+description"),
        rows,
        "No task is known here; --app or --server names an app that has tasks.",
    )


def _parameter(parameter: ParameterView) -> str:
    return parameter.name if parameter.required else f"[{parameter.name}]"
