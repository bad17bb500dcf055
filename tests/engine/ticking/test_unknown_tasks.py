"""After a rollback: schedules whose task no node knows are named, counted and bounded."""

from __future__ import annotations

from datetime import timedelta

from drumbeat import Drumbeat, JobFilter, PageRequest, Status, every
from drumbeat.model.events import SchedulesUnknown
from drumbeat.model.schedules.plan import SkipReason
from drumbeat.rules.planning.stranded_jobs import MOST_STRANDED
from drumbeat.testing.clock import START
from tests.engine.support.fleet import Fleet, Heard, fired, ledger, skipped

SECOND = timedelta(seconds=1)


def older(fleet: Fleet) -> tuple[Drumbeat, Heard]:
    """The code before `newer` was written."""
    app = fleet.app()

    @app.task
    async def known() -> None: ...

    return app, Heard(app)


def newer(fleet: Fleet) -> Drumbeat:
    app = fleet.app()

    @app.task
    async def known() -> None: ...

    @app.scheduled(every(seconds=1), overlap="allow", misfire="all")
    async def newer() -> None: ...

    return app


async def test_a_node_names_the_schedules_whose_task_it_does_not_know(fleet: Fleet) -> None:
    app = newer(fleet)
    heard = Heard(app)
    async with fleet.running(app):
        await app.schedules.put("by-hand", every(hours=1), "newer")
        await fleet.clock.advance(5)
        assert heard.of(SchedulesUnknown) == []
    rolled_back, heard = older(fleet)
    async with fleet.running(rolled_back):
        await fleet.clock.advance(2 * 3600)
        assert heard.of(SchedulesUnknown) == [SchedulesUnknown(("newer",), 1)], "told once"
        await rolled_back.schedules.remove("newer")
        await fleet.clock.advance(3601)
        assert heard.of(SchedulesUnknown)[1:] == [SchedulesUnknown((), 0)]


async def test_jobs_that_no_node_can_run_do_not_pile_up(fleet: Fleet) -> None:
    async with fleet.running(newer(fleet)):
        await fleet.clock.advance(5)
    app, _ = older(fleet)
    async with fleet.running(app):
        for _ in range(3 * MOST_STRANDED):
            await fleet.clock.advance(1)
        waiting = await app.jobs.list(
            JobFilter(frozenset({Status.QUEUED}), schedule="newer"), PageRequest(1000)
        )
        assert MOST_STRANDED <= len(waiting.items) < MOST_STRANDED + 20
        reasons = {reason for reason, _ in skipped(await ledger(app, "newer"))}
        assert reasons == {SkipReason.UNKNOWN_TASK}
    again = newer(fleet)
    async with fleet.running(again):
        await fleet.clock.advance(30)
        last = fired(await ledger(again, "newer"))[-1]
        assert last >= START + 3 * MOST_STRANDED * SECOND, "it fires again once a node knows it"
