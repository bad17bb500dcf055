"""Drumbeat: cron for fleets. Schedules that fire exactly once, and jobs that are never lost."""

from drumbeat.app import Drumbeat
from drumbeat.engine.bounded import bounded
from drumbeat.engine.context import Context
from drumbeat.engine.handle import Task
from drumbeat.engine.scheduled import ScheduledTask
from drumbeat.model.calendar import Calendar
from drumbeat.model.errors import (
    Cancel,
    Conflict,
    DrumbeatError,
    InvalidCron,
    InvalidInput,
    JobFailed,
    LockHeld,
    LockLost,
    NotFound,
    NotRunning,
    Snooze,
    Unavailable,
    WaitTimeout,
)
from drumbeat.model.job import Job, JobFilter, Status
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
    "Conflict",
    "Context",
    "Drumbeat",
    "DrumbeatError",
    "InvalidCron",
    "InvalidInput",
    "Job",
    "JobFailed",
    "JobFilter",
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
    "Task",
    "Trigger",
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
