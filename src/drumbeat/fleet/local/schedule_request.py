"""Turns a requested schedule, or requested changes of one, into a `Schedule`."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from msgspec import UNSET, UnsetType

from drumbeat.engine.tasks.options import TaskOptions
from drumbeat.engine.tasks.scheduled import Arguments, ScheduleOptions, schedule_of
from drumbeat.fleet.local.fault import fault_of
from drumbeat.fleet.local.job_request import (
    sorted_arguments,
    unchecked,
    with_arguments,
    with_its_secrets,
)
from drumbeat.fleet.local.services import Services
from drumbeat.model.errors import InvalidInput
from drumbeat.model.jobs.job import JobSpec
from drumbeat.model.schedules.schedule import Schedule
from drumbeat.model.triggers import Cron, cron
from drumbeat.model.triggers.cron.cron import ZONE_PREFIXES, check_steps
from drumbeat.model.triggers.trigger import Trigger, trigger_from_json
from drumbeat.rules.schedules.clock_changes import on_wall_clock
from drumbeat.rules.schedules.trigger_bounds import check_instants, check_nesting
from drumbeat.wire.new_schedule import ScheduleChangesView, ScheduleDefinitionView

OPTIONS = ("queue", "priority", "timeout")
"""Options that have the same name in a request and in a `JobSpec`."""


def definition_of(name: str, given: ScheduleDefinitionView, services: Services) -> Schedule:
    """The requested schedule. Arguments of a task that only other nodes know are not checked."""
    trigger = _trigger(given)
    policies = {} if isinstance(given.policies, UnsetType) else given.policies.given()
    options = _options(given)
    chosen = ScheduleOptions.sort({**options, **policies})
    args, named = sorted_arguments(given.args)
    description = _or(given.description, "")
    if not services.registry.knows(given.task):
        job = replace(unchecked(given.task, args, named), **options)
        return Schedule(name, trigger, job, chosen.policies, description)
    task = services.registry.get(given.task)
    with_its_secrets(task.job(args, named), task.options.secret)
    return schedule_of(
        name,
        trigger,
        task.for_schedule(chosen.task),
        chosen,
        Arguments(args, named),
        description,
    )


def changed(schedule: Schedule, given: ScheduleChangesView, services: Services) -> Schedule:
    """The schedule with the requested changes. A new trigger without a zone has the app's."""
    policies = schedule.policies
    if not isinstance(given.policies, UnsetType):
        policies = replace(policies, **given.policies.given())
    return Schedule(
        schedule.name,
        _changed_trigger(schedule.trigger, given).in_zone(services.registry.defaults.tz),
        _changed_job(schedule.job, given, services),
        policies,
        _or(given.description, schedule.description),
    )


def trigger_of(when: str | dict[str, Any], tz: str | None = None) -> Trigger:
    """The trigger that a cron expression or an object names."""
    if isinstance(when, str):
        return cron(when, tz=tz)
    if tz is not None:
        raise InvalidInput("tz goes with a cron expression; a trigger has its own", parameter="tz")
    check_nesting(when)
    trigger = trigger_from_json(when)
    check_instants(trigger)
    on_clock = on_wall_clock(trigger)
    if isinstance(on_clock, Cron):
        check_steps(on_clock)
    return trigger


def _trigger(given: ScheduleChangesView) -> Trigger:
    assert not isinstance(given.when, UnsetType), "the caller has checked it"
    trigger = trigger_of(given.when, _or(given.tz, None))
    return trigger.with_dst(_or(given.dst_gap, None), _or(given.dst_repeat, None))


def _changed_trigger(trigger: Trigger, given: ScheduleChangesView) -> Trigger:
    if isinstance(given.when, str):
        return _rewritten(trigger, given.when, given)
    if not isinstance(given.when, UnsetType):
        return _trigger(given)
    if given.tz is not UNSET:
        raise InvalidInput("give when together with tz", parameter="tz")
    return trigger.with_dst(_or(given.dst_gap, None), _or(given.dst_repeat, None))


def _rewritten(trigger: Trigger, expression: str, given: ScheduleChangesView) -> Trigger:
    """The expression, with the zone and DST policies of the old trigger unless others are given."""
    old = on_wall_clock(trigger)
    if old is None:
        return _trigger(given)
    says_its_zone = expression.lstrip().startswith(ZONE_PREFIXES)
    new = trigger_of(expression, _or(given.tz, None if says_its_zone else old.tz))
    return new.with_dst(_or(given.dst_gap, old.dst_gap), _or(given.dst_repeat, old.dst_repeat))


def _changed_job(job: JobSpec, given: ScheduleChangesView, services: Services) -> JobSpec:
    job = replace(job, **_options(given))
    if not isinstance(given.task, UnsetType):
        unchecked(given.task, (), {})  # refuses names that are not to be submitted
        if given.task != job.task and given.args is UNSET:
            raise InvalidInput(
                f"another task needs its own args: those of {job.task!r} may hold secrets that "
                f"{given.task!r} does not mark; give args together with task",
                parameter="args",
                rule="given together with another task",
            )
        job = replace(job, task=given.task)
    if not isinstance(given.args, UnsetType):
        job = with_arguments(job, given.args, services)
    return job


def _options(given: ScheduleChangesView) -> dict[str, Any]:
    """The given job options by name, as values of the model."""
    chosen = {name: value for name in OPTIONS if (value := getattr(given, name)) is not UNSET}
    if "queue" in chosen:
        with fault_of("queue"):
            TaskOptions.of({"queue": chosen["queue"]})  # refuses the leader's own
    if not isinstance(given.retry, UnsetType):
        chosen["retry"] = given.retry.retry()
    if not isinstance(given.expires, UnsetType):
        chosen["expires"] = None if given.expires is None else timedelta(seconds=given.expires)
    if not isinstance(given.tags, UnsetType):
        chosen["tags"] = tuple(given.tags)
    return chosen


def _or(value: Any, default: Any) -> Any:
    return default if value is UNSET else value
