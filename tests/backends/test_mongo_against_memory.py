"""The MongoDB store beside the memory store, which is the specification: whatever is asked of both,
both answer the same."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drumbeat.backends.memory.store import MemoryStore
from drumbeat.backends.mongo.store import MongoStore
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.ports.store import Store
from servers import GivenMongo, Mongo

from . import job_steps, schedule_steps
from .depth import PATIENCE, examples
from .hand_clock import HandClock
from .job_driver import Driver, stay
from .mongo_wholeness import check_whole, empty
from .schedule_steps import Claim

pytestmark = pytest.mark.timeout(PATIENCE)

NAMESPACE = "against-memory"
usual = settings(
    max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
jobs = st.lists(job_steps.steps, min_size=5, max_size=30)
schedules = st.lists(schedule_steps.steps, min_size=5, max_size=30).map(
    lambda some: [Claim(1, "here"), *some]
)


def comparable(step: object, answer: Any) -> object:
    """The answer, without what a claim that got all that it asked for says of the time to retry.

    The memory store then knows of rates that it has not come to in this claim. Who got all that it
    asked for asks again when it has room, and is told then.
    """
    match step:
        case job_steps.Take():
            return replace(answer, try_at=None) if len(answer.attempts) == step.limit else answer
        case job_steps.Rush():
            inserted, taken = answer
            return inserted, [comparable(*each) for each in zip(step.takes, taken, strict=True)]
        case _:
            return answer


async def compare_jobs(store: MongoStore, steps: Sequence[object]) -> None:
    async def reopen(_store: Store) -> Store:
        await store.close()
        await store.open()
        return store

    ours, theirs = Driver(store, reopen), Driver(MemoryStore(HandClock()), stay)
    for step in steps:
        answers = [comparable(step, await each.do(step)) for each in (ours, theirs)]
        assert answers[0] == answers[1], step
    seen, expected = await ours.look(), await theirs.look()
    assert seen == expected


async def compare_schedules(store: MongoStore, steps: Sequence[object]) -> None:
    ours = schedule_steps.Driver(store)
    theirs = schedule_steps.Driver(MemoryStore(HandClock()))
    for step in steps:
        assert await ours.do(step) == await theirs.do(step), step
    seen, expected = await ours.look(), await theirs.look()
    assert seen == expected


def play(
    address: str,
    plans: st.SearchStrategy[Any],
    compare: Callable[[MongoStore, Sequence[object]], Coroutine[Any, Any, None]],
) -> None:
    """Compare the stores by many plans, each in an empty namespace."""
    with asyncio.Runner() as runner:
        store = MongoStore(address, SystemClock(), NAMESPACE)
        runner.run(store.open())

        @usual
        @given(plans)
        def test(steps: Sequence[object]) -> None:
            empty(address, NAMESPACE)
            runner.run(compare(store, steps))
            check_whole(address, NAMESPACE)

        try:
            test()
        finally:
            runner.run(store.close())


def test_jobs_are_the_same_in_both(mongo: Mongo | GivenMongo) -> None:
    play(mongo.address, jobs, compare_jobs)


def test_schedules_are_the_same_in_both(mongo: Mongo | GivenMongo) -> None:
    play(mongo.address, schedules, compare_schedules)
