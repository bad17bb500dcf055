"""Whole apps that are led through MongoDB, and what a missing client is called."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter
from datetime import datetime
from uuid import uuid4

import pytest

from drumbeat import Context, Drumbeat, every
from drumbeat.extras import install_command
from servers import GivenMongo, Mongo, MongoInMemory
from tests.support.mongo_namespace import namespace_in

from .mongo_cases import LEAVING_CONNECTIONS

pytestmark = LEAVING_CONNECTIONS
PATIENCE = 90.0


class Instance:
    """An app that stores nothing, and the ticks that it has run."""

    def __init__(self, name: str, address: str, namespace: str) -> None:
        self.ticks: list[datetime] = []
        self.more = asyncio.Event()
        self.app = Drumbeat(
            "memory://",
            coordinator=address,
            namespace=namespace,
            instance_id=name,
            lease_ttl=3,
            retry_interval=1,
            environment={},
        )

        @self.app.scheduled(every(seconds=1), name="aggregate")
        async def aggregate(ctx: Context) -> None:
            assert ctx.tick_at is not None
            self.ticks.append(ctx.tick_at)
            self.more.set()

    async def ran(self, more: int) -> None:
        wanted = len(self.ticks) + more
        async with asyncio.timeout(PATIENCE):
            while len(self.ticks) < wanted:
                self.more.clear()
                await self.more.wait()


async def test_of_two_instances_that_store_nothing_only_the_leader_runs_each_tick(
    mongo: Mongo | GivenMongo,
) -> None:
    with namespace_in(mongo.address) as namespace:
        one, two = (Instance(name, mongo.address, namespace) for name in ("one", "two"))
        await one.app.start()
        await one.ran(2)
        await two.app.start()
        await one.ran(2)
        assert two.ticks == []
        await one.app.stop()
        await two.ran(2)
        await two.app.stop()
    counted = Counter([*one.ticks, *two.ticks])
    assert max(counted.values()) == 1


async def test_a_start_advises_once_against_a_standalone_server(
    mongo: Mongo | GivenMongo, caplog: pytest.LogCaptureFixture
) -> None:
    with MongoInMemory.start() as standalone:
        app = Drumbeat(standalone.address, environment={})
        async with app.connected():
            assert "standalone" not in caplog.text, "it only looks"
        async with app.running():
            pass
    advice = f"MongoDB at 127.0.0.1:{standalone.port}/test is a standalone server"
    assert caplog.text.count(advice) == 1, "store and coordinator are on the same server"


def test_a_missing_client_is_one_line_that_names_the_extra() -> None:
    program = (
        "import sys; sys.modules['pymongo'] = None; from drumbeat import Drumbeat; "
        "Drumbeat('memory://', coordinator='mongodb://db', environment={})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stderr.splitlines()[-1] == (
        "drumbeat.model.errors.ConfigurationError: "
        f"MongoDB needs the extra mongo: {install_command('mongo')}"
    )


def test_one_event_loop_after_the_other_is_served_even_if_none_was_closed(
    mongo: Mongo | GivenMongo,
) -> None:
    namespace = f"test-{uuid4().hex}"
    done = subprocess.run(
        [sys.executable, "-c", LEFT_OPEN, mongo.address, namespace],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert (done.stdout, done.returncode) == ("b'2'\n", 0), done.stderr


LEFT_OPEN = """
import asyncio, sys
from drumbeat.backends.mongo.coordinator import MongoCoordinator
from drumbeat.engine.plumbing.runtime import SystemRuntime

coordinator = MongoCoordinator(sys.argv[1], SystemRuntime().clock, sys.argv[2])
for number in range(3):
    asyncio.run(coordinator.configuration.put("key", str(number).encode()))
print(asyncio.run(coordinator.configuration.get("key")).value)
asyncio.run(coordinator.close())
"""
