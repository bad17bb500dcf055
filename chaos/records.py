"""Reads the store at the end of a run, and the journals of the processes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from chaos.beliefs import terms_in
from chaos.history import Ending, Fault, Fire, Gain, Kind, Life, Run, StoredJob, Term
from chaos.journal import Entry, read_journals
from chaos.node import BLOCK
from drumbeat import Drumbeat
from drumbeat.model.jobs.job import Job, Status
from drumbeat.model.page import LARGEST_PAGE, PageRequest
from drumbeat.model.schedules.plan import Outcome, TickRecord


@dataclass(frozen=True, slots=True)
class StoreRecords:
    """The content of the store."""

    due: dict[str, list[datetime]]
    ledger: list[Fire]
    skipped: list[str]
    """The skipped ticks of the ledger as sentences; each of them is a violation."""
    jobs: list[StoredJob]


async def read_store(client: Drumbeat, schedules: Iterable[str], end: datetime) -> StoreRecords:
    """Read the store. Ticks are due up to `end`, which all schedules have passed.

    If a schedule fired once more before it was paused, its ticks are due up to that fire.
    """
    due: dict[str, list[datetime]] = {}
    fires: list[Fire] = []
    skipped: list[str] = []
    for name in schedules:
        stored = await client.schedules.get(name)
        rows = await _ticks(client, name)
        fired = [_fire(row) for row in rows if row.outcome is Outcome.FIRED]
        last = max([end, *(fire.tick_at for fire in fired)])
        due[name] = list(stored.schedule.trigger.between(stored.created_at, last))
        fires += fired
        skipped += [
            f"{row.count} ticks of {name} from {row.tick_at} were skipped: {row.reason}"
            for row in rows
            if row.outcome is not Outcome.FIRED and row.tick_at <= last
        ]
    fires.sort(key=lambda fire: (fire.recorded_at, fire.tick_at))
    return StoreRecords(due, fires, skipped, [_job(job) for job in await _jobs(client)])


@dataclass(frozen=True, slots=True)
class JournalRecords:
    """The records of all processes, in seconds of the run."""

    lives: list[Life]
    terms: list[Term]
    gains: list[Gain]
    runs: list[Run]
    endings: list[Ending]
    blocks: list[Fault]


def runs_in(folder: Path, zero: float = 0.0) -> list[Run]:
    """All recorded runs of handlers, the earliest first."""
    return [_run(entry, zero) for entry in read_journals(folder) if entry.kind == "ran"]


def read_journal_records(
    folder: Path, zero: float, ends: Sequence[tuple[str, float]], ttl: float
) -> JournalRecords:
    """Read all journals. `zero` is the start of the run; `ends` are the ends of processes."""
    entries = read_journals(folder)
    runs = [_run(entry, zero) for entry in entries if entry.kind == "ran"]
    return JournalRecords(
        lives=_lives(entries, zero, ends),
        terms=_terms(folder, entries, zero),
        gains=[
            Gain(entry.facts["identity"], entry.facts["epoch"], entry.at - zero)
            for entry in entries
            if entry.kind == "gained"
        ],
        runs=runs,
        endings=[_ending(each, zero) for each in entries if each.kind in ("accepted", "refused")],
        blocks=[
            Fault(Kind.BLOCK, run.node, run.at, run.at + 3 * ttl)
            for run in runs
            if run.what == BLOCK
        ],
    )


def _terms(folder: Path, entries: Sequence[Entry], zero: float) -> list[Term]:
    reasons = {
        (entry.node, entry.facts["epoch"]): str(entry.facts["reason"])
        for entry in entries
        if entry.kind == "lost"
    }
    return [
        replace(
            term,
            since=term.since - zero,
            until=term.until - zero,
            reason=reasons.get((term.node, term.epoch), ""),
        )
        for term in terms_in(folder)
    ]


def _lives(entries: Sequence[Entry], zero: float, ends: Sequence[tuple[str, float]]) -> list[Life]:
    over = sorted(
        [*ends, *((entry.node, entry.at) for entry in entries if entry.kind == "stopped")],
        key=lambda end: end[1],
    )
    lives: list[Life] = []
    for entry in entries:
        if entry.kind == "started":
            until = next(at for node, at in over if node == entry.node and at >= entry.at)
            lives.append(Life(entry.node, entry.at - zero, until - zero))
    return lives


def _run(entry: Entry, zero: float) -> Run:
    facts = entry.facts
    tick_at = None if facts["tick_at"] is None else datetime.fromisoformat(facts["tick_at"])
    return Run(entry.node, entry.at - zero, facts["what"], tick_at, facts["job"], facts["fence"])


def _ending(entry: Entry, zero: float) -> Ending:
    status = Status(entry.facts["status"]) if entry.kind == "accepted" else None
    return Ending(entry.node, entry.at - zero, entry.facts["job"], entry.facts["fence"], status)


def _fire(row: TickRecord) -> Fire:
    return Fire(
        row.schedule,
        row.tick_at,
        row.recorded_at,
        row.leader or "",
        row.epoch or 0,
        row.job_id or 0,
    )


def _job(job: Job) -> StoredJob:
    number = json.loads(job.spec.arguments).get("number")
    spec = job.spec
    return StoredJob(job.id, spec.task, job.status, job.fence, number, spec.schedule, spec.tick_at)


async def _ticks(client: Drumbeat, name: str) -> list[TickRecord]:
    rows: list[TickRecord] = []
    after: str | None = None
    while True:
        page = await client.schedules.ticks(name, PageRequest(LARGEST_PAGE, after))
        rows += page.items
        after = page.next
        if after is None:
            return rows


async def _jobs(client: Drumbeat) -> list[Job]:
    jobs: list[Job] = []
    after: str | None = None
    while True:
        page = await client.jobs.list(page=PageRequest(LARGEST_PAGE, after))
        jobs += page.items
        after = page.next
        if after is None:
            return jobs
