"""The results of one or several runs in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil

from chaos.checks import Violation, balance_of, violations
from chaos.failovers import bound, failovers
from chaos.history import History, Kind
from drumbeat.model.jobs.job import Status

MOST_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The faults and the results of a run."""

    pair: str
    seconds: float
    faults: dict[Kind, int]
    ticks_due: int
    ticks_fired: int
    ticks_lost: int
    ticks_doubled: int
    ticks_early: int
    latest_tick: float
    """The largest lateness of a tick, in seconds."""
    jobs_submitted: int
    """Those that were acknowledged."""
    jobs_unsure: int
    """Those whose answer was lost."""
    jobs_lost: int
    jobs_double_completed: int
    jobs_rerun: int
    """Runs of handlers beyond the first for each tick and job."""
    endings_refused: int
    """Late reports of nodes whose hold had ended."""
    failovers: list[float]
    """How long each took, in seconds, the shortest first."""
    failover_bound: float
    violations: list[Violation] = field(default_factory=list[Violation])
    left_out: list[str] = field(default_factory=list[str])

    @property
    def failover_median(self) -> float | None:
        return percentile(self.failovers, 0.5)

    @property
    def failover_99(self) -> float | None:
        return percentile(self.failovers, 0.99)

    @property
    def failover_slowest(self) -> float | None:
        return percentile(self.failovers, 1.0)

    def broken(self) -> list[str]:
        """The violations as sentences, a few of each kind."""
        sentences: list[str] = []
        for check in dict.fromkeys(violation.check for violation in self.violations):
            found = [each for each in self.violations if each.check == check]
            sentences += [
                f"{check} ({self.pair}, second {each.at:.1f}): {each.text}"
                for each in found[:MOST_SHOWN]
            ]
            if len(found) > MOST_SHOWN:
                sentences.append(f"{check} ({self.pair}): and {len(found) - MOST_SHOWN} more")
        return sentences

    def document(self) -> dict[str, object]:
        """All figures, for programs."""
        names = [name for name in self.__slots__ if name not in ("faults", "violations")]
        return {
            **{name: getattr(self, name) for name in names},
            "faults": {kind.value: self.faults.get(kind, 0) for kind in Kind},
            "failover_median": self.failover_median,
            "failover_99": self.failover_99,
            "failover_slowest": self.failover_slowest,
            "violations": [
                {"check": each.check, "at": each.at, "text": each.text} for each in self.violations
            ],
        }


def percentile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest value that this share of the values does not exceed; None without values."""
    return ordered[max(0, ceil(share * len(ordered)) - 1)] if ordered else None


def figures_of(history: History) -> Figures:
    """Check the history of a run, and count."""
    ticks, found = balance_of(history), violations(history)
    broken = Counter(violation.check for violation in found)
    handler_runs = Counter((each.what, each.tick_at) for each in history.runs)
    completions = Counter(
        ending.job_id for ending in history.endings if ending.status is Status.COMPLETED
    )
    return Figures(
        pair=history.pair,
        seconds=history.seconds,
        faults=dict(Counter(fault.kind for fault in history.faults)),
        ticks_due=ticks.due,
        ticks_fired=ticks.fired,
        ticks_lost=len(ticks.lost) + len(ticks.not_run),
        ticks_doubled=len(ticks.doubled) + len(ticks.unasked),
        ticks_early=broken["no tick is early"],
        latest_tick=max((fire.lateness for fire in history.ledger), default=0.0),
        jobs_submitted=len(history.submissions.acknowledged),
        jobs_unsure=sum(len(batch) for batch in history.submissions.unsure),
        jobs_lost=broken["no submission is lost"],
        jobs_double_completed=sum(count > 1 for count in completions.values()),
        jobs_rerun=sum(count - 1 for (what, _), count in handler_runs.items() if what != "block"),
        endings_refused=sum(ending.status is None for ending in history.endings),
        failovers=sorted(each.seconds for each in failovers(history)),
        failover_bound=bound(history),
        violations=found,
        left_out=list(history.left_out),
    )


def total(runs: Sequence[Figures]) -> Figures:
    """The sum of several runs."""

    def add(name: str) -> int:
        return sum(int(getattr(run, name)) for run in runs)

    return Figures(
        pair="all",
        seconds=sum(run.seconds for run in runs),
        faults={kind: sum(run.faults.get(kind, 0) for run in runs) for kind in Kind},
        ticks_due=add("ticks_due"),
        ticks_fired=add("ticks_fired"),
        ticks_lost=add("ticks_lost"),
        ticks_doubled=add("ticks_doubled"),
        ticks_early=add("ticks_early"),
        latest_tick=max((run.latest_tick for run in runs), default=0.0),
        jobs_submitted=add("jobs_submitted"),
        jobs_unsure=add("jobs_unsure"),
        jobs_lost=add("jobs_lost"),
        jobs_double_completed=add("jobs_double_completed"),
        jobs_rerun=add("jobs_rerun"),
        endings_refused=add("endings_refused"),
        failovers=sorted(each for run in runs for each in run.failovers),
        failover_bound=max((run.failover_bound for run in runs), default=0.0),
        violations=[each for run in runs for each in run.violations],
        left_out=list(dict.fromkeys(each for run in runs for each in run.left_out)),
    )


def with_total(runs: Sequence[Figures]) -> list[Figures]:
    """The runs, and their sum if there are several."""
    return [*runs, total(runs)] if len(runs) > 1 else list(runs)
