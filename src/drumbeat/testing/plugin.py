"""The pytest plugin: fixtures with a fake clock, and whole clusters.

Installed with Drumbeat, and found by pytest by itself. It asks for nothing of Drumbeat until a
fixture is used; what it costs before is only what importing the package itself costs. All fixtures
are plain functions: whichever plugin runs the asynchronous tests, they work with it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from drumbeat.testing.clock import FakeClock
    from drumbeat.testing.cluster import Cluster
    from drumbeat.testing.runtime import FakeRuntime


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
