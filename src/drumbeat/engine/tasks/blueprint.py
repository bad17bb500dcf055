"""Blueprints: the tasks and schedules of one part of an app, declared before there is an app."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from drumbeat.engine.plumbing.bus import Bus, E, EventListener, refuse_other_kinds
from drumbeat.engine.tasks.declarations import Declarations
from drumbeat.engine.tasks.handle import HandlerTask, Submission, Task
from drumbeat.engine.tasks.hooks import Hooks
from drumbeat.engine.tasks.listeners import L, Subject, listen
from drumbeat.engine.tasks.registry import TaskRegistry
from drumbeat.engine.tasks.scheduled import Recipe
from drumbeat.engine.tasks.task import TaskDefinition
from drumbeat.model.errors import ConfigurationError, DuplicateSchedule, DuplicateTask
from drumbeat.model.events import Event
from drumbeat.model.jobs.job import Job, JobSpec
from drumbeat.model.schedules.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Host:
    """The parts of an app that a blueprint joins."""

    registry: TaskRegistry
    declared: dict[str, Schedule]
    submission: Submission
    hooks: Hooks
    bus: Bus
    is_running: Callable[[], bool]


class Blueprint(Declarations):
    """Tasks, schedules, listeners and hooks that an app takes over with `app.include(blueprint)`.

    ```python
    billing = Blueprint("billing", prefix="billing.")

    @billing.task  # the task "billing.charge"
    async def charge(order_id: int) -> None: ...
    ```
    What is declared after that belongs to the app at once. Its tasks can be submitted from then on.
    """

    def __init__(self, name: str, *, prefix: str = "") -> None:
        self.name = name
        self._host: Host | None = None
        self._recipes: list[tuple[Schedule, Recipe]] = []
        self._awaiting: list[Task[..., Any]] = []
        self._until_then, self._early_bus = _SubmissionOfTheApp(name), _BusOfTheApp()
        super().__init__(TaskRegistry(), self._until_then, Hooks(), self._early_bus)
        self._prefix = prefix

    def __repr__(self) -> str:
        return f"<Blueprint {self.name!r}>"

    def on(self, kind: type[Event]) -> Callable[[L], L]:
        """Call a function for each event of a kind, of the whole app. A decorator."""
        return lambda listener: listen(self._bus, kind, Subject(), listener)

    def join(self, host: Host) -> None:
        """Hand everything over to an app. If a name is taken there, nothing is handed over."""
        if self._host is not None:
            raise ConfigurationError(f"blueprint {self.name!r} is included in an app already")
        taken = sorted(self._registry.names & host.registry.names)
        if taken:
            raise DuplicateTask(taken[0])
        declared_twice = sorted(self._declared.keys() & host.declared.keys())
        if declared_twice:
            raise DuplicateSchedule(declared_twice[0])
        self._hand_over(host)
        host.hooks.add_all(self._hooks)
        self._early_bus.become(host.bus)
        self._until_then.submission, self._host = host.submission, host
        self._registry, self._declared, self._hooks = host.registry, host.declared, host.hooks

    def _hand_over(self, host: Host) -> None:
        """Hand over tasks and schedules, with the defaults of the app where nothing was given."""
        defaults = host.registry.defaults
        limits = host.registry.limits.named(defaults.options.limits)
        options = defaults.options.but({"limits": limits})
        tasks = {each.name: each.under(options) for each in self._registry.definitions()}
        schedules = {
            recipe.name: recipe.under(options).schedule(defaults.tz)
            for schedule, recipe in self._recipes
            if self._declared.get(recipe.name) is schedule
        }
        for task in tasks.values():
            host.registry.add(task)
        host.declared.update(schedules)
        for handle in self._awaiting:
            if handle.name in tasks:
                handle.settle(tasks[handle.name], options)
        self._awaiting.clear()
        self._recipes.clear()

    def _schedule_of(self, recipe: Recipe) -> Schedule:
        schedule = super()._schedule_of(recipe)
        if self._host is None:
            self._recipes.append((schedule, recipe))
        return schedule

    def _handle(self, definition: TaskDefinition) -> HandlerTask[..., Any, ..., Any]:
        handle = super()._handle(definition)
        if self._host is None:
            handle.await_defaults(self._awaiting)
        return handle

    def _is_running(self) -> bool:
        return self._host is not None and self._host.is_running()


class _BusOfTheApp(Bus):
    """Keeps listeners until there is an app, and passes them on from then on."""

    def __init__(self) -> None:
        self._app: Bus | None = None
        self._kept: list[tuple[type[Event], EventListener[Any]]] = []

    def on(
        self,
        kind: type[E],
        listener: EventListener[E],
        when: Callable[[], bool] | None = None,
    ) -> Callable[[], None]:
        if self._app is not None:
            return self._app.on(kind, listener, when)
        refuse_other_kinds(kind)
        self._kept.append((kind, listener))
        return lambda: None

    def become(self, app: Bus) -> None:
        self._app = app
        for kind, listener in self._kept:
            app.on(kind, listener)
        self._kept.clear()


class _SubmissionOfTheApp:
    """Submits through the app that includes the blueprint, once there is one."""

    def __init__(self, blueprint: str) -> None:
        self._blueprint = blueprint
        self.submission: Submission | None = None

    async def submit(self, spec: JobSpec) -> Job:
        return await self._known().submit(spec)

    async def submit_many(self, specs: list[JobSpec]) -> list[Job]:
        return await self._known().submit_many(specs)

    def submit_sync(self, spec: JobSpec) -> Job:
        return self._known().submit_sync(spec)

    def submit_many_sync(self, specs: list[JobSpec]) -> list[Job]:
        return self._known().submit_many_sync(specs)

    def within(self, connection: object) -> Submission:
        return self._known().within(connection)

    def _known(self) -> Submission:
        if self.submission is None:
            raise ConfigurationError(
                f"no app includes the blueprint {self._blueprint!r} yet, so its tasks cannot be "
                f"submitted: call app.include(...) with it where the app is made"
            )
        return self.submission
