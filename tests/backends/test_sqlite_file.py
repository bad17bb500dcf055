"""Which files the SQLite backend takes, and what it says of those that it refuses."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from drumbeat.backends.sqlite.connection.connections import connect_writer
from drumbeat.backends.sqlite.connection.file import location
from drumbeat.backends.sqlite.connection.file.application_id import APPLICATION_ID, is_new
from drumbeat.backends.sqlite.connection.file.location import check_place, file_system
from drumbeat.backends.sqlite.coordinator import SqliteCoordinator
from drumbeat.backends.sqlite.schema import migration
from drumbeat.backends.sqlite.schema.migration import (
    FileOwner,
    Migration,
    applied_migrations,
    known_migrations,
    migrate,
)
from drumbeat.backends.sqlite.store import SqliteStore
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.jobs.job import JobFilter, JobSpec
from drumbeat.model.page import PageRequest

from .hand_clock import HandClock


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "drumbeat.db"


async def opened(path: Path, namespace: str = "drumbeat") -> None:
    store = SqliteStore(path, HandClock(), namespace)
    try:
        await store.open()
        await store.jobs.insert([JobSpec("send")])
    finally:
        await store.close()


async def refusal(path: Path, namespace: str = "drumbeat") -> str:
    with pytest.raises(ConfigurationError) as caught:
        await opened(path, namespace)
    return str(caught.value)


def write(path: Path, text: str) -> None:
    path.write_text(text)


def digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


async def test_a_file_that_does_not_exist_is_made_and_marked_as_ours(path: Path) -> None:
    await opened(path)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert list(applied_migrations(connection)) == [each.version for each in known_migrations()]
    connection.close()


async def test_nothing_is_left_beside_a_file_that_was_closed(path: Path) -> None:
    await opened(path)
    assert [each.name for each in path.parent.iterdir()] == ["drumbeat.db"]


async def test_an_empty_file_is_taken_for_a_new_one(path: Path) -> None:
    write(path, "")
    await opened(path)


LATER = Migration(
    len(known_migrations()) + 1, "colours", "ALTER TABLE jobs ADD COLUMN colour TEXT;"
)
"""What a next version of Drumbeat might add to the baseline."""


async def test_a_file_of_the_baseline_is_migrated_and_keeps_its_jobs(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await opened(path)
    known = known_migrations()
    monkeypatch.setattr(migration, "known_migrations", lambda: (*known, LATER))
    await opened(path)
    with closing(sqlite3.connect(path)) as connection:
        assert [each.name for each in applied_migrations(connection).values()] == [
            *(each.name for each in known),
            "colours",
        ]
        rows = connection.execute("SELECT id, colour FROM jobs ORDER BY id").fetchall()
    assert rows == [(1, None), (2, None)]


async def test_either_the_store_or_the_coordinator_makes_all_tables(path: Path) -> None:
    coordinator = SqliteCoordinator(path, HandClock())
    await coordinator.open()
    assert (await coordinator.configuration.put("key", b"1")).revision == 1
    await coordinator.close()
    await opened(path)


async def test_a_file_of_an_unreleased_schema_is_refused_and_left_as_it_is(path: Path) -> None:
    connection = connect_writer(path, 1.0)
    unreleased = Migration(1, "store", known_migrations()[0].script)
    migrate(connection, FileOwner(path, "drumbeat"), 0, (unreleased,))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    before = digest(path)
    assert "made by an unreleased version of Drumbeat" in await refusal(path)
    assert digest(path) == before


async def test_a_file_of_a_newer_schema_is_refused_and_left_as_it_is(path: Path) -> None:
    connection = connect_writer(path, 1.0)
    newer = (*known_migrations(), Migration(9_999, "later", "CREATE TABLE later (x INTEGER);"))
    migrate(connection, FileOwner(path, "drumbeat"), 0, newer)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    before = digest(path)
    assert "newer version of Drumbeat (schema 9999" in await refusal(path)
    assert digest(path) == before


async def test_a_migration_that_was_changed_afterwards_is_refused(path: Path) -> None:
    await opened(path)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("UPDATE migrations SET checksum = 'other' WHERE version = 1")
    connection.close()
    assert "another schema 1" in await refusal(path)


def test_a_migration_that_fails_leaves_nothing(path: Path) -> None:
    connection = connect_writer(path, 1.0)
    broken = Migration(9_999, "broken", "CREATE TABLE half (x INTEGER);\nCREATE nonsense;")
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, FileOwner(path, "drumbeat"), 0, (*known_migrations(), broken))
    assert applied_migrations(connection) == {}
    assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    connection.close()


async def test_a_database_of_another_application_is_refused_and_left_as_it_is(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = digest(path)
    assert "belongs to another application" in await refusal(path)
    assert digest(path) == before
    assert [each.name for each in path.parent.iterdir()] == ["drumbeat.db"]


async def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(path: Path) -> None:
    write(path, "dear diary, " * 100)
    before = digest(path)
    assert "is not a SQLite file" in await refusal(path)
    assert digest(path) == before


async def test_a_file_holds_one_namespace(path: Path) -> None:
    await opened(path, "billing")
    await opened(path, "billing")
    assert "holds the namespace 'billing'" in await refusal(path, "mail")


async def test_a_folder_that_does_not_exist_is_said_so(tmp_path: Path) -> None:
    assert "does not exist" in await refusal(tmp_path / "nowhere" / "drumbeat.db")
    assert "is a directory" in await refusal(tmp_path)


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs", "9p"])
def test_a_network_file_system_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    mounts = tmp_path / "mounts"
    folder = str(tmp_path).replace(" ", "\\040")
    mounts.write_text(f"/dev/sda / ext4 rw 0 0\nserver:/x {folder} {kind} rw 0 0\n")
    monkeypatch.setattr(location, "MOUNTS", mounts)
    with pytest.raises(ConfigurationError, match="network file system"):
        check_place(tmp_path / "drumbeat.db")


def test_the_deepest_mount_tells_the_file_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        f"x / nfs rw 0 0\nx {tmp_path} ext4 rw 0 0\nx {tmp_path}more nfs rw 0 0\nodd\n"
    )
    monkeypatch.setattr(location, "MOUNTS", mounts)
    assert file_system(tmp_path) == "ext4"
    monkeypatch.setattr(location, "MOUNTS", tmp_path / "none")
    assert file_system(tmp_path) is None


async def test_a_file_that_cannot_be_written_is_said_so(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await opened(path)
    denied = path

    def access(name: Path, _mode: int) -> bool:
        return name != denied

    monkeypatch.setattr(os, "access", access)
    assert "cannot be written by this user" in await refusal(path)
    denied = path.parent
    assert "keeps its log beside the file" in await refusal(path)


async def test_a_file_whose_log_was_copied_in_part_is_opened(tmp_path: Path) -> None:
    """As by a checkpoint that found the disk full: the first page tells of pages to come."""
    path, whole = tmp_path / "part.db", tmp_path / "whole.db"
    store = SqliteStore(path, HandClock())
    await store.open()
    await store.jobs.insert([JobSpec("work", arguments=b'"' + b"x" * 10_000 + b'"')] * 20)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"VACUUM INTO '{whole}'")
    # By another process: to close the file in this one would drop the locks of the store.
    first_page = ("dd", f"if={whole}", f"of={path}", "bs=4096", "count=1", "conv=notrunc")
    await asyncio.to_thread(subprocess.run, first_page, check=True, capture_output=True)
    assert path.stat().st_size < whole.stat().st_size
    assert is_new(path) is False
    other = SqliteStore(path, HandClock())
    await other.open()
    assert len((await other.jobs.list(JobFilter(), PageRequest(100))).items) == 20
    await other.close()
    await store.close()
