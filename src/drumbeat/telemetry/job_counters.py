"""Counts jobs from the calls to the store.

The store is called in batches, so counting here costs a fraction of one event per job.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import (
    Attempt,
    Duplicate,
    Inserted,
    JobSpec,
    Settled,
    Settlement,
    Status,
    Superseded,
    Taken,
    Wanted,
)
from drumbeat.model.schedules.plan import AlreadyFired, Backfilled, Committed, Fire, Plan, Raced
from drumbeat.telemetry.instruments import Instruments


class JobCounters:
    """One method per operation that creates, claims or settles jobs.

    Each takes the store's answer, and then the arguments of the call.
    """

    def __init__(self, instruments: Instruments) -> None:
        self._instruments = instruments
        self._held: dict[JobId, Attempt] = {}
        """Attempts that this node claimed, or found lost, and has not settled yet."""

    def inserted(
        self,
        verdicts: Sequence[Inserted | Duplicate],
        specs: Sequence[JobSpec],
        *_: object,
        **__: object,
    ) -> None:
        if len(specs) == 1:
            if type(verdicts[0]) is Inserted:
                self._submitted(specs[0].queue, 1)
            return
        queues = Counter(
            verdict.job.spec.queue for verdict in verdicts if type(verdict) is Inserted
        )
        for queue, count in queues.items():
            self._submitted(queue, count)

    def committed(
        self, verdicts: Sequence[Committed | Raced], plans: Sequence[Plan], *_: object, **__: object
    ) -> None:
        """Count the jobs of ticks. Those of one schedule all go to one queue."""
        queues: Counter[str] = Counter()
        for plan, verdict in zip(plans, verdicts, strict=True):
            if type(verdict) is Committed and verdict.jobs:
                queues[plan.fires[0].job.queue] += len(verdict.jobs)
        for queue, count in queues.items():
            self._submitted(queue, count)

    def backfilled(
        self,
        verdicts: Sequence[Backfilled | AlreadyFired],
        _name: str,
        fires: Sequence[Fire],
        *_: object,
        **__: object,
    ) -> None:
        for fire, verdict in zip(fires, verdicts, strict=True):
            if isinstance(verdict, Backfilled):
                self._submitted(fire.job.queue, 1)

    def taken(
        self,
        taken: Taken,
        _wanted: Wanted,
        _by: object,
        settled: Sequence[Settlement] = (),
        *_: object,
        **__: object,
    ) -> None:
        if settled:
            self.settled(taken.verdicts, settled)
        if taken.attempts:
            self._claimed(taken.attempts)

    def lost(self, attempts: Sequence[Attempt], *_: object, **__: object) -> None:
        """Note attempts of dead nodes, which this node is about to settle."""
        for attempt in attempts:
            self._held[attempt.hold.job_id] = attempt

    def settled(
        self,
        verdicts: Sequence[Settled | Superseded],
        settlements: Sequence[Settlement],
        *_: object,
        **__: object,
    ) -> None:
        held, completed = self._held, dict[str, int]()
        for settlement, verdict in zip(settlements, verdicts, strict=True):
            hold = settlement.hold
            attempt = held.get(hold.job_id)
            if attempt is None or attempt.hold.fence != hold.fence:
                continue
            del held[hold.job_id]
            if type(verdict) is Settled:
                queue = attempt.spec.queue
                if verdict.status is Status.COMPLETED:  # nearly always; an enum is slow to hash
                    completed[queue] = completed.get(queue, 0) + 1
                elif verdict.status.final:
                    self._finished(verdict.status, queue, 1)
        for queue, count in completed.items():
            self._finished(Status.COMPLETED, queue, count)

    def _claimed(self, attempts: Sequence[Attempt]) -> None:
        """Note the attempts and their waits. Equal neighbours are observed together."""
        held, alike = self._held, 0
        first = attempts[0]
        for attempt in attempts:
            hold, spec = attempt.hold, attempt.spec
            held[hold.job_id] = attempt
            if (
                attempt.created_at == first.created_at
                and spec.task == first.spec.task
                and hold.fence == first.hold.fence
                and spec.run_at is first.spec.run_at
                and spec.delay == first.spec.delay
            ):
                alike += 1
                continue
            self._waited(first, alike)
            first, alike = attempt, 1
        self._waited(first, alike)
        self._instruments.claimed_at = first.started_at

    def _waited(self, attempt: Attempt, alike: int) -> None:
        if attempt.hold.fence != 1:  # it waited for a retry, or was given back before
            return
        spec = attempt.spec
        ready = attempt.created_at + spec.delay
        if spec.run_at is not None and spec.run_at > ready:
            ready = spec.run_at
        seconds = max(0.0, (attempt.started_at - ready).total_seconds())
        self._instruments.waits.of(spec.task).observe(seconds, alike)

    def _finished(self, status: Status, queue: str, count: int) -> None:
        self._instruments.finished.add((status.value, self._instruments.queues.of(queue)), count)

    def _submitted(self, queue: str, count: int) -> None:
        self._instruments.submitted.add((self._instruments.queues.of(queue),), count)
