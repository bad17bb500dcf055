"""What becomes of due ticks: each gate by itself, then all of them in their order."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import JobSpec, Status
from drumbeat.model.schedules.plan import Plan, Skip, SkipReason
from drumbeat.model.schedules.policy import Misfire, Overlap, Policies
from drumbeat.model.schedules.schedule import DueSchedule, Previous, Schedule, StoredSchedule
from drumbeat.model.triggers import Calendar, any_of, cron, every, once
from drumbeat.model.triggers.trigger import Trigger
from drumbeat.rules.planning.plan import plan
from drumbeat.rules.planning.ticks import next_tick

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
"""A Monday."""
MINUTELY = cron("* * * * *")
SECONDLY = cron("* * * * * *")


def at(minutes: float) -> datetime:
    """So many minutes after noon."""
    return NOON + timedelta(minutes=minutes)


def stored(
    policies: Policies | None = None, trigger: Trigger = MINUTELY, cursor: datetime = NOON
) -> StoredSchedule:
    schedule = Schedule("beat", trigger, JobSpec("work"), policies or Policies())
    return StoredSchedule(schedule, 1, cursor, next_tick(schedule, cursor), cursor, cursor)


def planned(before: StoredSchedule, now: datetime, previous: Status | None = None) -> Plan:
    job = None if previous is None else Previous(JobId(9), previous, None)
    return plan(DueSchedule(before, job), now)


def story(of: Plan) -> str:
    """The plan as text, by minutes after noon: `1-3 paused, 4 fires`."""

    def minutes(tick: datetime) -> str:
        return f"{(tick - NOON) / timedelta(minutes=1):g}"

    told = [(fire.tick_at, f"{minutes(fire.tick_at)} fires") for fire in of.fires]
    for skip in of.skips:
        span = minutes(skip.tick_at)
        if skip.count > 1:
            span += f"-{minutes(skip.through)}"
        told.append((skip.tick_at, f"{span} {skip.reason}"))
    return ", ".join(words for _, words in sorted(told))


ALL = Policies(misfire=Misfire.ALL, overlap=Overlap.ALLOW)
LATEST = Policies(misfire=Misfire.LATEST, overlap=Overlap.ALLOW)
SKIP = Policies(misfire=Misfire.SKIP, overlap=Overlap.ALLOW)


@pytest.mark.parametrize(
    ("policies", "now", "told"),
    [
        pytest.param(LATEST, at(1), "1 fires", id="a tick fires at its very instant"),
        pytest.param(LATEST, at(1.25), "1 fires", id="fifteen seconds late is on time"),
        pytest.param(SKIP, at(1.25), "1 fires", id="fifteen seconds late is on time for skip"),
        pytest.param(SKIP, at(1.26), "1 missed_window", id="skip skips what is later than that"),
        pytest.param(LATEST, at(1.5), "1 fires", id="latest fires a late tick"),
        pytest.param(LATEST, at(3), "1-2 coalesced, 3 fires", id="latest fires the last of three"),
        pytest.param(
            LATEST, at(62), "1 missed_window, 2-61 coalesced, 62 fires", id="latest has a window"
        ),
        pytest.param(
            replace(LATEST, window=timedelta(seconds=20)),
            at(3.4),
            "1-3 missed_window",
            id="latest fires nothing when the last is too old",
        ),
        pytest.param(ALL, at(3), "1 fires, 2 fires, 3 fires", id="all fires each"),
        pytest.param(
            replace(ALL, cap=2), at(4), "1-2 cap, 3 fires, 4 fires", id="all fires the latest few"
        ),
        pytest.param(
            replace(ALL, cap=1, window=timedelta(minutes=2)),
            at(4),
            "1 missed_window, 2-3 cap, 4 fires",
            id="all has a window, and its edge is inside",
        ),
        pytest.param(SKIP, at(3), "1-2 missed_window, 3 fires", id="skip fires what is on time"),
        pytest.param(
            replace(LATEST, window=timedelta(seconds=5)),
            at(1.1),
            "1 missed_window",
            id="a window shorter than on time binds as well",
        ),
    ],
)
def test_misfire(policies: Policies, now: datetime, told: str) -> None:
    assert story(planned(stored(policies), now)) == told


def test_all_ticks_that_are_on_time_fire_whatever_the_policy() -> None:
    for policies in (LATEST, ALL, SKIP):
        due = stored(policies, SECONDLY)
        assert len(planned(due, NOON + timedelta(seconds=15)).fires) == 15


def test_a_window_shorter_than_on_time_leaves_the_ticks_in_it_to_fire_each() -> None:
    due = stored(replace(LATEST, window=timedelta(seconds=5)), SECONDLY)
    outcome = planned(due, NOON + timedelta(seconds=10))
    assert [(skip.count, skip.reason) for skip in outcome.skips] == [(4, SkipReason.MISSED_WINDOW)]
    assert len(outcome.fires) == 6


def test_one_late_tick_makes_the_on_time_ones_coalesce_too() -> None:
    outcome = planned(stored(LATEST, SECONDLY), NOON + timedelta(seconds=20))
    assert [fire.tick_at for fire in outcome.fires] == [NOON + timedelta(seconds=20)]
    assert outcome.skips == (
        Skip(
            NOON + timedelta(seconds=1),
            NOON + timedelta(seconds=19),
            19,
            SkipReason.COALESCED,
        ),
    )


def test_a_paused_schedule_skips_all_its_ticks_for_that_reason_alone() -> None:
    trigger = MINUTELY.excluding(Calendar(times=[("12:02", "12:03")]))
    paused = replace(stored(ALL, trigger), paused=True, skips=frozenset({at(1)}))
    assert story(planned(paused, at(100))) == "1-100 paused"


def test_the_gates_come_in_their_order() -> None:
    trigger = MINUTELY.excluding(Calendar(times=[("12:02", "12:04")]))
    before = replace(stored(LATEST, trigger), skips=frozenset({at(3), at(5)}))
    told = "1 coalesced, 2 excluded, 3 overridden, 4 coalesced, 5 overridden, 6 fires"
    assert story(planned(before, at(6))) == told


def test_the_latest_tick_that_may_fire_does_though_later_ones_are_excluded() -> None:
    trigger = MINUTELY.excluding(Calendar(times=[("12:03", "12:30")]))
    before = replace(stored(LATEST, trigger), skips=frozenset({at(2)}))
    assert story(planned(before, at(10))) == "1 fires, 2 overridden, 3-10 excluded"


@pytest.mark.parametrize(
    ("policies", "now", "told", "following"),
    [
        pytest.param(
            replace(ALL, start_at=at(2)), at(3), "2 fires, 3 fires", at(4), id="a start is a tick"
        ),
        pytest.param(
            replace(ALL, start_at=at(2.5)), at(3), "3 fires", at(4), id="none before the start"
        ),
        pytest.param(
            replace(ALL, end_at=at(2)), at(5), "1 fires, 2 fires", None, id="an end is a tick"
        ),
        pytest.param(replace(ALL, end_at=at(1.5)), at(5), "1 fires", None, id="none after the end"),
        pytest.param(replace(ALL, end_at=at(3)), at(2), "1 fires, 2 fires", at(3), id="before end"),
        pytest.param(
            replace(ALL, max_runs=2), at(5), "1 fires, 2 fires", None, id="no tick after all runs"
        ),
        pytest.param(
            replace(LATEST, max_runs=1),
            at(3),
            "1-2 coalesced, 3 fires",
            None,
            id="a run that waits",
        ),
        pytest.param(
            replace(ALL, max_runs=2, overlap=Overlap.SKIP),
            at(3),
            "1 fires, 2-3 overlap",
            at(4),
            id="a tick that is skipped is no run",
        ),
        pytest.param(
            replace(ALL, max_runs=1, overlap=Overlap.SKIP),
            at(3),
            "1 fires",
            None,
            id="a schedule that is over skips nothing",
        ),
    ],
)
def test_the_life_of_a_schedule(
    policies: Policies, now: datetime, told: str, following: datetime | None
) -> None:
    outcome = planned(stored(policies), now)
    assert story(outcome) == told
    assert outcome.next_tick == following
    assert outcome.cursor == now


def test_earlier_runs_count_towards_the_most() -> None:
    before = replace(stored(replace(ALL, max_runs=5)), runs=4)
    outcome = planned(before, at(9))
    assert story(outcome) == "1 fires"
    assert outcome.next_tick is None
    assert next_tick(before.schedule, at(1), runs=5) is None
    assert next_tick(before.schedule, at(1), runs=4) == at(2)


@pytest.mark.parametrize(
    ("overlap", "previous", "told", "assumed"),
    [
        (Overlap.SKIP, None, "1 fires, 2-3 overlap", False),
        (Overlap.SKIP, Status.COMPLETED, "1 fires, 2-3 overlap", False),
        (Overlap.SKIP, Status.QUEUED, "1-3 overlap", True),
        (Overlap.ALLOW, Status.RUNNING, "1 fires, 2 fires, 3 fires", None),
        (Overlap.QUEUE_ONE, Status.FAILED, "1 fires, 2 fires, 3 overlap", False),
        (Overlap.QUEUE_ONE, Status.RUNNING, "1 fires, 2-3 overlap", True),
        (Overlap.QUEUE_ONE, Status.PENDING, "1-3 overlap", True),
        (Overlap.REPLACE, None, "1-2 overlap, 3 fires", False),
        (Overlap.REPLACE, Status.RUNNING, "1-2 overlap, 3 fires", True),
    ],
)
def test_overlap(
    overlap: Overlap, previous: Status | None, told: str, assumed: bool | None
) -> None:
    outcome = planned(stored(replace(ALL, overlap=overlap)), at(3), previous)
    assert story(outcome) == told
    assert outcome.assumes_unfinished is assumed
    replaces = overlap is Overlap.REPLACE and previous is Status.RUNNING
    assert outcome.cancels == ((JobId(9),) if replaces else ())


@pytest.mark.parametrize(
    ("overlap", "previous", "told"),
    [
        (Overlap.SKIP, Status.FAILED, "1 fires"),
        (Overlap.SKIP, Status.RUNNING, "1 overlap"),
        (Overlap.QUEUE_ONE, Status.RUNNING, "1 fires"),
        (Overlap.QUEUE_ONE, Status.QUEUED, "1 overlap"),
        (Overlap.REPLACE, Status.QUEUED, "1 fires"),
        (Overlap.ALLOW, Status.RUNNING, "1 fires"),
    ],
)
def test_overlap_of_a_single_tick(overlap: Overlap, previous: Status, told: str) -> None:
    assert story(planned(stored(Policies(overlap=overlap)), at(1), previous)) == told


def test_a_plan_that_asks_nothing_of_the_previous_job_assumes_nothing_about_it() -> None:
    paused = replace(stored(replace(ALL, overlap=Overlap.REPLACE)), paused=True)
    outcome = planned(paused, at(3), Status.RUNNING)
    assert outcome.assumes_unfinished is None
    assert outcome.cancels == ()


@pytest.mark.parametrize(
    "now", [pytest.param(at(-600), id="the clock jumped back"), pytest.param(at(0.5), id="early")]
)
def test_a_plan_before_its_time_changes_nothing(now: datetime) -> None:
    before = stored()
    assert planned(before, now) == Plan(before, before.cursor, before.next_tick, as_of=now)


def test_a_schedule_that_is_over_is_left_alone() -> None:
    before = stored(trigger=once(at(-5)))
    assert before.next_tick is None
    assert planned(before, at(3)) == Plan(before, NOON, None, as_of=at(3))


def test_a_clock_that_went_back_between_two_plans_does_not_move_the_cursor_back() -> None:
    first = planned(stored(), at(3.5))
    between = replace(stored(), cursor=first.cursor, next_tick=first.next_tick)
    assert planned(between, at(3.2)).cursor == at(3.5)


def test_a_tick_that_several_members_name_fires_once() -> None:
    trigger = any_of(MINUTELY, every(minutes=1, start=NOON), once(at(1)))
    assert story(planned(stored(ALL, trigger), at(2))) == "1 fires, 2 fires"


def test_a_year_of_missed_minutes_is_planned_in_bounded_steps() -> None:
    before = stored(replace(LATEST, cap=100), every(minutes=1, start=NOON - timedelta(days=365)))
    before = replace(before, cursor=NOON - timedelta(days=365))
    before = replace(before, next_tick=next_tick(before.schedule, before.cursor))
    passes, count, fired = 0, 0, 0
    while before.next_tick is not None and before.next_tick <= NOON:
        outcome = planned(before, NOON)
        assert len(outcome.skips) <= 2
        assert outcome.cursor > before.cursor
        count += sum(skip.count for skip in outcome.skips)
        fired += len(outcome.fires)
        before = replace(before, cursor=outcome.cursor, next_tick=outcome.next_tick)
        passes += 1
    assert passes == 365 * 1440 // 10_100 + 1
    assert (count, fired) == (365 * 1440 - 1, 1)


@pytest.fixture
def short_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans that hold only three ticks more than the cap."""
    monkeypatch.setattr("drumbeat.rules.planning.ticks.WALK_BEYOND_CAP", 3)


@pytest.mark.usefixtures("short_walk")
@pytest.mark.parametrize(
    ("policies", "pages"),
    [
        pytest.param(
            replace(LATEST, cap=1),
            ["1-4 coalesced", "5-8 coalesced", "9 coalesced, 10 fires"],
            id="latest",
        ),
        pytest.param(
            replace(ALL, cap=3),
            ["1-6 cap", "7 cap, 8 fires, 9 fires, 10 fires"],
            id="all, with the last few on the last page",
        ),
        pytest.param(
            replace(ALL, cap=5),
            ["1-5 cap, 6 fires, 7 fires, 8 fires", "9 fires, 10 fires"],
            id="all, with the last few on both pages",
        ),
        pytest.param(
            replace(SKIP, cap=4),
            ["1-7 missed_window", "8-9 missed_window, 10 fires"],
            id="skip",
        ),
        pytest.param(
            replace(ALL, cap=4, max_runs=1), ["1-6 cap, 7 fires"], id="the last run ends it early"
        ),
    ],
)
def test_pages_decide_together_what_one_plan_would(policies: Policies, pages: list[str]) -> None:
    before, told = stored(policies), list[str]()
    while before.next_tick is not None and before.next_tick <= at(10):
        outcome = planned(before, at(10))
        told.append(story(outcome))
        runs = before.runs + len(outcome.fires)
        before = replace(before, cursor=outcome.cursor, next_tick=outcome.next_tick, runs=runs)
    assert told == pages
    assert before.cursor == at(10)


@pytest.mark.usefixtures("short_walk")
def test_the_last_tick_fires_from_its_page_when_all_later_pages_are_excluded() -> None:
    trigger = MINUTELY.excluding(Calendar(times=[("12:02", "12:09")]))
    before = replace(stored(replace(LATEST, cap=1), trigger), skips=frozenset({at(9), at(10)}))
    outcome = planned(before, at(10))
    assert story(outcome) == "1 fires, 2-4 excluded"
    assert (outcome.cursor, outcome.next_tick) == (at(4), at(5))


def test_what_is_too_expensive_to_judge_is_skipped_for_that_reason() -> None:
    halves = Calendar(times=[("00:00", "12:00")]), Calendar(times=[("12:00", "00:00")])
    resting = (every(seconds=1).excluding(*halves), every(seconds=2).excluding(*halves))
    trigger = any_of(once(at(1)), *resting).anchored(NOON)
    day = replace(LATEST, window=timedelta(days=1))
    due = stored(day, trigger)
    made = planned(due, NOON + timedelta(hours=6))
    assert [skip for skip in made.skips if skip.tick_at == at(1)] == [
        Skip(at(1), at(1), 1, SkipReason.TOO_EXPENSIVE)
    ]
    assert not made.fires
    assert made.cursor > at(100)


def test_a_trigger_of_many_parts_is_walked_in_more_plans() -> None:
    parts = [every(seconds=1 + number) for number in range(50)]
    due = stored(ALL, any_of(*parts).anchored(NOON))
    made = planned(due, NOON + timedelta(hours=6))
    assert sum(skip.count for skip in made.skips) + len(made.fires) == 200_000 // 100
    assert made.next_tick is not None
    assert made.next_tick <= NOON + timedelta(hours=6)
