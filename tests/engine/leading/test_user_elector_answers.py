"""When a user's elector is asked, what its failures mean, and who hears of lost leadership."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias

import pytest

from drumbeat import Context, Drumbeat
from drumbeat.backends.memory.coordinator import MemoryCoordinator
from drumbeat.electors import tolerant
from drumbeat.model.errors import Unavailable
from drumbeat.model.events import LeadershipLost
from drumbeat.ports.elector import Elector
from drumbeat.testing.clock import FakeClock
from drumbeat.testing.runtime import FakeRuntime
from tests.engine.support.fleet import Fleet, Heard
from tests.log_records import sentences

CHANGES = 12
Make: TypeAlias = Callable[[Elector], Drumbeat]


class Word:
    """An elector that says what a test tells it to."""

    def __init__(self, *, leads: bool = False) -> None:
        self.leads = leads
        self.asked = 0
        self.error: Exception | None = None
        self.silent = False

    async def is_leader(self) -> bool:
        self.asked += 1
        if self.silent:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
        return self.leads


ALONE = "nothing shared but what the electors say"
COORDINATED = "one coordinator"
STORED = "one store"


@pytest.fixture
async def makers(fleet: Fleet) -> dict[str, Make]:
    """How to make an app, by what the apps have in common."""
    coordinator = MemoryCoordinator(fleet.clock, "test")
    return {
        ALONE: lambda elector: Drumbeat(
            "memory://", elector=elector, runtime=FakeRuntime(fleet.clock), environment={}
        ),
        COORDINATED: lambda elector: Drumbeat(
            "memory://",
            coordinator=coordinator,
            elector=elector,
            runtime=FakeRuntime(fleet.clock),
            environment={},
        ),
        STORED: lambda elector: fleet.app(elector=elector),
    }


@pytest.fixture(params=[ALONE, COORDINATED, STORED])
async def make(request: pytest.FixtureRequest, makers: dict[str, Make]) -> Make:
    return makers[request.param]


def until_tick(clock: FakeClock) -> float:
    """Seconds until a tenth of a second before the next minute."""
    return 60 - clock.now().timestamp() % 60 - 0.1


async def test_a_change_just_before_a_tick_is_obeyed(make: Make, clock: FakeClock) -> None:
    words = [Word(leads=True), Word()]
    apps = [make(word) for word in words]
    fired: list[tuple[int, datetime]] = []
    for number, app in enumerate(apps):

        @app.scheduled("* * * * *", run_on="leader", misfire="all", overlap="allow")
        async def work(ctx: Context, number: int = number) -> None:
            assert ctx.tick_at is not None
            fired.append((number, ctx.tick_at))

    for app in apps:
        await app.start()
    leading: list[int] = []
    await clock.advance(until_tick(clock))
    for change in range(CHANGES):
        words[change % 2].leads, words[1 - change % 2].leads = False, True
        leading.append(1 - change % 2)
        await clock.advance(60)
    assert [number for number, _ in fired] == leading
    assert len({tick for _, tick in fired}) == CHANGES
    for app in apps:
        await clock.until(app.stop(0))


async def test_an_elector_that_raises_means_not_leading(make: Make, clock: FakeClock) -> None:
    word = Word(leads=True)
    app = make(word)
    heard = Heard(app)
    ran: list[object] = []

    @app.scheduled("* * * * *")
    async def work(ctx: Context) -> None:
        ran.append(ctx.tick_at)

    await app.start()
    await clock.advance(until_tick(clock))
    assert app.leadership.is_leader
    word.error = RuntimeError("the lock server is gone")
    await clock.advance(30)
    assert ran == []
    assert not app.leadership.is_leader
    (lost,) = heard.of(LeadershipLost)
    assert lost.reason == "the elector failed: RuntimeError('the lock server is gone')"
    await clock.until(app.stop(0))


async def test_an_elector_that_is_silent_before_a_tick_fires_nothing(
    make: Make, clock: FakeClock
) -> None:
    word = Word(leads=True)
    app = make(word)
    heard = Heard(app)
    ran: list[object] = []

    @app.scheduled("* * * * *")
    async def work(ctx: Context) -> None:
        ran.append(ctx.tick_at)

    await app.start()
    await clock.advance(until_tick(clock))
    word.silent = True
    await clock.advance(30)
    assert ran == []
    assert [event.reason for event in heard.of(LeadershipLost)] == [
        "the elector did not answer in time"
    ]
    await clock.until(app.stop(0))


async def test_a_tolerant_elector_leads_on_while_it_fails(fleet: Fleet) -> None:
    word = Word(leads=True)
    app = fleet.app(elector=tolerant(word, grace="30s", clock=fleet.clock))
    async with fleet.running(app):
        await fleet.clock.advance(10)
        word.error = Unavailable("gone")
        await fleet.clock.advance(29)
        assert app.leadership.is_leader
        await fleet.clock.advance(2)
        assert not app.leadership.is_leader


async def test_the_log_names_the_elector_and_not_the_coordinator(
    fleet: Fleet, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="drumbeat")
    word = Word(leads=True)
    word.error = Unavailable("gone")
    app = fleet.app(elector=word)
    async with fleet.running(app):
        await fleet.clock.advance(5)
        word.error = None
        await fleet.clock.advance(5)
    assert "The elector failed, so this instance does not lead" in caplog.text
    assert "The elector answers again" in caplog.text
    assert not any("coordinator" in sentence for sentence in sentences(caplog.records))


class Sloppy:
    """An elector whose answer is no answer."""

    async def is_leader(self) -> bool:
        return "yes"  # type: ignore[return-value]  # pyright: ignore[reportReturnType] - on purpose


async def test_an_answer_that_is_neither_true_nor_false_is_an_error(fleet: Fleet) -> None:
    app = fleet.app(elector=Sloppy())
    async with fleet.running(app):
        await fleet.clock.advance(5)
        assert not app.leadership.is_leader
        outage = app.leadership.outage
        assert outage is not None
        assert "is_leader() of Sloppy must return True or False, not 'yes'" in str(outage)


async def told(make: Make, clock: FakeClock) -> list[str | None]:
    """What the handler of a tick is told when its instance stops leading."""
    word = Word(leads=True)
    app = make(word)
    reasons: list[str | None] = []
    release = asyncio.Event()

    @app.scheduled("* * * * *")
    async def work(ctx: Context) -> None:
        await release.wait()
        reasons.append(ctx.cancelled.reason)

    await app.start()
    await clock.advance(61)
    word.leads = False
    await clock.advance(1)
    assert not app.leadership.is_leader
    release.set()
    await clock.settle()
    await clock.until(app.stop(0))
    return reasons


@pytest.mark.parametrize("mode", [ALONE, COORDINATED])
async def test_a_handler_is_told_of_lost_leadership_where_no_store_is_shared(
    mode: str, makers: dict[str, Make], clock: FakeClock
) -> None:
    assert await told(makers[mode], clock) == ["leadership was lost"]


async def test_a_workers_job_on_a_shared_store_does_not_depend_on_who_leads(
    makers: dict[str, Make], clock: FakeClock
) -> None:
    assert await told(makers[STORED], clock) == [None]


async def test_a_submitted_job_does_not_depend_on_who_leads(
    makers: dict[str, Make], clock: FakeClock
) -> None:
    word = Word(leads=True)
    app = makers[ALONE](word)
    reasons: list[str | None] = []
    release = asyncio.Event()

    @app.task
    async def work(ctx: Context) -> None:
        await release.wait()
        reasons.append(ctx.cancelled.reason)

    await app.start()
    await app.jobs.submit("work")
    await clock.advance(5)
    word.leads = False
    await clock.advance(1)
    assert not app.leadership.is_leader
    release.set()
    await clock.settle()
    assert reasons == [None]
    await clock.until(app.stop(0))
