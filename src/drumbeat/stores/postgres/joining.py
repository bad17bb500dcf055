"""Joining: jobs are created within a transaction of the caller's own, by any driver.

Drivers differ in what they make of types, so both the question and the answer are texts of JSON.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from drumbeat.model.ids import JobId
from drumbeat.model.instant import aware
from drumbeat.model.job import Duplicate, Inserted, Job, JobSpec
from drumbeat.postgres.statements import Names
from drumbeat.stores.postgres.inserting import created
from drumbeat.stores.postgres.rows import job_of
from drumbeat.stores.postgres.specs import plain_of
from drumbeat.stores.postgres.sql import JOBS

INSTANTS = ("run_at", "created_at", "asked_at", "tick_at", "started_at", "finished_at")
BYTES = ("arguments", "result")


class PostgresJoining:
    """Makes the statement that a caller's connection runs."""

    def __init__(self, names: Names) -> None:
        self._text = JOBS.of(names).submit

    def insertion(self, specs: Sequence[JobSpec]) -> PostgresInsertion:
        """The statement that creates these jobs."""
        return PostgresInsertion(self._text, specs)


class PostgresInsertion:
    """One statement that creates jobs, for any driver."""

    def __init__(self, text: str, specs: Sequence[JobSpec]) -> None:
        self.text = text
        self.value = json.dumps([_to_json(spec) for spec in specs])
        self._specs = specs

    def verdicts(self, rows: Sequence[Sequence[Any]]) -> Sequence[Inserted | Duplicate]:
        """What the rows that came back say, in the order of the jobs."""
        return [
            _verdict(spec, json.loads(row[0])) for spec, row in zip(self._specs, rows, strict=True)
        ]


def _to_json(spec: JobSpec) -> dict[str, object]:
    return {**plain_of(spec), "arguments": b64encode(spec.arguments).decode()}


def _verdict(spec: JobSpec, answer: dict[str, Any]) -> Inserted | Duplicate:
    if answer["id"] is None:
        return Duplicate(_job(answer["standing"]))
    return Inserted(created(JobId(answer["id"]), spec, _instant(answer["moment"])))


def _job(columns: dict[str, Any]) -> Job:
    lane = (columns.pop("queue"), columns.pop("task"))
    for name in INSTANTS:
        columns[name] = None if columns[name] is None else _instant(columns[name])
    for name in BYTES:
        columns[name] = None if columns[name] is None else b64decode(columns[name])
    return job_of(tuple(columns.values()), {columns["lane"]: lane})


def _instant(text: str) -> datetime:
    return aware("instant", datetime.fromisoformat(text))
