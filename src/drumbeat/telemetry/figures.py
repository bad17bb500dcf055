"""Figures: all that one node has counted and measured since it started."""

from __future__ import annotations

from datetime import datetime

from drumbeat.model.plan import Outcome, SkipReason
from drumbeat.telemetry.tallies import Names, Spread, Spreads, Tally

OUTCOMES = (Outcome.FIRED.value, *(reason.value for reason in SkipReason))
"""What can become of a tick."""
JOB_BOUNDS = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0),
)
STORE_BOUNDS = (
    *(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05),
    *(0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
)


class Figures:
    """What others add to, and a scrape reads."""

    def __init__(self) -> None:
        self.queues = Names()
        self.transitions = 0
        self.ticks = Tally((outcome,) for outcome in OUTCOMES)
        self.unknown_schedules = 0
        self.lag = Spread(JOB_BOUNDS)
        self.submitted = Tally()
        self.finished = Tally()
        self.waits = Spreads(JOB_BOUNDS)
        self.runs = Spreads(JOB_BOUNDS)
        self.operations = Spreads(STORE_BOUNDS)
        self.errors = Tally()
        self.claimed_at: datetime | None = None
        """When this node last claimed a job, by the store's clock."""
