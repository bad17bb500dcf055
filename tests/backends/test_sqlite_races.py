"""Several processes want the same of one SQLite file at once, round after round."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from drumbeat.backends.sqlite.store import SqliteStore
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.jobs.job import JobSpec, Status
from drumbeat.testing.conformance.builders import add, all_jobs, lead, rows, schedule

from .sqlite_wholeness import check_whole

RACER = Path(__file__).with_name("sqlite_racer.py")
RACERS = 3
ROUNDS = 40


class Field:
    """The racers: told all at once, heard one after the other."""

    def __init__(self, racers: list[subprocess.Popen[str]]) -> None:
        self._racers = racers

    def race(self, *asked: Sequence[object]) -> list[Any]:
        """Each racer does its own; the same one for all if only one is given."""
        each = asked * len(self._racers) if len(asked) == 1 else asked
        for racer, what in zip(self._racers, each, strict=True):
            assert racer.stdin is not None
            racer.stdin.write(f"{json.dumps(what)}\n")
            racer.stdin.flush()
        return [self._hear(racer) for racer in self._racers]

    def _hear(self, racer: subprocess.Popen[str]) -> Any:
        assert racer.stdout is not None
        return json.loads(racer.stdout.readline())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "drumbeat.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(path, SystemClock())
    await store.open()
    yield store
    await store.close()
    check_whole(path)


@pytest.fixture(scope="module")
def racers() -> Iterator[Field]:
    with ExitStack() as stack:
        racers = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, str(RACER), f"racer:{number}"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for number in range(RACERS)
        ]
        for racer in racers:
            stack.callback(racer.kill)
        yield Field(racers)


@pytest.fixture
def field(racers: Field, store: SqliteStore, path: Path) -> Iterator[Field]:
    """The racers, each with the file open."""
    del store  # it has made the file
    racers.race(["open", str(path)])
    yield racers
    racers.race(["close"])


def test_a_name_and_a_key_and_an_epoch_go_to_one_process(field: Field) -> None:
    last = 0
    for number in range(1, ROUNDS + 1):
        tokens = [token for token in field.race(["acquire", f"name {number}"]) if token]
        assert len(tokens) == 1
        assert tokens[0] > last
        last = tokens[0]
        epochs = [epoch for epoch in field.race(["claim", number]) if epoch]
        assert epochs == [number]
        inserted = field.race(["insert", f"key {number}"])
        assert len({job for job, _ in inserted}) == 1
        assert sum(created for _, created in inserted) == 1


async def test_a_tick_fires_in_one_process_or_its_schedule_changes_before(
    field: Field, store: SqliteStore
) -> None:
    epoch = (await lead(store)).number
    firsts: set[str] = set()
    fired = 0
    for number in range(ROUNDS):
        name = f"schedule {number}"
        await add(store, schedule(name))
        acts: list[list[object]] = [["commit", name, epoch], ["commit", name, epoch]]
        acts.insert(number % RACERS, ["edit", name])
        verdicts = field.race(*acts)
        won = [verdict for verdict in verdicts if verdict != "Raced"]
        assert len(won) == 1, verdicts
        firsts.add(won[0])
        fired += won == ["Committed"]
        assert len(await rows(store, name)) == (won == ["Committed"])
    assert await all_jobs(store) == fired
    assert firsts == {"Committed", "Written"}, "each came first at least once"


async def test_a_job_is_taken_settled_and_cancelled_once(field: Field, store: SqliteStore) -> None:
    numbers = count(1)
    for _ in range(ROUNDS):
        await store.jobs.insert([JobSpec("send")] * RACERS)
        ids = [next(numbers) for _ in range(RACERS)]
        cancelled, *taken = field.race(["cancel", ids[0]], *[["take", 2]] * (RACERS - 1))
        holds = [hold for each in taken for hold in each]
        claimed = [job for job, _ in holds]
        assert len(set(claimed)) == len(claimed), "nobody else has it"
        assert (cancelled == "Cancelled") == (ids[0] not in claimed)
        assert (cancelled == "CancelRequested") == (ids[0] in claimed)
        for job, fence in holds:
            changes = (["settle", job, fence, str(change)] for change in ("complete", "fail"))
            ended = field.race(*changes, ["settle", job, fence - 1, "complete"])
            assert sorted(ended) == ["Settled", "Superseded", "Superseded"]
            assert ended[2] == "Superseded", "an earlier hold is over"
        left = field.race(["take", RACERS])
        for job, fence in (hold for each in left for hold in each):
            field.race(["settle", job, fence, "complete"])
    counts = (await store.jobs.counts())["default"]
    assert sum(counts.values()) == ROUNDS * RACERS
    assert set(counts) <= {Status.COMPLETED, Status.FAILED, Status.CANCELLED}
