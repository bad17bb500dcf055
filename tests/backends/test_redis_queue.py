"""The Redis queue against the suite of queues that carry tickets, on Redis and Valkey."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import count

import pytest

from drumbeat.backends.redis.queue import RedisQueue, StreamNames
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import DEFAULT_QUEUE, Ticket
from drumbeat.ports.queue import Queue
from drumbeat.testing.conformance import QueueTraits, TicketQueueConformance
from servers import Redis, Valkey

from .redis_cases import CLOCK, new_namespace, pass_time


@asynccontextmanager
async def opened(address: str, names: StreamNames | None = None) -> AsyncGenerator[RedisQueue]:
    queue = RedisQueue(address, CLOCK, names or StreamNames(new_namespace()))
    try:
        await queue.open()
        yield queue
    finally:
        await queue.close()


class RedisCases(TicketQueueConformance):
    @pytest.fixture
    async def queue(self, address: str) -> AsyncIterator[Queue]:
        async with opened(address) as queue:
            yield queue

    @pytest.fixture
    def traits(self, queue: Queue) -> QueueTraits:
        numbers = count(1000)

        async def hint() -> None:
            await queue.publish([Ticket(JobId(next(numbers)), DEFAULT_QUEUE)])

        return QueueTraits(pass_time, hint, idle=timedelta(seconds=0.2))


class TestRedis(RedisCases):
    @pytest.fixture
    def address(self, redis: Redis) -> str:
        return redis.address


class TestValkey(RedisCases):
    @pytest.fixture
    def address(self, valkey: Valkey) -> str:
        return valkey.address


FORK = """
import asyncio, os, sys

from drumbeat.backends.redis.queue import RedisQueue, StreamNames
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.job import Ticket

queue = RedisQueue(sys.argv[1], SystemClock(), StreamNames(sys.argv[2]))
loop = asyncio.new_event_loop()


async def waiting():
    receiver = asyncio.create_task(queue.receive(["default"], NodeId("parent"), 10))
    await queue.publish([Ticket(JobId(1), "other")])
    await asyncio.sleep(0.1)
    return receiver


async def in_child():
    await queue.publish([Ticket(JobId(2), "default")])
    await queue.close()


receiver = loop.run_until_complete(waiting())
child = os.fork()
if child == 0:
    asyncio.set_event_loop(None)
    asyncio.new_event_loop().run_until_complete(in_child())
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print([ticket.job_id for ticket in loop.run_until_complete(receiver)])
loop.run_until_complete(queue.close())
"""


async def test_a_forked_child_publishes_to_the_receiver_of_its_parent(redis: Redis) -> None:
    done = await asyncio.create_subprocess_exec(
        sys.executable, "-c", FORK, redis.address, new_namespace(), stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(60.0):
        said, _ = await done.communicate()
    assert (done.returncode, said.strip()) == (0, b"[2]")
