"""A Django project under load, whose PostgreSQL is killed and restarted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from drumbeat import Drumbeat, JobFilter, PageRequest, Status
from drumbeat.model.jobs.job import Job
from servers import Postgres
from tests.django.project import Project
from tests.support.postgres_namespace import ask

ORDERS = 1_000


@pytest.mark.timeout(480)
async def test_a_restarted_database_costs_retries_and_no_job(tmp_path: Path) -> None:
    with Postgres.start() as server:
        project = Project(tmp_path, POSTGRES_PORT=str(server.port))
        project.manage("migrate", "-v0")
        project.manage("drumbeat", "db", "migrate")
        with (
            project.managing("drumbeat", "run", "--concurrency", "8") as worker,
            project.managing("place_orders", str(ORDERS)) as shop,
        ):
            worker.says("Scheduler started successfully")
            for mark in ("placed 200", "placed 600"):
                shop.says(mark)
                server.kill()
                server.start_again()
            shop.says("done: ")
            app = Drumbeat(server.address, environment={})
            async with app.connected():
                await app.wait_until_idle(180)
                jobs = await _all_jobs(app)
        orders = ask(server.address, "SELECT id FROM shop_order ORDER BY id")
        receipts = ask(server.address, "SELECT order_id FROM shop_receipt ORDER BY order_id")
    placed = len(orders)
    assert ORDERS <= placed <= ORDERS + 2  # the answer to a commit may be lost at each restart
    assert receipts == orders
    assert Counter(job.task for job in jobs) == {"send_receipt": placed, "count_orders": placed}
    assert {job.status for job in jobs} == {Status.COMPLETED}, [job.error for job in jobs[-3:]]
    attempts = Counter(job.attempt for job in jobs)
    assert max(attempts) <= 3, attempts  # at most one more for each restart
    assert attempts[1] > ORDERS, attempts  # and only the jobs that were running


async def _all_jobs(app: Drumbeat) -> list[Job]:
    jobs: list[Job] = []
    page = PageRequest(1000)
    while True:
        found = await app.jobs.list(JobFilter(), page)
        jobs += found.items
        if found.next is None:
            return jobs
        page = PageRequest(1000, found.next)
