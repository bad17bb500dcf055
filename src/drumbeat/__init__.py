"""Drumbeat: cron for fleets. Schedules that fire exactly once, and jobs that are never lost."""

from typing import TYPE_CHECKING

from drumbeat.lazy_names import lazy_names

if TYPE_CHECKING:
    from drumbeat.app import Drumbeat
    from drumbeat.electors import Elector, LeaderElection
    from drumbeat.engine.plumbing.bounded import bounded
    from drumbeat.engine.tasks.blueprint import Blueprint
    from drumbeat.engine.tasks.context import Context, current
    from drumbeat.engine.tasks.handle import Task
    from drumbeat.engine.tasks.limits import rate_limit
    from drumbeat.engine.tasks.scheduled import ScheduledTask
    from drumbeat.fleet.remote.fleet import Client
    from drumbeat.fleet.remote.sync_client import SyncClient
    from drumbeat.model.errors import (
        Cancel,
        Conflict,
        DrumbeatError,
        Fail,
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
    from drumbeat.model.jobs.job import Job, JobFilter, JobSpec, Status
    from drumbeat.model.jobs.retry import Retry
    from drumbeat.model.page import PageRequest
    from drumbeat.model.schedules.policy import Policies
    from drumbeat.model.schedules.schedule import Schedule
    from drumbeat.model.time.calendar import Calendar
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
    "Blueprint",
    "Calendar",
    "Cancel",
    "Client",
    "Conflict",
    "Context",
    "Drumbeat",
    "DrumbeatError",
    "Elector",
    "Fail",
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
    "current",
    "daily",
    "every",
    "every_between",
    "monthly",
    "once",
    "rate_limit",
    "weekly",
]

# A name is looked up when it is first asked for: `drumbeat --help` need not wait for the engine.
_MODULES = {
    "app": ("Drumbeat",),
    "fleet.remote.fleet": ("Client",),
    "fleet.remote.sync_client": ("SyncClient",),
    "electors": ("Elector", "LeaderElection"),
    "engine.plumbing.bounded": ("bounded",),
    "engine.tasks.blueprint": ("Blueprint",),
    "engine.tasks.context": ("Context", "current"),
    "engine.tasks.handle": ("Task",),
    "engine.tasks.limits": ("rate_limit",),
    "engine.tasks.scheduled": ("ScheduledTask",),
    "model.time.calendar": ("Calendar",),
    "model.errors": (
        "Cancel",
        "Conflict",
        "DrumbeatError",
        "Fail",
        "Forbidden",
        "InvalidCron",
        "InvalidInput",
        "JobFailed",
        "LockHeld",
        "LockLost",
        "NotFound",
        "NotRunning",
        "Snooze",
        "Unauthorised",
        "Unavailable",
        "WaitTimeout",
    ),
    "model.jobs.job": ("Job", "JobFilter", "JobSpec", "Status"),
    "model.page": ("PageRequest",),
    "model.schedules.policy": ("Policies",),
    "model.jobs.retry": ("Retry",),
    "model.schedules.schedule": ("Schedule",),
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

if not TYPE_CHECKING:  # else every name would seem to exist
    __getattr__ = lazy_names(__name__, _MODULES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
