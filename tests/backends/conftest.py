"""The conformance suites are shipped with the package: let pytest explain their assertions too."""

import pytest

pytest.register_assert_rewrite("drumbeat.testing.conformance")
