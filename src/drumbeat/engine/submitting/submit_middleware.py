"""Submit middleware: functions of the app that change or refuse each job that is submitted."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.engine.tasks.hooks import Hook, Hooks
from drumbeat.engine.tasks.task import BUILT_IN
from drumbeat.model.errors import InvalidHook, OversizedArguments
from drumbeat.model.jobs.job import ARGUMENTS_LIMIT, JobSpec


def after_middleware(specs: Sequence[JobSpec], hooks: Hooks) -> Sequence[JobSpec]:
    """The jobs as the middleware returns them, in the order in which it was registered."""
    middleware = hooks.submit_middleware
    return [_changed(spec, middleware) for spec in specs] if middleware else specs


def _changed(spec: JobSpec, middleware: Sequence[Hook]) -> JobSpec:
    if spec.task.startswith(BUILT_IN):
        return spec
    for hook in middleware:
        changed: object = hook.function(spec)
        hook.refuse_awaitable(changed)
        if not isinstance(changed, JobSpec) or not isinstance(changed.arguments, bytes):  # pyright: ignore[reportUnnecessaryIsInstance] - unchecked callers exist
            raise InvalidHook(f"{hook} has to return a JobSpec with JSON as bytes, not {changed!r}")
        spec = changed
    if len(spec.arguments) > ARGUMENTS_LIMIT:
        raise OversizedArguments(spec.task, len(spec.arguments), ARGUMENTS_LIMIT)
    return spec
