"""Scheduled tasks: a trigger and a task declared together, as a function or as a class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, ClassVar

from drumbeat.engine.tasks.context import Context
from drumbeat.engine.tasks.handle import TaskSettings
from drumbeat.engine.tasks.options import TaskOptions
from drumbeat.engine.tasks.task import TaskDefinition
from drumbeat.model.errors import InvalidInput, InvalidPolicy, InvalidTrigger
from drumbeat.model.schedules.policy import MisfireName, OverlapName, Policies, RunOnName
from drumbeat.model.schedules.schedule import Schedule
from drumbeat.model.time.duration import parse_duration
from drumbeat.model.time.zones import DstGap, DstGapName, DstRepeat, DstRepeatName
from drumbeat.model.triggers import cron
from drumbeat.model.triggers.trigger import Trigger


class PolicySettings(TaskSettings, total=False):
    """Policies of a schedule as keyword arguments, beside the options of its task."""

    misfire: MisfireName
    window: float | str | timedelta
    cap: int
    overlap: OverlapName
    dst_gap: DstGapName
    dst_repeat: DstRepeatName
    jitter: float | str | timedelta
    start_at: datetime | None
    end_at: datetime | None
    max_runs: int | None
    run_on: RunOnName


POLICIES = frozenset(PolicySettings.__annotations__) - frozenset(TaskSettings.__annotations__)
LENGTHS = frozenset({"window", "jitter"})
DST: Mapping[str, Callable[[str], StrEnum]] = {
    "dst_gap": DstGap.read,
    "dst_repeat": DstRepeat.read,
}


@dataclass(frozen=True, slots=True)
class ScheduleOptions:
    """The arguments of the decorators, sorted: policies, DST policies, and task options."""

    policies: Policies
    dst: Mapping[str, Any]
    task: Mapping[str, Any]

    @classmethod
    def sort(cls, given: Mapping[str, Any]) -> ScheduleOptions:
        """Sort keyword arguments into policies and options, and check each policy."""
        unknown = given.keys() - POLICIES - TaskSettings.__annotations__.keys()
        if unknown:
            known = ", ".join(sorted(POLICIES | TaskSettings.__annotations__.keys()))
            raise InvalidPolicy(f"unknown option {min(unknown)!r}; known: {known}")
        policies: dict[str, Any] = {
            name: _length(name, value) if name in LENGTHS else value
            for name, value in given.items()
            if name in POLICIES and name not in DST
        }
        return cls(
            Policies(**policies),
            {name: DST[name](value) for name, value in given.items() if name in DST},
            {name: value for name, value in given.items() if name not in POLICIES},
        )


def _length(name: str, value: Any) -> timedelta:
    try:
        return parse_duration(value)
    except InvalidInput as error:
        raise InvalidPolicy(f"{name}: {error}") from None


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments that each tick submits its task with."""

    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])


def trigger_of(schedule: str, when: Trigger | str) -> Trigger:
    """The trigger itself, or that of a cron expression."""
    trigger = cron(when) if isinstance(when, str) else when
    if not isinstance(trigger, Trigger):  # pyright: ignore[reportUnnecessaryIsInstance] - unchecked callers exist
        raise InvalidTrigger(
            f"schedule {schedule!r} needs a trigger such as cron('0 2 * * *') or every(minutes=5), "
            f"not {trigger!r}"
        )
    return trigger


@dataclass(frozen=True, slots=True)
class Recipe:
    """A declaration of a schedule, before the zone of the app is known."""

    name: str
    when: Trigger | str
    definition: TaskDefinition
    """The task, with the options of the schedule's jobs."""
    options: ScheduleOptions
    arguments: Arguments = Arguments()

    def under(self, defaults: TaskOptions) -> Recipe:
        """The same declaration in an app with these defaults."""
        return replace(self, definition=self.definition.under(defaults))

    def schedule(self, tz: str) -> Schedule:
        """The schedule; its trigger is in this zone unless it names one."""
        trigger = trigger_of(self.name, self.when).in_zone(tz)
        return schedule_of(self.name, trigger, self.definition, self.options, self.arguments)


def schedule_of(
    name: str,
    trigger: Trigger,
    definition: TaskDefinition,
    options: ScheduleOptions,
    arguments: Arguments = Arguments(),  # noqa: B008 - frozen and empty
    description: str = "",
) -> Schedule:
    """The schedule for a declaration."""
    if options.dst:
        trigger = trigger.with_dst(
            **{name.removeprefix("dst_"): value for name, value in options.dst.items()}
        )
    job = definition.job(tuple(arguments.args), arguments.kwargs)
    if isinstance(job.expires, datetime):
        raise InvalidPolicy(
            f"expires of schedule {name!r} must be a length such as '10m', counted from each tick, "
            f"not an instant"
        )
    return Schedule(name, trigger, job, options.policies, description)


class ScheduledTask(ABC):
    """A scheduled task as a class: give it a name, a schedule, and `execute`.

    ```python
    class Cleanup(ScheduledTask):
        name = "CleanupOldRecords"
        schedule = "0 2 * * *"

        async def execute(self, ctx: Context) -> None: ...

    app.register(Cleanup())
    ```
    """

    name: ClassVar[str]
    schedule: ClassVar[Trigger | str]
    options: ClassVar[PolicySettings] = {}
    """Policies of the schedule and options of the task, as for `app.scheduled`: `retry`, too, is
    three retries by default."""

    @abstractmethod
    async def execute(self, ctx: Context) -> Any: ...
