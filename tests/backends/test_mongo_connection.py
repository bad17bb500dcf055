"""Connections to MongoDB: what they say of a server, and what its errors mean."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

import pytest
from pymongo.errors import BulkWriteError, DuplicateKeyError

from drumbeat.backends.mongo.connection.client import Collections
from drumbeat.backends.mongo.connection.server import Server
from drumbeat.backends.mongo.connection.server_check import Topology
from drumbeat.model.errors import ConfigurationError, Unavailable
from drumbeat.testing.conformance.builders import let_others_run
from servers import GivenMongo, Mongo, MongoInMemory
from servers.mongo import REPLICA_SET

from .mongo_cases import (
    CLOCK,
    LEAVING_CONNECTIONS,
    PASSWORD,
    connected,
    namespace_on,
    new_namespace,
)
from .test_redis_ways_in import make_certificate

pytestmark = LEAVING_CONNECTIONS
NAMES = ("things",)
UNCONFIRMED = {"code": 64, "codeName": "WriteConcernTimeout", "errmsg": "waiting timed out"}


async def nothing(collections: Collections) -> None:
    """There is nothing to prepare."""


@pytest.fixture
def faulty(mongo: Mongo | GivenMongo) -> Iterator[Mongo]:
    """A server of our own, whose commands a test makes fail."""
    with MongoInMemory.start(REPLICA_SET) as server:
        yield server


@pytest.fixture
async def server(mongo: Mongo | GivenMongo) -> AsyncIterator[Server]:
    async with namespace_on(mongo.address) as namespace, connected(mongo.address, namespace) as it:
        await it.open(NAMES, nothing)
        yield it


async def insert(server: Server, *names: int) -> None:
    with server.calls() as collections:
        await collections["things"].insert_many([{"_id": each} for each in names], ordered=False)


async def count(server: Server) -> int:
    with server.calls() as collections:
        return await collections["things"].count_documents({})


async def refusal_of(address: str) -> Exception:
    """Why a server is refused, soon; the password is in no sentence."""
    with pytest.MonkeyPatch.context() as hurried:
        hurried.setattr("drumbeat.backends.mongo.connection.client.ANSWER_WITHIN", 1.0)
        return await _refusal_of(address)


async def _refusal_of(address: str) -> Exception:
    async with connected(address, new_namespace()) as server:
        with pytest.raises((ConfigurationError, Unavailable)) as refused:
            await server.open(NAMES, nothing)
    assert PASSWORD not in str(refused.value)
    return refused.value


async def test_a_duplicate_key_is_an_answer(server: Server) -> None:
    await insert(server, 1)
    with pytest.raises(DuplicateKeyError), server.calls() as collections:
        await collections["things"].insert_one({"_id": 1})
    with pytest.raises(BulkWriteError):
        await insert(server, 1, 2)
    assert await count(server) == 2


async def test_collections_are_named_by_the_namespace(server: Server) -> None:
    with server.calls() as collections:
        namespace, _, name = collections["things"].name.partition(".")
    assert namespace.startswith("test-")
    assert name == "things"


async def test_it_serves_the_loops_of_several_threads_and_is_closed_on_each(
    server: Server,
) -> None:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        there = asyncio.run_coroutine_threadsafe(insert(server, 1), loop)
        await asyncio.wrap_future(there)
        assert await count(server) == 1
        await server.close()
        assert await count(server) == 1, "it connects again"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        await asyncio.to_thread(thread.join, 10)
        loop.close()


@pytest.mark.parametrize(
    ("settings", "topology"),
    [({}, Topology.STANDALONE), (REPLICA_SET, Topology.REPLICA_SET)],
)
async def test_a_standalone_server_is_advised_against_and_a_replica_set_is_not(
    mongo: Mongo | GivenMongo,
    settings: Mapping[str, str],
    topology: Topology,
) -> None:
    with MongoInMemory.start(settings) as server:
        async with connected(server.address, new_namespace()) as connection:
            traits = await connection.open(NAMES, nothing)
            await insert(connection, 1)
            advice = str(connection.advice)
    assert traits.topology is topology
    assert traits.change_streams is (topology is Topology.REPLICA_SET)
    warned = "is a standalone server: if its disk is lost, so is everything" in advice
    assert (advice != "None") is warned
    assert warned is (topology is Topology.STANDALONE)
    assert ("A replica set of three members is advised" in advice) is warned


async def test_a_server_that_is_too_old_is_refused(mongo: Mongo | GivenMongo) -> None:
    with MongoInMemory.start({"version": "4.2.24"}) as server:
        refusal = await refusal_of(server.address)
    assert isinstance(refusal, ConfigurationError)
    assert str(refusal).endswith("/test is version 4.2; Drumbeat needs 4.4 or later")


async def test_a_server_that_is_too_old_for_the_client_is_refused(
    mongo: Mongo | GivenMongo,
) -> None:
    with MongoInMemory.start({"version": "3.4.24", "wire": "5"}) as server:
        refusal = await refusal_of(server.address)
    assert isinstance(refusal, ConfigurationError)
    assert "the address cannot be used (Server at 127.0.0.1" in str(refusal)
    assert "reports wire version 5" in str(refusal)


async def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        refusal = await refusal_of(f"mongodb://anna:{PASSWORD}@127.0.0.1:{port}/app")
    assert isinstance(refusal, Unavailable)
    assert str(refusal).startswith(
        f"MongoDB at 127.0.0.1:{port}/app is not available: no primary can be reached ("
    )


@pytest.mark.parametrize("code", [18, 11, 8000])
async def test_a_wrong_password_is_an_error_of_the_settings(faulty: Mongo, code: int) -> None:
    faulty.fail(["saslStart"], {"errorCode": code})
    refusal = await refusal_of(f"mongodb://anna:{PASSWORD}@127.0.0.1:{faulty.port}/app")
    assert isinstance(refusal, ConfigurationError)
    assert "rejects the user name or the password of the address" in str(refusal)
    assert "authSource" in str(refusal)


async def test_missing_rights_are_an_error_of_the_settings(faulty: Mongo) -> None:
    faulty.fail(["listCollections"], {"errorCode": 13})
    refusal = await refusal_of(faulty.address)
    assert isinstance(refusal, ConfigurationError)
    assert "grant it the role readWrite on the database" in str(refusal)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"errorCode": 13}, "its access rules deny the user what Drumbeat needs"),
        ({"errorCode": 91}, "it is shutting down"),
        ({"errorCode": 189}, "it is not the primary of its replica set now"),
        ({"errorCode": 10107}, "it is not the primary of its replica set now"),
        ({"errorCode": 14031}, "its disk is full"),
        ({"errorCode": 50}, "it did not answer in time"),
        ({"errorCode": 4242}, "it answered with an error"),
        ({"closeConnection": True}, "the connection failed"),
    ],
)
async def test_a_call_that_fails_has_an_unknown_outcome(
    faulty: Mongo, how: Mapping[str, object], words: str
) -> None:
    async with connected(faulty.address, new_namespace()) as server:
        await server.open(NAMES, nothing)
        await insert(server, 1)
        faulty.fail(["insert", "update", "findAndModify"], how, times=1)
        with pytest.raises(Unavailable, match=words):
            await insert(server, 2)
        assert await count(server) == 1, "a failed write is not repeated"
        await insert(server, 3)
        assert await count(server) == 2


async def test_a_write_that_no_majority_has_confirmed_has_an_unknown_outcome(
    faulty: Mongo,
) -> None:
    words = "a majority of the replica set has not confirmed it in time, so it may still be lost"
    async with connected(faulty.address, new_namespace()) as server:
        await server.open(NAMES, nothing)
        faulty.fail(
            ["insert", "update", "findAndModify", "delete"], {"writeConcernError": UNCONFIRMED}
        )
        with pytest.raises(Unavailable, match=words):
            await insert(server, 1, 2)
        with pytest.raises(Unavailable, match=words), server.calls() as collections:
            await collections["things"].update_one({"_id": 1}, {"$set": {"a": 1}})
        with pytest.raises(Unavailable, match=words), server.calls() as collections:
            await collections["things"].find_one_and_update({"_id": 1}, {"$set": {"a": 1}})
        with pytest.raises(Unavailable, match=words), server.calls() as collections:
            await collections["things"].delete_one({"_id": 2})
        with pytest.raises(Unavailable, match=words):
            await insert(server, 1, 3)  # one is refused as a duplicate, the other is in doubt
        faulty.heal()
        with server.calls() as collections:
            documents = await collections["things"].find(sort=[("_id", 1)]).to_list()
        assert documents == [{"_id": 1, "a": 1}, {"_id": 3}], "each of them was made"


async def test_a_view_or_a_capped_collection_at_our_name_is_refused(
    mongo: Mongo | GivenMongo,
) -> None:
    async with namespace_on(mongo.address) as namespace, connected(mongo.address, namespace) as it:
        with it.calls() as collections:
            name = collections.full_name("things")
            await collections.database.create_collection(name, capped=True, size=4096)
        with pytest.raises(ConfigurationError) as refused:
            await it.open(NAMES, nothing)
        assert f"the collection '{name}' at" in str(refused.value)
        assert "is a capped collection and not Drumbeat's; nothing was changed" in str(
            refused.value
        )
        await it.open(["others"], nothing)


async def test_a_secure_connection_is_made_and_a_stranger_is_refused(
    mongo: Mongo | GivenMongo, tmp_path: Path
) -> None:
    certificate, key = tmp_path / "server.pem", tmp_path / "server.key"
    make_certificate(certificate, key)
    with MongoInMemory.start({"certificate": str(certificate), "key": str(key)}) as server:
        address = f"{server.address}?tls=true"
        async with connected(f"{address}&tlsCAFile={certificate}", "safe") as connection:
            await connection.open(NAMES, nothing)
            await insert(connection, 1)
        refusal = await refusal_of(address)
    assert isinstance(refusal, ConfigurationError)
    assert "no secure connection can be made" in str(refusal)


async def test_a_waiter_is_woken_by_a_change_of_its_document(mongo_replica_set: Mongo) -> None:
    address = mongo_replica_set.address
    async with (
        namespace_on(address) as namespace,
        connected(address, namespace) as one,
        connected(address, namespace) as other,
    ):
        assert (await one.open(NAMES, nothing)).change_streams
        woken, others = asyncio.Event(), asyncio.Event()
        one.subscribe("things", "1", woken.set)
        async with asyncio.timeout(30):
            await woken.wait()  # the stream has begun
            woken.clear()
            one.subscribe("things", "2", others.set)
            with other.calls() as collections:
                await collections["things"].insert_one({"_id": "1"})
            await woken.wait()
        assert not others.is_set()


async def test_a_server_without_change_streams_wakes_everybody_from_time_to_time(
    server: Server,
) -> None:
    woken = asyncio.Event()
    stop = server.subscribe("things", "1", woken.set)
    for _ in range(2):
        async with asyncio.timeout(30):
            await woken.wait()
        woken.clear()
    stop()


async def test_a_cancelled_call_is_cancelled_at_every_point(server: Server) -> None:
    """The client library swallows some cancellations; whoever cancels waits for the end."""
    for turns in range(300):
        call = asyncio.create_task(count(server))
        for _ in range(turns % 60):
            await let_others_run()
        await CLOCK.sleep(turns % 7 * 0.0003)
        if call.done():
            continue
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert await count(server) == 0
