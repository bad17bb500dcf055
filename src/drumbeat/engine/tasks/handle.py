"""Task handles: what the decorators put in a function's place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial, update_wrapper
from typing import Any, Generic, ParamSpec, Protocol, Self, TypeAlias, TypedDict, TypeVar, Unpack

from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.tasks.limits import RateLimit, SharedLimit
from drumbeat.engine.tasks.listeners import L, Subject, listen
from drumbeat.engine.tasks.options import Length, TaskOptions, refuse_task_options
from drumbeat.engine.tasks.task import TaskDefinition
from drumbeat.model.errors import InvalidInput, InvalidOption, NotRunning
from drumbeat.model.events import Event
from drumbeat.model.jobs.job import Job, JobSpec, OnConflictName
from drumbeat.model.jobs.retry import Retry

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
Q = ParamSpec("Q")
"""The parameters of the handler, with the context if it takes one."""
C_co = TypeVar("C_co", covariant=True)
"""What calling the handler returns: for a coroutine function, a coroutine."""
Calls: TypeAlias = Iterable[JobSpec | tuple[Any, ...] | Mapping[str, Any]]
"""Calls of a task, each as its job, or by its arguments in order or by name."""


class TaskSettings(TypedDict, total=False):
    """Options of a task as keyword arguments. `TaskOptions` says what each means."""

    queue: str
    priority: int
    retry: Retry
    timeout: Length | None
    heartbeat: Length | None
    concurrency: int | None
    key: str | None
    key_concurrency: int
    exclusive: str | None
    on_conflict: OnConflictName | None
    rate_limit: str | RateLimit | None
    limits: tuple[str | SharedLimit, ...]
    dedupe_key: str | None
    dedupe_for: Length
    dedupe_scope: str | None
    delay: Length
    run_at: datetime | None
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    expires: Length | datetime | None
    retention: Length | None
    secret: tuple[str, ...]


class CallSettings(TaskSettings, total=False):
    """Options of some calls: those of the task, and the transaction that they belong to."""

    connection: object
    """A connection of psycopg, asyncpg, SQLAlchemy or Django to the store's own database: the job
    is created by the transaction that is open on it, or not at all."""


class Submission(Protocol):
    """How a handle creates jobs."""

    async def submit(self, spec: JobSpec) -> Job: ...

    async def submit_many(self, specs: list[JobSpec]) -> list[Job]: ...

    def submit_sync(self, spec: JobSpec) -> Job:
        """Create one job, from code with no event loop."""
        ...

    def submit_many_sync(self, specs: list[JobSpec]) -> list[Job]: ...

    def within(self, connection: object) -> Submission:
        """The same, over a connection of the caller and as part of its transaction."""
        ...


@dataclass(frozen=True, slots=True)
class TaskEvents:
    """Where the events of a task come from."""

    bus: Bus
    subject: Subject


class Task(Generic[P, R_co]):
    """A registered task. Call it to run its handler here and now; submit it to run it as a job."""

    def __init__(
        self,
        definition: TaskDefinition,
        submission: Submission,
        options: TaskOptions | None = None,
        events: TaskEvents | None = None,
        *,
        joins: bool = False,
    ) -> None:
        self._definition = definition
        self._submission = submission
        self._options = options
        self._events = events
        self._joins = joins
        """Whether its jobs are part of a transaction of the caller."""
        self._awaiting: list[Task[..., Any]] | None = None
        """The handles of a blueprint that await the defaults of an app; None: not this one."""
        update_wrapper(self, definition.handler, updated=())  # for help() and other tools

    def __get__(self, owner: object, kind: type | None = None) -> Self:
        """Let `help()` show the handler's signature, as it does for what can be a method."""
        return self

    @property
    def name(self) -> str:
        return self._definition.name

    @property
    def handler(self) -> Callable[..., Any]:
        return self._definition.handler

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the handler as if it were no task."""
        return self._definition.handler(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<Task {self.name!r}>"

    def options(self, **changes: Unpack[CallSettings]) -> Task[P, R_co]:
        """The same task with other options, for the calls that follow.

        `exclusive`, `dedupe_key` and `dedupe_scope` are templates if they name a parameter of the
        task, such as "order-{order_id}". Other text stands for itself, with any braces.

        With `connection`, the calls belong to the transaction that is open on it: a rollback undoes
        them.
        """
        submission, joins = self._submission, self._joins
        if "connection" in changes:
            submission, joins = submission.within(changes.pop("connection")), True
        definition = self._definition
        chosen = definition.call_options(self._options or definition.options, changes)
        refuse_task_options(changes)
        derived = type(self)(definition, submission, chosen, self._events, joins=joins)
        if self._awaiting is not None:
            derived.await_defaults(self._awaiting)
        return derived

    def await_defaults(self, awaiting: list[Task[..., Any]]) -> None:
        """Join the handles of a blueprint that no app includes yet."""
        self._awaiting = awaiting
        awaiting.append(self)

    def settle(self, definition: TaskDefinition, defaults: TaskOptions) -> None:
        """An app has included the blueprint: this is its task, and these are its defaults."""
        self._definition, self._awaiting = definition, None
        if self._options is not None:
            self._options = self._options.over(defaults)

    def on(self, kind: type[Event]) -> Callable[[L], L]:
        """Call a function for each event of a kind about this task. A decorator.

        A task that was declared with `app.scheduled` also gets the events of its schedule.
        """
        if self._events is None:
            raise NotRunning(f"task {self.name!r} belongs to no app")
        return partial(listen, self._events.bus, kind, self._events.subject)

    def schedule_options(self) -> TaskOptions | None:
        """The options that `options()` chose, for a schedule; None: the task's own."""
        if self._joins:
            raise InvalidOption(
                "connection is not for schedules: they are no part of the caller's transaction"
            )
        return self._options

    async def submit(self, *args: P.args, **kwargs: P.kwargs) -> Job:
        """Submit a job with these arguments. When this returns, the job cannot be lost."""
        return await self._submission.submit(self._definition.job(args, kwargs, self._options))

    async def submit_many(self, calls: Calls) -> list[Job]:
        """Submit many jobs at once: for each a `job(...)`, whose arguments a type checker checks,
        or a tuple of arguments, or a mapping by name.
        """
        return await self._submission.submit_many(self._jobs(calls))

    def submit_sync(self, *args: P.args, **kwargs: P.kwargs) -> Job:
        """Submit a job from code with no event loop."""
        return self._submission.submit_sync(self.job(*args, **kwargs))

    def submit_many_sync(self, calls: Calls) -> list[Job]:
        """Submit many jobs at once, from code with no event loop."""
        return self._submission.submit_many_sync(self._jobs(calls))

    def job(self, *args: P.args, **kwargs: P.kwargs) -> JobSpec:
        """The job for these arguments, to be submitted later: by `submit_many`, or `app.submit`."""
        return self._definition.job(args, kwargs, self._options)

    def _jobs(self, calls: Calls) -> list[JobSpec]:
        if isinstance(calls, JobSpec | Mapping):
            raise InvalidInput("submit_many takes a list of jobs: for one, write submit(...)")
        return [
            self._own(call)
            if isinstance(call, JobSpec)
            else self._definition.job_for(call, self._options)
            for call in calls
        ]

    def _own(self, spec: JobSpec) -> JobSpec:
        if spec.task != self.name:
            raise InvalidInput(f"a job of task {spec.task!r} was given to task {self.name!r}")
        return spec

    def result(self, job: Job) -> R_co:
        """What the handler returned for a completed job, typed by its annotation."""
        if job.result is None:
            return None  # type: ignore[return-value]  # then the handler returned None
        decoded: R_co = self._definition.codec.decode_result(job.result)
        return decoded


class HandlerTask(Task[P, R_co], Generic[P, R_co, Q, C_co]):
    """A task as its decorator returns it: calling it is typed as calling its handler."""

    def __call__(self, *args: Q.args, **kwargs: Q.kwargs) -> C_co:
        called: C_co = super().__call__(*args, **kwargs)
        return called
