"""Testing: what Drumbeat ships for the tests of its users, its backends and itself.

`docs/testing.md` shows how to use it. The conformance suites for backends are in
`drumbeat.testing.conformance`.
"""

from typing import TYPE_CHECKING

from drumbeat.lazy_names import lazy_names

if TYPE_CHECKING:
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
    from drumbeat.testing.isolated_app import IsolatedApp
    from drumbeat.testing.isolation import isolated
    from drumbeat.testing.runs import running
    from drumbeat.testing.runtime import FakeRuntime
    from drumbeat.testing.sync_isolated_app import SyncIsolatedApp
    from drumbeat.testing.ticking import Ticked, tick

__all__ = [
    "Cluster",
    "Drained",
    "FakeClock",
    "FakeRuntime",
    "IsolatedApp",
    "SyncIsolatedApp",
    "Ticked",
    "assert_fired",
    "assert_not_submitted",
    "assert_submitted",
    "drain",
    "inline",
    "isolated",
    "running",
    "submitted",
    "tick",
]

# A name is looked up when it is first asked for: pytest imports this package in every project that
# has Drumbeat installed, to find the plugin, and must not wait for the engine.
_MODULES = {
    "assertions": ("assert_fired", "assert_not_submitted", "assert_submitted", "submitted"),
    "clock": ("FakeClock",),
    "cluster": ("Cluster",),
    "draining": ("Drained", "drain"),
    "inlining": ("inline",),
    "isolated_app": ("IsolatedApp",),
    "isolation": ("isolated",),
    "runs": ("running",),
    "runtime": ("FakeRuntime",),
    "sync_isolated_app": ("SyncIsolatedApp",),
    "ticking": ("Ticked", "tick"),
}

if not TYPE_CHECKING:  # else every name would seem to exist
    __getattr__ = lazy_names(__name__, _MODULES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
