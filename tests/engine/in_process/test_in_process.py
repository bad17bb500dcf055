"""The in-process mode on fake time: a store for each instance, and nothing shared but the election.

What real processes make of it is in `tests/app/test_behaviour_matrix.py`.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from drumbeat import Context, Retry, Trigger, cron, every, once
from drumbeat.engine.in_process.shared_cursor import CursorPosition, SharedCursor
from drumbeat.model.errors import Unavailable
from drumbeat.model.events import LabelShared
from drumbeat.model.ids import NodeId
from drumbeat.testing.runtime import FakeRuntime
from tests.engine.support.fleet import Fault, Heard, SkewedClock, ledger
from tests.engine.support.instances import Instances
from tests.log_records import sentence_of

TTL = 10.0


async def test_only_the_leader_runs_and_the_others_say_that_they_skip(
    instances: Instances, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="drumbeat")
    for _ in range(3):
        instances.app()
    await instances.start()
    await instances.clock.advance("5m")
    assert {label for label, _ in instances.ran} == {"instance-1"}
    assert len(instances.ran) == 5
    skipped = [
        record.__dict__["facts"]
        for record in caplog.records
        if sentence_of(record) == "Skipping task execution - not the leader"
    ]
    assert Counter(facts["instance_id"] for facts in skipped) == {"instance-2": 5, "instance-3": 5}
    assert {facts["task"] for facts in skipped} == {"work"}
    assert {record.levelname for record in caplog.records if "Skipping" in record.message} == {
        "DEBUG"
    }
    rows = await ledger(instances.apps[1], "work")
    assert [(row.outcome, row.reason) for row in rows] == [("skipped", "elsewhere")] * 5
    await instances.stop()


async def test_the_next_leader_goes_on_where_the_last_one_was_killed(instances: Instances) -> None:
    for _ in range(3):
        instances.app()
    await instances.start()
    await instances.clock.advance(5 * 60 + 55)  # five seconds before a tick
    await instances.kill(instances.apps[0])
    await instances.clock.advance(TTL + 3)
    assert instances.leader is not None
    await instances.clock.advance("5m")
    ticks = instances.ticks
    assert len(ticks) == len(set(ticks)) == 11
    assert max(ticks) - min(ticks) == timedelta(minutes=10)
    await instances.stop()


async def test_a_tick_that_nobody_took_is_still_there_for_whoever_leads_next(
    instances: Instances,
) -> None:
    """A follower passes a tick only when some leader has taken it, never because time went on."""
    for _ in range(2):
        instances.app()
    await instances.start()
    await instances.clock.advance("1m")
    Fault(instances.coordinator.leases, "acquire").always("before")
    await instances.kill(instances.apps[0])
    await instances.clock.advance("3m")
    assert len(instances.ran) == 1
    instances.coordinator.leases.__dict__.pop("acquire")
    await instances.clock.advance(5)
    assert len(instances.ran) == 4
    assert {label for label, _ in instances.ran[1:]} == {"instance-2"}
    await instances.stop()


async def test_a_new_leader_that_saw_no_hint_reads_what_was_taken_before_it_fires(
    instances: Instances,
) -> None:
    """A watch may stay silent for ever; the shared cursor itself is read when a term begins."""

    async def silent(_key: str) -> AsyncIterator[None]:
        await asyncio.Event().wait()
        yield None

    instances.coordinator.configuration.watch = silent  # type: ignore[assignment,method-assign]
    for _ in range(2):
        instances.app()
    await instances.start()
    await instances.clock.advance("5m")
    assert await ledger(instances.apps[1], "work") == ()
    await instances.kill(instances.apps[0])
    await instances.clock.advance("2m")
    assert [label for label, _ in instances.ran] == ["instance-1"] * 5 + ["instance-2"] * 2
    assert len(set(instances.ticks)) == 7
    await instances.stop()


async def test_epochs_rise_over_all_instances_although_each_has_a_store(
    instances: Instances,
) -> None:
    for _ in range(3):
        instances.app()
    await instances.start()
    epochs: list[int] = []
    for _ in range(6):
        leader = instances.leader
        assert leader is not None
        epochs.append(leader.leadership.epoch or 0)
        leader.leadership.resign()
        await instances.clock.advance(10)
    assert epochs == sorted(set(epochs))
    await instances.stop()


async def test_a_leader_that_slept_takes_nothing_that_another_took(instances: Instances) -> None:
    """Its compare-and-set comes too late, whatever it believes."""
    first, second = instances.app(), instances.app()
    await instances.start()
    await instances.clock.advance(50)
    move = Fault(instances.coordinator.configuration, "compare_and_set").hang()
    await instances.clock.advance(11)  # the first one hangs with the tick in its hand
    assert move.hanging.is_set()
    first.leadership.resign("asleep")
    await instances.clock.advance(5)
    assert second.leadership.is_leader
    move.heal()
    await instances.clock.advance("2m")
    ticks = instances.ticks
    assert len(ticks) == len(set(ticks)) == 3
    assert "instance-2" in {label for label, _ in instances.ran}
    await instances.stop()


@pytest.mark.parametrize("seed", range(6))
async def test_no_tick_runs_twice_whatever_fails(seed: int) -> None:
    instances = Instances()
    instances.count = 100 * seed
    for _ in range(3):
        instances.app(every(seconds=5))
    chance = FakeRuntime(instances.clock, seed=seed).random
    configuration = instances.coordinator.configuration
    faults = [
        Fault(instances.coordinator.leases, "renew"),
        Fault(instances.coordinator.leases, "acquire"),
        Fault(configuration, "compare_and_set"),
        Fault(configuration, "get"),
    ]
    await instances.start()
    led: set[str] = set()
    for _ in range(150):
        if chance.random() < 0.2:
            chance.choice(faults).modes[:] = [chance.choice(["before", "after", "hang"])] * 2
        if (leader := instances.leader) is not None:
            led.add(leader.settings.instance_id)
            if chance.random() < 0.03:
                leader.leadership.resign()
        await instances.clock.advance(chance.random() * 4)
    for fault in faults:
        fault.heal()
    await instances.clock.advance("2m")
    before = len(instances.ran)
    await instances.clock.advance("1m")
    assert len(instances.ran) - before == 12, "after the faults every tick is run"
    doubled = [tick for tick, count in Counter(instances.ticks).items() if count > 1]
    assert doubled == []
    assert len(led) > 1, "leadership never changed hands: the faults did nothing"
    await instances.stop()


@pytest.mark.parametrize(
    "when", [every(minutes=7), every("90s"), cron("*/7 * * * *")], ids=["7m", "90s", "cron"]
)
async def test_instances_that_start_at_different_times_name_the_same_ticks(
    instances: Instances, when: Trigger
) -> None:
    first = instances.app(when)
    await instances.start(first)
    await instances.clock.advance(100)
    second = instances.app(when)
    await instances.start(second)
    assert await first.schedules.preview("work", 5) == await second.schedules.preview("work", 5)
    await instances.stop()


async def test_once_runs_once_in_the_whole_fleet(instances: Instances) -> None:
    first = instances.app(once())
    second = instances.app(once())
    await instances.start()
    await instances.clock.advance(5)
    assert [label for label, _ in instances.ran] == ["instance-1"]
    first.leadership.resign()
    await instances.clock.advance(5)
    assert second.leadership.is_leader
    await instances.clock.advance("1m")
    assert len(instances.ran) == 1
    (row,) = await ledger(second, "work")
    assert row.reason == "elsewhere"
    await instances.stop()


async def test_an_interval_after_completion_goes_on_with_the_next_leader(
    instances: Instances,
) -> None:
    for _ in range(2):
        instances.app(every(minutes=1, from_completion=True))
    await instances.start()
    await instances.clock.advance("5m")
    runs = len(instances.ran)
    assert runs >= 4
    await instances.kill(instances.apps[0])
    await instances.clock.advance("5m")
    later = instances.ran[runs:]
    assert {label for label, _ in later} == {"instance-2"}
    assert len(later) >= 4
    gaps = [b - a for a, b in zip(instances.ticks, instances.ticks[1:], strict=False)]
    assert min(gaps) >= timedelta(minutes=1)
    await instances.stop()


async def test_a_follower_runs_and_retries_jobs_that_were_submitted_to_it(
    instances: Instances,
) -> None:
    instances.app()
    follower = instances.app()
    tries: list[int] = []

    @follower.task(retry=Retry.linear(max_retries=3, delay=5))
    async def flaky(ctx: Context) -> None:
        tries.append(ctx.number)
        if ctx.number < 3:
            raise RuntimeError("not yet")

    await instances.start()
    assert not follower.leadership.is_leader
    job = await flaky.options(delay=30).submit()
    done = await instances.clock.until(follower.jobs.wait(job.id), "2m")
    assert (done.status, tries) == ("completed", [1, 2, 3])
    await instances.stop()


async def test_a_cursor_from_a_clock_that_is_days_ahead_does_not_stop_the_fleet(
    instances: Instances,
) -> None:
    cursor = SharedCursor(instances.coordinator)
    wrong = instances.clock.now() + timedelta(days=3)
    assert await cursor.move(CursorPosition(wrong, NodeId("mad:1"), 1)) is not None
    app = instances.app()
    await instances.start()
    await instances.clock.advance("3m")
    assert len(instances.ran) == 3
    mark = await cursor.read()
    assert mark is not None
    assert mark.holder == app.id
    await instances.stop()


async def test_clocks_that_differ_a_little_double_nothing(instances: Instances) -> None:
    instances.app(clock=SkewedClock(instances.clock, timedelta(seconds=3)))
    instances.app()
    await instances.start()
    for _ in range(6):
        await instances.clock.advance(58)  # the first one's ticks come three seconds early
        leader = instances.leader
        assert leader is not None
        leader.leadership.resign()
        await instances.clock.advance("3m")
    ticks = instances.ticks
    assert len(ticks) == len(set(ticks))
    assert len({label for label, _ in instances.ran}) == 2
    await instances.stop()


async def test_two_instances_with_one_label_work_and_are_told_of(
    instances: Instances, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        instances.app(instance_id="web")
    heard = Heard(instances.apps[1])
    await instances.start()
    await instances.clock.advance("3m")
    assert len(instances.ran) == 3
    (shared,) = heard.of(LabelShared)
    assert (shared.node, shared.other) == (instances.apps[1].id, instances.apps[0].id)
    assert "Another live node has the same label" in caplog.text
    await instances.stop()


async def test_the_earlier_life_of_an_instance_is_not_taken_for_another(
    instances: Instances,
) -> None:
    first = instances.app(instance_id="web")
    await instances.start()
    await instances.clock.advance("3m")
    await instances.kill(first)
    again = instances.app(instance_id="web")
    heard = Heard(again)
    await instances.start(again)
    await instances.clock.advance("3m")
    assert again.leadership.is_leader
    assert heard.of(LabelShared) == []
    await instances.stop()


async def test_a_coordinator_out_of_reach_at_the_start_is_waited_for(
    instances: Instances, caplog: pytest.LogCaptureFixture
) -> None:
    started_at = instances.clock.now()
    reachable = asyncio.Event()

    async def door() -> None:
        if not reachable.is_set():
            raise Unavailable("no route to the lock server")

    instances.coordinator.open = door  # type: ignore[method-assign]  # as that of a server
    app = instances.app()
    await instances.start()
    await instances.clock.advance("10m")
    assert instances.ran == []
    assert not app.leadership.is_leader
    outage = app.leadership.outage
    assert outage is not None
    assert outage.since == started_at
    assert str(outage).endswith("no route to the lock server")
    told = [record for record in caplog.records if "coordinator does not answer" in record.message]
    assert told
    assert len(told) < 20, "an outage is no flood"
    assert told[-1].__dict__["facts"]["since"] == started_at.isoformat()

    reachable.set()
    await instances.clock.advance("1m")
    assert app.leadership.is_leader
    assert app.leadership.outage is None
    await instances.clock.advance("1m")
    assert instances.ran
    await instances.stop()


async def test_a_lost_answer_to_a_move_of_the_cursor_costs_no_tick(instances: Instances) -> None:
    instances.app()
    await instances.start()
    await instances.clock.advance(30)
    Fault(instances.coordinator.configuration, "compare_and_set").after()
    await instances.clock.advance("2m")
    assert len(set(instances.ticks)) == len(instances.ran) == 2
    await instances.stop()


async def test_stopping_hands_over_within_a_second(instances: Instances) -> None:
    first, second = instances.app(), instances.app()
    await instances.start()
    await instances.clock.advance(30)
    await instances.clock.until(first.stop(0))
    await instances.clock.advance(1)
    assert second.leadership.is_leader
    await instances.stop()
