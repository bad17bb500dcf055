"""Isolation: an app that exists already, on an empty store in memory and a fake clock.

An app is usually made when its module is imported, on its real store. `isolated` puts other
backends, another runtime and another node in their place for one test. The object stays the same,
and so do its task handles, its listeners, and the API that is mounted into a web app.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import cast

from drumbeat.app import Drumbeat
from drumbeat.config import SETTING, Config, Level, Settings
from drumbeat.config.kinds import BackendUrl
from drumbeat.engine.plumbing.sync_bridge import SyncBridge
from drumbeat.model.errors import ConfigurationError
from drumbeat.testing import inside
from drumbeat.testing.clock import FakeClock
from drumbeat.testing.isolated_app import IsolatedApp
from drumbeat.testing.runtime import FakeRuntime

LISTENS = "worker_http_addr"
TIMINGS: Settings = {"lease_ttl": "1m", "heartbeat_every": "1m", "node_lifetime": "5m"}
"""For a fleet of one, whose days pass quickly: less often than on a real clock."""
OWN_TIMINGS = frozenset({*TIMINGS, "renew_interval"})


@contextmanager
def isolated(app: Drumbeat, clock: FakeClock | None = None) -> Generator[IsolatedApp]:
    """Give the app an empty store in memory and a fake clock while the body runs.

    ```python
    with isolated(app) as test:
        place_order(42)  # submits a job
        test.assert_submitted(send_receipt, 42)
    ```
    At the end the app is as it was before; tasks and listeners of the body are forgotten. The
    coordinator, the queue and an elector of the app's own are replaced as well, and no worker
    serves HTTP. If the app sets no timings of leases and heartbeats, they are `TIMINGS`. All other
    settings stay as they are.
    """
    if inside.node(app) is not None:
        raise ConfigurationError("the app is running; it can be isolated only while it is stopped")
    app.load_modules()  # now, because what the body declares is forgotten
    time = clock or FakeClock()
    settings = _settings(app.settings)
    other = Drumbeat("memory://", runtime=FakeRuntime(time), environment={}, **settings)
    bridge = SyncBridge()
    try:
        with inside.replaced(app, other, bridge):
            yield IsolatedApp(app, time)
    finally:
        bridge.end()


def _settings(config: Config) -> Settings:
    """What was set, except for what leads out of the process."""
    given = {
        name: getattr(config, name)
        for name in Settings.__annotations__
        if name in config.origins and config.origins[name].level is not Level.DEFAULT
    }
    kept = {
        name: value
        for name, value in given.items()
        if name != LISTENS and not isinstance(SETTING[name].row.kind, BackendUrl)
    }
    return cast("Settings", kept if OWN_TIMINGS & kept.keys() else {**TIMINGS, **kept})
