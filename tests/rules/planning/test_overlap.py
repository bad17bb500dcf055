"""Which ticks fire while an earlier job is unfinished."""

from __future__ import annotations

from itertools import product

import pytest

from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import FINAL, Status
from drumbeat.model.schedules.policy import Overlap
from drumbeat.model.schedules.schedule import Previous
from drumbeat.rules.planning.overlap import firing

WAITING = (Status.PENDING, Status.QUEUED)
FREE = (None, *sorted(FINAL))
UNFINISHED = (*WAITING, Status.RUNNING)

TABLE = [
    *[(Overlap.SKIP, status, [1, 1, 1], "the first alone fires") for status in FREE],
    *[(Overlap.SKIP, status, [0, 0, 0], "none fires") for status in UNFINISHED],
    *[(Overlap.QUEUE_ONE, status, [1, 2, 2], "one works, one waits") for status in FREE],
    (Overlap.QUEUE_ONE, Status.RUNNING, [1, 1, 1], "one may wait behind it"),
    *[(Overlap.QUEUE_ONE, status, [0, 0, 0], "one waits already") for status in WAITING],
    *[(Overlap.ALLOW, status, [1, 2, 3], "all fire") for status in (*FREE, *UNFINISHED)],
]


def previous(status: Status | None) -> Previous | None:
    return None if status is None else Previous(JobId(1), status, None)


@pytest.mark.parametrize(
    ("policy", "status", "counts"),
    [pytest.param(*row[:3], id=f"{row[0]} after {row[1]}: {row[3]}") for row in TABLE],
)
def test_the_first_of_one_two_or_three_ticks_that_fire(
    policy: Overlap, status: Status | None, counts: list[int]
) -> None:
    assert [firing(policy, previous(status), due) for due in (1, 2, 3)] == [
        range(count) for count in counts
    ]


@pytest.mark.parametrize("status", [*FREE, *UNFINISHED])
def test_replace_fires_the_last_tick_alone(status: Status | None) -> None:
    for due in (1, 2, 3):
        assert list(firing(Overlap.REPLACE, previous(status), due)) == [due - 1]


@pytest.mark.parametrize(
    ("policy", "status"), list(product(Overlap, (None, Status.RUNNING, Status.QUEUED)))
)
def test_of_no_ticks_none_fires(policy: Overlap, status: Status | None) -> None:
    assert len(firing(policy, previous(status), 0)) == 0
