"""Prints the history of a world as lines, and reduces it to a fingerprint."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import cast

from drumbeat.model.fleet.lease import Epoch, Lease, Outranked
from drumbeat.model.jobs.job import (
    Cancelled,
    CancelRequested,
    Duplicate,
    Inserted,
    Settlement,
    Taken,
    TooLate,
)
from drumbeat.model.schedules.plan import AlreadyFired, Backfilled, Edit, Plan
from simulation.history import ExecutedRequest, History

ROUTINE = frozenset({"beat", "due", "promote", "lost", "held", "unknown_tasks", "renew", "get"})
"""Calls that the transcript leaves out."""


def transcript(history: History, *, whole: bool = False) -> list[str]:
    """One line for each event, in order; without routine calls unless `whole`."""
    lines: list[tuple[float, int, str]] = []
    for place, (at, by, event) in enumerate(_events(history, whole=whole)):
        text = event.replace(f"{history.folder}/", "") if history.folder else event
        lines.append((at, place, f"{at:10.6f}  {by:<11} {text}"))
    return [line for _, _, line in sorted(lines)]


def fingerprint(history: History) -> str:
    """A digest of the whole transcript: equal for runs with the same steps."""
    return hashlib.sha256("\n".join(transcript(history, whole=True)).encode()).hexdigest()


def _events(history: History, *, whole: bool) -> Iterator[tuple[float, str, str]]:
    for entry in history.log:
        yield entry.at, entry.by, f"{entry.kind}: {entry.text}"
    for request in history.requests:
        if whole or _worth_reading(request):
            dead = "" if request.sender_alive else " (its sender is dead)"
            call = f"{request.server}.{request.call}"
            yield request.at, request.by, f"{call}: {_summary(request)}{dead}"
    for belief in history.beliefs:
        if whole or belief.others:
            others = f", as {', '.join(belief.others)} does" if belief.others else ""
            text = f"believes in term {belief.lease.token} until {belief.until:.3f} s{others}"
            yield belief.at, belief.by, text
    for step in history.handler_steps:
        yield step.at, step.by, f"handler of job {step.hold.job_id}/{step.hold.fence} {step.what}"
    for each in history.acknowledged:
        yield each.at, "client", f"acknowledged: {each.what} {each.subject}"


def _worth_reading(request: ExecutedRequest) -> bool:
    if request.call == "take":
        taken = cast("Taken | None", request.answer)
        return taken is not None and bool(taken.attempts or taken.verdicts)
    if request.call in ("acquire", "nodes", "stale", "open", "list"):
        return isinstance(request.answer, Lease)
    if request.call.startswith("prune") or (
        request.call in ("settle", "reap") and not request.answer
    ):
        return False
    return request.call not in ROUTINE


def _summary(request: ExecutedRequest) -> str:
    if request.error is not None:
        return f"{type(request.error).__name__}: {request.error}"
    match request.call:
        case "commit":
            return _commit(request)
        case "put":
            edits = cast("Sequence[Edit]", request.arguments[0])
            return f"{[edit.name for edit in edits]} {_kinds(request.answer)}"
        case "take":
            return _take(request)
        case "settle" | "reap":
            asked = cast("Sequence[Settlement]", request.arguments[0])
            return f"{_holds(asked)} {_kinds(request.answer)}"
        case "insert" | "cancel" | "backfill":
            return ", ".join(map(_verdict, cast("Sequence[object]", request.answer))) or "nothing"
        case _:
            return _plain(request.answer)


def _verdict(verdict: object) -> str:
    """Describe one verdict of a batch."""
    match verdict:
        case Inserted():
            return f"job {verdict.job.id} created"
        case Duplicate():
            return f"job {verdict.job.id} is the existing one"
        case Cancelled():
            return f"job {verdict.job_id} cancelled"
        case CancelRequested():
            return f"job {verdict.job_id} is asked to stop"
        case TooLate():
            return f"job {verdict.job_id} is {verdict.status or 'unknown'}"
        case Backfilled():
            return f"{verdict.tick_at:%H:%M:%S} fires as job {verdict.job_id}"
        case AlreadyFired():
            return f"{verdict.tick_at:%H:%M:%S} had fired"
        case _:
            return type(verdict).__name__


def _commit(request: ExecutedRequest) -> str:
    plans, epoch = cast("tuple[Sequence[Plan], Epoch]", request.arguments[:2])
    shown = [
        f"{plan.name} fires {[fire.tick_at.strftime('%H:%M:%S') for fire in plan.fires]}"
        + "".join(f" skips {skip.count} {skip.reason}" for skip in plan.skips)
        for plan in plans
    ]
    return f"epoch {epoch.number}: {'; '.join(shown)} {_kinds(request.answer)}"


def _take(request: ExecutedRequest) -> str:
    taken = cast("Taken", request.answer)
    asked = cast("Sequence[Settlement]", request.arguments[2] if len(request.arguments) > 2 else ())
    claimed = [f"{each.job_id}/{each.hold.fence}" for each in taken.attempts]
    return f"settles {_holds(asked)} {_kinds(taken.verdicts)}, claims {claimed}"


def _holds(settlements: Sequence[Settlement]) -> list[str]:
    return [f"{each.hold.job_id}/{each.hold.fence} {each.change}" for each in settlements]


def _kinds(answers: object) -> list[str]:
    return [type(each).__name__ for each in cast("Sequence[object]", answers or ())]


def _plain(answer: object) -> str:
    match answer:
        case Lease():
            return f"term {answer.token} for {answer.holder}"
        case Epoch():
            return f"epoch {answer.number}"
        case Outranked():
            return f"outranked by epoch {answer.seen}"
        case None | bool() | int():
            return str(answer)
        case _:
            return type(answer).__name__
