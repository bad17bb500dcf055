"""The story: the history of a world as lines to read, and as a fingerprint to compare."""

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
from simulation.history import Applied, History

ROUTINE = frozenset({"beat", "due", "promote", "lost", "held", "unknown_tasks", "renew", "get"})
"""Calls that are left out of the story unless something was odd about them."""


def story(history: History, *, whole: bool = False) -> list[str]:
    """What happened, in order, a line each; the whole of it, or what is worth reading."""
    lines: list[tuple[float, int, str]] = []
    for place, (at, by, text) in enumerate(_events(history, whole=whole)):
        lines.append((at, place, f"{at:10.6f}  {by:<11} {text}"))
    return [line for _, _, line in sorted(lines)]


def fingerprint(history: History) -> str:
    """Equal for two runs that were the same in every step."""
    return hashlib.sha256("\n".join(story(history, whole=True)).encode()).hexdigest()


def _events(history: History, *, whole: bool) -> Iterator[tuple[float, str, str]]:
    for told in history.told:
        yield told.at, told.by, f"{told.kind}: {told.text}"
    for said in history.applied:
        if whole or _worth_reading(said):
            dead = "" if said.sender_alive else " (its sender is dead)"
            yield said.at, said.by, f"{said.server}.{said.call}: {_summary(said)}{dead}"
    for each in history.believed:
        if whole or each.others:
            others = f", as {', '.join(each.others)} does" if each.others else ""
            text = f"believes in term {each.lease.token} until {each.until:.3f} s{others}"
            yield each.at, each.by, text
    for ran in history.ran:
        yield ran.at, ran.by, f"handler of job {ran.hold.job_id}/{ran.hold.fence} {ran.what}"
    for done in history.acknowledged:
        yield done.at, "client", f"acknowledged: {done.what} {done.subject}"


def _worth_reading(said: Applied) -> bool:
    if said.call == "take":
        taken = cast("Taken | None", said.answer)
        return taken is not None and bool(taken.attempts or taken.verdicts)
    if said.call in ("acquire", "nodes", "stale", "open", "list"):
        return isinstance(said.answer, Lease)
    if said.call.startswith("prune") or (said.call in ("settle", "reap") and not said.answer):
        return False
    return said.call not in ROUTINE


def _summary(said: Applied) -> str:
    if said.error is not None:
        return f"{type(said.error).__name__}: {said.error}"
    match said.call:
        case "commit":
            return _commit(said)
        case "put":
            edits = cast("Sequence[Edit]", said.arguments[0])
            return f"{[edit.name for edit in edits]} {_kinds(said.answer)}"
        case "take":
            return _take(said)
        case "settle" | "reap":
            asked = cast("Sequence[Settlement]", said.arguments[0])
            return f"{_holds(asked)} {_kinds(said.answer)}"
        case "insert" | "cancel" | "backfill":
            return ", ".join(map(_verdict, cast("Sequence[object]", said.answer))) or "nothing"
        case _:
            return _plain(said.answer)


def _verdict(verdict: object) -> str:
    """What became of one of several things that were asked for."""
    match verdict:
        case Inserted():
            return f"job {verdict.job.id} created"
        case Duplicate():
            return f"job {verdict.job.id} stands for it"
        case Cancelled():
            return f"job {verdict.job_id} cancelled"
        case CancelRequested():
            return f"job {verdict.job_id} is told to end"
        case TooLate():
            return f"job {verdict.job_id} is {verdict.status or 'unknown'}"
        case Backfilled():
            return f"{verdict.tick_at:%H:%M:%S} fires as job {verdict.job_id}"
        case AlreadyFired():
            return f"{verdict.tick_at:%H:%M:%S} had fired"
        case _:
            return type(verdict).__name__


def _commit(said: Applied) -> str:
    plans, epoch = cast("tuple[Sequence[Plan], Epoch]", said.arguments[:2])
    shown = [
        f"{plan.name} fires {[fire.tick_at.strftime('%H:%M:%S') for fire in plan.fires]}"
        + "".join(f" skips {skip.count} {skip.reason}" for skip in plan.skips)
        for plan in plans
    ]
    return f"epoch {epoch.number}: {'; '.join(shown)} {_kinds(said.answer)}"


def _take(said: Applied) -> str:
    taken = cast("Taken", said.answer)
    asked = cast("Sequence[Settlement]", said.arguments[2] if len(said.arguments) > 2 else ())
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
