# pyright: reportPrivateUsage=false
"""What cannot be registered is refused by name, with the way out, and leaves no trace."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from drumbeat import (
    Context,
    Drumbeat,
    DrumbeatError,
    InvalidCron,
    Retry,
    ScheduledTask,
    Task,
    cron,
    daily,
    every,
    once,
)
from drumbeat.model.errors import (
    ConfigurationError,
    DuplicateSchedule,
    DuplicateTask,
    InvalidHandler,
    InvalidInput,
    InvalidOption,
    InvalidPolicy,
    InvalidTrigger,
    NaiveDatetime,
    UnknownTask,
    UnknownZone,
)

if TYPE_CHECKING:
    from decimal import Decimal

MINUTE = every(minutes=1)


@pytest.fixture
def app() -> Drumbeat:
    return Drumbeat("memory://")


def nothing() -> None: ...


def registered(app: Drumbeat) -> tuple[set[str], list[str]]:
    return set(app.tasks), sorted(app._declared)


def test_a_task_is_named_once(app: Drumbeat) -> None:
    app.task(nothing)
    with pytest.raises(DuplicateTask, match=r"'nothing' is registered already; .*name="):
        app.task(nothing)
    app.task(name="other")(nothing)
    assert app.tasks == {"nothing", "other"}


def test_a_schedule_is_named_once_and_a_clash_registers_no_task(app: Drumbeat) -> None:
    task = app.task(nothing)
    app.schedule(task, MINUTE, name="nightly")
    with pytest.raises(DuplicateSchedule, match=r"'nightly' is declared already; .*name="):
        app.schedule(task, MINUTE, name="nightly")
    with pytest.raises(DuplicateSchedule):
        app.scheduled(MINUTE, name="nightly")(nothing)
    assert registered(app) == ({"nothing"}, ["nightly"])


def test_a_task_that_clashes_declares_no_schedule(app: Drumbeat) -> None:
    app.task(nothing)
    with pytest.raises(DuplicateTask):
        app.scheduled(MINUTE)(nothing)
    assert registered(app) == ({"nothing"}, [])


@pytest.mark.parametrize(
    ("when", "error", "sentence"),
    [
        ("61 * * * *", InvalidCron, r"61 \* \* \* \*.*minute"),
        ("* * *", InvalidCron, "fields"),
        ("0 0 30 2 *", InvalidCron, "0 0 30 2"),
        ("", InvalidCron, "cron"),
        (None, InvalidTrigger, r"'nothing' needs a trigger such as cron"),
        (60, InvalidTrigger, r"needs a trigger such as .* not 60"),
    ],
)
def test_a_trigger_that_cannot_be_is_refused_and_registers_nothing(
    app: Drumbeat, when: Any, error: type[DrumbeatError], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        app.scheduled(when)(nothing)
    assert registered(app) == (set(), [])


@pytest.mark.parametrize(
    ("make", "error", "sentence"),
    [
        (lambda: cron("0 2 * * *", tz="Europe/Pairs"), UnknownZone, "'Europe/Pairs'.*IANA"),
        (lambda: every(minutes=-5), InvalidTrigger, "interval"),
        (lambda: every(), InvalidTrigger, "interval"),
        (lambda: daily("25:00"), InvalidTrigger, "25:00"),
        (lambda: once(datetime(2030, 1, 1)), NaiveDatetime, "at has no time zone.*tzinfo=UTC"),
    ],
)
def test_a_trigger_with_bad_fields_is_refused_by_name(
    make: Callable[[], object], error: type[DrumbeatError], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        make()


@pytest.mark.parametrize(
    ("policies", "sentence"),
    [
        ({"misfire": "never"}, r"misfire must be latest \| all \| skip, not 'never'"),
        ({"overlap": "forbid"}, "overlap must be .*not 'forbid'"),
        ({"run_on": "follower"}, "run_on must be .*not 'follower'"),
        ({"window": "-1h"}, "window"),
        ({"window": 0}, "window must be longer than zero"),
        ({"cap": 0}, "cap must lie between"),
        ({"jitter": "soon"}, "jitter: 'soon' is not a duration"),
        ({"max_runs": 0}, "max_runs must be at least 1"),
        ({"dst_gap": "jump"}, "dst_gap.*jump"),
        ({"dst_repeat": "twice"}, "dst_repeat.*twice"),
        ({"start_at": datetime(2030, 1, 1)}, "start_at has no time zone"),
        ({"missfire": "all"}, "unknown option 'missfire'; known: .*misfire"),
        ({"priority": 101}, "priority must lie between 0 and 100, not 101"),
    ],
)
def test_a_policy_that_cannot_be_is_refused_by_name_and_registers_nothing(
    app: Drumbeat, policies: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        app.scheduled(MINUTE, **policies)(nothing)
    assert registered(app) == (set(), [])


def test_policies_are_told_from_options(app: Drumbeat) -> None:
    app.scheduled(MINUTE, queue="mail", misfire="all", timeout=5)(nothing)
    schedule = app._declared["nothing"]
    assert (schedule.job.queue, schedule.job.timeout) == ("mail", 5.0)
    assert schedule.policies.misfire == "all"
    with pytest.raises(InvalidPolicy, match="misfire"):
        app.scheduled(MINUTE, name="other", misfire="sometimes")(nothing)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"priority": -1}, "priority must lie between 0 and 100, not -1"),
        ({"priority": "high"}, "priority must be a whole number.*'high'"),
        ({"queue": ""}, "queue must be a name of 1 to 200 characters"),
        ({"queue": "@leader"}, "other than '@leader'"),
        ({"queue": 7}, "queue must be a name"),
        ({"timeout": 0}, "timeout must be longer than zero"),
        ({"timeout": -1}, "timeout"),
        ({"timeout": "soon"}, "timeout: 'soon' is not a duration"),
        ({"timeout": float("nan")}, "timeout"),
        ({"heartbeat": 0}, "heartbeat must be longer than zero"),
        ({"delay": -1}, "delay"),
        ({"delay": "soon"}, "delay: 'soon' is not a duration"),
        ({"dedupe_for": -1}, "dedupe_for"),
        ({"dedupe_for": "366d"}, "dedupe_for must be at most 365 days, not 366 days"),
        ({"concurrency": 0}, "concurrency must be at least 1, not 0"),
        ({"concurrency": "5"}, "concurrency must be a whole number.*'5'"),
        ({"key_concurrency": 0}, "key_concurrency must be at least 1"),
        ({"on_conflict": "fight"}, "on_conflict must be 'wait', 'skip' or 'cancel', not 'fight'"),
        ({"run_at": datetime(2030, 1, 1)}, "run_at has no time zone"),
        ({"retry": 3}, r"retry must be a Retry such as Retry.linear\(3\), not 3"),
        ({"tags": "nightly"}, r"tags must be a tuple of names, not 'nightly'"),
        ({"quue": "mail"}, "unknown option 'quue'; known: queue"),
    ],
)
def test_an_option_that_cannot_be_is_refused_by_name_and_registers_nothing(
    app: Drumbeat, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        app.task(**options)(nothing)
    assert registered(app) == (set(), [])
    task = app.task(nothing)
    with pytest.raises(InvalidInput, match=sentence):
        task.options(**options)


def test_the_heartbeat_of_a_task_cannot_be_changed_for_one_call(app: Drumbeat) -> None:
    task = app.task(nothing)
    with pytest.raises(InvalidOption, match="belongs to the task"):
        task.options(heartbeat=10)


def test_lengths_of_time_may_be_written_as_people_do(app: Drumbeat) -> None:
    task = app.task(timeout="1m30s", heartbeat="10s", delay="2h", dedupe_for="1d")(nothing)
    spec = task._definition.spec
    assert (spec.timeout, spec.delay.total_seconds()) == (90.0, 7200.0)
    assert spec.dedupe_for.total_seconds() == 86400.0
    assert task._definition.heartbeat == 10.0


def test_run_at_and_delay_exclude_each_other(app: Drumbeat) -> None:
    now = app._state.runtime.clock.now()
    with pytest.raises(InvalidOption, match="run_at or delay, not both"):
        app.task(run_at=now, delay=5)(nothing)


def test_retries_that_cannot_be_are_refused() -> None:
    with pytest.raises(InvalidOption, match="max_retries must lie between"):
        Retry.linear(max_retries=-1)
    with pytest.raises(InvalidOption, match="base_delay must be zero or more"):
        Retry.backpressure(base_delay=-1)


def generator() -> Iterator[int]:
    yield 1


async def async_generator() -> AsyncIterator[int]:
    yield 1


def unresolvable(amount: Decimal) -> None: ...


def class_of_its_own(thing: type[int], other: Callable[[], int]) -> None: ...


@pytest.mark.parametrize(
    ("handler", "sentence"),
    [
        (generator, "'generator' is a generator; a task returns or raises"),
        (async_generator, "'async_generator' is a generator"),
        (unresolvable, "'unresolvable' has an annotation that cannot be resolved.*TYPE_CHECKING"),
        (7, "needs a callable and a name"),
        ("nothing", "needs a callable and a name"),
        (None, "needs a callable and a name"),
    ],
)
def test_what_cannot_be_a_task_is_refused(app: Drumbeat, handler: Any, sentence: str) -> None:
    with pytest.raises(InvalidHandler, match=sentence):
        app.task(handler)
    with pytest.raises(InvalidHandler, match=sentence):
        app.scheduled(MINUTE)(handler)
    assert registered(app) == (set(), [])


def test_a_name_that_is_too_long_is_refused(app: Drumbeat) -> None:
    with pytest.raises(InvalidHandler, match="1 to 200 characters"):
        app.task(name="x" * 201)(nothing)


def test_a_schedule_with_arguments_that_do_not_fit_is_refused_and_registers_nothing(
    app: Drumbeat,
) -> None:
    def greet(name: str, times: int) -> None: ...

    for args in ((), ("Ada",), ("Ada", "twice"), ("Ada", 1, 2)):
        with pytest.raises(InvalidInput, match=r"task 'greet'.*name: str, times: int"):
            app.scheduled(MINUTE, args=args)(greet)
    assert registered(app) == (set(), [])
    app.scheduled(MINUTE, args=("Ada",), kwargs={"times": 2})(greet)
    assert app._declared["greet"].job.arguments == b'{"name":"Ada","times":2}'


def test_a_task_of_another_app_cannot_be_scheduled(app: Drumbeat) -> None:
    foreign: Task[[], None] = Drumbeat("memory://").task(nothing)
    with pytest.raises(UnknownTask, match="no task is named 'nothing'; registered here: none"):
        app.schedule(foreign, MINUTE)


def test_a_task_in_the_class_style(app: Drumbeat) -> None:
    class Cleanup(ScheduledTask):
        name = "CleanupOldRecords"
        schedule = "0 2 * * *"
        options = {"queue": "nightly", "overlap": "allow"}  # noqa: RUF012 - as users write it

        async def execute(self, ctx: Context) -> None: ...

    task = app.register(Cleanup())
    assert task.name == "CleanupOldRecords"
    declared = app._declared["CleanupOldRecords"]
    assert (declared.job.queue, declared.policies.overlap) == ("nightly", "allow")
    with pytest.raises(DuplicateSchedule):
        app.register(Cleanup())


@pytest.mark.parametrize("missing", ["name", "schedule"])
def test_a_class_without_a_name_or_a_schedule_is_refused(app: Drumbeat, missing: str) -> None:
    class Cleanup(ScheduledTask):
        name = "cleanup"
        schedule = "0 2 * * *"

        async def execute(self, ctx: Context) -> None: ...

    setattr(Cleanup, missing, "")
    with pytest.raises(ConfigurationError, match=f"Cleanup needs a class attribute '{missing}'"):
        app.register(Cleanup())
    assert registered(app) == (set(), [])


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"concurrency": 0}, "concurrency must lie between 1 and 10,000, not 0"),
        ({"concurrency": "many"}, "concurrency must be a whole number, not 'many'"),
        ({"processes": 0}, "processes must lie between"),
        ({"namespace": "my app"}, "namespace must consist of letters"),
        ({"namespace": ""}, "namespace"),
        ({"instance_id": ""}, "instance_id must not be empty"),
        ({"queues": ()}, "queues must name at least one queue"),
        ({"queues": ("",)}, "queues"),
        ({"queues": "mail"}, r"queues must be a tuple of names such as \('mail',\), not 'mail'"),
        ({"lease_ttl": 0}, "lease_ttl must be longer than zero"),
        ({"lease_ttl": "soon"}, "lease_ttl: 'soon' is not a duration"),
        ({"grace": -1}, "grace"),
        ({"heartbeat_every": 5, "node_lifetime": 6}, "node_lifetime must be at least three times"),
        ({"concurency": 5}, "unknown setting 'concurency'; known: .*concurrency"),
    ],
)
def test_settings_that_cannot_work_are_refused_when_the_app_is_made(
    settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        Drumbeat("memory://", **settings)


@pytest.mark.parametrize(
    ("addresses", "sentence"),
    [
        ({"store": "memory"}, "store must be an address such as 'memory://', not 'memory'"),
        ({"store": "carrier-pigeon://x"}, "no store is known for carrier-pigeon://"),
        ({"coordinator": "zookeeper://x"}, "no coordinator is known for zookeeper://"),
        ({"queue": "rabbit://x"}, "no queue is known for rabbit://"),
    ],
)
def test_addresses_that_nobody_knows_are_refused(addresses: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        Drumbeat(addresses.pop("store", "memory://"), **addresses)
