"""Instances without an election, and an app that is alone."""

from __future__ import annotations

from collections import Counter

from drumbeat import Drumbeat, every
from drumbeat.engine.in_process.shared_cursor import KEY
from drumbeat.model.events import TickFired, TickPassed
from drumbeat.testing.clock import FakeClock
from drumbeat.testing.runtime import FakeRuntime
from tests.engine.support.fleet import Heard
from tests.engine.support.instances import Instances


async def test_without_an_election_every_instance_runs_everything(instances: Instances) -> None:
    for _ in range(3):
        instances.app(leader_election=False)
    await instances.start()
    await instances.clock.advance("3m")
    assert Counter(label for label, _ in instances.ran) == {
        "instance-1": 3,
        "instance-2": 3,
        "instance-3": 3,
    }
    assert await instances.coordinator.configuration.get(KEY) is None
    await instances.stop()


async def test_an_app_that_is_alone_needs_no_mark(clock: FakeClock) -> None:
    app = Drumbeat("memory://", runtime=FakeRuntime(clock), environment={})
    heard = Heard(app)

    @app.scheduled(every(minutes=1))
    async def work() -> None: ...

    await app.start()
    await clock.advance("3m")
    assert len(heard.of(TickFired)) == 3
    assert heard.of(TickPassed) == []
    assert await app.config.get(KEY) is None
    await clock.until(app.stop(0))
