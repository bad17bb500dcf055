"""Large numbers from MongoDB: the client library has a kind of its own for them, which is not to
leave this backend, since it cannot be sent as JSON."""

from __future__ import annotations

import asyncio
import dataclasses
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import timedelta
from typing import Any

import pytest
from pymongo import ReturnDocument

from drumbeat import Drumbeat, every
from drumbeat.api.access.access_control import AccessControl
from drumbeat.api.http.application import Api
from drumbeat.api.table import TABLE
from drumbeat.backends.mongo.coordinator import MongoCoordinator
from drumbeat.backends.mongo.store import MongoStore
from drumbeat.model.fleet.audit import AuditFilter, AuditNote
from drumbeat.model.fleet.lease import Epoch, Lease
from drumbeat.model.fleet.token import NewToken, Scope
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Inserted, JobFilter, JobSpec, Wanted
from drumbeat.model.page import PageRequest
from drumbeat.testing import inside
from servers import GivenMongo, Mongo
from tests.api.caller import Caller
from tests.support.mongo_namespace import namespace_in

from .mongo_cases import CLOCK, LEAVING_CONNECTIONS, connected, namespace_on

pytestmark = LEAVING_CONNECTIONS
PATIENCE = 90.0
TOKEN = re.compile(rb'"token":([0-9]+)')
LARGE = 2**40
"""Above 2^31: smaller numbers are plain in any case."""
HERE = NodeId("here")
PAGE = PageRequest(10)


def kinds_of_numbers(value: Any) -> Iterator[type]:
    """The kinds of all numbers within a value."""
    parts: Any = value  # the type checkers are not to narrow it
    if isinstance(value, int) and not isinstance(value, bool):
        yield type(value)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from kinds_of_numbers(getattr(value, field.name, None))
    elif isinstance(value, Mapping):
        yield from kinds_of_numbers([*value.keys(), *value.values()])
    elif isinstance(value, list | tuple | frozenset):
        for each in parts:
            yield from kinds_of_numbers(each)


@pytest.fixture
async def store(mongo: Mongo | GivenMongo) -> AsyncIterator[MongoStore]:
    """A store that has given out many numbers before."""
    async with namespace_on(mongo.address) as namespace:
        store = MongoStore(mongo.address, CLOCK, namespace)
        await store.open()
        with store.server.calls() as collections:
            for name in ("jobs", "audit", "tokens"):
                await collections["numbers"].update_one(
                    {"_id": name}, {"$set": {"last": LARGE}}, upsert=True
                )
        yield store
        await store.close()


async def test_every_way_of_reading_returns_plain_numbers(mongo: Mongo | GivenMongo) -> None:
    document = {"_id": LARGE, "list": [LARGE, {"deep": [LARGE]}], "small": 1}
    async with (
        namespace_on(mongo.address) as namespace,
        connected(mongo.address, namespace) as server,
    ):
        with server.calls() as collections:
            numbers = collections["numbers"]
            await numbers.insert_one(document)
            many = [{"_id": LARGE + each} for each in range(1, 300)]  # more than one batch
            await numbers.insert_many(many)
            found: list[object] = [
                await numbers.find_one({"_id": LARGE}),
                await numbers.find({}).to_list(),
                await (await numbers.aggregate([{"$match": {}}])).to_list(),
                await numbers.distinct("_id"),
                await numbers.find_one_and_update(
                    {"_id": LARGE},
                    {"$inc": {"small": LARGE}},
                    return_document=ReturnDocument.AFTER,
                ),
            ]
    assert len(list(kinds_of_numbers(found))) > 900
    assert set(kinds_of_numbers(found)) == {int}


async def test_no_value_of_the_store_has_another_kind_of_number(store: MongoStore) -> None:
    lease = Lease("scheduler", HERE, "here", LARGE, timedelta(seconds=5))
    epoch = await store.fence.claim(lease)
    assert isinstance(epoch, Epoch)
    (inserted,) = await store.jobs.insert([JobSpec("greet", b"{}", priority=5)])
    assert isinstance(inserted, Inserted)
    assert inserted.job.id > LARGE
    taken = await store.jobs.take(Wanted(("default",), frozenset({"greet"}), 1), HERE)
    assert len(taken.attempts) == 1
    await store.tokens.add(NewToken("one", b"digest".hex(), Scope.VIEWER))
    values: list[object] = [
        epoch,
        inserted,
        taken,
        await store.fence.read("scheduler"),
        await store.fence.history("scheduler", PAGE),
        await store.jobs.get([inserted.job.id]),
        await store.jobs.list(JobFilter(), PAGE),
        await store.jobs.counts(),
        await store.audit.record(AuditNote("anna", "queue.pause", "default")),
        await store.audit.list(AuditFilter(), PAGE),
        await store.tokens.list(),
    ]
    assert set(kinds_of_numbers(values)) == {int}


async def test_leases_and_configuration_have_plain_numbers(mongo: Mongo | GivenMongo) -> None:
    async with namespace_on(mongo.address) as namespace:
        coordinator = MongoCoordinator(mongo.address, CLOCK, namespace)
        await coordinator.open()
        assert await coordinator.leases.acquire("scheduler", HERE, timedelta(seconds=60))
        await coordinator.configuration.put("key", b"1")
        held = await coordinator.leases.current("scheduler")
        values = [held, await coordinator.configuration.get("key")]
        await coordinator.close()
    assert held is not None
    assert held.token > 2**31
    assert set(kinds_of_numbers(values)) == {int}


async def test_the_overview_and_the_elections_can_be_sent(mongo: Mongo | GivenMongo) -> None:
    with namespace_in(mongo.address) as namespace:
        app = Drumbeat(mongo.address, namespace=namespace, environment={})
        led = asyncio.Event()

        @app.scheduled(every(seconds=1), name="often")
        async def often() -> None:
            led.set()

        fleet = inside.measured_fleet(app)
        ask = Caller(Api(fleet, AccessControl(fleet, local=True), TABLE))
        async with app.running():
            async with asyncio.timeout(PATIENCE):
                await led.wait()
            answers = {path: await ask("GET", path) for path in ("/overview", "/elections")}
    assert {path: answer.status for path, answer in answers.items()} == {
        "/overview": 200,
        "/elections": 200,
    }
    assert max(int(number) for number in TOKEN.findall(answers["/elections"].body)) > 2**31
