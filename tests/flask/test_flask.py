"""`drumbeat.flask`: handlers have the context of a Flask app."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask import Flask, current_app, g, has_app_context

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
