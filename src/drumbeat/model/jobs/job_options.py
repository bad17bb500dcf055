"""Job options: the fields of a job that no store searches by, as one JSON object.

A store has columns for what its statements filter, order or change (`COLUMNS`). All other fields of
`JobSpec` are one nullable text, so a new field needs no change of a schema: it is added to
`JobSpec` and to `JobOptions`. Most jobs have only defaults: for them the text is None.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple, Protocol

from drumbeat.model.fast_construction import constructor_by
from drumbeat.model.jobs.job import JobSpec, Limit, Rate
from drumbeat.model.jobs.retry import Retry, Strategy
from drumbeat.model.time.instant import MICROSECOND, aware

COLUMNS = (
    "task",
    "arguments",
    "queue",
    "priority",
    "schedule",
    "tick_at",
    "limits",
    "rate",
    "tags",
)
"""The fields of `JobSpec` that a store keeps in columns of its own."""

MOST_TEXTS = 10_000
_DEFAULT = JobSpec("")


class JobOptions(NamedTuple):
    """All other fields of `JobSpec`, under the same names."""

    run_at: datetime | None = _DEFAULT.run_at
    delay: timedelta = _DEFAULT.delay
    retry: Retry = _DEFAULT.retry
    timeout: float | None = _DEFAULT.timeout
    dedupe_key: str | None = _DEFAULT.dedupe_key
    dedupe_for: timedelta = _DEFAULT.dedupe_for
    dedupe_scope: str | None = _DEFAULT.dedupe_scope
    expires: timedelta | datetime | None = _DEFAULT.expires
    retention: timedelta | None = _DEFAULT.retention
    trace: str | None = _DEFAULT.trace


class StoredSpec(Protocol):
    """Makes a `JobSpec` of its columns and then its options: every field, or a `TypeError`."""

    def __call__(
        self,
        task: str,
        arguments: bytes,
        queue: str,
        priority: int,
        schedule: str | None,
        tick_at: datetime | None,
        limits: tuple[Limit, ...],
        rate: Rate | None,
        tags: tuple[str, ...],
        /,
        *options: Any,  # Any: the fields of `JobOptions`, in their order
    ) -> JobSpec: ...


stored_spec: StoredSpec = constructor_by(JobSpec, (*COLUMNS, *JobOptions._fields))

option_values: Callable[[JobSpec], tuple[Any, ...]] = attrgetter(*JobOptions._fields)
"""The options of a job, in the order of `JobOptions`."""

DEFAULTS = JobOptions()
_SHARED: dict[str | None, JobOptions] = {None: DEFAULTS}
"""Options by their text: the jobs of a batch have few different ones."""


def options_to_text(spec: JobSpec) -> str | None:
    """The options of a job that are not the defaults; None: all are."""
    values = option_values(spec)
    return None if values == DEFAULTS else _text(_to_json(values))


def options_from_text(text: str | None) -> JobOptions:
    """The options that were written. A field that is absent has its default."""
    known = _SHARED.get(text)
    return _read(str(text)) if known is None else known


def options_to_json(spec: JobSpec) -> dict[str, object]:
    """The same as `options_to_text`, as an object within a larger document."""
    return _to_json(option_values(spec))


def options_from_json(data: Mapping[str, Any]) -> JobOptions:
    """The options that were written. Fields of a later version are left out."""
    if not data:
        return DEFAULTS
    return JobOptions(
        **{
            name: _READ[name](value) if name in _READ else value
            for name, value in data.items()
            if name in JobOptions._fields
        }
    )


def _to_json(values: tuple[Any, ...]) -> dict[str, object]:
    return {
        name: _WRITE[name](value) if name in _WRITE else value
        for name, usual, value in zip(JobOptions._fields, DEFAULTS, values, strict=True)
        if value != usual
    }


def _read(text: str) -> JobOptions:
    options = options_from_json(json.loads(text))
    if _is_common(options):
        if len(_SHARED) > MOST_TEXTS:
            _SHARED.clear()
            _SHARED[None] = DEFAULTS
        _SHARED[text] = options
    return options


def _retry_to_json(retry: Retry) -> list[object]:
    each_delay = [retry.each_delay] if retry.each_delay else []
    numbers = (retry.max_retries, retry.base_delay, retry.max_delay)
    return [retry.strategy.value, *numbers, *each_delay]


def _retry_from_json(parts: list[Any]) -> Retry:
    strategy, max_retries, base_delay, max_delay, *each_delay = parts
    return _retry(strategy, max_retries, base_delay, max_delay, *map(tuple, each_delay))


def _is_common(options: JobOptions) -> bool:
    """Whether other jobs are likely to have the same."""
    return (
        options.run_at is None
        and options.dedupe_key is None
        and options.trace is None
        and not isinstance(options.expires, datetime)
    )


def _write_expires(expires: timedelta | datetime) -> int | str:
    if isinstance(expires, datetime):
        return aware("expires", expires).isoformat()
    return expires // MICROSECOND


def _read_expires(value: int | str) -> timedelta | datetime:
    if isinstance(value, str):
        return aware("expires", datetime.fromisoformat(value))
    return value * MICROSECOND


@lru_cache(maxsize=MOST_TEXTS)
def _retry(
    strategy: str, max_retries: int, base_delay: float, max_delay: float, *each_delay: Any
) -> Retry:
    return Retry(Strategy(strategy), max_retries, base_delay, max_delay, *each_delay)


_WRITE: dict[str, Callable[[Any], Any]] = {
    "run_at": datetime.isoformat,
    "delay": lambda length: length // MICROSECOND,
    "retry": _retry_to_json,
    "dedupe_for": lambda length: length // MICROSECOND,
    "expires": _write_expires,
    "retention": lambda length: length // MICROSECOND,
}
_READ: dict[str, Callable[[Any], Any]] = {
    "run_at": lambda text: aware("run_at", datetime.fromisoformat(text)),
    "delay": lambda microseconds: microseconds * MICROSECOND,
    "retry": _retry_from_json,
    "dedupe_for": lambda microseconds: microseconds * MICROSECOND,
    "expires": _read_expires,
    "retention": lambda microseconds: microseconds * MICROSECOND,
}
_text = json.JSONEncoder(separators=(",", ":")).encode
