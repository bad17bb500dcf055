"""Testing: what Drumbeat ships for the tests of its users, its backends and itself.

`docs/testing.md` shows how to use it. The conformance suites for backends are in
`drumbeat.testing.conformance`.
"""

from drumbeat.testing.assertions import (
    assert_fired,
    assert_not_submitted,
    assert_submitted,
    submitted,
)
from drumbeat.testing.clock import FakeClock
from drumbeat.testing.cluster import Cluster
from drumbeat.testing.draining import Drained, drain
from drumbeat.testing.inlining import inline
from drumbeat.testing.runs import running
from drumbeat.testing.runtime import FakeRuntime
from drumbeat.testing.ticking import Ticked, tick

__all__ = [
    "Cluster",
    "Drained",
    "FakeClock",
    "FakeRuntime",
    "Ticked",
    "assert_fired",
    "assert_not_submitted",
    "assert_submitted",
    "drain",
    "inline",
    "running",
    "submitted",
    "tick",
]
