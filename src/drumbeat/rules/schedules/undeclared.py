"""Undeclared schedules: code declared them once, and its declaration is gone."""

from __future__ import annotations

from collections.abc import Collection

from drumbeat.model.schedules.schedule import Origin, StoredSchedule


def is_undeclared(
    stored: StoredSchedule, declared: Collection[str], tasks: Collection[str]
) -> bool:
    """Whether an app with these declarations and tasks has dropped its declaration of the schedule.

    Only an app that knows the task can tell. Another app or a newer release may declare a schedule
    of an unknown task, and a schedule that a person created or edited belongs to the person.
    """
    return (
        stored.origin is Origin.CODE
        and stored.name not in declared
        and stored.schedule.task in tasks
    )


def is_unknown(stored: StoredSchedule, declared: Collection[str], tasks: Collection[str]) -> bool:
    """Whether an app with these declarations and tasks neither declares the schedule nor knows its
    task: the function was removed, or another app declares it.

    An app without tasks, such as that of a server for HTTP alone, tells nothing.
    """
    return (
        bool(tasks)
        and stored.origin is Origin.CODE
        and stored.name not in declared
        and stored.schedule.task not in tasks
    )
