"""Flow: what passes between this node and the store tells how many jobs came and went.

The store is asked in batches, so counting there costs a fraction of what an event per job would.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from drumbeat.model.ids import JobId
from drumbeat.model.job import (
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
from drumbeat.model.plan import AlreadyFired, Backfilled, Committed, Fire, Plan, Raced
from drumbeat.telemetry.figures import Figures


class Flow:
    """One method for each operation that creates, claims or settles jobs.

    Each takes the store's answer first, and then what the store was asked with, as it was given.
    """

    def __init__(self, figures: Figures) -> None:
        self._figures = figures
        self._held: dict[JobId, Attempt] = {}
        """What this node has claimed, or found lost, and not settled yet."""

    def inserted(
        self,
        verdicts: Sequence[Inserted | Duplicate],
        specs: Sequence[JobSpec],
        *_: object,
        **__: object,
    ) -> None:
        """Jobs were submitted."""
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
        """Ticks submitted jobs. Those of one schedule all go to one queue."""
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
        """Past ticks submitted jobs."""
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
        """A batch was settled, and the next was claimed."""
        if settled:
            self.settled(taken.verdicts, settled)
        if taken.attempts:
            self._claimed(taken.attempts)

    def lost(self, attempts: Sequence[Attempt], *_: object, **__: object) -> None:
        """Attempts of dead nodes were found; this node is about to settle them."""
        for attempt in attempts:
            self._held[attempt.hold.job_id] = attempt

    def settled(
        self,
        verdicts: Sequence[Settled | Superseded],
        settlements: Sequence[Settlement],
        *_: object,
        **__: object,
    ) -> None:
        """Attempts were settled."""
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
        """Note what is held, and how long it waited: jobs that came together waited alike."""
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
        self._figures.claimed_at = first.started_at

    def _waited(self, attempt: Attempt, alike: int) -> None:
        if attempt.hold.fence != 1:  # it waited for a retry, or was given back before
            return
        spec = attempt.spec
        ready = attempt.created_at + spec.delay
        if spec.run_at is not None and spec.run_at > ready:
            ready = spec.run_at
        seconds = max(0.0, (attempt.started_at - ready).total_seconds())
        self._figures.waits.of(spec.task).observe(seconds, alike)

    def _finished(self, status: Status, queue: str, count: int) -> None:
        self._figures.finished.add((status.value, self._figures.queues.of(queue)), count)

    def _submitted(self, queue: str, count: int) -> None:
        self._figures.submitted.add((self._figures.queues.of(queue),), count)
