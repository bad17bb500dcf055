"""Tasks on the wire, as the server that answers knows them."""

from __future__ import annotations

from msgspec import Struct


class ParameterView(Struct, frozen=True, kw_only=True):
    """An argument that a task takes."""

    name: str
    type: str
    """Its annotation, as it is written; empty: it has none."""
    required: bool
    secret: bool = False
    """Whether its values are redacted."""


class TaskView(Struct, frozen=True, kw_only=True):
    """A task."""

    name: str
    description: str
    """The first line of its documentation."""
    queue: str
    priority: int
    timeout: float | None
    tags: tuple[str, ...]
    parameters: tuple[ParameterView, ...]
    aliases: tuple[str, ...] = ()
    """Earlier names, under which jobs and schedules may still be stored."""

    @property
    def names(self) -> tuple[str, ...]:
        """All names by which it is known: its own first."""
        return (self.name, *self.aliases)
