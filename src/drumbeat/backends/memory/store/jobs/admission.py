"""Admission: limits and rates, and where the jobs that they block are kept.

Jobs of a lane with the same limits and the same rate are a *limit group*: if its first job may not
start, none may. So only the first of a group is in the lane's queue, and the others follow as those
before them leave. A hundred thousand jobs with one key cost no more to look at than one.

A job that may not start is *parked*: taken out of its lane's queue, so that no claim looks at it
again before something has changed. Jobs parked under a limit key come back one by one, best first,
as jobs with that key end. Jobs parked for a rate come back when the rate lets one start.

The invariant that loses no job: while a key has room, each lane that has jobs parked under it has
at least one of them in its queue. So whenever such a job leaves its queue, for whatever reason, the
next one is unparked (`replace`).

A job's turn comes when its rate is open and none of its limits makes it wait. Then a reached limit
whose `on_conflict` is `cancel` or `skip` ends the job. If there are both, or an attempt of it has
failed, it is cancelled, since somebody may miss it.

Rates are decided by `drumbeat.rules.jobs.rate_window`, over a log of the recent starts of each key.
"""

from __future__ import annotations

from datetime import datetime
from heapq import heapify, heappop, heappush
from itertools import count

from drumbeat.backends.memory.store.jobs.job_record import JobRecord, Place
from drumbeat.backends.memory.store.jobs.lanes import Lane, LimitGroup, SpentRate
from drumbeat.model.jobs.job import JobSpec, Limit, OnConflict, Rate
from drumbeat.model.time.instant import EPOCH, MICROSECOND
from drumbeat.rules.jobs import rate_window
from drumbeat.rules.jobs.rate_window import NO_STARTS, Starts


class Admission:
    """Counts the jobs that run under each key and those that started under each rate."""

    def __init__(self) -> None:
        self._running: dict[str, int] = {}
        self._reached: dict[str, dict[tuple[Lane, int], list[Place]]] = {}
        """Parked jobs by limit key, then by lane and number allowed: a heap each."""
        self._starts: dict[str, Starts] = {}
        """By rate key."""
        self._serial = count()
        self.unparked = 0
        """How many parked jobs have come back so far; a claim compares it to notice new jobs."""

    def reached(self, limits: tuple[Limit, ...], on_conflict: OnConflict) -> Limit | None:
        """The first of the limits with this `on_conflict` that is reached, if one is."""
        for limit in limits:
            reached = self._running.get(limit.key, 0) >= limit.at_most
            if reached and limit.on_conflict is on_conflict:
                return limit
        return None

    def opens_at(self, rate: Rate, now: datetime) -> datetime | None:
        """When the rate lets a job start; None: now."""
        starts = self._starts.get(rate.key)
        if starts is None:
            return None
        number = _number(now)
        starts = self._starts[rate.key] = rate_window.as_of(starts, number)
        opens_at = rate_window.opens_at(starts, rate)
        return None if opens_at is None or opens_at <= number else EPOCH + opens_at * MICROSECOND

    def start(self, spec: JobSpec, now: datetime) -> None:
        for limit in spec.limits:
            self._running[limit.key] = self._running.get(limit.key, 0) + 1
        rate = spec.rate
        if rate is not None:
            starts = self._starts.get(rate.key, NO_STARTS)
            self._starts[rate.key] = rate_window.with_start(starts, rate, _number(now))

    def end(self, spec: JobSpec) -> None:
        """Count a job that ended, and unpark jobs that waited for its room."""
        for limit in spec.limits:
            left = self._running[limit.key] - 1
            if left:
                self._running[limit.key] = left
            else:
                del self._running[limit.key]
            self._unpark_under(limit.key)

    def enqueue(self, place: Place) -> None:
        """Put a queued job in its lane's queue, or behind the first of its limit group."""
        record = place[3]
        lane, spec = record.lane, record.spec
        group = lane.groups.get((spec.limits, spec.rate))
        if group is None:
            group = lane.groups[spec.limits, spec.rate] = LimitGroup()
        record.group = group
        if group.front is not None and place > group.front:
            heappush(group.behind, place)
        else:
            self._send(group, place)

    def leave(self, place: Place) -> None:
        """A job has left its queue for good: put the next of its group in."""
        record = place[3]
        group = record.group
        assert group is not None, "a job with limits is in a limit group"
        group.in_front -= 1
        if group.front is place:
            group.front = None
        while group.behind:
            following = heappop(group.behind)
            if following[3].place is following:
                self._send(group, following)
                self.unparked += 1
                return
        if not group.in_front:
            del record.lane.groups[record.spec.limits, record.spec.rate]

    def park_at_limit(self, place: Place, limit: Limit) -> None:
        spots = self._reached.setdefault(limit.key, {})
        heappush(spots.setdefault((place[3].lane, limit.at_most), []), place)

    def park_for_rate(self, place: Place, rate: Rate, opens_at: datetime) -> None:
        lane = place[3].lane
        spent = lane.spent.get(rate)
        if spent is None:
            spent = lane.spent[rate] = SpentRate(rate)
        heappush(spent.jobs, place)
        self._await(lane, spent, opens_at)

    def reopen(self, lane: Lane, now: datetime) -> None:
        """Unpark one job of each rate of the lane whose time has come."""
        if any(opens_at > now + spent.rate.per for opens_at, _, spent in lane.openings):
            # No rate waits longer than its period: the clock has gone back, so look at all of them.
            lane.openings = [(now, serial, spent) for _, serial, spent in lane.openings]
            heapify(lane.openings)
        while lane.openings and lane.openings[0][0] <= now:
            spent = heappop(lane.openings)[2]
            spent.awaited = False
            self._unpark_next(lane, spent)

    def replace(self, record: JobRecord, now: datetime) -> None:
        """A job with limits or a rate has left its queue: unpark the next ones that have room."""
        for limit in record.spec.limits:
            self._unpark_under(limit.key)
        spent = record.lane.spent.get(record.spec.rate) if record.spec.rate else None
        if spent is not None and not spent.awaited:
            opens_at = self.opens_at(spent.rate, now)
            if opens_at is None:
                self._unpark_next(record.lane, spent)
            else:
                self._await(record.lane, spent, opens_at)

    def forget_starts(self, now: datetime) -> None:
        """Drop starts that no rate needs any more."""
        number = _number(now)
        self._starts = {
            key: starts for key, starts in self._starts.items() if starts.outdated_at > number
        }

    def _unpark_under(self, key: str) -> None:
        spots = self._reached.get(key)
        if spots is None:
            return
        running = self._running.get(key, 0)
        for spot, jobs in list(spots.items()):
            lane, at_most = spot
            if running < at_most:
                self._unpark_first(lane, jobs)
            if not jobs:
                del spots[spot]
        if not spots:
            del self._reached[key]

    def _unpark_next(self, lane: Lane, spent: SpentRate) -> None:
        self._unpark_first(lane, spent.jobs)
        if not spent.jobs:
            lane.spent.pop(spent.rate, None)

    def _unpark_first(self, lane: Lane, jobs: list[Place]) -> None:
        while jobs:
            place = heappop(jobs)
            if place[3].place is place:
                lane.ready.push(place)
                self.unparked += 1
                return
            self.leave(place)

    def _send(self, group: LimitGroup, place: Place) -> None:
        group.in_front += 1
        if group.front is None or place < group.front:
            group.front = place
        place[3].lane.ready.push(place)

    def _await(self, lane: Lane, spent: SpentRate, opens_at: datetime) -> None:
        if not spent.awaited:
            spent.awaited = True
            heappush(lane.openings, (opens_at, next(self._serial), spent))


def _number(instant: datetime) -> int:
    return (instant - EPOCH) // MICROSECOND
