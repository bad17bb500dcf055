"""Each check finds the violation that is planted in a good history, which itself passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from chaos.checks import CHECKS, violations
from chaos.failovers import KILLED, bound, failovers, promised
from chaos.history import (
    Ending,
    Fault,
    Fire,
    Gain,
    History,
    Kind,
    Life,
    Run,
    StoredJob,
    Submissions,
    Term,
)
from drumbeat.model.jobs.job import Status

MIDNIGHT = datetime(2026, 1, 1, tzinfo=UTC)
ONE, TWO = "node-1:aa", "node-2:bb"
TICKS = [MIDNIGHT + timedelta(seconds=second) for second in range(1, 7)]
SUBMITTED = 100
"""The id of the first job that the client submitted."""


def fire(number: int) -> Fire:
    """The row of a tick: node-1 fires the first three, node-2 the others."""
    leader, epoch = (ONE, 1) if number < 3 else (TWO, 2)
    recorded_at = TICKS[number] + timedelta(milliseconds=20 if number != 3 else 700)
    return Fire("beat", TICKS[number], recorded_at, leader, epoch, job_id=number)


def good_history() -> History:
    """node-1 is killed in its third second, and node-2 leads after it."""
    ticks = range(len(TICKS))
    ran = [Run("node-2", n + 1.1, "beat", TICKS[n], n, 1) for n in ticks]
    work = [Run("node-2", 2.0, f"job-{n}", None, SUBMITTED + n, 1) for n in range(2)]
    return History(
        pair="postgres",
        seed=1,
        ttl=2.0,
        longest_term=2.0,
        began_at=MIDNIGHT,
        seconds=8.0,
        nodes=("node-1", "node-2"),
        servers=("postgres",),
        due={"beat": TICKS},
        ledger=[fire(number) for number in ticks],
        lives=[Life("node-1", -1.0, 3.2), Life("node-2", -1.0, 8.0)],
        terms=[Term("node-1", 1, -0.5, 3.2), Term("node-2", 2, 4.5, 8.0)],
        gains=[Gain(ONE, 1, -0.5), Gain(TWO, 2, 4.5)],
        runs=[*ran, *work],
        endings=[
            Ending("node-2", run.at, run.job_id, run.fence, Status.COMPLETED)
            for run in (*ran, *work)
        ],
        jobs=[
            *(
                StoredJob(n, "beat", Status.COMPLETED, 1, schedule="beat", tick_at=TICKS[n])
                for n in ticks
            ),
            *(StoredJob(SUBMITTED + n, "work", Status.COMPLETED, 1, number=n) for n in range(2)),
        ],
        submissions=Submissions({0: SUBMITTED, 1: SUBMITTED + 1}, (frozenset({7, 8}),)),
        faults=[Fault(Kind.KILL, "node-1", 3.2, 5.0)],
    )


Change = Callable[[History], History]


def without_fire(number: int) -> Change:
    return lambda history: replace(
        history, ledger=[row for row in history.ledger if row != fire(number)]
    )


def with_fire(row: Fire) -> Change:
    return lambda history: replace(history, ledger=[*history.ledger, row])


def instead(number: int, row: Fire) -> Change:
    return lambda history: with_fire(row)(without_fire(number)(history))


def with_job(job: StoredJob) -> Change:
    return lambda history: replace(
        history, jobs=[job, *(each for each in history.jobs if each.id != job.id)]
    )


def with_terms(*terms: Term) -> Change:
    return lambda history: replace(history, terms=terms)


EARLY = replace(fire(1), recorded_at=TICKS[1] - timedelta(milliseconds=300))
STALE = replace(fire(4), leader=ONE, epoch=1)
NOT_DUE = replace(fire(5), tick_at=TICKS[5] + timedelta(milliseconds=500), job_id=5)
LATE_FIRE_OF_THE_FIRST = replace(fire(2), recorded_at=MIDNIGHT + timedelta(seconds=4.65))

CHANGES: list[tuple[str, str, Change]] = [
    ("no tick is lost", "a tick that never fired", without_fire(3)),
    (
        "no tick is lost",
        "a tick whose job was never run",
        lambda history: replace(
            history, runs=[run for run in history.runs if run.tick_at != TICKS[2]]
        ),
    ),
    ("no tick is doubled", "a tick that fired twice", with_fire(replace(fire(2), job_id=2))),
    ("no tick is doubled", "a fire that no trigger names", with_fire(NOT_DUE)),
    (
        "no tick is doubled",
        "a tick with two jobs",
        with_job(StoredJob(50, "beat", Status.COMPLETED, 1, schedule="beat", tick_at=TICKS[0])),
    ),
    ("no tick is early", "a fire before its time", instead(1, EARLY)),
    (
        "no tick is early",
        "a run before its time",
        lambda history: replace(history, runs=[replace(history.runs[1], at=1.6), *history.runs]),
    ),
    (
        "fired means a job",
        "a fire without a job",
        lambda history: replace(history, jobs=[job for job in history.jobs if job.id != 4]),
    ),
    ("fired means a job", "a job of a tick without a fire", without_fire(4)),
    (
        "completed at most once",
        "two accepted completions",
        lambda history: replace(
            history, endings=[*history.endings, Ending("node-1", 6.0, 2, 2, Status.COMPLETED)]
        ),
    ),
    (
        "completed at most once",
        "a completion by an old claim",
        with_job(StoredJob(2, "beat", Status.COMPLETED, 3, schedule="beat", tick_at=TICKS[2])),
    ),
    (
        "no submission is lost",
        "an acknowledged job that is still queued",
        with_job(StoredJob(SUBMITTED, "work", Status.QUEUED, 1, number=0)),
    ),
    (
        "no submission is lost",
        "an acknowledged job that is gone",
        lambda history: replace(history, jobs=[job for job in history.jobs if job.id != SUBMITTED]),
    ),
    (
        "no submission is lost",
        "a completed job that nobody ran",
        lambda history: replace(history, runs=[run for run in history.runs if run.what != "job-1"]),
    ),
    (
        "batches are whole",
        "half of a batch",
        with_job(StoredJob(120, "work", Status.COMPLETED, 1, number=7)),
    ),
    (
        "batches are whole",
        "a number with two jobs",
        with_job(StoredJob(121, "work", Status.COMPLETED, 1, number=0)),
    ),
    ("epochs never fall", "a write of epoch 1 after one of epoch 2", instead(4, STALE)),
    (
        "an epoch has one leader",
        "a node that writes in the epoch of another",
        instead(4, replace(fire(4), leader=ONE)),
    ),
    (
        "an epoch has one leader",
        "an epoch that was given twice",
        lambda history: replace(history, gains=[*history.gains, Gain(ONE, 2, 6.0)]),
    ),
    (
        "no fire by a deposed leader",
        "a write after the next epoch was accepted",
        instead(2, LATE_FIRE_OF_THE_FIRST),
    ),
    (
        "one leader at a time",
        "two nodes that would act at once",
        with_terms(Term("node-1", 1, -0.5, 5.0), Term("node-2", 2, 4.5, 8.0)),
    ),
    (
        "failover is quick",
        "nobody leads for too long",
        lambda history: replace(
            with_terms(Term("node-1", 1, -0.5, 1.0), Term("node-2", 2, 6.5, 8.0))(history),
            faults=[],
        ),
    ),
    (
        "everything settles",
        "a fleet that never became idle",
        lambda history: replace(history, unsettled=["the fleet did not become idle"]),
    ),
    (
        "no node ends by itself",
        "a node that crashed",
        lambda history: replace(history, crashes=["node-2 ended by itself with 1"]),
    ),
]


def test_a_good_history_has_no_violation() -> None:
    assert violations(good_history()) == []


@pytest.mark.parametrize(
    ("check", "change"), [pytest.param(check, change, id=name) for check, name, change in CHANGES]
)
def test_a_planted_violation_is_found(check: str, change: Change) -> None:
    assert check in {violation.check for violation in violations(change(good_history()))}


def test_every_check_has_a_planted_violation() -> None:
    checked = {check for check, _, _ in CHANGES}
    assert checked == {check.__name__.replace("_", " ") for check in CHECKS}


def test_two_leaders_are_excused_only_while_the_coordinator_recovers() -> None:
    both = with_terms(Term("node-1", 1, -0.5, 5.0), Term("node-2", 2, 4.5, 8.0))(good_history())
    emptied = Fault(Kind.EMPTY, "redis", 3.0, 4.0)
    assert violations(replace(both, faults=[emptied], forgetful="redis")) == []
    assert violations(replace(both, faults=[emptied], forgetful=None))
    long_ago = replace(emptied, since=-9.0, until=-8.0)
    assert violations(replace(both, faults=[long_ago], forgetful="redis"))


def killed_leader(*others: Fault) -> History:
    """A leader of a term of twenty seconds that is killed, and followed five seconds later."""
    history = with_terms(Term("node-1", 1, -0.5, 1.0), Term("node-2", 2, 6.0, 8.0))(good_history())
    return replace(history, faults=[Fault(Kind.KILL, "node-1", 1.0, 1.0), *others])


class TestFailovers:
    def test_a_killed_leader_is_followed_sooner_than_one_that_is_silent(self) -> None:
        (each,) = failovers(killed_leader())
        assert promised(killed_leader(), each) == KILLED
        (silent,) = failovers(replace(killed_leader(), faults=[]))
        assert promised(replace(killed_leader(), faults=[]), silent) == bound(killed_leader())

    def test_it_may_take_longer_if_something_else_was_wrong(self) -> None:
        disturbed = killed_leader(Fault(Kind.PAUSE, "node-2", 0.0, 0.5))
        (each,) = failovers(disturbed)
        assert promised(disturbed, each) == bound(disturbed)

    def test_a_failover_counts_from_the_end_of_the_term(self) -> None:
        (each,) = failovers(good_history())
        assert each.seconds == pytest.approx(1.3)

    def test_it_does_not_count_while_a_server_is_away(self) -> None:
        away = Fault(Kind.RESTART, "postgres", 3.0, 4.2)
        (each,) = failovers(replace(good_history(), faults=[away]))
        assert each.seconds == pytest.approx(0.3)

    def test_it_does_not_count_while_a_member_of_a_server_is_suspended(self) -> None:
        asleep = Fault(Kind.PAUSE, "etcd/1", 3.0, 4.2)
        (each,) = failovers(replace(good_history(), faults=[asleep]))
        assert each.seconds == pytest.approx(0.3)

    def test_it_does_not_count_while_only_workers_live(self) -> None:
        asleep = Fault(Kind.PAUSE, "node-2", 1.0, 4.0)
        history = replace(good_history(), faults=[asleep], candidates=("node-1", "node-2"))
        (each,) = failovers(replace(history, lives=[*history.lives, Life("worker-1", 0.0, 8.0)]))
        assert each.seconds == pytest.approx(0.5)

    def test_it_does_not_count_while_every_node_is_dead_or_suspended(self) -> None:
        asleep = Fault(Kind.PAUSE, "node-2", 1.0, 4.0)
        (each,) = failovers(replace(good_history(), faults=[asleep]))
        assert each.seconds == pytest.approx(0.5)

    def test_it_counts_while_the_next_leader_is_blocked(self) -> None:
        blocked = Fault(Kind.BLOCK, "node-2", 3.5, 4.3)
        history = replace(good_history(), faults=[blocked])
        (each,) = failovers(replace(history, lives=[*history.lives, Life("node-3", 0.0, 8.0)]))
        assert each.seconds == pytest.approx(1.3)

    def test_it_counts_while_one_node_could_have_led(self) -> None:
        asleep = Fault(Kind.PAUSE, "node-2", 1.0, 4.0)
        history = replace(good_history(), faults=[asleep])
        (each,) = failovers(replace(history, lives=[*history.lives, Life("node-3", 0.0, 8.0)]))
        assert each.seconds == pytest.approx(1.3)
