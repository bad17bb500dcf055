"""The watermark: a claim does not step over the dead rows of all claims before it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import cast

import psycopg
import pytest

from drumbeat.backends.postgres.connection.client import Record
from drumbeat.backends.postgres.store import PostgresStore
from drumbeat.backends.postgres.store.jobs import watermark
from drumbeat.backends.postgres.store.jobs.watermark import CHEAP, DEAR, Scan, Watermark
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.jobs.job import Attempt, Change, JobSpec, Settlement
from drumbeat.testing.conformance.builders import ANNE, NOON, after, insert_one, spec, wanted
from servers import Postgres
from tests.support.postgres_namespace import namespace_in

from .hand_clock import HandClock
from .postgres_wholeness import check_whole


def row(job_id: int, lane: int = 1, rank: int = 0) -> Record:
    columns = {"id": job_id, "lane": lane, "rank": rank, "run_at": NOON.timestamp()}
    return cast(Record, columns)


def whole(effort: int, seconds: float = 0.02) -> Scan:
    return Scan(True, effort, seconds, short=False)


async def test_a_cheap_scan_is_followed_by_a_whole_one() -> None:
    mark = Watermark(HandClock())
    mark.learn(whole(CHEAP), [row(1)])
    assert mark.marks() is None


async def test_a_costly_scan_is_followed_by_scans_above_it_for_ten_times_as_long() -> None:
    clock = HandClock()
    mark = Watermark(clock)
    mark.learn(whole(CHEAP + 100), [row(1), row(2, lane=7, rank=-3), row(3)])
    assert mark.marks() == ([1, 7], [0, -3], [NOON, NOON], [3, 2], False)
    await clock.advance(timedelta(seconds=0.19))
    assert mark.marks() is not None
    await clock.advance(timedelta(seconds=0.02))
    assert mark.marks() is None


@pytest.mark.parametrize(("seconds", "pause"), [(0.2, 1.0), (2.0, 6.0)])
async def test_a_whole_scan_comes_each_second_unless_that_takes_too_much(
    seconds: float, pause: float
) -> None:
    clock = HandClock()
    mark = Watermark(clock)
    mark.learn(whole(DEAR, seconds), [row(1)])
    await clock.advance(timedelta(seconds=pause - 0.1))
    marks = mark.marks()
    assert marks is not None
    assert marks.lanes == [1]
    await clock.advance(timedelta(seconds=0.2))
    assert mark.marks() is None


async def test_who_is_content_with_too_little_asks_again_when_a_whole_scan_is_due() -> None:
    clock = HandClock()
    mark = Watermark(clock)
    mark.learn(whole(DEAR, 0.05), [row(1)])
    marks = mark.marks()
    assert marks is not None
    assert marks.suffices
    await clock.advance(timedelta(seconds=0.4))
    mark.learn(Scan(False, 5, 0.001, short=True), [])
    assert mark.until_whole == pytest.approx(0.1)
    mark.learn(Scan(False, 5, 0.001, short=False), [row(2)])
    assert mark.until_whole is None


@pytest.fixture
async def store(postgres: Postgres) -> AsyncIterator[PostgresStore]:
    with namespace_in(postgres.address) as name:
        store = PostgresStore(postgres.address, SystemClock(), name)
        await store.open()
        yield store
        await store.close()
        check_whole(postgres.address, name)


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[Scan]:
    """Those of all claims."""
    scans: list[Scan] = []
    learn = Watermark.learn

    def spy(self: Watermark, scan: Scan, rows: list[Record]) -> None:
        scans.append(scan)
        learn(self, scan, rows)

    monkeypatch.setattr(Watermark, "learn", spy)
    return scans


async def test_nothing_is_forgotten_below_the_marks(
    store: PostgresStore,
    postgres: Postgres,
    scans: list[Scan],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watermark, "CHEAP", 500)
    monkeypatch.setattr(watermark, "LARGEST_SHARE", 10**7)  # no whole scan but for need
    seen: list[Attempt] = []
    held: list[Attempt] = []
    with psycopg.connect(postgres.address) as other:
        other.execute("SELECT txid_current()")  # from now on no dead row goes away
        await store.jobs.insert([JobSpec("send", priority=number % 2) for number in range(3_000)])
        for turn in range(25):
            settled = [Settlement(attempt.hold, Change.COMPLETE) for attempt in held[1:]]
            settled += [Settlement(attempt.hold, Change.GIVE_BACK) for attempt in held[:1]]
            held = list((await store.jobs.take(wanted(), ANNE, settled)).attempts)
            seen += held
            if turn == 20:
                await insert_one(store, JobSpec("send", priority=50), at=after(-(10**8)))
        assert not scans[-1].whole, "the claims of the end began at marks"
        while held:
            settled = [Settlement(attempt.hold, Change.COMPLETE) for attempt in held]
            held = list((await store.jobs.take(wanted(), ANNE, settled)).attempts)
            seen += held
    assert len({attempt.job_id for attempt in seen}) == 3_001
    counts = await store.jobs.counts()
    assert {status.value: jobs for status, jobs in counts["default"].items()} == {
        "completed": 3_001
    }


async def test_a_claim_is_a_small_effort_while_another_transaction_stays_open(
    store: PostgresStore,
    postgres: Postgres,
    scans: list[Scan],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watermark, "CHEAP", 1_000)
    monkeypatch.setattr(watermark, "LARGEST_SHARE", 10**7)  # however long the next claims take
    with psycopg.connect(postgres.address) as other:
        other.execute("SELECT txid_current()")
        await store.jobs.insert([spec()] * 6_000)
        held: list[Attempt] = []
        for _ in range(60):
            settled = [Settlement(attempt.hold, Change.COMPLETE) for attempt in held]
            held = list((await store.jobs.take(wanted(), ANNE, settled)).attempts)
            assert len(held) == 100
    above = [scan for scan in scans if not scan.whole]
    assert len(above) > 10
    assert max(scan.effort for scan in above) < 500
