"""Arguments and results: what comes out is what went in, as the annotations say."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, NamedTuple, cast
from uuid import UUID

import msgspec
import pytest

from drumbeat import Context, Drumbeat, Retry, Status, Task
from drumbeat.model.errors import (
    InvalidArguments,
    InvalidHandler,
    OversizedArguments,
    UnserialisableArguments,
)
from drumbeat.model.jobs.job import ARGUMENTS_LIMIT

PATIENCE = 40.0


class Colour(Enum):
    RED = "red"


@dataclass
class Address:
    street: str
    since: date


class Order(msgspec.Struct):
    number: int
    to: Address


class Point(NamedTuple):
    x: float
    y: float


INSTANT = datetime(2030, 1, 1, 12, 30, 15, 123456, tzinfo=timezone(timedelta(hours=2)))


@pytest.fixture
async def app() -> AsyncIterator[Drumbeat]:
    app = Drumbeat("memory://")
    async with app.running():
        yield app


async def echo(app: Drumbeat, handler: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What the handler got, as a job."""
    task: Task[..., Any] = app.task(retry=Retry.never())(handler)
    job = await app.jobs.wait((await task.submit(*args, **kwargs)).id, PATIENCE)
    assert job.status is Status.COMPLETED, job.error
    return task.result(job)


async def test_arguments_come_back_as_annotated(app: Drumbeat) -> None:
    got: list[Any] = []

    async def take(
        flag: bool,
        number: float,
        instant: datetime,
        day: date,
        length: timedelta,
        identity: UUID,
        amount: Decimal,
        colour: Colour,
        address: Address,
        order: Order,
        point: Point,
        blob: bytes,
        choice: Literal["a", "b"],
        maybe: int | None,
        many: dict[int, set[str]],
        pair: tuple[int, str],
        anything: Any,
    ) -> None:
        got.extend(locals().values())

    address = Address("Main St", date(2020, 2, 29))
    given = (
        True,
        1.5,
        INSTANT,
        date(2030, 1, 1),
        timedelta(days=1, microseconds=1),
        UUID(int=7),
        Decimal("1.10"),
        Colour.RED,
        address,
        Order(7, address),
        Point(1.0, 2.0),
        b"\x00\xff",
        "a",
        None,
        {1: {"x", "y"}},
        (1, "one"),
        {"a": [1, 2.5, None, "ä\N{PILE OF POO}\x00"]},
    )
    await echo(app, take, *given)
    assert tuple(value for value in got if value is not got) == given
    assert [type(value) for value in got[: len(given)]] == [type(value) for value in given]


async def test_results_come_back_as_annotated(app: Drumbeat) -> None:
    async def make() -> tuple[Order, Colour, datetime]:
        return Order(1, Address("x", date(2030, 1, 1))), Colour.RED, INSTANT

    assert await echo(app, make) == (Order(1, Address("x", date(2030, 1, 1))), Colour.RED, INSTANT)


async def test_a_model_of_pydantic_comes_back_as_itself(app: Drumbeat) -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("User", name=(str, ...), age=(int, 3))

    async def take(user: Any) -> Any:
        assert isinstance(user, model)
        return user

    take.__annotations__ = {"user": model, "return": model}
    user = model(name="Ada")
    assert await echo(app, take, user) == user
    task = app.task(name="other")(cast("Callable[..., Any]", take))
    with pytest.raises(InvalidArguments, match="name"):
        await task.submit({"nam": "Ada"})


async def test_every_kind_of_parameter_gets_its_own_value(app: Drumbeat) -> None:
    async def take(a: int, /, b: int = 2, *rest: int, c: int = 3, **more: int) -> Any:
        return [a, b, list(rest), c, more]

    take_task: Task[..., Any] = app.task(take)

    async def got(*args: int, **kwargs: int) -> Any:
        job = await app.jobs.wait((await take_task.submit(*args, **kwargs)).id, PATIENCE)
        return take_task.result(job)

    assert await got(1) == [1, 2, [], 3, {}]
    assert await got(1, 20) == [1, 20, [], 3, {}]
    assert await got(1, 20, 30, 40) == [1, 20, [30, 40], 3, {}]
    assert await got(1, c=30) == [1, 2, [], 30, {}]
    assert await got(1, b=20, d=4) == [1, 20, [], 3, {"d": 4}]


async def test_a_default_that_is_left_out_does_not_move_the_others(app: Drumbeat) -> None:
    async def keyword_only(a: int = 1, b: int = 2, *, c: int = 3) -> Any:
        return [a, b, c]

    async def plain(a: int = 1, b: int = 2) -> Any:
        return [a, b]

    assert await echo(app, keyword_only, b=20) == [1, 20, 3]
    assert await echo(app, plain, b=20) == [1, 20]


async def test_a_default_that_json_cannot_carry_is_the_handlers_own_business(
    app: Drumbeat,
) -> None:
    async def take(ctx: Context, number: int, factory: Any = list) -> Any:
        return [number, factory is list]

    assert await echo(app, take, 3) == [3, True]


async def test_a_mapping_of_arguments_may_be_submitted_by_name(app: Drumbeat) -> None:
    @app.task
    async def add(a: int, b: int = 2) -> int:
        return a + b

    jobs = await add.submit_many([(1,), {"a": 5, "b": 6}, (7, 8)])
    assert [await app.jobs.result(job.id, PATIENCE) for job in jobs] == [3, 11, 15]


@pytest.mark.parametrize(
    ("args", "kwargs", "sentence"),
    [
        ((), {}, "missing a required argument: 'name'"),
        (("Ada", 1, 2), {}, "too many positional arguments"),
        (("Ada",), {"tmies": 2}, "unexpected keyword argument 'tmies'"),
        (("Ada", "twice"), {}, "times"),
        ((3,), {}, "name"),
        (("Ada", 1.5), {}, "times"),
        (("Ada", math.nan), {}, "times"),
    ],
)
async def test_arguments_that_do_not_fit_are_refused_when_they_are_submitted(
    app: Drumbeat, args: tuple[Any, ...], kwargs: dict[str, Any], sentence: str
) -> None:
    @app.task
    async def greet(name: str, times: int = 1) -> None: ...

    pattern = rf"task 'greet': .*{sentence}.*it takes \(name: str, times: int = 1\)"
    with pytest.raises(InvalidArguments, match=pattern):
        await greet.submit(*args, **kwargs)
    with pytest.raises(InvalidArguments):
        await app.jobs.submit("greet", args, kwargs)
    assert (await app.jobs.list()).items == ()


async def test_one_bad_call_of_many_submits_none(app: Drumbeat) -> None:
    @app.task
    async def greet(name: str) -> None: ...

    with pytest.raises(InvalidArguments):
        await greet.submit_many([("Ada",), (7,), ("Bob",)])
    assert (await app.jobs.list()).items == ()


async def test_arguments_that_json_cannot_carry_are_refused_by_name(app: Drumbeat) -> None:
    async def handler(first: object, second: object = None) -> None: ...

    take = app.task(name="take")(cast("Callable[..., None]", handler))
    loop: list[Any] = []
    loop.append(loop)
    for value in (object(), {"deep": [lambda: None]}, loop, {(1, 2): 3}):
        with pytest.raises(UnserialisableArguments, match="argument 'second' of task 'take'"):
            await take.submit(1, value)


async def test_arguments_above_the_limit_are_refused_with_the_way_out(app: Drumbeat) -> None:
    @app.task
    async def take(text: str) -> None: ...

    room = ARGUMENTS_LIMIT - len('{"text":""}')
    await take.submit("x" * room)
    with pytest.raises(OversizedArguments, match=r"262,145 bytes.*262,144.*reference") as refused:
        await take.submit("x" * (room + 1))
    assert (refused.value.size, refused.value.limit) == (ARGUMENTS_LIMIT + 1, ARGUMENTS_LIMIT)


class Opaque:
    """A class that JSON knows nothing of."""


async def test_a_value_for_a_class_that_json_cannot_read_is_refused_as_an_argument(
    app: Drumbeat,
) -> None:
    @app.task
    async def take(thing: Opaque) -> None: ...

    for value in (Opaque(), {"a": 1}, 3):
        with pytest.raises((UnserialisableArguments, InvalidArguments), match="task 'take'"):
            await take.submit(value)  # type: ignore[arg-type]


def test_a_union_that_cannot_be_told_apart_is_refused_when_registered() -> None:
    app = Drumbeat("memory://")

    def take(value: Address | Order) -> None: ...

    with pytest.raises(InvalidHandler, match="'take' has an annotation that JSON cannot carry"):
        app.task(take)


async def test_large_and_odd_numbers_survive(app: Drumbeat) -> None:
    async def take(big: int, small: float, negative: int) -> Any:
        return [big == 2**63, small == 5e-324, negative == -(2**63)]

    assert await echo(app, take, 2**63, 5e-324, -(2**63)) == [True, True, True]


async def test_instants_keep_their_moment(app: Drumbeat) -> None:
    async def take(at: datetime) -> str:
        return at.astimezone(UTC).isoformat()

    assert await echo(app, take, INSTANT) == "2030-01-01T10:30:15.123456+00:00"
