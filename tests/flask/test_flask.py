"""`drumbeat.flask`: handlers have the context of a Flask app."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask, current_app, g, has_app_context

from drumbeat import Blueprint, Context
from drumbeat.flask import FlaskDrumbeat
from drumbeat.testing import SyncIsolatedApp, isolated
from tests.support.own_project import own_tests_pass_in

EXAMPLE = Path(__file__).parents[2] / "examples" / "flask"


@pytest.fixture
def app() -> FlaskDrumbeat:
    return FlaskDrumbeat("memory://", environment={})


def test_the_tests_of_the_example_pass_and_leave_nothing_behind(tmp_path: Path) -> None:
    own_tests_pass_in(EXAMPLE, tmp_path, count=2)


def test_each_run_has_a_context_of_its_own(app: FlaskDrumbeat) -> None:
    site = Flask("shop")
    app.init_app(site)
    seen: list[tuple[str, bool]] = []

    def look() -> None:
        seen.append((current_app.name, "seen" in g))
        g.seen = True

    @app.task
    def sync() -> None:
        look()

    @app.task
    async def asynchronous() -> None:
        look()

    with isolated(app) as test, site.app_context():  # of the start, and not of the runs
        runner = SyncIsolatedApp(test)
        with runner.running():
            for task in (sync, sync, asynchronous, asynchronous):
                task.submit_sync()
                runner.advance(1)
    assert seen == [("shop", False)] * 4
    assert site.extensions["drumbeat"] is app


def test_tasks_of_a_blueprint_have_the_context_too(app: FlaskDrumbeat) -> None:
    parts = Blueprint("parts", prefix="parts.")

    @parts.task
    def sync() -> str:
        return current_app.name

    app.include(parts)

    @parts.task
    async def later() -> str:
        return current_app.name

    app.init_app(Flask("shop"))
    with isolated(app) as test:
        for task in (sync, later):
            task.submit_sync()
            SyncIsolatedApp(test).drain()
            (job,) = test.submitted(task)
            assert task.result(job) == "shop"


def test_the_users_middleware_is_within_the_context(app: FlaskDrumbeat) -> None:
    app.init_app(Flask("shop"))
    seen: list[str] = []

    @app.middleware
    def look(_: Context, call_next: Callable[[], object]) -> object:
        seen.append(current_app.name)
        return call_next()

    @app.task
    def ship() -> None: ...

    with isolated(app) as test:
        ship.submit_sync()
        SyncIsolatedApp(test).drain()
    assert seen == ["shop"]


def test_the_context_ends_in_the_thread_of_the_handler(app: FlaskDrumbeat) -> None:
    site = Flask("shop")
    app.init_app(site)
    threads: list[int] = []

    @site.teardown_appcontext
    def note(_: BaseException | None) -> None:
        threads.append(threading.get_ident())

    @app.task
    def ship() -> None:
        threads.append(threading.get_ident())

    with isolated(app) as test:
        ship.submit_sync()
        SyncIsolatedApp(test).drain()
    assert len(threads) == 2
    assert threads[0] == threads[1]


def test_a_direct_call_stays_in_the_context_of_its_caller(app: FlaskDrumbeat) -> None:
    site = Flask("shop")
    app.init_app(site)

    @app.task
    def inner() -> str:
        return str(g.get("item")) if has_app_context() else "no context"

    @app.task
    def outer() -> str:
        g.item = "tea"
        return str(inner())

    assert inner() == "no context"
    with site.app_context():
        g.item = "coffee"
        assert inner() == "coffee"
    with isolated(app) as test:
        outer.submit_sync()
        SyncIsolatedApp(test).drain()
        (job,) = test.submitted(outer)
        assert outer.result(job) == "tea"


def test_a_handler_without_a_flask_app_says_what_to_call(app: FlaskDrumbeat) -> None:
    @app.task
    def ship() -> None: ...

    with isolated(app) as test:
        ship.submit_sync()
        SyncIsolatedApp(test).drain()
        (job,) = test.submitted(ship)
    assert "call init_app(site) before the start" in str(job.error)


def test_the_last_app_of_a_factory_counts(app: FlaskDrumbeat) -> None:
    for name in ("first", "last"):
        app.init_app(Flask(name))

    @app.task
    def which() -> str:
        return current_app.name

    with isolated(app) as test:
        which.submit_sync()
        SyncIsolatedApp(test).drain()
        (job,) = test.submitted(which)
        assert which.result(job) == "last"
