"""The parts of chaos: the small disk, the skewed clock, the journals, the report."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from chaos import disk
from chaos.__main__ import main
from chaos.beliefs import clashes, terms_in
from chaos.disk import SmallDisk
from chaos.fault_plan import in_turn
from chaos.figures import figures_of, percentile
from chaos.history import Kind, Term
from chaos.journal import Journal, read_journals
from chaos.node_processes import may_lead, serves_http, works
from chaos.page import page
from chaos.pairs import CLUSTER, Parts, all_pairs
from chaos.timeline import Timeline
from chaos.wrong_clock import environment, find_library, set_clock
from drumbeat.engine.plumbing.runtime import SystemClock
from tests.chaos.test_checks import CHANGES, good_history


def refuse(words: list[str]) -> bool:
    """Fail, as `mount` does without root."""
    return False


class TestDisk:
    @pytest.fixture(params=["mounted", "limited"])
    def small_disk(
        self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
    ) -> Iterator[SmallDisk]:
        if request.param == "limited":
            monkeypatch.setattr(disk, "_succeeds", refuse)
        with SmallDisk() as made:
            if request.param == "mounted" and not made.mounted:
                pytest.skip("only root can mount a disk")
            yield made
            for path in made.folder.iterdir():
                path.unlink()

    def test_nothing_can_be_written_while_it_is_full(self, small_disk: SmallDisk) -> None:
        with closing(sqlite3.connect(small_disk.path, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("CREATE TABLE things (thing BLOB)")
            small_disk.fill([os.getpid()])
            try:
                with pytest.raises(sqlite3.OperationalError, match=r"full|I/O"):
                    connection.execute("INSERT INTO things VALUES (zeroblob(1000000))")
            finally:
                small_disk.free([os.getpid()])
            connection.execute("INSERT INTO things VALUES (zeroblob(1000000))")
            (count,) = connection.execute("SELECT count(*) FROM things").fetchone()
            assert count == 1

    def test_it_is_removed_afterwards(self) -> None:
        with SmallDisk() as made:
            folder = made.folder
        assert not folder.exists()


LOOK = """
import time
elapsed = lambda: time.clock_gettime(time.CLOCK_BOOTTIME)
print(elapsed(), time.time(), elapsed())
"""


@pytest.mark.parametrize("offset", [1.0, -1.0, 3600.0, -3600.0])
def test_a_skewed_clock_has_the_given_offset_and_elapsed_time_is_right(
    tmp_path: Path, offset: float
) -> None:
    library = find_library()
    if library is None:
        pytest.skip("libfaketime is not installed")
    clock = tmp_path / "node.clock"
    set_clock(clock, offset)
    before = SystemClock().elapsed()
    looked = [
        subprocess.run(
            [sys.executable, "-c", LOOK],
            env={**os.environ, **more},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for more in ({}, environment(library, clock))
    ]
    (early, right, late), (early_then, wrong, late_then) = (
        map(float, each.split()) for each in looked
    )
    after = SystemClock().elapsed()
    assert before < early < late < early_then < late_then < after
    # Each process read its wall clock between its two readings of the elapsed time.
    least, most = wrong - right - (late_then - early), wrong - right - (early_then - late)
    assert least - 0.9 < offset < most + 0.9


def test_a_journal_keeps_what_each_process_wrote(tmp_path: Path) -> None:
    one, two = Journal(tmp_path, "one"), Journal(tmp_path, "two")
    one.write("ran", what="beat")
    two.write("gained", epoch=3)
    assert [(each.node, each.kind, each.facts) for each in read_journals(tmp_path)] == [
        ("one", "ran", {"what": "beat"}),
        ("two", "gained", {"epoch": 3}),
    ]


def test_an_incomplete_line_is_not_read(tmp_path: Path) -> None:
    journal = tmp_path / "one.1.journal"
    for text, count in (('[1.0,"ran",{}]', 0), ('[1.0,"ran",{}]\n[2.0,"r', 1)):
        journal.write_text(text, encoding="utf-8")
        assert len(read_journals(tmp_path)) == count
    beliefs = tmp_path / "one.1.beliefs"
    beliefs.write_text("1.0 1.1 7\n2.0 2.1 7\n3.0 3", encoding="utf-8")
    assert terms_in(tmp_path) == [Term("one", 7, 1.1, 2.0)]


def test_a_single_record_of_a_term_clashes_with_no_other() -> None:
    slow, other = Term("one", 7, 5.0, 5.0), Term("two", 8, 4.0, 9.0)
    assert list(clashes([slow, other])) == []
    assert list(clashes([Term("one", 7, 3.0, 5.0), other]))


class TestPage:
    def test_the_timeline_is_well_formed_and_shows_every_tick_term_and_fault(self) -> None:
        svg = ET.fromstring(Timeline(good_history()).draw())
        titles = [title.text or "" for title in svg.iter("title")]
        assert sum("fired" in title for title in titles) == 6
        assert sum("led from" in title for title in titles) == 4  # in its own lane and above
        assert any(title.startswith("kill of node-1") for title in titles)
        assert any("nobody led for 1.30 s" in title for title in titles)

    @pytest.mark.parametrize(("check", "name", "change"), CHANGES)
    def test_every_violation_is_shown(
        self, check: str, name: str, change: Callable[..., object]
    ) -> None:
        history = change(good_history())
        assert isinstance(history, type(good_history()))
        written = page([(history, figures_of(history))])
        assert check in written
        assert "holds</em>" not in written

    def test_names_are_text_and_never_markup(self) -> None:
        history = replace(good_history(), pair="<settings>alert(1)</settings>")
        written = page([(history, figures_of(history))])
        assert "<settings" not in written

    def test_it_is_self_contained(self) -> None:
        written = page([(good_history(), figures_of(good_history()))])
        assert re.findall(r"(?:src|href)=|url\(|@import", written) == []


class TestFigures:
    def test_the_figures_of_a_good_history(self) -> None:
        figures = figures_of(good_history())
        assert (figures.ticks_due, figures.ticks_fired, figures.ticks_lost) == (6, 6, 0)
        assert (figures.jobs_submitted, figures.jobs_unsure, figures.jobs_lost) == (2, 2, 0)
        assert figures.failover_slowest == pytest.approx(1.3)
        assert figures.failover_bound == 5.0

    def test_the_last_percentile_of_a_few_is_the_slowest(self) -> None:
        assert percentile([], 0.5) is None
        assert percentile([1.0, 2.0, 3.0], 0.5) == 2.0
        assert percentile([1.0, 2.0, 3.0], 0.99) == 3.0


@pytest.mark.parametrize("words", [["--pairs", "pigeon"], ["--nodes", "1"], ["--minutes", "0"]])
def test_an_impossible_run_is_rejected_with_the_reason(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert re.search(r"unknown pair 'pigeon'|at least 2 nodes", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("pair", "parts"),
    [
        ("sqlite", Parts("sqlite", None, None)),
        ("postgres+etcd", Parts("postgres", "etcd", None)),
        (CLUSTER, Parts("postgres", "etcd", "redis")),
    ],
)
def test_the_name_of_a_pair_names_its_parts(pair: str, parts: Parts) -> None:
    assert Parts.of(pair) == parts
    assert pair in all_pairs()


def test_the_nodes_of_a_cluster_have_a_role_each() -> None:
    assert Parts.of("sqlite").labels(2) == ("node-1", "node-2")
    labels = Parts.of(CLUSTER).labels(5)
    assert labels == ("scheduler-1", "scheduler-2", "worker-1", "worker-2", "worker-3")
    assert [label for label in labels if may_lead(label)] == list(labels[:2])
    assert [label for label in labels if works(label)] == list(labels[2:])
    assert [label for label in labels if serves_http(label)] == list(labels[:2])


def test_each_kind_of_fault_hits_each_target_in_turn() -> None:
    faults = in_turn((Kind.KILL, Kind.PAUSE), ("one", "two"))
    assert [(fault.kind, fault.target) for fault in faults] == [
        (Kind.KILL, "one"),
        (Kind.KILL, "two"),
        (Kind.PAUSE, "one"),
        (Kind.PAUSE, "two"),
    ]
