"""Inline mode, drain mode and ticking by hand: the whole way of a job, without a node."""

from contextvars import ContextVar
from datetime import UTC, datetime, timedelta

import pytest

from drumbeat import (
    Cancel,
    Context,
    Drumbeat,
    JobFailed,
    Retry,
    Snooze,
    Status,
    any_of,
    every,
    once,
)
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.events import AttemptStarted, JobSettled
from drumbeat.model.schedules.plan import SkipReason
from drumbeat.testing import Drained, FakeClock, FakeRuntime, drain, inline, running, tick

TENANT = ContextVar("TENANT", default="nobody")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def app(clock: FakeClock) -> Drumbeat:
    return Drumbeat("memory://", runtime=FakeRuntime(clock))


@pytest.fixture
def ran() -> list[object]:
    return []


def day(number: int, hour: int = 0) -> datetime:
    return datetime(2030, 1, number, hour, tzinfo=UTC)


class TestInline:
    async def test_a_job_has_been_run_when_submit_returns(self, app: Drumbeat) -> None:
        @app.task
        async def double(number: int) -> int:
            return 2 * number

        with inline(app):
            job = await double.submit(21)
        assert (job.status, double.result(job)) == (Status.COMPLETED, 42)

    async def test_a_synchronous_handler_too(self, app: Drumbeat) -> None:
        @app.task
        def double(number: int) -> int:
            return 2 * number

        with inline(app):
            job = await double.submit(21)
        assert double.result(job) == 42

    async def test_many_jobs_are_run_in_their_order(self, app: Drumbeat, ran: list[object]) -> None:
        @app.task
        async def note(number: int) -> None:
            ran.append(number)

        with inline(app):
            jobs = await note.submit_many([(1,), {"number": 2}, (3,)])
        assert ran == [1, 2, 3]
        assert {job.status for job in jobs} == {Status.COMPLETED}

    async def test_a_job_that_a_handler_submits_is_run_before_the_handler_goes_on(
        self, app: Drumbeat, ran: list[object]
    ) -> None:
        @app.task
        async def inner() -> None:
            ran.append("inner")

        @app.task
        async def outer() -> None:
            await inner.submit()
            ran.append("outer")

        with inline(app):
            await outer.submit()
        assert ran == ["inner", "outer"]

    async def test_an_error_fails_the_job_whatever_its_retries_are(self, app: Drumbeat) -> None:
        @app.task(retry=Retry.linear(max_retries=5, delay=1))
        async def broken() -> None:
            raise KeyError("gone")

        with inline(app):
            job = await broken.submit()
        assert job.status is Status.FAILED
        assert "KeyError: 'gone'" in str(job.error)

    async def test_the_error_itself_comes_out_where_that_is_asked_for(self, app: Drumbeat) -> None:
        @app.task
        def broken() -> None:
            raise KeyError("gone")

        with inline(app, raises=True), pytest.raises(KeyError, match="gone"):
            await broken.submit()

    async def test_a_failure_that_is_no_error_of_the_handler_comes_out_as_one(
        self, app: Drumbeat
    ) -> None:
        @app.task
        async def broken() -> None:
            raise SystemExit("enough")

        with inline(app, raises=True), pytest.raises(JobFailed):
            await broken.submit()

    async def test_snoozing_and_cancelling_are_no_errors(self, app: Drumbeat) -> None:
        @app.task
        async def tired() -> None:
            raise Snooze(60)

        @app.task
        async def unwilling() -> None:
            raise Cancel("no longer needed")

        with inline(app, raises=True):
            assert (await tired.submit()).status is Status.PENDING
            assert (await unwilling.submit()).status is Status.CANCELLED

    async def test_a_job_whose_time_has_not_come_stays_pending(self, app: Drumbeat) -> None:
        @app.task
        async def later() -> None: ...

        with inline(app):
            job = await later.options(delay=60).submit()
        assert job.status is Status.PENDING

    async def test_a_known_dedupe_key_runs_nothing_again(
        self, app: Drumbeat, ran: list[object]
    ) -> None:
        @app.task
        async def note() -> None:
            ran.append(1)

        with inline(app):
            first = await note.options(dedupe_key="one").submit()
            again = await note.options(dedupe_key="one").submit()
        assert (again.id, again.status, ran) == (first.id, Status.COMPLETED, [1])

    async def test_jobs_submitted_by_name_and_by_a_trigger_are_run_too(
        self, app: Drumbeat, ran: list[object]
    ) -> None:
        @app.scheduled("@daily")
        async def cleanup(ctx: Context) -> None:
            ran.append(ctx.schedule)

        await tick(app)
        with inline(app):
            await app.jobs.submit("cleanup")
            await app.schedules.trigger("cleanup")
        assert ran == [None, "cleanup"]

    async def test_it_ends_with_its_body(self, app: Drumbeat) -> None:
        @app.task
        async def note() -> None: ...

        with inline(app):
            pass
        assert (await note.submit()).status is Status.QUEUED

    async def test_handlers_see_the_context_variables_of_the_submitter(
        self, app: Drumbeat, ran: list[object]
    ) -> None:
        @app.task
        async def note() -> None:
            ran.append(TENANT.get())

        TENANT.set("acme")
        with inline(app):
            await note.submit()
        assert ran == ["acme"]

    async def test_listeners_hear_the_same_as_of_a_node(
        self, app: Drumbeat, ran: list[object]
    ) -> None:
        @app.task
        async def note() -> None: ...

        @app.on(AttemptStarted)
        def started(event: AttemptStarted) -> None:
            ran.append("started")

        @app.on(JobSettled)
        async def settled(event: JobSettled) -> None:
            ran.append(event.status)

        with inline(app):
            await note.submit()
        assert ran == ["started", Status.COMPLETED]

    def test_code_without_a_loop_submits_inline_too(self, app: Drumbeat) -> None:
        @app.task
        def double(number: int) -> int:
            return 2 * number

        with inline(app):
            job = double.submit_sync(21)
        assert double.result(job) == 42

    async def test_a_running_app_is_refused(self, app: Drumbeat) -> None:
        async with running(app):
            with pytest.raises(ConfigurationError, match="is running"), inline(app):
                pass


class TestDrain:
    async def test_it_runs_what_is_queued_and_what_that_submits(
        self, app: Drumbeat, ran: list[object]
    ) -> None:
        @app.task(queue="mail")
        async def leaf(number: int) -> None:
            ran.append(number)

        @app.task
        async def branch(number: int) -> None:
            await leaf.submit_many([(number,), (number + 1,)])

        await branch.submit_many([(1,), (10,)])
        assert await drain(app) == Drained(completed=6)
        assert sorted(map(str, ran)) == ["1", "10", "11", "2"]
        assert await drain(app) == Drained()

    async def test_it_counts_how_attempts_ended(self, app: Drumbeat) -> None:
        @app.task(retry=Retry.never())
        async def broken() -> None:
            raise ValueError

        @app.task
        async def flaky() -> None:
            raise ValueError

        @app.task
        async def tired() -> None:
            raise Snooze(60)

        @app.task
        async def unwilling() -> None:
            raise Cancel("no longer needed")

        for task in (broken, flaky, tired, unwilling):
            await task.submit()
        drained = await drain(app)
        assert drained == Drained(failed=1, retried=1, snoozed=1, cancelled=1)
        assert drained.attempts == 4

    async def test_pending_jobs_wait_for_the_clock(self, app: Drumbeat, clock: FakeClock) -> None:
        @app.task
        async def later() -> None: ...

        await later.options(delay=60).submit()
        assert await drain(app) == Drained()
        await clock.advance(60)
        assert await drain(app) == Drained(completed=1)

    async def test_the_clock_can_be_moved_on_to_them(self, app: Drumbeat, clock: FakeClock) -> None:
        tried: list[float] = []

        @app.task(retry=Retry.linear(max_retries=2, delay=10))
        async def flaky() -> None:
            tried.append(clock.elapsed())
            if len(tried) < 3:
                raise ValueError

        await flaky.options(delay=60).submit()
        assert await drain(app, include_pending=True) == Drained(completed=1, retried=2)
        assert tried == [60, 70, 80]

    async def test_it_can_stop_after_some(self, app: Drumbeat) -> None:
        @app.task
        async def note() -> None: ...

        await note.submit_many([()] * 5)
        assert await drain(app, limit=2) == Drained(completed=2)
        assert await drain(app) == Drained(completed=3)

    async def test_jobs_without_end_are_reported(
        self, app: Drumbeat, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        @app.task
        async def again() -> None:
            await again.submit()

        monkeypatch.setattr("drumbeat.testing.draining.RUNAWAY", 20)
        await again.submit()
        with pytest.raises(AssertionError, match="not drained after 20 attempts"):
            await drain(app)

    async def test_only_a_fake_clock_can_be_moved_on(self) -> None:
        with pytest.raises(ConfigurationError, match="only a FakeClock"):
            await drain(Drumbeat("memory://"), include_pending=True)

    async def test_a_rate_is_kept(self, app: Drumbeat, clock: FakeClock) -> None:
        started: list[float] = []

        @app.task(rate_limit="1/10s")
        async def call() -> None:
            started.append(clock.elapsed())

        await call.submit_many([()] * 3)
        assert (await drain(app)).completed == 1
        await drain(app, include_pending=True)
        assert started == [0, pytest.approx(10), pytest.approx(20)]

    async def test_jobs_that_only_a_leader_may_run_are_run_too(
        self, app: Drumbeat, clock: FakeClock
    ) -> None:
        @app.scheduled(every(hours=1), run_on="leader")
        async def beat() -> None: ...

        await tick(app)
        await clock.advance("1h")
        await tick(app)
        assert await drain(app) == Drained(completed=1)


class TestTick:
    @pytest.fixture(autouse=True)
    def cleanup(self, app: Drumbeat, ran: list[object]) -> None:
        @app.scheduled("0 2 * * *")
        async def cleanup(ctx: Context) -> None:
            ran.append(ctx.tick_at)

    async def test_it_fires_what_is_due_and_nothing_else(
        self, app: Drumbeat, clock: FakeClock, ran: list[object]
    ) -> None:
        assert (await tick(app)).fired == ()
        await clock.advance("2h")
        (fired,) = (await tick(app)).fired
        assert (fired.schedule, fired.tick_at) == ("cleanup", day(1, 2))
        assert (await tick(app)).fired == ()
        await drain(app)
        assert ran == [day(1, 2)]

    @pytest.mark.parametrize("since_the_second", [0.0, 0.4])
    async def test_once_or_every_starts_now_and_is_not_repeated_by_a_restart(
        self, app: Drumbeat, clock: FakeClock, since_the_second: float
    ) -> None:
        """The recipe in docs/reference.md."""

        def declare(app: Drumbeat) -> None:
            @app.scheduled(any_of(once(), every(minutes=5)), name="refresh")
            async def refresh() -> None: ...

        async def fired(app: Drumbeat) -> int:
            done = await tick(app)
            assert done.skipped == ()
            await drain(app)
            return len(done.fired)

        await clock.advance(since_the_second)
        declare(app)
        assert await fired(app) == 1
        await clock.advance(299)
        assert await fired(app) == 0
        restarted = Drumbeat(app.store, runtime=FakeRuntime(clock, seed=1))
        declare(restarted)
        assert await fired(restarted) == 0
        await clock.advance(1)
        assert await fired(restarted) == 1
        await clock.advance(300)
        assert await fired(restarted) == 1

    async def test_it_can_look_from_another_instant(
        self, app: Drumbeat, clock: FakeClock, ran: list[object]
    ) -> None:
        ticked = await tick(app, at=day(1, 2))
        assert [fired.tick_at for fired in ticked.fired] == [day(1, 2)]
        assert await drain(app) == Drained(completed=1)
        assert clock.elapsed() == 0

    async def test_it_tells_what_was_skipped_and_why(self, app: Drumbeat, clock: FakeClock) -> None:
        await tick(app)
        await clock.advance("3d")
        ticked = await tick(app)
        assert ticked.fired == ()
        (skipped,) = ticked.skipped
        assert (skipped.tick_at, skipped.through) == (day(1, 2), day(3, 2))
        assert (skipped.count, skipped.reason) == (3, SkipReason.MISSED_WINDOW)

    async def test_each_pass_has_an_epoch_of_its_own(self, app: Drumbeat, clock: FakeClock) -> None:
        first = await tick(app, at=day(1, 2))
        await drain(app)
        second = await tick(app, at=day(2, 2))
        assert second.fired[0].epoch > first.fired[0].epoch

    async def test_an_overlapping_tick_is_skipped_until_its_job_is_drained(
        self, app: Drumbeat
    ) -> None:
        await tick(app, at=day(1, 2))
        (skipped,) = (await tick(app, at=day(2, 2))).skipped
        assert skipped.reason is SkipReason.OVERLAP
        await drain(app)
        assert (await tick(app, at=day(3, 2) + timedelta(minutes=1))).fired
