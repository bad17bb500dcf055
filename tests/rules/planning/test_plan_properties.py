"""Over any run of outages and edits of the clock, ticks and their accounts are a bijection."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import JobSpec, Status
from drumbeat.model.schedules.plan import Plan, SkipReason
from drumbeat.model.schedules.policy import Misfire, Overlap, Policies
from drumbeat.model.schedules.schedule import DueSchedule, Previous, Schedule, StoredSchedule
from drumbeat.model.triggers import Calendar, any_of, cron, every, every_between
from drumbeat.model.triggers.trigger import Trigger
from drumbeat.rules.planning.plan import plan
from drumbeat.rules.planning.ticks import next_tick

START = datetime(2026, 3, 28, 23, 30, tzinfo=UTC)
"""Two hours before clocks go forward in Europe."""
WORKING_HOURS = Calendar(times=[("00:10", "00:40")], tz="Europe/Paris")

TRIGGERS: tuple[Trigger, ...] = (
    cron("* * * * *"),
    cron("*/7 * * * *").excluding(WORKING_HOURS),
    cron("30 2,3 * * *", tz="Europe/Paris"),
    every(seconds=40, start=START),
    every(minutes=3, start=START).excluding(WORKING_HOURS),
    every_between(20, 200, start=START).bound("beat"),
    any_of(every(minutes=5, start=START), cron("*/2 * * * *").excluding(WORKING_HOURS)),
)
FEW = 12
"""How far plans walk beyond the cap here, so that pages are met with often."""


@dataclass
class Ledger:
    """A store of one schedule: it applies plans, and remembers each tick's end."""

    stored: StoredSchedule
    ends: dict[datetime, SkipReason | None] = field(
        default_factory=dict[datetime, "SkipReason | None"]
    )
    previous: Previous | None = None

    def commit(self, outcome: Plan) -> None:
        """Write a plan, and check what must hold of each."""
        assert outcome.cursor >= self.stored.cursor
        for fire in outcome.fires:
            self.end(fire.tick_at, None)
            assert fire.tick_at <= outcome.cursor
        for skip in outcome.skips:
            run = list(self.named(skip.tick_at - timedelta(microseconds=1), skip.through))
            assert (run[0], run[-1], len(run)) == (skip.tick_at, skip.through, skip.count)
            for tick in run:
                self.end(tick, skip.reason)
        self.stored = replace(
            self.stored,
            cursor=outcome.cursor,
            next_tick=outcome.next_tick,
            runs=self.stored.runs + len(outcome.fires),
        )
        if outcome.fires:
            self.previous = Previous(JobId(self.stored.runs), Status.QUEUED, None)

    def end(self, tick: datetime, reason: SkipReason | None) -> None:
        """Note how a tick ended, which happens once."""
        assert tick not in self.ends, "a tick ended twice"
        self.ends[tick] = reason

    def named(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """The schedule's ticks after `start`, up to `end`."""
        tick = next_tick(self.stored.schedule, start)
        while tick is not None and tick <= end:
            yield tick
            tick = next_tick(self.stored.schedule, tick)


minutes = st.integers(0, 240).map(lambda amount: timedelta(minutes=amount))
policies = st.builds(
    Policies,
    misfire=st.sampled_from(Misfire),
    window=st.integers(1, 7200).map(lambda amount: timedelta(seconds=amount)),
    cap=st.integers(1, 20),
    overlap=st.sampled_from(Overlap),
    start_at=st.none() | minutes.map(lambda amount: START + amount),
    end_at=st.none() | minutes.map(lambda amount: START + timedelta(minutes=300) + amount),
    max_runs=st.none() | st.integers(1, 30),
)
steps = st.tuples(
    st.floats(-600, 3600).map(lambda amount: timedelta(seconds=amount)),
    st.sampled_from([None, *Status]),
    st.booleans(),
)


@contextmanager
def short_walks() -> Generator[None]:
    """Plans hold only a few ticks more than the cap."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("drumbeat.rules.planning.ticks.WALK_BEYOND_CAP", FEW)
        yield


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(TRIGGERS), policies, st.lists(steps, min_size=1, max_size=12), st.data())
def test_every_tick_up_to_the_cursor_ends_exactly_once(
    trigger: Trigger,
    chosen: Policies,
    walk: list[tuple[timedelta, Status | None, bool]],
    data: st.DataObject,
) -> None:
    schedule = Schedule("beat", trigger, JobSpec("work"), chosen)
    first = next_tick(schedule, START)
    ledger = Ledger(StoredSchedule(schedule, 1, START, first, START, START))
    coming = list(ledger.named(START, START + timedelta(hours=12)))
    by_hand = data.draw(st.frozensets(st.sampled_from([START, *coming]), max_size=3))
    ledger.stored = replace(ledger.stored, skips=by_hand)
    now = START
    for elapsed, status, paused in walk:
        now += elapsed
        if ledger.previous is not None and status is not None:
            ledger.previous = Previous(ledger.previous.job_id, status, None)
        ledger.stored = replace(ledger.stored, paused=paused)
        with short_walks():
            plan_until_nothing_is_due(ledger, now)

    if chosen.max_runs is not None and ledger.stored.runs >= chosen.max_runs:
        assert ledger.stored.runs == chosen.max_runs
        expected = list(ledger.named(START, max(ledger.ends)))
        assert ledger.ends[expected[-1]] is None, "a schedule ends with its last run"
    else:
        expected = list(ledger.named(START, ledger.stored.cursor))
    assert sorted(ledger.ends) == expected
    for tick in by_hand & ledger.ends.keys():
        assert ledger.ends[tick] in {SkipReason.OVERRIDDEN, SkipReason.PAUSED}
    for tick, reason in ledger.ends.items():
        if trigger.excludes(tick) and tick not in by_hand:
            assert reason in {SkipReason.EXCLUDED, SkipReason.PAUSED}


def plan_until_nothing_is_due(ledger: Ledger, now: datetime) -> None:
    """Pass after pass, as a leader does; there is an end to it."""
    for _ in range(2_000):
        if ledger.stored.next_tick is None or ledger.stored.next_tick > now:
            return
        before = ledger.stored
        outcome = plan(DueSchedule(before, ledger.previous), now)
        assert outcome == plan(DueSchedule(before, ledger.previous), now), "a plan is a function"
        fires = {fire.tick_at for fire in outcome.fires}
        assert all(now - tick <= before.schedule.policies.window for tick in fires)
        ledger.commit(outcome)
        assert outcome.next_tick is None or outcome.next_tick > outcome.cursor
    pytest.fail("paging does not come to an end")


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(TRIGGERS), policies, st.integers(0, 12 * 3600))
def test_pages_fire_what_one_plan_would_after_an_outage(
    trigger: Trigger, chosen: Policies, seconds: int
) -> None:
    """Where overlap is allowed, for it looks at the previous page's jobs."""
    chosen = replace(chosen, overlap=Overlap.ALLOW, max_runs=None)
    schedule = Schedule("beat", trigger, JobSpec("work"), chosen)
    before = StoredSchedule(schedule, 1, START, next_tick(schedule, START), START, START)
    now = START + timedelta(seconds=seconds)
    whole = plan(DueSchedule(before, None), now)
    ledger = Ledger(before)
    with short_walks():
        plan_until_nothing_is_due(ledger, now)
    in_pages = {tick for tick, reason in ledger.ends.items() if reason is None}
    # The last page may hold nothing but ticks that are on time: each of them then fires.
    extra = in_pages - {fire.tick_at for fire in whole.fires}
    assert {fire.tick_at for fire in whole.fires} <= in_pages
    assert all(now - tick <= timedelta(seconds=15) for tick in extra)
