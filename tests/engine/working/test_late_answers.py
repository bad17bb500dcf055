"""Late answers: a claim may be over when a node that slept reads the answer to it."""

from drumbeat import Context, Drumbeat, Status
from tests.engine.support.fleet import Fault, Fleet


async def test_a_claim_that_is_heard_of_too_late_starts_nothing(
    fleet: Fleet, app: Drumbeat
) -> None:
    runs: list[int] = []

    @app.task
    async def work(ctx: Context) -> None:
        runs.append(ctx.fence)

    async with fleet.running(app):
        beat = Fault(fleet.store.nodes, "beat").always("before")
        take = Fault(fleet.store.jobs, "take").hang()
        job = await work.submit()
        await fleet.clock.advance("1m")
        assert take.hanging.is_set()
        take.heal()
        await fleet.clock.settle()
        # Nobody has heard of this node for a minute: another may have the job by now.
        assert runs == []
        beat.heal()
        done = await fleet.done(app, job, "1m")
        assert done.status is Status.COMPLETED
        assert runs == [2]
