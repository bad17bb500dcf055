"""The desk: what stands behind the API, put together by wiring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from drumbeat.config import Config
from drumbeat.engine.bus import Bus
from drumbeat.engine.jobs import Jobs
from drumbeat.engine.registry import Registry
from drumbeat.engine.schedules import Schedules
from drumbeat.engine.standing import Standing
from drumbeat.engine.submitter import Submitter
from drumbeat.model.ids import NodeId
from drumbeat.ports.coordinator import Coordinator
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import Store


@dataclass(frozen=True, slots=True)
class Desk:
    """Everything that a route may use."""

    node: Callable[[], NodeId]
    """This process's identity, which is new at every start."""
    store: Store
    coordinator: Coordinator
    jobs: Jobs
    schedules: Schedules
    standing: Standing
    submitter: Submitter
    registry: Registry
    config: Config
    runtime: Runtime
    bus: Bus
