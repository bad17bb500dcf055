"""One outage of a backend is told once, however many parts of a node notice it."""

from __future__ import annotations

import pytest

from drumbeat.backends.memory.store import MemoryStore
from drumbeat.engine.lifecycle.node import ConflictReporter
from drumbeat.engine.lifecycle.store_outage import StoreOutage
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.model.errors import Unavailable
from drumbeat.model.events import (
    CoordinatorAnswered,
    CoordinatorFailed,
    Event,
    JobConflicted,
    ListenerFailed,
    ServiceFailed,
    ServiceRecovered,
    StoreAnswered,
    StoreFailed,
)
from drumbeat.model.ids import JobId
from drumbeat.model.part import Part
from drumbeat.telemetry.logs import log_events
from drumbeat.testing.clock import START, FakeClock
from tests.log_records import sentences

AWAY = Unavailable("the store is away")


class Node:
    """A bus with the tracker, and what it told."""

    def __init__(self) -> None:
        clock = FakeClock()
        self.bus = Bus(clock)
        self.told: list[Event] = []
        log_events(self.bus.on, "web-1")
        StoreOutage(self.bus, clock).attach()
        for kind in (StoreFailed, StoreAnswered):
            self.bus.on(kind, self.told.append)

    def fails(self, service: str, error: BaseException = AWAY, part: Part = Part.STORE) -> None:
        self.bus.emit(ServiceFailed(service, error, 1, part))

    def recovers(self, service: str) -> None:
        self.bus.emit(ServiceRecovered(service, 1))


@pytest.fixture
def node() -> Node:
    return Node()


def test_all_parts_of_a_node_share_one_outage(node: Node) -> None:
    for service in ("heartbeat", "worker", "heartbeat"):
        node.fails(service)
    node.recovers("heartbeat")
    assert [event for event in node.told if isinstance(event, StoreAnswered)] == []
    node.recovers("worker")
    assert node.told == [
        StoreFailed(AWAY, START, 1),
        StoreFailed(AWAY, START, 2),
        StoreFailed(AWAY, START, 3),
        StoreAnswered(START, 3),
    ]


def test_an_election_by_the_store_is_one_more_part(node: Node) -> None:
    node.fails("heartbeat")
    node.bus.emit(CoordinatorFailed("scheduler", AWAY, START, 1, asked="store"))
    node.recovers("heartbeat")
    node.bus.emit(CoordinatorAnswered("scheduler", START, 1, asked="store"))
    assert node.told[-1] == StoreAnswered(START, 2)


def test_what_is_no_outage_of_the_store_is_not_told_as_one(node: Node) -> None:
    node.fails("hand-over", part=Part.COORDINATOR)
    node.fails("ticker", ValueError("a fault of ours"))
    node.bus.emit(CoordinatorFailed("scheduler", AWAY, START, 1))
    assert node.told == []


def test_an_outage_is_one_line_when_it_begins_and_one_when_it_is_over(
    node: Node, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="drumbeat")
    for _ in range(10):
        for service in ("heartbeat", "worker", "ticker"):
            node.fails(service)
        node.fails("hand-over", part=Part.COORDINATOR)
    for service in ("heartbeat", "worker", "ticker"):
        node.recovers(service)
    assert sentences(caplog.records) == ["The store does not answer", "The store answers again"]
    assert caplog.records[-1].__dict__["facts"]["failures"] == 30


def test_a_fault_of_a_service_is_still_an_error(
    node: Node, caplog: pytest.LogCaptureFixture
) -> None:
    node.fails("ticker", ValueError("a fault of ours"))
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    (record,) = caplog.records
    assert record.exc_info is not None


def test_a_fault_that_stays_is_told_when_its_failures_have_doubled(
    node: Node, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="drumbeat")
    for failures in range(1, 10):
        node.bus.emit(ServiceFailed("ticker", ValueError("a fault of ours"), failures))
    assert [record.__dict__["facts"]["failures"] for record in caplog.records] == [1, 2, 4, 8]


async def test_a_job_that_cannot_be_looked_up_is_no_failure_of_a_listener(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = FakeClock()
    bus, store = Bus(clock), MemoryStore(clock)
    failed: list[ListenerFailed] = []
    bus.on(ListenerFailed, failed.append)

    async def away(_: object) -> None:
        raise AWAY

    monkeypatch.setattr(store.jobs, "get", away)
    bus.on(JobConflicted, ConflictReporter(store.jobs, bus).explain)
    bus.emit(JobConflicted(JobId(1)))
    await bus.flush()
    assert failed == []
