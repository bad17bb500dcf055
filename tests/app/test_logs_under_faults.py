"""What a node logs while its servers are killed: one outage, in plain words."""

from __future__ import annotations

import asyncio
import logging

import pytest

from drumbeat import Drumbeat
from drumbeat.model.events import (
    CoordinatorAnswered,
    CoordinatorFailed,
    Event,
    LeadershipGained,
    LeadershipLost,
    StoreAnswered,
    StoreFailed,
)
from servers import Etcd, Postgres
from tests.log_records import sentences

SOON = 60.0
QUICK = {"lease_ttl": 4.0, "retry_interval": 0.2, "heartbeat_every": 0.2}
OUTAGE = (
    "The store does not answer",
    "The store answers again",
    "The coordinator does not answer",
    "The coordinator answers again",
)


async def happens(app: Drumbeat, kind: type[Event], times: int = 1) -> None:
    """Return when so many events of a kind came from now on."""
    left, over = times, asyncio.Event()

    def count(_: Event) -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            over.set()

    app.on(kind)(count)
    async with asyncio.timeout(SOON):
        await over.wait()


def outages(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [line for line in sentences(caplog.records) if line in OUTAGE]


async def test_a_killed_postgresql_is_one_outage_for_store_and_coordinator(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with Postgres.start() as server:
        app = Drumbeat(server.address, environment={}, **QUICK)  # type: ignore[arg-type]  # by name

        @app.task
        async def work() -> None: ...

        gained = asyncio.ensure_future(happens(app, LeadershipGained))
        await app.start()
        await gained
        caplog.set_level(logging.INFO)
        caplog.clear()
        server.kill()
        await happens(app, LeadershipLost)
        again = asyncio.ensure_future(happens(app, StoreAnswered))
        gained = asyncio.ensure_future(happens(app, LeadershipGained))
        server.start_again()
        await asyncio.gather(again, gained)
        await app.stop(0)
    assert outages(caplog) == [OUTAGE[0], OUTAGE[1]]
    loud = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert set(sentences(loud)) == {
        "The store does not answer",
        "Lost leadership",
    }


async def test_in_the_in_process_mode_a_killed_etcd_is_not_blamed_on_the_store(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with Etcd.start() as server:
        app = Drumbeat("memory://", coordinator=server.address, environment={}, **QUICK)  # type: ignore[arg-type]  # by name

        @app.scheduled("* * * * * *")
        async def tick() -> None: ...

        gained = asyncio.ensure_future(happens(app, LeadershipGained))
        await app.start()
        await gained
        caplog.set_level(logging.INFO)
        caplog.clear()
        server.kill()
        await happens(app, LeadershipLost)
        again = asyncio.ensure_future(happens(app, CoordinatorAnswered))
        server.start_again()
        await again
        await app.stop(0)
    assert outages(caplog) == [OUTAGE[2], OUTAGE[3]]
    assert not any("the store" in str(record.__dict__.get("facts")) for record in caplog.records)


async def test_a_failing_store_tells_of_each_failure_to_listeners() -> None:
    with Postgres.start() as server:
        app = Drumbeat(server.address, environment={}, **QUICK)  # type: ignore[arg-type]  # by name
        await app.start(["worker"])
        failing = asyncio.ensure_future(happens(app, StoreFailed, 5))
        server.kill()
        await failing
        await app.stop(0)


async def test_a_coordinator_that_is_away_at_the_start_is_counted_from_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with Etcd.start() as server:
        server.kill()
        app = Drumbeat("memory://", coordinator=server.address, environment={}, **QUICK)  # type: ignore[arg-type]  # by name
        counts: list[int] = []

        @app.on(CoordinatorFailed)
        def count(event: CoordinatorFailed) -> None:
            counts.append(event.failures)

        failing = asyncio.ensure_future(happens(app, CoordinatorFailed, 5))
        await app.start(["scheduler"])
        await failing
        await app.stop(0)
    assert counts[:5] == [1, 2, 3, 4, 5]
    assert outages(caplog).count(OUTAGE[2]) == 1
