"""Who may read the SQLite file and what lies beside it."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from drumbeat.backends.sqlite.coordinator import SqliteCoordinator
from drumbeat.backends.sqlite.store import SqliteStore
from drumbeat.model.jobs.job import JobSpec
from drumbeat.ports.store import Topic

from .hand_clock import HandClock

OPEN_TO_ALL = 0o000
CLOSED_TO_ALL = 0o777


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "drumbeat.db"


@pytest.fixture(params=[OPEN_TO_ALL, 0o022, CLOSED_TO_ALL])
def umask(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[int]:
    """`tmp_path` is made before it is set."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def create(path: Path, rights: int) -> None:
    path.touch()
    path.chmod(rights)


def link(path: Path, target: Path) -> None:
    path.symlink_to(target)


def modes(folder: Path) -> dict[str, int]:
    """The rights of everything in a folder, with the random names of sockets left out."""
    return {"socket" if each.is_socket() else each.name: mode(each) for each in folder.rglob("*")}


@pytest.mark.usefixtures("umask")
async def test_all_that_is_created_is_for_its_owner_alone(path: Path) -> None:
    store, coordinator = SqliteStore(path, HandClock()), SqliteCoordinator(path, HandClock())
    stop = store.subscribe(Topic.JOBS, lambda: None)
    await coordinator.open()
    await store.jobs.insert([JobSpec("send")])
    assert modes(path.parent) == {
        "drumbeat.db": 0o600,
        "drumbeat.db-wal": 0o600,
        "drumbeat.db-shm": 0o600,
        "drumbeat.db-peers": 0o700,
        "socket": 0o600,
    }
    stop()
    await store.close()
    await coordinator.close()


@pytest.mark.usefixtures("umask")
async def test_there_is_no_moment_in_which_others_could_open_the_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    connect: Any = sqlite3.connect

    def spy(*arguments: object, **options: object) -> object:
        seen.append(mode(path))
        return connect(*arguments, **options)

    monkeypatch.setattr(sqlite3, "connect", spy)
    store = SqliteStore(path, HandClock())
    await store.open()
    await store.close()
    assert set(seen) == {0o600}


async def test_a_file_that_is_there_keeps_its_rights_and_its_log_has_the_same(path: Path) -> None:
    create(path, 0o660)
    store = SqliteStore(path, HandClock())
    await store.jobs.insert([JobSpec("send")])
    await store.jobs.counts()
    assert modes(path.parent) == dict.fromkeys(
        ("drumbeat.db", "drumbeat.db-wal", "drumbeat.db-shm"), 0o660
    )
    await store.close()


@pytest.mark.usefixtures("umask")
async def test_a_link_to_a_file_that_is_not_there_makes_it_for_its_owner(path: Path) -> None:
    elsewhere = path.with_name("elsewhere.db")
    link(path, elsewhere)
    store = SqliteStore(path, HandClock())
    await store.open()
    await store.close()
    assert mode(elsewhere) == 0o600


@pytest.mark.usefixtures("umask")
async def test_where_only_root_may_make_nodes_the_file_is_private_too(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "mknod", refuse)
    store = SqliteStore(path, HandClock())
    await store.open()
    await store.close()
    assert mode(path) == 0o600
