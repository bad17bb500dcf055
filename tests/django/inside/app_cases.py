"""Tasks of the project: handles, transactions, and connections around handlers."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection, connections, transaction

from drumbeat import Blueprint
from drumbeat.django import DjangoTask, app, scheduled, task
from drumbeat.model.errors import InvalidArguments
from drumbeat.testing import SyncIsolatedApp


@task(timeout=30)
def ship(order: int) -> int:
    return order


@scheduled("0 2 * * *")
def sweep() -> None: ...


def test_the_app_is_one_for_all_who_import_it() -> None:
    import drumbeat.django

    assert drumbeat.django.app is app
    assert isinstance(ship, DjangoTask)
    assert isinstance(sweep, DjangoTask)
    assert isinstance(ship.options(priority=3), DjangoTask)
    assert ship(7) == 7


def test_a_job_is_submitted_by_the_commit(drumbeat_sync: SyncIsolatedApp, database: None) -> None:
    with transaction.atomic():
        ship.options(priority=3).submit_on_commit(1)
        drumbeat_sync.assert_not_submitted(ship)
    (job,) = drumbeat_sync.assert_submitted(ship, 1, times=1)
    assert job.spec.priority == 3
    ship.submit_on_commit(2)  # no transaction is open
    drumbeat_sync.assert_submitted(ship, 2, times=1)


def test_a_rollback_submits_nothing(drumbeat_sync: SyncIsolatedApp, database: None) -> None:
    with transaction.atomic():
        ship.submit_on_commit(1)
        transaction.set_rollback(True)
    drumbeat_sync.assert_not_submitted(ship)


def test_arguments_are_checked_before_the_commit(database: None) -> None:
    wrong: Any = ship
    with transaction.atomic(), pytest.raises(InvalidArguments):
        wrong.submit_on_commit()


def _break_the_connection() -> None:
    """As a restarted server leaves it: open here, and useless."""
    connection.ensure_connection()
    connection.errors_occurred = True
    connection.is_usable = lambda: False  # type: ignore[method-assign]
    connection.close_at = None


def _seen() -> bool:
    return connection.connection is None


def test_a_broken_connection_is_closed_before_and_after_a_handler(
    drumbeat_sync: SyncIsolatedApp,
) -> None:
    seen: list[tuple[int, bool]] = []
    threads: set[int] = set()

    @app.task
    def breaks(number: int) -> None:
        threads.add(threading.get_ident())
        seen.append((number, _seen()))
        _break_the_connection()

    with drumbeat_sync.running():
        for number in range(3):
            breaks.submit_sync(number)
            drumbeat_sync.advance(1)
    assert len(threads) == 1
    assert seen == [(0, True), (1, True), (2, True)]


def test_an_asynchronous_handler_has_fresh_connections_too(
    drumbeat_sync: SyncIsolatedApp,
) -> None:
    seen: list[bool] = []

    @app.task
    async def breaks_too() -> None:
        seen.append(await sync_to_async(_seen)())
        await sync_to_async(_break_the_connection)()

    for _ in range(2):
        breaks_too.submit_sync()
        assert drumbeat_sync.drain().completed == 1
    assert seen == [True, True]


def test_handlers_of_a_blueprint_have_fresh_connections_too(
    drumbeat_sync: SyncIsolatedApp,
) -> None:
    spare = Blueprint("spare", prefix="spare.")
    seen: list[bool] = []

    @spare.task
    def breaks() -> None:
        seen.append(_seen())
        _break_the_connection()

    @spare.task
    async def breaks_too() -> None:
        seen.append(await sync_to_async(_seen)())
        await sync_to_async(_break_the_connection)()

    app.include(spare)
    for each in (breaks, breaks, breaks_too, breaks_too):
        each.submit_sync()
        assert drumbeat_sync.drain().completed == 1
    assert seen == [True] * 4


def test_a_direct_call_leaves_the_callers_connection_alone(database: None) -> None:
    connection.ensure_connection()
    before = connection.connection
    assert ship(7) == 7
    assert connection.connection is before


def test_connections_are_checked_by_their_first_query(drumbeat_sync: SyncIsolatedApp) -> None:
    checked: list[bool] = []

    @app.task
    def checks() -> None:
        connection.ensure_connection()
        connection.close_at = None  # as with CONN_MAX_AGE = None
        (each,) = connections.all(initialized_only=True)
        checked.append(vars(each)["health_check_enabled"])

    with drumbeat_sync.running():
        for _ in range(2):
            checks.submit_sync()
            drumbeat_sync.advance(1)
    assert checked == [False, True]  # the first run opened it


def test_a_blueprint_is_included(drumbeat_sync: SyncIsolatedApp) -> None:
    parts = Blueprint("parts")

    @parts.task
    def part() -> None: ...

    app.include(parts)
    part.submit_sync()
    assert drumbeat_sync.drain().completed == 1
