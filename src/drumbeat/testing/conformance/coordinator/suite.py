"""The suite of a coordinator: all its cases."""

from __future__ import annotations

from drumbeat.ports.coordinator import Coordinator
from drumbeat.testing.conformance.coordinator.configuration import ConfigurationConformance
from drumbeat.testing.conformance.coordinator.leases import (
    EvictionConformance,
    LeaseConformance,
    VacancyConformance,
)
from drumbeat.testing.conformance.coordinator.registry import RegistryConformance


class CoordinatorConformance(
    LeaseConformance,
    EvictionConformance,
    VacancyConformance,
    RegistryConformance,
    ConfigurationConformance,
):
    """All cases of a coordinator."""

    async def test_opening_again_does_nothing(self, coordinator: Coordinator) -> None:
        await coordinator.open()
        assert await coordinator.leases.current("anything") is None
