"""Reading: the history as the checkers need it, in types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from drumbeat.model.fleet.lease import Epoch
from drumbeat.model.jobs.job import Job, Settled, Settlement, Superseded, Taken
from drumbeat.model.schedules.plan import Committed, Edit, Plan, Raced, Written
from simulation.history import Applied, History


@dataclass(frozen=True, slots=True)
class Commit:
    """A plan that a leader asked the store to write."""

    said: Applied
    plan: Plan
    epoch: int
    verdict: Committed | Raced


def commits(history: History) -> Iterator[Commit]:
    """The plans that were looked at, in the store's order; not those of a stale epoch."""
    for each in history.calls("commit"):
        yield from commits_of(each)


def commits_of(said: Applied) -> Iterator[Commit]:
    """The plans of one request to commit."""
    plans, epoch = cast("tuple[Sequence[Plan], Epoch]", said.arguments[:2])
    if said.error is None:
        verdicts = cast("Sequence[Committed | Raced]", said.answer)
        for plan, verdict in zip(plans, verdicts, strict=True):
            yield Commit(said, plan, epoch.number, verdict)


def written(history: History) -> Iterator[Commit]:
    """The plans that were written, in the store's order."""
    for each in history.calls("commit"):
        yield from written_by(each)


def written_by(said: Applied) -> Iterator[Commit]:
    """The plans that one request wrote."""
    return (each for each in commits_of(said) if isinstance(each.verdict, Committed))


def _edits(said: Applied) -> Iterator[Edit]:
    edits = cast("Sequence[Edit]", said.arguments[0])
    if said.error is None:
        verdicts = cast("Sequence[Written | Raced]", said.answer)
        for edit, verdict in zip(edits, verdicts, strict=True):
            if isinstance(verdict, Written):
                yield edit


def changes_by(said: Applied) -> Iterator[Edit | Commit]:
    """The edits, or the plans, that one request wrote."""
    return _edits(said) if said.call == "put" else written_by(said)


def settlements(history: History) -> Iterator[tuple[Applied, Settlement, Settled | Superseded]]:
    """Every ending that the store was told of, and what it said to it."""
    for each in history.calls("take", "settle", "reap"):
        for settlement, verdict in settled_by(each):
            yield each, settlement, verdict


def settled_by(said: Applied) -> Iterator[tuple[Settlement, Settled | Superseded]]:
    """The endings that the store was told of by one request."""
    if said.error is not None:
        return
    asked: Sequence[Settlement]
    verdicts: Sequence[Settled | Superseded]
    if said.call == "take":
        asked = cast("Sequence[Settlement]", said.arguments[2] if len(said.arguments) > 2 else ())
        verdicts = cast("Taken", said.answer).verdicts
    else:
        asked = cast("Sequence[Settlement]", said.arguments[0])
        verdicts = cast("Sequence[Settled | Superseded]", said.answer)
    yield from zip(asked, verdicts, strict=True)


def jobs_of_ticks(history: History) -> dict[tuple[str, object], list[Job]]:
    """The jobs that ticks submitted, by schedule and tick."""
    found: dict[tuple[str, object], list[Job]] = {}
    for job in history.dump.jobs:
        if job.spec.schedule is not None and job.spec.tick_at is not None:
            found.setdefault((job.spec.schedule, job.spec.tick_at), []).append(job)
    return found
