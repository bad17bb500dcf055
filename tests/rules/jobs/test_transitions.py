"""The table of status changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from drumbeat.model.errors import IllegalChange
from drumbeat.model.jobs.job import Change, Status
from drumbeat.rules.jobs.transitions import (
    LEGAL,
    SETTLING,
    UNCOUNTED,
    after,
    allows,
    settled,
    waiting,
)

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(("before", "change"), list(product(Status, Change)))
def test_every_pair_is_either_in_the_table_or_refused(before: Status, change: Change) -> None:
    if (before, change) in LEGAL:
        assert allows(before, change)
        assert after(before, change) is LEGAL[before, change]
    else:
        assert not allows(before, change)
        with pytest.raises(IllegalChange) as refused:
            after(before, change)
        assert (refused.value.before, refused.value.change) == (before, change)


def test_the_table_allows_twelve_changes_and_no_more() -> None:
    assert len(LEGAL) == 12


def test_a_completed_job_stays_completed() -> None:
    assert not any(allows(Status.COMPLETED, change) for change in Change)


def test_only_a_person_moves_a_job_out_of_a_final_status() -> None:
    assert {change for before, change in LEGAL if before.final} == {Change.REOPEN}


def test_only_a_running_job_ends_by_itself() -> None:
    ends = {(before, change) for (before, change), to in LEGAL.items() if to.final}
    assert {before for before, change in ends if change is not Change.CANCEL} == {Status.RUNNING}


def test_every_status_can_be_reached() -> None:
    assert set(LEGAL.values()) | {Status.PENDING, Status.QUEUED} == set(Status)


def test_a_settlement_may_ask_for_six_changes_of_which_two_are_not_counted() -> None:
    assert {change.name for change in SETTLING} == {
        "COMPLETE",
        "RETRY",
        "SNOOZE",
        "GIVE_BACK",
        "FAIL",
        "CANCEL",
    }
    assert UNCOUNTED < SETTLING


@pytest.mark.parametrize(
    ("ahead", "status"),
    [
        (timedelta(microseconds=1), Status.PENDING),
        (timedelta(0), Status.QUEUED),
        (timedelta(microseconds=-1), Status.QUEUED),
    ],
)
def test_a_job_waits_for_its_time_until_that_has_come(ahead: timedelta, status: Status) -> None:
    assert waiting(NOON + ahead, NOON) is status


@pytest.mark.parametrize("change", sorted(SETTLING))
def test_a_job_that_is_to_be_cancelled_ends_and_does_not_wait_again(change: Change) -> None:
    assert settled(change, cancel_requested=False) is change
    ended = settled(change, cancel_requested=True)
    assert after(Status.RUNNING, ended).final
    if after(Status.RUNNING, change).final:
        assert ended is change
