"""Typed queries on the history, for the checkers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from drumbeat.model.fleet.lease import Epoch
from drumbeat.model.jobs.job import Job, Settled, Settlement, Superseded, Taken
from drumbeat.model.schedules.plan import Committed, Edit, Plan, Raced, Written
from simulation.history import ExecutedRequest, History


@dataclass(frozen=True, slots=True)
class Commit:
    """A plan that a leader asked the store to write."""

    request: ExecutedRequest
    plan: Plan
    epoch: int
    verdict: Committed | Raced


def commits(history: History) -> Iterator[Commit]:
    """The plans that the store judged, in its order; not those of a stale epoch."""
    for each in history.calls("commit"):
        yield from commits_of(each)


def commits_of(request: ExecutedRequest) -> Iterator[Commit]:
    """The plans of one request to commit."""
    plans, epoch = cast("tuple[Sequence[Plan], Epoch]", request.arguments[:2])
    if request.error is None:
        verdicts = cast("Sequence[Committed | Raced]", request.answer)
        for plan, verdict in zip(plans, verdicts, strict=True):
            yield Commit(request, plan, epoch.number, verdict)


def written(history: History) -> Iterator[Commit]:
    """The plans that the store wrote, in its order."""
    for each in history.calls("commit"):
        yield from written_by(each)


def written_by(request: ExecutedRequest) -> Iterator[Commit]:
    """The plans that one request wrote."""
    return (each for each in commits_of(request) if isinstance(each.verdict, Committed))


def _edits(request: ExecutedRequest) -> Iterator[Edit]:
    edits = cast("Sequence[Edit]", request.arguments[0])
    if request.error is None:
        verdicts = cast("Sequence[Written | Raced]", request.answer)
        for edit, verdict in zip(edits, verdicts, strict=True):
            if isinstance(verdict, Written):
                yield edit


def changes_by(request: ExecutedRequest) -> Iterator[Edit | Commit]:
    """The edits, or the plans, that one request wrote."""
    return _edits(request) if request.call == "put" else written_by(request)


def settlements(
    history: History,
) -> Iterator[tuple[ExecutedRequest, Settlement, Settled | Superseded]]:
    """Every settlement that was sent to the store, with its verdict."""
    for each in history.calls("take", "settle", "reap"):
        for settlement, verdict in settled_by(each):
            yield each, settlement, verdict


def settled_by(request: ExecutedRequest) -> Iterator[tuple[Settlement, Settled | Superseded]]:
    """The settlements of one request, with their verdicts."""
    if request.error is not None:
        return
    asked: Sequence[Settlement]
    verdicts: Sequence[Settled | Superseded]
    if request.call == "take":
        asked = cast(
            "Sequence[Settlement]", request.arguments[2] if len(request.arguments) > 2 else ()
        )
        verdicts = cast("Taken", request.answer).verdicts
    else:
        asked = cast("Sequence[Settlement]", request.arguments[0])
        verdicts = cast("Sequence[Settled | Superseded]", request.answer)
    yield from zip(asked, verdicts, strict=True)


def jobs_of_ticks(history: History) -> dict[tuple[str, object], list[Job]]:
    """The jobs that ticks submitted, by schedule and tick."""
    found: dict[tuple[str, object], list[Job]] = {}
    for job in history.dump.jobs:
        if job.spec.schedule is not None and job.spec.tick_at is not None:
            found.setdefault((job.spec.schedule, job.spec.tick_at), []).append(job)
    return found
