"""What cannot take effect is refused with a sentence that says what to do."""

from __future__ import annotations

import threading
from contextlib import ExitStack

import pytest

from drumbeat import Context, Drumbeat, Retry, ScheduledTask, cron, every
from drumbeat.model.errors import (
    ConfigurationError,
    InvalidArguments,
    InvalidHandler,
    InvalidInput,
    JobFailed,
    RegistrationError,
)


@pytest.fixture
def app() -> Drumbeat:
    return Drumbeat("memory://", environment={})


async def test_a_schedule_that_is_declared_while_the_app_runs_is_refused(app: Drumbeat) -> None:
    @app.task
    async def report() -> str:
        return "reported"

    async with app.running():
        with pytest.raises(RegistrationError, match="'hourly' is declared while the app runs"):
            app.schedule(report, every(hours=1), name="hourly")
        with pytest.raises(RegistrationError, match=r"app\.schedules\.put"):

            @app.scheduled(every(hours=1))
            async def late() -> None: ...

        assert app.tasks == {"report"}
    app.schedule(report, every(hours=1), name="hourly")
    async with app.running():
        assert [each.name for each in (await app.schedules.list()).items] == ["hourly"]


async def test_a_task_that_is_registered_while_the_app_runs_takes_effect(app: Drumbeat) -> None:
    async with app.running():

        @app.task
        async def late() -> str:
            return "done"

        job = await late.submit()
        assert await app.jobs.result(job.id, 10) == "done"


def test_a_schedule_for_what_is_no_task_names_the_decorator(app: Drumbeat) -> None:
    def report() -> None: ...

    for wrong in (report, "report"):
        with pytest.raises(ConfigurationError, match=r"takes a task, not .*put @app\.task above"):
            app.schedule(wrong, every(hours=1))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_a_schedule_without_a_trigger_says_how_to_write_one(app: Drumbeat) -> None:
    with pytest.raises(ConfigurationError, match=r"a trigger above 'nightly': write @app.sched"):

        @app.scheduled  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        async def nightly() -> None: ...

    assert app.tasks == frozenset()


def test_a_context_is_the_first_parameter(app: Drumbeat) -> None:
    async def second(order_id: int, ctx: Context) -> None: ...
    async def optional(order_id: int, ctx: Context | None = None) -> None: ...
    async def keyword(*, ctx: Context) -> None: ...

    for handler in (second, optional, keyword):
        with pytest.raises(InvalidHandler, match=r"'ctx': make that its first parameter"):
            app.task(handler)


async def test_a_context_may_be_missing_in_a_direct_call(app: Drumbeat) -> None:
    @app.task
    async def count(ctx: Context | None = None, start: int = 1) -> int:
        return start if ctx is None else start + ctx.number

    async with app.running():
        assert await app.jobs.result(await count.submit(5), 10) == 6
    assert await count() == 1  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def test_a_class_without_a_signature_is_no_task(app: Drumbeat) -> None:
    with pytest.raises(InvalidHandler, match="task 'int' cannot be <class 'int'>"):
        app.task(int)


def test_calls_of_a_task_are_tuples_or_mappings(app: Drumbeat) -> None:
    @app.task
    def add(number: int) -> int:
        return number

    for wrong in (1, "1", None):
        with pytest.raises(InvalidArguments, match=r"is no call of task 'add': give a tuple"):
            add.submit_many_sync([wrong])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidInput, match=r"takes a list of jobs"):
        add.submit_many_sync(add.job(1))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_a_lock_needs_a_text_as_its_name(app: Drumbeat) -> None:
    for wrong in (3, "", None):
        with pytest.raises(ConfigurationError, match=rf"a text that is not empty: {wrong!r}"):
            app.lock(wrong)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_a_lock_without_an_event_loop_names_the_blocking_one(app: Drumbeat) -> None:
    with ExitStack() as stack, pytest.raises(TypeError, match=r"write `with app\.sync\.lock"):
        stack.enter_context(app.lock("report"))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_a_scheduled_task_is_registered_as_an_object(app: Drumbeat) -> None:
    class Cleanup(ScheduledTask):
        name = "cleanup"
        schedule = every(hours=1)

        async def execute(self, ctx: Context) -> None: ...

    with pytest.raises(ConfigurationError, match=r"an object of a subclass of ScheduledTask"):
        app.register(Cleanup)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    app.register(Cleanup())


async def test_the_cancellation_of_a_run_is_no_method(app: Drumbeat) -> None:
    @app.task(retry=Retry.never())
    async def poll(ctx: Context) -> bool:
        return bool(ctx.cancelled())  # type: ignore[operator]  # pyright: ignore[reportCallIssue]

    async with app.running():
        with pytest.raises(JobFailed, match=r"write `if ctx\.cancelled:`"):
            await app.jobs.result(await poll.submit(), 10)


def test_running_in_another_thread_names_what_works_there(app: Drumbeat) -> None:
    raised: list[BaseException] = []

    def run() -> None:
        try:
            app.run()
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    (error,) = raised
    assert isinstance(error, ConfigurationError)
    assert "call app.start_in_background()" in str(error)


async def test_running_within_an_event_loop_names_what_works_there(app: Drumbeat) -> None:
    with pytest.raises(ConfigurationError, match=r"write `await app\.start\(\)`"):
        app.run()


def test_methods_where_attributes_are_expected_are_refused(app: Drumbeat) -> None:
    class Report(ScheduledTask):
        schedule = cron("@daily")

        def name(self) -> str:  # type: ignore[override]
            return "report"

        async def execute(self, ctx: Context) -> None: ...

    with pytest.raises(ConfigurationError, match="needs a class attribute 'name', not a method"):
        app.register(Report())
