"""The insertion of jobs within a caller's own transaction, by any driver.

Drivers differ in how they convert types, so the parameter and the result are JSON texts.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from drumbeat.backends.postgres.connection.statements import Names
from drumbeat.backends.postgres.store.jobs.alike_insertion import created_job
from drumbeat.backends.postgres.store.jobs.job_row import JobRow, job_of
from drumbeat.backends.postgres.store.jobs.new_jobs import kind_of, own_columns_of
from drumbeat.backends.postgres.store.statements import JOBS
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Duplicate, Inserted, Job, JobSpec
from drumbeat.model.time.instant import aware

INSTANTS = ("run_at", "created_at", "tick_at", "started_at", "finished_at")
BYTES = ("arguments", "result")


class PostgresJoining:
    """Builds the statement that a caller's connection runs."""

    def __init__(self, names: Names) -> None:
        self._text = JOBS.of(names).submit

    def insertion(self, specs: Sequence[JobSpec]) -> CallerInsertion:
        return CallerInsertion(self._text, specs)


class CallerInsertion:
    """One statement that creates jobs, for any driver."""

    def __init__(self, text: str, specs: Sequence[JobSpec]) -> None:
        self.text = text
        self.value = json.dumps([_to_json(spec) for spec in specs])
        self._specs = specs

    def verdicts(self, rows: Sequence[Sequence[Any]]) -> Sequence[Inserted | Duplicate]:
        """The verdict on each job, in their order, from the rows that came back."""
        return [
            _verdict(spec, json.loads(text))
            for spec, (text,) in zip(self._specs, rows, strict=True)
        ]


def _to_json(spec: JobSpec) -> dict[str, object]:
    own = own_columns_of(spec)
    return {
        **kind_of(spec)._asdict(),
        **own._asdict(),
        "tick": None if own.tick is None else own.tick.isoformat(),
        "arguments": b64encode(spec.arguments).decode(),
    }


def _verdict(spec: JobSpec, answer: dict[str, Any]) -> Inserted | Duplicate:
    if answer["id"] is None:
        return Duplicate(_job(answer["standing"]))
    return Inserted(created_job(JobId(answer["id"]), spec, _instant(answer["moment"])))


def _job(columns: dict[str, Any]) -> Job:
    lane = (columns.pop("queue"), columns.pop("task"))
    for name in INSTANTS:
        columns[name] = None if columns[name] is None else _instant(columns[name])
    for name in BYTES:
        columns[name] = None if columns[name] is None else b64decode(columns[name])
    row = JobRow(**columns)
    return job_of(row, {row.lane: lane})


def _instant(text: str) -> datetime:
    return aware("instant", datetime.fromisoformat(text))
