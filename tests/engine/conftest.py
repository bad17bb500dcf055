"""Fixtures of the engine's tests."""

import pytest

from drumbeat import Drumbeat
from drumbeat.testing.clock import FakeClock

from .support.fleet import Fleet, Heard
from .support.instances import Instances
from .support.slow_store import Far


@pytest.fixture
async def fleet() -> Fleet:
    return Fleet()


@pytest.fixture
def clock(fleet: Fleet) -> FakeClock:
    return fleet.clock


@pytest.fixture
def app(fleet: Fleet) -> Drumbeat:
    return fleet.app()


@pytest.fixture
async def heard(app: Drumbeat) -> Heard:
    return Heard(app)


@pytest.fixture
def far(fleet: Fleet) -> Far:
    return Far(fleet)


@pytest.fixture
async def instances() -> Instances:
    return Instances()
