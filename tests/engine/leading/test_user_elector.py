# pyright: reportPrivateUsage=false
"""An app that obeys its user's own elector, on fake time."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from drumbeat import Context, Drumbeat, Status, every
from drumbeat.backends.user_elector import DOMAIN
from drumbeat.model.errors import ConfigurationError, Unavailable
from drumbeat.model.events import ElectionOff, LeadershipGained, LeadershipLost, TickPassed
from drumbeat.model.fleet.lease import SCHEDULER, Lease
from drumbeat.model.ids import NodeId
from drumbeat.testing.clock import FakeClock
from drumbeat.testing.runtime import FakeRuntime
from tests.engine.support.fleet import Fleet, Heard, ledger


class Word:
    """An elector that says what a test tells it to."""

    def __init__(self, *, leads: bool = False) -> None:
        self.leads = leads
        self.error: Exception | None = None
        self.asked = 0
        self.told: list[str] = []

    async def is_leader(self) -> bool:
        self.asked += 1
        if self.error is not None:
            raise self.error
        return self.leads

    def step_down(self, reason: str) -> None:
        self.told.append(reason)


async def test_an_app_leads_only_while_its_elector_says_so(fleet: Fleet) -> None:
    word = Word()
    app = fleet.app(elector=word)
    heard = Heard(app)
    async with fleet.running(app):
        await fleet.clock.advance("1m")
        assert not app.leadership.is_leader
        word.leads = True
        await fleet.clock.advance(1)
        assert app.leadership.epoch == 1
        await fleet.clock.advance("1h")
        assert app.leadership.epoch == 1
        word.leads = False
        await fleet.clock.advance(1)
        assert not app.leadership.is_leader
        word.leads = True
        await fleet.clock.advance(3)
        assert app.leadership.epoch == 2
    assert [event.epoch for event in heard.of(LeadershipGained)] == [1, 2]


async def test_a_job_of_the_leader_is_told_within_a_second_of_the_loss(fleet: Fleet) -> None:
    word = Word(leads=True)
    app = fleet.app(elector=word)
    told: list[float] = []

    @app.scheduled(every(minutes=1), run_on="leader")
    async def work(ctx: Context) -> None:
        await ctx.cancelled.wait()
        told.append(fleet.clock.elapsed())
        assert ctx.cancelled.reason == "leadership was lost"

    async with fleet.running(app):
        await fleet.clock.advance(61.3)
        word.leads = False
        lost_at = fleet.clock.elapsed()
        await fleet.clock.advance(2)
        (at,) = told
        assert at - lost_at <= 1.0


async def test_two_electors_that_both_say_yes_double_nothing(fleet: Fleet) -> None:
    words = [Word(leads=True), Word(leads=True)]
    apps = [fleet.app(elector=word) for word in words]
    ran: list[object] = []
    for app in apps:

        @app.scheduled(every(seconds=1), misfire="all", overlap="allow")
        async def work(ctx: Context) -> None:
            ran.append(ctx.tick_at)

    async with fleet.running(*apps):
        await fleet.clock.advance(60)
        words[0].leads = False
        await fleet.clock.advance(10)
        assert len(ran) == len(set(ran))
        assert len(ran) >= 60
        epochs = [row.epoch or 0 for row in await ledger(apps[0], "work")]
        assert epochs == sorted(epochs)


async def test_an_elector_that_fails_at_first_is_no_leader(fleet: Fleet) -> None:
    word = Word(leads=True)
    word.error = Unavailable("the lock server is down")
    app = fleet.app(elector=word)
    async with fleet.running(app):
        await fleet.clock.advance(30)
        assert not app.leadership.is_leader
        outage = app.leadership.outage
        assert outage is not None
        assert "the lock server is down" in str(outage)
        word.error = None
        await fleet.clock.advance(3)
        assert app.leadership.is_leader
        assert app.leadership.outage is None


async def test_a_claim_by_an_epoch_that_was_read_long_ago_is_outranked(fleet: Fleet) -> None:
    word = Word(leads=True)
    app = fleet.app(elector=word)
    async with fleet.running(app):
        slept = Lease(SCHEDULER, NodeId("sleeper:1"), DOMAIN, 1, timedelta(seconds=10))
        assert type(await fleet.store.fence.claim(slept)).__name__ == "Outranked"
        assert app.leadership.epoch == 1


async def test_resigning_is_told_to_an_elector_that_can_step_down(fleet: Fleet) -> None:
    word = Word(leads=True)
    app = fleet.app(elector=word)
    heard = Heard(app)
    async with fleet.running(app):
        app.leadership.resign("maintenance")
        await fleet.clock.settle()
        assert word.told == ["the app stopped leading"]
    (lost, *_) = heard.of(LeadershipLost)
    assert lost.reason == "maintenance"


async def test_locks_and_configuration_stay_with_the_coordinator(fleet: Fleet) -> None:
    first, second = fleet.app(elector=Word()), fleet.app()
    async with first.lock("deploy") as lock:
        current = await fleet.coordinator.leases.current("lock/deploy")
        assert current is not None
        assert current.token == lock.token
    await first.config.put("colour", b"green")
    entry = await second.config.get("colour")
    assert entry is not None
    assert entry.value == b"green"


async def test_the_leader_is_shown_to_others_by_the_stores_fence(fleet: Fleet) -> None:
    leader, other = fleet.app(elector=Word(leads=True)), fleet.app(elector=Word())
    async with fleet.running(leader, other):
        for app in (leader, other):
            lease = await app.leadership.leader()
            assert lease is not None
            assert lease.holder == leader.id


async def test_an_elector_is_asked_on_the_loop_of_the_app_although_leases_have_a_thread() -> None:
    loops: set[asyncio.AbstractEventLoop] = set()

    class Bound:
        async def is_leader(self) -> bool:
            loops.add(asyncio.get_running_loop())
            return True

    app = Drumbeat("memory://", elector=Bound(), environment={})
    heard = Heard(app)
    async with app.running():
        await heard.next(LeadershipGained)
    assert loops == {asyncio.get_running_loop()}


async def test_an_elector_counts_for_nothing_when_elections_are_off(fleet: Fleet) -> None:
    word = Word()
    app = fleet.app(elector=word, leader_election=False)
    heard = Heard(app)
    async with fleet.running(app):
        await fleet.clock.settle()
        assert app.leadership.is_leader
        assert heard.of(ElectionOff)
        assert word.asked == 0


async def test_an_elector_comes_too_late_for_an_app_that_runs(fleet: Fleet, app: Drumbeat) -> None:
    async with fleet.running(app):
        with pytest.raises(ConfigurationError, match="before"):
            app.obey(Word())


async def test_idle_followers_take_no_jobs_and_give_back_what_they_have(fleet: Fleet) -> None:
    words = [Word(leads=True), Word()]
    apps = [fleet.app(), fleet.app()]
    ran: list[int] = []
    for number, (app, word) in enumerate(zip(apps, words, strict=True)):
        app.obey(word, followers_idle=True)

        @app.task
        async def work(number: int = number) -> None:
            ran.append(number)
            if len(ran) == 1:
                await asyncio.Event().wait()

    async with fleet.running(*apps):
        job = await apps[1].jobs.submit("work")
        await fleet.clock.advance(5)
        assert ran == [0]
        words[0].leads, words[1].leads = False, True
        done = await fleet.done(apps[1], job, "1m")
        assert (done.status, done.attempt) == (Status.COMPLETED, 1)
        assert ran == [0, 1]


@pytest.fixture
def alone(clock: FakeClock) -> tuple[Word, Drumbeat]:
    word = Word()
    app = Drumbeat("memory://", elector=word, runtime=FakeRuntime(clock), environment={})
    return word, app


async def test_with_a_store_of_its_own_a_tick_without_leadership_is_passed(
    alone: tuple[Word, Drumbeat], clock: FakeClock
) -> None:
    """As gocron has it: asked before each run, and skipped if the answer is no."""
    word, app = alone
    heard = Heard(app)
    ran: list[object] = []

    @app.scheduled(every(minutes=1))
    async def work(ctx: Context) -> None:
        ran.append(ctx.tick_at)

    await app.start()
    await clock.advance("3m")
    assert (len(heard.of(TickPassed)), ran) == (3, [])
    word.leads = True
    await clock.advance("2m")
    assert len(ran) == 2
    word.leads = False
    await clock.advance("2m")
    assert (len(heard.of(TickPassed)), len(ran)) == (5, 2)
    rows = await ledger(app, "work")
    assert [row.reason for row in rows] == [*["elsewhere"] * 3, None, None, *["elsewhere"] * 2]
    await clock.until(app.stop(0))
