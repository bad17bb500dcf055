"""A fleet whose nodes are killed, stopped, frozen and set wrong, in an order drawn by a seed."""

from datetime import UTC, datetime, timedelta

import pytest

from drumbeat import Drumbeat, Status, every
from drumbeat.model.schedules.plan import Outcome
from drumbeat.testing import Cluster, FakeRuntime, submitted

START = datetime(2030, 1, 1, tzinfo=UTC)
ACTS = ("kill", "stop", "start", "start", "freeze", "doze", "thaw", "thaw", "skew", "correct")
CALLS = ("acquire", "beat", "claim", "commit", "release", "renew", "settle", "take")


class Turmoil:
    """Does one thing after another to a cluster, as its seed says."""

    def __init__(self, seed: int) -> None:
        self.random = FakeRuntime(seed=seed).random
        self.cluster = Cluster(self.declare, seed=seed)
        self.frozen: set[Drumbeat] = set()

    def declare(self, app: Drumbeat) -> None:
        @app.scheduled(every(minutes=1), misfire="all", overlap="allow")
        async def beat() -> None:
            await self.cluster.clock.sleep(self.random.choice([0, 0.5, 3, 20]))

    async def act(self) -> None:
        node, act = self.random.choice(self.cluster.nodes), self.random.choice(ACTS)
        runs = node in self.cluster.running
        match act:
            case "kill" if runs:
                await self.cluster.kill(node)
                self.frozen.discard(node)
            case "stop" if runs and node not in self.frozen:
                await self.cluster.stop(node)
            case "start" if not runs:
                await self.cluster.start(node)
            case "freeze" | "doze" if runs:
                before = self.random.choice(CALLS) if act == "doze" else None
                await self.cluster.freeze(node, before=before)
                self.frozen.add(node)
            case "thaw" if node in self.frozen:
                await self.cluster.thaw(node)
                self.frozen.remove(node)
            case "skew" | "correct":
                skew = self.random.choice([-30, -3, 3, 30]) if act == "skew" else 0
                self.cluster.skew(node, skew)
            case _:
                pass

    async def recover(self) -> None:
        for node in self.cluster.nodes:
            self.cluster.skew(node, 0)
            if node in self.frozen:
                await self.cluster.thaw(node)
            elif node not in self.cluster.running:
                await self.cluster.start(node)
        await self.cluster.wait_for_leader()
        await self.cluster.advance("5m")


@pytest.mark.parametrize("seed", range(8))
async def test_a_fleet_in_turmoil_loses_and_doubles_nothing(seed: int) -> None:
    turmoil = Turmoil(seed)
    async with turmoil.cluster as cluster:
        for _ in range(50):
            await turmoil.act()
            for _ in range(turmoil.random.choice([1, 3, 10])):
                await cluster.advance(turmoil.random.choice([0.5, 2, 7, 11]))
                assert [node.leadership.is_leader for node in cluster.running].count(True) <= 1
        await turmoil.recover()

        minutes = int(cluster.clock.elapsed() // 60)
        rows = await cluster.ticks("beat")
        due = [START + timedelta(minutes=number) for number in range(1, minutes + 1)]
        assert [row.tick_at for row in rows] == due
        assert {row.outcome for row in rows} == {Outcome.FIRED}
        assert all(row.recorded_at >= row.tick_at for row in rows)
        epochs = [row.epoch or 0 for row in rows]
        assert epochs == sorted(epochs)

        jobs = await submitted(cluster.client)
        assert [job.id for job in jobs] == [row.job_id for row in rows]
        assert {job.status for job in jobs[:-5]} == {Status.COMPLETED}
