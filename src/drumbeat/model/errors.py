"""Every error that Drumbeat raises, in one tree.

```
DrumbeatError
├── InvalidInput (ValueError)        what the caller gave cannot be used
│   ├── InvalidTrigger               a trigger that cannot exist
│   │   ├── InvalidCron              a cron expression that cannot be read or can never match
│   │   └── TriggerTooExpensive      a trigger whose next tick takes too long to find
│   ├── UnknownZone                  a time zone that the system does not know
│   ├── NaiveDatetime                an instant without a zone
│   ├── InvalidPolicy                a policy outside its range
│   ├── InvalidOption                an option of a task or a job outside its range
│   ├── InvalidArguments             arguments that the task does not take
│   ├── UnserialisableArguments      arguments that JSON cannot carry
│   ├── InvalidPage                  a place in a list that no page gave out
│   └── OversizedArguments           arguments above the size limit
├── RegistrationError                a declaration that clashes with another
│   ├── DuplicateTask
│   ├── DuplicateSchedule
│   └── InvalidHandler               a callable that cannot be a task
├── NotFound (LookupError)           something named that does not exist
│   ├── UnknownTask
│   ├── UnknownSchedule
│   └── UnknownJob
├── Conflict                         a write that another write overtook
│   ├── StaleEpoch                   a leader's write after its term
│   ├── IllegalChange                a status change that the table forbids
│   ├── Contended                    a guarded write that lost every one of its tries
│   └── VersionMismatch              a schedule is not at the version that a change is meant for
├── LockError
│   ├── LockHeld                     somebody else holds the lock
│   └── LockLost                     the lock ended while it was held
├── ConfigurationError (ValueError)  settings that cannot work
│   └── UnsafeLease                  lease timings that break the inequality
├── Unavailable (ConnectionError)    a backend that does not answer; the outcome is unknown
├── AccessError                      a server does not let the caller in
│   ├── Unauthorised                 no token, or one that lets nobody in
│   └── Forbidden                    the token does not reach so far
├── ProcessNotStarted                a process for handlers died before it was ready
├── NotRunning                       a call that needs a started app
├── WaitTimeout (TimeoutError)       what was awaited did not happen in time
├── JobFailed                        the job that was awaited did not complete
└── Outcome                          raised by a handler to say what becomes of its job
    ├── Snooze
    └── Cancel
```
Errors carry facts as attributes; callers match types and never parse texts.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any


class DrumbeatError(Exception):
    """The root of every error that Drumbeat raises."""


class InvalidInput(DrumbeatError, ValueError):
    """What the caller gave cannot be used; nothing was changed."""


class InvalidTrigger(InvalidInput):
    """A trigger that cannot exist, such as a negative interval."""


class InvalidCron(InvalidTrigger):
    """A cron expression that cannot be read, or that can never match."""

    def __init__(self, expression: str, field: str, problem: str, allowed: str) -> None:
        self.expression = expression
        self.field = field
        self.problem = problem
        self.allowed = allowed
        super().__init__(f"cron {expression!r}: {field}: {problem}; allowed: {allowed}")


class TriggerTooExpensive(InvalidTrigger):
    """A trigger whose next tick was not found within the budget of steps."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        super().__init__(
            f"the next tick of this trigger was not found in {steps:,} steps, because its "
            f"calendars exclude nearly all ticks; exclude less, or use a trigger with fewer ticks"
        )


class UnknownZone(InvalidInput):
    """A time zone that the system does not know."""

    def __init__(self, zone: object) -> None:
        self.zone = zone
        super().__init__(
            f"unknown time zone {zone!r}; use a name of the IANA database such as 'Europe/Paris'"
        )


class NaiveDatetime(InvalidInput):
    """An instant without a zone."""

    def __init__(self, field: str, value: object) -> None:
        self.field = field
        self.value = value
        super().__init__(
            f"{field} has no time zone: {value}; give an aware datetime, "
            f"for example datetime(..., tzinfo=UTC)"
        )


class InvalidPolicy(InvalidInput):
    """A policy of a schedule outside its range."""


class InvalidOption(InvalidInput):
    """An option of a task or a job outside its range."""


class InvalidArguments(InvalidInput):
    """Arguments that the task does not take."""


class UnserialisableArguments(InvalidInput):
    """Arguments that JSON cannot carry."""


class InvalidPage(InvalidInput):
    """A place in a list that no page gave out."""


class OversizedArguments(InvalidInput):
    """Arguments above the size limit."""

    def __init__(self, task: str, size: int, limit: int) -> None:
        self.task = task
        self.size = size
        self.limit = limit
        super().__init__(
            f"the arguments of task {task!r} take {size:,} bytes as JSON, {limit:,} are allowed; "
            f"store large data elsewhere and submit a reference to it"
        )


class RegistrationError(DrumbeatError):
    """A declaration that clashes with another; nothing was registered."""


class DuplicateTask(RegistrationError):
    """A task of that name exists already."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"a task named {name!r} is registered already; give one of them another name="
        )


class DuplicateSchedule(RegistrationError):
    """A schedule of that name was declared already."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"a schedule named {name!r} is declared already; give one of them another name="
        )


class InvalidHandler(RegistrationError):
    """A callable that cannot be a task."""


class NotFound(DrumbeatError, LookupError):
    """Something was named that does not exist."""


class UnknownTask(NotFound):
    """No task of that name is registered here."""

    def __init__(self, name: str, known: tuple[str, ...] = ()) -> None:
        self.name = name
        self.known = known
        listed = ", ".join(sorted(known)[:10]) or "none"
        super().__init__(f"no task is named {name!r}; registered here: {listed}")


class UnknownSchedule(NotFound):
    """No schedule of that name exists."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"no schedule is named {name!r}")


class UnknownJob(NotFound):
    """No job of that id exists, or its retention is over."""

    def __init__(self, job_id: int) -> None:
        self.job_id = job_id
        super().__init__(f"no job has the id {job_id}; finished jobs are pruned after a while")


class Conflict(DrumbeatError):
    """A write that another write overtook; nothing was changed."""


class StaleEpoch(Conflict):
    """A leader's write after its term: someone else has led since."""

    def __init__(self, ours: int, seen: int) -> None:
        self.ours = ours
        self.seen = seen
        super().__init__(f"epoch {ours} is over; epoch {seen} has written since")


class IllegalChange(Conflict):
    """A status change that the table of legal ones forbids."""

    def __init__(self, before: str, change: str) -> None:
        self.before = before
        self.change = change
        super().__init__(f"a job that is {before} cannot {change}")


class Contended(Conflict):
    """A guarded write that lost every one of its tries to other writers."""


class VersionMismatch(Conflict):
    """A schedule is not at the version that a change is meant for; nothing was changed."""

    def __init__(self, schedule: str, version: int | None) -> None:
        self.schedule = schedule
        self.version = version
        """The present one; None: there is no such schedule."""
        super().__init__(
            f"there is no schedule {schedule!r}"
            if version is None
            else f"schedule {schedule!r} is at version {version}; look at it again"
        )


class LockError(DrumbeatError):
    """A lock could not be taken or kept."""


class LockHeld(LockError):
    """Somebody else holds the lock."""

    def __init__(self, name: str, holder: str | None = None) -> None:
        self.name = name
        self.holder = holder
        by = f" by {holder}" if holder else ""
        super().__init__(f"lock {name!r} is held{by}")


class LockLost(LockError):
    """The lock ended while it was held: what it protected may have a new owner."""

    def __init__(self, name: str, token: int) -> None:
        self.name = name
        self.token = token
        super().__init__(f"lock {name!r} with token {token} was lost before it was released")


class ConfigurationError(DrumbeatError, ValueError):
    """Settings that cannot work; the start was refused."""


class UnsafeLease(ConfigurationError):
    """Lease timings under which two leaders could trust themselves at once."""


class Unavailable(DrumbeatError, ConnectionError):
    """A backend that does not answer. What was asked may or may not have happened: look again."""


class AccessError(DrumbeatError, PermissionError):
    """A server does not let the caller do this; nothing was changed."""


class Unauthorised(AccessError):
    """The server wants a token, and there is none, or it lets nobody in any more."""


class Forbidden(AccessError):
    """The server knows who asks, and does not allow it: the token's scope is too low."""


class ProcessNotStarted(DrumbeatError):
    """A process for handlers with `process=True` died before it was ready to run one."""

    def __init__(self, exit_code: int | None) -> None:
        self.exit_code = exit_code
        super().__init__(
            f"a process for handlers died with exit code {exit_code} before it was ready; its "
            f'error output says why (a script that starts an app needs `if __name__ == "__main__":`'
            f" around the start)"
        )


class NotRunning(DrumbeatError):
    """A call that needs a started app."""


class WaitTimeout(DrumbeatError, TimeoutError):
    """What was awaited did not happen in time."""


class JobFailed(DrumbeatError):
    """The job that was awaited ended as failed or cancelled."""

    def __init__(self, job_id: int, status: str, error: str | None) -> None:
        self.job_id = job_id
        self.status = status
        self.error = error
        super().__init__(f"job {job_id} {status}" + (f": {error}" if error else ""))


class Outcome(DrumbeatError):
    """Raised by a handler to say what becomes of its job. Neither is a failure."""


class Snooze(Outcome):
    """Run this job again later; the attempt is not counted."""

    def __init__(self, delay: float | timedelta) -> None:
        self.delay = delay if isinstance(delay, timedelta) else timedelta(seconds=delay)
        if self.delay < timedelta(0):
            raise InvalidOption(f"Snooze needs a delay of zero or more, not {delay!r}")
        super().__init__(f"snoozed for {self.delay.total_seconds():g} s")

    def __reduce__(self) -> tuple[Any, ...]:
        return (Snooze, (self.delay,))


class Cancel(Outcome):
    """End this job as cancelled, with a reason."""

    def __init__(self, reason: str = "cancelled by its handler") -> None:
        self.reason = reason
        super().__init__(reason)
