"""The phases of a node's life."""

from __future__ import annotations

from enum import StrEnum


class Phase(StrEnum):
    """Where a node is between its start and its end."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"
