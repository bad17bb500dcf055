"""Scheduling: what a caller writes of a schedule becomes its definition."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from msgspec import UNSET, UnsetType

from drumbeat.api.desk import Desk
from drumbeat.api.problem import Problem
from drumbeat.api.refusals import about
from drumbeat.api.submitting import (
    sorted_arguments,
    unchecked,
    with_arguments,
    with_its_secrets,
)
from drumbeat.engine.scheduled import Arguments, ScheduleOptions, schedule_of
from drumbeat.engine.task import TaskOptions
from drumbeat.model.job import JobSpec
from drumbeat.model.policy import Policies
from drumbeat.model.schedule import Schedule
from drumbeat.model.trigger import Trigger, trigger_from_json
from drumbeat.model.triggers import Cron, cron
from drumbeat.model.triggers.cron import ZONE_PREFIXES, check_steps
from drumbeat.rules.clock_changes import on_wall_clock
from drumbeat.rules.trigger_bounds import check_instants, check_nesting
from drumbeat.wire.new_schedule import ScheduleChangesView, ScheduleDefinitionView
from drumbeat.wire.retry import retry_of

OPTIONS = ("queue", "priority", "timeout")
"""Those that are called the same here and there."""


def definition_of(name: str, given: ScheduleDefinitionView, desk: Desk) -> Schedule:
    """The schedule that was written; for a task that only other nodes know, as it is given."""
    trigger = _trigger(given)
    policies = {} if isinstance(given.policies, UnsetType) else given.policies.given()
    options = _options(given)
    chosen = ScheduleOptions.sort({**options, **policies})
    args, named = sorted_arguments(given.args)
    description = _or(given.description, "")
    if given.task not in desk.registry.names:
        job = replace(unchecked(given.task, args, named), **options)
        return Schedule(name, trigger, job, chosen.policies, description)
    task = desk.registry.get(given.task)
    with_its_secrets(task.job(args, named), task.options.secret)
    return schedule_of(
        name,
        trigger,
        replace(task, options=task.options.but(chosen.task)),
        chosen,
        Arguments(args, named),
        description,
    )


def changed(schedule: Schedule, given: ScheduleChangesView, desk: Desk) -> Schedule:
    """The schedule with the changes that were written."""
    policies = schedule.policies
    if not isinstance(given.policies, UnsetType):
        policies = _amended(policies, given.policies.given())
    return Schedule(
        schedule.name,
        _changed_trigger(schedule.trigger, given),
        _changed_job(schedule.job, given, desk),
        policies,
        _or(given.description, schedule.description),
    )


def trigger_of(when: str | dict[str, Any], tz: str | None = None) -> Trigger:
    """The trigger that a cron expression or an object names."""
    if isinstance(when, str):
        return cron(when, tz=tz)
    if tz is not None:
        raise Problem(
            422, "invalid-input", "tz goes with a cron expression; a trigger has its own", "tz"
        )
    check_nesting(when)
    trigger = trigger_from_json(when)
    check_instants(trigger)
    on_clock = on_wall_clock(trigger)
    if isinstance(on_clock, Cron):
        check_steps(on_clock)
    return trigger


def _trigger(given: ScheduleChangesView) -> Trigger:
    assert not isinstance(given.when, UnsetType), "whoever asks has looked"
    trigger = trigger_of(given.when, _or(given.tz, None))
    return trigger.with_dst(_or(given.dst_gap, None), _or(given.dst_repeat, None))


def _changed_trigger(trigger: Trigger, given: ScheduleChangesView) -> Trigger:
    if isinstance(given.when, str):
        return _rewritten(trigger, given.when, given)
    if not isinstance(given.when, UnsetType):
        return _trigger(given)
    if given.tz is not UNSET:
        raise Problem(422, "invalid-input", "give when together with tz", field="tz")
    return trigger.with_dst(_or(given.dst_gap, None), _or(given.dst_repeat, None))


def _rewritten(trigger: Trigger, expression: str, given: ScheduleChangesView) -> Trigger:
    """The expression, with what the old trigger says of the clock unless something else is said."""
    old = on_wall_clock(trigger)
    if old is None:
        return _trigger(given)
    says_its_zone = expression.lstrip().startswith(ZONE_PREFIXES)
    new = trigger_of(expression, _or(given.tz, None if says_its_zone else old.tz))
    return new.with_dst(_or(given.dst_gap, old.dst_gap), _or(given.dst_repeat, old.dst_repeat))


def _changed_job(job: JobSpec, given: ScheduleChangesView, desk: Desk) -> JobSpec:
    job = replace(job, **_options(given))
    if not isinstance(given.task, UnsetType):
        unchecked(given.task, (), {})  # refuses names that are not to be submitted
        if given.task != job.task and given.args is UNSET:
            raise Problem(
                422,
                "invalid-input",
                f"another task needs its own args: those of {job.task!r} may hold secrets that "
                f"{given.task!r} does not mark; give args together with task",
                field="args",
                rule="given together with another task",
            )
        job = replace(job, task=given.task)
    if not isinstance(given.args, UnsetType):
        job = with_arguments(job, given.args, desk)
    return job


def _options(given: ScheduleChangesView) -> dict[str, Any]:
    """Options of the jobs, by name, as the model has them."""
    chosen = {name: value for name in OPTIONS if (value := getattr(given, name)) is not UNSET}
    if "queue" in chosen:
        with about("queue"):
            TaskOptions.of({"queue": chosen["queue"]})  # refuses the leader's own
    if not isinstance(given.retry, UnsetType):
        chosen["retry"] = retry_of(given.retry)
    if not isinstance(given.tags, UnsetType):
        chosen["tags"] = tuple(given.tags)
    return chosen


def _amended(policies: Policies, given: dict[str, Any]) -> Policies:
    return replace(policies, **given)


def _or(value: Any, default: Any) -> Any:
    return default if value is UNSET else value
