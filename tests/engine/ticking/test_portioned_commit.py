"""Portions of plans, some of which are committed at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from drumbeat.engine.ticking import portions
from drumbeat.engine.ticking.portions import PortionedCommit, Written
from drumbeat.model.schedules.plan import Plan
from drumbeat.testing import FakeClock
from drumbeat.testing.conformance.builders import let_others_run, plan, schedule

PLANS = [plan(schedule(f"s{number}")) for number in range(7)]


class SlowStore:
    """Commits that end when the test says so."""

    def __init__(self) -> None:
        self.started: list[list[str]] = []
        self.ended: list[asyncio.Future[Written]] = []

    async def commit(self, plans: Sequence[Plan]) -> Written:
        self.started.append([each.name for each in plans])
        self.ended.append(asyncio.get_running_loop().create_future())
        return await self.ended[-1]


async def as_they_are(plans: Sequence[Plan]) -> Sequence[Plan]:
    return plans


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> SlowStore:
    monkeypatch.setattr(portions, "PORTION", 2)
    return SlowStore()


def begun(store: SlowStore, at_once: int, plans: Sequence[Plan] = PLANS) -> asyncio.Task[Written]:
    commit = PortionedCommit(store.commit, at_once, FakeClock())
    return asyncio.create_task(commit.run(plans, as_they_are))


async def turns() -> None:
    for _ in range(10):
        await let_others_run()


async def test_no_more_portions_are_under_way_than_the_store_writes_at_once(
    store: SlowStore,
) -> None:
    run = begun(store, at_once=2)
    await turns()
    assert store.started == [["s0", "s1"], ["s2", "s3"]]
    store.ended[0].set_result(PLANS[:2])
    await turns()
    assert store.started[2:] == [["s4", "s5"]]
    for number in range(1, 4):
        store.ended[number].set_result(PLANS[2 * number : 2 * number + 2])
        await turns()
    assert await run == PLANS


async def test_nothing_more_is_committed_after_the_end_of_the_term(store: SlowStore) -> None:
    run = begun(store, at_once=2)
    await turns()
    store.ended[0].set_result(None)
    assert await run is None
    assert store.ended[1].cancelled()
    assert len(store.started) == 2


async def test_an_error_leaves_no_commit_under_way(store: SlowStore) -> None:
    run = begun(store, at_once=2)
    await turns()
    store.ended[0].set_exception(OSError("disk full"))
    with pytest.raises(OSError, match="disk full"):
        await run
    assert store.ended[1].cancelled()


async def test_cancelling_leaves_no_commit_under_way(store: SlowStore) -> None:
    run = begun(store, at_once=2)
    await turns()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert all(each.cancelled() for each in store.ended)


async def test_plans_that_fit_into_one_portion_are_one_commit(store: SlowStore) -> None:
    run = begun(store, at_once=2, plans=PLANS[:2])
    await turns()
    store.ended[0].set_result(PLANS[:2])
    assert await run == PLANS[:2]
    assert store.started == [["s0", "s1"]]


async def test_nothing_is_committed_of_nothing(store: SlowStore) -> None:
    assert await begun(store, at_once=1, plans=[]) == []
    assert store.started == []
