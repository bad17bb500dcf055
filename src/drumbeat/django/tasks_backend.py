"""A backend of Django's own tasks (`django.tasks`, Django 6, or the package `django-tasks`).

```python
TASKS = {"default": {"BACKEND": "drumbeat.django.tasks_backend.DrumbeatBackend"}}
```
Each `@task` of Django becomes a task of Drumbeat under its module path, when it is declared. So a
worker runs only functions that its own code declares; a job in the store names one and cannot
bring another.
"""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import msgspec
from django.db import connections
from django.utils.module_loading import import_string

from drumbeat.django.django_task import DjangoTask
from drumbeat.django.project_app import app_of_the_project
from drumbeat.engine.tasks.context import Context, current
from drumbeat.engine.tasks.handle import CallSettings
from drumbeat.model.errors import Cancel, Fail, Snooze, UnknownJob, UnknownTask
from drumbeat.model.jobs.job import Job, Status

if TYPE_CHECKING:
    from django.tasks.backends.base import BaseTaskBackend
    from django.tasks.base import Task, TaskContext, TaskError, TaskResult, TaskResultStatus
    from django.tasks.exceptions import InvalidTask, TaskResultDoesNotExist
    from django.tasks.signals import task_enqueued, task_finished, task_started

    AnyTask: TypeAlias = Task[..., Any]
    AnyResult: TypeAlias = TaskResult[..., Any]
else:
    try:
        from django.tasks.backends.base import BaseTaskBackend
        from django.tasks.base import TaskContext, TaskError, TaskResult, TaskResultStatus
        from django.tasks.exceptions import InvalidTask, TaskResultDoesNotExist
        from django.tasks.signals import task_enqueued, task_finished, task_started
    except ImportError:  # before Django 6
        from django_tasks.backends.base import BaseTaskBackend
        from django_tasks.base import TaskContext, TaskError, TaskResult, TaskResultStatus
        from django_tasks.exceptions import InvalidTaskError as InvalidTask
        from django_tasks.exceptions import TaskResultDoesNotExist
        from django_tasks.signals import task_enqueued, task_finished, task_started

STATUSES: Mapping[Status, TaskResultStatus] = {
    Status.PENDING: TaskResultStatus.READY,
    Status.QUEUED: TaskResultStatus.READY,
    Status.RUNNING: TaskResultStatus.RUNNING,
    Status.COMPLETED: TaskResultStatus.SUCCESSFUL,
    Status.FAILED: TaskResultStatus.FAILED,
    Status.CANCELLED: TaskResultStatus.FAILED,
}


class DrumbeatBackend(BaseTaskBackend):
    """Submits Django's tasks as jobs of the project's app.

    The option `DATABASE` names a database of the project that holds the store: each job then
    belongs to the transaction that is open on it.
    """

    supports_defer = True
    supports_async_task = True
    supports_get_result = True
    supports_priority = True

    def __init__(self, alias: str, params: dict[str, Any]) -> None:
        super().__init__(alias, params)
        self._database: str | None = dict(params.get("OPTIONS") or {}).get("DATABASE")

    def validate_task(self, task: AnyTask) -> None:
        """Check the task, and register it if it is new."""
        super().validate_task(task)
        if task.priority < 0:
            raise InvalidTask("Drumbeat has priorities from 0 to 100.")
        if task.module_path not in app_of_the_project().tasks:
            self._register(task)

    def enqueue(self, task: AnyTask, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Submit a job. When this returns, or its transaction is committed, it cannot be lost."""
        self.validate_task(task)
        job = self._handle(task).submit_sync(args=[*args], kwargs={**kwargs})
        return self._enqueued(task, job)

    async def aenqueue(self, task: AnyTask, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The same on the running event loop."""
        if self._database is not None:  # whose connection is synchronous
            return await super().aenqueue(task, args, kwargs)
        self.validate_task(task)
        job = await self._handle(task).submit(args=[*args], kwargs={**kwargs})
        return self._enqueued(task, job)

    def get_result(self, result_id: str) -> AnyResult:
        """The state of a job; `TaskResultDoesNotExist` if there is none."""
        app = app_of_the_project()
        return self._found(result_id, lambda id_: app.wait_for(lambda: app.jobs.get(id_)))

    async def aget_result(self, result_id: str) -> AnyResult:
        """The same on the running event loop."""
        try:
            job = await app_of_the_project().jobs.get(_number(result_id))
        except UnknownJob as error:
            raise TaskResultDoesNotExist(str(error)) from error
        return self._result(job)

    def _found(self, result_id: str, get: Callable[[int], Job]) -> AnyResult:
        try:
            return self._result(get(_number(result_id)))
        except UnknownJob as error:
            raise TaskResultDoesNotExist(str(error)) from error

    def _register(self, task: AnyTask) -> None:
        run = _asynchronous(self, task) if _is_async(task.func) else _synchronous(self, task)
        app_of_the_project().task(name=task.module_path, queue=task.queue_name)(run)

    def _handle(self, task: AnyTask) -> DjangoTask[..., Any, ..., Any]:
        handle = cast(
            "DjangoTask[..., Any, ..., Any]", app_of_the_project().task_named(task.module_path)
        )
        changes: CallSettings = {"queue": task.queue_name, "priority": task.priority}
        if task.run_after is not None:
            changes["run_at"] = task.run_after
        if self._database is not None:
            changes["connection"] = connections[self._database]
        return handle.options(**changes)

    def _enqueued(self, task: AnyTask, job: Job) -> AnyResult:
        result = self._result(job, task)
        task_enqueued.send(type(self), task_result=result)
        return result

    def _result(self, job: Job, task: AnyTask | None = None) -> AnyResult:
        """The job as Django sees it."""
        arguments: dict[str, Any] = msgspec.json.decode(job.spec.arguments)
        status = STATUSES[job.status]
        result: AnyResult = TaskResult(
            task=task or _task_of(job),
            id=str(job.id),
            status=status,
            enqueued_at=job.created_at,
            started_at=job.started_at,
            last_attempted_at=job.started_at,
            finished_at=job.finished_at,
            args=arguments["args"],
            kwargs=arguments["kwargs"],
            backend=self.alias,
            errors=_errors(job) if job.error is not None else [],
            worker_ids=[str(job.node or "")] * job.attempt,
        )
        if status is TaskResultStatus.SUCCESSFUL and job.result is not None:
            object.__setattr__(result, "_return_value", msgspec.json.decode(job.result))
        return result

    def running(self, task: AnyTask, ctx: Context) -> AnyResult:
        """The attempt that runs now, as Django sees it."""
        attempt = ctx.attempt
        job = Job(
            attempt.job_id,
            attempt.spec,
            Status.RUNNING,
            run_at=attempt.started_at,
            created_at=attempt.created_at,
            attempt=attempt.number,
            node=attempt.node,
            started_at=attempt.started_at,
        )
        return self._result(job, task)


def _synchronous(backend: DrumbeatBackend, task: AnyTask) -> Callable[..., Any]:
    def run(args: list[Any], kwargs: dict[str, Any]) -> Any:
        attempt = _Attempt(backend, task)
        try:
            returned: Any = task.func(*attempt.before, *args, **kwargs)
        except Exception as error:
            attempt.failed(error)
            raise
        attempt.succeeded()
        return returned

    return run


def _asynchronous(backend: DrumbeatBackend, task: AnyTask) -> Callable[..., Any]:
    async def run(args: list[Any], kwargs: dict[str, Any]) -> Any:
        attempt = _Attempt(backend, task)
        try:
            returned: Any = await task.func(*attempt.before, *args, **kwargs)
        except Exception as error:
            attempt.failed(error)
            raise
        attempt.succeeded()
        return returned

    return run


class _Attempt:
    """Sends Django's signals for the attempt that runs."""

    def __init__(self, backend: DrumbeatBackend, task: AnyTask) -> None:
        self._context = current()
        self._backend = type(backend)
        self._result = backend.running(task, self._context)
        self.before: Sequence[Any] = (
            (TaskContext(task_result=self._result),) if task.takes_context else ()
        )
        """What stands before the arguments of the job."""
        task_started.send(self._backend, task_result=self._result)

    def succeeded(self) -> None:
        self._end(TaskResultStatus.SUCCESSFUL)

    def failed(self, error: Exception) -> None:
        """Nothing is sent if the job will be tried again."""
        attempt = self._context.attempt
        last = attempt.number > attempt.spec.retry.max_retries
        if isinstance(error, (Fail, Cancel)) or (last and not isinstance(error, Snooze)):
            self._end(TaskResultStatus.FAILED)

    def _end(self, status: TaskResultStatus) -> None:
        object.__setattr__(self._result, "status", status)
        task_finished.send(self._backend, task_result=self._result)


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function)


def _number(result_id: str) -> int:
    try:
        return int(result_id)
    except ValueError:
        raise TaskResultDoesNotExist(f"{result_id!r} is not the number of a job") from None


def _task_of(job: Job) -> AnyTask:
    """Django's task for a job; `TaskResultDoesNotExist` if it is not one of Django's."""
    try:
        app_of_the_project().task_named(job.task)
        found: AnyTask = import_string(job.task)
    except (ImportError, UnknownTask) as error:
        raise TaskResultDoesNotExist(
            f"job {job.id} is one of the task {job.task!r}, which this code does not declare"
        ) from error
    return found


def _errors(job: Job) -> list[TaskError]:
    """The last error. Only its text is stored, whose last line begins with the exception's name."""
    text = job.error or ""
    name = text.rstrip().rpartition("\n")[2].partition(":")[0].strip()
    if hasattr(builtins, name):
        name = f"builtins.{name}"
    elif "." not in name:
        name = "builtins.Exception"
    return [TaskError(exception_class_path=name, traceback=text)]
