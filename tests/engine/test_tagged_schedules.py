"""Schedules are found by the tags of their jobs."""

from __future__ import annotations

from drumbeat import Drumbeat
from drumbeat.model.page import PageRequest
from tests.engine.support.fleet import Fleet


async def test_a_page_of_the_schedules_with_a_tag_continues_where_it_ended(app: Drumbeat) -> None:
    @app.task
    async def work() -> None: ...

    for number in range(9):
        tags = ("billing",) if number % 3 == 0 else ()
        await app.schedules.put(f"s{number}", "0 * * * *", work, tags=tags)
    names: list[str] = []
    after: str | None = None
    while True:
        page = await app.schedules.list(PageRequest(2, after), tag="billing")
        assert len(page.items) <= 2
        names += [each.name for each in page.items]
        after = page.next
        if after is None:
            break
    assert names == ["s0", "s3", "s6"]
    assert [each.name for each in await app.schedules.tagged("billing")] == names
    assert await app.schedules.tagged("mail") == []


async def test_a_declared_schedule_has_the_tags_of_its_decorator(
    fleet: Fleet, app: Drumbeat
) -> None:
    @app.scheduled("0 * * * *", tags=("billing",))
    async def invoices() -> None: ...

    async with fleet.running(app):
        assert [each.name for each in await app.schedules.tagged("billing")] == ["invoices"]
