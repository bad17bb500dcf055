"""A whole fleet that keeps its schedules in SQLite and is led through Redis, on two bad days."""

from __future__ import annotations

import asyncio
from pathlib import Path

from drumbeat.model.ids import label_of
from servers import Redis

from .fleet import FAILOVER, clock, fleet_on


async def test_a_killed_leader_and_then_an_emptied_server_cost_no_tick(
    redis: Redis, tmp_path: Path
) -> None:
    store = f"sqlite:///{tmp_path / 'fleet.db'}"
    with Redis.start() as server:
        async with fleet_on(store, "fleet", tmp_path, server.address) as fleet:
            async with fleet.under_load():
                first = await fleet.leader()
                await fleet.led(first)

                killed_at = clock.elapsed()
                fleet.kill(label_of(first.holder))
                second = await fleet.leader(other_than=first)
                assert clock.elapsed() - killed_at < FAILOVER
                assert (second.domain, second.token > first.token) == (first.domain, True)
                fleet.start("three")

                server.kill()
                await asyncio.to_thread(server.restart_empty)
                emptied_at = clock.elapsed()
                third = await fleet.leader(other_than=second)
                assert clock.elapsed() - emptied_at < FAILOVER
                assert (third.domain != second.domain, third.token > second.token) == (True, True)
                await fleet.led(third)
            await fleet.settle()
            leaders = {tick.leader for tick in await fleet.ticks()}
            assert {first.holder, third.holder} <= leaders
