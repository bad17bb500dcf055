"""Fixtures of the tests of metrics."""

from collections.abc import AsyncGenerator

import pytest

from .support import Watched


@pytest.fixture
async def watched() -> AsyncGenerator[Watched]:
    watched = Watched()
    yield watched
    await watched.stop()
