"""The MongoDB store when its server is killed, and when others have changed its collections."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from drumbeat.backends.mongo.connection.client import Collections
from drumbeat.backends.mongo.schema.indexes import COLLECTIONS
from drumbeat.backends.mongo.store import MongoStore
from drumbeat.model.errors import ConfigurationError, Unavailable
from drumbeat.model.fleet.lease import Epoch
from drumbeat.model.jobs.job import JobFilter, JobSpec
from drumbeat.model.page import PageRequest
from drumbeat.model.schedules.plan import Plan
from drumbeat.testing.conformance.builders import (
    BERT,
    NOON,
    add,
    after,
    insert,
    lead,
    lease,
    plan,
    rows,
    schedule,
)
from servers import GivenMongo, Mongo

from .mongo_cases import CLOCK, LEAVING_CONNECTIONS, namespace_on
from .mongo_steps import Steps
from .mongo_wholeness import check_whole

pytestmark = LEAVING_CONNECTIONS
KILLED_AT = (3, 5, 7, 9)
"""Writes of a commit: while it prepares, decides, and finishes."""
Open = Callable[[], Awaitable[MongoStore]]


@pytest.fixture
async def namespace(mongo: Mongo | GivenMongo) -> AsyncIterator[str]:
    async with namespace_on(mongo.address) as namespace:
        yield namespace


@pytest.fixture
async def opened(mongo: Mongo | GivenMongo, namespace: str) -> AsyncIterator[Open]:
    """Opens stores of the same namespace, as nodes that start."""
    stores: list[MongoStore] = []

    async def start() -> MongoStore:
        stores.append(MongoStore(mongo.address, CLOCK, namespace))
        await stores[-1].open()
        return stores[-1]

    yield start
    for store in stores:
        await store.close()


async def change(store: MongoStore, act: Callable[[Collections], Awaitable[object]]) -> None:
    with store.server.calls() as collections:
        await act(collections)


async def indexes(store: MongoStore, collection: str) -> set[str]:
    with store.server.calls() as collections:
        return set(await collections[collection].index_information())


async def test_a_commit_fires_each_tick_once_whenever_the_server_is_killed(
    mongo: Mongo | GivenMongo,
) -> None:
    """The server loses nothing of its file, and the leader gets no answer."""
    with Mongo.start() as server:
        for number in KILLED_AT:
            namespace = f"killed-{number}"
            store = MongoStore(server.address, CLOCK, namespace, patience=0)
            await store.open()
            await add(store, schedule("a"), schedule("b"))
            await lead(store, token=1)
            plans = [plan(schedule("a")), plan(schedule("b"))]

            async def kill(server: Mongo = server) -> None:
                server.kill()

            Steps(store).meanwhile(number, kill)
            with pytest.raises(Unavailable):
                await store.schedules.commit(plans, Epoch("scheduler", 1), after(1))
            await store.close()
            server.start_again()
            await _fires_once(server.address, namespace, plans)


async def _fires_once(address: str, namespace: str, plans: list[Plan]) -> None:
    """The next leader commits the same plans, and each tick has one row and one job."""
    survivor = MongoStore(address, CLOCK, namespace, patience=0)
    await survivor.open()
    epoch = await survivor.fence.claim(lease(2, holder=BERT))
    assert isinstance(epoch, Epoch)
    await survivor.schedules.commit(plans, epoch, after(2))
    for name in ("a", "b"):
        (row,) = await rows(survivor, name)
        jobs = (await survivor.jobs.list(JobFilter(schedule=name), PageRequest())).items
        assert [job.id for job in jobs] == [row.job_id]
    with survivor.server.calls() as collections:
        await survivor.decisions.settle_all(collections)
    await survivor.close()
    check_whole(address, namespace)


async def test_a_foreign_collection_at_one_of_our_names_is_refused_and_left_alone(
    mongo: Mongo | GivenMongo, namespace: str
) -> None:
    store = MongoStore(mongo.address, CLOCK, namespace)
    await change(store, lambda collections: collections["jobs"].insert_one({"_id": 7}))
    with pytest.raises(ConfigurationError, match="holds documents that are not Drumbeat's"):
        await store.open()
    with store.server.calls() as collections:
        assert await collections["jobs"].find().to_list() == [{"_id": 7}]
        assert await collections["schema"].find().to_list() == []
    await store.close()


async def test_collections_of_a_newer_version_are_refused(
    mongo: Mongo | GivenMongo, namespace: str, opened: Open
) -> None:
    newer = {"$addToSet": {"applied": 99}}
    store = await opened()
    await change(store, lambda found: found["schema"].update_one({"_id": "versions"}, newer))
    with pytest.raises(ConfigurationError, match="have version 99, and this version of Drumbeat"):
        await opened()


async def test_an_index_that_somebody_dropped_is_missing_until_a_node_starts(opened: Open) -> None:
    store = await opened()
    assert 1 in await store.migrations.applied()
    await change(store, lambda collections: collections["jobs"].drop_index("guard"))
    assert 1 not in await store.migrations.applied(), "drumbeat db status tells"
    assert "guard" in await indexes(await opened(), "jobs")
    assert 1 in await store.migrations.applied()


async def test_an_index_that_somebody_replaced_by_another_is_refused(opened: Open) -> None:
    store = await opened()
    await change(store, lambda collections: collections["jobs"].drop_index("guard"))
    await change(
        store, lambda found: found["jobs"].create_index([("guard", 1)], name="guard", sparse=True)
    )
    with pytest.raises(
        ConfigurationError, match=r"the index 'guard' of '.*\.jobs' at .* is not as"
    ):
        await opened()


async def test_collections_that_were_dropped_under_a_node_are_made_again(
    opened: Open, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("drumbeat.backends.mongo.store.server_time.MEASURED_EVERY", 0.0)
    store = await opened()
    await insert(store, JobSpec("send"))
    for name in COLLECTIONS:
        await change(store, lambda collections, name=name: collections[name].drop())  # type: ignore[misc]
    with pytest.raises(Unavailable, match="were dropped"):
        await store.jobs.insert([JobSpec("send")])
    await store.jobs.insert([JobSpec("send", dedupe_key="k")], NOON)
    assert "guard" in await indexes(store, "jobs")
    await store.jobs.insert([JobSpec("send", dedupe_key="k")])
    assert len((await store.jobs.list(JobFilter(), PageRequest())).items) == 1
