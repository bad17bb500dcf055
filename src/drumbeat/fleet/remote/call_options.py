"""Options of jobs and schedules as keyword arguments, and their fields in requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeAlias, TypedDict

from drumbeat.model.errors import InvalidInput, InvalidOption
from drumbeat.model.jobs.dedupe import check_dedupe_for
from drumbeat.model.jobs.expiry import check_expires
from drumbeat.model.jobs.retry import Retry
from drumbeat.model.schedules.policy import MisfireName, OverlapName, RunOnName
from drumbeat.model.time.duration import parse_duration
from drumbeat.model.time.instant import aware
from drumbeat.model.time.zones import DstGapName, DstRepeatName
from drumbeat.wire.retry import new_retry_view

Length: TypeAlias = float | str | timedelta
"""A length of time: seconds, or as in "15s"."""


class JobSettings(TypedDict, total=False):
    """Options of a job. They mean what those of `task.options()` do."""

    queue: str
    priority: int
    timeout: Length
    retry: Retry
    dedupe_key: str
    dedupe_for: Length
    dedupe_scope: str
    delay: Length
    run_at: datetime
    tags: Sequence[str]
    expires: Length | datetime


class RemotePolicySettings(TypedDict, total=False):
    """Policies of a schedule."""

    misfire: MisfireName
    window: Length
    cap: int
    overlap: OverlapName
    jitter: Length
    start_at: datetime | None
    end_at: datetime | None
    max_runs: int | None
    run_on: RunOnName


class ScheduleSettings(RemotePolicySettings, total=False):
    """Policies of a schedule, and the options of its jobs."""

    dst_gap: DstGapName
    dst_repeat: DstRepeatName
    queue: str
    priority: int
    timeout: Length | None
    retry: Retry
    tags: Sequence[str]
    expires: Length | None


LENGTHS = frozenset({"timeout", "dedupe_for", "delay", "window", "jitter", "expires"})
INSTANTS = frozenset({"run_at", "start_at", "end_at"})
NAMES = {"run_at": "schedule_at"}
"""Options whose field in the request has another name."""


def arguments_of(args: Sequence[Any] | None, kwargs: Mapping[str, Any] | None) -> dict[str, Any]:
    """The arguments as fields of a request; none if no arguments are given."""
    if args and kwargs:
        raise InvalidInput("give args or kwargs, not both: arguments are given in order or by name")
    if args:
        return {"args": list(args)}
    if kwargs is not None:
        return {"args": dict(kwargs)}
    return {} if args is None else {"args": []}


def job_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a job as fields of a request."""
    _refuse_unknown(given, JobSettings.__annotations__)
    return {NAMES.get(name, name): _sent(name, value) for name, value in given.items()}


def schedule_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a schedule as fields of a request."""
    _refuse_unknown(given, ScheduleSettings.__annotations__)
    sent = {name: _sent(name, value) for name, value in given.items()}
    policies = {
        name: sent.pop(name) for name in RemotePolicySettings.__annotations__ if name in sent
    }
    return {**sent, "policies": policies} if policies else sent


def _sent(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in INSTANTS or isinstance(value, datetime):
        return aware(name, value)
    if name in LENGTHS:
        length = parse_duration(value)
        if name == "dedupe_for":
            check_dedupe_for(length)
        if name == "expires":
            check_expires(length)
        return length.total_seconds()
    if isinstance(value, Retry):
        return new_retry_view(value)
    return value


def _refuse_unknown(given: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    unknown = given.keys() - known.keys()
    if unknown:
        raise InvalidOption(f"unknown option {min(unknown)!r}; known: {', '.join(sorted(known))}")
