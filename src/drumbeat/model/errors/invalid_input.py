"""Errors about invalid input."""

from __future__ import annotations

from drumbeat.model.errors.root import DrumbeatError


class InvalidInput(DrumbeatError, ValueError):
    """The input is not valid; nothing was changed."""

    kind = "invalid-input"

    def __init__(
        self, message: str = "", *, parameter: str | None = None, rule: str | None = None
    ) -> None:
        super().__init__(message)
        if parameter is not None:
            self.parameter = parameter
        if rule is not None:
            self.rule = rule


class InvalidTrigger(InvalidInput):
    """A trigger that is not valid, such as a negative interval."""

    parameter = "when"


class InvalidCron(InvalidTrigger):
    """A cron expression that cannot be read, or that can never match."""

    kind = "invalid-cron"

    def __init__(self, expression: str, field: str, problem: str, allowed: str) -> None:
        self.expression = expression
        self.field = field
        self.problem = problem
        self.allowed = allowed
        super().__init__(
            f"cron {expression!r}: {field}: {problem}; allowed: {allowed}", rule=allowed
        )


class TriggerTooExpensive(InvalidTrigger):
    """A trigger whose next tick was not found within the budget of steps."""

    kind = "trigger-too-expensive"

    def __init__(self, steps: int) -> None:
        self.steps = steps
        super().__init__(
            f"the next tick of this trigger was not found in {steps:,} steps, because its "
            f"calendars exclude nearly all ticks; exclude less, or use a trigger with fewer ticks"
        )


class UnknownZone(InvalidInput):
    """A time zone that the system does not know."""

    parameter = "tz"

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
        self.parameter = field
        super().__init__(
            f"{field} has no time zone: {value}; give an aware datetime, "
            f"for example datetime(..., tzinfo=UTC)"
        )


class InvalidPolicy(InvalidInput):
    """A policy of a schedule outside its range."""

    parameter = "policies"


class InvalidOption(InvalidInput):
    """An option of a task or a job outside its range."""


class InvalidArguments(InvalidInput):
    """Arguments that the task does not take."""

    parameter = "args"


class UnserialisableArguments(InvalidInput):
    """Arguments that cannot be written as JSON."""


class InvalidPage(InvalidInput):
    """A position in a list that no page has returned."""

    parameter = "after"


class OversizedArguments(InvalidInput):
    """Arguments above the size limit."""

    kind = "arguments-too-large"
    parameter = "args"

    def __init__(self, task: str, size: int, limit: int) -> None:
        self.task = task
        self.size = size
        self.limit = limit
        super().__init__(
            f"the arguments of task {task!r} take {size:,} bytes as JSON, {limit:,} are allowed; "
            f"store large data elsewhere and submit a reference to it"
        )


class MissingTask(InvalidInput):
    """A job without a task, and no default task is set."""

    kind = "task-missing"
    parameter = "task"


class TooManyQueues(InvalidInput):
    """A job for a new queue above the limit of queues."""

    kind = "too-many-queues"
    parameter = "queue"


class OversizedValue(InvalidInput):
    """A value of the shared configuration above the size limit."""

    kind = "value-too-large"
    parameter = "value"
