"""The coordinator's suite: the cases of all its roles."""

from __future__ import annotations

from drumbeat.ports.coordinator import Coordinator
from drumbeat.testing.conformance.configuration import ConfigurationConformance
from drumbeat.testing.conformance.leases import LeaseConformance, VacancyConformance
from drumbeat.testing.conformance.registry import RegistryConformance


class CoordinatorConformance(
    LeaseConformance, VacancyConformance, RegistryConformance, ConfigurationConformance
):
    """All roles of a coordinator."""

    async def test_opening_again_does_nothing(self, coordinator: Coordinator) -> None:
        await coordinator.open()
        assert await coordinator.leases.current("anything") is None
