"""Schedules as people see them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from rich.console import RenderableType
from rich.text import Text

from drumbeat.cli.output.json_view import compact
from drumbeat.cli.output.tables import below, facts, note, table
from drumbeat.cli.session.session import Session
from drumbeat.rules.human_time import Moments, short
from drumbeat.wire.explanation import ExplanationView
from drumbeat.wire.preview import PreviewView
from drumbeat.wire.schedule import ScheduleView
from drumbeat.wire.tick import TickView


def report(session: Session, schedule: ScheduleView, sentence: str) -> None:
    """Print a schedule that was changed, after a sentence about the change."""
    changed = (
        ("when", schedule.when),
        ("task", schedule.task),
        ("state", _state(schedule)),
        ("next tick", _next_tick(schedule, session.output.moments)),
    )
    session.output.show(schedule, below(sentence, facts(changed)))


def schedule_table(moments: Moments, schedules: Sequence[ScheduleView]) -> RenderableType:
    rows = (
        (
            schedule.name,
            _word(schedule),
            moments.show(None if schedule.paused else schedule.next_tick),
            _distance(schedule, moments),
            schedule.runs,
            schedule.when,
        )
        for schedule in schedules
    )
    columns = ("schedule", "state", f"?next tick ({moments.zone_name})", ">next", "?>runs", "when")
    return table(columns, rows, "There are no schedules.")


def schedule_facts(
    moments: Moments, schedule: ScheduleView, ticks: Sequence[TickView]
) -> RenderableType:
    policies = schedule.policies
    limits = [
        f"from {moments.show(policies.start_at)}" if policies.start_at else "",
        f"until {moments.show(policies.end_at)}" if policies.end_at else "",
        f"at most {policies.max_runs} runs" if policies.max_runs else "",
        f"its jobs expire after {_length(schedule.expires)}" if schedule.expires else "",
        f"jitter {_length(policies.jitter)}" if policies.jitter else "",
    ]
    summary = facts(
        (
            ("schedule", schedule.name),
            ("", schedule.description or None),
            ("when", schedule.when),
            ("task", f"{schedule.task}, queue {schedule.queue}, on the {policies.run_on}"),
            ("arguments", compact(schedule.arguments)),
            ("tags", ", ".join(schedule.tags) or None),
            ("state", _state(schedule)),
            ("next tick", _next_tick(schedule, moments)),
            ("skipped by hand", ", ".join(map(moments.stamped, schedule.skips)) or None),
            ("runs", schedule.runs),
            ("last job", schedule.last_job),
            ("missed ticks", f"{policies.misfire}, within {_length(policies.window)}"),
            ("overlap", policies.overlap),
            ("limits", ", ".join(filter(None, limits)) or None),
            ("defined by", f"{schedule.origin}, version {schedule.version}"),
            ("changed", moments.stamped(schedule.updated_at)),
        )
    )
    return below(summary, _ledger(moments, ticks)) if ticks else summary


def preview_table(moments: Moments, preview: PreviewView) -> RenderableType:
    if not preview.ticks:
        return note("There is no tick to come.")
    noted = any(tick.note for tick in preview.ticks)
    titles = (f"ticks ({moments.zone_name})", ">away", *(["+note"] if noted else []))
    rows = (
        (moments.show(tick.at), moments.distance(tick.at), *([tick.note or None] if noted else []))
        for tick in preview.ticks
    )
    return table(titles, rows)


def explanation_text(moments: Moments, view: ExplanationView) -> RenderableType:
    parts: list[RenderableType] = [Text("\n".join(view.explanation))]
    if view.ticks:
        rows = ((moments.show(tick.tick_at), tick.explanation) for tick in view.ticks)
        parts.append(table((f"last ticks ({moments.zone_name})", "+"), rows))
    if view.next:
        rows = ((moments.show(tick), moments.distance(tick)) for tick in view.next)
        parts.append(table((f"next ticks ({moments.zone_name})", ""), rows))
    return below(*parts)


def _ledger(moments: Moments, ticks: Sequence[TickView]) -> RenderableType:
    rows = (
        (
            moments.show(tick.tick_at),
            tick.outcome,
            tick.reason or f"job {tick.job_id}",
            tick.count if tick.count > 1 else None,
            _length(tick.lateness_seconds) if not tick.backfilled else "backfilled",
        )
        for tick in ticks
    )
    return table((f"tick ({moments.zone_name})", "outcome", "", ">ticks", ">late"), rows)


def _word(schedule: ScheduleView) -> str:
    if schedule.paused:
        return "paused"
    word = "active" if schedule.next_tick is not None else "ended"
    return f"{word}, undeclared" if schedule.undeclared else word


def _state(schedule: ScheduleView) -> str:
    reason = f", {schedule.pause_reason}" if schedule.pause_reason else ""
    gone = " (code no longer declares it)" if schedule.undeclared else ""
    return f"{_word(schedule)}{reason}{gone}"


def _next_tick(schedule: ScheduleView, moments: Moments) -> str:
    if schedule.paused:
        return "none while it is paused"
    skipped = ", which is skipped" if schedule.next_tick in schedule.skips else ""
    return f"{moments.stamped(schedule.next_tick)}{skipped}"


def _distance(schedule: ScheduleView, moments: Moments) -> str:
    if schedule.next_tick in schedule.skips:
        return "skipped"
    return moments.distance(None if schedule.paused else schedule.next_tick)


def _length(seconds: float) -> str:
    return short(timedelta(seconds=seconds))
