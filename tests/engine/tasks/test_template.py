"""Templates over the arguments of a task: keys, exclusive names and dedupe keys."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import date
from typing import Any

import pytest

from drumbeat import Context, Drumbeat, PageRequest, every
from drumbeat.engine.tasks.options import TaskOptions
from drumbeat.engine.tasks.template import LONGEST_RESULT, escaped, template
from drumbeat.model.errors import InvalidOption
from drumbeat.model.jobs.job import Job


@pytest.fixture
async def app() -> AsyncIterator[Drumbeat]:
    app = Drumbeat("memory://", environment={})
    async with app.connected():
        yield app


async def jobs_of(app: Drumbeat) -> list[Job]:
    return list((await app.jobs.list(page=PageRequest(100))).items)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("plain", "plain"),
        ("order-{order}", "order-7"),
        ("{order:04}-{shop!r}", "0007-'a b'"),
        ("{day:%Y-%m}/{day.real}"[:11], "2026-05"),
        ("{{order}}", "{order}"),
        ('{{"order": {order}}}', '{"order": 7}'),
        ("{order}{order}", "77"),
    ],
)
def test_a_template_is_filled_with_arguments(source: str, name: str) -> None:
    arguments = {"order": 7, "shop": "a b", "day": date(2026, 5, 1)}
    assert template(source).render(arguments) == name


@pytest.mark.parametrize(
    "source",
    ["{order.total}", "{order[0]}", "{order.__class__.__init__.__globals__}", "{}", "{0}", "{a b}"],
)
def test_only_a_whole_argument_can_be_named(source: str) -> None:
    with pytest.raises(InvalidOption, match="only a whole argument can be named"):
        template(source)


@pytest.mark.parametrize("source", ["order-{order", "order}", "{order!x}", "{order:{width}}"])
def test_a_broken_template_is_refused(source: str) -> None:
    with pytest.raises(InvalidOption, match=r"is not a template|a format for"):
        template(source)


@pytest.mark.parametrize("text", ["{", "}", "{{", '{"a": 1}', "plain", "{order}"])
def test_escaped_text_stands_for_itself(text: str) -> None:
    assert template(escaped(text)).render({}) == text


def test_a_long_name_ends_in_a_digest_so_that_every_store_can_index_it() -> None:
    names = [template("order-{order}").render({"order": "x" * 5_000 + end}) for end in "ab"]
    assert [len(name) <= LONGEST_RESULT for name in names] == [True, True]
    assert names[0] != names[1]


def test_an_argument_that_does_not_fit_its_format_is_refused() -> None:
    with pytest.raises(InvalidOption, match=r"'\{order:05d\}' cannot be made of the arguments"):
        template("{order:05d}").render({"order": None})


async def test_three_orders_have_three_receipts(app: Drumbeat) -> None:
    @app.task(dedupe_key="receipt-{order_id}", dedupe_scope="shop-{shop}")
    async def receipt(order_id: int, shop: str = "main") -> None: ...

    jobs = [await receipt.submit(1), await receipt.submit(2), await receipt.submit(order_id=1)]
    assert [job.spec.dedupe_key for job in jobs] == ["receipt-1", "receipt-2", "receipt-1"]
    assert jobs[0].spec.dedupe_scope == "shop-main"
    assert len(await jobs_of(app)) == 2
    many = await receipt.submit_many([(1,), (3,), {"order_id": 3, "shop": "b"}])
    assert [job.spec.dedupe_key for job in many] == ["receipt-1", "receipt-3", "receipt-3"]
    assert len(await jobs_of(app)) == 4


async def test_an_exclusive_name_is_made_of_the_arguments(app: Drumbeat) -> None:
    @app.task(exclusive="account-{account}", on_conflict="wait")
    async def bill(account: int) -> None: ...

    @app.task(exclusive="{{account}}")
    async def other(account: int) -> None: ...

    keys = [(await task.submit(7)).spec.limits[0].key for task in (bill, other)]
    assert keys == ["exclusive:account-7", "exclusive:{account}"]


@pytest.mark.parametrize("option", ["key", "exclusive", "dedupe_key", "dedupe_scope"])
def test_a_template_of_an_unknown_parameter_is_refused_with_those_that_there_are(
    app: Drumbeat, option: str
) -> None:
    options: Any = {option: "order-{oder}"}

    def receipt(ctx: Context, order: int, shop: str, *more: str) -> None: ...

    with pytest.raises(InvalidOption, match=rf"{option} .*'receipt' names 'oder'.*order, shop "):
        app.task(**options)(receipt)
    options[option] = "{more}"
    with pytest.raises(InvalidOption, match="names 'more'"):
        app.task(**options)(receipt)
    options[option] = "{order.__class__}"
    with pytest.raises(InvalidOption, match=f"{option} of task 'receipt'.*only a whole argument"):
        app.scheduled(every(minutes=1), args=(1, "a"), **options)(receipt)
    assert app.tasks == frozenset()


def test_a_template_never_shows_a_secret_argument(app: Drumbeat) -> None:
    with pytest.raises(InvalidOption, match="would show the secret argument 'password'"):

        @app.task(secret=("password",), dedupe_key="login-{password}")
        def login(user: str, password: str) -> None: ...


async def test_at_a_call_only_text_that_names_a_parameter_is_a_template(app: Drumbeat) -> None:
    @app.task
    async def receipt(order_id: int) -> None: ...

    def key(job: Job) -> str | None:
        return job.spec.dedupe_key

    for text in ('{"order": 1}', "{uuid}", "{", "{{order_id}}", "plain"):
        assert key(await receipt.options(dedupe_key=text).submit(1)) == text
        by_name = TaskOptions(dedupe_key=text)
        assert key(await app.jobs.submit("receipt", (1,), options=by_name)) == text
    assert key(await receipt.options(dedupe_key="r-{order_id}").submit(5)) == "r-5"
    chained = receipt.options(dedupe_key="{u}").options(exclusive="x-{order_id}")
    job = await chained.submit(6)
    assert (key(job), job.spec.limits[0].key) == ("{u}", "exclusive:x-6")
    with pytest.raises(InvalidOption, match="only a whole argument"):
        receipt.options(dedupe_key="{order_id.__class__}")
    with pytest.raises(InvalidOption, match="names 'oder'"):
        receipt.options(dedupe_key="{order_id}-{oder}")


async def test_a_schedule_that_is_triggered_with_other_arguments_has_their_names(
    app: Drumbeat,
) -> None:
    @app.task(key="{shop}", dedupe_key="report-{shop}")
    async def report(shop: str) -> None: ...

    stored = await app.schedules.put("daily", "@daily", report, args=("a",))
    assert stored.schedule.job.dedupe_key == "report-a"
    job = await app.schedules.trigger("daily", ("b",))
    assert (job.spec.dedupe_key, job.spec.limits[0].key) == ("report-b", "key:report:b")
    await app.schedules.put("daily", "@daily", report, args=("a",), dedupe_key="mine-{shop}")
    job = await app.schedules.trigger("daily", ("c",))
    assert (job.spec.dedupe_key, job.spec.limits[0].key) == ("mine-a", "key:report:c")
