"""The conformance suites are shipped with the package: let pytest explain their assertions too."""

import pytest

from drumbeat.engine.runtime import SystemRuntime

pytest.register_assert_rewrite("drumbeat.testing.conformance")


@pytest.fixture
def key() -> str:
    """A name that nobody else uses."""
    return f"test/{SystemRuntime().random.getrandbits(64):x}"
