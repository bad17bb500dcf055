"""Submitting: what a caller posts becomes a job's spec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from drumbeat.api.desk import Desk
from drumbeat.api.problem import Problem
from drumbeat.engine.task import BUILT_IN, TaskOptions
from drumbeat.model.duration import parse_duration
from drumbeat.model.errors import OversizedArguments
from drumbeat.model.job import ARGUMENTS_LIMIT, JobSpec
from drumbeat.wire.fields import Arguments
from drumbeat.wire.new_job import NewJobView

PAYLOAD = "payload"
"""What the one argument is called where the task is not known."""
OPTIONS = ("queue", "priority", "delay", "timeout", "dedupe_key", "dedupe_for")
"""Those that are called the same here and there."""


def spec_of(new: NewJobView, desk: Desk) -> JobSpec:
    """The job that was asked for; of a task that only other nodes know, as it is given."""
    task = new.task or desk.config.default_task
    if task is None:
        raise Problem(
            422,
            "task-missing",
            "name the task, or let the server have a default_task for bare payloads",
            field="task",
        )
    args, named = _arguments(new)
    chosen = _options(new)
    if task not in desk.registry.names:
        return unchecked(task, args, named, TaskOptions.of(chosen))
    definition = desk.registry.get(task)
    return definition.job(args, named, definition.options.but(chosen) if chosen else None)


def _arguments(new: NewJobView) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    if new.args is UNSET:
        return () if new.payload is UNSET else (new.payload,), {}
    if new.payload is not UNSET:
        raise Problem(422, "invalid-input", "give payload or args, not both", field="payload")
    return sorted_arguments(new.args)


def sorted_arguments(args: Arguments | UnsetType) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    """The arguments in order, and those by name."""
    if isinstance(args, UnsetType):
        return (), {}
    return ((), args) if isinstance(args, dict) else (tuple(args), {})


def with_arguments(spec: JobSpec, args: Arguments, desk: Desk) -> JobSpec:
    """The job with other arguments, checked if its task is known here."""
    in_order, named = sorted_arguments(args)
    if spec.task not in desk.registry.names:
        return replace(spec, arguments=unchecked(spec.task, in_order, named).arguments)
    fresh = desk.registry.get(spec.task).job(in_order, named)
    keyed = desk.registry.get(spec.task).options.key is not None
    return replace(spec, arguments=fresh.arguments, limits=fresh.limits if keyed else spec.limits)


def _options(new: NewJobView) -> dict[str, Any]:
    chosen = {name: value for name in OPTIONS if (value := getattr(new, name)) is not None}
    if new.schedule_at is not None:
        chosen["run_at"] = new.schedule_at
    if new.tags:
        chosen["tags"] = tuple(new.tags)
    return chosen


def unchecked(
    task: str,
    args: tuple[Any, ...],
    named: Mapping[str, Any],
    options: TaskOptions = TaskOptions(),  # noqa: B008 - frozen
) -> JobSpec:
    """A job whose arguments nobody here can check; the worker that knows the task will."""
    if task.startswith(BUILT_IN):
        raise Problem(
            422,
            "invalid-input",
            f"task {task!r} is Drumbeat's own, and not to be submitted",
            field="task",
        )
    if len(args) > 1:
        raise Problem(
            422,
            "invalid-input",
            f"task {task!r} is not known here, so its arguments have to be given by name",
            field="args",
        )
    arguments = msgspec.json.encode({PAYLOAD: args[0]} if args else named)
    if len(arguments) > ARGUMENTS_LIMIT:
        raise OversizedArguments(task, len(arguments), ARGUMENTS_LIMIT)
    return JobSpec(
        task=task,
        arguments=arguments,
        queue=options.queue,
        priority=options.priority,
        run_at=options.run_at,
        delay=parse_duration(options.delay),
        retry=options.retry,
        timeout=None
        if options.timeout is None
        else parse_duration(options.timeout).total_seconds(),
        dedupe_key=options.dedupe_key,
        dedupe_for=parse_duration(options.dedupe_for),
        tags=options.tags,
    )
