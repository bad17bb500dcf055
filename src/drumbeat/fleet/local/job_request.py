"""Turns a requested job into a `JobSpec`, and rejects what may not be submitted."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from drumbeat.engine.tasks.task import BUILT_IN
from drumbeat.fleet.local.services import Services
from drumbeat.model.encoding.json_depth import refuse_deep_arguments
from drumbeat.model.errors import InvalidInput, MissingTask, OversizedArguments
from drumbeat.model.fast_construction import fast_replace
from drumbeat.model.jobs.job import ARGUMENTS_LIMIT, LEADER_QUEUE, JobSpec
from drumbeat.model.text import listed
from drumbeat.model.time.instant import aware
from drumbeat.wire.fields import Arguments
from drumbeat.wire.new_job import NewJobView
from drumbeat.wire.redaction import REDACTED

PAYLOAD = "payload"
"""The name of the only argument of a task that is not known here."""
SHOWN = msgspec.json.encode(REDACTED)
replaced = fast_replace(JobSpec)


def spec_of(new: NewJobView, services: Services) -> JobSpec:
    """The requested job. Arguments of a task that only other nodes know are not checked."""
    task = new.task or services.config.default_task
    if task is None:
        raise MissingTask(
            "name the task, or set DRUMBEAT_DEFAULT_TASK (the setting default_task) of the server "
            "to the task of jobs without one"
        )
    args, named = _arguments(new)
    if services.registry.knows(task):
        known = services.registry.get(task)
        spec = known.job(args, named)
        return _with_options(with_its_secrets(spec, known.options.secret), new)
    return _with_options(unchecked(task, args, named), new)


def _arguments(new: NewJobView) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    if new.args is UNSET:
        return () if new.payload is UNSET else (new.payload,), {}
    if new.payload is not UNSET:
        raise InvalidInput("give payload or args, not both", parameter="payload")
    return sorted_arguments(new.args)


def sorted_arguments(args: Arguments | UnsetType) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    """The positional arguments, and the named ones."""
    if isinstance(args, UnsetType):
        return (), {}
    return ((), args) if isinstance(args, dict) else (tuple(args), {})


def with_arguments(spec: JobSpec, args: Arguments, services: Services) -> JobSpec:
    """The job with other arguments, checked if its task is known here."""
    in_order, named = sorted_arguments(args)
    if not services.registry.knows(spec.task):
        return replace(spec, arguments=unchecked(spec.task, in_order, named).arguments)
    known = services.registry.get(spec.task)
    return with_its_secrets(known.with_arguments(spec, in_order, named), known.options.secret)


def with_its_secrets(spec: JobSpec, secret: Collection[str]) -> JobSpec:
    """The job itself; `InvalidInput` if a secret argument is what redacted ones are shown as."""
    if secret and SHOWN in spec.arguments:
        given = msgspec.json.decode(spec.arguments)
        hidden = [name for name in secret if given.get(name) == REDACTED]
        if hidden:
            raise InvalidInput(
                f"{listed(hidden)} of task {spec.task!r} is secret and only shown as {REDACTED!r}: "
                f"give the value itself, or leave args out where that is possible",
                parameter="args",
            )
    return spec


def _with_options(spec: JobSpec, new: NewJobView) -> JobSpec:
    """The job with the options of the request. Decoding has checked most of them."""
    delay, run_at = spec.delay, spec.run_at
    if new.delay is not None:
        delay = timedelta(seconds=new.delay)
    if new.schedule_at is not None:
        run_at = aware("schedule_at", new.schedule_at)
    if run_at is not None and delay:
        raise InvalidInput("give schedule_at or delay, not both", parameter="delay")
    if new.queue == LEADER_QUEUE:
        raise InvalidInput(
            f"the queue {LEADER_QUEUE!r} is the leader's own: name another",
            parameter="queue",
        )
    return replaced(
        spec,
        queue=new.queue or spec.queue,
        priority=spec.priority if new.priority is None else new.priority,
        run_at=run_at,
        delay=delay,
        retry=spec.retry if new.retry is None else new.retry.retry(),
        timeout=new.timeout or spec.timeout,
        dedupe_key=new.dedupe_key or spec.dedupe_key,
        dedupe_for=spec.dedupe_for if new.dedupe_for is None else timedelta(seconds=new.dedupe_for),
        dedupe_scope=new.dedupe_scope or spec.dedupe_scope,
        tags=tuple(new.tags) or spec.tags,
        expires=spec.expires if new.expires is None else _expires(new.expires),
    )


def _expires(given: float | datetime) -> timedelta | datetime:
    return aware("expires", given) if isinstance(given, datetime) else timedelta(seconds=given)


def unchecked(task: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> JobSpec:
    """A job of a task that is not known here: the worker that knows it checks its arguments."""
    if task.startswith(BUILT_IN):
        raise InvalidInput(
            f"task {task!r} is Drumbeat's own, and not to be submitted",
            parameter="task",
        )
    if len(args) > 1:
        raise InvalidInput(
            f"task {task!r} is not known here, so its arguments have to be given by name",
            parameter="args",
        )
    arguments = msgspec.json.encode({PAYLOAD: args[0]} if args else named)
    if len(arguments) > ARGUMENTS_LIMIT:
        raise OversizedArguments(task, len(arguments), ARGUMENTS_LIMIT)
    refuse_deep_arguments(task, arguments)
    return JobSpec(task, arguments)
