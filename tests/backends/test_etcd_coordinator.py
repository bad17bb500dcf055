"""The etcd coordinator against the suite of all coordinators, on real clusters."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from drumbeat.engine.plumbing.runtime import SystemRuntime
from drumbeat.ports.coordinator import Coordinator
from drumbeat.testing.conformance import CoordinatorConformance, CoordinatorTraits
from servers import Etcd

from .etcd_cases import opened

LATE = timedelta(seconds=0.8)
"""It looks for leases that are over twice a second, and then has to agree on their end."""
OVERDUE = timedelta(seconds=20)
"""On a busy machine that may take longer; and a new leader of etcd gives leases more time."""


class EtcdConformance(CoordinatorConformance):
    ttl = timedelta(seconds=1)
    """The shortest that etcd gives with an election time-out of half a second."""

    @pytest.fixture
    def address(self, cluster: Etcd) -> str:
        """Each test has a prefix of its own in the cluster that all share."""
        return f"{cluster.address}/{SystemRuntime().random.getrandbits(64):x}"

    @pytest.fixture
    async def coordinator(self, address: str) -> AsyncIterator[Coordinator]:
        async with opened(address) as coordinator:
            yield coordinator

    @pytest.fixture
    def traits(self, address: str) -> CoordinatorTraits:
        clock = SystemRuntime().clock
        return CoordinatorTraits(
            lambda: opened(address),
            lambda length: clock.sleep(length.total_seconds()),
            self.ttl,
            self.ttl + LATE,
            overdue=OVERDUE,
        )


class TestEtcdCoordinator(EtcdConformance):
    @pytest.fixture
    def cluster(self, etcd: Etcd) -> Etcd:
        return etcd


class TestOlderEtcdCoordinator(EtcdConformance):
    @pytest.fixture
    def cluster(self, etcd_older: Etcd) -> Etcd:
        return etcd_older


class TestThreeEtcdCoordinator(EtcdConformance):
    ttl = timedelta(seconds=2)
    """The shortest with the usual election time-out of one second."""

    @pytest.fixture
    def cluster(self, etcd_three: Etcd) -> Etcd:
        return etcd_three
