"""The leader-aware scheduler, and leaders that step down on errors."""

from __future__ import annotations

import inspect

import pytest

from drumbeat import Context, Drumbeat, LeaderElection, Retry, every
from drumbeat.backends.memory.coordinator import MemoryCoordinator
from drumbeat.electors import LeaderAwareScheduler, health_gated, step_down_on
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.events import LeadershipLost
from drumbeat.testing.clock import FakeClock
from drumbeat.testing.runtime import FakeRuntime

from .support import Word


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


class Critical(Exception):
    """Worth a resignation."""


async def test_only_the_leader_of_two_schedulers_processes_tasks(clock: FakeClock) -> None:
    coordinator = MemoryCoordinator(clock, "test")
    ran: list[str] = []
    well = [True, True]
    schedulers: list[LeaderAwareScheduler] = []
    for number in range(2):
        label = f"instance-{number + 1}"
        runtime = FakeRuntime(clock, seed=number)
        app = Drumbeat("memory://", coordinator=coordinator, runtime=runtime, environment={})

        @app.scheduled(every(minutes=1))
        async def example(label: str = label) -> None:
            ran.append(label)

        election = LeaderElection(label, coordinator, runtime=FakeRuntime(clock, seed=9 + number))
        elector = health_gated(election, lambda number=number: well[number])  # type: ignore[misc]
        schedulers.append(LeaderAwareScheduler(elector, app))
    for scheduler in schedulers:
        await scheduler.start()
        await clock.settle()
    await clock.advance("3m")
    assert ran == ["instance-1"] * 3

    well[0] = False
    await clock.advance("2m")
    assert ran[3:] == ["instance-2"] * 2

    well[0] = True
    await clock.until(schedulers[1].stop(0))
    await clock.advance("2m")
    assert ran[5:] == ["instance-1"] * 2
    await clock.until(schedulers[0].stop(0))
    assert not await schedulers[0].elector.is_leader()


async def test_a_scheduler_runs_for_as_long_as_its_body_takes(clock: FakeClock) -> None:
    app = Drumbeat("memory://", runtime=FakeRuntime(clock), environment={}, grace=0)
    word = Word(leads=True)
    async with LeaderAwareScheduler(word, app):
        await clock.advance(1)
        assert app.leadership.is_leader
    assert word.told == ["elect", "step down: the app stopped leading", "resign: stopping"]


async def test_a_listed_error_ends_the_term_and_goes_on() -> None:
    reasons: list[str] = []
    guard = step_down_on(Critical, OSError, resign=reasons.append)

    @guard
    def fail() -> None:
        raise Critical("disk")

    @guard
    async def fail_later() -> None:
        raise FileNotFoundError("ledger.txt")

    with pytest.raises(Critical):
        fail()
    with pytest.raises(FileNotFoundError):
        await fail_later()
    assert reasons == [
        "stepped down on Critical: disk",
        "stepped down on FileNotFoundError: ledger.txt",
    ]


async def test_other_errors_and_answers_pass() -> None:
    reasons: list[str] = []

    @step_down_on(Critical, resign=reasons.append)
    async def work(value: int) -> int:
        return 10 // value

    assert await work(5) == 2
    with pytest.raises(ZeroDivisionError):
        await work(0)
    assert reasons == []
    assert list(inspect.signature(work).parameters) == ["value"]


async def test_an_election_may_be_resigned_from_an_asynchronous_function_only() -> None:
    word = Word(leads=True)

    @step_down_on(Critical, resign=word.resign)
    async def work() -> None:
        raise Critical("disk")

    with pytest.raises(Critical):
        await work()
    assert word.told == ["resign: stepped down on Critical: disk"]
    with pytest.raises(ConfigurationError, match=r"step_down_on: .*plain.* cannot await"):

        @step_down_on(Critical, resign=word.resign)
        def plain() -> None: ...


def test_without_an_error_there_is_nothing_to_step_down_on() -> None:
    with pytest.raises(ConfigurationError, match="at least one"):
        step_down_on(resign=lambda _: None)


async def test_a_task_that_meets_a_critical_error_makes_its_app_step_down(
    clock: FakeClock,
) -> None:
    app = Drumbeat("memory://", runtime=FakeRuntime(clock), environment={})
    lost: list[str] = []

    @app.leadership.on_lost
    def note(event: LeadershipLost) -> None:
        lost.append(event.reason)

    @app.scheduled(every(minutes=1), retry=Retry.never())
    @step_down_on(Critical, resign=app.leadership.resign)
    async def work(ctx: Context) -> None:
        assert ctx.epoch == 1
        raise Critical("disk")

    await app.start()
    await clock.advance(61)
    assert lost == ["stepped down on Critical: disk"]
    await clock.until(app.stop(0))
