"""Metrics move when they should, and only then."""

from __future__ import annotations

import asyncio
import builtins
import sys
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from prometheus_client import Counter

from drumbeat import Drumbeat, Retry, cron
from drumbeat.extras import install_command
from drumbeat.model.errors import ConfigurationError, Unavailable
from drumbeat.model.events import AttemptCompleted, JobSubmitted, LeaderEvicted, NodeVanished
from drumbeat.model.fleet.node import Beat, Node, NodeMetrics, NodeRecord, Role
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Change, JobSpec, Limit, OnConflict, Settlement, Wanted
from drumbeat.model.schedules.plan import SkipReason
from drumbeat.telemetry.counters import MOST_NAMES, LabelNames
from drumbeat.telemetry.families import FAMILIES
from drumbeat.telemetry.instruments import Instruments
from drumbeat.telemetry.metrics import Metrics
from drumbeat.testing import inside
from drumbeat.testing.clock import START, FakeClock
from drumbeat.version import VERSION

from .support import Scrape, Watched, read

MOVING = {
    "drumbeat_leader_lease_remaining_seconds",
    "drumbeat_store_operation_seconds",
}
"""Metrics that move although nothing happens but time and looking."""


def moved(before: Scrape, after: Scrape) -> set[str]:
    """The metrics of which a sample changed, came or went."""
    names: set[str] = set()
    for one, other in ((before, after), (after, before)):
        for name, family in one.families.items():
            samples = [(each.name, each.labels, each.value) for each in family.samples]
            other_family = other.families[name]
            others = [(each.name, each.labels, each.value) for each in other_family.samples]
            names |= {name} if samples != others else set()
    return names - MOVING


async def test_every_metric_has_its_help_and_its_type_from_the_start(watched: Watched) -> None:
    text = (await watched.scrape()).text
    for family in FAMILIES:
        assert f"# HELP {family.name} " in text
        assert f"# TYPE {family.name} {family.kind}\n" in text
    assert text.count("# TYPE") == len(FAMILIES)


async def test_nothing_moves_while_nothing_happens(watched: Watched) -> None:
    await watched.app.start()
    before = await watched.later(60)
    assert moved(before, await watched.later(60)) == set()


async def test_deaths_that_a_witness_showed_are_counted(watched: Watched) -> None:
    bus = inside.setup(watched.app).bus
    before = await watched.scrape()
    bus.emit(LeaderEvicted("scheduler", NodeId("here"), NodeId("dead"), 7))
    bus.emit(NodeVanished(NodeId("dead")))
    bus.emit(NodeVanished(NodeId("dead-too")))
    after = await watched.scrape()
    for role, count in (("leader", 1), ("node", 2)):
        assert before.get("drumbeat_deaths_noticed_total", role=role) == 0
        assert after.get("drumbeat_deaths_noticed_total", role=role) == count


async def test_a_leader_shows_its_term(watched: Watched) -> None:
    assert (await watched.scrape()).get("drumbeat_leader_status") == 0
    await watched.app.start()
    leading = await watched.later()
    assert leading.get("drumbeat_leader_status") == 1
    assert leading.get("drumbeat_leader_epoch") == 1
    assert leading.get("drumbeat_leader_transitions_total") == 1
    assert 0 < (leading.get("drumbeat_leader_lease_remaining_seconds") or 0) <= 10
    watched.app.leadership.resign()
    await watched.clock.advance(0.5)
    after = await watched.scrape()
    assert after.get("drumbeat_leader_status") == 0
    assert after.get("drumbeat_leader_epoch") == 0
    assert after.get("drumbeat_leader_lease_remaining_seconds") == 0
    assert after.get("drumbeat_leader_transitions_total") == 2


async def test_ticks_are_counted_by_what_became_of_them(watched: Watched) -> None:
    app = watched.app

    @app.scheduled(cron("* * * * *"))
    async def beat() -> None: ...

    await app.start()
    before = await watched.later(1)
    assert before.get("drumbeat_schedule_ticks_total", outcome="fired") == 0
    after = await watched.later(60)
    assert after.get("drumbeat_schedule_ticks_total", outcome="fired") == 1
    assert after.get("drumbeat_schedule_lag_seconds_count") == 1
    assert moved(before, after) == {
        "drumbeat_schedule_ticks",
        "drumbeat_schedule_lag_seconds",
        "drumbeat_jobs",
        "drumbeat_queue_oldest_age_seconds",
        "drumbeat_jobs_submitted",
        "drumbeat_jobs_finished",
        "drumbeat_job_wait_seconds",
        "drumbeat_job_run_seconds",
    }
    await app.schedules.pause("beat")
    paused = await watched.later(180)
    assert paused.get("drumbeat_schedule_ticks_total", outcome="fired") == 1
    assert paused.get("drumbeat_schedule_ticks_total", outcome="paused") == 3
    assert paused.sum("drumbeat_schedule_ticks_total") == 4


async def test_a_late_tick_shows_how_late_it_was(watched: Watched) -> None:
    app = watched.app

    @app.scheduled(cron("0 * * * *"))
    async def beat() -> None: ...

    await app.start()
    await watched.clock.advance(60)
    await watched.stop()
    await watched.clock.advance(3600)  # nobody was there when it was due
    await app.start()
    scrape = await watched.later(1)
    assert scrape.get("drumbeat_schedule_lag_seconds_sum") == pytest.approx(60, abs=2)
    assert scrape.get("drumbeat_schedule_lag_seconds_bucket", le="30") == 0
    assert scrape.get("drumbeat_schedule_lag_seconds_bucket", le="300") == 1


async def test_a_job_that_waits_shows_for_how_long(watched: Watched) -> None:
    await watched.app.start()
    await watched.app.submit(JobSpec("send", queue="mail"))  # which nobody serves
    waiting = await watched.later(60)
    assert waiting.get("drumbeat_jobs_submitted_total", queue="mail") == 1
    assert waiting.get("drumbeat_jobs", status="queued", queue="mail") == 1
    assert waiting.get("drumbeat_queue_oldest_age_seconds", queue="mail") == 60
    assert waiting.sum("drumbeat_job_wait_seconds_count") == 0


async def test_a_job_that_runs_and_ends_is_counted_once(watched: Watched) -> None:
    app, go = watched.app, asyncio.Event()

    @app.task
    async def send() -> None:
        await go.wait()

    job = await send.options(delay=30).submit()
    await app.start()
    running = await watched.later(36)
    assert running.get("drumbeat_worker_slots") == 10
    assert running.get("drumbeat_worker_slots_busy") == 1
    assert running.get("drumbeat_jobs", status="running", queue="default") == 1
    assert running.get("drumbeat_queue_oldest_age_seconds", queue="default") == 0
    assert running.get("drumbeat_job_wait_seconds_count", task="send") == 1
    assert (running.get("drumbeat_job_wait_seconds_sum", task="send") or 0) < 2
    assert running.sum("drumbeat_jobs_finished_total") == 0
    go.set()
    await watched.clock.until(app.jobs.wait(job.id))
    ended = await watched.later()
    assert ended.get("drumbeat_worker_slots_busy") == 0
    assert ended.get("drumbeat_jobs_finished_total", outcome="completed", queue="default") == 1
    assert ended.sum("drumbeat_jobs_finished_total") == 1
    assert ended.get("drumbeat_job_run_seconds_count", task="send") == 1
    assert ended.get("drumbeat_job_run_seconds_sum", task="send") == pytest.approx(6, abs=1)
    assert ended.get("drumbeat_job_wait_seconds_count", task="send") == 1
    assert ended.get("drumbeat_jobs", status="completed", queue="default") == 1
    assert ended.get("drumbeat_jobs", status="running", queue="default") == 0


async def test_a_retry_is_another_run_of_the_same_job(watched: Watched) -> None:
    app = watched.app

    @app.task(retry=Retry.linear(2, 10.0))
    async def fail() -> None:
        raise ValueError

    await app.start()
    job = await fail.submit()
    await watched.clock.until(app.jobs.wait(job.id))
    scrape = await watched.later()
    assert scrape.get("drumbeat_job_run_seconds_count", task="fail") == 3
    assert scrape.get("drumbeat_job_wait_seconds_count", task="fail") == 1
    assert scrape.get("drumbeat_jobs_finished_total", outcome="failed", queue="default") == 1
    assert scrape.sum("drumbeat_jobs_finished_total") == 1


async def test_a_duplicate_is_not_submitted(watched: Watched) -> None:
    app = watched.app
    await app.submit(JobSpec("send", dedupe_key="k"))
    await app.submit(JobSpec("send", dedupe_key="k"))
    scrape = await watched.scrape()
    assert scrape.get("drumbeat_jobs_submitted_total", queue="default") == 1


@pytest.mark.parametrize(
    ("on_conflict", "outcome"), [(OnConflict.CANCEL, "cancelled"), (OnConflict.SKIP, "skipped")]
)
async def test_a_job_that_finds_its_place_taken_is_counted_as_what_its_limit_says(
    watched: Watched, on_conflict: OnConflict, outcome: str
) -> None:
    app, go = watched.app, asyncio.Event()

    @app.task
    async def send() -> None:
        await go.wait()

    await app.start()
    one = (Limit("exclusive:door", 1, on_conflict),)
    await app.submit(JobSpec("send", limits=one))
    await watched.clock.settle()
    await app.submit(JobSpec("send", limits=one))
    scrape = await watched.later()
    assert scrape.get("drumbeat_jobs_finished_total", outcome=outcome, queue="default") == 1
    counted = [
        value for name, _, value in scrape.samples() if name == "drumbeat_jobs_finished_total"
    ]
    assert counted == [1]
    go.set()


async def test_the_job_of_a_dead_node_is_counted_by_whoever_reaps_it(watched: Watched) -> None:
    app = watched.app

    @app.task
    async def send() -> None: ...

    await app.start()
    job = await app.submit(JobSpec("gone", retry=Retry.never()))
    wanted = Wanted(("default",), frozenset({"gone"}), 1)
    await watched.kept.jobs.take(wanted, NodeId("dead:1"))
    await watched.clock.until(app.jobs.wait(job.id))
    scrape = await watched.later()
    assert scrape.get("drumbeat_jobs_finished_total", outcome="failed", queue="default") == 1


async def test_the_skew_of_the_clocks_is_shown() -> None:
    watched = Watched(skew=timedelta(seconds=3))
    assert (await watched.scrape()).get("drumbeat_clock_skew_seconds") == 3


async def test_the_version_is_shown(watched: Watched) -> None:
    assert (await watched.scrape()).get("drumbeat_build_info", version=VERSION) == 1


async def test_tasks_and_queues_beyond_the_first_hundreds_share_a_label(watched: Watched) -> None:
    app = watched.app
    await app.jobs.counts()
    store = watched.metrics.timed_store(watched.kept)
    await store.jobs.insert([JobSpec(f"t{n}", queue=f"q{n}") for n in range(250)])
    scrape = await watched.scrape()
    assert scrape.get("drumbeat_jobs_submitted_total", queue="other") == 50
    assert scrape.sum("drumbeat_jobs_submitted_total") == 250
    assert scrape.get("drumbeat_jobs", status="queued", queue="other") == 50
    assert scrape.sum("drumbeat_jobs", status="queued") == 250
    tasks = frozenset(f"t{n}" for n in range(250))
    await store.jobs.take(Wanted(tuple(f"q{n}" for n in range(250)), tasks, 250), NodeId("n:1"))
    scrape = read(watched.metrics.text()[0].decode())
    assert scrape.get("drumbeat_job_wait_seconds_count", task="other") == 50
    assert scrape.sum("drumbeat_job_wait_seconds_count") == 250


async def test_open_metrics_is_given_to_those_who_accept_it(watched: Watched) -> None:
    body, kind = watched.metrics.text("application/openmetrics-text; version=1.0.0, text/plain")
    assert kind.startswith("application/openmetrics-text; version=1.0.0")
    assert body.endswith(b"# EOF\n")
    body, kind = watched.metrics.text("text/html, */*")
    assert kind.startswith("text/plain; version=0.0.4")
    assert b"# EOF" not in body


async def test_two_apps_share_no_figure() -> None:
    one, other = Watched(), Watched()
    await one.app.submit(JobSpec("send"))
    assert (await one.scrape()).sum("drumbeat_jobs_submitted_total") == 1
    assert (await other.scrape()).sum("drumbeat_jobs_submitted_total") == 0


async def test_an_app_may_add_metrics_of_its_own(watched: Watched) -> None:
    Counter("shop_orders", "Orders.", registry=watched.metrics.registry).inc()
    assert (await watched.scrape()).get("shop_orders_total") == 1


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refusing(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] == "prometheus_client":
            raise ModuleNotFoundError(name=name)
        return real(name, *args, **kwargs)

    # Whether it was imported before depends on which tests this process has run.
    monkeypatch.delitem(sys.modules, "drumbeat.telemetry.exposition", raising=False)
    monkeypatch.setattr(builtins, "__import__", refusing)
    with pytest.raises(ConfigurationError) as refused:
        Metrics(FakeClock())
    assert str(refused.value) == f"HTTP and metrics need the extra api: {install_command('api')}"


async def test_the_summary_has_the_fields_of_a_fleet_at_a_glance(watched: Watched) -> None:
    app, go = watched.app, asyncio.Event()

    @app.task
    async def send() -> None:
        await go.wait()

    @app.task(retry=Retry.never())
    async def fail() -> None:
        raise ValueError

    assert watched.metrics.summary()["queued_jobs"] is None
    await app.submit(JobSpec("send", run_at=START + timedelta(days=1)))
    await app.submit(JobSpec("unknown"))
    await app.start()
    await fail.submit()
    await send.submit()
    await watched.later()
    summary = watched.metrics.summary()
    assert summary == {
        "timestamp": int(watched.clock.now().timestamp()),
        "pending_jobs": 1,
        "queued_jobs": 1,
        "running_jobs": 1,
        "completed_jobs": 0,
        "failed_jobs": 1,
        "jobs_dispatched": 2,
        "last_dispatch": int(START.timestamp()),
    }
    go.set()


async def test_a_node_that_runs_nothing_knows_when_another_claimed_a_job(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    await watched.app.submit(JobSpec("send"))
    await watched.scrape()
    assert watched.metrics.summary()["last_dispatch"] is None
    wanted = Wanted(("default",), frozenset({"send"}), 1)
    taken = await watched.kept.jobs.take(wanted, NodeId("other:1"))
    await watched.kept.jobs.settle([Settlement(taken.attempts[0].hold, Change.COMPLETE)])
    claimed_at = taken.attempts[0].started_at
    metrics = NodeMetrics(claimed=1, completed=1, last_claim_at=claimed_at)
    other = Node(NodeId("other:1"), frozenset({Role.WORKER}), "1", START, metrics=metrics)
    await watched.kept.nodes.beat(Beat(other, lifetime=1.0))
    await watched.later()  # by then that node is gone, and the time of its claim is not
    summary = watched.metrics.summary()
    assert (summary["jobs_dispatched"], summary["completed_jobs"]) == (1, 1)
    assert summary["last_dispatch"] == int(claimed_at.timestamp())
    assert claimed_at < watched.clock.now()

    async def away() -> Sequence[NodeRecord]:
        raise Unavailable("the store is away")

    async def pruned() -> Sequence[NodeRecord]:
        return ()

    for listed, completed in ((away, None), (pruned, 1)):
        monkeypatch.setattr(watched.app.store.nodes, "list", listed)
        await watched.later()
        summary = watched.metrics.summary()
        assert summary["completed_jobs"] == completed
        assert summary["last_dispatch"] == int(claimed_at.timestamp())


def test_all_reasons_to_skip_a_tick_are_outcomes() -> None:
    instruments = Instruments()
    outcomes = {labels[0] for labels, _ in instruments.ticks.items()}
    assert outcomes == {"fired"} | {reason.value for reason in SkipReason}


def test_without_metrics_nobody_hears_of_jobs() -> None:
    bus = inside.setup(Drumbeat("memory://", environment={})).bus
    assert not bus.hears(JobSubmitted)
    watched = inside.setup(Watched().app).bus
    assert watched.hears(AttemptCompleted)
    assert not watched.hears(JobSubmitted)


async def test_a_served_queue_keeps_its_label_whatever_names_data_invents(watched: Watched) -> None:
    for number in range(MOST_NAMES + 50):
        await watched.app.submit(JobSpec("send", queue=f"a{number:03}"))
    mail = Node(NodeId("worker-1"), frozenset({Role.WORKER}), "1", START, 1, queues=("mail",))
    await watched.kept.nodes.beat(Beat(mail, 60.0))
    await watched.app.submit(JobSpec("send", queue="mail"))
    scrape = await watched.later()
    assert scrape.get("drumbeat_jobs", status="queued", queue="mail") == 1
    assert scrape.sum("drumbeat_jobs", status="queued", queue="other") == 50
    await watched.app.submit(JobSpec("send", queue="mail"))
    scrape = await watched.scrape()
    assert scrape.get("drumbeat_jobs_submitted_total", queue="mail") == 1  # since it is known


def test_reserved_names_get_labels_beside_the_invented() -> None:
    names = LabelNames(most=2)
    names.reserve(["real"])
    assert [names.of(each) for each in ("a", "b", "c", "real")] == ["a", "b", "other", "real"]
    names.reserve([])
    assert names.of("real") == "real"
    assert names.of("d") == "other"
