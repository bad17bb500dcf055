"""The pytest plugin: no test reaches a real backend; fixtures for apps, clocks and clusters.

Installed with Drumbeat, and found by pytest by itself, also in projects that do not use Drumbeat.
So it imports the engine only for a fixture that is used. All fixtures are plain functions:
whichever plugin runs the asynchronous tests, they work with it.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import TYPE_CHECKING

import pytest

from drumbeat.ports.backend_guard import backend_guard, set_backend_guard
from drumbeat.testing.guard import RealBackendGuard

if TYPE_CHECKING:
    from drumbeat.app import Drumbeat
    from drumbeat.testing.clock import FakeClock
    from drumbeat.testing.cluster import Cluster
    from drumbeat.testing.isolated_app import IsolatedApp
    from drumbeat.testing.runtime import FakeRuntime
    from drumbeat.testing.sync_isolated_app import SyncIsolatedApp

REAL_STORE = "drumbeat_real_store"
APP = "drumbeat_app"
GUARD = pytest.StashKey[RealBackendGuard]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register what a project may set in its pytest configuration."""
    parser.addini(APP, "MODULE:NAME of the Drumbeat app that the fixture drumbeat tests")
    parser.addini(
        REAL_STORE,
        "let all tests use the real stores and coordinators of their Drumbeat apps",
        type="bool",
        default=False,
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Guard real backends before the first module of the project is imported."""
    if early_config.getini(REAL_STORE):
        return
    before, guard = backend_guard(), RealBackendGuard()
    early_config.stash[GUARD] = guard
    set_backend_guard(guard)
    early_config.add_cleanup(lambda: set_backend_guard(before))


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers",
        f"{REAL_STORE}: let the test use the real stores and coordinators of its Drumbeat apps",
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Allow real backends to the tests that are marked so, and to their fixtures."""
    guard = item.config.stash.get(GUARD, None)
    if guard is None:
        return (yield)
    guard.refuses = item.get_closest_marker(REAL_STORE) is None
    guard.refusals.clear()
    try:
        return (yield)
    finally:
        guard.refuses = True


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Fail a test that was refused a real backend, also if its code survived the error."""
    yield
    guard = item.config.stash.get(GUARD, None)
    if guard is not None and guard.refusals:
        pytest.fail(guard.refusals[0], pytrace=False)


@pytest.fixture
def drumbeat_clock() -> FakeClock:
    """A clock that stands at the start of 2030 until the test moves it."""
    from drumbeat.testing.clock import FakeClock  # noqa: PLC0415 - only for those who ask

    return FakeClock()


@pytest.fixture
def drumbeat_runtime(drumbeat_clock: FakeClock) -> FakeRuntime:
    """What an app in a test runs on: `Drumbeat("memory://", runtime=drumbeat_runtime)`."""
    from drumbeat.testing.runtime import FakeRuntime  # noqa: PLC0415 - as above

    return FakeRuntime(drumbeat_clock)


@pytest.fixture
def drumbeat_cluster(drumbeat_clock: FakeClock) -> partial[Cluster]:
    """Makes clusters on that clock: `async with drumbeat_cluster(declare, nodes=3) as cluster:`."""
    from drumbeat.testing.cluster import Cluster  # noqa: PLC0415 - as above

    return partial(Cluster, clock=drumbeat_clock)


@pytest.fixture
def drumbeat_app(pytestconfig: pytest.Config) -> Drumbeat:
    """The app that the fixture `drumbeat` tests. Override it, or name the app in the settings."""
    path: str = pytestconfig.getini(APP)
    if not path:
        pytest.fail(
            f"the fixture drumbeat does not know the app: set `{APP} = MODULE:NAME` in the pytest "
            f"configuration, or define a fixture {APP} that returns the app",
            pytrace=False,
        )
    from drumbeat.cli.exit_codes import Problem  # noqa: PLC0415 - as above
    from drumbeat.cli.session.app_path import load_app  # noqa: PLC0415 - as above
    from drumbeat.config import CommandLine  # noqa: PLC0415 - as above

    try:
        return load_app(path, CommandLine())
    except Problem as problem:
        pytest.fail(f"{APP} = {path}: {problem}", pytrace=False)


@pytest.fixture(name="drumbeat")
def _drumbeat(drumbeat_app: Drumbeat, drumbeat_clock: FakeClock) -> Generator[IsolatedApp]:
    """The app with an empty store in memory and a fake clock, for this test."""
    from drumbeat.testing.isolation import isolated  # noqa: PLC0415 - as above

    with isolated(drumbeat_app, drumbeat_clock) as app:
        yield app


@pytest.fixture(name="drumbeat_sync")
def _drumbeat_sync(drumbeat: IsolatedApp) -> SyncIsolatedApp:
    """The same, for tests that are not coroutines."""
    from drumbeat.testing.sync_isolated_app import SyncIsolatedApp  # noqa: PLC0415 - as above

    return SyncIsolatedApp(drumbeat)
