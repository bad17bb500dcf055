"""The Redis queue against the suite of queues that carry tickets, on Redis and Valkey."""

from __future__ import annotations

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
