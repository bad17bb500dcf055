"""The timed store is the store itself; its operations are timed, and its failures counted."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager

import pytest

from drumbeat.backends.memory.store import MemoryStore
from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.model.errors import StaleEpoch, Unavailable
from drumbeat.model.fleet.lease import SCHEDULER, Epoch
from drumbeat.model.jobs.job import JobSpec
from drumbeat.ports import administration, caller_transaction, witness
from drumbeat.ports import store as port
from drumbeat.ports.store import Store, Topic
from drumbeat.telemetry.instruments import Instruments
from drumbeat.telemetry.job_counters import JobCounters
from drumbeat.telemetry.timed_store import OWN, PARTS, timed_store
from drumbeat.testing.clock import FakeClock
from drumbeat.testing.conformance import StoreConformance, StoreTraits

from .support import Fault, Watched


class TestMeasuredStore(StoreConformance):
    """What holds for a store holds for the same one when it is timed."""

    @pytest.fixture
    def store(self, caplog: pytest.LogCaptureFixture) -> Iterator[Store]:
        clock = FakeClock()
        yield timed_store(MemoryStore(clock), Instruments(), clock)
        assert [each for each in caplog.records if "could not be counted" in each.message] == []

    @pytest.fixture
    def traits(self, store: Store) -> StoreTraits:
        @asynccontextmanager
        async def another() -> AsyncGenerator[Store]:
            yield store

        return StoreTraits(another)


NAMES = {**vars(administration), **vars(caller_transaction), **vars(witness)}
"""What the annotations of the port name, which it imports for type checkers only."""


def parts_of_the_port() -> set[str]:
    """The properties of a store that are roles: protocols themselves."""
    found: set[str] = set()
    for name, member in inspect.getmembers(port.Store, lambda each: isinstance(each, property)):
        kind = inspect.get_annotations(member.fget, locals=NAMES, eval_str=True)["return"]
        if getattr(kind, "_is_protocol", False):
            found.add(name)
    return found


def test_every_role_of_a_store_is_measured() -> None:
    assert parts_of_the_port() == PARTS


def test_every_operation_of_a_store_itself_is_measured() -> None:
    calls = {
        name
        for name, _ in inspect.getmembers(port.Store, inspect.iscoroutinefunction)
        if not name.startswith("_")
    }
    assert calls - {"close"} == OWN


async def test_an_operation_is_timed_by_its_name(watched: Watched) -> None:
    fault = Fault(watched.kept.jobs, "counts")
    fault.mode = "hang"
    asking = asyncio.create_task(watched.app.jobs.counts())
    await fault.hanging.wait()
    await watched.clock.advance(2)
    fault.heal()
    await asking
    scrape = await watched.scrape()
    name = "drumbeat_store_operation_seconds"
    assert scrape.get(f"{name}_count", operation="jobs.counts") == 1
    assert scrape.get(f"{name}_sum", operation="jobs.counts") == 2
    assert scrape.get(f"{name}_bucket", operation="jobs.counts", le="1") == 0
    assert scrape.get(f"{name}_bucket", operation="jobs.counts", le="2.5") == 1
    assert scrape.sum("drumbeat_store_errors_total") == 0


@pytest.mark.parametrize("error", [Unavailable("gone"), RuntimeError("a fault of its own")])
async def test_a_failed_operation_is_counted(watched: Watched, error: Exception) -> None:
    fault = Fault(watched.kept.jobs, "insert")
    fault.mode, fault.error = "fail", error
    with pytest.raises(type(error)):
        await watched.app.submit(JobSpec("send"))
    scrape = await watched.scrape()
    assert scrape.get("drumbeat_store_errors_total", operation="jobs.insert") == 1
    assert scrape.sum("drumbeat_store_errors_total") == 1
    assert scrape.sum("drumbeat_jobs_submitted_total") == 0
    timed = scrape.get("drumbeat_store_operation_seconds_count", operation="jobs.insert")
    assert timed == 1


async def test_a_figure_that_cannot_be_counted_costs_no_answer(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(JobCounters, "inserted", fail)
    store = timed_store(watched.kept, Instruments(), watched.clock)
    (verdict,) = await store.jobs.insert([JobSpec("send")])
    assert verdict.job.task == "send"
    assert "Could not count the jobs of jobs.insert" in caplog.text


async def test_a_refusal_is_an_answer(watched: Watched) -> None:
    with pytest.raises(StaleEpoch):
        await watched.app.store.schedules.commit([], Epoch(SCHEDULER, 7))
    assert (await watched.scrape()).sum("drumbeat_store_errors_total") == 0


@pytest.mark.parametrize(("patience", "errors"), [(5.0, 1), (0.5, 0)])
async def test_a_call_that_was_given_up_has_failed_if_it_took_long(
    watched: Watched, patience: float, errors: int
) -> None:
    Fault(watched.kept.jobs, "counts").mode = "hang"

    async def ask() -> None:
        async with timeout_after(watched.clock, patience):
            await watched.app.jobs.counts()

    asking = asyncio.create_task(ask())
    await watched.clock.advance(10)
    with pytest.raises(TimeoutError):
        await asking
    assert (await watched.scrape()).sum("drumbeat_store_errors_total") == errors


async def test_what_is_no_operation_is_the_stores_own(watched: Watched) -> None:
    store = watched.app.store
    assert store.always_hints is True
    assert store.writers == 1
    assert store.joining is None
    store.subscribe(Topic.JOBS, lambda: None)()
    assert b"operation=" not in watched.metrics.text()[0]
