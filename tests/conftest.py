"""What all tests share: the examples of property tests, and the real servers.

A server is started when the first test asks for it, and serves all tests of the run. A test that
kills or pauses one starts its own. A server that this machine does not have skips the tests that
need it, and the end of the run says so; in CI the needed ones must be there.
"""

import os
import platform
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.metadata import requires, version
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings

from servers import (
    Consul,
    Etcd,
    GivenMongo,
    Missing,
    Mongo,
    MongoInMemory,
    Pgbouncer,
    Postgres,
    Redis,
    Sentinel,
    Valkey,
)
from servers.mongo import REPLICA_SET

# A run looks at the same examples each time, so that what it says is about the change, and not
# about its luck. HYPOTHESIS_PROFILE=new looks at others in each run, and HYPOTHESIS_PROFILE=deep at
# many more of them: for a night, or after a change of a backend. What they find is kept as a test
# of its own. How long an example takes, or how large it is, or how often another had to be drawn,
# says something of the machine and of the draw only, and nothing of what it shows.
UNHURRIED = settings(
    deadline=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.data_too_large,
        HealthCheck.large_base_example,
    ],
)
settings.register_profile("usual", UNHURRIED, derandomize=True)
settings.register_profile("new", UNHURRIED)
settings.register_profile("deep", UNHURRIED, max_examples=5_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "usual"))

Started = TypeVar("Started")

missing = pytest.StashKey[dict[str, None]]()


@contextmanager
def shared(
    config: pytest.Config, start: Callable[[], AbstractContextManager[Started]]
) -> Generator[Started]:
    """Start a server for the whole run; skip the test if it is missing, and remember that."""
    try:
        starting = start()
    except Missing as error:
        if os.environ.get("CI") and error.needed:
            raise
        config.stash.setdefault(missing, {})[str(error)] = None
        pytest.skip(str(error))
    with starting as server:
        yield server


def pytest_report_header() -> str:
    """Say which Python and which versions of our dependencies are tested: `make test` has two."""
    names = {re.split(r"[^\w-]", each, maxsplit=1)[0] for each in requires("drumbeat") or ()}
    versions = ", ".join(f"{name} {version(name)}" for name in sorted(names))
    return f"drumbeat on Python {platform.python_version()} with {versions}"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """One of several processes that share the tests tells the first what it could not test."""
    told: dict[str, object] | None = getattr(session.config, "workeroutput", None)
    if told is not None:
        told["missing"] = [*session.config.stash.setdefault(missing, {})]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Remember what a process could not test."""
    told = getattr(node, "workeroutput", {}).get("missing", ())
    node.config.stash.setdefault(missing, {}).update(dict.fromkeys(told))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say loudly what was not tested."""
    for sentence in config.stash.setdefault(missing, {}):
        terminalreporter.write_line(f"NOT TESTED: {sentence}", red=True, bold=True)


@pytest.fixture(scope="session")
def postgres(pytestconfig: pytest.Config) -> Iterator[Postgres]:
    with shared(pytestconfig, Postgres.start) as server:
        yield server


@pytest.fixture(scope="session")
def postgres_newer(pytestconfig: pytest.Config) -> Iterator[Postgres]:
    with shared(pytestconfig, lambda: Postgres.start(version="18")) as server:
        yield server


@pytest.fixture(scope="session")
def pgbouncer(pytestconfig: pytest.Config, postgres: Postgres) -> Iterator[Pgbouncer]:
    with shared(pytestconfig, lambda: Pgbouncer.start(postgres)) as server:
        yield server


@pytest.fixture(scope="session")
def mongo(pytestconfig: pytest.Config) -> Iterator[Mongo | GivenMongo]:
    """Your own server if MONGODB_URI names one."""
    own = os.environ.get("MONGODB_URI")
    if own is not None:
        yield GivenMongo(own)
        return
    with shared(pytestconfig, MongoInMemory.start) as server:
        yield server


@pytest.fixture(scope="session")
def mongo_replica_set(pytestconfig: pytest.Config) -> Iterator[Mongo]:
    """One that has change streams."""
    with shared(pytestconfig, lambda: MongoInMemory.start(REPLICA_SET)) as server:
        yield server


@pytest.fixture(scope="session")
def redis(pytestconfig: pytest.Config) -> Iterator[Redis]:
    with shared(pytestconfig, Redis.start) as server:
        yield server


@pytest.fixture(scope="session")
def valkey(pytestconfig: pytest.Config) -> Iterator[Valkey]:
    with shared(pytestconfig, Valkey.start) as server:
        yield server


@pytest.fixture(scope="session")
def sentinel(pytestconfig: pytest.Config) -> Iterator[Sentinel]:
    # Whoever wants the primary to be replaced starts others; this one is only busy.
    with shared(pytestconfig, lambda: Sentinel.start(down_after=60)) as servers:
        yield servers


QUICK = {"heartbeat-interval": "50", "election-timeout": "500"}
"""An etcd of one member needs no time for elections, and its leases may then take one second."""


@pytest.fixture(scope="session")
def etcd(pytestconfig: pytest.Config) -> Iterator[Etcd]:
    with shared(pytestconfig, lambda: Etcd.start(settings=QUICK)) as server:
        yield server


@pytest.fixture(scope="session")
def etcd_older(pytestconfig: pytest.Config) -> Iterator[Etcd]:
    with shared(pytestconfig, lambda: Etcd.start(version="3.4", settings=QUICK)) as server:
        yield server


@pytest.fixture(scope="session")
def etcd_three(pytestconfig: pytest.Config) -> Iterator[Etcd]:
    with shared(pytestconfig, lambda: Etcd.start(nodes=3)) as servers:
        yield servers


@pytest.fixture(scope="session")
def consul(pytestconfig: pytest.Config) -> Iterator[Consul]:
    with shared(pytestconfig, Consul.start) as server:
        yield server


@pytest.fixture(scope="session")
def consul_three(pytestconfig: pytest.Config) -> Iterator[Consul]:
    with shared(pytestconfig, lambda: Consul.start(nodes=3)) as servers:
        yield servers
