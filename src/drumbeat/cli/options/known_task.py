"""Checks the name of a task that a job or a schedule is for."""

from __future__ import annotations

from drumbeat.cli.session.session import Session
from drumbeat.fleet.fleet import Fleet
from drumbeat.model.errors import UnknownTask


async def is_known(session: Session, fleet: Fleet, task: str) -> bool:
    """Whether the task is known where its jobs are created.

    Raises `UnknownTask` if it is not, and --app says which tasks there are.
    """
    known = tuple(each.name for each in await fleet.tasks())
    if task not in known and session.app_path is not None:
        raise UnknownTask(task, known)
    return task in known
