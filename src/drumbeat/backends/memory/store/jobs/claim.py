"""Claim: which queued jobs a worker gets next."""

from __future__ import annotations

from datetime import datetime
from heapq import heapify, heappop, heapreplace

from drumbeat.backends.memory.store.jobs.job_record import Place
from drumbeat.backends.memory.store.jobs.job_table import JobTable
from drumbeat.backends.memory.store.jobs.lanes import Lane
from drumbeat.backends.store_rules import LIMIT_REACHED, MOST_EXPIRED
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.job import SKIPPED, Attempt, OnConflict, Wanted


class Claim:
    """Takes jobs for one worker, best first, and never one that may not start."""

    def __init__(self, table: JobTable, by: NodeId, now: datetime) -> None:
        self._table = table
        self._by = by
        self._now = now
        self.attempts: list[Attempt] = []
        self.cancelled: list[JobId] = []
        self.expired: list[JobId] = []
        self.try_at: datetime | None = None

    def run(self, wanted: Wanted) -> None:
        limit = wanted.limit + wanted.ahead
        if limit <= 0:
            return
        self.expired = self._table.expire(MOST_EXPIRED, self._now)
        if len(self.expired) == MOST_EXPIRED:
            self.try_at = self._now
            return
        lanes = self._lanes(wanted)
        heads = _heads(lanes)
        attempts = self.attempts
        while heads and len(attempts) < limit:
            lane = heads[0][1]
            if len(attempts) >= wanted.limit and _starts_with_limits(lane):
                break  # it may start, but not be held
            place = lane.ready.pop()
            record = place[3]
            if not record.limited:
                if record.place is place:
                    attempts.append(self._table.start(record, self._by, self._now))
            elif self._consider(place):
                heads = _heads(lanes)
                continue
            following = lane.ready.first()
            if following is None:
                heappop(heads)
            elif len(heads) > 1:  # a lane alone needs no comparing
                heapreplace(heads, (following, lane))
        self.try_at = min((lane.openings[0][0] for lane in lanes if lane.openings), default=None)

    def _lanes(self, wanted: Wanted) -> list[Lane]:
        tasks = wanted.tasks
        lanes = [lane for lane in self._table.lanes.within(wanted.queues) if lane.task in tasks]
        if paused := self._table.paused:
            lanes = [lane for lane in lanes if lane.queue not in paused]
        for lane in lanes:
            if lane.openings:
                self._table.admission.reopen(lane, self._now)
        return lanes

    def _consider(self, place: Place) -> bool:
        """Claim, park or cancel a job with limits or a rate; whether that unparked others."""
        admission, record = self._table.admission, place[3]
        unparked = admission.unparked
        if record.place is place:
            self._admit(place)
        if record.place is not place:  # claimed, cancelled, or dead before: it does not come back
            admission.leave(place)
        admission.replace(record, self._now)
        return admission.unparked != unparked

    def _admit(self, place: Place) -> None:
        admission, record, now = self._table.admission, place[3], self._now
        rate, limits = record.spec.rate, record.spec.limits
        if rate is not None and (opens_at := admission.opens_at(rate, now)):
            admission.park_for_rate(place, rate, opens_at)
        elif full := admission.reached(limits, OnConflict.WAIT):
            admission.park_at_limit(place, full)
        elif admission.reached(limits, OnConflict.CANCEL):
            # Nothing makes the job wait any more, so this is its turn.
            self._table.cancel(record, LIMIT_REACHED, now)
            self.cancelled.append(record.id)
        elif admission.reached(limits, OnConflict.SKIP):
            self._table.cancel(record, LIMIT_REACHED if record.attempt else SKIPPED, now)
            self.cancelled.append(record.id)
        else:
            self.attempts.append(self._table.start(record, self._by, now))


def _starts_with_limits(lane: Lane) -> bool:
    place = lane.ready.first()
    return place is not None and place[3].limited


def _heads(lanes: list[Lane]) -> list[tuple[Place, Lane]]:
    """A heap of the first place in each queue. No two lanes share a job, so lanes never compare."""
    heads = [(place, lane) for lane in lanes if (place := lane.ready.first())]
    heapify(heads)
    return heads
