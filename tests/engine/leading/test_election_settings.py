"""Settings of an election: how often a lease is renewed, and whose election it is."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from drumbeat import Drumbeat
from drumbeat.model.errors import UnsafeLease
from drumbeat.model.events import FleetJoined
from tests.engine.support.fleet import Fault, Fleet
from tests.log_records import sentence_of


@pytest.mark.parametrize(("settings", "renewals"), [({}, 10), ({"renew_interval": "500ms"}, 60)])
async def test_a_leader_renews_as_often_as_the_setting_says(
    fleet: Fleet, settings: dict[str, Any], renewals: int
) -> None:
    app = fleet.app(**settings)
    async with fleet.running(app):
        await fleet.clock.settle()
        renew = Fault(fleet.coordinator.leases, "renew")
        await fleet.clock.advance(30)
        assert app.leadership.is_leader
        assert abs(len(renew.calls) - renewals) <= 1


@pytest.mark.parametrize(
    ("ttl", "interval", "longest"), [(10, 3.5, "3.333"), (1, 1, "0.333"), (30, "1m", "10")]
)
def test_an_interval_that_is_too_long_is_refused_with_the_longest(
    ttl: float, interval: float | str, longest: str
) -> None:
    with pytest.raises(UnsafeLease) as refused:
        Drumbeat("memory://", lease_ttl=ttl, renew_interval=interval, environment={})
    assert f"must be at most {longest} s for a lease_ttl of {ttl} s" in str(refused.value)
    assert str(refused.value).startswith("renew_interval ")
    Drumbeat("memory://", lease_ttl=ttl, renew_interval=float(longest), environment={})


@pytest.mark.parametrize(
    ("coordinator", "shown"), [(None, "the store"), ("etcd://anna:hunter2@127.0.0.1:9", "etcd://")]
)
async def test_the_start_names_the_namespace_and_where_it_elects(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    coordinator: str | None,
    shown: str,
) -> None:
    caplog.set_level(logging.INFO, logger="drumbeat")
    store = f"sqlite:///{tmp_path}/store.db"
    app = Drumbeat(store, coordinator=coordinator, namespace="shop", environment={})
    told: list[FleetJoined] = []
    app.on(FleetJoined)(told.append)
    async with app.running():
        pass
    ((joined,), line) = told, _line(caplog)
    assert (joined.namespace, joined.store) == ("shop", store)
    assert joined.coordinator.startswith(shown)
    assert "hunter2" not in joined.coordinator
    assert line == {
        "namespace": "shop",
        "store": store,
        "coordinator": joined.coordinator,
        "queue": "the store",
        "queues": "default",
        "tasks": 0,
        "schedules": 0,
    }


def _line(caplog: pytest.LogCaptureFixture) -> dict[str, object]:
    (record,) = [each for each in caplog.records if sentence_of(each) == "Joining the fleet"]
    facts = {**record.__dict__["facts"]}
    del facts["instance_id"]
    return facts
