"""Submitting: what a caller posts becomes a job's spec."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from drumbeat.api.desk import Desk
from drumbeat.api.problem import Problem
from drumbeat.engine.task import BUILT_IN
from drumbeat.model.errors import OversizedArguments
from drumbeat.model.instant import aware
from drumbeat.model.job import ARGUMENTS_LIMIT, LEADER_QUEUE, JobSpec
from drumbeat.model.json_depth import refuse_deep_arguments
from drumbeat.model.swift import swift
from drumbeat.model.wording import listed
from drumbeat.wire.fields import Arguments
from drumbeat.wire.new_job import NewJobView
from drumbeat.wire.redaction import REDACTED
from drumbeat.wire.retry import retry_of

PAYLOAD = "payload"
"""What the one argument is called where the task is not known."""
SHOWN = msgspec.json.encode(REDACTED)
new_job_spec = swift(JobSpec)


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
    if task in desk.registry.names:
        known = desk.registry.get(task)
        spec = known.job(args, named)
        return _changed(with_its_secrets(spec, known.options.secret), new)
    return _changed(unchecked(task, args, named), new)


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
    known = desk.registry.get(spec.task)
    fresh = with_its_secrets(known.job(in_order, named), known.options.secret)
    keyed = known.options.key is not None
    return replace(spec, arguments=fresh.arguments, limits=fresh.limits if keyed else spec.limits)


def with_its_secrets(spec: JobSpec, secret: Collection[str]) -> JobSpec:
    """The job itself; a `Problem` if a secret of it is what is shown in place of one."""
    if secret and SHOWN in spec.arguments:
        given = msgspec.json.decode(spec.arguments)
        hidden = [name for name in secret if given.get(name) == REDACTED]
        if hidden:
            raise Problem(
                422,
                "invalid-input",
                f"{listed(hidden)} of task {spec.task!r} is secret and only shown as {REDACTED!r}: "
                f"give the value itself, or leave args out where that is possible",
                field="args",
            )
    return spec


def _changed(spec: JobSpec, new: NewJobView) -> JobSpec:
    """The job with all that the caller wants otherwise; the wire has checked most of it."""
    delay, run_at = spec.delay, spec.run_at
    if new.delay is not None:
        delay = timedelta(seconds=new.delay)
    if new.schedule_at is not None:
        run_at = aware("schedule_at", new.schedule_at)
    if run_at is not None and delay:
        raise Problem(422, "invalid-input", "give schedule_at or delay, not both", field="delay")
    if new.queue == LEADER_QUEUE:
        raise Problem(
            422,
            "invalid-input",
            f"the queue {LEADER_QUEUE!r} is the leader's own: name another",
            field="queue",
        )
    # Field by field: this is done for every request, and `dataclasses.replace` takes ten times
    # as long.
    return new_job_spec(
        spec.task,
        spec.arguments,
        new.queue or spec.queue,
        spec.priority if new.priority is None else new.priority,
        run_at,
        delay,
        spec.retry if new.retry is None else retry_of(new.retry),
        new.timeout or spec.timeout,
        new.dedupe_key or spec.dedupe_key,
        spec.dedupe_for if new.dedupe_for is None else timedelta(seconds=new.dedupe_for),
        limits=spec.limits,
        rate=spec.rate,
        tags=tuple(new.tags) or spec.tags,
    )


def unchecked(task: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> JobSpec:
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
    refuse_deep_arguments(task, arguments)
    return JobSpec(task, arguments)
