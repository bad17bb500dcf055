"""MongoDB: at each write of a commit, another call comes between.

Each case is played once for every write of the first call, with the whole second call right before
it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from drumbeat.backends.mongo.connection.client import Collections
from drumbeat.model.errors import StaleEpoch
from drumbeat.model.fleet.lease import Epoch
from drumbeat.model.jobs.job import (
    JobFilter,
)
from drumbeat.model.page import PageRequest
from drumbeat.model.schedules.plan import Backfilled, Committed, Edit, Raced, Written
from drumbeat.testing.conformance.builders import (
    BERT,
    NOON,
    add,
    after,
    edited,
    fire,
    lead,
    lease,
    plan,
    rows,
    schedule,
)
from servers import GivenMongo, Mongo

from .mongo_two import NAMESPACE, Two, two_on
from .mongo_wholeness import empty

DECIDES_AT = 9
"""The write of the first commit of a namespace that makes the decision."""


@pytest.fixture
async def two(mongo: Mongo | GivenMongo) -> AsyncIterator[Two]:
    async with two_on(mongo.address) as two:
        yield two


async def test_a_new_leader_between_the_writes_of_a_commit_is_the_only_one_to_fire(
    two: Two,
) -> None:
    seen: list[type] = []

    async def prepare() -> None:
        await add(two.other, schedule("a"), schedule("b"))
        await lead(two.other, token=1)

    async def commit() -> type:
        try:
            plans = [plan(schedule("a")), plan(schedule("b"))]
            verdicts = await two.one.schedules.commit(plans, Epoch("scheduler", 1), after(1))
        except StaleEpoch:
            return StaleEpoch
        (kind,) = {type(each) for each in verdicts}
        return kind

    async def lead_and_commit() -> type:
        epoch = await two.other.fence.claim(lease(2, holder=BERT))
        assert isinstance(epoch, Epoch)
        plans = [plan(schedule("a")), plan(schedule("b"))]
        verdicts = await two.other.schedules.commit(plans, epoch, after(2))
        (kind,) = {type(each) for each in verdicts}
        return kind

    async for first, second in two.at_each_write(prepare, commit, lead_and_commit):
        assert (first, second) in ((StaleEpoch, Committed), (Committed, Raced))
        for name in ("a", "b"):
            (row,) = await rows(two.other, name)
            assert row.epoch == (1 if first is Committed else 2)
        jobs = (await two.other.jobs.list(JobFilter(), PageRequest())).items
        assert len(jobs) == 2
        seen.append(first)
    assert seen == sorted(seen, key=lambda kind: kind is Committed)
    assert {StaleEpoch, Committed} == set(seen)


async def test_nothing_of_a_leader_is_decided_once_the_next_one_has_its_epoch(two: Two) -> None:
    seen: list[bool] = []

    async def prepare() -> None:
        await add(two.other, schedule())
        await lead(two.other, token=1)

    async def commit() -> bool:
        try:
            plans = [plan(schedule())]
            (verdict,) = await two.one.schedules.commit(plans, Epoch("scheduler", 1), after(1))
        except StaleEpoch:
            return False
        return isinstance(verdict, Committed)

    async def claim() -> bool:
        assert isinstance(await two.other.fence.claim(lease(2, holder=BERT)), Epoch)
        return len(await rows(two.other)) == 1

    async for committed, fired in two.at_each_write(prepare, commit, claim):
        assert committed == fired
        assert len(await rows(two.other)) == fired
        seen.append(fired)
    assert set(seen) == {False, True}


@pytest.mark.parametrize("kind", ["edit", "delete"])
async def test_an_edit_between_the_writes_of_a_commit_comes_before_it_or_after_it(
    two: Two, kind: str
) -> None:
    becomes = edited(schedule()) if kind == "edit" else None

    async def prepare() -> None:
        await add(two.other, schedule())
        await lead(two.other)

    async def commit() -> Committed | Raced:
        plans = [plan(schedule())]
        (verdict,) = await two.one.schedules.commit(plans, Epoch("scheduler", 1), after(1))
        return verdict

    async def edit() -> Written | Raced:
        (verdict,) = await two.other.schedules.put([Edit(schedule(), becomes)])
        return verdict

    async for committed, put in two.at_each_write(prepare, commit, edit):
        assert isinstance(committed, Raced) == isinstance(put, Written)
        assert len(await rows(two.other)) == isinstance(committed, Committed)
        jobs = (await two.other.jobs.list(JobFilter(), PageRequest())).items
        assert len(jobs) == isinstance(committed, Committed)


async def test_a_backfill_between_the_writes_of_a_commit_fires_what_it_does_not(two: Two) -> None:
    async def prepare() -> None:
        await add(two.other, schedule())
        await lead(two.other)

    async def commit() -> int:
        plans = [plan(schedule())]
        (verdict,) = await two.one.schedules.commit(plans, Epoch("scheduler", 1), after(1))
        assert isinstance(verdict, Committed)
        return len(verdict.jobs)

    async def backfill() -> int:
        fires = [fire("nightly", NOON)]
        (verdict,) = await two.other.schedules.backfill("nightly", fires, after(1))
        return isinstance(verdict, Backfilled)

    async for fired, backfilled in two.at_each_write(prepare, commit, backfill):
        assert fired + backfilled == 1
        assert len(await rows(two.other)) == 1


async def test_a_tick_that_a_raced_commit_held_for_a_while_is_fired_by_a_backfill(
    two: Two,
) -> None:
    async def prepare() -> None:
        await add(two.other, schedule())
        await lead(two.other)

    async def commit() -> bool:
        plans = [plan(schedule())]
        (verdict,) = await two.one.schedules.commit(plans, Epoch("scheduler", 1), after(1))
        return isinstance(verdict, Committed)

    async def backfill_and_edit() -> tuple[bool, bool]:
        fires = [fire("nightly", NOON)]
        (verdict,) = await two.other.schedules.backfill("nightly", fires, after(1))
        (put,) = await two.other.schedules.put([Edit(schedule(), edited(schedule()))])
        return isinstance(verdict, Backfilled), isinstance(put, Written)

    async for committed, (backfilled, put) in two.at_each_write(prepare, commit, backfill_and_edit):
        assert committed != put
        assert len(await rows(two.other)) == 1
        assert backfilled or committed


async def test_a_decision_that_a_new_primary_does_not_show_yet_is_not_undone(two: Two) -> None:
    """It answers reads from before the last confirmed writes, until it has confirmed one."""
    empty(two.address, NAMESPACE)
    leader, other = two.one, two.other
    await add(leader, schedule())
    await lead(leader)
    seen: list[object] = []

    async def meet() -> None:
        with other.server.calls() as collections:
            found = await collections["fence"].find_one({"decision": {"$exists": True}})
            assert found is not None
            decisions = _Outdated(collections, seen)
            settled = found["decision"]
            await other.decisions.settle(decisions, settled)  # type: ignore[arg-type]

    two.steps.meanwhile(DECIDES_AT, meet)
    (verdict,) = await leader.schedules.commit([plan(schedule())], Epoch("scheduler", 1), after(1))
    assert isinstance(verdict, Committed)
    assert two.steps.names[DECIDES_AT - 1] == "decisions.update_one"
    assert len(seen) > 1, "it has looked again"
    (row,) = await rows(leader)
    (job,) = (await leader.jobs.list(JobFilter(), PageRequest())).items
    assert row.job_id == job.id


class _Outdated:
    """Collections whose first read of a decision finds none."""

    def __init__(self, collections: Collections, seen: list[object]) -> None:
        self._collections = collections
        self._seen = seen

    def __getitem__(self, name: str) -> object:
        return self if name == "decisions" else self._collections[name]

    async def find_one(self, wanted: dict[str, object]) -> object:
        found = await self._collections["decisions"].find_one(wanted)
        self._seen.append(found)
        return None if len(self._seen) == 1 else found

    def __getattr__(self, method: str) -> object:
        return getattr(self._collections["decisions"], method)
