"""Steps that are asked of two stores, of which one is the specification."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from drumbeat.model.jobs.job import (
    Change,
    JobSpec,
    Limit,
    OnConflict,
    Rate,
)

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
TASKS = ("a", "b", "c")
QUEUES = ("x", "y")
LONG_TAG = "blue" * 50
USUAL = JobSpec("").dedupe_for

CROWDED: list[tuple[Limit, ...]] = [
    (Limit("door", 2),),
    (Limit("door", 2, OnConflict.CANCEL),),
    (Limit("door", 3, OnConflict.CANCEL), Limit("window", 2)),
    (Limit("gate", 3, OnConflict.CANCEL),),
    (Limit("gate", 2, OnConflict.SKIP), Limit("door", 3, OnConflict.CANCEL)),
    (),
]
"""Limits above one."""
SHARED: list[tuple[Limit, ...]] = [
    (),
    (Limit("door", 1),),
    (Limit("door", 2, OnConflict.CANCEL),),
]
"""Limits of several keys together."""

specs = st.builds(
    JobSpec,
    task=st.sampled_from(TASKS),
    queue=st.sampled_from(QUEUES),
    priority=st.integers(0, 2),
    delay=st.sampled_from([timedelta(0)] * 4 + [timedelta(seconds=3)]),
    tags=st.sampled_from([*[()] * 4, ("red",), ("red", LONG_TAG), (LONG_TAG + "r",)]),
    schedule=st.sampled_from([None, None, "nightly"]),
    retention=st.sampled_from([*[None] * 4, timedelta(seconds=1), timedelta(seconds=6)]),
    expires=st.sampled_from(
        [*[None] * 4, timedelta(seconds=2), timedelta(seconds=5), NOON + timedelta(seconds=6)]
    ),
    dedupe_key=st.sampled_from([None] * 5 + ["k", "l"]),
    dedupe_for=st.sampled_from([USUAL] * 4 + [timedelta(0), timedelta(seconds=4)]),
    limits=st.sampled_from(
        [
            *[()] * 4,
            (Limit("door", 1),),
            (Limit("door", 2),),
            (Limit("window", 1),),
            (Limit("door", 2), Limit("window", 1)),
            (Limit("door", 1, OnConflict.CANCEL),),
            (Limit("window", 1, OnConflict.CANCEL), Limit("door", 2)),
            (Limit("door", 2, OnConflict.CANCEL),),
            (Limit("door", 3, OnConflict.CANCEL), Limit("window", 2)),
            (Limit("door", 2, OnConflict.SKIP),),
            (Limit("window", 1, OnConflict.SKIP), Limit("door", 2, OnConflict.CANCEL)),
        ]
    ),
    rate=st.sampled_from(
        [None] * 5
        + [
            Rate("bell", 2, timedelta(seconds=4)),
            Rate("gong", 1, timedelta(seconds=3)),
            Rate("chime", 3, timedelta(seconds=2)),
        ]
    ),
)


@dataclass(frozen=True)
class Insert:
    specs: Sequence[JobSpec]


@dataclass(frozen=True)
class Take:
    queues: Sequence[str]
    tasks: Sequence[str]
    limit: int
    change: Change
    settle: int
    """How many of the attempts that are held are settled first."""
    silent: bool = False
    """Whether they end without a word, as most do."""
    backwards: bool = False
    """Whether they ended in another order than they began."""
    twice: bool = False
    """Whether the first of them is settled once more, in place of the last."""


@dataclass(frozen=True)
class Rush:
    """Many jobs that compete come at once, and claims right after them."""

    specs: Sequence[JobSpec]
    takes: Sequence[Take]


@dataclass(frozen=True)
class Cancel:
    """One of the first jobs, or of the latest if its number is negative."""

    job: int


@dataclass(frozen=True)
class Reopen:
    job: int


@dataclass(frozen=True)
class Wait:
    seconds: int


@dataclass(frozen=True)
class Prune:
    seconds: int


@dataclass(frozen=True)
class Restart:
    """The store is closed and opened again, with nothing in memory."""


@dataclass(frozen=True)
class Pause:
    queue: str


@dataclass(frozen=True)
class Resume:
    queue: str


@dataclass(frozen=True)
class Claim:
    """Of the fence."""

    token: int


@dataclass(frozen=True)
class Account:
    """An entry of the audit log, and the outcome of an earlier one."""

    actor: str
    concluded: int


@dataclass(frozen=True)
class Tokens:
    """A token is added and used, and another revoked."""

    added: str
    revoked: str


changes = st.sampled_from(
    [
        *[Change.COMPLETE] * 4,
        *(Change.RETRY, Change.SNOOZE, Change.GIVE_BACK, Change.FAIL, Change.CANCEL),
    ]
)
takes = st.builds(
    Take,
    queues=st.lists(st.sampled_from(QUEUES), min_size=1, max_size=2, unique=True),
    tasks=st.lists(st.sampled_from(TASKS), min_size=1, max_size=3, unique=True),
    limit=st.integers(0, 9),
    change=changes,
    settle=st.integers(0, 8),
    silent=st.booleans(),
    backwards=st.booleans(),
    twice=st.integers(0, 4).map(lambda number: number == 0),
)
wide_takes = st.builds(
    Take,
    queues=st.just(QUEUES),
    tasks=st.just(TASKS),
    limit=st.sampled_from([1, 2, 2, 3, 5, 9]),
    change=changes,
    settle=st.integers(0, 3),
)
alike = st.builds(JobSpec, task=st.just("a"), queue=st.just("x"))


def crowd(spec: JobSpec, limits: tuple[Limit, ...], times: int) -> list[JobSpec]:
    return [replace(spec, dedupe_key=None, limits=limits)] * times


def with_key(number: int, shared: tuple[Limit, ...]) -> tuple[Limit, ...]:
    return (Limit(f"key {number}", 1), *shared)


crowds = st.builds(
    crowd,
    specs,
    st.sampled_from(CROWDED),
    st.integers(3, 6),
)
"""Jobs that are alike, and more than their limits let start at once."""
keyed = st.builds(
    JobSpec,
    task=st.sampled_from(TASKS[:2]),
    queue=st.just("x"),
    priority=st.integers(0, 2),
    limits=st.builds(
        with_key,
        st.integers(1, 12),
        st.sampled_from(SHARED),
    ),
)
"""More keys in two lanes than a small claim may start."""
rushes = st.builds(
    Rush,
    crowds | st.lists(keyed, min_size=8, max_size=16),
    st.lists(wide_takes, min_size=1, max_size=3),
)
steps = st.one_of(
    st.builds(Insert, st.lists(specs, min_size=1, max_size=6)),
    st.builds(Insert, st.lists(alike, min_size=5, max_size=12)),
    rushes,
    rushes,
    takes,
    takes,
    wide_takes,
    st.builds(Cancel, st.integers(1, 12) | st.integers(-12, -1)),
    st.builds(Reopen, st.integers(1, 12)),
    st.builds(Wait, st.integers(1, 3)),
    st.builds(Prune, st.integers(0, 5)),
    st.just(Restart()),
    st.builds(Pause, st.sampled_from(QUEUES)),
    st.builds(Resume, st.sampled_from(QUEUES)),
    st.builds(Claim, st.integers(1, 5)),
    st.builds(Account, st.sampled_from("ab"), st.integers(0, 3)),
    st.builds(Tokens, st.sampled_from("ab"), st.sampled_from(["a", "b", "1"])),
)
