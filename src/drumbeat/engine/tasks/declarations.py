"""Declarations: the tasks and schedules that an app's code declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.tasks.decorators import Decorator, TaskDecorator
from drumbeat.engine.tasks.handle import HandlerTask, Submission, Task, TaskEvents, TaskSettings
from drumbeat.engine.tasks.hook_decorators import HookDecorators
from drumbeat.engine.tasks.hooks import Checks, Hook, Hooks, checks
from drumbeat.engine.tasks.limits import SharedLimit, read_on_conflict
from drumbeat.engine.tasks.listeners import Subject
from drumbeat.engine.tasks.options import TaskOptions
from drumbeat.engine.tasks.registry import TaskRegistry
from drumbeat.engine.tasks.scheduled import (
    Arguments,
    PolicySettings,
    Recipe,
    ScheduledTask,
    ScheduleOptions,
)
from drumbeat.engine.tasks.task import TaskDefinition, define
from drumbeat.model.errors import ConfigurationError, DuplicateSchedule, RegistrationError
from drumbeat.model.jobs.job import OnConflict
from drumbeat.model.schedules.schedule import Schedule
from drumbeat.model.triggers.trigger import Trigger


class Declarations(HookDecorators):
    """What code declares. Nothing is written before the app starts."""

    _task_class: type[HandlerTask[..., Any, ..., Any]] = HandlerTask

    def __init__(
        self, registry: TaskRegistry, submission: Submission, hooks: Hooks, bus: Bus
    ) -> None:
        super().__init__(hooks)
        self._bus = bus
        self._registry = registry
        self._submission = submission
        self._prefix = ""
        """What the names of its tasks and schedules begin with."""
        self._declared: dict[str, Schedule] = {}
        self.task = TaskDecorator(self._register_task)
        """Registers a task: `@app.task`, or `@app.task(queue="mail", timeout=30)`."""

    @property
    def tasks(self) -> frozenset[str]:
        return self._registry.names

    def secrets(self, task: str) -> tuple[str, ...]:
        """The arguments of a task whose values are never shown; none if the task is unknown."""
        return self._registry.secrets(task)

    def task_named(self, name: str) -> Task[..., Any]:
        """The handle of a registered task; `UnknownTask` if there is none."""
        return self._handle(self._registry.get(name))

    def scheduled(
        self,
        when: Trigger | str,
        *,
        name: str | None = None,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        process: bool = False,
        before: Checks = (),
        **options: Unpack[PolicySettings],
    ) -> Decorator:
        """Register a task and declare a schedule for it, both under one name.

        Takes the policies of the schedule and the options of the task. As any task it is retried
        three times by default, and by default its ticks are skipped while a retry is to come:
        `retry=Retry.never()` leaves an error to the next tick. `before` are functions that can
        skip a run by `raise Cancel("why")`.
        """
        if callable(when):
            raise ConfigurationError(
                f"@app.scheduled needs a trigger above {getattr(when, '__name__', when)!r}: write "
                f'@app.scheduled("0 2 * * *") or @app.scheduled(every(minutes=5))'
            )
        sorted_options = ScheduleOptions.sort(options)
        hooks = checks(before)

        def decorate(handler: Callable[..., Any]) -> HandlerTask[..., Any, ..., Any]:
            options = self._options(sorted_options.task)
            definition = define(handler, self._named(handler, name), options, process=process)
            definition = replace(definition, before=hooks)
            arguments = Arguments(args, kwargs or {})
            recipe = Recipe(definition.name, when, definition, sorted_options, arguments)
            return self._register(definition, self._schedule_of(recipe))

        return Decorator(decorate)

    def schedule(
        self,
        task: Task[..., Any],
        when: Trigger | str,
        *,
        name: str | None = None,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        **options: Unpack[PolicySettings],
    ) -> Schedule:
        """Declare a schedule for a task that is registered; a task may have several.

        Its jobs have the options of `task.options()`, and those that are given here.
        """
        if not isinstance(task, Task):  # pyright: ignore[reportUnnecessaryIsInstance] - unchecked callers exist
            raise ConfigurationError(
                f"app.schedule takes a task, not {task!r}: put @app.task above the function, "
                f"or use @app.scheduled(...) for both"
            )
        definition = self._registry.get(task.name)
        sorted_options = ScheduleOptions.sort(options)
        definition = definition.for_schedule(sorted_options.task, task.schedule_options())
        named = self._prefix + name if name else task.name
        recipe = Recipe(named, when, definition, sorted_options, Arguments(args, kwargs or {}))
        schedule = self._schedule_of(recipe)
        self._declare(schedule)
        return schedule

    def register(self, task: ScheduledTask) -> Task[[], Any]:
        """Register a scheduled task in the class style."""
        if not isinstance(task, ScheduledTask):  # pyright: ignore[reportUnnecessaryIsInstance] - unchecked callers exist
            raise ConfigurationError(
                f"app.register takes an object of a subclass of ScheduledTask, such as Cleanup(), "
                f"not {task!r}"
            )
        for attribute in ("name", "schedule"):
            value = getattr(task, attribute, None)
            if not value or callable(value):
                found = ", not a method" if callable(value) else ""
                raise ConfigurationError(
                    f"{type(task).__name__} needs a class attribute {attribute!r}{found}"
                )
        options = ScheduleOptions.sort(task.options)
        chosen = self._options(options.task)
        name = self._prefix + task.name
        definition = define(task.execute, name, chosen)
        recipe = Recipe(name, task.schedule, definition, options)
        return self._register(definition, self._schedule_of(recipe))

    def limit(
        self,
        name: str,
        *,
        concurrency: int | None = None,
        rate: str | None = None,
        on_conflict: OnConflict | str = OnConflict.WAIT,
    ) -> SharedLimit:
        """Declare a limit that several tasks share: `@app.task(limits=("mail",))`.

        `concurrency` is how many of their jobs run at once, `rate` how many start in a period, such
        as "100/m", each over the whole fleet. Declare it before the tasks that name it.
        """
        limit = SharedLimit(name, concurrency, rate, read_on_conflict(on_conflict))
        self._registry.limits.add(limit)
        return limit

    def _options(self, given: Mapping[str, Any]) -> TaskOptions:
        """The options of a task, with the app's defaults, and its limits by their names."""
        options = self._registry.defaults.options.but(given)
        if options.limits:
            options = options.but({"limits": self._registry.limits.named(options.limits)})
        return options

    def _schedule_of(self, recipe: Recipe) -> Schedule:
        return recipe.schedule(self._registry.defaults.tz)

    def _register_task(
        self,
        handler: Callable[..., Any],
        name: str | None,
        settings: TaskSettings,
        *,
        process: bool,
        before: tuple[Hook, ...],
    ) -> HandlerTask[..., Any, ..., Any]:
        options = self._options(settings)
        definition = define(handler, self._named(handler, name), options, process=process)
        return self._register(replace(definition, before=before), None)

    def _register(
        self, definition: TaskDefinition, schedule: Schedule | None
    ) -> HandlerTask[..., Any, ..., Any]:
        # Check everything before anything is registered.
        if self._registry.discard_earlier(definition):
            self._declared.pop(definition.name, None)
        if schedule is not None:
            self._check(schedule)
        self._registry.add(definition)
        if schedule is not None:
            self._declare(schedule)
        return self._handle(definition)

    def _handle(self, definition: TaskDefinition) -> HandlerTask[..., Any, ..., Any]:
        events = self._events_of(definition.name)
        return self._task_class(definition, self._submission, None, events)

    def _events_of(self, name: str) -> TaskEvents:
        declared = self._declared.get(name)
        scheduled = declared is not None and declared.job.task == name
        subject = Subject(name, name, either=True) if scheduled else Subject(name)
        return TaskEvents(self._bus, subject)

    def _named(self, handler: Callable[..., Any], name: str | None) -> str | None:
        """The name of a task with the prefix; None: `define` says that it needs one."""
        named = name or getattr(handler, "__name__", "")
        return self._prefix + named if named else None

    def _declare(self, schedule: Schedule) -> None:
        self._check(schedule)
        self._declared[schedule.name] = schedule

    def _check(self, schedule: Schedule) -> None:
        """Refuse a schedule that is declared twice, or too late to be written to the store."""
        if schedule.name in self._declared:
            raise DuplicateSchedule(schedule.name)
        if self._is_running():
            raise RegistrationError(
                f"schedule {schedule.name!r} is declared while the app runs, and would take effect "
                f"only at its next start: declare it before, or create it with "
                f"`await app.schedules.put(...)`"
            )

    def _is_running(self) -> bool:
        """Whether the declarations were read."""
        return False
