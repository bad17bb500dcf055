"""The counters and histograms of one node since its start."""

from __future__ import annotations

from datetime import datetime

from drumbeat.model.schedules.plan import Outcome, SkipReason
from drumbeat.telemetry.counters import Histogram, Histograms, LabelledCounter, LabelNames

OUTCOMES = (Outcome.FIRED.value, *(reason.value for reason in SkipReason))
"""The possible outcomes of a tick."""
LEADER_DIED, NODE_DIED = ("leader",), ("node",)
JOB_BOUNDS = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0),
)
STORE_BOUNDS = (
    *(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05),
    *(0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
)


class Instruments:
    """Updated by the event counters and the timed store; read by a scrape."""

    def __init__(self) -> None:
        self.queues = LabelNames()
        self.transitions = 0
        self.deaths = LabelledCounter([LEADER_DIED, NODE_DIED])
        self.ticks = LabelledCounter((outcome,) for outcome in OUTCOMES)
        self.unknown_schedules = 0
        self.lag = Histogram(JOB_BOUNDS)
        self.submitted = LabelledCounter()
        self.finished = LabelledCounter()
        self.waits = Histograms(JOB_BOUNDS)
        self.runs = Histograms(JOB_BOUNDS)
        self.operations = Histograms(STORE_BOUNDS)
        self.errors = LabelledCounter()
        self.republished = 0
        """Tickets that this node published again as the leader."""
        self.claimed_at: datetime | None = None
        """When this node last claimed a job, by the store's clock."""
