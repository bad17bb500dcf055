"""What time it is at a MongoDB server whose answers are slow."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from drumbeat.backends.mongo.store import MongoStore
from drumbeat.backends.mongo.store.server_time import TRIES, ServerTime, read
from drumbeat.engine.plumbing.runtime import SystemClock
from servers import GivenMongo, Mongo

from .mongo_cases import CLOCK, LEAVING_CONNECTIONS, namespace_on

pytestmark = LEAVING_CONNECTIONS


class ScriptedClock(SystemClock):
    """A clock that says one time after the other, and stands still in the end."""

    def __init__(self, *times: float) -> None:
        self._times = list(times)

    def elapsed(self) -> float:
        return self._times.pop(0) if len(self._times) > 1 else self._times[0]


@pytest.mark.parametrize(
    "times",
    [
        (1.0, 1.0, 5.0, 5.0, 5.0),  # the first answer takes four seconds, the second none
        (1.0, 1.0, 5.0, 5.0, 5.5, 5.5, 5.5),  # the third is the quickest
        (1.0, 1.0, 1.0),
    ],
)
async def test_a_slow_answer_does_not_shift_the_time(
    mongo: Mongo | GivenMongo, times: Sequence[float]
) -> None:
    async with namespace_on(mongo.address) as namespace:
        store = MongoStore(mongo.address, CLOCK, namespace)
        await store.open()
        with store.server.calls() as collections:
            before = await read(collections)
            found = await ServerTime(ScriptedClock(*times)).now(collections)
            after = await read(collections)
        await store.close()
    assert before is not None
    assert found is not None
    assert after is not None
    assert before <= found <= after


async def test_the_quickest_of_slow_answers_counts(mongo: Mongo | GivenMongo) -> None:
    times = (1.0, 1.0, 5.0, 5.0, 5.25, 5.25, 9.25, 9.25)
    async with namespace_on(mongo.address) as namespace:
        store = MongoStore(mongo.address, CLOCK, namespace)
        await store.open()
        with store.server.calls() as collections:
            before = await read(collections)
            found = await ServerTime(ScriptedClock(*times)).now(collections)
            after = await read(collections)
        await store.close()
    assert TRIES == 3
    assert before is not None
    assert found is not None
    assert after is not None
    since = 4_125_000
    """Microseconds since the second answer, by the local clock."""
    assert before + since <= found <= after + since
