"""Documents: values as JSON text, for stores that keep them whole.

`..._from_text` reads what `..._to_text` wrote as an equal value, also in a later version: a field
that is absent has its default. Durations are whole microseconds and instants are texts with their
zone, so nothing is rounded. Only stores read these documents; the HTTP API has its own formats.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeAlias

from drumbeat.model.encoding.json_object import known
from drumbeat.model.fleet.node import Node, NodeMetrics, Role
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import JobSpec, Limit, OnConflict, Progress, Rate
from drumbeat.model.jobs.job_options import options_from_json, options_to_json, stored_spec
from drumbeat.model.schedules.policy import Policies
from drumbeat.model.schedules.schedule import Schedule
from drumbeat.model.time.instant import MICROSECOND, aware
from drumbeat.model.triggers.trigger import Trigger, trigger_from_json

Json: TypeAlias = Any
"""Decoded JSON that we have written ourselves: checked by the constructors that it goes to."""

SHARED = 10_000
"""Triggers and policies that are cached: a new leader reads all schedules, which share them."""
BYTES_IN_TEXT = "surrogateescape"
"""Arguments are JSON, so UTF-8; with this, other bytes are read as they were written, too."""


def schedule_to_text(schedule: Schedule) -> str:
    return _text(
        {
            "name": schedule.name,
            "trigger": schedule.trigger.to_json(),
            "job": _job_to_json(schedule.job),
            "policies": _policies_to_json(schedule.policies),
            "description": schedule.description,
        }
    )


def schedule_from_text(text: str) -> Schedule:
    return schedule_from_json(json.loads(text))


def schedule_from_json(data: Json) -> Schedule:
    """The same, from text that was decoded before."""
    return Schedule(
        data["name"],
        _trigger_from_json(data["trigger"]),
        _job_from_json(data["job"]),
        _policies_from_items(tuple(data.get("policies", {}).items())),
        data.get("description", ""),
    )


def _job_to_json(spec: JobSpec) -> dict[str, object]:
    return known(
        task=spec.task,
        arguments=spec.arguments.decode(errors=BYTES_IN_TEXT),
        queue=spec.queue,
        priority=spec.priority,
        schedule=spec.schedule,
        tick_at=_instant_to_json(spec.tick_at),
        limits=[_limit_to_json(limit) for limit in spec.limits],
        rate=None if spec.rate is None else _rate_to_json(spec.rate),
        tags=list(spec.tags),
        options=options_to_json(spec),
    )


def _job_from_json(data: Json) -> JobSpec:
    rate = data.get("rate")
    return stored_spec(
        data["task"],
        data["arguments"].encode(errors=BYTES_IN_TEXT),
        data["queue"],
        data["priority"],
        data.get("schedule"),
        _instant_from_json("tick_at", data.get("tick_at")),
        tuple(_limit_from_json(limit) for limit in data["limits"]),
        None if rate is None else _rate_from_json(rate),
        tuple(data["tags"]),
        *options_from_json(data["options"]),
    )


def limits_to_text(limits: Sequence[Limit]) -> str:
    return _text([_limit_to_json(limit) for limit in limits]) if limits else ""


def limits_from_text(text: str) -> tuple[Limit, ...]:
    return tuple(_limit_from_json(limit) for limit in json.loads(text)) if text else ()


def rate_to_text(rate: Rate | None) -> str:
    return "" if rate is None else _text(_rate_to_json(rate))


def rate_from_text(text: str) -> Rate | None:
    return _rate_from_json(json.loads(text)) if text else None


def tags_to_text(tags: Sequence[str]) -> str:
    return _text(list(tags))


def tags_from_text(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def progress_to_text(progress: Progress) -> str:
    return _text([progress.done, progress.total, progress.message])


def progress_from_text(text: str) -> Progress:
    done, total, message = json.loads(text)
    return Progress(done, total, message)


def node_to_text(node: Node) -> str:
    return _text(
        {
            "id": node.id,
            "roles": sorted(role.value for role in node.roles),
            "version": node.version,
            "started_at": _instant_to_json(node.started_at),
            "slots": node.slots,
            "busy": node.busy,
            "queues": list(node.queues),
            "draining": node.draining,
            "addresses": list(node.addresses),
            "metrics": {
                "claimed": node.metrics.claimed,
                "completed": node.metrics.completed,
                "failed": node.metrics.failed,
                "fired": node.metrics.fired,
                "last_claim_at": _instant_to_json(node.metrics.last_claim_at),
            },
            **known(witness=node.witness),
        }
    )


def node_from_text(text: str) -> Node:
    """Roles that this version does not know are left out."""
    data: Json = json.loads(text)
    return Node(
        NodeId(data["id"]),
        frozenset(role for role in Role if role.value in data["roles"]),
        data["version"],
        datetime.fromisoformat(data["started_at"]),
        data["slots"],
        data["busy"],
        tuple(data["queues"]),
        data["draining"],
        _node_metrics_from_json(data.get("metrics", {})),
        tuple(data.get("addresses", ())),
        data.get("witness"),
    )


def _node_metrics_from_json(data: Json) -> NodeMetrics:
    """Of a node of an earlier version, which reports none, all are 0."""
    claimed_at = data.get("last_claim_at")
    return NodeMetrics(
        data.get("claimed", 0),
        data.get("completed", 0),
        data.get("failed", 0),
        data.get("fired", 0),
        None if claimed_at is None else datetime.fromisoformat(claimed_at),
    )


def _policies_to_json(policies: Policies) -> dict[str, object]:
    return known(
        misfire=policies.misfire.value,
        window=policies.window // MICROSECOND,
        cap=policies.cap,
        overlap=policies.overlap.value,
        jitter=policies.jitter // MICROSECOND,
        start_at=_instant_to_json(policies.start_at),
        end_at=_instant_to_json(policies.end_at),
        max_runs=policies.max_runs,
        run_on=policies.run_on.value,
    )


def _trigger_from_json(data: Json) -> Trigger:
    try:
        return _trigger_from_items(tuple(data.items()))
    except TypeError:  # a list in it cannot be a key
        return _trigger_from_text(_text(data))


@lru_cache(maxsize=SHARED)
def _trigger_from_text(text: str) -> Trigger:
    return trigger_from_json(json.loads(text))


@lru_cache(maxsize=SHARED)
def _trigger_from_items(items: tuple[tuple[str, object], ...]) -> Trigger:
    return trigger_from_json(dict(items))


@lru_cache(maxsize=SHARED)
def _policies_from_items(items: tuple[tuple[str, Json], ...]) -> Policies:
    fields = dict(items)
    for name in ("window", "jitter"):
        if name in fields:
            fields[name] *= MICROSECOND
    for name in ("start_at", "end_at"):
        if name in fields:
            fields[name] = _instant_from_json(name, fields[name])
    return Policies(**fields)


def _limit_to_json(limit: Limit) -> list[object]:
    return [limit.key, limit.at_most, limit.on_conflict.value]


def _limit_from_json(data: Json) -> Limit:
    key, at_most, on_conflict = data
    return Limit(key, at_most, OnConflict(on_conflict))


def _rate_to_json(rate: Rate) -> list[object]:
    return [rate.key, rate.at_most, rate.per // MICROSECOND]


def _rate_from_json(data: Json) -> Rate:
    key, at_most, per = data
    return Rate(key, at_most, per * MICROSECOND)


def _instant_to_json(instant: datetime | None) -> str | None:
    return None if instant is None else instant.isoformat()


def _instant_from_json(field: str, text: str | None) -> datetime | None:
    return None if text is None else aware(field, datetime.fromisoformat(text))


_text = json.JSONEncoder(separators=(",", ":")).encode
