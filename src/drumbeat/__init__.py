"""Drumbeat: cron for fleets. Schedules that fire exactly once, and jobs that are never lost."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from drumbeat.app import Drumbeat
    from drumbeat.client.client import Client
    from drumbeat.client.sync import SyncClient
    from drumbeat.electors import Elector, LeaderElection
    from drumbeat.engine.bounded import bounded
    from drumbeat.engine.context import Context
    from drumbeat.engine.handle import Task
    from drumbeat.engine.scheduled import ScheduledTask
    from drumbeat.model.calendar import Calendar
    from drumbeat.model.errors import (
        Cancel,
        Conflict,
        DrumbeatError,
        Forbidden,
        InvalidCron,
        InvalidInput,
        JobFailed,
        LockHeld,
        LockLost,
        NotFound,
        NotRunning,
        Snooze,
        Unauthorised,
        Unavailable,
        WaitTimeout,
    )
    from drumbeat.model.job import Job, JobFilter, JobSpec, Status
    from drumbeat.model.page import PageRequest
    from drumbeat.model.policy import Policies
    from drumbeat.model.retry import Retry
    from drumbeat.model.schedule import Schedule
    from drumbeat.model.triggers import (
        Trigger,
        any_of,
        cron,
        daily,
        every,
        every_between,
        monthly,
        once,
        weekly,
    )

__all__ = [
    "Calendar",
    "Cancel",
    "Client",
    "Conflict",
    "Context",
    "Drumbeat",
    "DrumbeatError",
    "Elector",
    "Forbidden",
    "InvalidCron",
    "InvalidInput",
    "Job",
    "JobFailed",
    "JobFilter",
    "JobSpec",
    "LeaderElection",
    "LockHeld",
    "LockLost",
    "NotFound",
    "NotRunning",
    "PageRequest",
    "Policies",
    "Retry",
    "Schedule",
    "ScheduledTask",
    "Snooze",
    "Status",
    "SyncClient",
    "Task",
    "Trigger",
    "Unauthorised",
    "Unavailable",
    "WaitTimeout",
    "any_of",
    "bounded",
    "cron",
    "daily",
    "every",
    "every_between",
    "monthly",
    "once",
    "weekly",
]

# A name is looked up when it is first asked for: `drumbeat --help` need not wait for the engine.
_HOMES = {
    "app": ("Drumbeat",),
    "client.client": ("Client",),
    "client.sync": ("SyncClient",),
    "electors": ("Elector", "LeaderElection"),
    "engine.bounded": ("bounded",),
    "engine.context": ("Context",),
    "engine.handle": ("Task",),
    "engine.scheduled": ("ScheduledTask",),
    "model.calendar": ("Calendar",),
    "model.job": ("Job", "JobFilter", "JobSpec", "Status"),
    "model.page": ("PageRequest",),
    "model.policy": ("Policies",),
    "model.retry": ("Retry",),
    "model.schedule": ("Schedule",),
    "model.triggers": (
        "Trigger",
        "any_of",
        "cron",
        "daily",
        "every",
        "every_between",
        "monthly",
        "once",
        "weekly",
    ),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


if not TYPE_CHECKING:  # else every name would seem to exist

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found: object = getattr(
            import_module(f"{__name__}.{_HOME.get(name, 'model.errors')}"), name
        )
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
